//! `stats`: measures a memory, and finds its largest, oldest and least recently used files.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use memdir_store::path::{MAX_LEVELS, MemoryPath};
use memdir_store::{Error, is_own_file};
use serde::Serialize;

use super::read::refusal;
use crate::history::{HistoryReader, HistorySize};
use crate::store::{Context, Entry, EntryKind, InContext, Node, Store as _, sort_by_path};

/// The number of files whose last use is queried at a time.
const AT_A_TIME: usize = 1_000;

/// Times of access are queried up to this far in the future, so files accessed under a fast clock are included.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The contents of a memory in numbers.
///
/// Hidden files count, as they do for the limits (`max_files` and `max_total_bytes`). The files of the history
/// do not. Times are those of listings: in object storage, the time of a copied file is the time of the copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Stats {
    /// The number of files.
    pub files: u64,
    /// The number of directories below `/memories`. A hidden directory counts if there is a file in it.
    pub directories: u64,
    /// The total bytes of all files.
    pub bytes: u64,
    /// The largest file; `None` if there are no files.
    pub largest: Option<SizedPath>,
    /// The file with the earliest last change. `None` if the store does not keep times.
    pub oldest: Option<TimedPath>,
    /// The file with the latest change; `None` as for `oldest`.
    pub newest: Option<TimedPath>,
    /// The file that was not used for the longest time, and its last use: the later of its last change and its
    /// last recorded access. `None` if the store does not keep accesses, or is read-only. Without the option
    /// `record_access`, only changes count as uses.
    pub least_recently_used: Option<TimedPath>,
    /// The size of the history. `None` if the memory has none.
    pub history: Option<HistorySize>,
}

/// A file and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SizedPath {
    /// The path of the file.
    pub path: MemoryPath,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A file and one of its times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TimedPath {
    /// The path of the file.
    pub path: MemoryPath,
    /// The time, which depends on the field: the last change or the last use.
    #[serde(serialize_with = "memdir_store::time::serialize")]
    #[cfg_attr(feature = "schema", schemars(with = "memdir_store::schema::Time"))]
    pub time: SystemTime,
}

/// Computes the numbers. Among files with equal values, the first one by path is returned.
pub(crate) fn stats(
    context: &Context,
    store: &InContext<'_>,
    history: Option<&HistoryReader>,
) -> Result<Stats, Error> {
    let mut files = Vec::new();
    let listed = store.files(&mut |file| {
        if !is_own_file(&file.path) {
            files.push(file);
        }
    });
    listed.map_err(Error::Store)?;
    sort_by_path(&mut files);
    let directories = directories(store, &files)?;
    let sized = |file: &Entry| match file.kind {
        EntryKind::File(bytes) => Some(SizedPath { path: file.path.clone(), bytes }),
        EntryKind::Directory => None,
    };
    let sizes: Vec<_> = files.iter().filter_map(sized).collect();
    let timed = |file: &Entry| Some(TimedPath { path: file.path.clone(), time: file.modified? });
    let written: Vec<_> = files.iter().filter_map(timed).collect();
    Ok(Stats {
        files: sizes.len() as u64,
        directories,
        bytes: sizes.iter().map(|file| file.bytes).sum(),
        largest: sizes.into_iter().rev().max_by_key(|file| file.bytes),
        oldest: written.iter().min_by_key(|file| file.time).cloned(),
        newest: written.into_iter().rev().max_by_key(|file| file.time),
        least_recently_used: least_recently_used(store, files)?,
        history: history.map(|history| history.size(context)).transpose().map_err(Error::Store)?,
    })
}

