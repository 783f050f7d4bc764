//! [`PostgresDatabase`]: a store in a namespace of a PostgreSQL database.
//!
//! Every method is one transaction. A read takes one round trip and sees one state of the tree. A change takes two: the first
//! takes the namespace's lock and reads, the second changes and commits. The calling thread computes the change in between.
//! Each connection prepares the statements that it uses, after their first use.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memdir_store::access::is_unused;
use memdir_store::error::Error;
use memdir_store::group_commit::{EditLimits, LOCKED_PATIENCE};
use memdir_store::notes::Notes;
use memdir_store::path::{MAX_LEVELS, MemoryPath};
use memdir_store::settings::{Durability, LOCK_TIMEOUT, OnExisting};
use memdir_store::total::Total;
use memdir_store::{
    BatchError, Context, Edit, Entry, FileToDelete, FileToWrite, Fingerprints, Mutation, Namespace,
    Node, Problem, Store, StoreError, StoreInfo, Times, TotalLimits, is_own_file,
    methods_by_mutate, reads_in_context, runtime,
};
use tokio_postgres::Row;

use self::address::Address;
use self::error::PostgresError;
use self::places::Names;
use self::server::Server;
use self::session::{ChangeTransaction, Outcome, Parameter, Seen, Session, Wanted};
use self::statements::{FoundRow, Statement, Way};
use self::total::Growth;
use self::tree::{Opened, add, check_length, file, remove, rename, replace, whole_file};

mod address;
mod batch;
mod connection;
mod error;
mod inspect;
mod lost_commit;
mod note;
mod places;
mod schema;
mod server;
mod session;
mod statements;
mod tls;
mod total;
mod tree;
mod writer_queue;

/// The limit of attempts for a change that broken connections roll back.
const ATTEMPTS: usize = 4;

/// A store in a namespace of a PostgreSQL database.
///
/// All stores of a process whose addresses differ only in the namespace share their connections. A forked process opens its
/// own.
pub struct PostgresDatabase {
    session: Arc<Session>,
    lock_timeout: Option<Duration>,
    max_file_bytes: Option<u64>,
    total: TotalLimits,
}

impl fmt::Debug for PostgresDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shows neither the server nor the namespace.
        f.debug_struct("PostgresDatabase").finish_non_exhaustive()
    }
}

impl PostgresDatabase {
    /// Opens a namespace of the database at `address`, such as `postgres://user:password@host/database?namespace=user-42`.
    /// Creates the tables if they are missing and the user has the right.
    ///
    /// With [`Durability::Full`] a change is acknowledged when the server has flushed it (`synchronous_commit` is `on`).
    /// Otherwise a crash of the server may lose the newest changes.
    ///
    /// # Errors
    /// [`Error::Config`] for an invalid address. [`Error::Store`] if the server cannot be reached or rejects the user, if the
    /// tables belong to a newer memdir, or if they are missing and the user may not create them.
    pub fn open(address: &str, durability: Durability) -> Result<Self, Error> {
        Self::open_namespace(address, None, durability)
    }

    /// As [`open`](Self::open), for the memory of `namespace`, any text of 1 to 255 bytes without a zero byte. The address
    /// must not contain a namespace. Use this for a user's name: as a part of the address it could select another user's
    /// memory.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`Error::Config`] if the address contains a namespace as well.
    pub fn open_namespace(
        address: &str,
        namespace: Option<&str>,
        durability: Durability,
    ) -> Result<Self, Error> {
        let wrong = |problem| {
            Error::config(format!("the address of a PostgreSQL store is wrong: {problem}"))
        };
        let parsed = Address::parse(address).map_err(wrong)?;
        let namespace = parsed.namespace(namespace).map_err(wrong)?;
        let Address { server, statement_timeout, .. } = parsed;
        let server = Server::shared(server).map_err(Error::Store)?;
        let session = Arc::new(Session::new(server, namespace, statement_timeout, durability));
        let opened = session.clone();
        runtime::run(async move {
            opened.check().await.map_err(|error| error.during("connecting to PostgreSQL"))
        })
        .map_err(Error::Store)?;
        session.log_fallback();
        Ok(Self {
            session,
            lock_timeout: Some(LOCK_TIMEOUT),
            max_file_bytes: None,
            total: TotalLimits::default(),
        })
    }

