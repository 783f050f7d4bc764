//! The page of `memdir serve`, as HTTP: who is let in, what may be changed how, and that no request breaks it. A real
//! browser looks at it in `tests/page`.
#![cfg(all(feature = "page", feature = "sqlite", unix))]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a panic is how a test fails"
)]

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

/// An answer, as it came.
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
        // It may answer, and close, before it has read all of it.
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
const PAGES: [&str; 23] = [
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
    "/1/sensitive",
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

#[test]
fn nobody_is_let_in_without_the_secret() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/a.md", "one secret thing").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let wrong = format!("Cookie: memdir-{}={}", page.port, "0".repeat(32));
    let other = format!("Cookie: memdir={}; memdir-1={}", page.secret, page.secret);
    for address in PAGES {
        for cookie in ["X: y", &wrong, &other] {
            let lines = [format!("GET {address} HTTP/1.1"), page.host(), cookie.to_owned()];
            let answer = page.raw(&lines, b"");
            assert_eq!(answer.status, 403, "{address}");
            assert!(!answer.text().contains("secret thing") && !answer.text().contains("a.md"));
        }
    }
    for guess in ["", "0", &page.secret[1..], &format!("{}0", page.secret), &"0".repeat(32)] {
        let lines = [format!("GET /open/{guess} HTTP/1.1"), page.host()];
        let answer = page.raw(&lines, b"");
        assert_eq!((answer.status, answer.header("set-cookie")), (403, None), "{guess:?}");
    }
    let lines = [format!("GET /open/{} HTTP/1.1", page.secret), page.host()];
    let answer = page.raw(&lines, b"");
    assert_eq!(answer.status, 200);
    let cookie = answer.header("set-cookie").unwrap();
    for part in [page.secret.as_str(), "HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(page.get("/1/file?path=/memories/a.md&view=source").text().contains("secret thing"));
}

#[test]
fn a_foreign_name_for_this_machine_is_refused() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/a.md", "one").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let port = page.port;
    let ask = |hosts: &[String]| {
        let mut lines = vec!["GET /1/ HTTP/1.1".to_owned(), page.cookie()];
        lines.extend_from_slice(hosts);
        page.raw(&lines, b"").status
    };
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        assert_eq!(ask(&[format!("Host: {host}:{port}")]), 200, "{host}");
    }
    for host in [
        format!("example.com:{port}"),
        format!("127.0.0.1.example.com:{port}"),
        format!("localhost.:{port}"),
        format!("localhost:{}", port.wrapping_add(1)),
        "127.0.0.1".to_owned(),
        format!("0.0.0.0:{port}"),
        format!("user@127.0.0.1:{port}"),
        String::new(),
    ] {
        assert!([400, 421].contains(&ask(&[format!("Host: {host}")])), "{host}");
    }
    assert!([400, 421].contains(&ask(&[page.host(), "Host: example.com".to_owned()])));
    assert!([400, 421].contains(&ask(&[])));
}

#[test]
fn a_change_is_made_by_a_form_of_this_page_and_by_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one").unwrap();
    let version = memory.history(&memdir::history::HistoryQuery::default()).unwrap()[0].id;
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let token = format!("token={}", page.token());
    let path = "path=%2Fmemories%2Fa.md";
    let forms = [
        ("/1/edit", format!("{path}&base=&text=x")),
        ("/1/new", "to=%2Fmemories%2Fb.md&text=x".to_owned()),
        ("/1/rename", format!("{path}&to=%2Fmemories%2Fc.md")),
        ("/1/delete", path.to_owned()),
        ("/1/restore", format!("id={version}")),
        ("/1/undo", format!("id={version}")),
        ("/1/redact", format!("id={version}&reason=x")),
    ];
    let (host, cookie, origin) = (page.host(), page.cookie(), page.origin());
    let wrong = format!("token={}", "0".repeat(32));
    for (address, body) in &forms {
        let with = |extra: &str, lines: &[&str]| {
            let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
            page.form(address, &format!("{body}&{extra}"), &lines).status
        };
        assert_eq!(with("", &[&host, &cookie, &origin]), 403, "{address}: no token");
        assert_eq!(with(&wrong, &[&host, &cookie, &origin]), 403, "{address}: a wrong token");
        assert_eq!(with(&token, &[&host, &cookie]), 403, "{address}: no origin");
        assert_eq!(with(&token, &[&host, &origin]), 403, "{address}: no secret");
        for foreign in ["null", "http://example.com", "http://localhost", "https://127.0.0.1"] {
            let foreign = format!("Origin: {foreign}");
            assert_eq!(with(&token, &[&host, &cookie, &foreign]), 403, "{address}: {foreign}");
        }
        let elsewhere = "Sec-Fetch-Site: cross-site";
        assert_eq!(with(&token, &[&host, &cookie, &origin, elsewhere]), 403, "{address}");
        let rebound = format!("Host: example.com:{}", page.port);
        assert_eq!(with(&token, &[&rebound, &cookie, &origin]), 421, "{address}");
        // By GET it is only asked.
        let got = page.get(&format!("{address}?{body}&{token}"));
        assert!([200, 400, 404, 409].contains(&got.status), "{address}: {}", got.status);
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
            let lines = [
                format!("{method} {address}?{body}&{token} HTTP/1.1"),
                host.clone(),
                cookie.clone(),
                origin.clone(),
            ];
            assert_eq!(page.raw(&lines, b"").status, 405, "{method} {address}");
        }
    }
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one");
    assert_eq!(memory.list("/memories", None).unwrap().len(), 1);
    assert_eq!(memory.read_version(version).unwrap(), b"one");
}

