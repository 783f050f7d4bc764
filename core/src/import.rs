//! Imports text files into a memory: [`ImportPlan`] computes the result for each file, and [`Import`] writes
//! the files as one change.
//!
//! All files are planned before the first is written, under the policies of the memory. The plan reserves the
//! space that the files need, so a limit applies to all of them together.
//!
//! ```
//! use memdir::import::Fate;
//! use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting};
//!
//! let memory = Memory::open("memory:", MemoryOptions::default())?;
//! let files = [("/memories/tea.md", "green\n"), ("/memories/cups.md", "two\n")];
//! let files = files.map(|(path, text)| (MemoryPath::parse(path).unwrap(), text));
//!
//! let mut plan = memory.plan_import(OnExisting::Error);
//! for (path, text) in &files {
//!     assert_eq!(plan.add(path, text)?.fate, Fate::Created);
//! }
//! drop(plan);
//! let (written, _change) = memory.import(|import| {
//!     files.iter().try_for_each(|(path, text)| import.write(path, text, OnExisting::Error))
//! });
//! written?;
//! assert_eq!(memory.read("/memories/tea.md")?, "green\n");
//! # Ok::<(), memdir::Error>(())
//! ```

use std::collections::{HashMap, HashSet};
use std::fmt;

use memdir_store::Error;
pub use memdir_store::batch::{MAX_BATCH_BYTES, MAX_BATCH_FILES};
use memdir_store::path::{Folding, MAX_LEVELS, MemoryPath, is_hidden};

use crate::files::{self, FileToPut};
use crate::history::{HistoryId, Operation};
use crate::memory::Memory;
use crate::policies::{NewFile, Policies};
use crate::policy::limits::Reservation;
use crate::reply;
use crate::store::{InContext, Location, Node, OnExisting, Store, StoreError};
use crate::unit_of_work::UnitOfWork;

/// The result for one imported file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The file is created.
    Created,
    /// The file replaces a file with different content.
    Overwritten,
    /// The memory already has the file, with the same content.
    Unchanged,
    /// Another entry is in the way.
    Conflict(InTheWay),
    /// A policy or the store refuses the file, for this reason.
    Refused(String),
}

/// The conflict that stops an imported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InTheWay {
    /// A file with different content.
    AnotherContent,
    /// A directory.
    Directory,
    /// A file where a directory is needed.
    File,
    /// Another file of the import. The memory treats both paths as the same.
    SameName,
}

impl InTheWay {
    /// Returns its name for programs: `another-content`, `directory`, `file` or `same-name`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnotherContent => "another-content",
            Self::Directory => "directory",
            Self::File => "file",
            Self::SameName => "same-name",
        }
    }
}

impl fmt::Display for InTheWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AnotherContent => "the memory has another content there",
            Self::Directory => "the memory has a directory there",
            Self::File => "the memory has a file where a directory is needed",
            Self::SameName => "the memory takes it for the same as another file of the source",
        })
    }
}

/// The planned result for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Planned {
    /// The result for the file.
    pub fate: Fate,
    /// True if sensitive text in the file is redacted when it is written.
    pub is_redacted: bool,
}

/// The plan of an import, from [`Memory::plan_import`]. It changes nothing. It reserves the space for its files
/// within the limits, so drop it before you write them.
pub struct ImportPlan<'m> {
    store: InContext<'m>,
    policies: &'m Policies,
    overwrite: bool,
    folding: Folding,
    /// The planned paths, in the form in which the store compares them.
    taken: HashSet<MemoryPath>,
    /// For each path where a directory is needed, true if it is a file.
    parents: HashMap<MemoryPath, bool>,
    /// The number of paths that were looked up.
    looked_up: usize,
    /// Everything in the store that is not hidden, in the form in which the store compares paths; true for a file.
    listed: Option<HashMap<MemoryPath, bool>>,
    /// The space for the planned files, released when the plan is dropped.
    reservations: Vec<Reservation<'m>>,
}

