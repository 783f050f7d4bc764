//! Transactions: a read takes one round trip, a change takes two. If the acknowledgement of a change is lost, the outcome is
//! determined afterwards.
//!
//! The start and the end of a transaction are sent together with its statements: the driver does not wait between requests
//! that are polled together. A connection has no state between transactions, and statements have no names, so a connection
//! pooler may be used.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memdir_store::notes::Note;
use memdir_store::path::MemoryPath;
use memdir_store::settings::Durability;
use memdir_store::total::Total;
use memdir_store::{Cancellation, Location, StoreError, runtime};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::error::PostgresError;
use super::server::{Lease, Server, Waiting};
use super::statements::{self, Statement, Way};

/// How long the store tries to determine the outcome of a change while the server is down.
const SEARCH: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);
/// The extra time for the network, in addition to the statement's time on the server.
const WAY: Duration = Duration::from_secs(10);

pub(super) type Parameter = Box<dyn ToSql + Send + Sync>;

/// One namespace of a server.
pub(super) struct Session {
    server: Arc<Server>,
    namespace: String,
    begin_question: String,
    begin_change: String,
    /// Restores the time limit of statements after the wait for the lock.
    limit_statements: String,
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
    /// Whether to read the total of all files.
    pub(super) total: bool,
}

/// A change that holds the lock, and the data that it has read.
pub(super) struct Begun {
    transaction: Transaction,
    pub(super) way: Way,
    pub(super) to: Option<(Way, Extent)>,
    pub(super) total: Option<Total>,
}

/// The data that a change has read.
pub(super) struct Seen {
    pub(super) way: Way,
    pub(super) to: Option<(Way, Extent)>,
    pub(super) total: Option<Total>,
}

