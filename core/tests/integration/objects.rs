//! Object storage on real servers with S3's protocol and with Azure's: the contract, the layout, the
//! number of requests per command, and the error messages.
#![cfg(all(unix, feature = "object-storage"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::common::clouds::{BUCKET, Cloud, SECRETS, prefix};
use crate::common::effort::times;
use crate::common::faulty::{Fault, Plan, Proxy};
use crate::common::store_helpers;
use crate::common::store_helpers::{appending, at, open_memory, race};
use memdir::store::{Context, EntryKind, FileToWrite, Node, ObjectStorage, Times};
use memdir::{
    CopyOptions, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError, open_store,
};

/// Runs `each` on several threads at once, and counts how many times it is true. The other tests depend on this.
fn the_server_checks_conditions_and_writes_as_one(cloud: &'static Cloud) {
    let put = |key: &str, header: &str, value: &str, body: &str| {
        cloud.put(key, &[(header, value)], body.as_bytes())
    };
    let prefix = prefix();
    for round in 0..times(cloud.few(15, 5)) {
        let key = format!("{prefix}/{round}");
        assert!(!put(&key, "If-Match", "\"00000000000000000000000000000000\"", "x"));
        let body = |racer| format!("{racer}").repeat(10_000);
        assert_eq!(race(|racer| put(&key, "If-None-Match", "*", &body(racer))), 1);
        assert_eq!(cloud.get(&key).body.len(), 10_000);
        // Of all clients that know the same version, one writes.
        assert!(cloud.put(&key, &[], b"known"));
        let known = cloud.get(&key);
        assert_eq!(race(|racer| put(&key, "If-Match", &known.tag, &body(racer))), 1);
        assert!(!put(&key, "If-Match", &known.tag, "x"));
    }
}

fn a_bucket_without_a_prefix_is_a_memory_too(cloud: &'static Cloud) {
    let store = cloud.open("");
    let name = format!("whole-{}", std::process::id());
    store.write(&at(&format!("/memories/{name}/a")), b"x", OnExisting::Error).unwrap();
    assert!(store.list(&MemoryPath::root()).unwrap().iter().any(|e| e.path.name() == Some(&name)));
    let Node::Directory(seen) = store.open(&MemoryPath::root(), 2).unwrap() else {
        panic!("a file")
    };
    assert!(seen.iter().any(|entry| entry.path == at(&format!("/memories/{name}/a"))));
    store.delete(&at(&format!("/memories/{name}"))).unwrap();
}

fn a_longer_prefix_is_within_a_shorter_one(cloud: &'static Cloud) {
    let prefix = prefix();
    let open = |prefix: &str| -> Arc<dyn Store> { Arc::new(cloud.open(prefix)) };
    let (outer, inner) = (open(&prefix), open(&format!("{prefix}/below")));
    outer.write(&at("/memories/a"), b"x", OnExisting::Error).unwrap();
    let go_on = &mut |_: memdir::copy::Progress<'_>| std::ops::ControlFlow::Continue(());
    for (from, to) in [(&outer, &inner), (&inner, &outer), (&outer, &outer)] {
        let copied = memdir::copy(from, to, CopyOptions::default(), go_on);
        assert!(matches!(copied, Err(memdir::CopyError::Overlapping)), "{copied:?}");
    }
    let beside = open(&format!("{prefix}-beside"));
    memdir::copy(&outer, &beside, CopyOptions::default(), go_on).unwrap();
    // A key has at most 1,024 bytes.
    let long = format!("/memories{}", "/0123456789abcdef0123456789".repeat(40));
    assert!(!outer.can_keep(&at(&long)) && outer.can_keep(&at("/memories/a")));
}

fn files_are_plain_objects(cloud: &'static Cloud) {
    let prefix = prefix();
    let memory = open_memory(&cloud.address(&prefix));
    memory.create("/memories/notes/a b 50%25 \"~#?*.md", "one\n").unwrap();
    memory.insert("/memories/notes/a b 50%25 \"~#?*.md", 1, "two").unwrap();
    assert_eq!(cloud.keys(&prefix), ["notes/a b 50%25 \"~#?*.md"]);
    // A directory stays after its last file is deleted, as a separate object.
    memory.delete("/memories/notes/a b 50%25 \"~#?*.md").unwrap();
    assert_eq!(cloud.keys(&prefix), ["notes/.memdir-directory%2F"]);
    assert!(memory.view("/memories", None).unwrap().ends_with("\t/memories/notes"));
    memory.delete("/memories/notes").unwrap();
    assert!(cloud.keys(&prefix).is_empty());
}

