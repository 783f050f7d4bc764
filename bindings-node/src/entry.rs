//! What a store lists.

use memdir::MemoryPath;
use memdir::store::{Entry, EntryKind};
use napi_derive::napi;

/// One entry of a directory.
#[napi(object)]
pub struct StoreEntry {
    /// The whole path, from `/memories` on.
    pub path: String,
    /// A file's length in bytes; a directory has none.
    #[napi(ts_type = "number | undefined")]
    pub size: Option<i64>,
}

impl From<Entry> for StoreEntry {
    fn from(entry: Entry) -> Self {
        let size = match entry.kind {
            EntryKind::File(size) => Some(i64::try_from(size).unwrap_or(i64::MAX)),
            EntryKind::Directory => None,
        };
        Self { path: entry.path.as_str().to_owned(), size }
    }
}

impl StoreEntry {
    /// The core's entry; none if its path is not one that a command could name.
    pub(crate) fn into_core(self) -> Option<Entry> {
        let path = MemoryPath::parse(&self.path).ok()?;
        Some(match self.size {
            Some(size) => Entry::file(path, u64::try_from(size).unwrap_or(0)),
            None => Entry::directory(path),
        })
    }
}
