//! The connections of what the command line serves on this machine: who is let in, for how long, and how much of each is held.
//!
//! hyper alone serves them: what a framework has for this brings HTTP/2, which nobody asks for here and which is 0.2 MB of what
//! is installed. It also has no limit that tells a connection that waits from one that works.
//!
//! The rule is that nothing limited is held by a client that keeps the server waiting:
//!
//! - [`connections`] counts connections. One that waits for its client makes room for a new one.
//! - [`request`] bounds the time and the memory of a request's body.
//! - [`response`] keeps a connection counted as working until its answer is sent.
//! - [`stalled`] closes a connection whose client does not read what it asked for.

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

/// How long nothing is accepted after the system refused a connection, as it does when too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// How long nothing may come of a body that is not taken, until the answer is given. Most clients read it only when they have sent
/// all of the request.
const QUIET: Duration = Duration::from_secs(1);

/// How many connections may wait to be accepted. One that comes when as many wait tries again only after a second.
const BACKLOG: u32 = 4_096;

/// Listens at the first of the addresses that is free.
///
/// # Errors
/// Why the last one is not.
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
    // Windows would let two programs listen at one port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Answers requests for as long as the process lives.
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

/// Serves a connection, if there is room for it. Otherwise it is closed.
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
        // It runs whenever a head is waited for, so also between two requests.
        .header_read_timeout(limits.head)
        .serve_connection(TokioIo::new(Stalled::new(stream, limits.stall)), answer);
    let of = Arc::clone(&connection);
    let task = tokio::spawn(async move {
        // A connection that breaks concerns nobody but its client.
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
        // It is being closed to make room, so its client cannot be told whether this request was carried out: it is not.
        Begun::Closed => return pending().await,
    };
    if (limits.is_stream)(&request) && !work.becomes_stream() {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "Too many streams are open");
    }
    let (head, mut body) = request.into_parts();
    if body.size_hint().lower() > limits.declared as u64 {
        // A client that asks first whether it may send it sends none.
        if !head.headers.contains_key(hyper::header::EXPECT) {
            request::discard(&mut body, limits.body.min(QUIET), limits.body).await;
        }
        return said(StatusCode::PAYLOAD_TOO_LARGE, too_large(limits.declared));
    }
    let (body, rest) = RequestBody::new(body, limits, work.held());
    let Ok(response) = service.call(Request::from_parts(head, body)).await;
    // Most clients read the answer only when they have sent all of the request.
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

/// An answer of this module to a request that may be repeated. Nothing was done, and the connection is closed.
fn refused<B>(status: StatusCode, why: &'static str) -> Response<ResponseBody<B>> {
    let mut response = said(status, format!("{why}. Nothing was done: try again later.\n"));
    response
        .headers_mut()
        .insert(hyper::header::RETRY_AFTER, hyper::header::HeaderValue::from_static("1"));
    response
}

/// What is answered to a request of more bytes than these.
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
