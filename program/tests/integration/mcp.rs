//! `memdir mcp` as seen by a client without an SDK: its tools and resources, notifications of changes, and limits for its
//! clients. The official clients are in `tests/mcp` and in `bindings-python/tests/test_mcp.py`.
#![cfg(all(feature = "mcp", feature = "sqlite", unix))]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a panic is how a test fails"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::common::crowd::{CROWD, answer, crowd, with_descriptors};
use crate::common::postgres;
use crate::common::program::{NO_MEMORY, memdir, said, well};
use memdir::command::{Dialect, tool_definition, tool_definitions};
use memdir::{Memory, MemoryOptions};
use serde_json::{Value, json};

/// Much longer than anything takes here.
const LONG: Duration = Duration::from_secs(60);

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }})
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn ask(id: u64, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method})
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// A server on standard input and output, with a session.
struct Streams {
    process: Child,
    input: ChildStdin,
    output: Receiver<Value>,
    hello: Value,
}

impl Drop for Streams {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Streams {
    fn open(place: &Path, arguments: &[&str]) -> Self {
        let mut process = memdir(place)
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, lines) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let said = BufReader::new(lines).lines().map_while(Result::ok);
            said.map(|line| serde_json::from_str(&line).unwrap())
                .try_for_each(|said| sender.send(said))
        });
        let mut streams = Self { process, input, output, hello: Value::Null };
        streams.hello = streams.ask(&hello());
        streams.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        streams
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// The next message that matches; others are skipped.
    fn next(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let said = self.output.recv_timeout(LONG).unwrap();
            if wanted(&said) {
                return said;
            }
        }
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.next(|said| said["id"] == message["id"] && said["method"].is_null())
    }

    fn notified(&self, method: &str) -> Value {
        self.next(|said| said["method"] == method)
    }
}

