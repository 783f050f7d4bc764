//! Streamable HTTP on this machine. A single path needs no router.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Collected, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::message::{self, NoMessage};
use super::server::Server;
use super::sessions::{FULL, SessionLimits, Sessions};
use crate::http_server::{self, RequestBody};

const PATH: &str = "/mcp";
const JSON: &str = "application/json";

type HttpAnswer = Response<BoxBody<Bytes, Infallible>>;

/// The limits for clients.
pub(super) struct ServerLimits {
    pub(super) connections: http_server::ConnectionLimits,
    pub(super) sessions: SessionLimits,
    /// The maximum size of a request in bytes.
    pub(super) request_bytes: usize,
}

/// Serves clients at the path `/mcp`.
pub(super) async fn serve(
    server: Server,
    address: SocketAddr,
    limits: ServerLimits,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let listener = http_server::listen(&[address])?;
    // A page in a browser may send requests here under its own name for this machine (DNS rebinding). So only this machine's own
    // names are accepted, and no requests with the origin of a page.
    let config = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_max_request_body_bytes(limits.request_bytes);
    let sessions = Arc::new(Sessions::new(limits.sessions));
    tokio::spawn(Arc::clone(&sessions).end_idle());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    ready(listener.local_addr()?);
    let most = limits.request_bytes;
    let answer = service_fn(move |request: Request<RequestBody>| {
        let service = service.clone();
        async move {
            let is_ours = is_ours(request.uri().path());
            let answer = async {
                let request = if is_ours {
                    read(request, most).await?
                } else {
                    return Err(said(StatusCode::NOT_FOUND, String::new()));
                };
                Ok(answer(service, request).await)
            };
            Ok::<_, Infallible>(answer.await.unwrap_or_else(|refused| refused))
        }
    });
    match http_server::serve(listener, answer, limits.connections).await {}
}

/// Reads the whole body of a request. The error is the answer to a request that cannot be read.
async fn read(
    request: Request<RequestBody>,
    most: usize,
) -> Result<Request<Full<Bytes>>, HttpAnswer> {
    let (head, body) = request.into_parts();
    // Only POST requests have a message.
    if head.method != Method::POST {
        return Ok(Request::from_parts(head, Full::default()));
    }
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(Request::from_parts(head, Full::new(body.to_bytes()))),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(said(StatusCode::PAYLOAD_TOO_LARGE, http_server::too_large(most)))
        }
        Err(_) => Err(said(StatusCode::BAD_REQUEST, "The body could not be read\n".to_owned())),
    }
}

/// The answer of the official implementation, except for a JSON body that is not a message: it answers 415 without a reason.
async fn answer(
    service: StreamableHttpService<Server, Sessions>,
    request: Request<Full<Bytes>>,
) -> HttpAnswer {
    let is_json = request
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(JSON.as_bytes()));
    let body = request.body().clone();
    let answer = service.handle(request).await;
    if answer.status() == StatusCode::INTERNAL_SERVER_ERROR {
        return unless_full(answer).await;
    }
    if answer.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE || !is_json {
        return answer;
    }
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    match message::read(&body) {
        Ok(_) => answer,
        Err(NoMessage(problem)) => {
            let problem = problem.and_then(|problem| serde_json::to_string(&problem).ok());
            let kind =
                HeaderValue::from_static(if problem.is_some() { JSON } else { "text/plain" });
            let mut answer = said(StatusCode::BAD_REQUEST, problem.unwrap_or_default());
            answer.headers_mut().insert(CONTENT_TYPE, kind);
            answer
        }
    }
}

/// The answer to a failed request. A client that got no session is told to try again later. The official implementation
/// answers 500 to every failure, with its text.
async fn unless_full(answer: HttpAnswer) -> HttpAnswer {
    let (mut head, body) = answer.into_parts();
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    if !body.ends_with(FULL.as_bytes()) {
        return Response::from_parts(head, Full::from(body).boxed());
    }
    head.status = StatusCode::SERVICE_UNAVAILABLE;
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    head.headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    let why = "All sessions are at work. Nothing was done: try again later.\n";
    Response::from_parts(head, Full::from(why).boxed())
}

fn said(status: StatusCode, text: String) -> HttpAnswer {
    let mut answer = Response::new(Full::from(text).boxed());
    *answer.status_mut() = status;
    answer
}

/// Whether a client asks for a stream of events, which never ends: up to 2025-11-25 with GET, later with a request of its own.
pub(super) fn is_stream<B>(request: &Request<B>) -> bool {
    let method = request.headers().get("mcp-method");
    request.method() == Method::GET
        || method.is_some_and(|method| method.as_bytes() == b"subscriptions/listen")
}

