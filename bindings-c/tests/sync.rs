//! Syncs of two memories through the C interface.
#![expect(unsafe_code, reason = "what is tested is called from C")]
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use common::{execute, open, operation, with_error};
use memdir_c::*;
use serde_json::{Value, json};

mod common;

const TEA: &str = "/memories/tea.md";

/// Two memories with the numbers `a` and `b`, which are closed at the end.
struct Two {
    a: u64,
    b: u64,
}

impl Two {
    fn new() -> Self {
        let memory = || open("memory:", r#"{"history": true}"#).unwrap();
        Self { a: memory(), b: memory() }
    }

    /// Both have the same file.
    fn with_tea() -> Self {
        let two = Self::new();
        two.write(two.a, TEA, "green\nherbal\nblack\n");
        assert_eq!(two.sync(json!({})).unwrap()["equal"], 1);
        two
    }

    #[expect(clippy::unused_self, reason = "it belongs to them")]
    fn write(&self, memory: u64, path: &str, text: &str) {
        let arguments = json!({ "path": path, "text": text });
        operation(memory, "write", &arguments.to_string()).unwrap();
    }

    #[expect(clippy::unused_self, reason = "it belongs to them")]
    fn read(&self, memory: u64, path: &str) -> Value {
        operation(memory, "read", &json!({ "path": path }).to_string()).unwrap()
    }

    fn sync(&self, mut options: Value) -> Result<Value, Value> {
        options["to"] = json!(self.b);
        operation(self.a, "sync", &options.to_string())
    }
}

impl Drop for Two {
    fn drop(&mut self) {
        memdir_close(self.a);
        memdir_close(self.b);
    }
}

#[test]
fn a_sync_makes_two_memories_equal() {
    let two = Two::new();
    two.write(two.a, TEA, "green\nherbal\nblack\n");
    two.write(two.b, "/memories/b.md", "b\n");
    let synced = two.sync(json!({})).unwrap();
    let change =
        |path, side| json!({ "path": path, "side": side, "action": "created", "old_path": null });
    let expected = json!({
        "changes": [change("/memories/b.md", "a"), change(TEA, "b")],
        "conflicts": [], "left_out": [], "redactions": [], "equal": 2, "has_baseline": false,
    });
    assert_eq!(synced, expected);

    two.write(two.a, TEA, "jasmine\nherbal\nblack\n");
    two.write(two.b, TEA, "green\nherbal\noolong\n");
    let merged = two.sync(json!({})).unwrap();
    assert_eq!(merged["changes"][0]["action"], "merged");
    for memory in [two.a, two.b] {
        assert_eq!(two.read(memory, TEA), "jasmine\nherbal\noolong\n");
    }
    let versions = operation(two.b, "history", r#"{"actor": "sync"}"#).unwrap();
    assert_eq!(versions.as_array().unwrap().len(), 2);
}

#[test]
fn a_conflict_of_a_sync_keeps_both_contents() {
    for (on_conflict, of_a, of_copy) in
        [("keep-both", "a\n", Some("b\n")), ("a", "a\n", None), ("b", "b\n", None)]
    {
        let two = Two::with_tea();
        two.write(two.a, TEA, "a\n");
        two.write(two.b, TEA, "b\n");
        let options = json!({ "on_conflict": on_conflict, "names": ["laptop", "server"] });
        let synced = two.sync(options).unwrap();
        assert_eq!((two.read(two.a, TEA), two.read(two.b, TEA)), (of_a.into(), of_a.into()));
        match of_copy {
            None => assert_eq!(synced["conflicts"], json!([])),
            Some(text) => {
                let conflict = &synced["conflicts"][0];
                assert_eq!((&conflict["path"], &conflict["side"]), (&json!(TEA), &json!("b")));
                let copy = conflict["copy_path"].as_str().unwrap();
                assert!(copy.contains("conflict from server"), "{copy}");
                assert_eq!(
                    (two.read(two.a, copy), two.read(two.b, copy)),
                    (text.into(), text.into())
                );
            }
        }
    }
}

#[test]
fn a_sync_has_options() {
    let two = Two::with_tea();
    two.write(two.a, "/memories/large.md", "larger\n");
    two.write(two.a, "/memories/private/a.md", "a\n");
    two.write(two.a, "/memories/a.md", "a\n");
    two.write(two.b, "/memories/b.md", "b\n");
    let options = json!({ "one_way": true, "max_file_bytes": 6, "exclude": ["/memories/private"] });
    let mut dry = options.clone();
    dry["dry_run"] = json!(true);
    let planned = two.sync(dry).unwrap();
    assert_eq!(operation(two.b, "exists", r#"{"path": "/memories/a.md"}"#), Ok(json!(false)));
    let synced = two.sync(options).unwrap();
    assert_eq!(planned["changes"], synced["changes"]);
    let changes = synced["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["path"]), (1, &json!("/memories/a.md")));
    let left_out = synced["left_out"].as_array().unwrap();
    let reason =
        |path: &str| left_out.iter().find(|left| left["path"] == path).map(|left| &left["reason"]);
    assert_eq!(reason("/memories/large.md"), Some(&json!("too_large")));
    assert_eq!(operation(two.a, "exists", r#"{"path": "/memories/b.md"}"#), Ok(json!(false)));
}

#[test]
fn an_error_of_a_sync_has_a_kind() {
    let two = Two::with_tea();
    execute(two.b, r#"{"command": "delete", "path": "/memories/tea.md"}"#);
    let error = two.sync(json!({})).unwrap_err();
    assert_eq!(
        error,
        json!({
            "kind": "sync", "sync_kind": "too_many_deletions",
            "message": "1 of the 1 files of a would be deleted, as they are gone from the other memory: nothing was changed",
        })
    );
    assert_eq!(two.sync(json!({ "delete": true })).unwrap()["changes"][0]["action"], "deleted");

    let with = |memory: u64, to: u64| {
        let error = operation(memory, "sync", &json!({ "to": to }).to_string()).unwrap_err();
        assert_eq!(error["kind"], "sync", "{error}");
        error["sync_kind"].clone()
    };
    assert_eq!(with(two.a, two.a), "overlapping");
    two.write(two.a, TEA, "green\n");
    let fixed = open("memory:", r#"{"read_only": true}"#).unwrap();
    assert_eq!(with(two.a, fixed), "read_only");
    for (a, b) in [(true, false), (false, true)] {
        let number = |memory, cancelled: bool| {
            let number = memdir_cancellable(memory);
            assert!(!cancelled || memdir_cancel(number));
            number
        };
        let (a, b) = (number(two.a, a), number(two.b, b));
        assert_eq!(with(a, b), "stopped");
        memdir_close(a);
        memdir_close(b);
    }
    memdir_close(fixed);
}

#[test]
fn wrong_options_of_a_sync_are_refused_by_name() {
    let two = Two::new();
    for (option, wrong) in [
        ("on_conflict", json!("newest")),
        ("on_conflict", json!(1)),
        ("one_way", json!("yes")),
        ("dry_run", json!(1)),
        ("delete", json!("no")),
        ("exclude", json!("/memories/a")),
        ("exclude", json!(["notes"])),
        ("max_file_bytes", json!(-1)),
        ("names", json!(["one"])),
        ("names", json!([1, 2])),
    ] {
        let error = two.sync(json!({ option: wrong })).unwrap_err();
        assert_eq!(
            (&error["kind"], &error["option"]),
            (&json!("config"), &json!(option)),
            "{error}"
        );
    }
    assert_eq!(two.sync(json!({ "one-way": true })).unwrap_err()["kind"], "config");
    for (to, kind) in
        [(json!({}), "config"), (json!({ "to": "a" }), "config"), (json!({ "to": 0 }), "usage")]
    {
        assert_eq!(operation(two.a, "sync", &to.to_string()).unwrap_err()["kind"], kind, "{to}");
    }
}

/// The numbers of the functions that were released.
static RELEASED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

unsafe extern "C" fn release(function: u64) {
    RELEASED.lock().unwrap().push(function);
}

/// Answers a request: the function with the number 1 joins both texts, 2 keeps both, 3 fails, 4 answers with a number, and 5 is cancelled.
unsafe extern "C" fn serve(
    function: u64,
    request: u64,
    asked: *const c_char,
    _: *const u8,
    length: usize,
) {
    // SAFETY: it is a text until this function returns.
    let asked = unsafe { CStr::from_ptr(asked) };
    let asked: Value = serde_json::from_slice(asked.to_bytes()).unwrap();
    assert_eq!((&asked["operation"], &asked["path"]), (&json!("merge"), &json!(TEA)));
    assert_eq!((&asked["base"], length), (&json!("green\nherbal\nblack\n"), 0));
    assert!(asked["modified_a"].is_string() && asked["modified_b"].is_string());
    let joined = || asked["a"].as_str().unwrap().to_owned() + asked["b"].as_str().unwrap();
    let answer = match function {
        1 => json!(joined()),
        2 => Value::Null,
        3 => json!({ "failed": "no model", "number": 7 }),
        4 => json!(4),
        _ => json!({ "errno": "ECANCELED" }),
    };
    let answer = CString::new(answer.to_string()).unwrap();
    // SAFETY: the text lives until the call has ended.
    assert!(unsafe { memdir_answer(request, answer.as_ptr(), null(), 0) });
}

#[test]
fn a_function_merges_conflicts() {
    for (function, text, error) in [
        (1, "white\nred\n", Value::Null),
        (2, "white\n", Value::Null),
        (3, "white\n", json!("/memories/tea.md could not be merged: no model")),
        (
            4,
            "white\n",
            json!("/memories/tea.md could not be merged: it answered neither a text nor null"),
        ),
        (5, "white\n", json!("the sync was stopped")),
    ] {
        let mut two = Two::with_tea();
        let host = memdir_host { serve: Some(serve), release: Some(release) };
        // SAFETY: the functions live as long as the program.
        let (merging, _) = with_error(|error| unsafe {
            memdir_with_merger(two.a, &raw const host, function, error)
        });
        memdir_close(two.a);
        two.a = merging;
        two.write(two.a, TEA, "white\n");
        two.write(two.b, TEA, "red\n");
        let synced = two.sync(json!({}));
        assert_eq!(two.read(two.a, TEA), text, "{function}");
        match &synced {
            Ok(done) => {
                assert_eq!(done["conflicts"].as_array().unwrap().len(), usize::from(function == 2));
            }
            Err(failed) => {
                assert_eq!((&failed["message"], &failed["sync_kind"]), (&error, &json!("stopped")));
                assert_eq!(failed["own"], if function == 3 { json!(7) } else { Value::Null });
                // The argument takes precedence.
                assert!(two.sync(json!({ "on_conflict": "b" })).is_ok());
                assert_eq!(two.read(two.a, TEA), "red\n");
            }
        }
        assert_eq!(synced.is_err(), !error.is_null(), "{function}: {synced:?}");
        drop(two);
        assert!(RELEASED.lock().unwrap().contains(&function));
    }
}

#[test]
fn a_function_that_is_not_taken_is_released() {
    let host = memdir_host { serve: Some(serve), release: Some(release) };
    // SAFETY: the functions live as long as the program.
    let (none, error) =
        with_error(|error| unsafe { memdir_with_merger(0, &raw const host, 100, error) });
    assert_eq!((none, &error.unwrap()["kind"]), (0, &json!("usage")));
    assert!(RELEASED.lock().unwrap().contains(&100));
    // SAFETY: null is allowed.
    let (none, error) = with_error(|error| unsafe { memdir_with_merger(1, null(), 1, error) });
    assert_eq!((none, &error.unwrap()["kind"]), (0, &json!("usage")));
}

/// Decides about a change of a sync: the hooks with the number 201 allow it, 202 deny it, 203 write another text, 204 fail, 205 do not finish the
/// call.
unsafe extern "C" fn review(
    hooks: u64,
    request: u64,
    asked: *const c_char,
    _: *const u8,
    _: usize,
) {
    // SAFETY: it is a text until this function returns.
    let asked = unsafe { CStr::from_ptr(asked) };
    let asked: Value = serde_json::from_slice(asked.to_bytes()).unwrap();
    let command = json!({ "command": "create", "path": TEA, "file_text": "green\n" });
    assert_eq!((&asked["operation"], &asked["command"]), (&json!("hook"), &command));
    let pending = asked["pending"].as_u64().unwrap();
    // SAFETY: the place for the error is null.
    let known = common::taken(unsafe { memdir_hook_call(pending, null_mut()) }).unwrap();
    assert_eq!(known["actor"], "sync");
    // SAFETY: the place for the error is null.
    let diff = common::taken(unsafe { memdir_hook_diff(pending, null_mut()) }).unwrap();
    assert_eq!(diff, "--- /dev/null\n+++ /memories/tea.md\n@@ -0,0 +1 @@\n+green\n");
    let (decision, answer) = match hooks {
        201 => (Value::Null, Value::Null),
        202 => (json!({ "deny": "Not this one." }), Value::Null),
        203 => (json!({ "replace": "black\n" }), Value::Null),
        _ => (json!({ "fail": "away" }), json!({ "failed": "away", "number": 9 })),
    };
    if hooks != 205 {
        let decision = CString::new(decision.to_string()).unwrap();
        let mut event = null_mut();
        // SAFETY: the text lives until the call has ended, and the place for the error is null.
        let reply =
            unsafe { memdir_finish(pending, decision.as_ptr(), &raw mut event, null_mut()) };
        let outcome = match hooks {
            201 | 203 => "ok",
            202 => "denied",
            _ => "failed",
        };
        assert_eq!(common::taken(event).unwrap()["outcome"], outcome);
        assert!(common::taken(reply).is_some());
    }
    let answer = if hooks == 205 { Value::Null } else { answer };
    let answer = CString::new(answer.to_string()).unwrap();
    // SAFETY: the text lives until the call has ended.
    assert!(unsafe { memdir_answer(request, answer.as_ptr(), null(), 0) });
}

#[test]
fn hooks_review_what_a_sync_writes() {
    let failed = |why: &str| json!(format!("/memories/tea.md could not be checked: {why}"));
    for (hooks, text, error) in [
        (201, json!("green\n"), Value::Null),
        (202, Value::Null, Value::Null),
        (203, json!("black\n"), Value::Null),
        (204, Value::Null, failed("away")),
        (205, Value::Null, failed("it did not answer")),
    ] {
        let mut two = Two::new();
        let host = memdir_host { serve: Some(review), release: Some(release) };
        // SAFETY: the functions live as long as the program.
        let (reviewed, _) =
            with_error(|error| unsafe { memdir_with_hooks(two.b, &raw const host, hooks, error) });
        memdir_close(two.b);
        two.b = reviewed;
        two.write(two.a, TEA, "green\n");
        let synced = two.sync(json!({}));
        let exists = operation(two.b, "exists", &json!({ "path": TEA }).to_string()).unwrap();
        assert_eq!(exists, json!(!text.is_null()), "{hooks}");
        if !text.is_null() {
            assert_eq!(two.read(two.b, TEA), text);
        }
        match &synced {
            Ok(done) if hooks == 202 => assert_eq!(done["left_out"][0]["details"], "Not this one."),
            Ok(done) => assert_eq!(done["left_out"], json!([])),
            Err(failed) => {
                assert_eq!((&failed["message"], &failed["sync_kind"]), (&error, &json!("stopped")));
                assert_eq!(failed["own"], if hooks == 204 { json!(9) } else { Value::Null });
            }
        }
        assert_eq!(synced.is_err(), !error.is_null(), "{hooks}: {synced:?}");
        drop(two);
        assert!(RELEASED.lock().unwrap().contains(&hooks));
    }
}
