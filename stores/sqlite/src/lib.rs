//! [`SqliteDatabase`]: a store in one SQLite database file.
//!
//! Every method is one transaction. A reader sees one state of the tree. A writer has exclusive write access to the database
//! from its first read on (`BEGIN IMMEDIATE`), and is rolled back as a whole if it fails. SQLite's own locks exclude the writers
//! of all threads and processes from each other: a writer waits for its turn, and readers never wait for writers.

use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use memdir_store::group_commit::{EditLimits, GroupCommit, LOCKED_PATIENCE};
use memdir_store::notes::Notes;
use memdir_store::path::MemoryPath;
use memdir_store::per_process::PerProcess;
use memdir_store::settings::{Durability, LOCK_TIMEOUT, OnExisting};
use memdir_store::{
    BatchError, Cancellation, Context, Edit, Entry, FileToDelete, FileToWrite, Fingerprints,
    Location, Mutation, Node, Problem, Scope, Store, StoreError, StoreInfo, TotalLimits,
    is_own_file, methods_by_mutate, reads_in_context,
};
use rusqlite::ErrorCode;

use self::connection::Lease;
use self::tree::{FoundRow, Tree};

mod batch;
mod connection;
mod content;
mod inspect;
mod note;
mod schema;
mod total;
mod tree;
mod turns;

pub use connection::{after_fork_in_child, after_fork_in_parent, before_fork};

/// A store in its own SQLite database.
///
/// Connections are opened on demand, and all stores of a process share them. A forked process opens its own.
#[derive(Debug)]
pub struct SqliteDatabase {
    database: Database,
    lock_timeout: Option<Duration>,
    max_file_bytes: Option<u64>,
    total: TotalLimits,
}

/// The settings of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Database {
    path: Arc<Path>,
    durability: Durability,
}

impl SqliteDatabase {
    /// Opens the database at `path`, or creates it, readable only by its owner. The directory must exist.
    ///
    /// # Errors
    /// [`StoreError::Failed`] if the database cannot be opened or created, is damaged, belongs to another program, or was
    /// written by a newer memdir.
    pub fn open(path: impl AsRef<Path>, durability: Durability) -> Result<Self, StoreError> {
        let path = make(path.as_ref()).map_err(|error| {
            StoreError::failed(format!("opening {}", path.as_ref().display()), error)
        })?;
        Self::connected(path, durability)
    }