#[test]
fn every_answer_forbids_the_browser_what_the_page_does_not_need() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/a.html", "<script>alert(1)</script>").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let addresses = PAGES.iter().filter(|address| **address != "/1/changes");
    for address in addresses.chain(&["/1/download?path=/memories/a.html", "/9/", "/x/", "/open/x"])
    {
        let answer = page.get(address);
        let policy = answer.header("content-security-policy").expect(address);
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{address}");
        }
        assert!(!answer.head.to_lowercase().contains("access-control"), "{address}");
    }
    let file = page.get("/1/download?path=/memories/a.html");
    assert_eq!(file.header("content-type"), Some("application/octet-stream"));
    assert!(file.header("content-disposition").unwrap().starts_with("attachment"));
    assert_eq!(page.get("/1/image?path=/memories/a.html").status, 404);
    let shown = page.get("/1/file?path=/memories/a.html").text();
    assert!(!shown.contains("<script>alert"), "{shown}");
}

#[test]
fn a_person_changes_files_and_each_change_can_be_taken_back() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/old.md", "one\n").unwrap();
    memory.delete("/memories/old.md").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);

    // A text area drops its first line ending, and sends all as CRLF.
    let text = "\r\nfirst\r\n<b>\u{202e}\r\n";
    let made = page.post("/1/new", &[("to", "/memories/team/a.md"), ("text", text)]);
    assert_eq!(made.status, 303, "{}", made.text());
    assert_eq!(memory.read("/memories/team/a.md").unwrap(), "\nfirst\n<b>\u{202e}\n");
    let editor = page.get("/1/edit?path=/memories/team/a.md").text();
    assert!(editor.contains("\n\nfirst\n&lt;b&gt;"), "{editor}");
    let base = between(&editor, "name=\"base\" value=\"", "\"").to_owned();
    let edit = [("path", "/memories/team/a.md"), ("base", &base), ("text", "second\r\n")];
    assert_eq!(page.post("/1/edit", &edit).status, 303);
    assert_eq!(memory.read("/memories/team/a.md").unwrap(), "second\n");
    let renamed = [("path", "/memories/team"), ("to", "/memories/group")];
    assert_eq!(page.post("/1/rename", &renamed).status, 303);
    assert_eq!(page.post("/1/delete", &[("path", "/memories/group")]).status, 303);
    assert!(!memory.exists("/memories/group/a.md").unwrap());

    let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    assert!(versions[..4].iter().all(|version| version.actor.as_deref() == Some("Ann")));
    let undone = page.post("/1/undo", &[("id", &versions[0].change.to_string())]);
    assert_eq!(undone.status, 303, "{}", undone.text());
    assert_eq!(memory.read("/memories/group/a.md").unwrap(), "second\n");
    let deletion =
        versions.iter().find(|version| version.path.as_str() == "/memories/old.md").unwrap();
    assert_eq!(page.post("/1/restore", &[("id", &deletion.id.to_string())]).status, 303);
    assert_eq!(memory.read("/memories/old.md").unwrap(), "one\n");
    let first = versions.iter().rfind(|version| version.path.as_str().ends_with("a.md")).unwrap();
    let redacted = page.post("/1/redact", &[("id", &first.id.to_string()), ("reason", "<i>x</i>")]);
    assert_eq!(redacted.status, 303, "{}", redacted.text());
    assert_eq!(memory.read_version(first.id).unwrap_err().kind(), "redacted");
    let newest = memory.history(&memdir::history::HistoryQuery::default()).unwrap().remove(0);
    assert_eq!(newest.operation.as_str(), "redacted");
    let timeline = page.get("/1/history").text();
    for id in [newest.id, first.id] {
        assert!(!timeline.contains(&format!("restore?id={id}")), "{timeline}");
    }
    let shown = page.get(&format!("/1/version?id={}", first.id)).text();
    assert!(shown.contains("&lt;i&gt;x&lt;/i&gt;") && !shown.contains("<i>"), "{shown}");
}

#[test]
fn what_a_page_offers_to_undo_is_its_own_change() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let editor = page.get("/1/edit?path=/memories/a.md").text();
    let base = between(&editor, "name=\"base\" value=\"", "\"").to_owned();
    let save = |text| {
        let fields = [("path", "/memories/a.md"), ("base", base.as_str()), ("text", text)];
        let saved = page.post("/1/edit", &fields);
        assert_eq!(saved.status, 303, "{}", saved.text());
        page.get(saved.header("location").unwrap()).text()
    };
    let nothing = save("one\r\n");
    assert!(nothing.contains("There was nothing to do."), "{nothing}");
    assert!(!nothing.contains("/1/undo?"), "{nothing}");
    let saved = save("two\r\n");
    let newest = memory.history(&memdir::history::HistoryQuery::default()).unwrap().remove(0);
    assert_eq!(newest.actor.as_deref(), Some("Ann"));
    assert!(saved.contains(&format!("/1/undo?id={}", newest.change)), "{saved}");
}