    /// The same store with another `MemoryOptions::lock_timeout`. The default is 10 seconds.
    #[must_use]
    pub fn with_lock_timeout(self, lock_timeout: Option<Duration>) -> Self {
        Self { lock_timeout, ..self }
    }

    /// The same store with a limit for edits: editing a file of more bytes fails with [`StoreError::TooLarge`]. By default
    /// only the available memory limits it.
    #[must_use]
    pub fn with_max_file_bytes(self, max_file_bytes: Option<u64>) -> Self {
        Self { max_file_bytes, ..self }
    }

    /// The same store with limits for the namespace's total. A change that would exceed one is refused with
    /// [`StoreError::OverLimit`]. Other writers respect the limits only if they set them as well.
    #[must_use]
    pub fn with_total_limits(self, total: TotalLimits) -> Self {
        Self { total, ..self }
    }

    /// Whether the total of all files limits a change at this path. The files that memdir keeps for itself do not count.
    fn is_limited(&self, path: &MemoryPath) -> bool {
        self.total.are_set() && !is_own_file(path)
    }

    /// Checks that a file may change its size from `before` to `after` bytes.
    fn check_total(
        &self,
        path: &MemoryPath,
        held: Option<Total>,
        before: Option<u64>,
        after: usize,
    ) -> Result<(), StoreError> {
        match held {
            Some(held) if self.is_limited(path) => self.total.check(held, before, after as u64),
            _ => Ok(()),
        }
    }

    /// The non-empty namespaces of the database with their sizes, sorted by name. Row-level security limits them to those
    /// visible to the user. This reads the whole table, but no contents.
    ///
    /// # Errors
    /// Only failures of the store.
    pub fn namespaces(&self) -> Result<Vec<Namespace>, StoreError> {
        const OPERATION: &str = "listing the namespaces";
        let rows = self.ask(&Context::new(), OPERATION, &inspect::NAMESPACES, Vec::new())?;
        inspect::namespaces(&rows).map_err(|error| PostgresError::from(error).during(OPERATION))
    }

    /// The SQL that creates the tables, for a database whose users may not create tables.
    #[must_use]
    pub fn schema() -> String {
        schema::script()
    }