/// A server over HTTP.
struct Http {
    process: Child,
    port: u16,
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Http {
    fn open(mut command: Command, store: &str, arguments: &[&str]) -> Self {
        let mut process = command
            .args(["mcp", store, "--http=127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("memdir: serving http://127.0.0.1:").expect(&line);
        let port = address.strip_suffix("/mcp").unwrap().parse().unwrap();
        Self { process, port }
    }

    /// The status, the session, and the last message of the answer, if there is one.
    fn post(&self, session: Option<&str>, message: &Value) -> (u16, Option<String>, Option<Value>) {
        let session = session.map(|session| format!("Mcp-Session-Id: {session}"));
        let mut head = vec![
            "POST /mcp HTTP/1.1",
            "Host: 127.0.0.1",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
        ];
        head.extend(session.as_deref());
        let (status, head, body) = answer(self.port, &head, message.to_string().as_bytes());
        let session =
            head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).map(str::to_owned);
        let body = String::from_utf8(body).unwrap();
        let said = body.lines().filter_map(|line| line.strip_prefix("data: "));
        (status, session, said.filter_map(|said| serde_json::from_str(said).ok()).next_back())
    }

    /// Begins a session.
    fn begin(&self) -> String {
        let (status, session, said) = self.post(None, &hello());
        assert_eq!(
            (status, &said.unwrap()["result"]["serverInfo"]["name"]),
            (200, &json!("memdir"))
        );
        let session = session.unwrap();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(Some(&session), &initialized).0, 202);
        session
    }

    fn call(&self, session: &str, tool: &str, arguments: &Value) -> Value {
        let (status, _, said) = self.post(Some(session), &call(1, tool, arguments));
        assert_eq!(status, 200);
        said.unwrap()
    }

    /// Checks that a new client can use the memory.
    fn serves(&self) {
        let session = self.begin();
        let said = self.call(&session, "view", &json!({"path": "/memories"}));
        assert!(text(&said).starts_with("Here're the files"), "{said}");
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_memdir"))
}

#[test]
fn clients_that_keep_it_waiting_shut_nobody_out() {
    let place = tempfile::tempdir().unwrap();
    let server = Http::open(program(), place.path().to_str().unwrap(), &[]);
    let idle = crowd(server.port, CROWD, "");
    server.serves();
    let within = crowd(server.port, CROWD, "POST /mcp HTTP/1.1\r\nHost: ");
    server.serves();
    drop((idle, within));
}

#[test]
fn few_descriptors_are_enough() {
    let place = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", place.path().join("a.db").display());
    let server = Http::open(with_descriptors(256), &store, &[]);
    let idle = crowd(server.port, 300, "");
    server.serves();
    drop(idle);
}

#[test]
fn sessions_that_are_left_make_room() {
    let place = tempfile::tempdir().unwrap();
    let server = Http::open(program(), place.path().to_str().unwrap(), &[]);
    let first = server.begin();
    assert!(server.post(Some(&first), &ask(1, "ping")).2.unwrap()["result"].is_object());
    let left: Vec<_> = (0..300).map(|_| server.post(None, &hello()).1.unwrap()).collect();
    server.serves();
    // An unknown session is reported as the protocol requires, and the client may begin again.
    for gone in [&first, &left[0], &left[40]] {
        assert_eq!(server.post(Some(gone), &ask(1, "ping")).0, 404);
    }
    // The newest 256 are there, including the one in the line above.
    assert_eq!(
        server
            .post(
                Some(&left[299]),
                &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
            )
            .0,
        202
    );
    server.serves();
}

#[test]
fn a_text_of_the_largest_size_arrives() {
    let place = tempfile::tempdir().unwrap();
    let most = 16 << 20;
    let size = |name: &str| {
        std::fs::metadata(place.path().join("memories").join(name)).map(|found| found.len()).ok()
    };
    let create =
        |name: &str, text: &str| json!({"path": format!("/memories/{name}"), "file_text": text});

    let server = Http::open(program(), place.path().to_str().unwrap(), &[]);
    let session = server.begin();
    let said = server.call(&session, "create", &create("a", &"a".repeat(most)));
    assert_eq!(text(&said), "File created successfully at: /memories/a");
    assert_eq!(size("a"), Some(most as u64));
    // One byte more is accepted here and refused by the memory.
    let said = server.call(&session, "create", &create("b", &"a".repeat(most + 1)));
    assert_eq!((said["result"]["isError"].as_bool(), size("b")), (Some(true), None));
    // Each byte is written with six.
    let said = server.call(&session, "create", &create("c", &"\u{7}".repeat(3 << 20)));
    assert_eq!((said["result"]["isError"].as_bool(), size("c")), (Some(false), Some(3 << 20)));

    let mut streams = Streams::open(place.path(), &["."]);
    let said = streams.ask(&call(1, "create", &create("d", &"\u{7}".repeat(3 << 20))));
    assert_eq!((said["result"]["isError"].as_bool(), size("d")), (Some(false), Some(3 << 20)));
}

#[test]
fn changes_that_wait_for_a_lock_leave_room_for_those_who_look() {
    let place = tempfile::tempdir().unwrap();
    let mut streams = Streams::open(place.path(), &["sqlite:a.db", "--lock-timeout", "none"]);
    let lock = rusqlite::Connection::open(place.path().join("a.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    for number in 1..=200 {
        let create = json!({"path": format!("/memories/{number}"), "file_text": "one"});
        streams.send(&call(number, "create", &create));
    }
    streams.send(&ask(1_000, "ping"));
    streams.send(&call(1_001, "view", &json!({"path": "/memories"})));
    streams.send(&ask(1_002, "resources/list"));
    let mut first: Vec<_> =
        (0..3).map(|_| streams.next(|_| true)["id"].as_u64().unwrap()).collect();
    first.sort_unstable();
    assert_eq!(first, [1_000, 1_001, 1_002]);
    lock.execute_batch("COMMIT").unwrap();
    for _ in 0..200 {
        let said = streams.next(|said| said["id"].is_u64());
        assert!(text(&said).starts_with("File created successfully"), "{said}");
    }
}

/// Another process changes a memory that a client watches.
fn is_told_of_what_others_change(place: &Path, arguments: &[&str], other: &Memory) -> Streams {
    other.create("/memories/a.md", "one").unwrap();
    let mut streams = Streams::open(place, arguments);
    assert!(streams.ask(&subscription("subscribe"))["result"].is_object());
    other.str_replace("/memories/a.md", "one", "three").unwrap();
    assert_eq!(streams.notified("notifications/resources/updated")["params"]["uri"], FOLLOWED);
    streams.notified("notifications/resources/list_changed");
    // A change of a file without a subscription is only a change of the list.
    other.create("/memories/b.md", "one").unwrap();
    let mut said = streams.next(|said| said["id"].is_null());
    if said["method"] == "notifications/resources/updated" {
        // If the watch has begun late, it says that anything may have changed.
        streams.notified("notifications/resources/list_changed");
        said = streams.next(|said| said["id"].is_null());
    }
    assert_eq!(said["method"], "notifications/resources/list_changed");
    streams
}

const FOLLOWED: &str = "memdir:///memories/a.md";

fn subscription(what: &str) -> Value {
    let method = format!("resources/{what}");
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"uri": FOLLOWED}})
}

