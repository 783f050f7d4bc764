//! Object storage on a real server of S3's protocol: the contract, what is kept where, how many
//! requests a command takes, and what is said where something is wrong.
#![cfg(all(unix, feature = "object-storage"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "common/faulty.rs"]
mod faulty;
#[path = "common/s3.rs"]
mod s3;

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use faulty::{Fault, Plan, Proxy};
use memdir::store::{Node, ObjectStorage, Splice, contract};
use memdir::{Memory, MemoryPath, OnExisting, Options, Store, StoreError};

fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

fn memory(address: &str) -> Memory {
    Memory::open(address, Options::default()).unwrap()
}

/// Runs on several threads at once, and counts how often `each` is true.
fn race(each: impl Fn(usize) -> bool + Sync) -> usize {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for racer in 0..8 {
            let (each, count) = (&each, &count);
            scope.spawn(move || count.fetch_add(each(racer).into(), Ordering::Relaxed));
        }
    });
    count.into_inner()
}

/// Without this the other tests would say nothing.
#[test]
fn the_server_checks_conditions_and_writes_as_one() {
    let Some(server) = s3::server() else { return };
    let put = |key: &str, header: &str, value: &str, body: &str| {
        let (status, _) = s3::request(server, "PUT", key, &[(header, value)], body.as_bytes());
        assert!(matches!(status, 200 | 404 | 412), "{status}");
        status == 200
    };
    let prefix = s3::prefix();
    for round in 0..50 {
        let key = format!("{prefix}/{round}");
        assert!(!put(&key, "If-Match", "\"00000000000000000000000000000000\"", "x"));
        let body = |racer| format!("{racer}").repeat(10_000);
        assert_eq!(race(|racer| put(&key, "If-None-Match", "*", &body(racer))), 1);
        let (_, content) = s3::request(server, "GET", &key, &[], b"");
        assert_eq!(content.len(), 10_000);
        // Of all that know the same version one writes.
        s3::request(server, "PUT", &key, &[], b"known");
        let (_, listing) =
            s3::request(server, "GET", &format!("?list-type=2&prefix={key}"), &[], b"");
        let listing = String::from_utf8(listing).unwrap().replace("&#34;", "\"");
        let tag = listing.split_once("<ETag>").unwrap().1.split_once("</ETag>").unwrap().0;
        assert_eq!(race(|racer| put(&key, "If-Match", tag, &body(racer))), 1);
    }
}

#[test]
fn object_storage_keeps_the_contract() {
    let Some(server) = s3::server() else { return };
    contract::check(&|| Arc::new(s3::open(server, &s3::prefix()))).unwrap();
}

#[test]
fn a_bucket_without_a_prefix_is_a_memory_too() {
    let Some(server) = s3::server() else { return };
    let store = s3::open(server, "");
    let name = format!("whole-{}", std::process::id());
    store.write(&at(&format!("/memories/{name}/a")), b"x", OnExisting::Error).unwrap();
    assert!(store.list(&MemoryPath::root()).unwrap().iter().any(|e| e.path.name() == Some(&name)));
    let Node::Directory(seen) = store.open(&MemoryPath::root(), 2).unwrap() else {
        panic!("a file")
    };
    assert!(seen.iter().any(|entry| entry.path == at(&format!("/memories/{name}/a"))));
    store.delete(&at(&format!("/memories/{name}"))).unwrap();
}

#[test]
fn files_are_plain_objects() {
    let Some(server) = s3::server() else { return };
    let prefix = s3::prefix();
    let memory = memory(&s3::address(server, &prefix));
    memory.create("/memories/notes/a b 50%25 \"~#?*.md", "one\n").unwrap();
    memory.insert("/memories/notes/a b 50%25 \"~#?*.md", 1, "two").unwrap();
    assert_eq!(s3::keys(server, &prefix), ["notes/a b 50%25 &#34;~#?*.md"]);
    // A directory whose last file goes stays, by an object of its own.
    memory.delete("/memories/notes/a b 50%25 \"~#?*.md").unwrap();
    assert_eq!(s3::keys(server, &prefix), ["notes/.memdir-directory%2F"]);
    assert!(memory.view("/memories", None).unwrap().ends_with("\t/memories/notes"));
    memory.delete("/memories/notes").unwrap();
    assert!(s3::keys(server, &prefix).is_empty());
}

