//! Transactions: a read takes one round trip, a change takes two.
//!
//! The start and the end of a transaction are sent together with its statements: the driver does not wait between requests
//! that are polled together. A connection has no settings between transactions, so a connection pooler may be used.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use memdir_store::notes::Note;
use memdir_store::path::MemoryPath;
use memdir_store::settings::Durability;
use memdir_store::total::Total;
use memdir_store::{Cancellation, Location, OWN_DIRECTORIES, StoreError, TotalLimits, runtime};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::error::PostgresError;
use super::places::{self, Names, Place};
use super::server::{EditKey, Lease, Server, Waiting};
use super::statements::{self, Statement, Way};
use super::total::{self, Growth};

pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// The wait for the lock has its own limit, and does not count towards the limit of a statement. A statement cannot lift its own
/// limit, which a role or a database may have.
const BEGIN_CHANGE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0";
const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY";
/// The extra time for the network, in addition to the statement's time on the server.
const WAY: Duration = Duration::from_secs(10);

pub(super) type Parameter = Box<dyn ToSql + Send + Sync>;

/// One namespace of a server.
pub(super) struct Session {
    pub(super) server: Arc<Server>,
    pub(super) namespace: String,
    /// The time limit of a statement on the server; `None` for no limit.
    statement_timeout: Option<Duration>,
    /// The same, as a value of the server's settings.
    statement_limit: String,
    synchronous_commit: &'static str,
    /// The time limit for an answer.
    answer_timeout: Option<Duration>,
}

/// The data that a change reads first.
pub(super) struct Wanted {
    pub(super) path: MemoryPath,
    /// The size limit up to which the content of the file at `path` is read; `None` reads no content.
    pub(super) content: Option<i64>,
    /// A second path. If set, the extent of the first one is read, too.
    pub(super) to: Option<MemoryPath>,
    /// Whether the total of all files is needed.
    pub(super) total: bool,
    /// Whether it is needed to know if the directory at `path` has an entry.
    pub(super) entries: bool,
}

impl Wanted {
    /// Only what is at the path.
    pub(super) fn at(path: &MemoryPath) -> Self {
        Self { path: path.clone(), content: None, to: None, total: false, entries: false }
    }
}

/// The data that a change has read.
pub(super) struct Seen {
    pub(super) way: Way,
    pub(super) to: Option<(Way, Extent)>,
    /// Whether the directory has an entry, if that is needed.
    pub(super) has_entries: bool,
    /// Set if it is needed, or kept anyway. If it is needed, it leaves out what memdir keeps for itself.
    pub(super) total: Option<Total>,
    /// For a batch, what is at each of its names.
    pub(super) places: Vec<Place>,
}

/// An open transaction that holds the namespace's lock. Dropping it rolls it back.
pub(super) struct Transaction {
    lease: Lease,
    /// The id of this change, and of the one before it.
    change: String,
    before: Option<String>,
    /// The total before the change, if it is kept.
    total: Option<Total>,
}

/// The difference between the longest path below a directory and the directory's own path.
pub(super) struct Extent {
    pub(super) bytes: usize,
    pub(super) levels: usize,
}

/// A statement that makes a change, with its parameters after the namespace.
pub(super) struct ChangeTransaction {
    pub(super) statement: &'static Statement,
    pub(super) parameters: Vec<Parameter>,
    /// The notes to replace first, as their numbers and new bytes.
    pub(super) replaced_notes: Vec<(i64, Vec<u8>)>,
    /// The number of rows that it must change at least.
    pub(super) rows: usize,
    /// The growth of the total by the change.
    pub(super) growth: Growth,
}

impl ChangeTransaction {
    /// A change of at least one row, and not of the total.
    pub(super) fn new(statement: &'static Statement, parameters: Vec<Parameter>) -> Self {
        let (rows, growth) = (1, Growth::NONE);
        Self { statement, parameters, replaced_notes: Vec::new(), rows, growth }
    }

    pub(super) fn growing(self, growth: Growth) -> Self {
        Self { growth, ..self }
    }

    /// Changes this number of rows at least.
    pub(super) fn of_rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }
}

/// The outcome of a change.
pub(super) enum Outcome {
    Done,
    /// It was rolled back, and can be retried.
    Undone,
}

impl Session {
    pub(super) fn new(
        server: Arc<Server>,
        namespace: String,
        statement_timeout: Duration,
        durability: Durability,
    ) -> Self {
        let statement_limit = statement_timeout.as_millis().to_string();
        let synchronous_commit = match durability {
            Durability::Full => "on",
            Durability::Relaxed => "off",
        };
        let statement_timeout = (!statement_timeout.is_zero()).then_some(statement_timeout);
        let answer_timeout = statement_timeout.map(|time| time + WAY);
        Self {
            server,
            namespace,
            statement_timeout,
            statement_limit,
            synchronous_commit,
            answer_timeout,
        }
    }

