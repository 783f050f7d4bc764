//! The HTTP connections of the servers of this program: accepts clients, and limits their time and memory.
//!
//! The module uses only hyper. A framework would add HTTP/2, which is not needed here and takes 0.2 MB of an installation. Nor
//! does it have limits that distinguish idle connections from busy ones.
//!
//! The rule: a client that makes the server wait holds no limited resource.
//!
//! - [`connections`] counts connections. An idle one is closed when a new one needs its slot.
//! - [`request`] limits the time and the memory of a request's body.
//! - [`response`] counts a connection as busy until its answer is sent.
//! - [`stalled`] closes a connection whose client does not read the answer.

mod connections;
mod limits;
mod request;
mod response;
mod stalled;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::error::Error;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::sleep;

use connections::{Begun, Connections};
pub(crate) use limits::{ConnectionLimits, largest_request};
pub(crate) use request::RequestBody;
use request::Trouble;
use response::ResponseBody;
use stalled::Stalled;

/// The pause after the system refused to accept a connection, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// The time without data after which the answer to a rejected body is sent. Most clients read the answer only after they have sent the
/// whole request.
const QUIET: Duration = Duration::from_secs(1);

/// The maximum number of connections that wait to be accepted. The client of a further one retries only after a second.
const BACKLOG: u32 = 4_096;

/// Listens on the first free address.
///
/// # Errors
/// The error for the last address.
pub(crate) fn listen(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut listened = Err(io::ErrorKind::InvalidInput.into());
    for address in addresses {
        listened = listen_at(*address);
        if listened.is_ok() {
            break;
        }
    }
    listened
}

fn listen_at(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // On Windows this option would let two programs listen on one port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Answers requests until the process ends.
pub(crate) async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    limits: ConnectionLimits,
) -> Infallible
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible, Future: Send>,
    S: Clone + Send + 'static,
    B: Body<Data = Bytes, Error: Error + Send + Sync> + Send + Unpin + 'static,
{
    let connections = Arc::new(Connections::new(limits));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => accept(&connections, stream, &service),
            Err(error) if is_of_the_client(&error) => {}
            Err(_) => {
                connections.close_longest_idle();
                sleep(PAUSE).await;
            }
        }
    }
}

/// Serves a connection, if there is a free slot. Otherwise it is closed.
fn accept<S, B>(connections: &Arc<Connections>, stream: TcpStream, service: &S)
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible, Future: Send>,
    S: Clone + Send + 'static,
    B: Body<Data = Bytes, Error: Error + Send + Sync> + Send + Unpin + 'static,
{
    let Some(connection) = connections.open() else { return };
    let connection = Arc::new(connection);
    let limits = connections.limits();
    let (service, of) = (service.clone(), Arc::clone(&connection));
    let answer = service_fn(move |request| {
        let (service, connection) = (service.clone(), Arc::clone(&of));
        async move { Ok::<_, Infallible>(answer(&connection, service, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        // This timeout runs whenever the server waits for a head, so also between two requests.
        .header_read_timeout(limits.head)
        .serve_connection(TokioIo::new(Stalled::new(stream, limits.stall)), answer);
    let of = Arc::clone(&connection);
    let task = tokio::spawn(async move {
        // A broken connection only concerns its client.
        let _ = served.await;
        drop(of);
    });
    connection.closed_by(task.abort_handle());
}

async fn answer<S, B>(
    connection: &connections::Connection,
    service: S,
    request: Request<Incoming>,
) -> Response<ResponseBody<B>>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
{
    let limits = connection.limits();
    let mut work = match connection.begin() {
        Begun::Work(work) => work,
        Begun::Full => {
            return refused(StatusCode::SERVICE_UNAVAILABLE, "Too many requests are under way");
        }
        // The connection is being closed to free its slot, so its client cannot be told. This request is not carried out.
        Begun::Closed => return pending().await,
    };
    if (limits.is_stream)(&request) && !work.becomes_stream() {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "Too many streams are open");
    }
    let (head, mut body) = request.into_parts();
    if body.size_hint().lower() > limits.declared as u64 {
        // A client that asks for permission to send the body will not send it.
        if !head.headers.contains_key(hyper::header::EXPECT) {
            request::discard(&mut body, limits.body.min(QUIET), limits.body).await;
        }
        return said(StatusCode::PAYLOAD_TOO_LARGE, too_large(limits.declared));
    }
    let (body, rest) = RequestBody::new(body, limits, work.held());
    let Ok(response) = service.call(Request::from_parts(head, body)).await;
    // Most clients read the answer only after they have sent the whole request.
    match rest.discarded(limits.body).await {
        Some(Trouble::Late) => {
            refused(StatusCode::REQUEST_TIMEOUT, "The request took too long to arrive")
        }
        Some(Trouble::TooMuch) => {
            refused(StatusCode::SERVICE_UNAVAILABLE, "Too many large requests are under way")
        }
        None => response.map(|body| ResponseBody::new(body, work)),
    }
}

/// An error of this module for a request that may be retried. Nothing was done, and the connection is closed.
fn refused<B>(status: StatusCode, why: &'static str) -> Response<ResponseBody<B>> {
    let mut response = said(status, format!("{why}. Nothing was done: try again later.\n"));
    response
        .headers_mut()
        .insert(hyper::header::RETRY_AFTER, hyper::header::HeaderValue::from_static("1"));
    response
}

/// The error for a request that exceeds this size in bytes.
pub(crate) fn too_large(most: usize) -> String {
    format!("The request is too large: it has more than {most} bytes. Nothing was done.\n")
}

fn said<B>(status: StatusCode, text: String) -> Response<ResponseBody<B>> {
    let mut response = Response::new(ResponseBody::text(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(hyper::header::CONNECTION, hyper::header::HeaderValue::from_static("close"));
    headers.insert(
        hyper::header::CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
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