#[test]
fn what_other_programs_put_there_is_taken_as_it_is() {
    let Some(server) = s3::server() else { return };
    let prefix = s3::prefix();
    let store = s3::open(server, &prefix);
    for (key, content) in [
        ("theirs/deep/file.md", "theirs"),
        // What a console calls a folder.
        ("folder/", ""),
        ("folder/in it", "x"),
        // A name that no path can have, and one that would forge a line.
        ("theirs/..%2Fescape", "x"),
        ("theirs/a\\b", "x"),
    ] {
        let (status, _) =
            s3::request(server, "PUT", &format!("{prefix}/{key}"), &[], content.as_bytes());
        assert_eq!(status, 200, "{key}");
    }
    let listed = |path: &str| {
        let mut names: Vec<String> =
            store.list(&at(path)).unwrap().iter().map(|entry| entry.path.to_string()).collect();
        names.sort();
        names
    };
    assert_eq!(listed("/memories"), ["/memories/folder", "/memories/theirs"]);
    assert_eq!(listed("/memories/theirs"), ["/memories/theirs/deep"]);
    assert_eq!(listed("/memories/folder"), ["/memories/folder/in it"]);
    let file = at("/memories/theirs/deep/file.md");
    store
        .update(&file, &mut |old| Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() }))
        .unwrap();
    assert_eq!(store.read(&file).unwrap(), b"theirs+");
    assert!(store.modified(&file).unwrap().is_some());
    store.rename(&at("/memories/theirs"), &at("/memories/ours")).unwrap();
    assert_eq!(store.read(&at("/memories/ours/deep/file.md")).unwrap(), b"theirs+");
    store.delete(&at("/memories/ours")).unwrap();
    assert!(matches!(store.list(&at("/memories/ours")), Err(StoreError::NotFound)));
    assert!(!s3::keys(server, &prefix).iter().any(|key| key.starts_with("ours")));
}

#[test]
fn the_longest_names_have_room_and_longer_ones_are_refused() {
    let Some(server) = s3::server() else { return };
    let store = s3::open(server, &s3::prefix());
    let fits = at(&format!("/memories{}", format!("/{}", "d".repeat(199)).repeat(4)));
    store.write(&fits, b"x", OnExisting::Error).unwrap();
    assert_eq!(store.read(&fits).unwrap(), b"x");
    let long = at(&format!("/memories{}", format!("/{}", "d".repeat(199)).repeat(6)));
    let refused = store.write(&long, b"x", OnExisting::Error);
    assert!(matches!(refused, Err(StoreError::NameTooLong | StoreError::NotADirectory)));
    let other = at(&format!("/memories{}", format!("/{}", "e".repeat(199)).repeat(6)));
    assert!(matches!(store.write(&other, b"x", OnExisting::Error), Err(StoreError::NameTooLong)));
    assert!(matches!(store.read(&other), Err(StoreError::NotFound)));
    assert!(matches!(store.list(&other), Err(StoreError::NotFound)));
    assert!(matches!(store.delete(&other), Err(StoreError::NotFound)));
}

#[test]
fn leftovers_and_bad_names_are_found() {
    let Some(server) = s3::server() else { return };
    let prefix = s3::prefix();
    let store = s3::open(server, &prefix);
    let problems = || {
        let mut problems = Vec::new();
        store.inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
        problems
    };
    store.make_directory(&at("/memories/empty")).unwrap();
    store.write(&at("/memories/a"), &[b'x'; 4001], OnExisting::Error).unwrap();
    assert!(problems().is_empty(), "{:?}", problems());
    for (key, content, metadata) in [
        ("bad%2F", "", ""),
        (
            "dir/.memdir-directory%2F",
            "This directory is being moved\n1\ncopying\n/memories/b\n",
            "",
        ),
        ("moved", &*".".repeat(4001), "w=1;moved;"),
    ] {
        let key = format!("{prefix}/{key}");
        s3::request(server, "PUT", &key, &[("x-amz-meta-memdir", metadata)], content.as_bytes());
    }
    let found = problems();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(matches!(store.read(&at("/memories/moved")), Err(StoreError::NotFound)));
    let listed = store.list(&MemoryPath::root()).unwrap();
    assert!(listed.iter().all(|entry| entry.path.name() != Some("moved")), "{listed:?}");
}

#[test]
fn a_large_file_streams() {
    let Some(server) = s3::server() else { return };
    let store = s3::open(server, &s3::prefix());
    let content: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    store.write(&at("/memories/large"), &content, OnExisting::Error).unwrap();
    let Node::File(size, mut stream) = store.open(&at("/memories/large"), 1).unwrap() else {
        panic!("a directory")
    };
    assert_eq!(size, content.len() as u64);
    let mut seen = vec![0; 1000];
    stream.read_exact(&mut seen).unwrap();
    stream.read_to_end(&mut seen).unwrap();
    assert!(seen == content, "the stream differs");
}

#[test]
fn more_objects_than_one_page_lists_are_all_there() {
    let Some(server) = s3::server() else { return };
    let prefix = s3::prefix();
    for number in 0..1100 {
        s3::request(server, "PUT", &format!("{prefix}/many/{number:04}"), &[], b"x");
    }
    let store = s3::open(server, &prefix);
    assert_eq!(store.list(&at("/memories/many")).unwrap().len(), 1100);
    let Node::Directory(all) = store.open(&MemoryPath::root(), 2).unwrap() else {
        panic!("a file")
    };
    assert_eq!(all.len(), 1101);
    store.rename(&at("/memories/many"), &at("/memories/moved")).unwrap();
    assert_eq!(store.list(&at("/memories/moved")).unwrap().len(), 1100);
    store.delete(&at("/memories/moved")).unwrap();
    assert!(store.list(&MemoryPath::root()).unwrap().is_empty());
}

