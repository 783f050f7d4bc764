//! Inspecting a memory through the C interface: watches, the past, sensitive text and statistics.
#![expect(unsafe_code, reason = "what is tested is called from C")]
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::thread;
use std::time::{Duration, SystemTime};

use common::{open, operation};
use memdir::text::rfc3339;
use memdir_c::*;
use serde_json::{Value, json};

mod common;

#[expect(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn done(memory: u64, name: &str, arguments: Value) -> Value {
    operation(memory, name, &arguments.to_string()).unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn kind(memory: u64, name: &str, arguments: Value) -> Value {
    operation(memory, name, &arguments.to_string()).unwrap_err()["kind"].clone()
}

/// The current time. These texts sort like the times.
fn now() -> String {
    thread::sleep(Duration::from_millis(2));
    let now = rfc3339(SystemTime::now());
    thread::sleep(Duration::from_millis(2));
    now
}

#[test]
fn a_watch_tells_what_anybody_changes() {
    let place = tempfile::tempdir().unwrap();
    let memory = open(&format!("dir:{}", place.path().display()), "{}").unwrap();
    let watch = done(memory, "watch", json!({ "every": 0.02 }));
    let changes = |wait: f64| done(memory, "changes", json!({ "watch": watch, "wait": wait }));
    assert_eq!(done(memory, "changes", json!({ "watch": watch })), json!([]));
    done(memory, "write", json!({ "path": "/memories/a.md", "text": "one" }));
    assert_eq!(
        changes(60.0),
        json!([{ "kind": "written", "path": "/memories/a.md", "old_path": null }])
    );
    std::fs::write(place.path().join("plain.md"), "two").unwrap();
    assert_eq!(
        changes(60.0),
        json!([{ "kind": "written", "path": "/memories/plain.md", "old_path": null }])
    );
    std::fs::remove_file(place.path().join("plain.md")).unwrap();
    assert_eq!(
        changes(60.0),
        json!([{ "kind": "deleted", "path": "/memories/plain.md", "old_path": null }])
    );
    assert_eq!(changes(0.01), json!([]));
    // A caller can wait for changes without blocking in the library.
    std::fs::write(place.path().join("plain.md"), "three").unwrap();
    while changes(0.0) == json!([]) {
        while done(memory, "is_due", json!({ "watch": watch })) == json!(false) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    assert_eq!(done(memory, "unwatch", json!({ "watch": watch })), Value::Null);
    for name in ["changes", "is_due", "unwatch"] {
        assert_eq!(kind(memory, name, json!({ "watch": watch })), "usage");
    }
    assert_eq!(kind(memory, "watch", json!({ "path": "elsewhere" })), "refused");
    assert_eq!(kind(memory, "watch", json!({ "every": -1 })), "config");
    assert_eq!(kind(memory, "watch", json!({ "wait": 1 })), "config");
    assert_eq!(kind(memory, "changes", json!({ "watch": "1" })), "config");
    memdir_close(memory);
}

#[test]
fn who_waits_can_be_cancelled_and_is_told_of_the_end() {
    let memory = open("memory:", "{}").unwrap();
    let own = memdir_cancellable(memory);
    let watch = done(own, "watch", json!({ "every": 3600 }));
    let waiting = json!({ "watch": watch, "wait": 60 }).to_string();
    thread::scope(|scope| {
        let waits = scope.spawn(|| operation(own, "changes", &waiting));
        thread::sleep(Duration::from_millis(50));
        memdir_cancel(own);
        assert_eq!(waits.join().unwrap().unwrap_err()["kind"], "cancelled");
    });
    // A watch outlives the number with which it was begun.
    memdir_close(own);
    done(memory, "write", json!({ "path": "/memories/a.md", "text": "one" }));
    let told = json!([{ "kind": "written", "path": "/memories/a.md", "old_path": null }]);
    assert_eq!(operation(memory, "changes", &waiting), Ok(told));
    thread::scope(|scope| {
        let waits = scope.spawn(|| operation(memory, "changes", &waiting));
        thread::sleep(Duration::from_millis(50));
        done(memory, "unwatch", json!({ "watch": watch }));
        assert_eq!(waits.join().unwrap(), Ok(Value::Null));
    });
    memdir_close(memory);
}

#[test]
fn the_history_has_what_is_there_no_more() {
    let memory = open("memory:", r#"{"history": true}"#).unwrap();
    let path = "/memories/tea.md";
    done(memory, "write", json!({ "path": path, "text": "green\n" }));
    let before = now();
    done(memory, "write", json!({ "path": path, "text": "black\n" }));
    let after = now();

    let found =
        done(memory, "grep_history", json!({ "query": "GREEN", "ignore_case": true, "limit": 5 }));
    assert_eq!((&found[0]["line"], &found[0]["text"]), (&json!(1), &json!("green")));
    assert_eq!(found[0]["version"], done(memory, "history", json!({}))[1]);
    let files = done(memory, "files_at", json!({ "at": before }));
    assert_eq!((&files[0]["path"], &files[0]["size"]), (&json!(path), &json!(6)));
    assert_eq!(files[0]["version"], found[0]["version"]["id"]);
    assert!(files[0]["modified"].as_str().unwrap() <= &*before);
    let read = |path: &str, at: &str| done(memory, "read_at", json!({ "path": path, "at": at }));
    assert_eq!(read(path, &before), json!({ "text": "green\n" }));
    assert_eq!(read(path, &after), json!({ "text": "black\n" }));
    assert_eq!(read("/memories/none", &after), Value::Null);
    let version = done(memory, "history", json!({}))[0].clone();
    let line = json!({
        "line": 1, "text": "black", "version": version["id"], "change": version["change"],
        "operation": version["operation"], "actor": null, "time": version["time"], "may_be_older": false,
    });
    assert_eq!(done(memory, "blame", json!({ "path": path })), json!([line]));
    assert_eq!(kind(memory, "blame", json!({ "path": "/memories/none" })), "history");
    assert_eq!(kind(memory, "blame", json!({})), "config");
    assert_eq!(kind(memory, "files_at", json!({})), "config");
    assert_eq!(kind(memory, "grep_history", json!({ "query": "(", "regex": true })), "config");
    assert_eq!(kind(memory, "grep_history", json!({ "query": "a", "path": "x" })), "history");
    memdir_close(memory);
}

#[test]
fn ids_are_resolved_and_the_history_is_exported() {
    let memory = open("memory:", r#"{"history": true, "actor": "ann"}"#).unwrap();
    for text in ["green\n", "black\n"] {
        done(memory, "write", json!({ "path": "/memories/tea.md", "text": text }));
    }
    let versions = done(memory, "history", json!({}));
    let id = versions[0]["id"].as_str().unwrap();
    let part = &id[id.len() - 12..];
    assert_eq!(done(memory, "resolve_id", json!({ "part": part })), versions[0]["id"]);
    let unresolved = |part: &str| {
        operation(memory, "resolve_id", &json!({ "part": part }).to_string()).unwrap_err()
    };
    assert_eq!(unresolved(&id[..6])["history_kind"], "ambiguous");
    assert_eq!(unresolved("tea")["history_kind"], "no_id");
    assert_eq!(kind(memory, "resolve_id", json!({})), "config");
    let stream = done(memory, "export_history", json!({}));
    let stream = stream["text"].as_str().unwrap();
    assert!(stream.ends_with("done\n") && stream.contains("committer ann <>"), "{stream}");
    assert_eq!(kind(memory, "export_history", json!({ "to": "a" })), "config");
    memdir_close(memory);
}

#[test]
fn a_file_is_read_as_a_model_may_see_it() {
    let memory = open("memory:", r#"{"sensitive_on_view": true}"#).unwrap();
    let secret = "url: postgres://app:t7Kq-9zLw2@db/app\n";
    done(memory, "write", json!({ "path": "/memories/db.md", "text": secret }));
    let shown = done(memory, "read_shown", json!({ "path": "/memories/db.md" }));
    assert_eq!(shown, "url: postgres://app:[REDACTED:url-password]@db/app\n");
    assert_eq!(kind(memory, "read_shown", json!({ "path": "/memories/no" })), "refused");
    memdir_close(memory);
}

#[test]
fn what_a_memory_holds_is_found_and_counted() {
    let options = r#"{"history": true, "sensitive_rules": {"project": "Bluebird-[0-9]+"}}"#;
    let memory = open("memory:", options).unwrap();
    done(memory, "write", json!({ "path": "/memories/a/b.md", "text": "one\nBluebird-7\n" }));
    let found = json!([{ "path": "/memories/a/b.md", "line": 2, "rule": "project" }]);
    assert_eq!(done(memory, "find_sensitive", json!({})), found);
    assert_eq!(kind(memory, "find_sensitive", json!({ "path": "/memories/none" })), "refused");
    let results =
        done(memory, "search", json!({ "query": "ones", "path": "/memories/a", "limit": 2 }));
    assert_eq!(results["files_left_out"], 0);
    let hit = &results["hits"][0];
    assert_eq!(hit["path"], "/memories/a/b.md");
    assert!(hit["score"].is_f64() && hit["modified"].is_string());
    let matches = json!([{ "start": 0, "end": 3 }]);
    let passage =
        json!({ "text": "one\nBluebird-7", "first_line": 1, "last_line": 2, "matches": matches });
    assert_eq!(hit["passages"], json!([passage]));
    assert_eq!(kind(memory, "search", json!({ "query": "x", "path": "/memories/no" })), "refused");
    let stats = done(memory, "stats", json!({}));
    assert_eq!([&stats["files"], &stats["directories"], &stats["bytes"]], [1, 1, 15]);
    assert_eq!(stats["largest"], json!({ "path": "/memories/a/b.md", "bytes": 15 }));
    assert_eq!(stats["oldest"], stats["newest"]);
    assert_eq!(stats["least_recently_used"]["path"], "/memories/a/b.md");
    assert_eq!(stats["history"]["versions"], 1);
    memdir_close(memory);
}
