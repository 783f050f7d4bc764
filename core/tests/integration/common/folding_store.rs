//! Stores that treat several spellings of a name as one, like the file systems of Windows and macOS, on any system.
#![allow(dead_code, reason = "each test program uses its part")]

use std::time::SystemTime;

use memdir::store::{Edit, Entry, InProcess, Node, StoreInfo};
use memdir::{MemoryPath, OnExisting, Store, StoreError};
use unicode_normalization::UnicodeNormalization as _;

/// A store in this process whose names keep their spelling, and are also found by other spellings.
pub(crate) struct FoldingStore {
    inner: InProcess,
    /// Maps all spellings of a name to one key.
    key: fn(&str) -> String,
}

impl FoldingStore {
    /// As NTFS: case-insensitive.
    pub(crate) fn like_windows() -> Self {
        Self { inner: InProcess::new(), key: |name| name.to_uppercase() }
    }

    /// As APFS: case-insensitive and normalization-insensitive.
    pub(crate) fn like_macos() -> Self {
        let key = |name: &str| name.nfd().collect::<String>().to_uppercase().nfd().collect();
        Self { inner: InProcess::new(), key }
    }

    /// The path with its names as they are stored, as far as they exist.
    fn kept(&self, path: &MemoryPath) -> MemoryPath {
        let mut kept = MemoryPath::root();
        for name in path.names() {
            let same = |entry: &Entry| {
                entry.path.name().is_some_and(|kept| (self.key)(kept) == (self.key)(name))
            };
            let listed = self.inner.list(&kept).unwrap_or_default();
            let found = listed.into_iter().find(same).map(|entry| entry.path);
            kept = found.unwrap_or_else(|| kept.join(name).unwrap());
        }
        kept
    }
}

/// Rewrites the entries below the directory `kept` as entries below the path that was requested.
fn asked(entries: Vec<Entry>, kept: &MemoryPath, asked: &MemoryPath) -> Vec<Entry> {
    let moved = |mut entry: Entry| {
        entry.path = entry.path.moved(kept, asked).unwrap();
        entry
    };
    entries.into_iter().map(moved).collect()
}

impl Store for FoldingStore {
    fn info(&self) -> StoreInfo {
        StoreInfo { folds_case: true, tracks_access: true, ..StoreInfo::default() }
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.inner.read(&self.kept(path))
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let kept = self.kept(path);
        Ok(asked(self.inner.list(&kept)?, &kept, path))
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        let kept = self.kept(path);
        Ok(match self.inner.open(&kept, depth)? {
            Node::Directory(entries) => Node::Directory(asked(entries, &kept, path)),
            file => file,
        })
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.inner.write(&self.kept(path), content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.inner.update(&self.kept(path), edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.inner.delete(&self.kept(path))
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        let (kept, there) = (self.kept(from), self.kept(to));
        let to = match (to.parent(), to.name()) {
            // Only the case of the name changes.
            (Some(above), Some(name)) if there == kept && from != to => {
                self.kept(&above).join(name).unwrap()
            }
            _ => there,
        };
        self.inner.rename(&kept, &to)
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.inner.set_modified(&self.kept(path), time)
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.inner.record_access(&self.kept(path), time)
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        self.inner.delete_unused(&self.kept(path), since)
    }
}