/// An open transaction that holds the namespace's lock. Dropping it rolls it back.
pub(super) struct Transaction {
    lease: Lease,
    /// The id of this change, and of the one before it.
    change: String,
    before: Option<String>,
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
    /// Whether it must change at least one row.
    pub(super) changes_a_row: bool,
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
        let milliseconds = statement_timeout.as_millis();
        let limit_statements = format!("SET LOCAL statement_timeout = {milliseconds}");
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL memdir.namespace = {}; \
             {limit_statements}",
            literal(&namespace)
        );
        let synchronous = match durability {
            Durability::Full => "on",
            Durability::Relaxed => "off",
        };
        // The last setting releases the lock of a client that disappeared without closing its connection.
        let begin_change = format!(
            "{begin}; SET LOCAL synchronous_commit = {synchronous}; \
             SET LOCAL idle_in_transaction_session_timeout = {milliseconds}"
        );
        let begin_question = format!("{begin}; SET TRANSACTION READ ONLY");
        let answer_timeout = (milliseconds > 0).then(|| statement_timeout + WAY);
        Self { server, namespace, begin_question, begin_change, limit_statements, answer_timeout }
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

    /// Runs one query, and retries it once if the connection is broken.
    pub(super) async fn ask(
        &self,
        cancellation: &Cancellation,
        statement: &'static Statement,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, PostgresError> {
        let answer = self.ask_in(&self.begin_question, statement, parameters);
        runtime::unless_cancelled(cancellation, answer).await
    }

    /// As [`ask`](Self::ask), for a write that needs no lock and is idempotent.
    pub(super) async fn note(
        &self,
        statement: &'static Statement,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, PostgresError> {
        self.ask_in(&self.begin_change, statement, parameters).await
    }

    async fn ask_in(
        &self,
        begin: &str,
        statement: &'static Statement,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, PostgresError> {
        match self.try_to_ask(begin, statement, parameters).await {
            Err(error) if error.is_broken_connection() => {
                self.server.close_idle();
                self.try_to_ask(begin, statement, parameters).await
            }
            result => result,
        }
    }

    async fn try_to_ask(
        &self,
        begin: &str,
        statement: &'static Statement,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, PostgresError> {
        let lease = self.server.lease().await?;
        let parameters = self.with_namespace(statement, parameters);
        let rows = self
            .wait(async {
                let (begun, rows, ended) = tokio::join!(
                    biased;
                    lease.batch_execute(begin),
                    lease.query_typed(statement.sql, &parameters),
                    lease.batch_execute("COMMIT"),
                );
                begun?;
                let rows = rows?;
                ended?;
                Ok(rows)
            })
            .await?;
        lease.give_back();
        Ok(rows)
    }

    /// Begins a change. Retries if the connection is broken. Waits for other writers at most for `lock_timeout`, and until the
    /// call is cancelled.
    pub(super) async fn begin(
        &self,
        cancellation: &Cancellation,
        wanted: &Wanted,
        lock_timeout: Option<Duration>,
    ) -> Result<Begun, PostgresError> {
        let deadline = lock_timeout.and_then(|time| tokio::time::Instant::now().checked_add(time));
        runtime::unless_cancelled(cancellation, async {
            match self.try_to_begin(wanted, deadline).await {
                Err(error) if error.is_broken_connection() => {
                    self.server.close_idle();
                    self.try_to_begin(wanted, deadline).await
                }
                result => result,
            }
        })
        .await
    }

    async fn try_to_begin(
        &self,
        wanted: &Wanted,
        deadline: Option<tokio::time::Instant>,
    ) -> Result<Begun, PostgresError> {
        let lease = self.server.lease_for_change(&self.namespace, deadline).await?;
        let waiting = Waiting::new(&self.server, &lease);
        let begin = self.begin_and_lock_until(deadline);
        let namespace: [&(dyn ToSql + Sync); 1] = [&self.namespace];
        let names = statements::names(&wanted.path);
        let to_names = wanted.to.as_ref().map(statements::names);
        let look_at = async |names: &Vec<String>, content: Option<i64>| {
            let (is_wanted, most) = (content.is_some(), content.unwrap_or(0));
            let parameters: [&(dyn ToSql + Sync); 4] = [&self.namespace, names, &is_wanted, &most];
            let rows = query(&lease, &statements::LOOK, &parameters).await?;
            Ok::<_, PostgresError>(Way::of(&rows, names.len())?)
        };
        let extent = async || {
            let rows = query(&lease, &statements::EXTENT, &[&self.namespace, &names]).await?;
            rows.first().map(Extent::of).transpose()
        };
        let total = async || {
            let rows = query(&lease, &statements::TOTAL, &namespace).await?;
            rows.first().map(total_of).transpose()
        };
        let begun = async {
            let (begun, locked, limited, way, to, extent, total) = tokio::join!(
                biased;
                lease.batch_execute(&begin),
                query(&lease, &statements::LOCK, &namespace),
                lease.batch_execute(&self.limit_statements),
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
                    if wanted.total { total().await } else { Ok(None) }
                },
            );
            begun?;
            let locked = locked?;
            let locked = locked.first().ok_or(StoreError::PermissionDenied)?;
            let change = (locked.try_get(0)?, locked.try_get(1)?);
            limited?;
            let way = way?;
            Ok((change, way, to?.zip(extent?), total?))
        };
        let ((change, before), way, to, total) = self.wait_until(deadline, begun).await?;
        waiting.end();
        Ok(Begun { transaction: Transaction { lease, change, before }, way, to, total })
    }

    /// The statements that begin a change. The wait for the lock has its own limit, and does not count towards the limit of a
    /// statement.
    fn begin_and_lock_until(&self, deadline: Option<tokio::time::Instant>) -> String {
        // Zero would mean no limit.
        let left = deadline.map_or(0, |deadline| {
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            left.as_millis().clamp(1, 2_147_483_647)
        });
        format!(
            "{}; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = {left}",
            self.begin_change
        )
    }

    /// Rolls back a transaction. Nothing was changed yet, so a failure does not matter.
    pub(super) async fn undo(&self, transaction: Transaction) {
        let Transaction { lease, .. } = transaction;
        if lease.is_ours()
            && self.wait(async { Ok(lease.batch_execute("ROLLBACK").await?) }).await.is_ok()
        {
            lease.give_back();
        }
    }

    /// Makes the change. If its acknowledgement is lost, determines whether it was made.
    pub(super) async fn commit(
        &self,
        transaction: Transaction,
        change: &ChangeTransaction,
        note: Option<&Note>,
    ) -> Result<Outcome, PostgresError> {
        let Transaction { lease, change: number, before } = transaction;
        if !lease.is_ours() {
            let problem = "the process was forked in the middle of the command";
            return Err(StoreError::failed("changing a file", problem).unchanged().into());
        }
        // Nothing is committed yet, so a failure rolls everything back.
        for (id, bytes) in &change.replaced_notes {
            let statement = &statements::REPLACE_NOTE;
            let parameters: [&(dyn ToSql + Sync); 3] = [&self.namespace, id, bytes];
            let parameters = typed(statement, &parameters);
            let replace = async { Ok(lease.execute_typed(statement.sql, &parameters).await?) };
            match self.wait(replace).await {
                Err(error) if error.is_broken_connection() => {
                    drop(lease);
                    self.server.close_idle();
                    return self.search(&number, before.as_ref()).await;
                }
                replaced => drop(replaced?),
            }
        }
        let parameters = self.with_namespace(change.statement, &change.parameters);
        let made = self
            .wait(async {
                let add_note = async {
                    let Some(note) = note else { return Ok(0) };
                    let parameters: [&(dyn ToSql + Sync); 3] =
                        [&self.namespace, &note.id, &note.bytes];
                    let statement = &statements::NOTE;
                    lease.execute_typed(statement.sql, &typed(statement, &parameters)).await
                };
                // All in one round trip. If one fails, the others fail as well, because the transaction is aborted.
                let (changed, noted, committed) = tokio::join!(
                    biased;
                    lease.execute_typed(change.statement.sql, &parameters),
                    add_note,
                    lease.batch_execute("COMMIT"),
                );
                let changed = changed?;
                noted?;
                committed?;
                Ok(changed)
            })
            .await;
        match made {
            Ok(0) if change.changes_a_row => {
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
            Err(error) => Err(error),
        }
    }

    /// Determines whether the change is among the newest of the namespace. Waits for a server that restarts. The lock makes it
    /// wait for the end of a transaction in progress.
    async fn search(
        &self,
        number: &String,
        before: Option<&String>,
    ) -> Result<Outcome, PostgresError> {
        let until = Instant::now() + SEARCH;
        let newest = loop {
            match self.recall().await {
                Err(error) if error.may_pass() && Instant::now() < until => {
                    tokio::time::sleep(PAUSE).await;
                }
                result => break result,
            }
        };
        let unknown = |why: String| {
            StoreError::failed(
                "committing a change",
                format!(
                    "the connection broke, and it is not known whether the change was made: {why}"
                ),
            )
        };
        let newest = match newest {
            Ok(Some(newest)) => newest,
            // The namespace was erased meanwhile. Either the change came before that, or it was not made. In both cases
            // nothing of it is left.
            Ok(None) if before.is_some() => return Ok(Outcome::Undone),
            Ok(None) => Vec::new(),
            Err(error) => {
                return Err(unknown(error.during("asking for it").to_string()).into());
            }
        };
        let none_was_forgotten = match before {
            Some(before) => newest.contains(before),
            None => newest.len() < statements::REMEMBERED,
        };
        match (newest.contains(number), none_was_forgotten) {
            (true, _) => Ok(Outcome::Done),
            (false, true) => Ok(Outcome::Undone),
            (false, false) => Err(unknown("there were too many others since".to_owned()).into()),
        }
    }

    /// The newest changes; `None` if the namespace has no root.
    async fn recall(&self) -> Result<Option<Vec<String>>, PostgresError> {
        let lease = self.server.lease().await?;
        let namespace: [&(dyn ToSql + Sync); 1] = [&self.namespace];
        let newest = self
            .wait(async {
                let (begun, newest, ended) = tokio::join!(
                    biased;
                    lease.batch_execute(&self.begin_change),
                    query(&lease, &statements::RECALL, &namespace),
                    lease.batch_execute("COMMIT"),
                );
                begun?;
                let newest = newest?.first().map(|row| row.try_get(0)).transpose()?;
                ended?;
                Ok(newest)
            })
            .await?;
        lease.give_back();
        Ok(newest)
    }

    fn with_namespace<'p>(
        &'p self,
        statement: &Statement,
        parameters: &'p [Parameter],
    ) -> Vec<(&'p (dyn ToSql + Sync), Type)> {
        let mut all: Vec<&(dyn ToSql + Sync)> = vec![&self.namespace];
        all.extend(parameters.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)));
        typed(statement, &all)
    }

    /// As [`wait`](Self::wait), for an answer that other writers may delay until the deadline.
    async fn wait_until<T>(
        &self,
        deadline: Option<tokio::time::Instant>,
        answer: impl Future<Output = Result<T, PostgresError>>,
    ) -> Result<T, PostgresError> {
        let (Some(deadline), Some(answer_timeout)) = (deadline, self.answer_timeout) else {
            return answer.await;
        };
        let until = deadline + answer_timeout;
        tokio::time::timeout_at(until, answer).await.unwrap_or(Err(PostgresError::Silence))
    }

    /// Waits for an answer, at most for the time that the server may need.
    async fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, PostgresError>>,
    ) -> Result<T, PostgresError> {
        match self.answer_timeout {
            None => answer.await,
            Some(answer_timeout) => tokio::time::timeout(answer_timeout, answer)
                .await
                .unwrap_or(Err(PostgresError::Silence)),
        }
    }
}