fn what_other_programs_put_there_is_taken_as_it_is(cloud: &'static Cloud) {
    let prefix = prefix();
    let store = cloud.open(&prefix);
    for (key, content) in [
        ("theirs/deep/file.md", "theirs"),
        // A folder in the sense of a console.
        ("folder/", ""),
        ("folder/in it", "x"),
        // Some programs create an object at a directory's own path.
        ("marked", ""),
        ("marked/in it", "x"),
        // A name that no path can have, and one that would forge a line of output.
        ("theirs/..%2Fescape", "x"),
        ("theirs/a\\b", "x"),
    ] {
        // Azure treats it as a slash.
        if cloud.is_azure() && key.contains('\\') {
            continue;
        }
        assert!(cloud.put(&format!("{prefix}/{key}"), &[], content.as_bytes()), "{key}");
    }
    let listed = |path: &str| {
        let mut names: Vec<String> =
            store.list(&at(path)).unwrap().iter().map(|entry| entry.path.to_string()).collect();
        names.sort();
        names
    };
    assert_eq!(listed("/memories"), ["/memories/folder", "/memories/marked", "/memories/theirs"]);
    let Node::Directory(below) = store.open(&MemoryPath::root(), 9).unwrap() else { panic!() };
    let marked = below.iter().find(|entry| entry.path == at("/memories/marked")).unwrap();
    assert_eq!(marked.kind, EntryKind::Directory);
    assert_eq!(listed("/memories/theirs"), ["/memories/theirs/deep"]);
    assert_eq!(listed("/memories/folder"), ["/memories/folder/in it"]);
    let file = at("/memories/theirs/deep/file.md");
    store.update(&file, &mut appending("+")).unwrap();
    assert_eq!(store.read(&file).unwrap(), b"theirs+");
    assert!(store.modified(&file).unwrap().is_some());
    store.rename(&at("/memories/theirs"), &at("/memories/ours")).unwrap();
    assert_eq!(store.read(&at("/memories/ours/deep/file.md")).unwrap(), b"theirs+");
    store.delete(&at("/memories/ours")).unwrap();
    assert!(matches!(store.list(&at("/memories/ours")), Err(StoreError::NotFound)));
    assert!(!cloud.keys(&prefix).iter().any(|key| key.starts_with("ours")));
}

fn the_longest_names_have_room_and_longer_ones_are_refused(cloud: &'static Cloud) {
    let store = cloud.open(&prefix());
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

fn leftovers_and_bad_names_are_found(cloud: &'static Cloud) {
    let prefix = prefix();
    let store = cloud.open(&prefix);
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
        assert!(cloud.put(&key, &[(cloud.metadata(), metadata)], content.as_bytes()));
    }
    let found = problems();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(matches!(store.read(&at("/memories/moved")), Err(StoreError::NotFound)));
    let listed = store.list(&MemoryPath::root()).unwrap();
    assert!(listed.iter().all(|entry| entry.path.name() != Some("moved")), "{listed:?}");
}

