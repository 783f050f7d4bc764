//! The connections of what the command line serves on this machine.
//!
//! hyper alone serves them: what a framework has for this brings HTTP/2, which nobody asks for here and which is 0.2 MB of what
//! is installed.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// How long nothing is accepted after the system refused a connection, as it does when too many files are open.
const PAUSE: Duration = Duration::from_secs(1);

/// Answers requests for as long as the process lives.
pub(crate) async fn serve<S, B>(listener: TcpListener, service: S) -> Infallible
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>,
    S: Clone + Send + 'static,
    B: Body<Data: Send, Error: Error + Send + Sync> + Send + 'static,
{
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) if is_of_the_client(&error) => continue,
            Err(_) => {
                sleep(PAUSE).await;
                continue;
            }
        };
        // A connection that breaks concerns nobody but its client.
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(connection);
    }
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
