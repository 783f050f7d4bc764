//! Connections: one pool for a server in a process, shared by the stores of all its namespaces.

use std::ops::Deref;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deadpool_postgres::tokio_postgres::CancelToken;
use deadpool_postgres::tokio_postgres::NoTls;
use deadpool_postgres::tokio_postgres::config::SslMode;
use deadpool_postgres::{
    ClientWrapper, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use memdir_store::StoreError;
use memdir_store::per_process::PerProcess;

use super::address::Settings;
use super::error::PostgresError;
use super::writer_queue::{WriterPermit, WriterQueue};
use super::{schema, tls};

/// The servers that this process knows. A forked process begins anew.
static SERVERS: PerProcess<Mutex<Vec<Arc<Server>>>> = PerProcess::new();

/// How many servers keep their connections when no store uses them: a program that opens a store
/// for each request shall not connect for each request.
const KEPT: usize = 16;

/// How long a connection is waited for where all are in use.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two attempts to reach a server that is starting.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Server {
    settings: Settings,
    connections: PerProcess<Connections>,
}

/// Those of one process.
struct Connections {
    pool: Pool,
    writers: WriterQueue,
}

impl Server {
    /// The one for these settings.
    pub(super) fn shared(settings: Settings) -> Result<Arc<Self>, StoreError> {
        let servers = SERVERS.get(|| Ok::<_, StoreError>(Mutex::default()))?;
        let mut servers = servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = servers.iter().find(|server| server.settings == settings) {
            return Ok(known.clone());
        }
        let unused = |server: &Arc<Self>| Arc::strong_count(server) == 1;
        if servers.iter().filter(|server| unused(server)).count() >= KEPT {
            // The oldest of them.
            servers.iter().position(unused).map(|index| servers.remove(index));
        }
        let server = Arc::new(Self { settings, connections: PerProcess::new() });
        servers.push(server.clone());
        Ok(server)
    }

    /// Which database it is, by what its address says.
    pub(super) fn place(&self) -> String {
        let config = &self.settings.config;
        let database = config.get_dbname().or_else(|| config.get_user());
        format!("postgres {:?} {:?} {database:?}", config.get_hosts(), config.get_ports())
    }

    fn connections(&self) -> Result<&Connections, StoreError> {
        self.connections.get(|| {
            let config = self.settings.config.clone();
            let how = ManagerConfig { recycling_method: RecyclingMethod::Fast };
            let manager = if self.is_without_tls() {
                Manager::from_config(config, NoTls, how)
            } else {
                Manager::from_config(config, tls::connector(&self.settings)?, how)
            };
            let pool = Pool::builder(manager)
                .max_size(self.settings.pool_size)
                .wait_timeout(Some(PATIENCE))
                // The driver's own limit is for the socket; a server may also be silent afterwards.
                .create_timeout(Some(self.settings.connect_timeout))
                .runtime(Runtime::Tokio1)
                .build()
                .map_err(|error| {
                    StoreError::failed("preparing to connect to PostgreSQL", error).unchanged()
                })?;
            Ok(Connections { pool, writers: WriterQueue::new(self.settings.pool_size) })
        })
    }

    fn is_without_tls(&self) -> bool {
        self.settings.config.get_ssl_mode() == SslMode::Disable
    }

    /// As [`lease`](Self::lease), for a writer of the namespace, which waits for its turn; until
    /// `deadline`, if there is one.
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

    /// Has the server give up what the connection of the token is waiting for.
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

    /// A connection to a database whose tables are there. A server that is starting is waited for.
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
            schema::prepare(&lease).await?;
        }
        Ok(lease)
    }

    /// Closes the connections that nobody is using: where one broke, the others may have, too.
    pub(super) fn close_idle(&self) {
        if let Ok(connections) = self.connections() {
            drop(connections.pool.retain(|_, _| false));
        }
    }
}

/// A connection for one command. Only [`give_back`](Lease::give_back) puts it into the pool again;
/// else it is closed, and the server undoes what was not committed.
pub(super) struct Lease {
    /// `None` only while it is dropped.
    connection: Option<Object>,
    process: u32,
    /// Of a writer.
    permit: Option<WriterPermit>,
}

/// Waiting at the server, for another's lock. Dropped before it is over, the server is told to wait no
/// longer: by itself it would not notice that the connection is gone, and keep its end of it for as long.
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
    /// For a connection that is in no transaction.
    pub(super) fn give_back(mut self) {
        if self.is_ours() {
            drop(self.connection.take());
        }
    }

    /// Whether it can still be used: not in a child of the process that took it.
    pub(super) fn is_ours(&self) -> bool {
        self.process == process::id()
    }
}

impl Deref for Lease {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
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
            // The parent's: not even to be closed.
            std::mem::forget((connection, self.permit.take()));
        }
    }
}
