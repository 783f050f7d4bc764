//! Tests with clients that make a server wait, with limits that are reached immediately.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper::{Request, Response};
use tokio::runtime::{Builder, Runtime};

use super::{ConnectionLimits, RequestBody, largest_request, listen, serve};

/// Far longer than anything takes here.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(50);

fn limits() -> ConnectionLimits {
    ConnectionLimits {
        connections: 8,
        requests: 6,
        streams: 3,
        is_stream: |request: &Request<Incoming>| request.uri().path() == "/stream",
        head: LONG,
        body: LONG,
        stall: LONG,
        declared: 1 << 30,
        held: usize::MAX,
    }
}

/// An answer with a text, or with endless data.
enum Answer {
    Text(Option<Bytes>),
    Endless,
    Nothing,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match &mut *self {
            Self::Text(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Self::Endless => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 65536]))))),
            Self::Nothing => Poll::Pending,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Text(text) => {
                SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
            _ => SizeHint::default(),
        }
    }
}

/// The tested service: `/` returns the length of the body, `/ignored` does not read the body, `/stream` sends nothing and never ends,
/// `/endless` sends data without end.
async fn answer(request: Request<RequestBody>) -> Response<Answer> {
    let body = match request.uri().path() {
        "/stream" => Answer::Nothing,
        "/endless" => Answer::Endless,
        "/ignored" => Answer::Text(Some("ignored".into())),
        _ => {
            let mut body = std::pin::pin!(request.into_body());
            let mut length = 0;
            while let Some(part) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
                match part {
                    Ok(part) => length += part.data_ref().map_or(0, Bytes::len),
                    Err(_) => return Response::new(Answer::Text(Some("broken".into()))),
                }
            }
            Answer::Text(Some(format!("{length} bytes").into()))
        }
    };
    Response::new(body)
}

/// A server, which stops at the end of the test.
struct Server {
    _runtime: Runtime,
    address: SocketAddr,
}

