//! Streamable HTTP on this machine.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::server::Server;

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
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await
}
