//! A way to the server on which things go wrong: it counts requests, and spoils those it is told to.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is closed before the server sees the request.
    NotSent,
    /// The server does it, and the connection is closed before its answer comes.
    AnswerLost,
    /// The server has an error, and does nothing.
    Error500,
    /// The server is busy, and does nothing.
    Busy503,
    /// The server does it, and what stands before it says that there was an error.
    DoneBut500,
    /// The server does it, and no answer comes for as long as anybody waits.
    DoneButSilent,
    /// The server refuses, with a status and a code.
    Refused(&'static str, &'static str),
}

impl Fault {
    pub(crate) const PASSING: [Self; 5] =
        [Self::NotSent, Self::AnswerLost, Self::Error500, Self::Busy503, Self::DoneBut500];

    fn reaches_the_server(self) -> bool {
        matches!(self, Self::AnswerLost | Self::DoneBut500 | Self::DoneButSilent)
    }
}

/// What is done with which request, counted from 0.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    Nothing,
    /// One request goes wrong.
    One(usize, Fault),
    /// This and all after it.
    From(usize, Fault),
    /// The client's end: no request after so many reaches the server, and nothing is answered.
    /// With `true` the last one is done, only its answer does not come.
    Halt(usize, bool),
}

#[derive(Default)]
struct State {
    plan: Option<Plan>,
    requests: Vec<String>,
    halted: bool,
}

#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) address: String,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Proxy {
    pub(crate) fn before(server: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let proxy = Self { address, state: Arc::default() };
        let shared = proxy.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let proxy = shared.clone();
                thread::spawn(move || proxy.serve(connection, server));
            }
        });
        proxy
    }

    /// Counts anew from here on.
    pub(crate) fn plan(&self, plan: Plan) {
        *self.state.0.lock().unwrap() = State { plan: Some(plan), ..State::default() };
    }

    /// The requests since then, as `GET /bucket/key`.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.0.lock().unwrap().requests.clone()
    }

    /// Waits until the client has come to its end, or `done` says that it has not.
    pub(crate) fn wait_for_halt(&self, done: impl Fn() -> bool) -> bool {
        let mut state = self.state.0.lock().unwrap();
        while !state.halted {
            if done() {
                return false;
            }
            let wait = std::time::Duration::from_millis(2);
            state = self.state.1.wait_timeout(state, wait).unwrap().0;
        }
        true
    }

    /// One request a connection.
    fn serve(&self, mut client: TcpStream, server: &str) -> Option<()> {
        let (line, request) = read_request(&client)?;
        let (fault, reaches, halts) = {
            let mut state = self.state.0.lock().unwrap();
            let number = state.requests.len();
            state.requests.push(line);
            match state.plan {
                Some(Plan::One(at, fault)) if number == at => {
                    (Some(fault), fault.reaches_the_server(), false)
                }
                Some(Plan::From(at, fault)) if number >= at => {
                    (Some(fault), fault.reaches_the_server(), false)
                }
                Some(Plan::Halt(at, done)) if number >= at => (None, done && number == at, true),
                _ => (None, true, false),
            }
        };
        let answer = if reaches { ask(server, &request) } else { Vec::new() };
        if halts {
            self.state.0.lock().unwrap().halted = true;
            self.state.1.notify_all();
            return silence(client);
        }
        let refusal = |status: &str, code: &str| {
            let message = "test-key-id may not, says AWS4-HMAC-SHA256 Signature=00";
            let body = format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>");
            format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            )
            .into_bytes()
        };
        let answer = match fault {
            None => answer,
            Some(Fault::NotSent | Fault::AnswerLost) => return None,
            Some(Fault::DoneButSilent) => return silence(client),
            Some(Fault::Error500 | Fault::DoneBut500) => {
                refusal("500 Internal Server Error", "InternalError")
            }
            Some(Fault::Busy503) => refusal("503 Slow Down", "SlowDown"),
            Some(Fault::Refused(status, code)) => refusal(status, code),
        };
        client.write_all(&answer).ok()
    }
}

/// Until the other side has enough of waiting.
fn silence(mut client: TcpStream) -> Option<()> {
    let _ = client.read(&mut [0]);
    None
}

/// The first line, without the version, and everything.
fn read_request(client: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(client);
    let (mut head, mut length, mut first) = (String::new(), 0, String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.to_ascii_lowercase();
        if first.is_empty() {
            first = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            head += "Connection: close\r\n\r\n";
            break;
        }
        if !lower.starts_with("connection:") {
            head += &line;
        }
    }
    let mut request = head.into_bytes();
    let start = request.len();
    request.resize(start + length, 0);
    reader.read_exact(&mut request[start..]).ok()?;
    Some((first, request))
}

fn ask(server: &str, request: &[u8]) -> Vec<u8> {
    let mut answer = Vec::new();
    let mut connection = TcpStream::connect(server).unwrap();
    connection.write_all(request).unwrap();
    connection.read_to_end(&mut answer).unwrap();
    answer
}