#[test]
fn what_changed_meanwhile_is_not_overwritten_and_both_are_shown() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\r\ntwo\r\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let base = |editor: &str| between(editor, "name=\"base\" value=\"", "\"").to_owned();
    let first = base(&page.get("/1/edit?path=/memories/a.md").text());
    memory.str_replace("/memories/a.md", "two", "theirs").unwrap();

    let mine = [("path", "/memories/a.md"), ("base", &first), ("text", "one\r\nmine\r\n")];
    let conflict = page.post("/1/edit", &mine);
    assert_eq!(conflict.status, 200);
    let shown = conflict.text();
    assert!(shown.contains("theirs") && shown.contains("mine") && shown.contains("Not saved"));
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one\r\ntheirs\r\n");

    // With the text that was opened, both are merged.
    let was = [("was", "one\r\ntwo\r\n"), ("text", "mine\r\none\r\ntwo\r\n")];
    let fields = |pairs: &[(&'static str, &'static str)]| {
        let mut all = vec![("path", "/memories/a.md"), ("base", first.as_str())];
        all.extend_from_slice(pairs);
        page.post("/1/edit", &all).text()
    };
    let merged = fields(&[was[0], ("text", "one\r\nmine\r\n")]);
    assert!(merged.contains("1 place both changed the same lines"), "{merged}");
    assert!(
        merged.contains("one\n&lt;&lt;&lt;&lt;&lt;&lt;&lt; yours\nmine\n=======\ntheirs\n"),
        "{merged}"
    );
    // A text that does not have the fingerprint is none that was opened.
    let other = fields(&[("was", "other"), was[1]]);
    assert!(other.contains("Save this over it") && !other.contains("Save the merged text"));

    // Its form stands on what is there now, and the line endings stay what they were.
    let second = base(&shown);
    let again = [("path", "/memories/a.md"), ("base", &second), ("text", "one\r\nboth\r\n")];
    assert_eq!(page.post("/1/edit", &again).status, 303);
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one\r\nboth\r\n");

    memory.delete("/memories/a.md").unwrap();
    let gone = page.post("/1/edit", &again);
    assert_eq!(gone.status, 200);
    assert!(gone.text().contains("deleted or moved") && gone.text().contains("both"));
    assert!(!memory.exists("/memories/a.md").unwrap());

    memory.create("/memories/b.md", "a\rb\n").unwrap();
    let refused = page.get("/1/edit?path=/memories/b.md");
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("end in several ways"));
}

#[test]
fn marks_of_a_conflict_are_saved_only_if_they_are_meant() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let editor = page.get("/1/edit?path=/memories/a.md").text();
    let base = between(&editor, "name=\"base\" value=\"", "\"").to_owned();
    let text = "<<<<<<< yours\r\nx\r\n=======\r\none\r\n>>>>>>> there now\r\n";
    let mut fields = vec![("path", "/memories/a.md"), ("base", &base), ("text", text)];
    let asked = page.post("/1/edit", &fields);
    assert_eq!(asked.status, 200);
    assert!(asked.text().contains("still has conflict marks"), "{}", asked.text());
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one\n");
    fields.push(("marks", "1"));
    assert_eq!(page.post("/1/edit", &fields).status, 303);
    assert_eq!(memory.read("/memories/a.md").unwrap(), text.replace('\r', ""));
}

#[test]
fn a_file_that_never_was_is_not_found_and_only_text_is_edited() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\u{a0}\n").unwrap();
    memory.create("/memories/gone.md", "x").unwrap();
    memory.delete("/memories/gone.md").unwrap();
    let path = memdir::MemoryPath::parse("/memories/d.bin").unwrap();
    memory.store().write(&path, b"\xff\0", memdir::OnExisting::Error).unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    assert_eq!(page.get("/1/file?path=/memories/never.md").status, 404);
    assert_eq!(page.get("/1/file?path=/memories/gone.md").status, 200);
    // Its draft may be in the browser still.
    let gone = page.get("/1/edit?path=/memories/gone.md");
    assert_eq!(gone.status, 404);
    assert!(gone.text().contains("data-draft=\"/memories/gone.md\""));
    assert!(page.get("/1/file?path=/memories/a.md").text().contains("/1/edit?"));
    assert!(!page.get("/1/file?path=/memories/d.bin").text().contains("/1/edit?"));
    let editor = page.get("/1/edit?path=/memories/a.md").text();
    assert!(editor.contains("⟨U+00A0⟩ in line 1"), "{editor}");
}

#[test]
fn no_draft_is_kept_of_an_encrypted_memory() {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command.env("MEMDIR_ENCRYPTION_KEY", "correct horse battery staple");
    let page = Page::with(command, &[place.path().join("new").to_str().unwrap()], &[]);
    let made = page.post("/1/new", &[("to", "/memories/a.md"), ("text", "x")]);
    assert_eq!(made.status, 303);
    for address in ["/1/new", "/1/edit?path=/memories/a.md"] {
        assert!(!page.get(address).text().contains("data-draft"), "{address}");
    }
}

#[test]
fn a_memory_that_is_only_shown_cannot_be_changed() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one").unwrap();
    let version =
        memory.history(&memdir::history::HistoryQuery::default()).unwrap()[0].id.to_string();
    let store = place.path().to_str().unwrap();
    let page = Page::open(&[store], &["--read-only"]);
    for address in ["/1/", "/1/file?path=/memories/a.md", "/1/history", "/1/file"] {
        let shown = page.get(address);
        assert_eq!(shown.status, 200, "{address}");
        assert!(!shown.text().contains("method=\"post\""), "{address}");
        for word in [">Edit<", ">Delete<", ">Rename<", ">Undo<", ">Restore<", ">New<"] {
            assert!(!shown.text().contains(word), "{address}: {word}");
        }
    }
    for (asked, name, value) in [
        ("edit", "path", "/memories/a.md"),
        ("new", "path", "/memories"),
        ("rename", "path", "/memories/a.md"),
        ("delete", "path", "/memories/a.md"),
        ("restore", "id", &version),
        ("undo", "id", &version),
        ("redact", "id", &version),
    ] {
        let answer = page.get(&format!("/1/{asked}?{name}={value}"));
        assert_eq!(answer.status, 403, "{asked}");
        assert!(!answer.text().contains("name=\"token\""), "{asked}");
    }
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one");
}

