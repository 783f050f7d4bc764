//! Round trips: a question is one, a change is two, and a change whose acknowledgement was lost is
//! looked for.
//!
//! What a transaction begins and ends with goes along with what it asks: the driver sends requests
//! that are polled together without waiting between them. Nothing but prepared statements is kept
//! with a connection between transactions, so that a connection pooler may stand before the server.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use super::server::{Lease, Server};
use super::statements::{self, Way};
use super::trouble::Trouble;
use crate::options::Durability;
use crate::path::MemoryPath;
use crate::store::{Location, StoreError};

/// How long the outcome of a change is looked for, if the server is not there.
const SEARCH: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);
/// What is allowed for the way, beyond what a statement may take on the server.
const WAY: Duration = Duration::from_secs(10);

pub(super) type Parameter = Box<dyn ToSql + Send + Sync>;

/// One namespace of a server.
pub(super) struct Session {
    server: Arc<Server>,
    namespace: String,
    begin_question: String,
    begin_change: String,
    /// How long an answer is waited for.
    patience: Option<Duration>,
}

/// What a change wants to know first.
pub(super) struct Wanted {
    pub(super) path: MemoryPath,
    /// The content of the file at `path`.
    pub(super) content: bool,
    /// A second path, and how far the first one reaches down.
    pub(super) to: Option<MemoryPath>,
}

/// A change that nobody can come between any more, and what it wanted to know.
pub(super) struct Begun {
    transaction: Transaction,
    pub(super) way: Way,
    pub(super) to: Option<(Way, Extent)>,
}

/// An open transaction that holds the namespace's lock. Dropped, it is undone.
pub(super) struct Transaction {
    lease: Lease,
    /// Its own number, and that of the change before it.
    change: String,
    before: Option<String>,
}

/// How much longer the longest path below a directory is than the directory's own.
pub(super) struct Extent {
    pub(super) bytes: usize,
    pub(super) levels: usize,
}

/// A statement that changes something, with what comes after the namespace.
pub(super) struct Change {
    pub(super) statement: &'static str,
    pub(super) parameters: Vec<Parameter>,
    /// Whether it changes at least one row.
    pub(super) changes_a_row: bool,
}

