//! The page of `memdir serve`, over HTTP: access, permitted changes, and robustness against any request. `tests/page`
//! tests it in a real browser.
#![cfg(all(feature = "page", feature = "sqlite", unix))]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a panic is how a test fails"
)]

mod access;
mod conflicts;
mod editing;
mod live;
mod looking;
mod requests;
mod versions;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::effort;
use crate::common::postgres;
use memdir::{Memory, MemoryOptions};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// A running `memdir serve`.
pub(crate) struct Page {
    process: Child,
    pub(crate) port: u16,
    secret: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An answer, unparsed.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Page {
    pub(crate) fn open(stores: &[&str], arguments: &[&str]) -> Self {
        Self::with(Command::new(env!("CARGO_BIN_EXE_memdir")), stores, arguments)
    }

    pub(crate) fn with(mut command: Command, stores: &[&str], arguments: &[&str]) -> Self {
        let mut process = command
            .arg("serve")
            .args(stores)
            .args(["--port", "0", "--as", "Ann"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let line = lines.find_map(|line| line.ok().filter(|line| line.contains("open http")));
        let line = line.unwrap();
        let address = line.trim().strip_prefix("memdir: open http://127.0.0.1:").expect(&line);
        let (port, secret) = address.split_once("/open/").unwrap();
        Self { port: port.parse().unwrap(), secret: secret.to_owned(), process }
    }

    /// Sends exactly these lines and this body.
    fn raw(&self, lines: &[String], body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut request = lines.join("\r\n").into_bytes();
        request.extend(b"\r\nConnection: close\r\n\r\n");
        request.extend(body);
        // It may answer, and close, before it has read everything.
        let _ = stream.write_all(&request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let at = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("no answer");
        let head = String::from_utf8(answer[..at].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = answer[at + 4..].to_vec();
        if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Answer { status, head, body }
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    pub(crate) fn cookie(&self) -> String {
        format!("Cookie: other=1; memdir-{}={}", self.port, self.secret)
    }

    pub(crate) fn origin(&self) -> String {
        format!("Origin: http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn get(&self, address: &str) -> Answer {
        self.raw(&[format!("GET {address} HTTP/1.1"), self.host(), self.cookie()], b"")
    }

    pub(crate) fn form(&self, address: &str, body: &str, others: &[String]) -> Answer {
        let mut lines = vec![
            format!("POST {address} HTTP/1.1"),
            "Content-Type: application/x-www-form-urlencoded".to_owned(),
            format!("Content-Length: {}", body.len()),
        ];
        lines.extend_from_slice(others);
        self.raw(&lines, body.as_bytes())
    }

    /// As the browser sends a form of the page.
    pub(crate) fn post(&self, address: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token();
        let with_token = [("token", token.as_str())];
        let fields = fields.iter().chain(&with_token).map(|(name, value)| {
            format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
        });
        let body = fields.collect::<Vec<_>>().join("&");
        self.form(address, &body, &[self.host(), self.cookie(), self.origin()])
    }

    pub(crate) fn token(&self) -> String {
        let page = self.get("/1/new").text();
        let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        let chunk = &body[end + 2..];
        whole.extend_from_slice(&chunk[..size.min(chunk.len())]);
        if size == 0 || chunk.len() < size + 2 {
            break;
        }
        body = &chunk[size + 2..];
    }
    whole
}

/// A memory with a history, in a directory.
fn memory(directory: &Path) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::open(directory.to_str().unwrap(), options).unwrap().acting_as("session 7")
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    text.split_once(start).expect(start).1.split_once(end).unwrap().0
}

/// Every address of the page.
const PAGES: [&str; 26] = [
    "/",
    "/1/",
    "/1/branch?path=/memories",
    "/1/file?path=/memories/a.md",
    "/1/file?path=/memories",
    "/1/image?path=/memories/a.md",
    "/1/download?path=/memories/a.md",
    "/1/history",
    "/1/version?id=x",
    "/1/diff?id=x",
    "/1/compare?id=x&other=y",
    "/1/search?q=one",
    "/1/best?q=one",
    "/1/sensitive",
    "/1/sync",
    "/1/conflict?path=/memories/a.md",
    "/1/edit?path=/memories/a.md",
    "/1/new",
    "/1/rename?path=/memories/a.md",
    "/1/delete?path=/memories/a.md",
    "/1/restore?id=x",
    "/1/undo?id=x",
    "/1/redact?id=x",
    "/1/changes",
    "/assets/page.js",
    "/nothing",
];

/// The versions that a page lists, by their ids.
fn listed(page: &str) -> Vec<&str> {
    page.split("data-fragment=\"/1/diff?id=").skip(1).map(|rest| &rest[..36]).collect()
}

/// The events that a page receives.
pub(crate) fn listening(page: &Page) -> impl Iterator<Item = String> + use<> {
    listening_to(page, 1)
}

fn listening_to(page: &Page, memory: usize) -> impl Iterator<Item = String> + use<> {
    events(page, &memory.to_string()).map(|(_, said)| said)
}

/// The events that a page receives for some memories, each with the number of the memory.
fn events(page: &Page, memories: &str) -> impl Iterator<Item = (String, String)> + use<> {
    let mut stream = TcpStream::connect(("127.0.0.1", page.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let first = format!("GET /{memories}/changes HTTP/1.1");
    let request = [&first, &page.host(), &page.cookie(), "", ""].join("\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let mut of = String::new();
    lines.filter_map(move |line| {
        if let Some(number) = line.strip_prefix("event: ") {
            number.clone_into(&mut of);
        }
        line.strip_prefix("data: ").map(|said| (of.clone(), said.to_owned()))
    })
}
