//! Streamable HTTP on this machine.
//!
//! Served by hyper alone: one path needs no router, and a framework brings HTTP/2, which no client of this protocol
//! asks for.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::server::Server;

const PATH: &str = "/mcp";

/// How long nothing is accepted after the system refused a connection, as it does when too many files are open.
const PAUSE: Duration = Duration::from_secs(1);

/// Serves clients at the path `/mcp`.
pub(super) async fn serve(
    server: Server,
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    // A page in a browser may send requests here by a name of its own for this machine: only its own names, and no
    // request that says it comes from a page.
    let config = StreamableHttpServerConfig::default().enforce_origin_validation();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    ready(listener.local_addr()?);
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) if is_of_the_client(&error) => continue,
            Err(_) => {
                sleep(PAUSE).await;
                continue;
            }
        };
        let service = service.clone();
        let answer = service_fn(move |request: Request<Incoming>| {
            let service = service.clone();
            async move {
                Ok::<_, Infallible>(if is_ours(request.uri().path()) {
                    service.handle(request).await
                } else {
                    let mut nothing = Response::default();
                    *nothing.status_mut() = StatusCode::NOT_FOUND;
                    nothing
                })
            }
        });
        // A connection that breaks concerns nobody but its client.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

/// Whether it is the path that is served, or below it.
fn is_ours(path: &str) -> bool {
    path.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a connection failed, and not the listener.
fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn one_path_is_served_and_what_is_below_it() {
        for path in ["/mcp", "/mcp/", "/mcp/x"] {
            assert!(is_ours(path), "{path}");
        }
        for path in ["/", "", "/mcpx", "/x/mcp", "/MCP"] {
            assert!(!is_ours(path), "{path}");
        }
    }
}