#[test]
fn several_memories_are_apart_and_one_without_a_history_says_so() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    memory(Path::new(&path("a"))).create("/memories/a.md", "one").unwrap();
    let database = format!("sqlite:{}", path("b.db"));
    let other = Memory::open(&database, MemoryOptions::default()).unwrap();
    other.create("/memories/b.md", "two").unwrap();
    let page = Page::open(&[&path("a"), &database], &[]);
    assert!(page.get("/1/file").text().contains("a.md"));
    assert!(!page.get("/1/file").text().contains("b.md"));
    assert!(page.get("/2/file").text().contains("b.md"));
    assert_eq!(page.get("/3/").status, 404);
    assert!(page.get("/2/history").text().contains("No history is kept"));
    assert!(page.get("/2/delete?path=/memories/b.md").text().contains("cannot be taken back"));
    // The agent begins one.
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::open(&database, options).unwrap().create("/memories/c.md", "three").unwrap();
    assert!(page.get("/2/history").text().contains("c.md"));
}

/// The versions that a page lists, by their ids.
fn listed(page: &str) -> Vec<&str> {
    page.split("data-fragment=\"/1/diff?id=").skip(1).map(|rest| &rest[..36]).collect()
}

#[test]
fn changes_since_a_time_are_asked_for_as_on_the_command_line_and_nothing_typed_is_lost() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.acting_as("<b>\u{202e}").create("/memories/b.md", "two\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();

    for asked in [
        "since=1h",
        "since=yesterday",
        "since=&preset=today",
        "since=nonsense&preset=7d",
        "preset=1h&zone=%2B14:00",
        "since=1970-01-01",
        "since=1w&zone=nonsense",
    ] {
        // What was changed just before midnight is of yesterday.
        let shown = page.get(&format!("/1/history?{asked}")).text();
        assert!(!shown.contains("since-problem"), "{asked}: {shown}");
        assert!(listed(&shown).len() == 2 || asked.contains("today"), "{asked}: {shown}");
        let question = page.get(&format!("/1/undo?{asked}")).text();
        assert!(question.contains("All that anybody changed since"), "{asked}: {question}");
    }
    let zones = [("", "UTC"), ("+05:30", "UTC+05:30"), ("-12:00", "UTC-12:00"), ("CET", "UTC")];
    for (zone, named) in zones {
        let asked = format!("since=2001-02-03+4:05&zone={}", encoded(zone));
        for place in ["history", "undo"] {
            let shown = page.get(&format!("/1/{place}?{asked}")).text();
            assert!(shown.contains(&format!("ince 2001-02-03 04:05:00 {named}.")), "{shown}");
        }
    }
    // A time without a zone is in that of the form: what is the time of the last change in UTC is long before it, or after it, elsewhere.
    let newest = memory.history(&memdir::history::HistoryQuery::default()).unwrap().remove(0);
    let time = serde_json::to_value(newest).unwrap()["time"].as_str().unwrap().replace('Z', "");
    for (zone, count) in [("", 1), ("+00:00", 1), ("+02:00", 2), ("-02:00", 0)] {
        let asked = format!("since={}&zone={}", encoded(&time), encoded(zone));
        let shown = page.get(&format!("/1/history?{asked}")).text();
        assert_eq!(listed(&shown).len(), count, "{zone}: {shown}");
    }

    for place in ["history", "undo"] {
        for typed in ["25:00", "2 hours", "yesterday 9", "\"><script>x</script>", "2026-13-01"] {
            let asked = format!("/1/{place}?actor=nobody&since={}&zone=%2B01:00", encoded(typed));
            let answer = page.get(&asked);
            let shown = answer.text();
            assert_eq!(answer.status, 200, "{shown}");
            assert!(shown.contains("This is not a time: use a time such as 14:30,"), "{shown}");
            assert!(shown.contains("aria-describedby=\"since-problem since-help\""), "{shown}");
            assert!(shown.contains("aria-invalid=\"true\""), "{shown}");
            let escaped = typed.replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
            assert!(shown.contains(&format!("name=\"since\" value=\"{escaped}\"")), "{shown}");
            assert!(shown.contains("value=\"+01:00\""), "{shown}");
            assert!(shown.contains("<option value=\"nobody\" selected>nobody<"), "{shown}");
            // Nothing is listed or done that was not asked for.
            assert!(listed(&shown).is_empty() && !shown.contains("method=\"post\""), "{shown}");
        }
    }
    // Every actor can be chosen, and one that hides something is seen to.
    let form = page.get("/1/undo").text();
    assert!(!form.contains("since-problem") && !form.contains("method=\"post\""), "{form}");
    let hostile = "<option value=\"&lt;b&gt;\u{202e}\">&lt;b&gt;⟨U+202E⟩<";
    for part in
        ["<option value=\"session 7\">session 7<", hostile, "<option value=\"\" selected>Anybody<"]
    {
        assert!(form.contains(part), "{part} in {form}");
    }
    assert!(page.get("/1/undo?since=").text().contains("Say since when."));
}