fn a_large_file_streams(cloud: &'static Cloud) {
    let store = cloud.open(&prefix());
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

/// S3 lists and deletes 1,000 at once. Azure lists 5,000 and deletes 256.
fn more_objects_than_one_request_is_for_are_all_there(cloud: &'static Cloud) {
    let prefix = prefix();
    let many = cloud.few(1100, 300);
    for number in 0..many {
        cloud.put(&format!("{prefix}/many/{number:04}"), &[], b"x");
    }
    let store = cloud.open(&prefix);
    assert_eq!(store.list(&at("/memories/many")).unwrap().len(), many);
    let Node::Directory(all) = store.open(&MemoryPath::root(), 2).unwrap() else {
        panic!("a file")
    };
    assert_eq!(all.len(), many + 1);
    store.rename(&at("/memories/many"), &at("/memories/moved")).unwrap();
    assert_eq!(store.list(&at("/memories/moved")).unwrap().len(), many);
    store.delete(&at("/memories/moved")).unwrap();
    assert!(store.list(&MemoryPath::root()).unwrap().is_empty());
}

/// Azure's listing cannot begin behind a key.
fn a_view_skips_pages_of_what_it_does_not_show(cloud: &'static Cloud) {
    let prefix = prefix();
    let proxy = Proxy::before(&cloud.server);
    let address = cloud.address_at(&proxy.address, BUCKET, &prefix);
    let many = cloud.few(2400, 20);
    for number in 0..many {
        // Hidden files, files below the second level, and names that sort behind all others of their directory.
        let directory = [".hidden", "a/b/deep", "a/b/deep/er", "a/c\u{fe}\u{10fffd}"][number % 4];
        cloud.put(&format!("{prefix}/{directory}/{number:04}"), &[], b"x");
    }
    for name in ["a/b-", "a/b0", "a/c", "z"] {
        cloud.put(&format!("{prefix}/{name}"), &[], b"x");
    }
    let store = ObjectStorage::open(&address).unwrap();
    let viewed = |path: MemoryPath| {
        proxy.plan(Plan::Nothing);
        let Node::Directory(entries) = store.open(&path, 2).unwrap() else { panic!("a file") };
        let names = entries.iter().map(|entry| entry.path.relative().to_owned());
        (names.collect::<Vec<_>>(), proxy.requests().len())
    };
    let (names, requests) = viewed(MemoryPath::root());
    let expected = ["a", "a/b", "a/b-", "a/b0", "a/c", "a/c\u{fe}\u{10fffd}", "z"];
    assert_eq!(names, expected);
    assert_eq!(requests, cloud.few(2, 1));
    let (names, _) = viewed(at("/memories/a/b"));
    assert_eq!(names.len(), many / 4 + 2);
}

fn requests_that_do_not_depend_on_each_other_are_sent_at_once(cloud: &'static Cloud) {
    let proxy = Proxy::before(&cloud.server);
    let memory = open_memory(&cloud.address_at(&proxy.address, BUCKET, &prefix()));
    memory.create("/memories/a/b/file", "one\n").unwrap();
    // The requests of each round. Their numbers are those of the documentation.
    let commands: [(&str, &'static [usize]); 11] = [
        (r#"{"command":"view","path":"/memories"}"#, &[1]),
        (r#"{"command":"view","path":"/memories/a"}"#, &[1, 1]),
        (r#"{"command":"view","path":"/memories/a/b/file"}"#, &[1]),
        (r#"{"command":"view","path":"/memories/a/none"}"#, &[1, 1]),
        (
            r#"{"command":"insert","path":"/memories/a/b/file","insert_line":0,"insert_text":"x"}"#,
            &[1, 1],
        ),
        (
            r#"{"command":"str_replace","path":"/memories/a/b/file","old_str":"x","new_str":"y"}"#,
            &[1, 1],
        ),
        (r#"{"command":"create","path":"/memories/new","file_text":"x"}"#, &[1, 1, 1]),
        (r#"{"command":"create","path":"/memories/a/new","file_text":"x"}"#, &[2, 1, 2]),
        (r#"{"command":"delete","path":"/memories/new"}"#, &[1, 1]),
        (r#"{"command":"delete","path":"/memories/a/new"}"#, &[1, 1, 1]),
        (
            r#"{"command":"rename","old_path":"/memories/a/b/file","new_path":"/memories/c"}"#,
            &[3, 2, 1, 2, 1, 1],
        ),
    ];
    for (command, rounds) in commands {
        proxy.plan(Plan::Together(rounds));
        let reply = memory.execute(command);
        assert!(reply.cause.is_none(), "{command}: {:?}", reply.cause);
        let sent = proxy.requests();
        assert_eq!(sent.len(), rounds.iter().sum::<usize>(), "{command}: {sent:#?}");
        assert!(!proxy.is_incomplete(), "{command}: not in the rounds {rounds:?}: {sent:#?}");
    }
}

fn files_that_are_written_together_take_a_few_rounds(cloud: &'static Cloud) {
    const FILES: usize = 100;

    let proxy = Proxy::before(&cloud.server);
    let store =
        open_store(&cloud.address_at(&proxy.address, BUCKET, &prefix()), &MemoryOptions::default());
    let store = store.unwrap();
    let paths: Vec<_> =
        (0..FILES).map(|number| at(&format!("/memories/d{}/{number}", number % 2))).collect();
    let files = |existing, times: Times| -> Vec<FileToWrite<'_>> {
        let file = |path| FileToWrite { path, content: b"text", times, existing, note: None };
        paths.iter().map(file).collect()
    };
    // Of 64 files, and then of the other 36: two checks of each file and one of each directory, the writes, and the second checks.
    proxy.plan(Plan::Together(&[64, 64, 2, 64, 64, 2, 64, 10, 36, 38]));
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
    let times = Times { modified: Some(time), accessed: None };
    store.write_batch(&Context::new(), &files(OnExisting::Error, times)).unwrap();
    let sent = proxy.requests();
    assert_eq!(sent.len(), 130 + 64 + 66 + 74 + 36 + 38, "{sent:#?}");
    assert!(!proxy.is_incomplete(), "{sent:#?}");
    assert_eq!(store.modified(&paths[99]).unwrap(), Some(time));
    // Files that are replaced: a check of their places, their versions, the writes.
    proxy.plan(Plan::Together(&[64, 2, 64, 64, 38, 36, 36]));
    store.write_batch(&Context::new(), &files(OnExisting::Overwrite, Times::default())).unwrap();
    let sent = proxy.requests();
    assert_eq!(sent.len(), 66 + 128 + 38 + 72, "{sent:#?}");
    assert!(!proxy.is_incomplete(), "{sent:#?}");
}

fn a_history_takes_two_requests_more_for_an_edit(cloud: &'static Cloud) {
    let prefix = prefix();
    let proxy = Proxy::before(&cloud.server);
    let mut options = MemoryOptions::default();
    options.history = true;
    let address = cloud.address_at(&proxy.address, BUCKET, &prefix);
    let memory = Memory::open(&address, options).unwrap();
    memory.create("/memories/a/b/file", "one\n").unwrap();
    // The record, and a listing of the latest records: its number is higher than theirs.
    for (number, most) in [(0, 4), (1, 4), (2, 4)] {
        proxy.plan(Plan::Nothing);
        memory.insert("/memories/a/b/file", 0, &number.to_string()).unwrap();
        let requests = proxy.requests();
        assert!(requests.len() <= most, "{requests:#?}");
    }
    proxy.plan(Plan::Nothing);
    memory.view("/memories/a/b/file", None).unwrap();
    assert_eq!(proxy.requests().len(), 1);
}

/// The error message for the developer.
fn said(opened: Result<ObjectStorage, memdir::Error>) -> String {
    let error = opened.err().unwrap_or_else(|| panic!("it was opened")).to_string();
    for secret in [&SECRETS[..], &["127.0.0.1", "no-such-bucket"]].concat() {
        assert!(!error.contains(secret), "{error}");
    }
    error
}

fn what_is_wrong_is_one_clear_sentence(cloud: &'static Cloud) {
    let missing = cloud.address_at(&cloud.server, "no-such-bucket", "p");
    let error = said(ObjectStorage::open(&missing));
    assert!(error.contains("the bucket or container does not exist"), "{error}");

    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = said(ObjectStorage::open(&cloud.address_at(&nobody.to_string(), BUCKET, "p")));
    assert!(error.contains("cannot be reached"), "{error}");

    let proxy = Proxy::before(&cloud.server);
    for (status, code, word) in [
        ("403 Forbidden", "AccessDenied", "do not allow to list"),
        ("403 Forbidden", "AuthorizationPermissionMismatch", "do not allow to list"),
        ("403 Forbidden", "InvalidAccessKeyId", "credentials were refused"),
        ("403 Forbidden", "SignatureDoesNotMatch", "credentials were refused"),
        ("403 Forbidden", "AuthenticationFailed", "credentials were refused"),
        ("400 Bad Request", "ExpiredToken", "credentials were refused"),
        ("401 Unauthorized", "", "credentials were refused"),
        ("400 Bad Request", "AuthorizationHeaderMalformed", "another region"),
        ("301 Moved Permanently", "PermanentRedirect", "another region"),
        ("501 Not Implemented", "NotImplemented", "conditional requests"),
        ("400 Bad Request", "InvalidRequest", "the server refused: HTTP 400 InvalidRequest"),
        ("503 Slow Down", "SlowDown", "the server answered HTTP 503 SlowDown"),
    ] {
        proxy.plan(Plan::From(0, Fault::Refused(status, code)));
        let address = cloud.address_at(&proxy.address, BUCKET, "p");
        let error = said(ObjectStorage::open(&address));
        assert!(error.contains(word), "{status} {code}: {error}");
    }
}

/// Looks like a failed condition, but is not one: the client does not retry.
fn a_write_that_is_never_allowed_is_refused_at_once(cloud: &'static Cloud) {
    let prefix = prefix();
    let proxy = Proxy::before(&cloud.server);
    let store = cloud.open_at(&proxy.address, &prefix);
    for (status, code) in [
        ("409 Conflict", "BlobImmutableDueToPolicy"),
        ("409 Conflict", "BlobArchived"),
        ("409 Conflict", "ContainerBeingDeleted"),
        ("412 Precondition Failed", "LeaseIdMissing"),
    ] {
        // After the two requests that read the state.
        proxy.plan(Plan::From(2, Fault::Refused(status, code)));
        let refused = store.write(&at("/memories/a"), b"x", OnExisting::Overwrite).unwrap_err();
        let requests = proxy.requests();
        assert!(refused.to_string().contains(code), "{code}: {refused} {requests:?}");
        assert_eq!(requests.len(), 3, "{code}: {requests:?}");
    }
}

fn a_model_is_told_nothing_about_the_place(cloud: &'static Cloud) {
    let proxy = Proxy::before(&cloud.server);
    let memory = open_memory(&cloud.address_at(&proxy.address, BUCKET, "secret-prefix"));
    let view = r#"{"command":"view","path":"/memories/a"}"#;
    let forbidden = Fault::Refused("403 Forbidden", "AccessDenied");
    for (fault, word) in [(forbidden, "not allow"), (Fault::Error500, "cannot be reached")] {
        proxy.plan(Plan::From(0, fault));
        let reply = memory.execute(view);
        let content = reply.content.as_text().unwrap_or_default();
        assert!(reply.is_error && content.contains(word), "{fault:?}: {content}");
        let place = ["secret-prefix", "memdir/", "127.0.0.1", "500", "s3", "az:", "bucket", "key"];
        for secret in [&SECRETS[..], &place].concat() {
            assert!(!content.contains(secret), "{content}");
        }
    }
    proxy.plan(Plan::Nothing);
    assert!(memory.execute(view).content.as_text().unwrap_or_default().contains("does not exist"));
}

/// Any text is a separate memory, below the prefix and nowhere else.
fn a_namespace_reaches_no_other(cloud: &'static Cloud) {
    let prefix = prefix();
    let address = cloud.address(&prefix);
    let open = |namespace: &str| {
        let mut options = MemoryOptions::default();
        options.namespace = Some(namespace.to_owned());
        Memory::open(&address, options).unwrap()
    };
    let long = "n".repeat(255);
    let names = [
        "me",
        "ME",
        "me/x",
        "me%2Fx",
        "..",
        ".",
        "../me",
        "me&namespace=x",
        "%",
        "\u{1}",
        "猫",
        " ",
        &long,
    ];
    for name in names {
        open(name).create("/memories/x/mine", name).unwrap();
    }
    for name in names {
        let memory = open(name);
        assert_eq!(memory.store().read(&at("/memories/x/mine")).unwrap(), name.as_bytes());
        assert_eq!(memory.store().list(&MemoryPath::root()).unwrap().len(), 1, "{name}");
    }
    open("me").clear().unwrap();
    let left = cloud.keys(&prefix);
    assert_eq!(left.iter().filter(|key| key.ends_with("/x/mine")).count(), names.len() - 1);
    // Keys are relative to the prefix, so none is outside.
    assert!(left.iter().all(|key| key.split('/').count() == 3), "{left:#?}");
}

fn what_is_too_large_is_not_read_to_be_edited(cloud: &'static Cloud) {
    let store = cloud.open(&prefix()).with_max_file_bytes(Some(10));
    store_helpers::what_is_too_large_is_not_read_to_be_edited(&store);
}

memdir_test_support::on_servers! {
    all:
        a_namespace_reaches_no_other,
        what_is_too_large_is_not_read_to_be_edited,
        the_server_checks_conditions_and_writes_as_one,

        a_bucket_without_a_prefix_is_a_memory_too,
        a_longer_prefix_is_within_a_shorter_one,
        files_are_plain_objects,
        what_other_programs_put_there_is_taken_as_it_is,
        the_longest_names_have_room_and_longer_ones_are_refused,
        leftovers_and_bad_names_are_found,
        a_large_file_streams,
        more_objects_than_one_request_is_for_are_all_there,
        a_view_skips_pages_of_what_it_does_not_show,
        requests_that_do_not_depend_on_each_other_are_sent_at_once,
        files_that_are_written_together_take_a_few_rounds,
        a_history_takes_two_requests_more_for_an_edit,
        what_is_wrong_is_one_clear_sentence,
        a_write_that_is_never_allowed_is_refused_at_once,
        a_model_is_told_nothing_about_the_place;
}
