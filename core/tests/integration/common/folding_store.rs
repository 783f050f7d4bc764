//! Stores that take several spellings of a name for one, as the file systems of Windows and macOS do, on any system.
#![allow(dead_code, reason = "each test program uses its part")]

use std::time::SystemTime;

use memdir::store::{Edit, Entry, InProcess, Node, StoreInfo};
use memdir::{MemoryPath, OnExisting, Store, StoreError};
use unicode_normalization::UnicodeNormalization as _;

/// A store in this process whose names keep their spelling, and are found by others.
pub(crate) struct FoldingStore {
    inner: InProcess,
    /// What is the same for two spellings of one name.
    key: fn(&str) -> String,
}

impl FoldingStore {
    /// As NTFS: in any case.
    pub(crate) fn like_windows() -> Self {
        Self { inner: InProcess::new(), key: |name| name.to_uppercase() }
    }

    /// As APFS: in any case, and however letters are composed.
    pub(crate) fn like_macos() -> Self {
        let key = |name: &str| name.nfd().collect::<String>().to_uppercase().nfd().collect();
        Self { inner: InProcess::new(), key }
    }

    /// The path with its names as they are kept, as far as they are there.
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

/// What is listed below the directory `kept`, as what is below the one that was asked for.
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