#[test]
fn what_others_change_in_sqlite_is_told() {
    for options in [&[][..], &["--history"]] {
        let place = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", place.path().join("a.db").display());
        let other = Memory::open(&address, MemoryOptions::default()).unwrap();
        let arguments = [&["sqlite:a.db"], options].concat();
        let mut streams = is_told_of_what_others_change(place.path(), &arguments, &other);
        // A deletion is a change, too. A cancelled subscription gets no notification.
        other.delete("/memories/a.md").unwrap();
        streams.notified("notifications/resources/updated");
        streams.notified("notifications/resources/list_changed");
        assert!(streams.ask(&subscription("unsubscribe"))["result"].is_object());
        // The client is notified of the server's own changes as well.
        streams.send(&call(3, "create", &json!({"path": "/memories/a.md", "file_text": "one"})));
        let said = streams.next(|said| said["id"].is_null());
        assert_eq!(said["method"], "notifications/resources/list_changed");
    }
}

#[test]
fn what_others_change_in_a_directory_is_told() {
    let place = tempfile::tempdir().unwrap();
    let address = place.path().join("memory").display().to_string();
    let other = Memory::open(&address, MemoryOptions::default()).unwrap();
    is_told_of_what_others_change(place.path(), &["./memory"], &other);
}

#[test]
fn what_others_change_in_postgresql_is_told() {
    let Some(server) = postgres::server() else { return };
    let place = tempfile::tempdir().unwrap();
    let address = server.address("told");
    let other = Memory::open(&address, MemoryOptions::default()).unwrap();
    is_told_of_what_others_change(place.path(), &[&address], &other);
}