/// A plan that has looked up so many paths lists the store instead.
const MANY: usize = 32;

/// The entry at a path.
enum ExistingEntry {
    Nothing,
    File(Vec<u8>),
    Directory,
    /// The path is below a file.
    BelowAFile,
}

impl<'m> ImportPlan<'m> {
    fn new(store: InContext<'m>, policies: &'m Policies, overwrite: bool) -> Self {
        let folding = Folding::new(store.info().folds_case);
        Self {
            store,
            policies,
            overwrite,
            folding,
            taken: HashSet::new(),
            parents: HashMap::new(),
            looked_up: 0,
            listed: None,
            reservations: Vec::new(),
        }
    }

    /// Adds a file. Returns the result for it, assuming that the files added earlier are written. A refusal by
    /// a policy or the store is returned as a [`Fate`] and not as an error.
    ///
    /// # Errors
    /// [`Error::Store`] if the store fails.
    pub fn add(&mut self, path: &MemoryPath, text: &str) -> Result<Planned, Error> {
        let (fate, is_redacted) = self.plan(path, text)?;
        Ok(Planned { fate, is_redacted })
    }

    fn plan(&mut self, path: &MemoryPath, text: &str) -> Result<(Fate, bool), Error> {
        if path.is_reserved() {
            return refused(reply::reserved_path(path));
        }
        if !self.taken.insert(self.folding.key(path).into_owned()) {
            return Ok((Fate::Conflict(InTheWay::SameName), false));
        }
        if !self.store.can_keep(path) {
            return refused(reply::condition(path, StoreError::NameTooLong));
        }
        let found = match self.found(path) {
            Ok(found) => found,
            Err(error) => return refused(reply::condition(path, error)),
        };
        match &found {
            ExistingEntry::File(content) if content == text.as_bytes() => {
                return Ok((Fate::Unchanged, false));
            }
            ExistingEntry::Directory => return Ok((Fate::Conflict(InTheWay::Directory), false)),
            ExistingEntry::BelowAFile => return Ok((Fate::Conflict(InTheWay::File), false)),
            ExistingEntry::File(_) | ExistingEntry::Nothing => {}
        }
        let overwrite = OnExisting::Overwrite;
        let checked = self.policies.check_create(&self.store, path, text, overwrite, || false);
        let NewFile { text: written, reservation, .. } = match checked {
            Ok(new) => new,
            Err(error) => return refused(error),
        };
        let is_redacted = written != text;
        match &found {
            ExistingEntry::File(content) if content == written.as_bytes() => {
                Ok((Fate::Unchanged, is_redacted))
            }
            ExistingEntry::File(_) if !self.overwrite => {
                Ok((Fate::Conflict(InTheWay::AnotherContent), false))
            }
            found => {
                let is_there = matches!(found, ExistingEntry::File(_));
                self.reservations.push(reservation);
                Ok((if is_there { Fate::Overwritten } else { Fate::Created }, is_redacted))
            }
        }
    }