    /// Opens the database at `path` if it exists. Creates nothing; an empty file is not a database.
    ///
    /// # Errors
    /// As [`open`](SqliteDatabase::open).
    pub fn find(
        path: impl AsRef<Path>,
        durability: Durability,
    ) -> Result<Option<Self>, StoreError> {
        let path = path.as_ref();
        let found = path.canonicalize().and_then(|path| Ok((path.metadata()?.len(), path)));
        match found {
            Ok((0, path)) if path.is_file() => Ok(None),
            Ok((_, path)) => Self::connected(path, durability).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::failed(format!("opening {}", path.display()), error)),
        }
    }

    fn connected(path: PathBuf, durability: Durability) -> Result<Self, StoreError> {
        let database = Database { path: path.into(), durability };
        Lease::take(&database).map_err(|error| error.during("opening the SQLite database"))?;
        Ok(Self {
            database,
            lock_timeout: Some(LOCK_TIMEOUT),
            max_file_bytes: None,
            total: TotalLimits::default(),
        })
    }

    /// The same store with another `MemoryOptions::lock_timeout`. The default is 10 seconds.
    #[must_use]
    pub fn with_lock_timeout(mut self, lock_timeout: Option<Duration>) -> Self {
        self.lock_timeout = lock_timeout;
        self
    }

    /// The same store with a limit for edits: editing a file of more bytes fails with [`StoreError::TooLarge`]. By default only
    /// the available memory limits it.
    #[must_use]
    pub fn with_max_file_bytes(mut self, max_file_bytes: Option<u64>) -> Self {
        self.max_file_bytes = max_file_bytes;
        self
    }

    /// The same store with limits for its total. A change that would exceed one is refused with [`StoreError::OverLimit`]. Other
    /// writers respect the limits only if they set them as well.
    #[must_use]
    pub fn with_total_limits(mut self, total: TotalLimits) -> Self {
        self.total = total;
        self
    }

    /// Checks that a file may change its size from `before` to `after` bytes. The files that memdir keeps for itself do not count.
    fn check_total(
        &self,
        tree: &Tree<'_>,
        path: &MemoryPath,
        before: Option<u64>,
        after: usize,
    ) -> Result<(), SqliteError> {
        if self.total.are_set() && !is_own_file(path) {
            self.total.check(total::read(tree)?, before, after as u64)?;
        }
        Ok(())
    }

    /// The database's file, as an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.database.path
    }

    /// Whether a file exceeds the limit for reading it as a whole.
    fn is_too_large(&self, size: u64) -> bool {
        self.max_file_bytes.is_some_and(|most| size > most)
    }

    /// The file at `path` with its content, if it is not too large for an edit.
    fn whole_file(
        &self,
        tree: &Tree<'_>,
        path: &MemoryPath,
    ) -> Result<(i64, Vec<u8>), SqliteError> {
        let (id, size) = tree.file(path)?;
        if self.is_too_large(size) {
            return Err(StoreError::TooLarge { size }.into());
        }
        Ok((id, content::read(tree, id, size)?))
    }

    /// Writes a whole file, and returns its node.
    fn write_file(
        &self,
        tree: &Tree<'_>,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<i64, SqliteError> {
        match (tree.find(path)?, existing) {
            (None, _) => {
                self.check_total(tree, path, None, content.len())?;
                let parent = tree.make_parents(path)?;
                let id = tree.add(parent, path, Some(content.len()))?;
                content::write(tree, id, &[], content)?;
                Ok(id)
            }
            // If the old content is too large for a comparison, all of it is written again.
            (Some(FoundRow { id, size: Some(size), .. }), OnExisting::Overwrite) => {
                self.check_total(tree, path, Some(size), content.len())?;
                let old = match self.is_too_large(size) {
                    true => content::remove(tree, id).map(|()| Vec::new())?,
                    false => content::read(tree, id, size)?,
                };
                content::write(tree, id, &old, content)?;
                Ok(id)
            }
            (Some(_), _) => Err(StoreError::AlreadyExists.into()),
        }
    }

    /// Edits a file, in one transaction with other edits of it that wait.
    fn edit(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        /// A file, and the settings with which it is written.
        type Key = (Database, TotalLimits, Option<u64>, MemoryPath);
        static EDITS: PerProcess<GroupCommit<Key>> = PerProcess::new();
        let Ok(edits) = EDITS.get(|| Ok::<_, Infallible>(GroupCommit::default()));
        let limits = EditLimits {
            lock_timeout: self.lock_timeout,
            max_file_bytes: self.max_file_bytes,
            patience: LOCKED_PATIENCE,
        };
        let key = (self.database.clone(), self.total, self.max_file_bytes, path.clone());
        edits.edit(key, limits, context, edit, &mut |edit| {
            self.change(context, "editing a file", |tree| {
                let (id, old) = self.whole_file(&tree, path)?;
                match edit(&old) {
                    Some(splice) => {
                        let new = splice.try_apply(&old)?;
                        self.check_total(&tree, path, Some(old.len() as u64), new.len())?;
                        content::write(&tree, id, &old, &new)
                    }
                    None => Ok(()),
                }
            })
        })
    }

    /// Runs a read transaction.
    fn look<T>(
        &self,
        context: &Context,
        operation: &'static str,
        answer: impl FnOnce(Tree<'_>) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        let begin = |lease: &Lease| Ok(lease.prepare_cached("BEGIN")?.execute([]).map(drop)?);
        let mut turn = turns::to_read(&self.database, context.cancellation())?;
        let read = self.transaction(context, operation, begin, answer);
        turn.succeeded();
        read
    }

    /// Runs a write transaction, which changes everything or nothing.
    fn change(
        &self,
        context: &Context,
        operation: &'static str,
        change: impl FnOnce(Tree<'_>) -> Result<(), SqliteError>,
    ) -> Result<(), StoreError> {
        self.change_if(context, operation, |tree| change(tree).map(|()| true)).map(drop)
    }

    /// As [`change`](Self::change), for a change that may turn out to be unnecessary. Returns the result of `change`. The
    /// change's note is added only if the result is true.
    fn change_if(
        &self,
        context: &Context,
        operation: &'static str,
        change: impl FnOnce(Tree<'_>) -> Result<bool, SqliteError>,
    ) -> Result<bool, StoreError> {
        let mut turn = turns::to_write(&self.database, self.lock_timeout, context.cancellation())?;
        let begin = |lease: &Lease| {
            let mut begin = lease.prepare_cached("BEGIN IMMEDIATE")?;
            let begun = connection::waiting_for(self.lock_timeout, || begin.execute([]));
            // The call may have been cancelled while it waited for other writers.
            context.check()?;
            match begun {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                    Err(StoreError::Busy.into())
                }
                begun => Ok(begun.map(drop)?),
            }
        };
        let changed = self.transaction(context, operation, begin, |tree| {
            let is_changed = change(Tree(tree.0))?;
            if is_changed {
                for note in context.take_notes() {
                    note::add(&tree, &note)?;
                }
            }
            Ok(is_changed)
        });
        if changed.is_ok() {
            turn.succeeded();
        }
        changed
    }

    /// Rewrites the database, and empties its log. `secure_delete` overwrites deleted content, but not the copies that stay in
    /// the free space of a page when its rows are moved to another page.
    fn rewrite_file(&self) -> Result<(), StoreError> {
        const OPERATION: &str = "removing deleted text from the database file";
        let mut turn = turns::to_write(&self.database, self.lock_timeout, &Cancellation::never())?;
        let rewritten = || {
            let lease = Lease::take(&self.database)?;
            let begun = Instant::now();
            connection::waiting_for(self.lock_timeout, || -> rusqlite::Result<bool> {
                lease.execute_batch("VACUUM")?;
                loop {
                    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
                    let is_busy: bool = lease.query_row(checkpoint, [], |row| row.get(0))?;
                    // If another connection is moving pages from the log, SQLite returns without waiting.
                    let may_wait = self.lock_timeout.is_none_or(|most| begun.elapsed() < most);
                    if !is_busy || !may_wait {
                        return Ok(is_busy);
                    }
                    thread::sleep(Duration::from_millis(5));
                }
            })
            .map_err(SqliteError::from)
        };
        let is_busy = rewritten().map_err(|error| error.during(OPERATION))?;
        if is_busy {
            let problem = "another connection still reads an older state: do it again";
            return Err(StoreError::failed(OPERATION, problem));
        }
        turn.succeeded();
        Ok(())
    }

    fn transaction<T>(
        &self,
        context: &Context,
        operation: &'static str,
        begin: impl FnOnce(&Lease) -> Result<(), SqliteError>,
        work: impl FnOnce(Tree<'_>) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        let _waits = connection::waits_for(context.cancellation());
        let worked = || {
            let lease = Lease::take(&self.database)?;
            begin(&lease)?;
            let done = work(Tree(&lease))?;
            Ok((lease, done))
        };
        // Before the commit nothing is changed: an uncommitted transaction is rolled back.
        let (lease, done) =
            worked().map_err(|error: SqliteError| error.during(operation).unchanged())?;
        let committed = lease.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]));
        match committed {
            Ok(_) => Ok(done),
            Err(error) => {
                // If the disk failed, the change may still be in the log.
                let refused = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
                let error = SqliteError::from(error).during(operation);
                Err(if refused { error.unchanged() } else { error })
            }
        }
    }
}

