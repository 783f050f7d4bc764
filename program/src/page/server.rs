//! Serves the page on a port of this machine.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::middleware;
use hyper::Request;
use hyper_util::service::TowerToHyperService;
use tokio::runtime::Builder;

use super::guard::{Guard, guard};
use super::routes;
use super::site::Site;
use crate::http_server::{self, ConnectionLimits};

/// Serves the page at the first free address of `addresses`, all of which must belong to this machine. Calls `ready` with
/// the address to open, which contains the secret. Does not return unless it fails.
///
/// # Errors
/// If no address can be used.
pub(crate) fn serve(
    site: Site,
    addresses: &[SocketAddr],
    ready: impl FnOnce(&str),
) -> io::Result<()> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(site.max_threads())
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = http_server::listen(addresses)?;
        let address = listener.local_addr()?;
        let site = Arc::new(site);
        let opened = format!("http://{address}/open/{}", site.secret.as_str());
        let state = Guard { site: Arc::clone(&site), address };
        let limits = ConnectionLimits::new(site.max_form(), is_stream);
        let router = routes::router(site).layer(middleware::from_fn_with_state(state, guard));
        ready(&opened);
        match http_server::serve(listener, TowerToHyperService::new(router), limits).await {}
    })
}

/// Whether the request asks for a stream of changes, which never ends.
fn is_stream<B>(request: &Request<B>) -> bool {
    request.uri().path().ends_with("/changes")
}