    /// One namespace never contains another, whatever their names.
    pub(super) fn location(&self) -> Location {
        Location::in_service(format!("{} {:?}", self.server.place(), self.namespace), "")
    }

    /// Connects if there is no connection, and creates missing tables.
    pub(super) async fn check(&self) -> Result<(), PostgresError> {
        self.server.lease().await?.give_back();
        Ok(())
    }

    /// Logs once that statements are not prepared. Call it on the thread of a command: a subscriber may need it.
    pub(super) fn log_fallback(&self) {
        self.server.log_fallback();
    }

    /// The key of an edit of a file, with the limits of its store.
    pub(super) fn edit_key(
        &self,
        path: &MemoryPath,
        total: TotalLimits,
        max_file_bytes: Option<u64>,
    ) -> EditKey {
        let (namespace, path) = (self.namespace.clone(), path.clone());
        let synchronous_commit = self.synchronous_commit;
        EditKey { namespace, path, synchronous_commit, total, max_file_bytes }
    }

    /// Runs one query, and retries it once if the connection is broken.
    pub(super) async fn ask(
        &self,
        cancellation: &Cancellation,
        statement: &'static Statement,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, PostgresError> {
        let answer = async {
            if statement.sets_namespace {
                self.twice(|| self.ask_alone(statement, parameters)).await
            } else {
                self.twice(|| self.ask_in(BEGIN_READ, statement, parameters)).await
            }
        };
        runtime::unless_cancelled(cancellation, answer).await
    }

    /// As [`ask`](Self::ask), for a write that needs no lock and is idempotent.
    pub(super) async fn note(
        &self,
        statement: &'static Statement,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, PostgresError> {
        self.twice(|| self.ask_in(BEGIN, statement, parameters)).await
    }

    /// Does something that changes nothing if it fails, and retries it once if the connection is broken, or has lost a
    /// prepared statement.
    async fn twice<T, W: Future<Output = Result<T, PostgresError>>>(
        &self,
        work: impl Fn() -> W,
    ) -> Result<T, PostgresError> {
        match work().await {
            Err(error) if error.is_broken_connection() => {
                self.server.close_idle();
                work().await
            }
            Err(error) if self.server.stops_preparing(&error) => work().await,
            result => result,
        }
    }

    /// Runs a statement that needs no transaction around it: it makes its only setting itself. If it takes too long, the
    /// server is asked to cancel it.
    async fn ask_alone(
        &self,
        statement: &'static Statement,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, PostgresError> {
        let lease = self.server.lease().await?;
        let waiting = Waiting::new(&self.server, &lease);
        let parameters = self.with_namespace(parameters);
        let answered = {
            let mut answer = pin!(async {
                let (rows, ()) =
                    tokio::join!(biased; lease.query(statement, &parameters), lease.prepare_next());
                Ok(rows?)
            });
            let in_time = match self.statement_timeout {
                None => Ok(answer.as_mut().await),
                Some(limit) => timeout(limit, answer.as_mut()).await,
            };
            let Ok(answered) = in_time else {
                // The connection is not used again: the request to cancel may arrive late.
                let cancelled = timeout(WAY, waiting.cancel(answer)).await;
                return cancelled.unwrap_or(Err(PostgresError::Silence));
            };
            waiting.end();
            answered
        };
        if answered.is_ok() {
            lease.give_back();
        }
        answered
    }

    pub(super) async fn ask_in(
        &self,
        begin: &str,
        statement: &'static Statement,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, PostgresError> {
        let lease = self.server.lease().await?;
        let parameters = self.with_namespace(parameters);
        let rows = self
            .wait(async {
                let (begun, set, rows, ended, ()) = tokio::join!(
                    biased;
                    lease.batch_execute(begin),
                    self.set(&lease),
                    lease.query(statement, &parameters),
                    lease.batch_execute("COMMIT"),
                    lease.prepare_next(),
                );
                begun?;
                set?;
                let rows = rows?;
                ended?;
                Ok(rows)
            })
            .await?;
        lease.give_back();
        Ok(rows)
    }

    /// Makes the settings of a transaction that takes no lock for a change.
    async fn set(&self, lease: &Lease) -> Result<(), tokio_postgres::Error> {
        let parameters: [&(dyn ToSql + Sync); 3] =
            [&self.namespace, &self.statement_limit, &self.synchronous_commit];
        lease.query(&statements::SETTINGS, &parameters).await.map(drop)
    }