#[test]
fn all_that_an_actor_did_is_taken_back_since_the_very_time_that_was_shown() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let other = memory.acting_as("session 8");
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    memory.create("/memories/a.md", "one\n").unwrap();
    other.create("/memories/b.md", "two\n").unwrap();
    let question = page.get("/1/undo?actor=session%207&since=1h&zone=-03:00").text();
    assert!(question.contains("deleted</span>") && question.contains("a.md"), "{question}");
    let form = question.split("method=\"post\"").nth(1).unwrap();
    let since = between(form, "name=\"since\" value=\"", "\"");
    assert!(since.starts_with("20") && since.ends_with('Z'), "{since}");
    let undone = page.post("/1/undo", &[("since", since), ("actor", "session 7")]);
    assert_eq!(undone.status, 303, "{}", undone.text());
    assert!(!memory.exists("/memories/a.md").unwrap());
    assert!(memory.exists("/memories/b.md").unwrap());
    let location = undone.header("location").unwrap();
    assert!(page.get(location).text().contains("Taken back."), "{location}");

    // What a later change stands on is said below the form, in which everything is still there.
    other.create("/memories/c.md", "one\n").unwrap();
    memory.write("/memories/c.md", "two\n", None).unwrap();
    let asked = "/1/undo?actor=session%208&since=30m&zone=";
    let conflict = page.get(asked).text();
    assert!(conflict.contains("Later changes stand on it:"), "{conflict}");
    assert!(conflict.contains("name=\"since\" value=\"30m\""), "{conflict}");
    assert!(conflict.contains("<option value=\"session 8\" selected>"), "{conflict}");
    let refused = page.post("/1/undo", &[("since", "30m"), ("actor", "session 8")]);
    assert_eq!(refused.status, 200);
    assert!(refused.text().contains("Later changes stand on it:"));
    for since in ["", "nonsense"] {
        let refused = page.post("/1/undo", &[("since", since), ("actor", "session 8")]);
        assert_eq!(refused.status, 200, "{since}");
        assert!(refused.text().contains("since-problem"), "{since}");
    }
    assert_eq!(memory.read("/memories/c.md").unwrap(), "two\n");
}

#[test]
fn links_of_lists_are_named_by_what_they_are_about() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/notes.md", "one\n").unwrap();
    memory.str_replace("/memories/notes.md", "one", "two").unwrap();
    memory.create("/memories/dir/a.md", "a\n").unwrap();
    memory.create("/memories/dir/\"b\u{200b}.md", "b\n").unwrap();
    memory.delete("/memories/dir").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let shown = page.get("/1/history").text();
    let hostile = "dir/&quot;b⟨U+200B⟩.md";
    for name in [
        "Undo the deletion of 2 files by session 7".to_owned(),
        "Undo the edit of notes.md by session 7".to_owned(),
        format!("Undo the creation of {hostile} by session 7"),
        "Version after the edit of notes.md by session 7".to_owned(),
        "What changed: the creation of notes.md by session 7".to_owned(),
        "Restore notes.md as it was after the creation by session 7".to_owned(),
        "Redact notes.md as it was after the creation by session 7".to_owned(),
        format!("Restore {hostile} as it was before the deletion by session 7"),
    ] {
        assert!(shown.contains(&format!("aria-label=\"{name}\"")), "{name} in {shown}");
    }
    // Every link of a version has such a name, and is described by when that was, which is there once.
    for word in ["Undo", "Version", "Restore", "Redact", "What changed"] {
        for link in shown.split(&format!(">{word}<")).collect::<Vec<_>>().split_last().unwrap().1 {
            let tag = &link[link.rfind('<').unwrap()..];
            assert!(tag.contains(&format!("aria-label=\"{word}")), "{tag}");
            let when = between(tag, "aria-describedby=\"", "\"");
            assert_eq!(shown.matches(&format!(" id=\"{when}\"")).count(), 1, "{tag}");
        }
    }
    let overview = page.get("/1/").text();
    let deleted = overview.split("id=\"deleted\"").nth(1).unwrap();
    assert!(
        deleted
            .contains("aria-label=\"Restore dir/a.md as it was before the deletion by session 7\"")
    );
    let gone = page.post("/1/delete", &[("path", "/memories/notes.md")]);
    let banner = page.get(gone.header("location").unwrap()).text();
    assert!(banner.contains("aria-label=\"Undo the deletion of notes.md by Ann\""), "{banner}");
}

