//! [`Entry`] and [`Node`]: the results of a store's listings and of [`Store::open`](crate::Store::open).

use std::fmt;
use std::io::{Cursor, Read};
use std::time::SystemTime;

use serde::{Serialize, Serializer};

use crate::Fingerprint;
use crate::path::MemoryPath;

/// A file or a directory in a store's listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Entry {
    /// The whole path, starting with `/memories`.
    pub path: MemoryPath,
    /// Whether it is a file or a directory.
    #[serde(rename = "size")]
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "Option<u64>",
            description = "The size of a file in bytes; `None` for a directory."
        )
    )]
    pub kind: EntryKind,
    /// When a file was last written, to the microsecond; `None` for a directory, or if the store does not keep times.
    #[serde(serialize_with = "crate::time::serialize_optional")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub modified: Option<SystemTime>,
    /// The last recorded access of a file; `None` for a directory, or if the store does not track accesses. Of a store's methods,
    /// only `list` must set it.
    #[serde(serialize_with = "crate::time::serialize_optional")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub accessed: Option<SystemTime>,
    /// The fingerprint of the content, if it is a file and the store has [fingerprints](crate::StoreInfo::fingerprints).
    #[serde(skip)]
    pub fingerprint: Option<Fingerprint>,
    /// When anything about a file was last changed, by a clock of the file system that no program can set back for one file: the
    /// ctime. The [fingerprint](Entry::fingerprint) contains it. `None` if the store has no such time, or does not need it because
    /// its fingerprints are [exact](crate::Fingerprints::Exact).
    #[serde(skip)]
    pub changed: Option<SystemTime>,
}

/// The kind of an [`Entry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, with its size in bytes.
    File(u64),
    /// A directory.
    Directory,
}

/// Serializes a file as its size and a directory as null.
impl Serialize for EntryKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::File(size) => to.serialize_some(size),
            Self::Directory => to.serialize_none(),
        }
    }
}

impl Entry {
    /// A file of `size` bytes.
    #[must_use]
    pub fn file(path: MemoryPath, size: u64) -> Self {
        Self { kind: EntryKind::File(size), ..Self::directory(path) }
    }

    /// Whether it is a file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.kind != EntryKind::Directory
    }

    /// The same entry with another path, such as its path in another store.
    #[must_use]
    pub fn at(mut self, path: MemoryPath) -> Self {
        self.path = path;
        self
    }

    /// The same entry with another kind or size.
    #[must_use]
    pub fn of_kind(mut self, kind: EntryKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same entry with `time` as the last write.
    #[must_use]
    pub fn modified_at(mut self, time: Option<SystemTime>) -> Self {
        self.modified = time;
        self
    }

    /// The same entry with `time` as the last access.
    #[must_use]
    pub fn accessed_at(mut self, time: Option<SystemTime>) -> Self {
        self.accessed = time;
        self
    }

    /// The same entry with this fingerprint.
    #[must_use]
    pub fn with_fingerprint(mut self, fingerprint: Option<Fingerprint>) -> Self {
        self.fingerprint = fingerprint;
        self
    }

    /// The same entry with `time` as the last change of anything about the file.
    #[must_use]
    pub fn changed_at(mut self, time: Option<SystemTime>) -> Self {
        self.changed = time;
        self
    }

    /// The later of both times; `None` if neither is known.
    #[must_use]
    pub fn last_used(&self) -> Option<SystemTime> {
        self.modified.max(self.accessed)
    }

    /// A directory.
    #[must_use]
    pub fn directory(path: MemoryPath) -> Self {
        let kind = EntryKind::Directory;
        Self { path, kind, modified: None, accessed: None, fingerprint: None, changed: None }
    }
}

/// Sorts a listing into display order.
pub fn sort_by_path(entries: &mut [Entry]) {
    entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
}

/// The result of [`Store::open`](crate::Store::open).
pub enum Node<'s> {
    /// A file: its size in bytes as known before reading, and its content.
    File(u64, Box<dyn Read + 's>),
    /// A directory: the entries below it.
    Directory(Vec<Entry>),
}

impl Node<'_> {
    /// A file whose whole content is in memory.
    #[must_use]
    pub fn file(content: Vec<u8>) -> Self {
        Node::File(content.len() as u64, Box::new(Cursor::new(content)))
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::File(size, _) => f.debug_tuple("File").field(size).finish_non_exhaustive(),
            Node::Directory(entries) => f.debug_tuple("Directory").field(entries).finish(),
        }
    }
}
