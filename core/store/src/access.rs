//! The defaults of [`Store`]'s methods about access times, and [`Times`] for copies.

use std::time::SystemTime;

use super::{Context, Entry, Store, StoreError, listed_file};
use crate::path::MemoryPath;

/// The last access of a file, from the listing of its directory.
pub fn listed<S: Store + ?Sized>(
    store: &S,
    path: &MemoryPath,
) -> Result<Option<SystemTime>, StoreError> {
    Ok(listed_file(store, path)?.accessed)
}

/// The files that were not used at `since` or later, according to their entries. A file without a known time
/// counts as used.
pub fn unused(mut files: Vec<Entry>, since: SystemTime) -> Vec<Entry> {
    files.retain(|file| is_unused(file.modified, file.accessed, since));
    files
}

/// Whether a file with these times was not used at `since` or later.
pub fn is_unused(
    modified: Option<SystemTime>,
    accessed: Option<SystemTime>,
    since: SystemTime,
) -> bool {
    modified.max(accessed).is_some_and(|used| used < since)
}

/// The result of [`Store::delete_unused`]: `false` if the path does not exist, or is a directory.
pub fn if_a_file(done: Result<bool, StoreError>) -> Result<bool, StoreError> {
    match done {
        Err(StoreError::NotFound | StoreError::IsADirectory | StoreError::NotADirectory) => {
            Ok(false)
        }
        done => done,
    }
}

/// The times of one file, for a copy that keeps its original's.
///
/// ```
/// use memdir::store::Times;
/// use memdir::{Memory, MemoryOptions, MemoryPath};
///
/// let memory = Memory::open("memory:", MemoryOptions::default())?;
/// memory.create("/memories/old.md", "")?;
/// memory.create("/memories/copy.md", "")?;
/// let [old, copy] = ["/memories/old.md", "/memories/copy.md"].map(|path| MemoryPath::parse(path).unwrap());
/// Times::of(&**memory.store(), &old).unwrap().set(&**memory.store(), &copy).unwrap();
/// assert_eq!(memory.store().modified(&copy).unwrap(), memory.store().modified(&old).unwrap());
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// When the content was last written, if known.
    pub modified: Option<SystemTime>,
    /// When the file was last used, if the store tracks accesses.
    pub accessed: Option<SystemTime>,
}

impl Times {
    /// The times from the store itself; they may be more exact than those of its listings.
    ///
    /// # Errors
    /// As [`Store::modified`].
    pub fn of<S: Store + ?Sized>(store: &S, path: &MemoryPath) -> Result<Self, StoreError> {
        let times = store.read_times(&Context::new(), &[path])?;
        Ok(times.first().copied().unwrap_or_default())
    }

    /// Sets the known times that the store tracks.
    ///
    /// # Errors
    /// As [`Store::set_modified`].
    pub fn set<S: Store + ?Sized>(self, store: &S, path: &MemoryPath) -> Result<(), StoreError> {
        // Set the access time first, so the file never seems unused for longer than it is.
        if let Some(time) = self.accessed.filter(|_| store.info().tracks_access) {
            store.record_access(path, time)?;
        }
        self.modified.map_or(Ok(()), |time| store.set_modified(path, time))
    }
}

impl From<&Entry> for Times {
    fn from(entry: &Entry) -> Self {
        Self { modified: entry.modified, accessed: entry.accessed }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_last_use_is_the_later_time_and_the_unknown_is_used() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let since = SystemTime::UNIX_EPOCH + Duration::from_secs(5);
        for (modified, accessed, unused) in [
            (at(4), None, true),
            (None, at(4), true),
            (at(3), at(4), true),
            (at(4), at(5), false),
            (at(5), at(4), false),
            (at(5), None, false),
            (None, None, false),
        ] {
            assert_eq!(is_unused(modified, accessed, since), unused, "{modified:?} {accessed:?}");
        }
    }
}