    /// Begins a change. Retries if the connection is broken. Waits for other writers at most for `lock_timeout`, and until the
    /// call is cancelled.
    pub(super) async fn begin(
        &self,
        cancellation: &Cancellation,
        wanted: &Wanted,
        names: Option<&Names>,
        lock_timeout: Option<Duration>,
    ) -> Result<(Transaction, Seen), PostgresError> {
        let deadline = lock_timeout.and_then(|time| Instant::now().checked_add(time));
        let begun = self.twice(|| self.try_to_begin(wanted, names, deadline));
        runtime::unless_cancelled(cancellation, begun).await
    }

    async fn try_to_begin(
        &self,
        wanted: &Wanted,
        batch: Option<&Names>,
        deadline: Option<Instant>,
    ) -> Result<(Transaction, Seen), PostgresError> {
        let lease = self.server.lease_for_change(&self.namespace, deadline).await?;
        let waiting = Waiting::new(&self.server, &lease);
        let lock_timeout = lock_timeout(deadline);
        let locking: [&(dyn ToSql + Sync); 4] =
            [&self.namespace, &lock_timeout, &self.synchronous_commit, &self.statement_limit];
        let names = statements::names(&wanted.path);
        let to_names = wanted.to.as_ref().map(statements::names);
        let look_at = async |names: &Vec<String>, content: Option<i64>| {
            let (is_wanted, most) = (content.is_some(), content.unwrap_or(0));
            let parameters: [&(dyn ToSql + Sync); 4] = [&self.namespace, names, &is_wanted, &most];
            let rows = lease.query(&statements::LOOK, &parameters).await?;
            Ok::<_, PostgresError>(Way::of(&rows, names.len())?)
        };
        let extent = async || {
            let rows = lease.query(&statements::EXTENT, &[&self.namespace, &names]).await?;
            rows.first().map(Extent::of).transpose()
        };
        let has_entries = async || {
            let rows = lease.query(&statements::HAS_ENTRIES, &[&self.namespace, &names]).await?;
            let first = rows.first().map(|row| row.try_get(0)).transpose()?;
            Ok::<bool, PostgresError>(first.unwrap_or(false))
        };
        let places = async |names: &Names| {
            let parameters: [&(dyn ToSql + Sync); 3] =
                [&self.namespace, &names.above, &names.names];
            let rows = lease.query(&places::PLACES, &parameters).await?;
            Place::of(&rows)
        };
        let own_files = async || {
            let rows = lease
                .query(&statements::OWN_FILES, &[&self.namespace, &&OWN_DIRECTORIES[..]])
                .await?;
            rows.first().map(total::counted).transpose()
        };
        let begun = async {
            let (begun, locked, way, to, extent, has_entries, places, own_files) = tokio::join!(
                biased;
                lease.batch_execute(BEGIN_CHANGE),
                lease.query(&statements::LOCK, &locking),
                look_at(&names, wanted.content),
                async {
                    match &to_names {
                        Some(names) => look_at(names, None).await.map(Some),
                        None => Ok(None),
                    }
                },
                async {
                    match &to_names {
                        Some(_) => extent().await,
                        None => Ok(None),
                    }
                },
                async {
                    match wanted.entries {
                        true => has_entries().await,
                        false => Ok(false),
                    }
                },
                async {
                    match batch {
                        Some(names) => places(names).await,
                        None => Ok(Vec::new()),
                    }
                },
                async {
                    match wanted.total {
                        true => own_files().await,
                        false => Ok(None),
                    }
                },
            );
            begun?;
            let locked = locked?;
            let locked = locked.first().ok_or(StoreError::PermissionDenied)?;
            let change = (locked.try_get(0)?, locked.try_get(1)?);
            let (way, to, has_entries, places) = (way?, to?.zip(extent?), has_entries?, places?);
            let total = match total::kept(locked)? {
                None if wanted.total => {
                    let counted = lease.query(&statements::TOTAL, &[&self.namespace]).await?;
                    counted.first().map(total::counted).transpose()?
                }
                kept => kept,
            };
            let without_index = match (total, own_files?) {
                (Some(total), Some(index)) => Some(total::without(total, index)),
                _ => total,
            };
            Ok((change, total, Seen { way, to, has_entries, total: without_index, places }))
        };
        let ((change, before), total, seen) = self.wait_until(deadline, begun).await?;
        waiting.end();
        Ok((Transaction { lease, change, before, total }, seen))
    }

    /// Rolls back a transaction. Nothing was changed yet, so a failure does not matter.
    pub(super) async fn undo(&self, transaction: Transaction) {
        let Transaction { lease, .. } = transaction;
        if !lease.is_ours() {
            return;
        }
        let ended = async {
            let (ended, ()) =
                tokio::join!(biased; lease.batch_execute("ROLLBACK"), lease.prepare_next());
            Ok(ended?)
        };
        if self.wait(ended).await.is_ok() {
            lease.give_back();
        }
    }