impl Server {
    fn start(limits: ConnectionLimits) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(async { listen(&[([127, 0, 0, 1], 0).into()]) }).unwrap();
        let address = listener.local_addr().unwrap();
        let service = service_fn(|request| async { Ok(answer(request).await) });
        runtime.spawn(async move { match serve(listener, service, limits).await {} });
        Self { _runtime: runtime, address }
    }

    /// A connection on which the text was sent.
    fn sent(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        // The server may have closed it already.
        let _ = stream.write_all(text.as_bytes());
        stream
    }

    /// The answer to a request, until the connection is closed.
    fn ask(&self, path: &str, body: &[u8]) -> String {
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n", body.len());
        let mut stream = self.sent(&format!("{head}Connection: close\r\n\r\n"));
        stream.write_all(body).unwrap();
        rest(stream)
    }

    /// Waits until a new client is answered, which is when the requests in progress have ended.
    fn answers(&self) {
        while !self.ask("/", b"").ends_with("0 bytes") {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A request to `path`, of whose answer the first bytes were read.
    fn begun(&self, path: &str) -> TcpStream {
        let mut stream = self.sent(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        stream
    }
}

/// The remaining data until the connection is closed. If the other side had closed it before, it may be reset.
fn rest(mut stream: TcpStream) -> String {
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn a_body_that_is_said_to_be_too_large_is_not_waited_for() {
    let server = Server::start(ConnectionLimits { declared: 10, ..limits() });
    assert!(server.ask("/", &[b'x'; 10]).ends_with("10 bytes"));
    let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n";
    for (headers, sent) in
        [("", ""), ("", "xxxxx"), ("", "xxxxxxxxxxx"), ("Expect: 100-continue\r\n", "")]
    {
        let said = rest(server.sent(&format!("{head}{headers}\r\n{sent}")));
        assert!(said.starts_with("HTTP/1.1 413 "), "{said}");
        assert!(said.ends_with("more than 10 bytes. Nothing was done.\n"), "{said}");
    }
    server.answers();
}

#[test]
fn an_idle_connection_makes_room_and_a_working_one_does_not() {
    let server = Server::start(limits());
    let working = server.begun("/stream");
    // One that sends nothing, one that stops within a head, and one that was answered.
    let kinds = ["", "GET / HTTP/1.1\r\nHost: ", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"];
    let idle: Vec<_> = (0..60).map(|number| server.sent(kinds[number % 3])).collect();
    assert!(server.ask("/", b"").ends_with("0 bytes"));
    // All connections above the limit are closed soon.
    let mut open = idle;
    while open.len() > limits().connections {
        open.retain(|stream| {
            stream.set_nonblocking(true).unwrap();
            let mut said = stream;
            let ended = said.read_to_end(&mut Vec::new());
            matches!(ended, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
        });
        std::thread::sleep(Duration::from_millis(5));
    }
    working.set_nonblocking(true).unwrap();
    let ended = (&working).read_to_end(&mut Vec::new());
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_head_that_does_not_come_is_not_waited_for() {
    let server = Server::start(ConnectionLimits { head: SHORT, ..limits() });
    for begun in ["", "GET / HTTP/1.1\r\nHost: "] {
        assert_eq!(rest(server.sent(begun)), "");
    }
    // Between two requests. On a busy machine the head may be late, too.
    let answers = (0..100).map(|_| rest(server.sent("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
    let said = answers.into_iter().find(|said| !said.is_empty()).unwrap();
    assert!(said.ends_with("0 bytes"), "{said}");
}

#[test]
fn a_body_that_does_not_come_is_given_up_with_a_sentence() {
    let server = Server::start(ConnectionLimits { body: SHORT, ..limits() });
    for path in ["/", "/ignored"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\n");
        for body in ["Content-Length: 9\r\n\r\nx", "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"] {
            let said = rest(server.sent(&format!("{head}{body}")));
            // A service that does not read the body answers anyway.
            let (status, text) = match path {
                "/" => (
                    "HTTP/1.1 408 ",
                    "The request took too long to arrive. Nothing was done: try again later.\n",
                ),
                _ => ("HTTP/1.1 200 ", "ignored"),
            };
            assert!(said.starts_with(status) && said.ends_with(text), "{path}: {said}");
        }
    }
}

#[test]
fn an_answer_that_is_not_read_is_given_up() {
    let server = Server::start(ConnectionLimits { requests: 1, stall: SHORT, ..limits() });
    let unread = server.begun("/endless");
    server.answers();
    drop(unread);
}

#[test]
fn what_is_beyond_the_limit_of_requests_is_told_so() {
    let server = Server::start(ConnectionLimits { streams: 6, ..limits() });
    let mut working: Vec<_> = (0..6).map(|_| server.begun("/stream")).collect();
    for _ in 0..20 {
        let said = server.ask("/", b"abc");
        assert!(said.starts_with("HTTP/1.1 503 ") && said.contains("retry-after: 1"), "{said}");
        let text = "Too many requests are under way. Nothing was done: try again later.\n";
        assert!(said.ends_with(text), "{said}");
    }
    working.pop();
    server.answers();
}

#[test]
fn streams_take_no_place_from_other_requests() {
    let server = Server::start(limits());
    let mut streams: Vec<_> = (0..3).map(|_| server.begun("/stream")).collect();
    for _ in 0..20 {
        let said = server.ask("/stream", b"");
        let text = "Too many streams are open. Nothing was done: try again later.\n";
        assert!(said.starts_with("HTTP/1.1 503 ") && said.ends_with(text), "{said}");
        assert!(server.ask("/", b"").ends_with("0 bytes"));
    }
    streams.pop();
    loop {
        let mut begun = server.sent("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
        let mut first = [0; 12];
        begun.read_exact(&mut first).unwrap();
        if &first == b"HTTP/1.1 200" {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_connection_is_closed_if_all_others_work() {
    let server = Server::start(ConnectionLimits { connections: 6, streams: 6, ..limits() });
    let mut working: Vec<_> = (0..6).map(|_| server.begun("/stream")).collect();
    for _ in 0..20 {
        let said = rest(TcpStream::connect(server.address).unwrap());
        assert_eq!(said, "");
    }
    working.pop();
    // The slot is free as soon as the server has noticed that the client is gone.
    loop {
        let stream = TcpStream::connect(server.address).unwrap();
        let asked = (&stream).write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        if asked.is_ok() && rest(stream).ends_with("0 bytes") {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_client_that_sends_all_of_a_refused_body_reads_the_answer() {
    let server = Server::start(limits());
    let said = server.ask("/ignored", &vec![b'x'; 16 << 20]);
    assert!(said.ends_with("ignored"), "{said}");
}

#[test]
fn bodies_together_hold_no_more_than_they_may() {
    let server = Server::start(ConnectionLimits { held: 1_000_000, ..limits() });
    let said = server.ask("/", &vec![b'x'; 1_000_001]);
    let text = "Too many large requests are under way. Nothing was done: try again later.\n";
    assert!(said.starts_with("HTTP/1.1 503 ") && said.ends_with(text), "{said}");
    for _ in 0..5 {
        // Each answer releases the bytes of its request.
        while !server.ask("/", &vec![b'x'; 1_000_000]).ends_with("1000000 bytes") {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_request_holds_two_texts_of_the_largest_size_however_they_are_spelled() {
    let default = largest_request(None);
    assert_eq!(default, 2 * 6 * (16 << 20) + (64 << 10));
    // A text that the memory refuses still gets the memory's error.
    assert_eq!(largest_request(Some(10)), default);
    assert_eq!(largest_request(Some(1 << 30)), 2 * 6 * (1 << 30) + (64 << 10));
    assert_eq!(largest_request(Some(u64::MAX)), usize::MAX);
}
