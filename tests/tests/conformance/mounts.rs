//! The Rust runner on a tree in which another store is mounted, outside the paths of the cases.

use std::sync::Arc;

use memdir::store::{Context, Entry, InProcess, Layer, Mounts, Node};
use memdir::{MemoryPath, Store, StoreError};
use memdir_conformance::runner::{self, Opened};

/// A tree with a mount point that no listing shows, so it does not affect the cases.
struct Beside {
    mounts: Mounts,
    point: MemoryPath,
}

impl Beside {
    fn without(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        entries.retain(|entry| entry.path != self.point);
        entries
    }
}

impl Layer for Beside {
    fn inner(&self) -> &dyn Store {
        &self.mounts
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.mounts.list_in(context, path).map(|entries| self.without(entries))
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        Ok(match self.mounts.open_in(context, path, depth)? {
            Node::Directory(entries) => Node::Directory(self.without(entries)),
            file => file,
        })
    }
}

#[test]
fn rust_mounts() {
    let ran = runner::run("rust-mounts", |options| {
        let name = "mounted where no case has anything";
        let point = MemoryPath::root().join(name).map_err(|error| error.to_string())?;
        let mounts = Mounts::new(Arc::new(InProcess::new()))
            .mount(point.clone(), Arc::new(InProcess::new()))
            .map_err(|error| error.to_string())?;
        Ok(Opened::on(Beside { mounts, point }, options))
    });
    let failures = ran.err().unwrap_or_default();
    assert!(failures.is_empty(), "{failures}");
}
