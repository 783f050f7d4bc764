//! The Rust runner on a tree that another store is mounted in, beside everything that a case does.

use std::sync::Arc;
use std::time::SystemTime;

use memdir::store::{Edit, Entry, InProcess, Mounts, Node};
use memdir::{MemoryPath, OnExisting, Store, StoreError};
use memdir_conformance::runner::{self, Opened};

/// A tree with a mount point of which the cases need not know: no listing shows it.
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

impl Store for Beside {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.mounts.read(path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.mounts.list(path).map(|entries| self.without(entries))
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        Ok(match self.mounts.open(path, depth)? {
            Node::Directory(entries) => Node::Directory(self.without(entries)),
            file => file,
        })
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.mounts.write(path, content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.mounts.update(path, edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.mounts.delete(path)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.mounts.rename(from, to)
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.mounts.set_modified(path, time)
    }

    fn tracks_access(&self) -> bool {
        self.mounts.tracks_access()
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.mounts.record_access(path, time)
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        self.mounts.delete_unused(path, since)
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
