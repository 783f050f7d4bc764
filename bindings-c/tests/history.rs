//! The history of a memory through the C interface.
#![expect(unsafe_code, reason = "what is tested is called from C")]
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::ptr::null;
use std::time::{Duration, SystemTime};

use common::{decided, execute, open, operation, with_error};
use memdir::text::rfc3339;
use memdir_c::*;
use serde_json::{Value, json};

mod common;

const PATH: &str = "/memories/tea.md";

#[expect(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn done(memory: u64, name: &str, arguments: Value) -> Value {
    operation(memory, name, &arguments.to_string()).unwrap()
}

fn write(memory: u64, text: &str) {
    std::thread::sleep(Duration::from_millis(1));
    done(memory, "write", json!({ "path": PATH, "text": text }));
}

fn read(memory: u64) -> Value {
    done(memory, "read", json!({ "path": PATH }))
}

/// The current time. These texts sort like the times.
fn now() -> String {
    rfc3339(SystemTime::now())
}

fn acting_as(memory: u64, actor: &std::ffi::CStr) -> u64 {
    // SAFETY: the text lives until the call has ended.
    let (number, error) =
        with_error(|error| unsafe { memdir_acting_as(memory, actor.as_ptr(), error) });
    assert_eq!(error, None);
    number
}

#[test]
fn a_text_is_redacted_in_all_versions_that_have_it() {
    let memory = open("memory:", r#"{"history": true}"#).unwrap();
    write(memory, "hunter2\n");
    write(memory, "Hunter2\n");
    let mut redact = json!({ "query": "hunter2", "reason": "a key", "ignore_case": true });
    let error = operation(memory, "redact_text", &redact.to_string()).unwrap_err();
    assert_eq!(error["history_kind"], "is_current");
    redact["dry_run"] = json!(true);
    let dry = done(memory, "redact_text", redact.clone());
    assert_eq!((&dry["change"], &dry["current"]), (&Value::Null, &json!([PATH])));
    write(memory, "none\n");
    redact["dry_run"] = json!(false);
    let redacted = done(memory, "redact_text", redact);
    assert!(redacted["change"].is_string());
    assert_eq!(redacted["versions"].as_array().unwrap().len(), 2);
    let named = done(memory, "redact_text", json!({ "query": "memories", "reason": "-" }));
    assert_eq!((&named["names"], &named["kept_names"]), (&json!([]), &json!([])));
    done(memory, "clear", json!({}));
    let name = PATH.rsplit('/').next().unwrap();
    let named = done(memory, "redact_text", json!({ "query": name, "reason": "a file" }));
    assert_eq!((&named["names"], &named["kept_names"]), (&json!([PATH]), &json!([])));
}

#[test]
fn erase_removes_the_files_and_the_history() {
    let memory = open("memory:", r#"{"history": true}"#).unwrap();
    write(memory, "one\n");
    done(memory, "clear", json!({}));
    write(memory, "two\n");
    let counted = done(memory, "erase", json!({ "dry_run": true }));
    assert_eq!([&counted["files"], &counted["bytes"], &counted["versions"]], [1, 4, 3]);
    assert!(counted["history_bytes"].as_u64().unwrap() > 100);
    assert_eq!(done(memory, "erase", json!({})), counted);
    assert_eq!(done(memory, "history", json!({})), json!([]));
    assert_eq!(done(memory, "exists", json!({ "path": PATH })), json!(false));
}

#[test]
fn a_session_is_seen_and_undone() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("m").display().to_string();
    let database = format!("sqlite:{}", place.path().join("agent.db").display());
    for address in ["memory:", &directory, &database] {
        let memory = open(address, r#"{"history": true, "actor": "nobody"}"#).unwrap();
        let (me, other) = (acting_as(memory, c"me"), acting_as(memory, c"other"));
        write(other, "green\n");
        let begun = now();
        write(me, "black\n");
        let input = json!({ "command": "rename", "old_path": PATH, "new_path": "/memories/b" });
        let (_, _, event, _) = decided(me, &input.to_string(), "null");

        let versions = done(memory, "history", json!({}));
        let told = |at: usize| {
            let version = &versions[at];
            json!([version["operation"], version["path"], version["old_path"], version["actor"]])
        };
        assert_eq!(told(0), json!(["renamed", "/memories/b", PATH, "me"]));
        assert_eq!(told(1), json!(["overwritten", PATH, null, "me"]));
        assert_eq!(told(2), json!(["created", PATH, null, "other"]));
        assert_eq!(event["change"], versions[0]["change"]);
        assert_eq!((&versions[0]["is_current"], &versions[1]["size"]), (&json!(true), &json!(6)));
        assert_eq!(versions[2]["sha256"].as_str().unwrap().len(), 64);
        let time = versions[1]["time"].as_str().unwrap();
        assert!((&*begun..=&*now()).contains(&time), "{time} {begun}");

        let ids = |arguments: Value| -> Vec<Value> {
            let versions = done(me, "history", arguments);
            versions.as_array().unwrap().iter().map(|version| version["id"].clone()).collect()
        };
        let all = ids(json!({ "path": "/memories/b" }));
        assert_eq!(all.len(), 3);
        assert_eq!(ids(json!({ "limit": 1, "before": all[0] })), all[1..2]);
        assert_eq!(ids(json!({ "actor": "other" })), all[2..]);
        assert_eq!(ids(json!({ "change": versions[0]["change"] })), all[..1]);
        // The time of a version includes this version.
        assert_eq!(ids(json!({ "since": time })), all[..2]);

        assert_eq!(done(me, "read_version", json!({ "id": all[2] })), json!({ "text": "green\n" }));
        let diff = done(me, "diff", json!({ "id": all[1] }));
        assert!(diff.as_str().unwrap().ends_with("@@ -1 +1 @@\n-green\n+black\n"), "{diff}");
        let same = done(me, "diff", json!({ "id": all[1], "other": all[1] }));
        assert_eq!(same, json!(""));

        let undo = json!({ "since": begun, "actor": "me" });
        let mut dry_run = undo.clone();
        dry_run["dry_run"] = json!(true);
        let files = json!([{ "operation": "renamed", "path": PATH, "old_path": "/memories/b", "merged": null },
            { "operation": "modified", "path": PATH, "old_path": null, "merged": null }]);
        assert_eq!(
            done(me, "undo", dry_run),
            json!({ "change": null, "files": files, "skipped": [] })
        );
        let undone = done(me, "undo", undo);
        assert_eq!(read(memory), json!("green\n"));
        done(me, "undo", json!({ "change": undone["change"] }));
        done(me, "restore_all", json!({ "at": time }));
        assert_eq!(read(memory), json!("black\n"));

        let restore = json!({ "id": all[2] }).to_string();
        let conflict = operation(me, "restore", &restore).unwrap_err();
        assert_eq!((&conflict["kind"], &conflict["paths"]), (&json!("history"), &json!([PATH])));
        assert_eq!(conflict["history_kind"], "conflict");
        assert_eq!(conflict["conflicts"][0]["path"], PATH);
        assert!(conflict["conflicts"][0]["change"].is_string(), "{conflict}");
        done(me, "restore", json!({ "id": all[2], "overwrite": true }));
        assert_eq!(read(memory), json!("green\n"));

        let redact = json!({ "id": all[1], "reason": "a name" });
        assert!(done(me, "redact", redact.clone()).is_string());
        assert_eq!(done(me, "redact", redact), Value::Null);
        assert_eq!(done(me, "trim_history", json!({})), json!(0));
        for number in [memory, me, other] {
            assert!(memdir_close(number));
        }
    }
}

#[test]
fn content_that_is_not_text_is_base64() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a.bin"), b"\xff\x00").unwrap();
    let address = format!("dir:{}", place.path().display());
    let memory = open(&address, r#"{"history": true}"#).unwrap();
    // A file that another process created is recorded with the next change.
    execute(memory, r#"{"command": "delete", "path": "/memories/a.bin"}"#);
    let versions = done(memory, "history", json!({}));
    assert_eq!(versions[1]["operation"], "external");
    let content = done(memory, "read_version", json!({ "id": versions[1]["id"] }));
    assert_eq!(content, json!({ "base64": "/wA=" }));
    memdir_close(memory);
}

#[test]
fn what_cannot_be_done_is_said_by_its_kind() {
    let memory = open("memory:", r#"{"history": true}"#).unwrap();
    let none = "01990a3c-7c00-7123-8456-789abc000001";
    for (name, arguments, kind, case) in [
        ("history", json!({ "path": "/etc" }), "history", json!("path")),
        ("history", json!({ "before": "1" }), "history", json!("no_id")),
        ("history", json!({ "since": "today" }), "config", json!("since")),
        ("history", json!({ "limit": -1 }), "config", json!("limit")),
        ("history", json!({ "when": 1 }), "config", json!("when")),
        ("read_version", json!({}), "config", json!("id")),
        ("read_version", json!({ "id": none }), "history", json!("unknown")),
        ("diff", json!({ "id": none, "other": 1 }), "config", json!("other")),
        ("restore", json!({ "id": none, "overwrite": 1 }), "config", json!("overwrite")),
        ("undo", json!({}), "config", json!("change")),
        ("undo", json!({ "change": none, "since": now() }), "config", json!("since")),
        ("undo", json!({ "change": none, "actor": "a" }), "config", json!("actor")),
        ("undo", json!({ "change": none }), "history", json!("unknown")),
        ("restore_all", json!({}), "config", json!("at")),
        ("redact", json!({ "id": none }), "config", json!("reason")),
        ("trim_history", json!({ "all": true }), "config", json!("all")),
    ] {
        let error = operation(memory, name, &arguments.to_string()).unwrap_err();
        let found = if kind == "history" { &error["history_kind"] } else { &error["option"] };
        assert_eq!((&error["kind"], found), (&json!(kind), &case), "{name} {arguments}");
    }
    memdir_close(memory);
    let off = open("memory:", "{}").unwrap();
    let error = operation(off, "history", "{}").unwrap_err();
    assert_eq!(error["history_kind"], "off");
    memdir_close(off);
}

#[test]
fn a_number_that_acts_as_somebody_is_a_memory_of_its_own() {
    let memory = open("memory:", r#"{"history": true}"#).unwrap();
    let me = acting_as(memory, c"me");
    assert!(memdir_close(memory));
    write(me, "x");
    assert_eq!(done(me, "history", json!({}))[0]["actor"], "me");
    assert!(!memdir_cancel(me), "it was not made to be cancelled");
    let cancelled = memdir_cancellable(me);
    assert!(memdir_cancel(cancelled));
    assert_eq!(operation(cancelled, "history", "{}").unwrap_err()["kind"], "cancelled");
    // SAFETY: null is allowed everywhere.
    unsafe {
        let (number, error) = with_error(|error| memdir_acting_as(memory, c"me".as_ptr(), error));
        assert_eq!((number, &error.unwrap()["kind"]), (0, &json!("usage")));
        let (number, error) = with_error(|error| memdir_acting_as(me, null(), error));
        assert_eq!((number, &error.unwrap()["message"]), (0, &json!("actor is NULL")));
    }
    memdir_close(cancelled);
    memdir_close(me);
}
