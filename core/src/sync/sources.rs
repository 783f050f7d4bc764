//! [`Sources`]: the versions in the history of the other memory that a sync takes, for the records of what it changes in this one.
//!
//! They are looked up once, before the first change. A content that an agent writes after that has no version here, so a record never
//! names a wrong one.

use std::collections::HashMap;
use std::sync::Arc;

use memdir_store::path::MemoryPath;
use memdir_store::{HistoryId, Operation, SyncSource};

use super::baseline::Digest;
use crate::history::HistorySnapshot;

/// The newest versions of files in the history of the other memory.
pub(super) struct Sources {
    /// The name of the other memory.
    name: String,
    newest: HashMap<MemoryPath, Newest>,
}

struct Newest {
    id: HistoryId,
    /// In hexadecimal digits; `None` if the file is gone.
    sha256: Option<String>,
}

/// The file that a change takes from the other memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken<'t> {
    /// The path of the file that is changed.
    pub(super) path: &'t MemoryPath,
    /// The path of the file in the other memory.
    pub(super) from: &'t MemoryPath,
    /// The content of that file; `None` if it is gone.
    pub(super) content: Option<Digest>,
    /// Whether the content is merged with the one here.
    pub(super) is_merged: bool,
}

impl<'t> Taken<'t> {
    /// The whole content of a file.
    pub(super) fn whole(path: &'t MemoryPath, from: &'t MemoryPath, content: Digest) -> Self {
        Self { path, from, content: Some(content), is_merged: false }
    }
}

impl Sources {
    /// Looks up the newest versions of these files in the history of the other memory, which has this name. `wanted` has the present path of
    /// each, and the path after the renames of the sync.
    pub(super) fn new(
        name: String,
        history: Option<&HistorySnapshot<'_>>,
        mut wanted: HashMap<&MemoryPath, &MemoryPath>,
    ) -> Self {
        let mut newest = HashMap::new();
        let Some(history) = history else { return Self { name, newest } };
        for listed in history.listed(&MemoryPath::root()) {
            if wanted.is_empty() {
                break;
            }
            let version = listed.version;
            if version.operation == Operation::Redacted {
                continue;
            }
            if let Some(path) = version.old_path.as_ref().and_then(|path| wanted.remove(path)) {
                newest.insert(path.clone(), Newest { id: version.id, sha256: None });
            }
            if let Some(path) = wanted.remove(&version.path) {
                newest.insert(path.clone(), Newest { id: version.id, sha256: version.sha256 });
            }
        }
        Self { name, newest }
    }

    /// The source of a change of these files.
    pub(super) fn of(&self, files: &[Taken<'_>]) -> Arc<SyncSource> {
        let version = |taken: &Taken<'_>| {
            let newest = self.newest.get(taken.from)?;
            let is_same = newest.sha256 == taken.content.as_ref().map(hexadecimal);
            is_same.then(|| (taken.path.clone(), (newest.id, taken.is_merged)))
        };
        let versions = files.iter().filter_map(version).collect();
        Arc::new(SyncSource { name: self.name.clone(), versions })
    }
}

fn hexadecimal(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
