//! A proxy in front of a server that injects faults: it counts requests, and breaks those that the
//! plan names.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// How a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is closed before the server sees the request.
    NotSent,
    /// The server executes it, and the connection is closed before the answer arrives.
    AnswerLost,
    /// The server reports an error, and does nothing.
    Error500,
    /// The server reports that it is busy, and does nothing.
    Busy503,
    /// The server executes it, and a gateway in front of it reports an error.
    DoneBut500,
    /// The server executes it, and no answer arrives before the client gives up.
    DoneButSilent,
    /// The server refuses it, with a status and a code.
    Refused(&'static str, &'static str),
}

impl Fault {
    pub(crate) const PASSING: [Self; 5] =
        [Self::NotSent, Self::AnswerLost, Self::Error500, Self::Busy503, Self::DoneBut500];

    fn reaches_the_server(self) -> bool {
        matches!(self, Self::AnswerLost | Self::DoneBut500 | Self::DoneButSilent)
    }
}

/// Which requests fail, counted from 0, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    Nothing,
    /// One request fails.
    One(usize, Fault),
    /// This request and all after it fail.
    From(usize, Fault),
    /// The end of the client: after N requests no request reaches the server, and none is answered.
    /// With `true` the last one is executed, but its answer is lost.
    Halt(usize, bool),
    /// The requests come in groups of these sizes. No request of a group is answered before all of the group have been sent.
    Together(&'static [usize]),
}

#[derive(Default)]
struct State {
    plan: Option<Plan>,
    requests: Vec<String>,
    incomplete: bool,
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

    /// Restarts the count here.
    pub(crate) fn plan(&self, plan: Plan) {
        *self.state.0.lock().unwrap() = State { plan: Some(plan), ..State::default() };
    }

    /// The requests since the last plan, as `GET /bucket/key`.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.0.lock().unwrap().requests.clone()
    }

    /// Whether a group of [`Plan::Together`] was not sent at once.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.state.0.lock().unwrap().incomplete
    }

    /// Waits until the request's group is complete.
    fn wait_for_group(&self, number: usize, groups: &[usize]) {
        let ends = groups.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        let end = ends.into_iter().find(|end| *end > number).unwrap_or(0);
        let state = self.state.0.lock().unwrap();
        let is_partial = |state: &mut State| state.requests.len() < end;
        // It waits this long only if the test fails.
        let limit = Duration::from_secs(20);
        let (mut state, waited) =
            self.state.1.wait_timeout_while(state, limit, is_partial).unwrap();
        state.incomplete |= waited.timed_out();
    }

    /// Waits until the client has reached its end, or `done` returns true.
    pub(crate) fn wait_for_halt(&self, done: impl Fn() -> bool) -> bool {
        let mut state = self.state.0.lock().unwrap();
        while !state.halted {
            if done() {
                return false;
            }
            let wait = Duration::from_millis(2);
            state = self.state.1.wait_timeout(state, wait).unwrap().0;
        }
        true
    }

    /// Serves one request per connection.
    fn serve(&self, mut client: TcpStream, server: &str) -> Option<()> {
        let (line, request) = read_request(&client)?;
        let mut together = None;
        let (fault, reaches, halts) = {
            let mut state = self.state.0.lock().unwrap();
            let number = state.requests.len();
            state.requests.push(line);
            self.state.1.notify_all();
            if let Some(Plan::Together(groups)) = state.plan {
                together = Some((number, groups));
            }
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
        if let Some((number, groups)) = together {
            self.wait_for_group(number, groups);
        }
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

/// Sends nothing until the client gives up.
fn silence(mut client: TcpStream) -> Option<()> {
    let _ = client.read(&mut [0]);
    None
}

/// The first line, without the version, and the whole request.
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
