//! A server of the Model Context Protocol: a memory for every program that speaks it.
//!
//! It is a user of [`Memory`](memdir::Memory) like any other. The commands are tools, one for each ([`tools`]), and the files are
//! resources ([`resources`]), whose changes are told to clients that subscribe to them ([`watch`]). The server
//! instructions tell a model what to do with a memory, because only Anthropic's own tool gets that from the API ([`served`]).
//! What a client sends is read in one place ([`message`]), from the standard streams ([`lines`]) or over HTTP ([`http`]).
//! Over HTTP older clients have sessions ([`sessions`]).

mod client_sessions;
mod http;
mod lines;
mod message;
mod resources;
mod served;
mod server;
mod sessions;
mod tools;
mod watch;

use std::io;
use std::net::SocketAddr;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::runtime::{Builder, Runtime};

use crate::http_server::{self, largest_request};
use http::ServerLimits;
use lines::Lines;
use memdir::Error;
pub(crate) use served::Served;
use server::Server;
use sessions::SessionLimits;

/// The most commands that are executed at the same time. Others wait for their turn.
const MAX_CALLS: usize = 32;

/// The most of them that change something: those may all wait for a lock of the store, for which no other has to.
const MAX_CHANGES: usize = MAX_CALLS / 2;

/// The most bytes of a message on the standard streams. Only a program that means to do harm to itself sends as many: the memory
/// refuses such a text anyway.
const MAX_MESSAGE: usize = 1 << 30;

/// Serves one client on the standard streams of this process, until it closes them.
///
/// # Errors
/// [`NotServed::Options`] for a prefix that no tool may have, [`NotServed::Client`] for a client that speaks something else,
/// [`NotServed::Io`] if the streams cannot be used.
pub(crate) fn serve_stdio(served: Served, prefix: &str) -> Result<(), NotServed> {
    let most = largest_request(served.memory.options().max_file_bytes).max(MAX_MESSAGE);
    let server = Server::new(served, prefix)?;
    let watch = server.watch();
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let (reads, writes) = stdio_pipes();
        let streams = Lines::new(reads, writes, most);
        let running = match server.serve(streams).await {
            Ok(running) => running,
            // The client is gone before it has said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            // Its own sentence shows the whole message.
            Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
                return Err(NotServed::Client("it did not begin with initialize".to_owned()));
            }
            Err(error) => return Err(NotServed::Client(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(|error| NotServed::Io(io::Error::other(error)))
    });
    // A command that is under way comes to its end: what it writes, it writes as a whole.
    drop(runtime);
    // The store is closed before the process ends.
    watch.join();
    served
}

/// Serves clients over streamable HTTP at `address`, which must be one of this machine's own, at the path `/mcp`. Calls
/// `ready` with the address, whose port may have been 0. Does not return unless it fails.
///
/// # Errors
/// As [`serve_stdio`].
pub(crate) fn serve_http(
    served: Served,
    prefix: &str,
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), NotServed> {
    let most = largest_request(served.memory.options().max_file_bytes);
    let server = Server::new(served, prefix)?;
    let limits = ServerLimits {
        connections: http_server::ConnectionLimits::new(most, http::is_stream),
        sessions: SessionLimits::default(),
        request_bytes: most,
    };
    runtime()?.block_on(http::serve(server, address, limits, ready)).map_err(NotServed::Io)
}

/// Why nothing is served.
pub(crate) enum NotServed {
    Options(Error),
    Client(String),
    Io(io::Error),
}

impl From<Error> for NotServed {
    fn from(error: Error) -> Self {
        Self::Options(error)
    }
}

fn runtime() -> Result<Runtime, NotServed> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(MAX_CALLS)
        .enable_all()
        .build()
        .map_err(NotServed::Io)
}