#[test]
fn what_is_no_message_is_answered_and_the_next_is_served() {
    let place = tempfile::tempdir().unwrap();
    let mut streams = Streams::open(place.path(), &[]);
    let nested = format!(r#"{{"id":4,"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let lines: [(&[u8], i64, Value); 6] = [
        (
            br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"\ud83d"}}"#,
            -32700,
            json!(2),
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"params\":\"\xff\"}",
            -32700,
            json!(3),
        ),
        (nested.as_bytes(), -32700, json!(4)),
        (br#"{"jsonrpc":"2.0","id":5,"method":"tools/call""#, -32700, Value::Null),
        (b"[]", -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":6,"method":"no/such/method"}"#, -32601, json!(6)),
    ];
    for (line, code, id) in lines {
        streams.input.write_all(&[line, b"\n"].concat()).unwrap();
        let answer = streams.next(|said| said.get("error").is_some());
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
    }
    // Wrong arguments of a tool get a reply for the model; arguments that are not an object are a protocol error.
    for arguments in [json!([1]), json!("a"), json!(1)] {
        let answer = streams.ask(&call(7, "view", &arguments));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let answer = streams.ask(&call(8, "view", &json!({"path": "/memories"})));
    assert!(text(&answer).starts_with("Here're the files"), "{answer}");
}

#[test]
fn hidden_files_and_foreign_uris_are_not_subscribed_to() {
    let place = tempfile::tempdir().unwrap();
    let mut streams = Streams::open(place.path(), &["."]);
    for uri in [
        "memdir:///memories/.hidden",
        "memdir:///memories/node_modules/a",
        "file:///etc/passwd",
        "",
    ] {
        let subscribe = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": uri}});
        let said = streams.ask(&subscribe);
        assert_eq!(said["error"]["message"], "This resource cannot be subscribed to", "{uri}");
    }
}

#[test]
fn stores_are_mounted_into_one() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("docs")).unwrap();
    std::fs::write(place.path().join("docs/style.md"), "Be brief.\n").unwrap();
    let mounts = ["./memory", "--mount", "/memories/team=sqlite:team.db"];
    let fixed = ["--mount-read-only", "/memories/handbook=./docs", "--history"];
    let mut streams = Streams::open(place.path(), &[&mounts[..], &fixed].concat());
    let instructions = streams.hello["result"]["instructions"].as_str().unwrap().to_owned();
    let names = "These can be viewed but not changed: /memories/handbook.";
    assert!(instructions.ends_with(names), "{instructions}");
    let mut create = |path: &str| {
        let said = streams.ask(&call(1, "create", &json!({"path": path, "file_text": "one"})));
        (said["result"]["isError"].as_bool().unwrap(), text(&said).to_owned())
    };
    assert!(!create("/memories/a.md").0 && !create("/memories/team/plan.md").0);
    let (is_error, said) = create("/memories/handbook/new.md");
    assert!(is_error && said.contains("is read-only"), "{said}");
    let said = streams.ask(&call(2, "view", &json!({"path": "/memories/handbook/style.md"})));
    assert!(text(&said).ends_with("Be brief."), "{said}");
    assert!(place.path().join("memory/memories/a.md").exists());
    drop(streams);
    let team = format!("sqlite:{}", place.path().join("team.db").display());
    assert!(
        Memory::open(&team, MemoryOptions::default()).unwrap().exists("/memories/plan.md").unwrap()
    );
    assert!(!place.path().join("docs/new.md").exists());
    // The history of each store is next to its files.
    for (store, path) in [("./memory", "/memories/a.md"), ("sqlite:team.db", "/memories/plan.md")] {
        let log = well(place.path(), &["log", store]);
        assert!(log.lines().count() == 1 && log.trim_end().ends_with(path), "{store}: {log}");
    }
    assert_eq!(std::fs::read_dir(place.path().join("docs")).unwrap().count(), 1);

    let fails = |arguments: &[&str]| {
        let (code, output, why) = said_of(place.path(), arguments);
        assert_eq!(output, "");
        (code, why)
    };
    assert_eq!(
        fails(&["--mount", "x"]),
        (
            2,
            "memdir: --mount is wrong: use PATH=STORE, such as /memories/team=sqlite:team.db\n"
                .to_owned()
        )
    );
    let (code, why) = fails(&["--mount-read-only", "/memories/none=./none"]);
    assert!(code == 3 && why.contains("none"), "{code} {why}");
    assert!(!place.path().join("none").exists());
    let (code, why) = fails(&["--mount", "/elsewhere=./docs"]);
    assert!(code == 2 && why.contains("cannot be mounted at"), "{code} {why}");
    let (code, why) = fails(&["--mount", "/memories/pg=postgres://ann:secret@127.0.0.1:1/none"]);
    assert!(code == 3 && !why.contains("secret"), "{code} {why}");
}

/// The output of `memdir mcp ./memory`, which ends at once.
fn said_of(place: &Path, arguments: &[&str]) -> (i32, String, String) {
    said(&memdir(place).args(["mcp", "./memory"]).args(arguments).output().unwrap())
}

#[test]
fn a_store_that_is_only_read_and_does_not_exist_is_named() {
    let place = tempfile::tempdir().unwrap();
    let fails = |arguments: &[&str]| {
        said(&memdir(place.path()).arg("mcp").args(arguments).output().unwrap())
    };
    std::fs::create_dir_all(place.path().join("here/memories")).unwrap();
    for store in ["./none", "dir:./none", "sqlite:none.db", "./none/deeper"] {
        let mount = format!("/memories/none={store}");
        let why = format!("memdir: there is no memory at {store}{NO_MEMORY}\n");
        for arguments in [
            &["--read-only", store][..],
            &["--read-only", store, "--mount", "/memories/here=./here"],
            &["--read-only", "./here", "--mount", &mount],
            &["./here", "--mount-read-only", &mount],
        ] {
            assert_eq!(fails(arguments), (3, String::new(), why.clone()), "{arguments:?}");
        }
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing was made");
    // A wrong mount point is reported first.
    let (code, _, why) = fails(&["./here", "--mount-read-only", "/elsewhere=./none"]);
    assert!(code == 2 && why.contains("cannot be mounted at"), "{code} {why}");
    // A new in-process memory always exists.
    let streams = Streams::open(place.path(), &["--read-only", "memory:"]);
    assert!(streams.hello["result"]["instructions"].is_string());
}

#[test]
fn a_mount_that_can_be_changed_within_one_that_cannot_is_named() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("docs")).unwrap();
    let fixed = ["--mount-read-only", "/memories/docs=./docs"];
    let free = ["--mount", "/memories/docs/own=./own"];
    let mut streams = Streams::open(place.path(), &[&["./memory"][..], &fixed, &free].concat());
    let instructions = streams.hello["result"]["instructions"].as_str().unwrap();
    let named = "These can be viewed but not changed: /memories/docs (except /memories/docs/own).";
    assert!(instructions.ends_with(named), "{instructions}");
    for (path, is_error) in [("/memories/docs/a.md", true), ("/memories/docs/own/a.md", false)] {
        let said = streams.ask(&call(1, "create", &json!({"path": path, "file_text": "one"})));
        assert_eq!(said["result"]["isError"], is_error, "{said}");
    }
}

