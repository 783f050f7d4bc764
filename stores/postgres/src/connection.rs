//! [`Connection`]: a connection to the server with its prepared statements, and [`Connector`], which opens it.
//!
//! A prepared statement belongs to one session of the server. The driver numbers its statements, so two clients that
//! share a session behind a connection pooler use the same names for different statements. Therefore statements are
//! prepared only if the session belongs to this connection alone, or if the pooler translates the names.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use tokio::task::JoinHandle;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, NoTls, Row, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::PreparedStatements;
use super::error::{refuses_start, tells_of_lost_statement};
use super::statements::Statement;

/// The setting by which a connection recognizes its own session. A client sets it when it connects, and a connection
/// pooler refuses or ignores it.
const MARK: &str = "memdir.connection";
/// A statement that is prepared only to see its name.
const PROBE: &str = "SELECT 'memdir'";
/// PgBouncer's names for the statements of its clients.
const TRANSLATED: &str = "PGBOUNCER_";

/// Opens connections for the pool.
pub(super) struct Connector {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    preparation: Arc<Preparation>,
    /// Whether the server, or a pooler in front of it, has refused the mark.
    refuses_mark: AtomicBool,
}

/// Whether statements are prepared, for all connections to one server.
pub(super) struct Preparation {
    choice: PreparedStatements,
    is_on: AtomicBool,
    /// Whether a fallback has not been logged yet.
    is_to_log: AtomicBool,
    is_logged: AtomicBool,
}

pub(super) struct Connection {
    client: Client,
    task: JoinHandle<()>,
    /// The value of [`MARK`] in the connection's own session.
    mark: Option<String>,
    /// Whether this connection may prepare statements.
    prepares: AtomicBool,
    preparation: Arc<Preparation>,
    statements: Mutex<Statements>,
}

/// The statements of a connection, by their SQL.
#[derive(Default)]
struct Statements {
    prepared: HashMap<&'static str, tokio_postgres::Statement>,
    /// Those that were executed without being prepared.
    wanted: Vec<&'static Statement>,
}

impl Preparation {
    pub(super) fn new(choice: PreparedStatements) -> Self {
        Self {
            choice,
            is_on: AtomicBool::new(choice != PreparedStatements::Off),
            is_to_log: AtomicBool::new(false),
            is_logged: AtomicBool::new(false),
        }
    }

    fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Stops preparing if the error says that a session has lost a prepared statement. Then a retry may succeed.
    pub(super) fn stops_at(&self, error: &Error) -> bool {
        let stops = self.choice != PreparedStatements::Off && tells_of_lost_statement(error);
        if stops && self.is_on.swap(false, Ordering::Relaxed) {
            self.fall_back();
        }
        stops
    }

    fn fall_back(&self) {
        if !self.is_logged.swap(true, Ordering::Relaxed) {
            self.is_to_log.store(true, Ordering::Relaxed);
        }
    }

    /// Logs a fallback, once. Call it on the thread of a command: a subscriber may need it.
    pub(super) fn log_fallback(&self) {
        if self.is_to_log.load(Ordering::Relaxed) && self.is_to_log.swap(false, Ordering::Relaxed) {
            tracing::event!(
                target: "memdir",
                tracing::Level::WARN,
                memdir.operation = "connect",
                memdir.details = "a connection pooler without support for prepared statements is in front of \
                    PostgreSQL, so every statement is planned again; PgBouncer 1.21 or newer supports them with \
                    max_prepared_statements; prepared_statements=off in the address silences this warning",
            );
        }
    }
}

impl Connector {
    pub(super) fn new(
        config: Config,
        tls: Option<MakeRustlsConnect>,
        preparation: Arc<Preparation>,
    ) -> Self {
        Self { config, tls, preparation, refuses_mark: AtomicBool::new(false) }
    }

    async fn connect(&self, config: &Config) -> Result<(Client, JoinHandle<()>), Error> {
        // A connection that breaks reports it to the command that uses it.
        Ok(match &self.tls {
            None => {
                let (client, connection) = config.connect(NoTls).await?;
                (client, tokio::spawn(async move { drop(connection.await) }))
            }
            Some(tls) => {
                let (client, connection) = config.connect(tls.clone()).await?;
                (client, tokio::spawn(async move { drop(connection.await) }))
            }
        })
    }