    fn found(&mut self, path: &MemoryPath) -> Result<ExistingEntry, StoreError> {
        self.list_if_many()?;
        if let Some(listed) = &self.listed
            && !path.names().any(is_hidden)
        {
            let is_file = |path: &MemoryPath| listed.get(&*self.folding.key(path)).copied();
            return match is_file(path) {
                Some(true) => self.store.read(path).map(ExistingEntry::File),
                Some(false) => Ok(ExistingEntry::Directory),
                None => {
                    let mut above = std::iter::successors(path.parent(), MemoryPath::parent);
                    let is_below = above.any(|above| is_file(&above) == Some(true));
                    Ok(if is_below { ExistingEntry::BelowAFile } else { ExistingEntry::Nothing })
                }
            };
        }
        let opened = self.store.open(path, 0).map(|node| matches!(node, Node::File(..)));
        match opened {
            Ok(false) => Ok(ExistingEntry::Directory),
            Ok(true) => self.store.read(path).map(ExistingEntry::File),
            Err(StoreError::NotFound | StoreError::NotADirectory) => {
                let mut above = path.parent();
                while let Some(directory) = above.filter(|above| !above.is_root()) {
                    if self.is_file(&directory)? {
                        return Ok(ExistingEntry::BelowAFile);
                    }
                    above = directory.parent();
                }
                Ok(ExistingEntry::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// Lists the whole store, if there are many files and each look at the store is a request to a server.
    fn list_if_many(&mut self) -> Result<(), StoreError> {
        self.looked_up += 1;
        if self.looked_up == MANY && !self.store.info().locations.iter().all(Location::is_local) {
            let entries = match self.store.open(&MemoryPath::root(), MAX_LEVELS)? {
                Node::Directory(entries) => entries,
                Node::File(..) => Vec::new(),
            };
            let folding = self.folding;
            let keyed = entries.iter().map(|it| (folding.key(&it.path).into_owned(), it.is_file()));
            self.listed = Some(keyed.collect());
        }
        Ok(())
    }

    fn is_file(&mut self, path: &MemoryPath) -> Result<bool, StoreError> {
        if let Some(is_file) = self.parents.get(path) {
            return Ok(*is_file);
        }
        let is_file = match self.store.open(path, 0) {
            Ok(node) => matches!(node, Node::File(..)),
            Err(StoreError::NotFound | StoreError::NotADirectory) => false,
            Err(error) => return Err(error),
        };
        self.parents.insert(path.clone(), is_file);
        Ok(is_file)
    }
}

/// Turns a refusal into the result for the file. A failure ends the plan.
fn refused(error: Error) -> Result<(Fate, bool), Error> {
    match error {
        Error::Refused(refused) => Ok((Fate::Refused(refused.into_sentence()), false)),
        failed => Err(failed),
    }
}

/// Writes the files of an import, within [`Memory::import`].
pub struct Import<'m>(UnitOfWork<'m>);

impl Import<'_> {
    /// Writes a file and its parents. `existing` says whether it may replace a file.
    ///
    /// # Errors
    /// Same as [`Memory::write`]. With [`OnExisting::Error`], also if the file exists.
    pub fn write(&self, path: &MemoryPath, text: &str, existing: OnExisting) -> Result<(), Error> {
        self.0.context().check().map_err(Error::Store)?;
        if path.is_reserved() {
            return Err(reply::reserved_path(path));
        }
        files::put(&self.0, path, text, existing)
    }

    /// Writes files together, which takes less time than one by one: a database uses one transaction, a directory few flushes, object
    /// storage many requests at once. A store may hold a lock meanwhile, so write
    /// [`MAX_BATCH_FILES`] and [`MAX_BATCH_BYTES`] together at most.
    ///
    /// # Errors
    /// [`ImportError`], with the error of [`write`](Self::write) for the first file that is not written.
    pub fn write_batch(&self, files: &[ImportedFile<'_>]) -> Result<(), ImportError> {
        let failed = |written, error| ImportError { written, error };
        self.0.context().check().map_err(|error| failed(0, Error::Store(error)))?;
        let reserved = files.iter().position(|file| file.path.is_reserved());
        let to_put: Vec<_> = files[..reserved.unwrap_or(files.len())]
            .iter()
            .map(|&ImportedFile { path, text, existing }| FileToPut { path, text, existing })
            .collect();
        files::put_all(&self.0, &to_put).map_err(|(written, error)| failed(written, error))?;
        match reserved {
            Some(number) => Err(failed(number, reply::reserved_path(files[number].path))),
            None => Ok(()),
        }
    }
}

/// A file of [`Import::write_batch`].
#[derive(Debug, Clone, Copy)]
pub struct ImportedFile<'f> {
    /// The file.
    pub path: &'f MemoryPath,
    /// Its whole text.
    pub text: &'f str,
    /// Whether it may replace a file.
    pub existing: OnExisting,
}

/// Why [`Import::write_batch`] ended early.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct ImportError {
    /// The number of files that were written, from the first on. They stay.
    pub written: usize,
    /// The error of the next file.
    #[source]
    pub error: Error,
}

/// Imports text files; [the module](self) has an example.
impl Memory {
    /// Starts an empty import plan. With [`OnExisting::Error`], a file with different content at a path is a
    /// conflict.
    #[must_use]
    pub fn plan_import(&self, existing: OnExisting) -> ImportPlan<'_> {
        let (store, policies) = self.parts();
        ImportPlan::new(store, policies, existing == OnExisting::Overwrite)
    }