#[test]
fn what_is_searched_for_is_marked_where_it_is_found_and_where_it_leads() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let text = "one\nthe <b>Tea</b> and tea\u{202e}\n";
    memory.create("/memories/tea.md", text).unwrap();
    memory.create("/memories/old.txt", "x\nold TEA\n").unwrap();
    memory.write("/memories/old.txt", "x\n", None).unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let marks = |text: &str| {
        text.split("<mark>")
            .skip(1)
            .map(|rest| between(rest, "", "</mark>").to_owned())
            .collect::<Vec<_>>()
    };
    let found = page.get("/1/search?q=tea&past=1").text();
    assert_eq!(marks(&found), ["tea", "Tea", "tea", "TEA"], "{found}");
    // Case matters if it is asked for, and what is marked is never markup.
    assert_eq!(marks(&page.get("/1/search?q=Tea&case=1").text()), ["Tea"]);
    let markup = page.get("/1/search?q=%3Cb%3E").text();
    assert_eq!(marks(&markup), ["&lt;b&gt;"], "{markup}");
    assert_eq!(marks(&page.get("/1/search?q=t.a&regex=1").text()), ["tea", "Tea", "tea"]);
    for link in found.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let Some((address, line)) = link
            .replace("&amp;", "&")
            .split_once('#')
            .map(|(one, two)| (one.to_owned(), two.to_owned()))
        else {
            continue;
        };
        if !line.starts_with('L') {
            continue;
        }
        let opened = page.get(&address).text();
        let there = opened.split(&format!("id=\"{line}\"")).nth(1).expect(&address);
        let there = there.split("id=\"L").next().unwrap();
        assert!(marks(there).iter().all(|mark| mark.eq_ignore_ascii_case("tea")), "{there}");
        assert!(!marks(there).is_empty(), "{address}: {there}");
        assert!(!opened.contains("<details class=\"content\" id=\"content\">"), "{opened}");
    }
    // An address that searches for what cannot be marks nothing.
    let opened = page.get("/1/file?path=/memories/tea.md&view=source&q=(&regex=1");
    assert_eq!((opened.status, marks(&opened.text()).len()), (200, 0));
    // A search for it shows what was typed and what is wrong with it.
    let wrong = page.get("/1/search?q=(&regex=1");
    assert_eq!(wrong.status, 200);
    assert!(wrong.text().contains(r#"name="q" value="(""#), "{}", wrong.text());
    assert!(wrong.text().contains("q-problem"), "{}", wrong.text());
    // A line of nothing but matches is marked up to a limit, and shown whole.
    memory.create("/memories/long.txt", &"a".repeat(20_000)).unwrap();
    let opened = page.get("/1/file?path=/memories/long.txt&view=source&q=a").text();
    assert_eq!(marks(&opened).len(), 5_000);
    assert!(opened.contains(&"a".repeat(15_000)));
}

#[test]
fn two_versions_of_a_file_are_compared_at_an_address_of_their_own() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    for count in 0..55 {
        memory.write("/memories/a.md", &format!("kept\n{count}\n"), None).unwrap();
    }
    memory.create("/memories/b/c.md", "c\n").unwrap();
    memory.create("/memories/b/d.md", "d\n").unwrap();
    memory.delete("/memories/b").unwrap();
    let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    assert!(!page.get("/1/history").text().contains("type=\"radio\""));
    assert!(!page.get("/1/history?path=/memories/b").text().contains("type=\"radio\""));
    let shown = page.get("/1/history?path=/memories/a.md").text();
    let checked = |shown: &str| -> Vec<String> {
        let radios = shown
            .split("<input type=\"radio\"")
            .skip(1)
            .map(|rest| rest.split('>').next().unwrap());
        let checked = radios.filter(|radio| radio.contains(" checked"));
        checked
            .map(|radio| {
                format!("{} {}", between(radio, "name=\"", "\""), between(radio, "value=\"", "\""))
            })
            .collect()
    };
    let ids = listed(&shown);
    assert_eq!(ids.len(), 50);
    assert_eq!(checked(&shown), [format!("other {}", ids[0]), format!("id {}", ids[1])]);

    // Both sides, in both layouts, from the older to the newer one, whichever is named first.
    let (new, old) = (ids[0], ids[49]);
    for (one, two) in [(old, new), (new, old)] {
        for layout in ["inline", "side"] {
            let address =
                format!("/1/compare?path=/memories/a.md&id={one}&other={two}&diff={layout}");
            let answer = page.get(&address);
            let shown = answer.text();
            assert_eq!(answer.status, 200, "{shown}");
            let (removed, added) = (
                shown.find("<code><bdi>5</bdi>").unwrap(),
                shown.find("<code><bdi>54</bdi>").unwrap(),
            );
            assert!(removed < added && shown.contains("kept"), "{shown}");
            assert_eq!(shown.contains("<table class=\"side\""), layout == "side");
            let other = if layout == "side" { "inline" } else { "side" };
            assert!(
                shown.contains(&format!("compare?id={old}&amp;other={new}&amp;diff={other}")),
                "{shown}"
            );
        }
    }
    // What is chosen is still chosen on a page of older versions.
    let further =
        format!("/1/history?path=/memories/a.md&before={old}&id={}&other={}", ids[7], ids[3]);
    let further = page.get(&further).text();
    assert_eq!(listed(&further).len(), 5);
    assert_eq!(checked(&further), [format!("id {}", ids[7]), format!("other {}", ids[3])]);
    assert!(further.contains("chosen on another page"), "{further}");
    // A deletion is a version without content.
    let deletion = versions
        .iter()
        .find(|version| version.size.is_none() && version.path.as_str().ends_with("c.md"))
        .unwrap();
    let creation = versions.iter().rfind(|version| version.path == deletion.path).unwrap();
    let shown = page.get(&format!("/1/compare?id={}&other={}", creation.id, deletion.id)).text();
    assert!(shown.contains("class=\"removed\""), "{shown}");

    let unknown = "01990a3c-7c00-7123-8456-789abc000001";
    for (asked, sentence) in [
        (String::new(), "One version alone cannot be compared."),
        (format!("id={new}"), "One version alone cannot be compared."),
        (format!("other={new}"), "&quot;&quot; is not the id of a version or a change."),
        (
            format!("id={new}&other=x%3Cb%3E"),
            "&quot;x&lt;b&gt;&quot; is not the id of a version or a change.",
        ),
        (format!("id={unknown}&other={new}"), "there is no version or change 01990a3c"),
        (format!("id={new}&other={new}"), "This is the same version twice."),
        (format!("id={new}&other={}", deletion.change), "This change made several versions"),
    ] {
        for path in ["", "&path=/memories/a.md", "&path=../x"] {
            let answer = page.get(&format!("/1/compare?{asked}{path}"));
            let shown = answer.text();
            assert_eq!(answer.status, 404, "{asked}: {shown}");
            assert!(shown.contains(sentence), "{asked}: {shown}");
            assert!(shown.contains("Timeline") && shown.contains("Nothing to compare"), "{shown}");
        }
    }
    // A redacted version cannot be chosen, and an address that names it does not show what it held.
    memory.redact(versions[versions.len() - 2].id, "held a password").unwrap();
    let redacted = versions[versions.len() - 2].id.to_string();
    let shown = page.get(&format!("/1/compare?id={redacted}&other={new}"));
    assert_eq!(shown.status, 404);
    assert!(shown.text().contains("the content was redacted: held a password"));
    let further = page.get(&format!("/1/history?path=/memories/a.md&before={old}")).text();
    assert!(!further.contains(&format!("type=\"radio\" name=\"id\" value=\"{redacted}")));
}

