//! [`FixedFiles`]: a read-only store with a fixed list of files.
//!
//! Commands that show or copy the files of a store can use it for the files of a history or an archive.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use memdir::path::MemoryPath;
use memdir::store::{Edit, Entry, Node, OnExisting, Store, StoreError, StoreInfo};

/// Reads a file of the list.
pub(super) type Reader = Box<dyn Fn(&MemoryPath) -> Result<Vec<u8>, StoreError> + Send + Sync>;

pub(super) struct FixedFiles {
    files: BTreeMap<MemoryPath, Entry>,
    /// The directories, with the paths of their entries.
    directories: BTreeMap<MemoryPath, BTreeSet<MemoryPath>>,
    read: Reader,
}

impl FixedFiles {
    /// A store with these files and directories, and their parent directories.
    pub(super) fn new(entries: impl IntoIterator<Item = Entry>, read: Reader) -> Self {
        let (mut files, mut directories) = (BTreeMap::new(), BTreeMap::new());
        directories.insert(MemoryPath::root(), BTreeSet::new());
        for entry in entries {
            let mut below = entry.path.clone();
            if entry.is_file() {
                files.insert(entry.path.clone(), entry);
            } else {
                directories.entry(entry.path).or_default();
            }
            while let Some(above) = below.parent() {
                directories.entry(above.clone()).or_default().insert(below);
                below = above;
            }
        }
        Self { files, directories, read }
    }

    /// A path that is both a file and a directory, if there is one.
    pub(super) fn contradiction(&self) -> Option<&MemoryPath> {
        self.files.keys().find(|path| self.directories.contains_key(path))
    }

    fn file(&self, path: &MemoryPath) -> Result<&Entry, StoreError> {
        match self.files.get(path) {
            Some(entry) => Ok(entry),
            None if self.directories.contains_key(path) => Err(StoreError::IsADirectory),
            None => Err(StoreError::NotFound),
        }
    }
}

impl Store for FixedFiles {
    fn info(&self) -> StoreInfo {
        StoreInfo { is_read_only: true, tracks_access: true, ..StoreInfo::default() }
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.file(path)?;
        (self.read)(path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let Some(below) = self.directories.get(path) else {
            let is_file = self.files.contains_key(path);
            return Err(if is_file { StoreError::NotADirectory } else { StoreError::NotFound });
        };
        let entry = |path: &MemoryPath| match self.files.get(path) {
            Some(entry) => entry.clone(),
            None => Entry::directory(path.clone()),
        };
        Ok(below.iter().map(entry).collect())
    }

    fn open(&self, path: &MemoryPath, _: usize) -> Result<Node<'_>, StoreError> {
        if self.directories.contains_key(path) {
            return self.list(path).map(Node::Directory);
        }
        self.read(path).map(Node::file)
    }

    fn write(&self, _: &MemoryPath, _: &[u8], _: OnExisting) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn update(&self, _: &MemoryPath, _: &mut Edit<'_>) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn delete(&self, _: &MemoryPath) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn rename(&self, _: &MemoryPath, _: &MemoryPath) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        Ok(self.file(path)?.modified)
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        Ok(self.file(path)?.accessed)
    }
}