impl Begun {
    /// The open transaction and the data that it has read.
    pub(super) fn into_parts(self) -> (Transaction, Seen) {
        (self.transaction, Seen { way: self.way, to: self.to, total: self.total })
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

fn total_of(row: &Row) -> Result<Total, PostgresError> {
    let number = |index| -> Result<u64, PostgresError> {
        let number: i64 = row.try_get(index)?;
        Ok(u64::try_from(number).unwrap_or(0))
    };
    Ok(Total { bytes: number(0)?, files: number(1)? })
}

/// Runs one query in one round trip.
async fn query(
    lease: &Lease,
    statement: &Statement,
    parameters: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, tokio_postgres::Error> {
    lease.query_typed(statement.sql, &typed(statement, parameters)).await
}

fn typed<'p>(
    statement: &Statement,
    parameters: &[&'p (dyn ToSql + Sync)],
) -> Vec<(&'p (dyn ToSql + Sync), Type)> {
    parameters.iter().copied().zip(statement.types.iter().cloned()).collect()
}

/// A string literal in SQL that does not depend on the server's handling of backslashes.
fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_ends_where_it_should() {
        assert_eq!(literal("plain"), "E'plain'");
        assert_eq!(literal(r"a'b\'; --"), r"E'a''b\\''; --'");
    }
}