    /// The SQL for row-level security, which restricts a role to the rows of its namespace. Run it after
    /// [`schema`](Self::schema).
    #[must_use]
    pub fn row_security() -> &'static str {
        schema::ROW_SECURITY
    }

    fn ask(
        &self,
        context: &Context,
        operation: &'static str,
        statement: &'static Statement,
        parameters: Vec<Parameter>,
    ) -> Result<Vec<Row>, StoreError> {
        let (session, cancellation) = (self.session.clone(), context.cancellation().clone());
        let answer = runtime::run(async move {
            let answer = session.ask(&cancellation, statement, &parameters).await;
            answer.map_err(|error| error.during(operation))
        });
        self.session.log_fallback();
        answer
    }

    /// The node at `path`.
    fn find(
        &self,
        context: &Context,
        operation: &'static str,
        path: &MemoryPath,
        content: bool,
    ) -> Result<FoundRow, StoreError> {
        let names = statements::names(path);
        let levels = names.len();
        let parameters: Vec<Parameter> =
            vec![Box::new(names), Box::new(content), Box::new(i64::MAX)];
        let rows = self.ask(context, operation, &statements::LOOK, parameters)?;
        let way =
            Way::of(&rows, levels).map_err(|error| PostgresError::from(error).during(operation))?;
        match way.end() {
            Some(found) => Ok(found),
            // No process has written to the namespace yet.
            None if path.is_root() => Err(StoreError::IsADirectory),
            None => Err(StoreError::NotFound),
        }
    }

    /// Opens `path`: a file's content, or a directory's entries, `depth` levels deep.
    fn opened(
        &self,
        context: &Context,
        operation: &'static str,
        path: &MemoryPath,
        depth: usize,
        hidden: bool,
    ) -> Result<Opened, StoreError> {
        let levels = i32::try_from(depth).unwrap_or(i32::MAX);
        let names = statements::names(path);
        let statement = statements::open(names.len(), depth);
        let parameters: Vec<Parameter> = vec![Box::new(names), Box::new(levels), Box::new(hidden)];
        let rows = self.ask(context, operation, statement, parameters)?;
        if rows.is_empty() {
            let is_root = path.is_root();
            return if is_root {
                Ok(Opened::Directory(Vec::new()))
            } else {
                Err(StoreError::NotFound)
            };
        }
        Opened::of(path, rows).map_err(|error| PostgresError::from(error).during(operation))
    }

    /// The size limit of a file for an edit, in bytes.
    fn most_edited(&self) -> i64 {
        self.max_file_bytes.and_then(|most| i64::try_from(most).ok()).unwrap_or(i64::MAX)
    }

    /// Edits a file, in one transaction with other edits of it that wait.
    fn edit(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        let limits = EditLimits {
            lock_timeout: self.lock_timeout,
            max_file_bytes: self.max_file_bytes,
            patience: LOCKED_PATIENCE,
        };
        let key = self.session.edit_key(path, self.total, self.max_file_bytes);
        self.session.server.edits()?.edit(key, limits, context, edit, &mut |edit| {
            let wanted = Wanted {
                content: Some(self.most_edited()),
                total: self.is_limited(path),
                ..Wanted::at(path)
            };
            self.change(context, "editing a file", wanted, |Seen { way, total, .. }| {
                let (file, old) = whole_file(way)?;
                let Some(splice) = edit(&old) else { return Ok(None) };
                let new = splice.try_apply(&old)?;
                self.check_total(path, total, Some(old.len() as u64), new.len())?;
                replace(&file, new).map(Some)
            })
        })
    }

    /// Changes the tree. `decide` gets the data that was read and returns the change, or `None` to change nothing. It is
    /// called again if the connection breaks and the change was not made.
    fn change(
        &self,
        context: &Context,
        operation: &'static str,
        wanted: Wanted,
        decide: impl FnMut(Seen) -> Result<Option<ChangeTransaction>, StoreError>,
    ) -> Result<(), StoreError> {
        self.change_batch(context, operation, wanted, None, decide)
    }

    /// As [`change`](Self::change), also looking at the names of a batch.
    fn change_batch(
        &self,
        context: &Context,
        operation: &'static str,
        wanted: Wanted,
        names: Option<&Arc<Names>>,
        mut decide: impl FnMut(Seen) -> Result<Option<ChangeTransaction>, StoreError>,
    ) -> Result<(), StoreError> {
        let wanted = Arc::new(wanted);
        let lock_timeout = self.lock_timeout;
        let mut notes = Vec::new();
        for _ in 0..ATTEMPTS {
            let (session, asked, names) = (self.session.clone(), wanted.clone(), names.cloned());
            let cancellation = context.cancellation().clone();
            // An error before the change is sent has changed nothing.
            let (transaction, seen) = runtime::run(async move {
                let names = names.as_deref();
                let begun = session.begin(&cancellation, &asked, names, lock_timeout).await;
                begun.map_err(|error| error.during(operation).unchanged())
            })?;
            let decided = decide(seen).and_then(|change| {
                // Waiting for others and the decision may have taken a long time.
                context.check()?;
                Ok(change)
            });
            let session = self.session.clone();
            let Ok(Some(change)) = decided else {
                runtime::run(async move {
                    session.undo(transaction).await;
                    Ok(())
                })?;
                return decided.map(drop);
            };
            // A repeated change keeps its notes, unless `decide` set others.
            let decided = context.take_notes();
            if !decided.is_empty() {
                notes = decided;
            }
            let kept = notes.clone();
            let outcome = runtime::run(async move {
                let done = session.commit(transaction, &change, &kept).await;
                done.map_err(|error| error.during(operation))
            })?;
            self.session.log_fallback();
            if let Outcome::Done = outcome {
                return Ok(());
            }
        }
        let problem = "the connection broke again and again; nothing was changed";
        Err(StoreError::failed(operation, problem).unchanged())
    }
}