    /// Makes the change. If its acknowledgement is lost, determines whether it was made.
    pub(super) async fn commit(
        &self,
        transaction: Transaction,
        change: &ChangeTransaction,
        notes: &[Note],
    ) -> Result<Outcome, PostgresError> {
        let Transaction { mut lease, change: number, before, total } = transaction;
        if !lease.is_ours() {
            let problem = "the process was forked in the middle of the command";
            return Err(StoreError::failed("changing a file", problem).unchanged().into());
        }
        let total = total.and_then(|total| change.growth.added_to(total));
        match self.try_to_commit(&mut lease, change, total, notes).await {
            Ok(rows) if rows < change.rows as u64 => {
                lease.give_back();
                // For example, a policy of row-level security makes a row visible but not writable.
                Err(StoreError::PermissionDenied.into())
            }
            Ok(_) => {
                lease.give_back();
                Ok(Outcome::Done)
            }
            Err(error) if error.is_broken_connection() => {
                drop(lease);
                self.server.close_idle();
                self.search(&number, before.as_ref()).await
            }
            // The server has rolled back the transaction.
            Err(error) if self.server.stops_preparing(&error) => Ok(Outcome::Undone),
            Err(error) => Err(error),
        }
    }

    /// Returns the number of changed rows.
    async fn try_to_commit(
        &self,
        lease: &mut Lease,
        change: &ChangeTransaction,
        total: Option<(i64, i64)>,
        notes: &[Note],
    ) -> Result<u64, PostgresError> {
        // Nothing is committed yet, so a failure rolls everything back.
        for (id, bytes) in &change.replaced_notes {
            let parameters: [&(dyn ToSql + Sync); 3] = [&self.namespace, id, bytes];
            let replace = lease.execute(&statements::REPLACE_NOTE, &parameters);
            self.wait(async { Ok(replace.await?) }).await?;
        }
        lease.pass_turn();
        let parameters = self.with_namespace(&change.parameters);
        self.wait(async {
            let add_notes = async {
                if notes.is_empty() {
                    return Ok(0);
                }
                let ids: Vec<&str> = notes.iter().map(|note| note.id.as_str()).collect();
                let bytes: Vec<&[u8]> = notes.iter().map(|note| note.bytes.as_slice()).collect();
                lease.execute(&statements::ADD_NOTES, &[&self.namespace, &ids, &bytes]).await
            };
            let keep_total = async {
                let Some((bytes, files)) = &total else { return Ok(0) };
                let parameters: [&(dyn ToSql + Sync); 3] = [&self.namespace, bytes, files];
                lease.execute(&statements::KEEP_TOTAL, &parameters).await
            };
            // All in one round trip. If one fails, the others fail as well, because the transaction is aborted.
            let (changed, noted, kept, committed, ()) = tokio::join!(
                biased;
                lease.execute(change.statement, &parameters),
                add_notes,
                keep_total,
                lease.batch_execute("COMMIT"),
                lease.prepare_next(),
            );
            let changed = changed?;
            noted?;
            kept?;
            committed?;
            Ok(changed)
        })
        .await
    }

    fn with_namespace<'p>(&'p self, parameters: &'p [Parameter]) -> Vec<&'p (dyn ToSql + Sync)> {
        let mut all: Vec<&(dyn ToSql + Sync)> = vec![&self.namespace];
        all.extend(parameters.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)));
        all
    }

    /// As [`wait`](Self::wait), for an answer that other writers may delay until the deadline.
    async fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        answer: impl Future<Output = Result<T, PostgresError>>,
    ) -> Result<T, PostgresError> {
        let (Some(deadline), Some(answer_timeout)) = (deadline, self.answer_timeout) else {
            return answer.await;
        };
        let until = deadline + answer_timeout;
        timeout_at(until, answer).await.unwrap_or(Err(PostgresError::Silence))
    }

    /// Waits for an answer, at most for the time that the server may need.
    pub(super) async fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, PostgresError>>,
    ) -> Result<T, PostgresError> {
        match self.answer_timeout {
            None => answer.await,
            Some(answer_timeout) => {
                timeout(answer_timeout, answer).await.unwrap_or(Err(PostgresError::Silence))
            }
        }
    }
}

impl Extent {
    fn of(row: &Row) -> Result<Self, PostgresError> {
        let number = |index| -> Result<usize, PostgresError> {
            let number: i32 = row.try_get(index)?;
            Ok(usize::try_from(number).unwrap_or(0))
        };
        Ok(Self { bytes: number(0)?, levels: number(1)? })
    }
}

/// The value of the server's setting.
fn lock_timeout(deadline: Option<Instant>) -> String {
    // Zero would mean no limit.
    let left = deadline.map_or(0, |deadline| {
        let left = deadline.saturating_duration_since(Instant::now());
        left.as_millis().clamp(1, 2_147_483_647)
    });
    left.to_string()
}