impl Drop for SqliteDatabase {
    fn drop(&mut self) {
        connection::forget(&self.database);
    }
}

/// Creates the file if it does not exist, and returns its canonical path. So a later change of the working directory, or of a
/// link, has no effect. SQLite flushes the directory with the first journal in it, before anything can be acknowledged.
fn make(path: &Path) -> io::Result<PathBuf> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // An existing file is not opened, because closing it would drop the locks that SQLite has on it.
    match options.open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    path.canonicalize()
}

/// Why something inside the store failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum SqliteError {
    /// A condition of the tree, or another error of the store.
    Condition(#[from] StoreError),
    /// An error of SQLite.
    Engine(#[from] rusqlite::Error),
}

impl SqliteError {
    /// [`StoreError::about_source`].
    fn about_source(self) -> Self {
        match self {
            Self::Condition(condition) => Self::Condition(condition.about_source()),
            engine @ Self::Engine(_) => engine,
        }
    }

    fn during(self, operation: &'static str) -> StoreError {
        match self {
            Self::Condition(condition) => condition,
            Self::Engine(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => StoreError::Full,
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                    StoreError::PermissionDenied
                }
                Some(ErrorCode::NotADatabase) => {
                    StoreError::failed(operation, "the file is not an SQLite database")
                }
                Some(ErrorCode::DatabaseCorrupt) => {
                    StoreError::failed(operation, format!("the database is damaged: {error}"))
                }
                Some(ErrorCode::DatabaseBusy) => StoreError::failed(
                    operation,
                    format!("another process has kept the database for minutes: {error}"),
                ),
                _ => StoreError::failed(operation, error),
            },
        }
    }
}

