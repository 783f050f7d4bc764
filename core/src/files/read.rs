//! `read`: returns the text of a file as it is stored.

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use crate::handlers::view;
use crate::policies::Policies;
use crate::reply;
use crate::store::{Effect, Node, Store, StoreError};

pub(crate) fn read(store: &dyn Store, path: &MemoryPath) -> Result<String, Error> {
    let content = store.read(path).map_err(|error| refusal(path, error))?;
    String::from_utf8(content).map_err(|_| reply::not_text(path))
}

/// Returns the text as a view would show it: redacted, if views are.
pub(crate) fn read_shown(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
) -> Result<String, Error> {
    let too_large = match policies.sensitive.on_view {
        true => reply::too_large_to_redact,
        false => reply::too_large_to_read,
    };
    match store.open(path, 0) {
        Ok(Node::File(size, content)) => view::whole(policies, path, size, content, too_large),
        Ok(Node::Directory(_)) => Err(reply::condition(path, StoreError::IsADirectory)),
        Err(error) => Err(refusal(path, error)),
    }
}

/// Maps an error of the store for a method that only reads.
pub(super) fn refusal(path: &MemoryPath, error: StoreError) -> Error {
    match error {
        StoreError::NotFound | StoreError::NotADirectory => reply::view_missing(path),
        error => reply::condition(path, error).with_effect(Effect::Read),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_directory_is_not_shown_as_a_file() {
        use crate::{Memory, MemoryOptions};

        let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
        memory.create("/memories/dir/a.md", "x").unwrap();
        let shown = memory.read_shown("/memories/dir");
        let refusal = shown.unwrap_err().to_string();
        assert!(refusal.ends_with("/memories/dir is a directory, not a file"), "{refusal}");
    }
}