/// Counts the directories that listings show, which may be empty, and those that contain a file.
fn directories(store: &InContext<'_>, files: &[Entry]) -> Result<u64, Error> {
    store.check().map_err(Error::Store)?;
    let root = MemoryPath::root();
    let listed = match store.open(&root, MAX_LEVELS) {
        Ok(Node::Directory(entries)) => entries,
        Ok(Node::File(..)) => Vec::new(),
        Err(error) => return Err(refusal(&root, error)),
    };
    let mut found: HashSet<MemoryPath> =
        listed.into_iter().filter(|entry| !entry.is_file()).map(|entry| entry.path).collect();
    for file in files {
        let mut above = file.path.parent();
        while let Some(directory) = above.filter(|directory| !directory.is_root()) {
            above = directory.parent();
            if !found.insert(directory) {
                break;
            }
        }
    }
    Ok(found.len() as u64)
}

/// Finds the least recently used file. The last use of a file is never earlier than its last change. So only
/// files that were changed before the earliest use found so far are queried.
fn least_recently_used(
    store: &InContext<'_>,
    mut files: Vec<Entry>,
) -> Result<Option<TimedPath>, Error> {
    if !store.info().tracks_access {
        return Ok(None);
    }
    let until = SystemTime::now() + A_DAY;
    files.retain(|file| file.modified.is_some());
    files.sort_by_key(|a| a.modified);
    let mut found: Option<TimedPath> = None;
    let mut files = files.into_iter().peekable();
    while let Some(next) = files.peek() {
        store.check().map_err(Error::Store)?;
        let is_over = |used: &TimedPath| next.modified >= Some(used.time);
        if found.as_ref().is_some_and(is_over) {
            break;
        }
        let some = files.by_ref().take(AT_A_TIME).collect();
        let unused = store.unused(some, until).map_err(Error::Store)?;
        let used = unused.into_iter().filter_map(|file| Some((file.last_used()?, file.path)));
        let earliest = used.min().map(|(time, path)| TimedPath { path, time });
        found = match (found, earliest) {
            (Some(found), Some(other)) if other.time < found.time => Some(other),
            (None, other) => other,
            (found, _) => found,
        };
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{InProcess, OnExisting};

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text).unwrap()
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn timed(file: &str, seconds: u64) -> Option<TimedPath> {
        Some(TimedPath { path: path(file), time: at(seconds) })
    }

    /// A store with files of these sizes, last written at these seconds.
    fn store(files: &[(&str, usize, u64)]) -> InProcess {
        let store = InProcess::new();
        for (name, size, written) in files {
            let path = path(name);
            store.write(&path, &vec![b'x'; *size], OnExisting::Error).unwrap();
            store.set_modified(&path, at(*written)).unwrap();
        }
        store
    }

    fn found(store: &InProcess) -> Stats {
        let context = Context::new();
        stats(&context, &InContext::new(store, &context), None).unwrap()
    }

    #[test]
    fn nothing_is_nothing() {
        let found = found(&InProcess::new());
        assert_eq!((found.files, found.directories, found.bytes), (0, 0, 0));
        assert_eq!((found.largest, found.oldest, found.newest), (None, None, None));
        assert_eq!((found.least_recently_used, found.history), (None, None));
    }

    #[test]
    fn hidden_files_and_empty_directories_count() {
        let store = store(&[
            ("/memories/b", 5, 30),
            ("/memories/a/deep/er", 5, 10),
            ("/memories/.hidden/x", 1, 40),
        ]);
        store.make_directory(&path("/memories/empty")).unwrap();
        let found = found(&store);
        assert_eq!((found.files, found.directories, found.bytes), (3, 4, 11));
        let largest = SizedPath { path: path("/memories/a/deep/er"), bytes: 5 };
        assert_eq!(found.largest, Some(largest));
        assert_eq!(found.oldest, timed("/memories/a/deep/er", 10));
        assert_eq!(found.newest, timed("/memories/.hidden/x", 40));
    }

    #[test]
    fn an_access_is_a_use() {
        let store =
            store(&[("/memories/a", 1, 10), ("/memories/b", 1, 20), ("/memories/c", 1, 30)]);
        store.record_access(&path("/memories/a"), at(50)).unwrap();
        let found = found(&store);
        assert_eq!(found.least_recently_used, timed("/memories/b", 20));
        assert_eq!(found.oldest, timed("/memories/a", 10));
    }
}