    /// Writes files as one change, which the history records as an import. Returns the result of `write`, and
    /// the id of the change if one was recorded. Files that were written before an error stay.
    pub fn import<T>(&self, write: impl FnOnce(&Import<'_>) -> T) -> (T, Option<HistoryId>) {
        let import = Import(self.work_doing(Operation::Imported));
        let written = write(&import);
        (written, import.0.finish())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::MemoryOptions;
    use crate::store::{Context, Entry, InProcess, Layer, Location, StoreInfo};

    /// A store on another machine, which counts what it is asked.
    struct Remote {
        store: InProcess,
        asked: AtomicUsize,
    }

    impl Layer for Remote {
        fn inner(&self) -> &dyn Store {
            &self.store
        }

        fn info(&self) -> StoreInfo {
            StoreInfo {
                locations: vec![Location::in_service("test://elsewhere", "")],
                ..self.store.info()
            }
        }

        fn open_in(
            &self,
            context: &Context,
            path: &MemoryPath,
            depth: usize,
        ) -> Result<Node<'_>, StoreError> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.store.open_in(context, path, depth)
        }

        fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.store.list_in(context, path)
        }
    }

    #[test]
    fn a_plan_of_many_files_lists_the_store_and_decides_as_one_of_few() {
        let path = |path: &str| MemoryPath::parse(path).unwrap();
        let store = InProcess::new();
        for (at, content) in [("same", "text"), ("other", "theirs"), ("d/e/f", ""), (".h/i", "")] {
            let at = path(&format!("/memories/{at}"));
            store.write(&at, content.as_bytes(), OnExisting::Error).unwrap();
        }
        store.make_directory(&path("/memories/empty")).unwrap();
        let remote = Arc::new(Remote { store, asked: AtomicUsize::new(0) });
        let memory = Memory::with_store(remote.clone(), MemoryOptions::default());
        let cases = [
            ("same", Fate::Unchanged),
            ("other", Fate::Conflict(InTheWay::AnotherContent)),
            ("empty", Fate::Conflict(InTheWay::Directory)),
            ("d/e", Fate::Conflict(InTheWay::Directory)),
            ("same/below/it", Fate::Conflict(InTheWay::File)),
            (".h", Fate::Conflict(InTheWay::Directory)),
            (".h/i", Fate::Conflict(InTheWay::AnotherContent)),
            ("new/file", Fate::Created),
        ];
        for before in [0, MANY - 2, MANY - 1, MANY, 1_000] {
            for (at, expected) in &cases {
                let mut plan = memory.plan_import(OnExisting::Error);
                remote.asked.store(0, Ordering::Relaxed);
                for number in 0..before {
                    let at = path(&format!("/memories/before/{number}"));
                    assert_eq!(plan.add(&at, "").unwrap().fate, Fate::Created);
                }
                let at = path(&format!("/memories/{at}"));
                assert_eq!(plan.add(&at, "text").unwrap().fate, *expected, "{at} after {before}");
                let asked = remote.asked.load(Ordering::Relaxed);
                assert!(asked <= MANY + 8, "{asked} looks for {before} files");
            }
        }
    }
}