/// Whether the path is the served path or below it.
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
    use crate::mcp::served;
    use memdir::{Memory, MemoryOptions};

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

    /// A server of an empty memory, which stops at the end of the test.
    struct Served {
        _runtime: tokio::runtime::Runtime,
        address: SocketAddr,
    }

    impl Served {
        fn start() -> Self {
            Self::with_sessions(SessionLimits::default())
        }

        fn with_sessions(sessions: SessionLimits) -> Self {
            let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
            let served = served::Served { memory, mount_points: Vec::new(), has_search: true };
            let server = Server::new(served, "").unwrap();
            let limits = ServerLimits {
                connections: http_server::ConnectionLimits::new(MOST, is_stream),
                sessions,
                request_bytes: MOST,
            };
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let (send, ready) = mpsc::channel();
            let at = SocketAddr::from(([127, 0, 0, 1], 0));
            runtime.spawn(serve(server, at, limits, move |address| send.send(address).unwrap()));
            Self { _runtime: runtime, address: ready.recv().unwrap() }
        }

        /// The answer to a request with additional headers. The whole request is sent before the answer is read.
        fn ask(&self, headers: &str, body: &[u8]) -> String {
            let mut stream = TcpStream::connect(self.address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\
                 Accept: application/json, text/event-stream\r\nConnection: close\r\n{headers}\r\n"
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        }

        fn ask_json(&self, body: &[u8]) -> String {
            self.ask(&format!("{AS_JSON}Content-Length: {}\r\n", body.len()), body)
        }
    }

    const MOST: usize = 100_000;
    const AS_JSON: &str = "Content-Type: application/json\r\n";

    #[test]
    fn a_request_that_is_too_large_is_refused_with_a_sentence() {
        let server = Served::start();
        let most = format!("{}{{}}", " ".repeat(MOST - 2));
        let said = server.ask_json(most.as_bytes());
        assert!(said.starts_with("HTTP/1.1 400 "), "it was read, and is no message");
        let refused = |said: &str| {
            said.starts_with("HTTP/1.1 413 ")
                && said.ends_with(
                    "The request is too large: it has more than 100000 bytes. Nothing was done.\n",
                )
        };
        for more in [1, 10_000_000] {
            let body = format!("{}{most}", " ".repeat(more));
            let said = server.ask_json(body.as_bytes());
            assert!(refused(&said), "{said}");
            // In chunks, so the server does not know the total size.
            let chunk = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
            let headers = format!("{AS_JSON}Transfer-Encoding: chunked\r\n");
            let said = server.ask(&headers, chunk.as_bytes());
            assert!(refused(&said), "{said}");
        }
        // The client sends no body, or waits until it may send it.
        for expect in ["", "Expect: 100-continue\r\n"] {
            let headers = format!("{AS_JSON}{expect}Content-Length: 100001\r\n");
            let said = server.ask(&headers, b"");
            assert!(refused(&said), "{said}");
        }
    }

    #[test]
    fn a_body_that_is_no_message_is_answered_as_json_rpc_says() {
        let server = Served::start();
        let surrogate =
            br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud83d"}}"#;
        let cases: [(&[u8], &str, Option<u64>); 8] = [
            (b"", "-32700", None),
            (b"{", "-32700", None),
            (b"\xff", "-32700", None),
            (surrogate, "-32700", Some(7)),
            (b"[]", "-32600", None),
            (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "-32600", None),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "-32600", None),
            (br#"{"id":"7","method":"ping"}"#, "-32600", None),
        ];
        for (body, code, id) in cases {
            let said = server.ask_json(body);
            let (head, answer) = said.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("HTTP/1.1 400 "), "{said}");
            assert!(head.to_lowercase().contains("content-type: application/json"), "{said}");
            let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
            assert_eq!(answer["error"]["code"].to_string(), code, "{said}");
            assert_eq!(answer["id"].as_u64(), id, "{said}");
        }
        let said = server.ask("Content-Type: text/plain\r\nContent-Length: 2\r\n", b"{}");
        assert!(said.starts_with("HTTP/1.1 415 "), "{said}");
    }

    #[test]
    fn a_client_for_whom_there_is_no_session_is_told_to_come_again() {
        let server = Served::with_sessions(SessionLimits { most: 0, ..SessionLimits::default() });
        let hello = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
        let said = server.ask_json(hello);
        assert!(said.starts_with("HTTP/1.1 503 "), "{said}");
        assert!(said.to_lowercase().contains("\r\nretry-after: 1\r\n"), "{said}");
        let why = "All sessions are at work. Nothing was done: try again later.\n";
        assert!(said.ends_with(why), "{said}");
        let said = Served::start().ask_json(hello);
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    }

    #[test]
    fn a_body_that_cannot_be_read_is_refused() {
        let server = Served::start();
        let headers = format!("{AS_JSON}Transfer-Encoding: chunked\r\n");
        let said = server.ask(&headers, b"zz\r\n{}\r\n0\r\n\r\n");
        assert!(said.starts_with("HTTP/1.1 400 "), "{said}");
    }
}
