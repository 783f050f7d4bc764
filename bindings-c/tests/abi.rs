//! The functions as C calls them, with arguments that only a mistaken or hostile caller passes. `make
//! sanitize` runs this under AddressSanitizer.
#![expect(unsafe_code, reason = "what is tested is called from C")]
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::ffi::{CStr, CString};
use std::fs;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::thread;

use common::{decided, execute, open, operation, taken, with_error};
use memdir_c::*;
use serde_json::{Value, json};

mod common;

const CREATE: &str =
    r#"{"command": "create", "path": "/memories/a.md", "file_text": "one\u0000\n"}"#;
const VIEW: &str = r#"{"command": "view", "path": "/memories/a.md"}"#;

#[test]
fn a_call_is_json_in_and_json_out() {
    let memory = open("memory:", "{}").unwrap();
    let created =
        json!({ "content": "File created successfully at: /memories/a.md", "is_error": false });
    assert_eq!(execute(memory, CREATE), (created, None));
    let (shown, _) = execute(memory, VIEW);
    // The file has a NUL byte, which a C text cannot hold.
    assert!(shown["content"].as_str().unwrap().ends_with("     1\tone\0"), "{shown}");
    let (refused, error) = execute(memory, r#"{"command": "view", "path": "/memories/b"}"#);
    assert_eq!((&refused["is_error"], error), (&json!(true), None));
    assert_eq!(operation(memory, "clear", "{}"), Ok(json!("All memory cleared")));
    assert!(memdir_close(memory));
}

#[test]
fn an_image_is_a_block() {
    let place = tempfile::tempdir().unwrap();
    let png = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings-uniffi/tests/plan.png");
    fs::copy(png, place.path().join("plan.png")).unwrap();
    let memory = open(&format!("dir:{}", place.path().display()), "{}").unwrap();
    let (reply, _) = execute(memory, r#"{"command": "view", "path": "/memories/plan.png"}"#);
    let source = &reply["content"][0]["source"];
    assert_eq!((&source["type"], &source["media_type"]), (&json!("base64"), &json!("image/png")));
    assert!(source["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    memdir_close(memory);
}

#[test]
fn null_and_bad_utf8_are_errors() {
    let bad = c"\xff".as_ptr();
    let memory = open("memory:", "{}").unwrap();
    // SAFETY: null is allowed everywhere, and the other texts are constants.
    unsafe {
        let opened = |address, options, sentence| {
            let (memory, error) = with_error(|error| memdir_open(address, options, error));
            assert_eq!((memory, error), (0, Some(json!({ "kind": "usage", "message": sentence }))));
        };
        opened(null(), null(), "address is NULL");
        opened(bad, null(), "address is not valid UTF-8");
        opened(c"memory:".as_ptr(), bad, "options is not valid UTF-8");
        assert_eq!(memdir_open(null(), null(), null_mut()), 0);

        let (reply, error) = with_error(|error| memdir_execute(memory, null(), error));
        assert_eq!(taken(reply).unwrap()["is_error"], true);
        assert_eq!(error.unwrap()["message"], "input is NULL");
        // The text comes from a model, so the model gets a sentence.
        let (reply, error) = with_error(|error| memdir_execute(memory, bad, error));
        assert_eq!((&taken(reply).unwrap()["is_error"], error), (&json!(true), None));
        assert_eq!(taken(memdir_execute(memory, bad, null_mut())).unwrap()["is_error"], true);

        let (command, error) = with_error(|error| memdir_begin(memory, null(), null_mut(), error));
        assert!(command.is_null());
        assert_eq!(error.unwrap()["message"], "pending is NULL");
        let (result, error) = with_error(|error| memdir_call(memory, null(), null(), error));
        assert!(result.is_null());
        assert_eq!(error.unwrap()["message"], "operation is NULL");
        memdir_free(null_mut());
        assert_eq!(CStr::from_ptr(memdir_version()).to_str().unwrap(), env!("CARGO_PKG_VERSION"));
    }
    memdir_close(memory);
}

#[test]
fn a_closed_memory_is_an_error_and_no_accident() {
    let memory = open("memory:", "{}").unwrap();
    assert!(memdir_close(memory));
    assert!(!memdir_close(memory));
    assert!(!memdir_close(0) && !memdir_close(u64::MAX));
    assert_eq!(memdir_cancellable(memory), 0);
    for number in [0, memory, u64::MAX] {
        let (reply, error) = execute(number, VIEW);
        assert_eq!(reply["is_error"], true);
        assert!(reply["content"].as_str().unwrap().starts_with("Error: "), "{reply}");
        assert_eq!(error.unwrap()["kind"], "usage");
        assert_eq!(operation(number, "clear", "{}").unwrap_err()["kind"], "usage");
    }
}

#[test]
fn a_memory_can_be_closed_while_others_use_it() {
    let memory = open("memory:", "{}").unwrap();
    execute(memory, CREATE);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Each reply is complete: it comes either from an open memory or from a closed one.
                while execute(memory, VIEW).1.is_none() {}
            });
        }
        thread::sleep(std::time::Duration::from_millis(50));
        assert!(memdir_close(memory));
    });
}