/// What became of a change.
pub(super) enum Outcome {
    Done,
    /// It was undone, and may be tried again.
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
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL memdir.namespace = {}; \
             SET LOCAL statement_timeout = {milliseconds}",
            literal(&namespace)
        );
        let synchronous = match durability {
            Durability::Full => "on",
            Durability::Relaxed => "off",
        };
        // The last one frees the lock of a client that vanished without a word.
        let begin_change = format!(
            "{begin}; SET LOCAL synchronous_commit = {synchronous}; \
             SET LOCAL idle_in_transaction_session_timeout = {milliseconds}"
        );
        let begin_question = format!("{begin}; SET TRANSACTION READ ONLY");
        let patience = (milliseconds > 0).then(|| statement_timeout + WAY);
        Self { server, namespace, begin_question, begin_change, patience }
    }

    /// Namespaces are no parts of each other, whatever they are called.
    pub(super) fn location(&self) -> Location {
        Location::in_service(format!("{} {:?}", self.server.place(), self.namespace), "")
    }

    /// Connects, if nobody has, and makes the tables, if they are not there.
    pub(super) async fn check(&self) -> Result<(), Trouble> {
        self.server.lease().await?.give_back();
        Ok(())
    }

    /// Asks one thing, and once more where the connection turns out to be broken.
    pub(super) async fn ask(
        &self,
        statement: &'static str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Trouble> {
        self.ask_in(&self.begin_question, statement, parameters).await
    }

    /// As [`ask`](Self::ask), for what writes something that may be written twice, and that keeps
    /// nobody out.
    pub(super) async fn note(
        &self,
        statement: &'static str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Trouble> {
        self.ask_in(&self.begin_change, statement, parameters).await
    }

    async fn ask_in(
        &self,
        begin: &str,
        statement: &'static str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Trouble> {
        match self.try_to_ask(begin, statement, parameters).await {
            Err(trouble) if trouble.is_broken_connection() => {
                self.server.close_idle();
                self.try_to_ask(begin, statement, parameters).await
            }
            result => result,
        }
    }

    async fn try_to_ask(
        &self,
        begin: &str,
        statement: &'static str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Trouble> {
        let lease = self.server.lease().await?;
        let statement = self.prepare(&lease, statement).await?;
        let parameters = self.with_namespace(parameters);
        let rows = self
            .wait(async {
                let (begun, rows, ended) = tokio::join!(
                    biased;
                    lease.batch_execute(begin),
                    lease.query(&statement, &parameters),
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

    /// Begins a change, and once more where the connection turns out to be broken.
    pub(super) async fn begin(&self, wanted: &Wanted) -> Result<Begun, Trouble> {
        match self.try_to_begin(wanted).await {
            Err(trouble) if trouble.is_broken_connection() => {
                self.server.close_idle();
                self.try_to_begin(wanted).await
            }
            result => result,
        }
    }

    async fn try_to_begin(&self, wanted: &Wanted) -> Result<Begun, Trouble> {
        let lease = self.server.lease().await?;
        let lock = self.prepare(&lease, statements::LOCK).await?;
        let look = self.prepare(&lease, statements::LOOK).await?;
        let extent = match wanted.to {
            Some(_) => Some(self.prepare(&lease, statements::EXTENT).await?),
            None => None,
        };
        let names = statements::names(&wanted.path);
        let to_names = wanted.to.as_ref().map(statements::names);
        let namespace = self.with_namespace(&[]);
        let look_at = async |names: &Vec<String>, content: bool| {
            let rows = lease.query(&look, &[&self.namespace, names, &content]).await?;
            Ok::<_, Trouble>(Way::of(&rows, names.len())?)
        };
        let (change, way, to) = self
            .wait(async {
                let (begun, locked, way, to, extent) = tokio::join!(
                    biased;
                    lease.batch_execute(&self.begin_change),
                    lease.query_one(&lock, &namespace),
                    look_at(&names, wanted.content),
                    async {
                        match &to_names {
                            Some(names) => look_at(names, false).await.map(Some),
                            None => Ok(None),
                        }
                    },
                    async {
                        match &extent {
                            Some(extent) => {
                                lease.query_one(extent, &[&self.namespace, &names]).await.map(Some)
                            }
                            None => Ok(None),
                        }
                    },
                );
                begun?;
                let locked = locked?;
                let change = (locked.try_get(0)?, locked.try_get(1)?);
                let way = way?;
                let to = match (to?, extent?) {
                    (Some(to), Some(extent)) => Some((to, Extent::of(&extent)?)),
                    _ => None,
                };
                Ok((change, way, to))
            })
            .await?;
        let (change, before) = change;
        Ok(Begun { transaction: Transaction { lease, change, before }, way, to })
    }

    /// Undoes what was begun. Nothing was changed yet, so that nothing can go wrong.
    pub(super) async fn undo(&self, transaction: Transaction) {
        let Transaction { lease, .. } = transaction;
        if lease.is_ours()
            && self.wait(async { Ok(lease.batch_execute("ROLLBACK").await?) }).await.is_ok()
        {
            lease.give_back();
        }
    }

    /// Makes the change, and finds out whether it was made where nobody says so.
    pub(super) async fn commit(
        &self,
        transaction: Transaction,
        change: &Change,
    ) -> Result<Outcome, Trouble> {
        let Transaction { lease, change: number, before } = transaction;
        if !lease.is_ours() {
            let problem = "the process was forked in the middle of the command";
            return Err(StoreError::failed("changing a file", problem).into());
        }
        // Still before anything was sent that could come to be done.
        let Ok(statement) = self.prepare(&lease, change.statement).await else {
            return Ok(Outcome::Undone);
        };
        let parameters = self.with_namespace(&change.parameters);
        let made = self
            .wait(async {
                let (changed, committed) = tokio::join!(
                    biased;
                    lease.execute(&statement, &parameters),
                    lease.batch_execute("COMMIT"),
                );
                let changed = changed?;
                committed?;
                Ok(changed)
            })
            .await;
        match made {
            Ok(0) if change.changes_a_row => {
                lease.give_back();
                // Such as a policy of row-level security that shows a row and does not let it be
                // changed.
                Err(StoreError::PermissionDenied.into())
            }
            Ok(_) => {
                lease.give_back();
                Ok(Outcome::Done)
            }
            Err(trouble) if trouble.is_broken_connection() => {
                drop(lease);
                self.server.close_idle();
                self.search(&number, before.as_ref()).await
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Whether the change is among the newest of the namespace. Waits for a server that restarts,
    /// and, by the lock, for the end of a transaction that is still under way.
    async fn search(&self, number: &String, before: Option<&String>) -> Result<Outcome, Trouble> {
        let until = Instant::now() + SEARCH;
        let newest = loop {
            match self.recall().await {
                Err(trouble) if trouble.may_pass() && Instant::now() < until => {
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
            Ok(newest) => newest,
            Err(trouble) => {
                return Err(unknown(trouble.during("asking for it").to_string()).into());
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

    async fn recall(&self) -> Result<Vec<String>, Trouble> {
        let lease = self.server.lease().await?;
        let recall = self.prepare(&lease, statements::RECALL).await?;
        let namespace = self.with_namespace(&[]);
        let newest = self
            .wait(async {
                let (begun, newest, ended) = tokio::join!(
                    biased;
                    lease.batch_execute(&self.begin_change),
                    lease.query_opt(&recall, &namespace),
                    lease.batch_execute("COMMIT"),
                );
                begun?;
                let newest = newest?.map(|row| row.try_get(0)).transpose()?;
                ended?;
                Ok(newest.unwrap_or_default())
            })
            .await?;
        lease.give_back();
        Ok(newest)
    }

    /// Once a connection and statement; afterwards it is remembered.
    async fn prepare(&self, lease: &Lease, statement: &str) -> Result<Statement, Trouble> {
        self.wait(async { Ok(lease.prepare_cached(statement).await?) }).await
    }

    fn with_namespace<'p>(&'p self, parameters: &'p [Parameter]) -> Vec<&'p (dyn ToSql + Sync)> {
        let mut all: Vec<&(dyn ToSql + Sync)> = vec![&self.namespace];
        all.extend(parameters.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)));
        all
    }

    /// Waits for an answer no longer than the server can need for one.
    async fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, Trouble> {
        match self.patience {
            None => answer.await,
            Some(patience) => {
                tokio::time::timeout(patience, answer).await.unwrap_or(Err(Trouble::Silence))
            }
        }
    }
}

impl Begun {
    /// The transaction, to be ended, and what it saw.
    pub(super) fn into_parts(self) -> (Transaction, Way, Option<(Way, Extent)>) {
        (self.transaction, self.way, self.to)
    }
}

impl Extent {
    fn of(row: &Row) -> Result<Self, Trouble> {
        let number = |index| -> Result<usize, Trouble> {
            let number: i32 = row.try_get(index)?;
            Ok(usize::try_from(number).unwrap_or(0))
        };
        Ok(Self { bytes: number(0)?, levels: number(1)? })
    }
}

/// A text in SQL, whatever the server takes a backslash for.
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
