//! [`Snapshot`]: fingerprints of a file or directory, to detect later changes without keeping the contents.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use crate::access::Times;
use crate::path::MemoryPath;
use crate::settings::OnExisting;
use crate::transfer::place_file;
use crate::{EntryKind, Store, StoreError};

/// Everything at and below a path, by its path relative to that one.
pub(super) type Snapshot = BTreeMap<MemoryPath, Fingerprint>;

/// The fingerprint of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fingerprint {
    Directory,
    /// The length, and a hash with a random key. The chance that another content has the same hash is one in
    /// 2⁶⁴.
    File(u64, u64),
}

/// Why a snapshot failed.
#[derive(Debug)]
pub(super) enum SnapshotError {
    /// The content was changed or removed meanwhile.
    Changed,
    Source(StoreError),
    Destination(StoreError),
}

/// Takes snapshots that can be compared with each other.
pub(super) struct Snapshotter {
    key: RandomState,
}

impl Snapshotter {
    pub(super) fn new() -> Self {
        Self { key: RandomState::new() }
    }

    fn file(&self, content: &[u8]) -> Fingerprint {
        Fingerprint::File(content.len() as u64, self.key.hash_one(content))
    }

    /// The snapshot of a file with this content.
    pub(super) fn of_file(&self, content: &[u8]) -> Snapshot {
        Snapshot::from([(MemoryPath::root(), self.file(content))])
    }

    /// Takes a snapshot of `top` and everything below it.
    pub(super) fn take(&self, store: &dyn Store, top: &MemoryPath) -> Result<Snapshot, StoreError> {
        let mut seen = Snapshot::new();
        let mut directories = Vec::new();
        match store.read(top) {
            Ok(content) => {
                seen.insert(MemoryPath::root(), self.file(&content));
            }
            Err(StoreError::IsADirectory) => directories.push(top.clone()),
            Err(error) => return Err(error),
        }
        while let Some(directory) = directories.pop() {
            for entry in store.list(&directory)? {
                match entry.kind {
                    EntryKind::Directory => directories.push(entry.path),
                    EntryKind::File(_) => {
                        let fingerprint = self.file(&store.read(&entry.path)?);
                        seen.insert(relative(&entry.path, top)?, fingerprint);
                    }
                }
            }
            seen.insert(relative(&directory, top)?, Fingerprint::Directory);
        }
        Ok(seen)
    }

    /// Copies a file or a directory tree from `from` in one store to `to` in another, file by file. Each copy
    /// gets the original's times and is read back. `fits` returns whether the final path of an entry is
    /// valid, given its path in the [`Snapshot`].
    pub(super) fn copy(
        &self,
        (source, from): (&dyn Store, &MemoryPath),
        (destination, to): (&dyn Store, &MemoryPath),
        fits: impl Fn(&MemoryPath) -> bool,
    ) -> Result<Snapshot, SnapshotError> {
        let mut seen = Snapshot::new();
        let mut open = vec![from.clone()];
        while let Some(at) = open.pop() {
            let below = relative(&at, from).map_err(SnapshotError::Source)?;
            let copy = at.moved(from, to).ok().filter(|_| fits(&below));
            let copy = copy.ok_or(SnapshotError::Destination(StoreError::NameTooLong))?;
            let fingerprint = match source.read(&at) {
                Ok(content) => {
                    let times = Times::of(source, &at).map_err(gone)?;
                    place_file(destination, &copy, &content, times, OnExisting::Error)
                        .map_err(SnapshotError::Destination)?;
                    self.file(&content)
                }
                Err(StoreError::IsADirectory) => {
                    let entries = source.list(&at).map_err(gone)?;
                    if entries.is_empty() {
                        destination.make_directory(&copy).map_err(SnapshotError::Destination)?;
                    }
                    open.extend(entries.into_iter().map(|entry| entry.path));
                    Fingerprint::Directory
                }
                Err(error) => return Err(gone(error)),
            };
            seen.insert(below, fingerprint);
        }
        Ok(seen)
    }
}

/// The same snapshot, relative to a directory above.
pub(super) fn from_above(seen: &Snapshot, below: &MemoryPath) -> Result<Snapshot, StoreError> {
    let mut all = Snapshot::new();
    for (path, fingerprint) in seen {
        let path = path.moved(&MemoryPath::root(), below).map_err(|_| StoreError::NameTooLong)?;
        all.insert(path, fingerprint.clone());
    }
    let mut above = below.parent();
    while let Some(directory) = above {
        above = directory.parent();
        all.insert(directory, Fingerprint::Directory);
    }
    Ok(all)
}

/// Whether `part` is a subset of `whole`, or equal to it.
pub(super) fn is_part(part: &Snapshot, whole: &Snapshot) -> bool {
    part.iter().all(|(path, fingerprint)| whole.get(path) == Some(fingerprint))
}

/// Converts an error about something that was just listed: if it is missing or of another kind, it was
/// changed.
fn gone(error: StoreError) -> SnapshotError {
    match error {
        StoreError::NotFound | StoreError::NotADirectory | StoreError::IsADirectory => {
            SnapshotError::Changed
        }
        error => SnapshotError::Source(error),
    }
}

/// The path relative to `top`.
fn relative(path: &MemoryPath, top: &MemoryPath) -> Result<MemoryPath, StoreError> {
    path.moved(top, &MemoryPath::root()).map_err(|_| StoreError::NameTooLong)
}