    /// Connects with a mark; `None` if it is not needed, or refused.
    async fn connect_marked(&self) -> Result<Option<(Client, JoinHandle<()>, String)>, Error> {
        let is_asked =
            self.preparation.choice == PreparedStatements::Auto && self.preparation.is_on();
        if !is_asked || self.refuses_mark.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mark = format!("{:016x}", RandomState::new().build_hasher().finish());
        let given = self.config.get_options().unwrap_or_default();
        let mut config = self.config.clone();
        config.options(format!("{given} -c {MARK}={mark}").trim_start());
        match self.connect(&config).await {
            Ok((client, task)) => Ok(Some((client, task, mark))),
            Err(error) if refuses_start(&error) => {
                self.refuses_mark.store(true, Ordering::Relaxed);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl Manager for Connector {
    type Type = Connection;
    type Error = Error;

    async fn create(&self) -> Result<Connection, Error> {
        let (client, task, mark) = match self.connect_marked().await? {
            Some((client, task, mark)) => (client, task, Some(mark)),
            None => {
                let (client, task) = self.connect(&self.config).await?;
                (client, task, None)
            }
        };
        Ok(Connection {
            client,
            task,
            mark,
            prepares: AtomicBool::new(false),
            preparation: self.preparation.clone(),
            statements: Mutex::default(),
        })
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<Error> {
        if connection.is_closed() {
            return Err(RecycleError::message("the connection is closed"));
        }
        Ok(())
    }
}

impl Connection {
    /// Whether the server's session belongs to this connection alone.
    pub(super) async fn is_alone(&self) -> Result<bool, Error> {
        let Some(mark) = &self.mark else { return Ok(false) };
        let sql = format!("SELECT current_setting('{MARK}', true)");
        Ok(first(&self.client.simple_query(&sql).await?) == Some(mark.as_str()))
    }

    /// Determines whether this new connection may prepare statements. Takes two round trips behind a pooler, else none.
    pub(super) async fn find_out(&self, is_alone: bool) -> Result<(), Error> {
        let prepares = match self.preparation.choice {
            PreparedStatements::Off => false,
            PreparedStatements::On => true,
            PreparedStatements::Auto => is_alone || self.is_translated().await?,
        };
        self.prepares.store(prepares, Ordering::Relaxed);
        if !prepares && self.preparation.choice == PreparedStatements::Auto {
            self.preparation.fall_back();
        }
        Ok(())
    }

    /// Whether a pooler translates the names of statements. All in one transaction, so nothing is left in a session
    /// that others use.
    async fn is_translated(&self) -> Result<bool, Error> {
        let names =
            format!("SELECT name FROM pg_prepared_statements WHERE statement = $${PROBE}$$");
        let (begun, prepared, named) = tokio::join!(
            biased;
            self.client.batch_execute("BEGIN"),
            self.client.prepare_typed(PROBE, &[]),
            self.client.simple_query(&names),
        );
        begun?;
        let is_translated = prepared.is_ok()
            && named
                .is_ok_and(|named| first(&named).is_some_and(|name| name.starts_with(TRANSLATED)));
        // This closes the statement.
        drop(prepared);
        self.client.batch_execute("ROLLBACK").await?;
        Ok(is_translated)
    }

    pub(super) async fn query(
        &self,
        statement: &'static Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        match self.prepared(statement) {
            Some(prepared) => self.client.query(&prepared, parameters).await,
            None => self.client.query_typed(statement.sql, &typed(statement, parameters)).await,
        }
    }

    pub(super) async fn execute(
        &self,
        statement: &'static Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, Error> {
        match self.prepared(statement) {
            Some(prepared) => self.client.execute(&prepared, parameters).await,
            None => self.client.execute_typed(statement.sql, &typed(statement, parameters)).await,
        }
    }

    fn prepared(&self, statement: &'static Statement) -> Option<tokio_postgres::Statement> {
        if statement.is_planned_anew || !self.may_prepare() {
            return None;
        }
        let mut statements = self.statements();
        let prepared = statements.prepared.get(statement.sql).cloned();
        if prepared.is_none() && !statements.wanted.iter().any(|wanted| wanted.sql == statement.sql)
        {
            statements.wanted.push(statement);
        }
        prepared
    }

    /// Prepares a statement that was executed on this connection without being prepared. It is sent together with the
    /// end of a transaction, after it, so it takes no additional round trip, and a failure aborts nothing.
    pub(super) async fn prepare_next(&self) {
        let wanted = self.statements().wanted.pop();
        let Some(statement) = wanted.filter(|_| self.may_prepare()) else { return };
        match self.client.prepare_typed(statement.sql, statement.types).await {
            Ok(prepared) => drop(self.statements().prepared.insert(statement.sql, prepared)),
            Err(error) => {
                self.preparation.stops_at(&error);
            }
        }
    }

    fn may_prepare(&self) -> bool {
        self.prepares.load(Ordering::Relaxed) && self.preparation.is_on()
    }

    fn statements(&self) -> MutexGuard<'_, Statements> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Closes the connection at once, without waiting for answers.
        self.task.abort();
    }
}

fn typed<'p>(
    statement: &Statement,
    parameters: &[&'p (dyn ToSql + Sync)],
) -> Vec<(&'p (dyn ToSql + Sync), Type)> {
    parameters.iter().copied().zip(statement.types.iter().cloned()).collect()
}

/// The first field of the first row.
fn first(answer: &[SimpleQueryMessage]) -> Option<&str> {
    answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    })
}
