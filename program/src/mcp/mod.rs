//! A server for the Model Context Protocol (MCP), which makes a memory available to all programs that support it.
//!
//! It uses [`Memory`](memdir::Memory) like any other program. Each command is a tool ([`tools`]), and the files are
//! resources ([`resources`]). Clients that subscribe to resources are notified of changes ([`watch`]). The server
//! instructions tell a model how to use the memory, because the API provides them only for Anthropic's own tool ([`served`]).
//! Messages of a client are parsed in one place ([`message`]), from the standard streams ([`lines`]) or over HTTP ([`http`]).
//! Over HTTP, older clients have sessions ([`sessions`]).

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

/// The maximum number of commands that are executed at the same time. Other commands wait.
const MAX_CALLS: usize = 32;

/// The maximum number of those that change something. They may all wait for a lock of the store, which other commands do not need.
const MAX_CHANGES: usize = MAX_CALLS / 2;

/// The maximum size of a message on the standard streams, in bytes. Only a program that harms itself would send more: the memory
/// refuses such a text anyway.
const MAX_MESSAGE: usize = 1 << 30;

/// Serves one client on the standard streams of this process, until the client closes them.
///
/// # Errors
/// [`NotServed::Options`] for a prefix that is not allowed in the name of a tool, [`NotServed::Client`] for a client that uses another
/// protocol, [`NotServed::Io`] if the streams cannot be used.
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
            // The client disconnected before it sent anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            // The error's own text would show the whole message.
            Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
                return Err(NotServed::Client("it did not begin with initialize".to_owned()));
            }
            Err(error) => return Err(NotServed::Client(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(|error| NotServed::Io(io::Error::other(error)))
    });
    // A command in progress runs to its end, so its write is complete.
    drop(runtime);
    // Close the store before the process ends.
    watch.join();
    served
}

/// Serves clients over streamable HTTP at `address`, which must belong to this machine, at the path `/mcp`. Calls
/// `ready` with the actual address, because the given port may be 0. Does not return unless it fails.
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

/// Why the server did not start or stopped.
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