#[test]
fn a_read_only_server_offers_only_to_look_and_says_so() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(place.path().join("memory/memories")).unwrap();
    for arguments in [&["--read-only"][..], &["--read-only-paths", "/memories"]] {
        let mut streams = Streams::open(place.path(), &[&["./memory"], arguments].concat());
        let instructions = streams.hello["result"]["instructions"].as_str().unwrap();
        assert!(
            instructions.ends_with("The memory can be viewed but not changed."),
            "{instructions}"
        );
        assert!(!instructions.contains("worth keeping"));
        let tools = streams.ask(&ask(1, "tools/list"));
        let tools = tools["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 2);
        assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    }
}

#[test]
fn a_search_shows_numbered_lines() {
    let place = tempfile::tempdir().unwrap();
    let mut streams = Streams::open(place.path(), &["./memory", "--prefix", "m_"]);
    let mut call = |id, tool: &str, arguments: Value| {
        let answer = streams.ask(&call(id, tool, &arguments));
        let is_error = answer["result"]["isError"].as_bool().unwrap_or_default();
        (text(&answer).to_owned(), is_error)
    };
    let mut number = 1;
    let mut search = |arguments: Value| {
        number += 1;
        call(number, "m_search", arguments)
    };
    let refused = |(said, is_error): (String, bool)| is_error.then_some(said).unwrap();
    assert_eq!(search(json!({"query": "tea"})), ("No file has these words.".to_owned(), false));
    let notes = place.path().join("memory/memories");
    std::fs::write(notes.join("anna.md"), "# Anna\n\n- prefers green tea\n").unwrap();
    std::fs::write(notes.join("tea.md"), "It is kept in the kitchen.\n").unwrap();
    let both = "/memories/anna.md\n     1\t# Anna\n     2\t\n     3\t- prefers green tea\n/memories/tea.md\n     1\tIt is kept in the kitchen.";
    assert_eq!(search(json!({"query": "Which tea is preferred?"})), (both.to_owned(), false));
    let one = json!({"query": "tea", "path": "/memories/tea.md"});
    assert!(search(one).0.starts_with("/memories/tea.md\n"));
    assert!(search(json!({"query": "tea", "path": null})).0.contains("anna"));
    assert!(!search(json!({"query": "tea", "limit": 1})).0.contains("kitchen"));
    let missing = "Error: Missing `query` parameter for the `search` command: expected a string";
    assert_eq!(refused(search(json!({}))), missing);
    assert!(refused(search(json!({"query": 5}))).contains("expected a string"));
    assert!(refused(search(json!({"query": "tea", "path": []}))).contains("expected a string"));
    assert!(refused(search(json!({"query": "tea", "limit": 0}))).contains("from 1 to 20"));
    assert!(
        refused(search(json!({"query": "tea", "path": "/memories/no"}))).contains("/memories/no")
    );
    assert!(refused(search(json!({"query": "tea", "path": "/etc"}))).contains("/memories"));
}

#[test]
fn the_search_can_be_left_out() {
    let place = tempfile::tempdir().unwrap();
    let mut streams = Streams::open(place.path(), &["./memory", "--no-search"]);
    let tools = streams.ask(&ask(1, "tools/list"));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 6);
    let refused = streams.ask(&call(2, "search", &json!({"query": "tea"})));
    assert_eq!(refused["error"]["code"], -32602);
}

/// A model fills them in in this order.
#[test]
fn fields_stand_in_the_order_of_the_documentation() {
    let one = tool_definition(Dialect::OpenAi, false);
    let names: Vec<_> = one["parameters"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names[..3], ["command", "path", "view_range"]);
    let six = tool_definitions(Dialect::JsonSchema, "", false).unwrap();
    let create: Vec<_> = six[1]["parameters"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(create, ["path", "file_text"]);
}