#[test]
fn a_stream_tells_the_changes_of_several_memories_each_with_its_number() {
    let place = tempfile::tempdir().unwrap();
    let stores: Vec<String> =
        ["a", "b", "c"].map(|name| place.path().join(name).to_str().unwrap().to_owned()).into();
    let memories: Vec<Memory> = stores.iter().map(|store| memory(Path::new(store))).collect();
    let stores: Vec<&str> = stores.iter().map(String::as_str).collect();
    let page = Page::open(&stores, &[]);
    // Each once, in any order; a number that is none's is left out.
    let mut told = events(&page, "3,1,3,1,9,x,");
    let mut first = [told.next().unwrap(), told.next().unwrap()];
    first.sort();
    let look_again = r#"{"changes":[]}"#.to_owned();
    assert_eq!(first, [("1".to_owned(), look_again.clone()), ("3".to_owned(), look_again)]);
    memories[1].create("/memories/unseen.md", "").unwrap();
    for (number, name) in [(3, "in-c.md"), (1, "in-a.md")] {
        memories[number - 1].create(&format!("/memories/{name}"), "").unwrap();
        let (of, said) = told.next().unwrap();
        assert_eq!(of, number.to_string(), "{said}");
        assert!(said.contains(name), "{said}");
    }
    for none in ["9", "0", "x", ",", "1-3", "18446744073709551616"] {
        assert_eq!(page.get(&format!("/{none}/changes")).status, 404, "{none}");
    }
}

#[test]
fn what_another_process_changes_is_told_to_a_page_that_listens() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let mut told = listening(&page);
    let mut next = || told.next().unwrap();
    assert_eq!(next(), r#"{"changes":[]}"#);
    // From then on everything is seen.
    memory.create("/memories/a.md", "one").unwrap();
    let told = next();
    assert!(told.contains(r#""kind":"written""#) && told.contains("/memories/a.md"), "{told}");
    // A second page is told at once that all is seen, and both are told of the next change.
    let mut second = listening(&page);
    assert_eq!(second.next().unwrap(), r#"{"changes":[]}"#);
    memory.delete("/memories/a.md").unwrap();
    for told in [next(), second.next().unwrap()] {
        assert!(told.contains(r#""kind":"deleted""#), "{told}");
    }
}

/// What a page is told.
pub(crate) fn listening(page: &Page) -> impl Iterator<Item = String> + use<> {
    listening_to(page, 1)
}

fn listening_to(page: &Page, memory: usize) -> impl Iterator<Item = String> + use<> {
    events(page, &memory.to_string()).map(|(_, said)| said)
}

/// What a page is told of some memories, each time with the number of the memory.
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

#[test]
fn a_form_that_is_too_large_is_refused_with_a_sentence() {
    let place = tempfile::tempdir().unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let body =
        format!("token={}&to=%2Fmemories%2Fa&text={}", page.token(), "x".repeat((193 << 20) + 1));
    let answer = page.form("/1/new", &body, &[page.host(), page.cookie(), page.origin()]);
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("too large"));
}

/// No request breaks the server, and none but a form of the page changes anything.
/// A file is where the directory of another one was: a person is told, and nothing breaks.
#[test]
fn what_is_in_the_way_of_a_restored_file_is_said() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/b/c.txt", "one").unwrap();
    memory.delete("/memories/b").unwrap();
    memory.create("/memories/b", "two").unwrap();
    let before = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let (deleted, created) = (&before[1], &before[2]);
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    for (asked, id, others) in [
        ("restore", created.id, &[][..]),
        ("restore", deleted.id, &[("overwrite", "1")]),
        ("restore", deleted.change, &[]),
        ("undo", deleted.change, &[]),
    ] {
        let id = id.to_string();
        let answer = page.post(&format!("/1/{asked}"), &[&[("id", &*id)][..], others].concat());
        let shown = answer.text();
        assert_eq!(answer.status, 200, "{asked}: {shown}");
        assert!(shown.contains("Nothing was changed"), "{asked}: {shown}");
        assert!(shown.contains("Something else is in the way:"), "{asked}: {shown}");
        assert!(!shown.contains("Later changes stand on it"), "{asked}: {shown}");
        assert!(shown.contains("/1/file?path=/memories/b\""), "{asked}: {shown}");
        let question = page.get(&format!("/1/{asked}?id={id}"));
        assert_eq!(question.status, 200, "{asked}");
    }
    assert_eq!(memory.history(&memdir::history::HistoryQuery::default()).unwrap(), before);
}

#[test]
fn no_request_breaks_it() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "# One\n<script>alert(1)</script>\n").unwrap();
    memory.create("/memories/b/c.txt", "two\n").unwrap();
    memory.str_replace("/memories/b/c.txt", "two", "three").unwrap();
    memory
        .store()
        .write(
            &memdir::MemoryPath::parse("/memories/d.bin").unwrap(),
            b"\xff\0",
            memdir::OnExisting::Error,
        )
        .unwrap();
    let before = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let ids: Vec<_> = before.iter().flat_map(|version| [version.id, version.change]).collect();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let token = page.token();

    let known = [
        "",
        "file",
        "branch",
        "image",
        "download",
        "history",
        "version",
        "diff",
        "compare",
        "search",
        "sensitive",
        "edit",
        "new",
        "rename",
        "delete",
        "restore",
        "undo",
        "redact",
        "open/x",
        "%2e%2e",
    ];
    let names = [
        "path",
        "view",
        "from",
        "q",
        "regex",
        "case",
        "past",
        "id",
        "other",
        "diff",
        "actor",
        "since",
        "preset",
        "zone",
        "before",
        "token",
        "text",
        "base",
        "was",
        "marks",
        "to",
        "reason",
        "overwrite",
        "done",
        "x",
    ];
    let id = proptest::sample::select(ids).prop_map(|id| id.to_string());
    let value = prop_oneof![
        proptest::sample::select(vec![
            "/memories",
            "/memories/a.md",
            "/memories/b",
            "/memories/../x",
            "/etc",
            "side",
            "1",
            "18446744073709551615",
            "-1",
            "2026-01-01",
            "9999-12-31",
            "23:59",
            "yesterday 9:00",
            "99999999999w",
            "-23:59",
            "(",
            "[",
            "saved",
            "",
            "\0"
        ])
        .prop_map(str::to_owned),
        id,
        ".{0,40}",
        "[0-9a-f-]{30,40}",
    ];
    let parameters =
        proptest::collection::vec((proptest::sample::select(names.to_vec()), value), 0..5);
    let request = (
        proptest::sample::select(known.to_vec()),
        "(1|1|1|1|2|0|x|18446744073709551616|%31)",
        parameters,
        proptest::sample::select(vec!["GET", "GET", "GET", "HEAD", "POST", "DELETE", "BREW"]),
        any::<bool>(),
    );
    let mut runner = TestRunner::new(effort::cases(150));
    runner
        .run(&request, |(path, memory, parameters, method, is_raw)| {
            let fields = parameters.iter().map(|(name, value)| {
                let value = if is_raw {
                    value.chars().filter(char::is_ascii_graphic).collect()
                } else {
                    utf8_percent_encode(value, NON_ALPHANUMERIC).to_string()
                };
                format!("{name}={value}")
            });
            let query = fields.collect::<Vec<_>>().join("&");
            let answer = if method == "POST" {
                // Without the token.
                let others = [page.host(), page.cookie(), page.origin()];
                page.form(&format!("/{memory}/{path}"), &query, &others)
            } else {
                let address = format!("{method} /{memory}/{path}?{query} HTTP/1.1");
                page.raw(&[address, page.host(), page.cookie()], b"")
            };
            prop_assert!(answer.status < 500, "{} {}", answer.status, answer.text());
            prop_assert!(!String::from_utf8_lossy(&answer.body).contains("<script>"));
            Ok(())
        })
        .unwrap();
    let after = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    assert_eq!(before, after);

    // With it, changes are made: the memory stays whole, and nothing breaks.
    let fields = (
        proptest::sample::select(vec![
            "edit", "new", "rename", "delete", "restore", "undo", "redact",
        ]),
        proptest::collection::vec((proptest::sample::select(names.to_vec()), ".{0,30}"), 0..4),
        proptest::sample::select(vec![
            "/memories/a.md",
            "/memories/b",
            "/memories/e/f.md",
            "/memories",
            "x",
            "",
        ]),
        proptest::sample::select(
            before.iter().map(|version| version.id.to_string()).collect::<Vec<_>>(),
        ),
    );
    let mut runner = TestRunner::new(effort::cases(100));
    runner
        .run(&fields, |(asked, others, path, id)| {
            let encoded = |value: &str| utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
            let mut body = format!("token={token}");
            for (name, value) in
                [("path", path), ("to", path), ("id", id.as_str()), ("reason", "x"), ("text", "y")]
            {
                if !others.iter().any(|(other, _)| other == &name) {
                    body += &format!("&{name}={}", encoded(value));
                }
            }
            for (name, value) in &others {
                if *name != "token" && !body.contains(&format!("&{name}=")) {
                    body += &format!("&{name}={}", encoded(value));
                }
            }
            let answer = page.form(
                &format!("/1/{asked}"),
                &body,
                &[page.host(), page.cookie(), page.origin()],
            );
            prop_assert!(
                answer.status < 500,
                "{} {asked} {body}: {}",
                answer.status,
                answer.text()
            );
            Ok(())
        })
        .unwrap();
    assert_eq!(page.get("/1/").status, 200);
    let checked = memdir::check(memory.store(), &mut |problem| panic!("{problem:?}"));
    assert!(checked.is_ok());
}

/// What is not on this machine is only shown, its address without its password, unless it is asked for otherwise.
#[cfg(feature = "postgres")]
#[test]
fn the_tree_is_open_down_to_what_is_shown() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/dir/sub/deep/a.md", "x").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let shown = page.get("/1/file?path=/memories/dir/sub").text();
    let open: Vec<_> = shown.split("aria-expanded=\"").skip(1).collect();
    let are = open.iter().map(|part| part.starts_with("true")).collect::<Vec<_>>();
    // `dir`, which is above it, itself, and what is below.
    assert_eq!(are, [true, true, false], "{shown}");
}

