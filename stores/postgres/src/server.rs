//! Connections: one pool per server and process, shared by the stores of all its namespaces.

use std::future::Future;
use std::ops::Deref;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deadpool::Runtime;
use deadpool::managed::{Object, Pool, PoolError};
use memdir_store::group_commit::GroupCommit;
use memdir_store::path::MemoryPath;
use memdir_store::per_process::PerProcess;
use memdir_store::{StoreError, TotalLimits};
use tokio_postgres::config::SslMode;
use tokio_postgres::{CancelToken, NoTls};

use super::address::Settings;
use super::connection::{Connection, Connector, Preparation};
use super::error::PostgresError;
use super::writer_queue::{WriterPermit, WriterQueue};
use super::{schema, tls};

/// The servers that this process uses. A forked process starts with an empty list.
static SERVERS: PerProcess<Mutex<Vec<Arc<Server>>>> = PerProcess::new();

/// The number of servers whose connections are kept while no store uses them, so a program that opens a store
/// for each request does not connect each time.
const KEPT: usize = 16;

/// How long a command waits for a connection when all are in use.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two requests to cancel a statement.
const AGAIN: Duration = Duration::from_millis(500);
/// The pause between two attempts to reach a server that is starting.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Server {
    settings: Settings,
    preparation: Arc<Preparation>,
    connections: PerProcess<Connections>,
}

/// The connections of one process.
struct Connections {
    pool: Pool<Connector>,
    writers: WriterQueue,
    edits: GroupCommit<EditKey>,
}

/// A file, and the settings with which it is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct EditKey {
    pub(super) namespace: String,
    pub(super) path: MemoryPath,
    pub(super) synchronous_commit: &'static str,
    pub(super) total: TotalLimits,
    pub(super) max_file_bytes: Option<u64>,
}

impl Server {
    /// The shared server for these settings.
    pub(super) fn shared(settings: Settings) -> Result<Arc<Self>, StoreError> {
        let servers = SERVERS.get(|| Ok::<_, StoreError>(Mutex::default()))?;
        let mut servers = servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = servers.iter().find(|server| server.settings == settings) {
            return Ok(known.clone());
        }
        let unused = |server: &Arc<Self>| Arc::strong_count(server) == 1;
        if servers.iter().filter(|server| unused(server)).count() >= KEPT {
            // Remove the oldest of them.
            servers.iter().position(unused).map(|index| servers.remove(index));
        }
        let preparation = Arc::new(Preparation::new(settings.prepared_statements));
        let server = Arc::new(Self { settings, preparation, connections: PerProcess::new() });
        servers.push(server.clone());
        Ok(server)
    }

    /// The database, identified by its address.
    pub(super) fn place(&self) -> String {
        let config = &self.settings.config;
        let database = config.get_dbname().or_else(|| config.get_user());
        format!("postgres {:?} {:?} {database:?}", config.get_hosts(), config.get_ports())
    }

    fn connections(&self) -> Result<&Connections, StoreError> {
        self.connections.get(|| {
            let tls = match self.is_without_tls() {
                true => None,
                false => Some(tls::connector(&self.settings)?),
            };
            let config = self.settings.config.clone();
            let pool = Pool::builder(Connector::new(config, tls, self.preparation.clone()))
                .max_size(self.settings.pool_size)
                .wait_timeout(Some(PATIENCE))
                // The driver's own limit applies to the socket only, but a server can also stop responding
                // after that.
                .create_timeout(Some(self.settings.connect_timeout))
                .runtime(Runtime::Tokio1)
                .build()
                .map_err(|error| {
                    StoreError::failed("preparing to connect to PostgreSQL", error).unchanged()
                })?;
            let writers = WriterQueue::new(self.settings.pool_size);
            Ok(Connections { pool, writers, edits: GroupCommit::default() })
        })
    }

    /// The edits of this process.
    pub(super) fn edits(&self) -> Result<&GroupCommit<EditKey>, StoreError> {
        Ok(&self.connections()?.edits)
    }

    fn is_without_tls(&self) -> bool {
        self.settings.config.get_ssl_mode() == SslMode::Disable
    }

    /// As [`lease`](Self::lease), for a writer of the namespace, which first waits for its turn, at most
    /// until `deadline`.
    pub(super) async fn lease_for_change(
        &self,
        namespace: &str,
        deadline: Option<tokio::time::Instant>,
    ) -> Result<Lease, PostgresError> {
        let permit = self.connections()?.writers.take(namespace);
        let permit = match deadline {
            None => permit.await?,
            Some(deadline) => {
                tokio::time::timeout_at(deadline, permit).await.map_err(|_| StoreError::Busy)??
            }
        };
        let mut lease = self.lease().await?;
        lease.permit = Some(permit);
        Ok(lease)
    }

