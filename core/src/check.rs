//! [`check`]: runs the store's own inspection and that of its history, and reads every file.

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::Arc;

use memdir_store::path::{MemoryPath, ROOT};

use crate::history::{HistoryError, Recorder, without_journal};
use crate::store::{
    Cancellation, Context, Durability, EntryKind, InContext, MOVING, NEW_DIRECTORY, Node, Problem,
    ProblemKind, Store, StoreError, sort_by_path,
};

/// The result of a [`check`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Checked {
    /// Directories, including the root.
    pub directories: u64,
    /// Files, each read completely.
    pub files: u64,
    /// The bytes that were read.
    pub bytes: u64,
    /// Versions in the store's history, each computed; `None` if the store has no history.
    pub versions: Option<u64>,
    /// The problems that were reported.
    pub problems: u64,
}

/// Verifies a store and its history: inspects the store's structures, reads every file, reads every record of
/// the history and computes every version. Each problem is reported as it is found. Changes nothing.
///
/// The history is checked wherever [`MemoryOptions::history`](crate::MemoryOptions::history) keeps it, even if
/// the store was opened without that option. Other processes may use the store during the check. Their changes
/// are not reported as problems.
///
/// ```
/// let store = memdir::open_store("memory:", &memdir::MemoryOptions::default())?;
/// let checked = memdir::check(&store, &mut |problem| println!("{problem}"))?;
/// assert_eq!((checked.directories, checked.files, checked.problems), (1, 0, 0));
/// assert_eq!(checked.versions, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// If the store fails halfway, that is reported as a problem, too. Earlier results are kept, and the check
/// continues as far as the store allows.
///
/// # Errors
/// The store's error, if it fails before anything was read or found.
pub fn check(
    store: &Arc<dyn Store>,
    report: &mut dyn FnMut(Problem),
) -> Result<Checked, StoreError> {
    check_unless(&Cancellation::never(), store, report)
}

/// Like [`check`], but `cancellation` cancels it.
///
/// # Errors
/// Same as [`check`], and [`StoreError::Cancelled`]: a cancelled check has no result.
pub fn check_unless(
    cancellation: &Cancellation,
    store: &Arc<dyn Store>,
    report: &mut dyn FnMut(Problem),
) -> Result<Checked, StoreError> {
    let context = &Context::new().cancelled_by(cancellation);
    context.check()?;
    let mut problems = 0;
    // The store of a memory with a history inspects the same history, so each damage would be reported twice.
    let mut damages = HashSet::new();
    let mut counted = |problem: Problem| {
        if problem.kind == ProblemKind::Damaged
            && !damages.insert((problem.path.clone(), problem.details.clone()))
        {
            return;
        }
        problems += 1;
        report(problem);
    };
    let root = MemoryPath::root();
    // If nothing can be read at all, the store is unreachable. That is an error and not a problem of the store.
    let mut failed = store.inspect(&mut counted).err();
    let mut versions = None;
    if failed.is_none() {
        failed = history(context, store, &mut versions, &mut counted).err();
    }
    refuse_cancelled(failed.as_ref())?;
    let files = without_journal(Arc::clone(store));
    let files = InContext::new(&*files, context);
    let mut walk = Walk { store: &files, report: &mut counted, checked: Checked::default() };
    let walked = walk.directory(&root);
    let checked = walk.checked;
    let has_begun = problems > 0 || checked.directories > 0;
    for error in failed.into_iter().chain(walked.err()) {
        if !has_begun {
            return Err(error);
        }
        refuse_cancelled(Some(&error))?;
        let problem = Problem::new(ProblemKind::Unreadable, &root, error.to_string());
        problems += 1;
        report(problem);
    }
    Ok(Checked { versions, problems, ..checked })
}

/// A cancelled check has no result.
fn refuse_cancelled(error: Option<&StoreError>) -> Result<(), StoreError> {
    match error {
        Some(StoreError::Cancelled) => Err(StoreError::Cancelled),
        _ => Ok(()),
    }
}