#[test]
fn a_database_on_a_server_is_only_shown() {
    let Some(server) = postgres::server() else { return };
    let address = server.address("page");
    let password = between(&address, "postgres://memdir:", "@");
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::open(&address, options).unwrap();
    memory.create("/memories/a.md", "one").unwrap();

    let place = tempfile::tempdir().unwrap();
    let local = place.path().to_str().unwrap();
    let open = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.env("STORE", &address);
        Page::with(command, &[local, "env:STORE"], arguments)
    };
    let page = open(&[]);
    let shown = page.get("/2/file").text();
    assert!(shown.contains("a.md") && shown.contains("read-only"), "{shown}");
    assert!(!password.is_empty() && !shown.contains(password), "{shown}");
    // The token of the memory that may be changed is that of the page, and does not help.
    for asked in ["delete", "edit", "rename", "undo", "restore", "redact", "new"] {
        let fields = [("path", "/memories/a.md"), ("to", "/memories/b.md"), ("reason", "x")];
        assert_eq!(page.post(&format!("/2/{asked}"), &fields).status, 403, "{asked}");
    }
    assert_eq!(memory.list("/memories", None).unwrap().len(), 1);
    let mut told = listening_to(&page, 2);
    assert_eq!(told.next().unwrap(), r#"{"changes":[]}"#);
    memory.create("/memories/b.md", "two").unwrap();
    assert!(told.next().unwrap().contains("/memories/b.md"));

    let page = open(&["--writable"]);
    assert_eq!(page.post("/2/delete", &[("path", "/memories/a.md")]).status, 303);
    assert!(!memory.exists("/memories/a.md").unwrap());
}