impl Store for SqliteDatabase {
    methods_by_mutate!();
    reads_in_context!();

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let done = match mutation {
            Mutation::Write { path, content, existing } => {
                self.change(context, "writing a file", |tree| {
                    self.write_file(&tree, path, content, existing).map(drop)
                })
            }
            Mutation::WriteUnique { path, content } => {
                let existing = OnExisting::Error;
                return self.mutate(context, Mutation::Write { path, content, existing });
            }
            Mutation::Update { path, edit } => self.edit(context, path, edit),
            Mutation::Delete { path } => {
                self.change(context, "deleting", |tree| match tree.find(path)? {
                    None => Err(StoreError::NotFound.into()),
                    Some(found) => tree.remove(found.id),
                })
            }
            Mutation::DeleteUnused { path, since } => {
                return self.change_if(context, "deleting", |tree| tree.remove_unused(path, since));
            }
            Mutation::DeleteIf { path, condition } => {
                return self.change_if(context, "deleting", |tree| {
                    let (id, content) = self.whole_file(&tree, path)?;
                    let is_met = condition(&content);
                    if is_met {
                        tree.remove(id)?;
                    }
                    Ok(is_met)
                });
            }
            Mutation::Rename { from, to } => {
                self.change(context, "renaming", |tree| tree.rename(from, to))
            }
            Mutation::RenameIf { from, to, condition } => {
                return self.change_if(context, "renaming", |tree| {
                    let (_, content) =
                        self.whole_file(&tree, from).map_err(SqliteError::about_source)?;
                    let is_met = condition(&content);
                    if is_met {
                        tree.rename(from, to)?;
                    }
                    Ok(is_met)
                });
            }
            Mutation::Clear => {
                let with_notes = context.take_removal_of_notes();
                let cleared = self.change(context, "clearing the memory", |tree| {
                    tree.remove_all()?;
                    if with_notes { note::remove_all(&tree) } else { Ok(()) }
                });
                let scrub = || self.scrub().map_err(StoreError::after_changes);
                cleared.and_then(|()| if with_notes { scrub() } else { Ok(()) })
            }
            Mutation::MakeDirectory { path } => {
                self.change(context, "making a directory", |tree| match tree.find(path)? {
                    None => {
                        let parent = tree.make_parents(path)?;
                        tree.add(parent, path, None).map(drop)
                    }
                    Some(FoundRow { size: None, .. }) => Ok(()),
                    Some(_) => Err(StoreError::AlreadyExists.into()),
                })
            }
            Mutation::RemoveDirectory { path } => {
                return self.change_if(context, "removing a directory", |tree| {
                    let found = tree.find(path)?.ok_or(StoreError::NotFound)?;
                    if found.size.is_some() {
                        return Err(StoreError::NotADirectory.into());
                    }
                    let is_empty = !tree.has_children(found.id)?;
                    if is_empty {
                        tree.remove(found.id)?;
                    }
                    Ok(is_empty)
                });
            }
            Mutation::SetModified { path, time } => {
                self.change(context, "setting a file's time", |tree| {
                    let (id, _) = tree.file(path)?;
                    tree.set_modified(id, time)
                })
            }
            Mutation::RecordAccess { path, time } => {
                self.change(context, "noting that a file was accessed", |tree| {
                    let (id, _) = tree.file(path)?;
                    tree.record_access(id, time)
                })
            }
        };
        done.map(|()| true)
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        self.write_together(context, files)
    }

    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        self.delete_unused_together(context, files, since, visit)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo {
            locations: vec![Location::file(&self.database.path)],
            tracks_access: true,
            fingerprints: Fingerprints::Exact,
            conditions_are_atomic: true,
            ..StoreInfo::default()
        }
    }

    /// Combines the number of the connection, a counter of commits by other connections, and the number of rows changed by this
    /// one. SQLite provides the last two cheaply. The number of the connection is included, because the next call may use
    /// another one.
    fn revision(&self) -> Result<Option<String>, StoreError> {
        let _turn = turns::to_read(&self.database, &Cancellation::never())?;
        let asked = || {
            let lease = Lease::take(&self.database)?;
            let Some(number) = lease.number() else { return Ok(None) };
            let others: i64 =
                lease.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
            Ok(Some(format!("{number} {others} {}", lease.total_changes())))
        };
        asked().map_err(|error: SqliteError| error.during("asking for changes"))
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.look(context, "reading a file", |tree| {
            let (id, size) = tree.file(path)?;
            content::read(&tree, id, size)
        })
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.look(context, "listing a directory", |tree| match tree.find(path)? {
            None => Err(StoreError::NotFound.into()),
            Some(FoundRow { size: Some(_), .. }) => Err(StoreError::NotADirectory.into()),
            Some(directory) => tree.entries(directory.id, path),
        })
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        let _turn = turns::to_read(&self.database, context.cancellation())?;
        let _waits = connection::waits_for(context.cancellation());
        let opened = || {
            let lease = Lease::take(&self.database)?;
            lease.prepare_cached("BEGIN")?.execute([])?;
            let tree = Tree(&lease);
            match tree.find(path)? {
                None => Err(StoreError::NotFound.into()),
                Some(FoundRow { id, size: None, .. }) => {
                    let mut entries = Vec::new();
                    if depth > 0 {
                        tree.below(id, path, Scope { hidden: false, depth }, &mut entries)?;
                    }
                    Ok(Node::Directory(entries))
                }
                Some(FoundRow { id, size: Some(size), .. }) if size <= content::CHUNK as u64 => {
                    Ok(Node::file(content::read(&tree, id, size)?))
                }
                Some(FoundRow { id, size: Some(size), .. }) => {
                    Ok(Node::File(size, Box::new(content::Stream::new(lease, id, size))))
                }
            }
        };
        opened().map_err(|error: SqliteError| error.during("opening a file"))
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let found = self.look(context, "listing all files", |tree| {
            let mut entries = Vec::new();
            tree.below(schema::ROOT, &MemoryPath::root(), Scope::EVERYTHING, &mut entries)?;
            Ok(entries)
        })?;
        found.into_iter().filter(Entry::is_file).for_each(visit);
        Ok(())
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.look(&Context::new(), "reading a file's time", |tree| match tree.find(path)? {
            None => Err(StoreError::NotFound.into()),
            Some(FoundRow { size: None, .. }) => Err(StoreError::IsADirectory.into()),
            Some(file) => Ok(file.modified),
        })
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.look(&Context::new(), "reading a file's time", |tree| match tree.find(path)? {
            None => Err(StoreError::NotFound.into()),
            Some(FoundRow { size: None, .. }) => Err(StoreError::IsADirectory.into()),
            Some(file) => Ok(file.accessed),
        })
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        self.look(&Context::new(), "inspecting the database", |tree| {
            inspect::inspect(&tree, report)
        })
    }

    fn notes(&self) -> Option<&dyn Notes> {
        Some(self)
    }
}

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