impl Store for PostgresDatabase {
    methods_by_mutate!();
    reads_in_context!();

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let done = match mutation {
            Mutation::Write { path, content, existing } => {
                check_length(content)?;
                let wanted = Wanted { total: self.is_limited(path), ..Wanted::at(path) };
                self.change(context, "writing a file", wanted, |Seen { way, total, .. }| {
                    if !way.has_end() {
                        self.check_total(path, total, None, content.len())?;
                        return add(&way, path, Some(content.to_vec())).map(Some);
                    }
                    match (file(way), existing) {
                        (Ok(file), OnExisting::Overwrite) => {
                            self.check_total(path, total, file.size, content.len())?;
                            replace(&file, content.to_vec()).map(Some)
                        }
                        _ => Err(StoreError::AlreadyExists),
                    }
                })
            }
            Mutation::WriteUnique { path, content } => {
                let existing = OnExisting::Error;
                return self.mutate(context, Mutation::Write { path, content, existing });
            }
            Mutation::Update { path, edit } => self.edit(context, path, edit),
            Mutation::Delete { path } => {
                let wanted = Wanted::at(path);
                self.change(context, "deleting", wanted, |Seen { way, total, .. }| {
                    let found = way.end().ok_or(StoreError::NotFound)?;
                    Ok(Some(remove(&found, total)))
                })
            }
            Mutation::DeleteUnused { path, since } => {
                let wanted = Wanted::at(path);
                let mut deleted = false;
                self.change(context, "deleting", wanted, |Seen { way, total, .. }| {
                    let unused = way.end().filter(|found| {
                        !found.is_directory && is_unused(found.modified, found.accessed, since)
                    });
                    deleted = unused.is_some();
                    Ok(unused.map(|found| remove(&found, total)))
                })?;
                return Ok(deleted);
            }
            Mutation::DeleteIf { path, condition } => {
                let wanted = Wanted { content: Some(self.most_edited()), ..Wanted::at(path) };
                let mut is_met = false;
                self.change(context, "deleting", wanted, |Seen { way, total, .. }| {
                    let (file, content) = whole_file(way)?;
                    is_met = condition(&content);
                    Ok(is_met.then(|| remove(&file, total)))
                })?;
                return Ok(is_met);
            }
            Mutation::Rename { from, to } => {
                let wanted = Wanted { to: Some(to.clone()), ..Wanted::at(from) };
                self.change(context, "renaming", wanted, |Seen { way, to: destination, .. }| {
                    let found = way.end().ok_or(StoreError::NotFound)?;
                    rename(&found, from, destination, to).map(Some)
                })
            }
            Mutation::RenameIf { from, to, condition } => {
                let wanted = Wanted {
                    content: Some(self.most_edited()),
                    to: Some(to.clone()),
                    ..Wanted::at(from)
                };
                let mut is_met = false;
                self.change(
                    context,
                    "renaming",
                    wanted,
                    |Seen { way, to: destination, .. }| {
                        let (file, content) = whole_file(way).map_err(StoreError::about_source)?;
                        is_met = condition(&content);
                        let moved = is_met.then(|| rename(&file, from, destination, to));
                        moved.transpose()
                    },
                )?;
                return Ok(is_met);
            }
            Mutation::Clear => {
                let wanted = Wanted::at(&MemoryPath::root());
                let with_notes = context.take_removal_of_notes();
                let statement = if with_notes { &statements::ERASE } else { &statements::CLEAR };
                self.change(context, "clearing the memory", wanted, |_| {
                    let clear = ChangeTransaction::new(statement, Vec::new());
                    Ok(Some(clear.of_rows(0).growing(Growth::ToNothing)))
                })
            }
            Mutation::MakeDirectory { path } => {
                let wanted = Wanted::at(path);
                self.change(context, "making a directory", wanted, |Seen { way, .. }| {
                    if !way.has_end() {
                        return add(&way, path, None).map(Some);
                    }
                    match way.end() {
                        Some(found) if !found.is_directory => Err(StoreError::AlreadyExists),
                        _ => Ok(None),
                    }
                })
            }
            Mutation::RemoveDirectory { path } => {
                let wanted = Wanted { entries: true, ..Wanted::at(path) };
                let mut is_empty = false;
                self.change(context, "removing a directory", wanted, |seen| {
                    let found = seen.way.end().ok_or(StoreError::NotFound)?;
                    if !found.is_directory {
                        return Err(StoreError::NotADirectory);
                    }
                    is_empty = !seen.has_entries;
                    Ok(is_empty.then(|| remove(&found, seen.total)))
                })?;
                return Ok(is_empty);
            }
            Mutation::SetModified { path, time } => {
                let wanted = Wanted::at(path);
                self.change(context, "setting a file's time", wanted, |Seen { way, .. }| {
                    let file = file(way)?;
                    let parameters: Vec<Parameter> =
                        vec![Box::new(file.id), Box::new(statements::storable(time))];
                    Ok(Some(ChangeTransaction::new(&statements::DATE, parameters)))
                })
            }
            // One round trip, without waiting for changes of the namespace.
            Mutation::RecordAccess { path, time } => {
                let operation = "noting that a file was accessed";
                let (session, names) = (self.session.clone(), statements::names(path));
                let parameters: Vec<Parameter> =
                    vec![Box::new(names), Box::new(statements::storable(time))];
                let rows = runtime::run(async move {
                    let noted = session.note(&statements::ACCESS, &parameters).await;
                    noted.map_err(|error| error.during(operation))
                })?;
                let Some(row) = rows.first() else {
                    let root = path.is_root();
                    return Err(if root { StoreError::IsADirectory } else { StoreError::NotFound });
                };
                let said = |index| {
                    row.try_get(index).map_err(|e| PostgresError::from(e).during(operation))
                };
                match (said(0)?, said(1)?) {
                    (true, _) => Err(StoreError::IsADirectory),
                    (false, true) => Ok(()),
                    // A policy of row-level security makes the row visible but not writable.
                    (false, false) => Err(StoreError::PermissionDenied),
                }
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

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        self.read_together(context, paths, visit)
    }

    fn read_times(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        self.times_together(context, paths)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo {
            locations: vec![self.session.location()],
            tracks_access: true,
            fingerprints: Fingerprints::Exact,
            conditions_are_atomic: true,
            ..StoreInfo::default()
        }
    }

    /// The id of the namespace's newest change. Each change updates it.
    fn revision(&self) -> Result<Option<String>, StoreError> {
        let operation = "asking for changes";
        let rows = self.ask(&Context::new(), operation, &statements::NEWEST, Vec::new())?;
        let newest = rows.first().map_or(Ok(String::new()), |row| row.try_get(0));
        newest.map(Some).map_err(|error| PostgresError::from(error).during(operation))
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.find(context, "reading a file", path, true)?.content.ok_or(StoreError::IsADirectory)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        match self.opened(context, "listing a directory", path, 1, true)? {
            Opened::Directory(entries) => Ok(entries),
            Opened::File(_) => Err(StoreError::NotADirectory),
        }
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        match self.opened(context, "opening a file", path, depth, false)? {
            Opened::Directory(entries) => Ok(Node::Directory(entries)),
            Opened::File(content) => Ok(Node::file(content)),
        }
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let root = MemoryPath::root();
        if let Opened::Directory(all) =
            self.opened(context, "listing all files", &root, MAX_LEVELS, true)?
        {
            all.into_iter().filter(Entry::is_file).for_each(visit);
        }
        Ok(())
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        let operation = "inspecting the database";
        let rows = self.ask(&Context::new(), operation, &inspect::ALL, Vec::new())?;
        inspect::inspect(&rows, report)
            .map_err(|error| PostgresError::from(error).during(operation))
    }

    fn notes(&self) -> Option<&dyn Notes> {
        Some(self)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let found = self.find(&Context::new(), "reading a file's time", path, false)?;
        if found.is_directory { Err(StoreError::IsADirectory) } else { Ok(found.modified) }
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let found = self.find(&Context::new(), "reading a file's time", path, false)?;
        if found.is_directory { Err(StoreError::IsADirectory) } else { Ok(found.accessed) }
    }
}

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
