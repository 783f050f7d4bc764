//! [`Entry`]: an entry of a directory.

use memdir::MemoryPath;
use memdir::store::{Entry, EntryKind};
use napi_derive::napi;

use crate::times::{from_millis, to_millis};

/// One entry of a directory.
#[napi(object)]
pub struct StoreEntry {
    /// The whole path, from `/memories` on.
    pub path: String,
    /// A file's length in bytes; a directory has none.
    #[napi(ts_type = "number | undefined")]
    pub size: Option<i64>,
    /// When a file was last written, in milliseconds since 1970.
    #[napi(ts_type = "number | undefined")]
    pub modified: Option<f64>,
    /// The last recorded access of a file, in milliseconds since 1970.
    #[napi(ts_type = "number | undefined")]
    pub accessed: Option<f64>,
}

impl From<Entry> for StoreEntry {
    fn from(entry: Entry) -> Self {
        let size = match entry.kind {
            EntryKind::File(size) => Some(i64::try_from(size).unwrap_or(i64::MAX)),
            EntryKind::Directory => None,
        };
        let (modified, accessed) = (entry.modified.map(to_millis), entry.accessed.map(to_millis));
        Self { path: entry.path.as_str().to_owned(), size, modified, accessed }
    }
}

impl StoreEntry {
    /// The entry as the core's type; `None` if its path is not valid in a command.
    pub(crate) fn into_core(self) -> Option<Entry> {
        let path = MemoryPath::parse(&self.path).ok()?;
        Some(match self.size {
            Some(size) => Entry::file(path, u64::try_from(size).unwrap_or(0))
                .modified_at(self.modified.and_then(from_millis))
                .accessed_at(self.accessed.and_then(from_millis)),
            None => Entry::directory(path),
        })
    }
}
