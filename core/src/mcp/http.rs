//! Streamable HTTP on this machine. One path needs no router.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::server::Server;
use super::sessions::{SessionLimits, Sessions};
use crate::http_server::{self, RequestBody};

const PATH: &str = "/mcp";

/// What the clients may hold.
pub(super) struct Limits {
    pub(super) connections: http_server::Limits,
    pub(super) sessions: SessionLimits,
    /// The most bytes of a request.
    pub(super) request_bytes: usize,
}

/// Serves clients at the path `/mcp`.
pub(super) async fn serve(
    server: Server,
    address: SocketAddr,
    limits: Limits,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let listener = http_server::listen(&[address])?;
    // A page in a browser may send requests here by a name of its own for this machine: only its own names, and no
    // request that says it comes from a page.
    let config = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_max_request_body_bytes(limits.request_bytes);
    let sessions = Arc::new(Sessions::new(limits.sessions));
    tokio::spawn(Arc::clone(&sessions).end_idle());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    ready(listener.local_addr()?);
    let answer = service_fn(move |request: Request<RequestBody>| {
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
    match http_server::serve(listener, answer, limits.connections).await {}
}

/// Whether a client asks to be told what happens, which has no end: up to 2025-11-25 by GET, later by a request of its own.
pub(super) fn is_stream<B>(request: &Request<B>) -> bool {
    let method = request.headers().get("mcp-method");
    request.method() == Method::GET
        || method.is_some_and(|method| method.as_bytes() == b"subscriptions/listen")
}

/// Whether it is the path that is served, or below it.
fn is_ours(path: &str) -> bool {
    path.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::mcp::served::Served;
    use crate::{Memory, MemoryOptions};

    #[test]
    fn one_path_is_served_and_what_is_below_it() {
        for path in ["/mcp", "/mcp/", "/mcp/x"] {
            assert!(is_ours(path), "{path}");
        }
        for path in ["/", "", "/mcpx", "/x/mcp", "/MCP"] {
            assert!(!is_ours(path), "{path}");
        }
    }

    #[test]
    fn a_client_that_wants_to_be_told_has_a_stream() {
        let request = |method: Method, header: &str| {
            Request::builder().method(method).header("mcp-method", header).body(()).unwrap()
        };
        assert!(is_stream(&request(Method::GET, "")));
        assert!(is_stream(&request(Method::POST, "subscriptions/listen")));
        assert!(!is_stream(&request(Method::POST, "tools/call")));
    }

    #[test]
    fn a_request_that_is_too_large_is_refused_with_a_sentence() {
        let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
        let served = Served { memory, read_only_mounts: Vec::new() };
        let server = Server::new(served, "").unwrap();
        let limits = Limits {
            connections: http_server::Limits::new(100_000, is_stream),
            sessions: SessionLimits::default(),
            request_bytes: 100_000,
        };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (send, ready) = mpsc::channel();
        let at = SocketAddr::from(([127, 0, 0, 1], 0));
        runtime.spawn(serve(server, at, limits, move |address| send.send(address).unwrap()));
        let address = ready.recv().unwrap();
        let ask = |body: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            // All of it is taken before the answer is given.
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let most = format!("{}{{}}", " ".repeat(100_000 - 2));
        assert!(ask(&most).starts_with("HTTP/1.1 415 "), "it was read, and is no message");
        for more in [1, 10_000_000] {
            let said = ask(&format!("{}{most}", " ".repeat(more)));
            assert!(said.starts_with("HTTP/1.1 413 "), "{said}");
            assert!(said.ends_with("request body exceeds 100000 bytes"), "{said}");
        }
    }
}
