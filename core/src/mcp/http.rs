//! Streamable HTTP on this machine. One path needs no router.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::server::Server;
use crate::http_server;

const PATH: &str = "/mcp";

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
    match http_server::serve(listener, answer).await {}
}

/// Whether it is the path that is served, or below it.
fn is_ours(path: &str) -> bool {
    path.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