/// Checks the history and counts its versions, if there is one.
fn history(
    context: &Context,
    store: &Arc<dyn Store>,
    versions: &mut Option<u64>,
    report: &mut dyn FnMut(Problem),
) -> Result<(), StoreError> {
    if let Some(mounts) = store.mounts() {
        for (at, store) in mounts.stores() {
            let mut own = None;
            let checked = history(context, &store, &mut own, &mut |mut problem| {
                if let Some(below) = problem.path.strip_prefix(ROOT) {
                    problem.path = format!("{at}{below}");
                }
                report(problem);
            });
            *versions = own.map(|own| own + versions.unwrap_or(0)).or(*versions);
            match checked {
                Err(error) if at.is_root() || error.is_cancelled() => return Err(error),
                // A store that is unreachable is reported when it is read.
                Ok(()) | Err(_) => {}
            }
        }
        return Ok(());
    }
    let recorder = Recorder::untrimmed(Arc::clone(store), Durability::Full);
    let read = recorder.reader().history_snapshot(context).and_then(|reading| {
        if reading.is_empty() {
            return Ok(Vec::new());
        }
        *versions = Some(reading.versions() as u64);
        Ok(recorder.reader().check_history(context)?)
    });
    let problems = match read {
        Ok(problems) => problems,
        // Like a file that cannot be read, this is one problem, unless nothing can be read.
        Err(HistoryError::Store(error)) if store.list_in(context, &MemoryPath::root()).is_err() => {
            return Err(error);
        }
        Err(error) => vec![format!("the history: {error}")],
    };
    for problem in problems {
        report(Problem::new(ProblemKind::Damaged, &MemoryPath::root(), problem));
    }
    Ok(())
}

/// Returns whether a name is the hidden one of a rename between mounted stores.
fn was_moving(name: &str) -> bool {
    name.starts_with(MOVING)
}

struct Walk<'w> {
    store: &'w dyn Store,
    report: &'w mut dyn FnMut(Problem),
    checked: Checked,
}

impl Walk<'_> {
    fn directory(&mut self, path: &MemoryPath) -> Result<(), StoreError> {
        let mut entries = match self.store.list(path) {
            Err(error) if !path.is_root() => return self.unreadable(path, error),
            listed => listed?,
        };
        self.checked.directories += 1;
        sort_by_path(&mut entries);
        for entry in entries {
            match entry.kind {
                _ if path.is_root() && entry.path.name().is_some_and(was_moving) => {
                    (self.report)(Problem::new(ProblemKind::LeftOver, &entry.path, ""));
                }
                EntryKind::Directory => self.directory(&entry.path)?,
                EntryKind::File(0) if entry.path.name() == Some(NEW_DIRECTORY) => {
                    (self.report)(Problem::new(ProblemKind::LeftOver, &entry.path, ""));
                }
                EntryKind::File(size) => self.file(&entry.path, size)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &MemoryPath, listed: u64) -> Result<(), StoreError> {
        let mut listed = listed;
        let mut read = 0;
        // If the sizes differ, another writer may have changed the file. A file that other writers keep
        // changing does not count as a problem.
        let mut is_right = false;
        for _ in 0..3 {
            read = match self.read(path) {
                Ok(read) => read,
                Err(error) => return self.unreadable(path, error),
            };
            let before = listed;
            if read != before {
                let Some(after) = self.size(path)? else { return Ok(()) };
                listed = after;
                is_right |= before != after;
            }
            if read == before || read == listed {
                is_right = true;
                break;
            }
        }
        if is_right {
            self.checked.files += 1;
            self.checked.bytes += read;
        } else {
            let details = format!("{read} bytes and not {listed}");
            (self.report)(Problem::new(ProblemKind::WrongSize, path, details));
        }
        Ok(())
    }

    fn read(&self, path: &MemoryPath) -> Result<u64, StoreError> {
        match self.store.open(path, 0)? {
            Node::File(_, stream) => {
                read_to_end(stream).map_err(|error| StoreError::failed("reading a file", error))
            }
            Node::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    /// Returns the size that the directory lists now, or `None` if the path is no longer a file.
    fn size(&self, path: &MemoryPath) -> Result<Option<u64>, StoreError> {
        let Some(above) = path.parent() else { return Ok(None) };
        let listed = match self.store.list(&above) {
            Err(StoreError::NotFound | StoreError::NotADirectory) => return Ok(None),
            listed => listed?,
        };
        let found = listed.into_iter().find(|entry| entry.path == *path);
        Ok(found.and_then(|entry| match entry.kind {
            EntryKind::File(size) => Some(size),
            EntryKind::Directory => None,
        }))
    }

    /// Classifies a read error: another process changed the path, there is a problem at the path, or the whole
    /// store failed.
    fn unreadable(&mut self, path: &MemoryPath, error: StoreError) -> Result<(), StoreError> {
        match error {
            StoreError::NotFound
            | StoreError::IsADirectory
            | StoreError::NotADirectory
            | StoreError::Symlink
            | StoreError::SpecialFile => Ok(()),
            StoreError::Cancelled => Err(error),
            StoreError::Failed { .. } if self.store.list(&MemoryPath::root()).is_err() => {
                Err(error)
            }
            error => {
                let details = error.to_string();
                (self.report)(Problem::new(ProblemKind::Unreadable, path, details));
                Ok(())
            }
        }
    }
}

fn read_to_end(mut stream: Box<dyn Read + '_>) -> io::Result<u64> {
    io::copy(&mut stream, &mut io::sink())
}