#[test]
fn a_cancelled_call_changes_nothing() {
    let memory = open("memory:", "{}").unwrap();
    assert!(!memdir_cancel(memory), "it was not made to be cancelled");
    let number = memdir_cancellable(memory);
    assert!(memdir_cancel(number) && memdir_cancel(number));
    let (reply, error) = execute(number, CREATE);
    assert!(reply["content"].as_str().unwrap().contains("Nothing was changed"), "{reply}");
    assert_eq!(error.unwrap()["kind"], "cancelled");
    assert!(memdir_close(number));
    assert!(!memdir_cancel(number));
    assert_eq!(execute(memory, CREATE).0["is_error"], false);
    memdir_close(memory);
}

#[test]
fn a_hook_decides_between_the_halves_of_a_call() {
    let memory = open("memory:", "{}").unwrap();
    let (command, reply, event, _) = decided(memory, CREATE, r#"{"deny": "Not now."}"#);
    assert_eq!(command.unwrap()["path"], "/memories/a.md");
    assert_eq!(reply, json!({ "content": "Not now.", "is_error": true, "kind": "denied" }));
    assert_eq!(event["outcome"], "denied");
    let (_, reply, _, _) = decided(memory, CREATE, r#"{"replace": "two\n"}"#);
    assert_eq!(reply["is_error"], false);
    let (_, reply, event, error) = decided(memory, VIEW, "null");
    assert!(reply["content"].as_str().unwrap().ends_with("     1\ttwo"));
    assert_eq!((&event["outcome"], error), (&json!("ok"), None));
    for wrong in
        ["{", "1", "{}", r#"{"deny": 1}"#, r#"{"deny": "a", "fail": "b"}"#, r#"{"fail": "b"}"#]
    {
        let (_, reply, event, error) = decided(memory, VIEW, wrong);
        assert_eq!((&reply["is_error"], &event["outcome"]), (&json!(true), &json!("failed")));
        assert_eq!(error.unwrap()["kind"], "hook", "{wrong}");
    }
    let (command, reply, event, _) = decided(memory, "[]", "null");
    assert_eq!(
        (command, &reply["is_error"], &event["command"]),
        (None, &json!(true), &Value::Null)
    );
    memdir_close(memory);
}

#[test]
fn a_program_reads_and_writes_files_itself() {
    let memory = open("memory:", "{}").unwrap();
    let done = |name, arguments: Value| operation(memory, name, &arguments.to_string());
    let path = "/memories/a.md";
    let write = json!({ "path": path, "text": "# Tea\n- Green\n" });
    assert_eq!(done("write", write.clone()), Ok(Value::Null));
    assert_eq!(
        done("write", json!({ "path": path, "text": "", "if_unchanged": "" })).unwrap_err()["kind"],
        "refused"
    );
    assert_eq!(done("read", json!({ "path": path })), Ok(json!(write["text"])));
    assert_eq!(done("exists", json!({ "path": path })), Ok(json!(true)));
    let listed = done("list", json!({})).unwrap();
    assert_eq!((&listed[0]["path"], &listed[0]["size"]), (&json!(path), &json!(14)));
    let found =
        done("grep", json!({ "query": "^- g", "regex": true, "ignore_case": true })).unwrap();
    assert_eq!(found, json!([{ "path": path, "line": 2, "text": "- Green" }]));
    assert_eq!(done("index", json!({})), Ok(json!("/memories/a.md\t14B\t# Tea\n")));
    let project = json!({ "about": "Tea.", "features": ["a list"] });
    let made = ["/memories/progress.md", "/memories/features.md", "/memories/init.md"];
    assert_eq!(done("bootstrap", project.clone()), Ok(json!(made)));
    assert_eq!(done("bootstrap", project), Ok(json!([])));
    assert!(done("bootstrap", json!({ "about": "", "features": [1] })).is_err());
    assert_eq!(done("forget_views", json!({})), Ok(json!(null)));
    assert_eq!(done("tool_definition", json!({})).unwrap()["name"], "memory");
    let tools =
        done("tool_definitions", json!({ "dialect": "openai", "prefix": "memory_" })).unwrap();
    assert_eq!(tools[0]["name"], "memory_view");
    memdir_close(memory);
}

#[test]
fn a_model_searches_with_a_tool_of_its_own() {
    let memory = open("memory:", "{}").unwrap();
    let definition = operation(memory, "search_tool_definition", "{}").unwrap();
    assert_eq!(definition["name"], "memory_search");
    let named = operation(memory, "search_tool_definition", r#"{"prefix": ""}"#).unwrap();
    assert_eq!(named["name"], "search");
    assert!(operation(memory, "search_tool_definition", r#"{"prefix": "a b"}"#).is_err());
    let note = r##"{"path": "/memories/anna.md", "text": "# Anna\n\n- likes green tea\n"}"##;
    operation(memory, "write", note).unwrap();
    let search = |input: &str| {
        let input = CString::new(input).unwrap();
        // SAFETY: the text lives until the call has ended.
        let (reply, error) =
            with_error(|error| unsafe { memdir_execute_search(memory, input.as_ptr(), error) });
        assert_eq!(error, None);
        // SAFETY: the library made the reply.
        taken(reply).unwrap()
    };
    let text = "/memories/anna.md\n     1\t# Anna\n     2\t\n     3\t- likes green tea";
    let found = json!({ "content": text, "is_error": false });
    assert_eq!(search(r#"{"query": "What does Anna like?", "limit": 3}"#), found);
    let sentence = "Error: Missing `query` parameter for the `search` command: expected a string";
    let refused = json!({ "content": sentence, "is_error": true, "kind": "invalid" });
    assert_eq!(search("{}"), refused);
    assert_eq!(search("{")["is_error"], true);
    memdir_close(memory);
    let input = c"{}";
    // SAFETY: the text is static.
    let (reply, error) =
        with_error(|error| unsafe { memdir_execute_search(memory, input.as_ptr(), error) });
    assert_eq!(taken(reply).unwrap()["is_error"], true);
    assert!(error.is_some());
}

#[test]
fn an_operation_takes_its_arguments_and_no_others() {
    let memory = open("memory:", r#"{"record_access": true}"#).unwrap();
    execute(memory, CREATE);
    let expired = operation(memory, "expire", r#"{"older_than": 0, "dry_run": true}"#).unwrap();
    assert_eq!(expired[0]["path"], "/memories/a.md");
    for (name, arguments, kind) in [
        ("expire", "{}", "config"),
        ("expire", r#"{"older_than": -1}"#, "config"),
        ("expire", r#"{"older_than": 1, "dry_run": 1}"#, "config"),
        ("expire", r#"{"older": 1}"#, "config"),
        ("read", "{}", "config"),
        ("read", r#"{"path": "a"}"#, "refused"),
        ("list", r#"{"depth": -1}"#, "config"),
        ("grep", r#"{"query": "(", "regex": true}"#, "config"),
        ("tool_definition", r#"{"dialect": "paint"}"#, "config"),
        ("write", r#"{"path": "a", "content": "b"}"#, "config"),
        ("clear", "[]", "usage"),
        ("clear", "{", "usage"),
        ("paint", "{}", "usage"),
    ] {
        assert_eq!(
            operation(memory, name, arguments).unwrap_err()["kind"],
            kind,
            "{name} {arguments}"
        );
    }
    memdir_close(memory);
}

/// A table of the project.
fn table(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Returns whether JSON can represent the value.
fn is_json(row: &Value) -> bool {
    let shown = row["value"].to_string();
    !["@half@", "@nan@", "@inf@", "@-inf@", "@long@"].iter().any(|name| shown.contains(name))
}

/// Returns whether a sentence matches the table. There `…` stands for any text.
fn says(row: &Value, name: &str, option: &Value, words: &Value, sentence: &str) -> bool {
    let mut expected = row["says"].as_str().unwrap().replace("{name}", name);
    let or_none = if option["none"] == true {
        format!(", or {}", words["none"].as_str().unwrap())
    } else {
        String::new()
    };
    expected = expected.replace("{or_none}", &or_none);
    // A JSON map loses the order of the words.
    expected = expected.replace("{words}", "…");
    for (word, text) in words.as_object().unwrap() {
        expected = expected.replace(&format!("{{{word}}}"), text.as_str().unwrap());
    }
    let mut rest = sentence;
    let parts: Vec<_> = expected.split('…').collect();
    for part in &parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    sentence.starts_with(parts[0]) && (rest.is_empty() || expected.ends_with('…'))
}

#[test]
fn wrong_options_of_the_table_are_refused_by_name() {
    let (values, known) = (table("tests/hostile/values.json"), table("core/options.json"));
    let sections = known["sections"].as_array().unwrap();
    let options = sections.iter().flat_map(|section| section["options"].as_array().unwrap());
    let mut tried = 0;
    for option in options.filter(|option| option["type"] != "hook") {
        let (name, kind) = (option["name"].as_str().unwrap(), option["type"].as_str().unwrap());
        for row in values["types"][kind].as_array().unwrap().iter().filter(|row| is_json(row)) {
            tried += 1;
            match open("memory:", &json!({ name: row["value"] }).to_string()) {
                Ok(memory) => {
                    assert_eq!(row["fits"], true, "{name} {row}");
                    let view = r#"{"command": "view", "path": "/memories"}"#;
                    assert_eq!(execute(memory, view).0["is_error"], false);
                    memdir_close(memory);
                }
                Err(error) => {
                    assert_ne!(row["fits"], true, "{name} {row}: {error}");
                    assert_eq!(
                        (&error["kind"], &error["option"]),
                        (&json!("config"), &json!(name))
                    );
                    let sentence = error["message"].as_str().unwrap();
                    assert!(
                        says(row, name, option, &values["words"]["c"], sentence),
                        "{row}: {sentence}"
                    );
                }
            }
        }
    }
    assert!(tried > 150, "{tried}");
}

#[test]
fn wrong_arguments_of_the_table_are_refused_by_name() {
    let (values, calls) =
        (table("tests/hostile/values.json"), table("tests/hostile/arguments.json"));
    let memory = open("memory:", r#"{"history": true, "record_access": true}"#).unwrap();
    let watch = operation(memory, "watch", "{}").unwrap();
    let mut tried = 0;
    for call in calls.as_array().unwrap() {
        let name = call["call"].as_str().unwrap();
        if name == "acting_as" {
            continue; // It takes a C text.
        }
        for (argument, kind) in call["arguments"].as_object().unwrap() {
            let (kind, none) = kind
                .as_str()
                .unwrap()
                .split_once(" or ")
                .map_or_else(|| (kind.as_str().unwrap(), false), |(kind, _)| (kind, true));
            for row in values["types"][kind].as_array().unwrap().iter().filter(|row| is_json(row)) {
                // In C a null argument is omitted. A call that waits as long as it should is not a mistake.
                if row["value"].is_null() || row["fits"] == true && call["waits"] == true {
                    continue;
                }
                let mut arguments = call["needs"].as_object().cloned().unwrap_or_default();
                for value in arguments.values_mut().filter(|value| **value == "@time@") {
                    *value = "2026-03-14T00:00:00Z".into();
                }
                arguments.insert(argument.clone(), row["value"].clone());
                if name == "changes" {
                    arguments.insert("watch".to_owned(), watch.clone());
                }
                tried += 1;
                let done = operation(memory, name, &Value::from(arguments).to_string());
                if row["fits"] == true {
                    assert!(!done.is_err_and(|error| error["option"] == *argument), "{name} {row}");
                    continue;
                }
                let error = done.unwrap_err();
                assert_eq!(
                    (&error["kind"], &error["option"]),
                    (&json!("config"), &json!(argument)),
                    "{name} {row}"
                );
                let sentence = error["message"].as_str().unwrap();
                let option = json!({ "none": none });
                assert!(
                    says(row, argument, &option, &values["words"]["c"], sentence),
                    "{name} {row}: {sentence}"
                );
            }
        }
    }
    assert!(tried > 300, "{tried}");
    for wrong in
        ["1e300", "0", r#""""#, r#""yesterday""#, r#""2026-03-14""#, r#""2026-03-14T15:09:26""#]
    {
        let arguments = format!(r#"{{"since": {wrong}}}"#);
        let error = operation(memory, "history", &arguments).unwrap_err();
        let sentence =
            r#"since must be a time as text, such as "2026-03-14T15:09:26.535897Z", got "#;
        assert_eq!(error["message"], format!("{sentence}{wrong}"));
    }
    memdir_close(memory);
}

#[test]
fn an_argument_that_an_operation_does_not_have_is_refused() {
    let memory = open("memory:", r#"{"history": true}"#).unwrap();
    let undo = r#"{"since": "1970-01-01T00:00:00Z", "dryRun": true}"#;
    for (name, arguments, option, sentence) in [
        (
            "undo",
            undo,
            "dryRun",
            "there is no option dryRun; there are change, since, actor, dry_run, skip_conflicts and merge",
        ),
        ("stats", r#"{"x": 1}"#, "x", "there is no option x; there are none"),
        ("exists", r#"{"at": 1}"#, "at", "there is no option at; there is only path"),
    ] {
        let error = operation(memory, name, arguments).unwrap_err();
        assert_eq!(error["kind"], "config", "{error}");
        assert_eq!((&error["option"], &error["message"]), (&json!(option), &json!(sentence)));
    }
    memdir_close(memory);
}

fn key_from_file(path: &Path) -> Result<String, Value> {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the path is a C text, and the library made the key.
    unsafe {
        let (key, error) = with_error(|error| memdir_key_from_file(path.as_ptr(), error));
        match error {
            Some(error) => Err(error),
            None => {
                let text = CStr::from_ptr(key).to_str().unwrap().to_owned();
                memdir_free(key);
                Ok(text)
            }
        }
    }
}

#[test]
fn a_key_in_a_file_is_text_for_the_options() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("memory.key");
    let (first, second) = (key_from_file(&path).unwrap(), key_from_file(&path).unwrap());
    assert_eq!(first, second);
    let digits: String =
        fs::read(&path).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(first, format!("hex:{digits}"));
    memdir_close(open("memory:", &json!({ "encryption_key": first }).to_string()).unwrap());
    fs::write(&path, "short").unwrap();
    let error = key_from_file(&path).unwrap_err();
    assert_eq!((&error["kind"], &error["option"]), (&json!("config"), &json!("path")), "{error}");
}

#[test]
fn a_call_between_its_halves_tells_who_acts_and_what_would_change() {
    let memory = open("memory:", r#"{"actor": "ann"}"#).unwrap();
    let write = r#"{"path": "/memories/a", "text": "one\n"}"#;
    operation(memory, "write", write).unwrap();
    let begin = |input: Value| {
        let input = std::ffi::CString::new(input.to_string()).unwrap();
        let mut pending = 0;
        // SAFETY: the text and the number live until the call has ended.
        let command = unsafe { memdir_begin(memory, input.as_ptr(), &raw mut pending, null_mut()) };
        (pending, taken(command))
    };
    // SAFETY: only numbers and a place for the error are passed.
    let known = |pending| with_error(|error| taken(unsafe { memdir_hook_call(pending, error) }));
    // SAFETY: as before.
    let diff = |pending| with_error(|error| taken(unsafe { memdir_hook_diff(pending, error) }));
    // SAFETY: null means no decision and no place for the event.
    let finish = |pending| unsafe { taken(memdir_finish(pending, null(), null_mut(), null_mut())) };

    let input = json!({ "command": "delete", "path": "/memories/a" });
    let block = json!({ "type": "tool_use", "id": "toolu_1", "name": "memory", "input": input });
    let (pending, command) = begin(block);
    assert_eq!(command, Some(input));
    let (call, error) = known(pending);
    let call = call.unwrap();
    assert_eq!((&call["actor"], &call["tool_use_id"]), (&json!("ann"), &json!("toolu_1")));
    assert!(call["session"].as_str().is_some_and(|id| !id.is_empty()) && error.is_none());
    let shown = json!("--- /memories/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n");
    assert_eq!(diff(pending), (Some(shown), None));
    operation(memory, "write", &write.replace("one", "two")).unwrap();
    assert_eq!(finish(pending).unwrap()["kind"], "changed");

    // A command that would be refused has no diff, and a call that is already refused has no hook call.
    let (pending, _) = begin(json!({ "command": "delete", "path": "/memories/none" }));
    let (none, error) = diff(pending);
    assert_eq!((none, &error.unwrap()["reply_kind"]), (None, &json!("not_found")));
    assert_eq!(finish(pending).unwrap()["kind"], "not_found");
    let (pending, command) = begin(json!({ "command": "view", "path": "/etc" }));
    assert_eq!(
        (command, known(pending), diff(pending)),
        (None, (Some(Value::Null), None), (Some(json!("")), None))
    );
    assert_eq!(finish(pending).unwrap()["kind"], "invalid");
    // A call that is cancelled during the hook is not executed, whatever the hook decides.
    let cancellable = memdir_cancellable(memory);
    for decision in [None, Some(c"{\"fail\": \"no answer\"}")] {
        let input =
            std::ffi::CString::new(r#"{"command": "delete", "path": "/memories/a"}"#).unwrap();
        let (mut pending, decision) = (0, decision.map_or(null(), std::ffi::CStr::as_ptr));
        // SAFETY: the texts and the numbers live until the calls have ended.
        let (reply, error) = unsafe {
            drop(taken(memdir_begin(cancellable, input.as_ptr(), &raw mut pending, null_mut())));
            assert!(memdir_cancel(cancellable));
            with_error(|error| taken(memdir_finish(pending, decision, null_mut(), error)))
        };
        assert_eq!(reply.unwrap()["kind"], "cancelled");
        assert_eq!(error.unwrap()["kind"], "cancelled");
    }
    memdir_close(cancellable);
    // The call has ended.
    assert_eq!(known(pending).1.unwrap()["kind"], "usage");
    assert_eq!(diff(pending).1.unwrap()["kind"], "usage");
    memdir_close(memory);
}