#[test]
fn a_view_takes_two_requests_at_most() {
    let Some(server) = s3::server() else { return };
    let prefix = s3::prefix();
    let proxy = Proxy::before(server);
    let memory = memory(&s3::address(&proxy.address, &prefix));
    memory.create("/memories/a/b/file", "one\n").unwrap();
    for (command, most) in [
        (r#"{"command":"view","path":"/memories"}"#, 1),
        (r#"{"command":"view","path":"/memories/a"}"#, 2),
        (r#"{"command":"view","path":"/memories/a/b/file"}"#, 1),
        (r#"{"command":"view","path":"/memories/a/none"}"#, 2),
        (
            r#"{"command":"insert","path":"/memories/a/b/file","insert_line":0,"insert_text":"x"}"#,
            2,
        ),
        (r#"{"command":"str_replace","path":"/memories/a/b/file","old_str":"x","new_str":"y"}"#, 2),
        (r#"{"command":"create","path":"/memories/new","file_text":"x"}"#, 3),
        (r#"{"command":"create","path":"/memories/a/new","file_text":"x"}"#, 5),
        (r#"{"command":"delete","path":"/memories/new"}"#, 2),
        (r#"{"command":"delete","path":"/memories/a/new"}"#, 3),
        (r#"{"command":"rename","old_path":"/memories/a/b/file","new_path":"/memories/c"}"#, 10),
    ] {
        proxy.plan(Plan::Nothing);
        let reply = memory.execute(command);
        assert!(reply.cause.is_none(), "{command}: {:?}", reply.cause);
        let requests = proxy.requests();
        assert!(requests.len() <= most, "{command}: {requests:#?}");
    }
}

/// What a developer is told by the error, and the model by the reply.
fn said(opened: Result<ObjectStorage, memdir::Error>) -> String {
    let error = opened.err().unwrap_or_else(|| panic!("it was opened")).to_string();
    for secret in ["test-key-id", "test-secret-key", "Signature=", "AWS4"] {
        assert!(!error.contains(secret), "{error}");
    }
    error
}

#[test]
fn what_is_wrong_is_one_clear_sentence() {
    let Some(server) = s3::server() else { return };
    let options = "region=us-east-1&allow_http=true";
    let missing = format!("s3://no-such-bucket/p?endpoint=http://{server}&{options}");
    let error = said(ObjectStorage::open(&missing));
    assert!(error.contains("the bucket does not exist"), "{error}");

    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = said(ObjectStorage::open(&s3::address(&nobody.to_string(), "p")));
    assert!(error.contains("cannot be reached"), "{error}");

    let proxy = Proxy::before(server);
    for (status, code, word) in [
        ("403 Forbidden", "AccessDenied", "do not allow to list"),
        ("403 Forbidden", "InvalidAccessKeyId", "credentials were refused"),
        ("403 Forbidden", "SignatureDoesNotMatch", "credentials were refused"),
        ("400 Bad Request", "ExpiredToken", "credentials were refused"),
        ("401 Unauthorized", "", "credentials were refused"),
        ("400 Bad Request", "AuthorizationHeaderMalformed", "another region"),
        ("301 Moved Permanently", "PermanentRedirect", "another region"),
        ("501 Not Implemented", "NotImplemented", "conditional requests"),
        ("400 Bad Request", "InvalidRequest", "the server refused: HTTP 400 InvalidRequest"),
        ("503 Slow Down", "SlowDown", "the server answered HTTP 503 SlowDown"),
    ] {
        proxy.plan(Plan::From(0, Fault::Refused(status, code)));
        let error = said(ObjectStorage::open(&s3::address(&proxy.address, "p")));
        assert!(error.contains(word), "{status} {code}: {error}");
    }
}

#[test]
fn a_model_is_told_nothing_about_the_place() {
    let Some(server) = s3::server() else { return };
    let proxy = Proxy::before(server);
    let memory = memory(&s3::address(&proxy.address, "secret-prefix"));
    let view = r#"{"command":"view","path":"/memories/a"}"#;
    let forbidden = Fault::Refused("403 Forbidden", "AccessDenied");
    for (fault, word) in [(forbidden, "not allow"), (Fault::Error500, "cannot be reached")] {
        proxy.plan(Plan::From(0, fault));
        let reply = memory.execute(view);
        let content = reply.content.as_str();
        assert!(reply.is_error && content.contains(word), "{fault:?}: {content}");
        for secret in ["secret-prefix", "memdir/", "127.0.0.1", "500", "s3", "bucket", "key"] {
            assert!(!content.contains(secret), "{content}");
        }
    }
    proxy.plan(Plan::Nothing);
    assert!(memory.execute(view).content.as_str().contains("does not exist"));
}