    /// Asks the server to cancel the statement of the token's connection.
    async fn give_up(&self, token: CancelToken) {
        let asked = async {
            if self.is_without_tls() {
                let _ = token.cancel_query(NoTls).await;
            } else if let Ok(tls) = tls::connector(&self.settings) {
                let _ = token.cancel_query(tls).await;
            }
        };
        let _ = tokio::time::timeout(self.settings.connect_timeout, asked).await;
    }

    /// A connection to a database with prepared tables. Waits for a server that is starting.
    pub(super) async fn lease(&self) -> Result<Lease, PostgresError> {
        let until = Instant::now() + self.settings.connect_timeout;
        loop {
            match self.try_to_lease().await {
                Err(error) if error.is_starting() && Instant::now() < until => {
                    tokio::time::sleep(PAUSE).await;
                }
                result => return result,
            }
        }
    }

    async fn try_to_lease(&self) -> Result<Lease, PostgresError> {
        let connection = self.connections()?.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => PostgresError::NoConnection(Some(error)),
            _ => PostgresError::NoConnection(None),
        })?;
        let is_new = Object::metrics(&connection).recycle_count == 0;
        let lease = Lease { connection: Some(connection), process: process::id(), permit: None };
        if is_new {
            let (alone, prepared) = tokio::join!(biased; lease.is_alone(), schema::prepare(&lease));
            prepared?;
            lease.find_out(alone?).await?;
        }
        Ok(lease)
    }

    /// Stops preparing statements if the error says that one was lost. Then a retry may succeed.
    pub(super) fn stops_preparing(&self, error: &PostgresError) -> bool {
        matches!(error, PostgresError::Statement(error) if self.preparation.stops_at(error))
    }

    /// Logs once that statements are not prepared, on the thread of a command.
    pub(super) fn log_fallback(&self) {
        self.preparation.log_fallback();
    }

    /// Closes idle connections: if one broke, the others may be broken, too.
    pub(super) fn close_idle(&self) {
        if let Ok(connections) = self.connections() {
            drop(connections.pool.retain(|_, _| false));
        }
    }
}

/// A connection for one command. Only [`give_back`](Lease::give_back) returns it to the pool. Otherwise it is
/// closed, and the server rolls back uncommitted changes.
pub(super) struct Lease {
    /// `None` only during the drop.
    connection: Option<Object<Connector>>,
    process: u32,
    /// Set for a writer.
    permit: Option<WriterPermit>,
}

/// A wait for the server: for another transaction's lock, or for a read. If this is dropped before the wait ends, the server
/// is asked to cancel it. By itself the server would not notice the closed connection, and would keep
/// waiting.
pub(super) struct Waiting {
    server: Arc<Server>,
    token: Option<CancelToken>,
}

impl Waiting {
    pub(super) fn new(server: &Arc<Server>, lease: &Lease) -> Self {
        Self { server: server.clone(), token: Some(lease.cancel_token()) }
    }

    pub(super) fn end(mut self) {
        self.token = None;
    }

    /// Asks the server to cancel the statement, until its answer arrives. A request that arrives before the statement has
    /// no effect, so it is repeated.
    pub(super) async fn cancel<T>(
        mut self,
        answer: impl Future<Output = Result<T, PostgresError>>,
    ) -> Result<T, PostgresError> {
        let token = self.token.take();
        let repeated = async {
            while let Some(token) = &token {
                self.server.give_up(token.clone()).await;
                tokio::time::sleep(AGAIN).await;
            }
        };
        tokio::select! {
            biased;
            answered = answer => answered,
            () = repeated => Err(PostgresError::Silence),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(token) = self.token.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let server = self.server.clone();
            runtime.spawn(async move { server.give_up(token).await });
        }
    }
}

impl Lease {
    /// Returns a connection that is not in a transaction to the pool.
    pub(super) fn give_back(mut self) {
        if self.is_ours() {
            drop(self.connection.take());
        }
    }

    /// Lets the next writer of the namespace begin. Call it when this one sends its last request.
    pub(super) fn pass_turn(&mut self) {
        if let Some(permit) = &mut self.permit {
            permit.pass_turn();
        }
    }

    /// Whether this process may use the connection: a child of the process that took it may not.
    pub(super) fn is_ours(&self) -> bool {
        self.process == process::id()
    }
}

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match &self.connection {
            Some(connection) => connection,
            None => unreachable!("a lease is not used while it is dropped"),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if self.is_ours() {
            drop(Object::take(connection));
        } else {
            // It belongs to the parent, so it must not even be closed.
            std::mem::forget((connection, self.permit.take()));
        }
    }
}
