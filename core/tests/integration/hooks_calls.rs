//! The data of a hook's call: the actor, and the text as it will be stored. Also the calls that hooks do not see.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::approving::Approving;
use crate::common::failing::Failing;
use crate::common::store_helpers::{at, put};
use memdir::command::Decoded;
use memdir::policy::sensitive::SensitiveText;
use memdir::store::InProcess;
use memdir::{
    Call, Error, ErrorKind, HookCall, HookDecision, Memory, MemoryOptions, OnExisting, Outcome,
    Store,
};
use serde_json::json;

const SECRET: &str = "password: q7Lw4Xt9Rb1Vc6Ny";
const REDACTED: &str = "password: [REDACTED:password-assignment]";

fn memory(set: impl FnOnce(&mut MemoryOptions)) -> Memory {
    let mut options = MemoryOptions::default();
    set(&mut options);
    Memory::open("memory:", options).unwrap()
}

#[test]
fn a_hook_is_told_who_acts_in_which_session_and_for_which_block() {
    let known = Arc::new(Mutex::new(Vec::new()));
    let by = Arc::clone(&known);
    let hooks = Approving::new(move |_, call| {
        let text = |text: Option<&str>| text.map(str::to_owned);
        by.lock().unwrap().push((
            text(call.actor()),
            call.session().to_owned(),
            text(call.tool_use_id()),
        ));
        Ok(HookDecision::Allow)
    });
    let one = hooks.of(&memory(|options| options.actor = Some("one".into())));
    let two = one.acting_as("two");
    let input = r#"{"command": "view", "path": "/memories"}"#;
    let block =
        format!(r#"{{"type": "tool_use", "id": "toolu_1", "name": "memory", "input": {input}}}"#);
    let nameless = format!(r#"{{"type": "tool_use", "id": 7, "input": {input}}}"#);
    for (memory, input, actor, id) in [
        (&one, input, "one", None),
        (&one.clone(), &*block, "one", Some("toolu_1")),
        (&one.session(), &*nameless, "one", None),
        (&two, &*block, "two", Some("toolu_1")),
    ] {
        assert!(!memory.execute(input).is_error);
        let (acting, session, block) = known.lock().unwrap().last().cloned().unwrap();
        assert_eq!((acting.as_deref(), block.as_deref()), (Some(actor), id));
        assert_eq!(session, memory.session_id());
        let event = hooks.last();
        assert_eq!((event.actor, event.session, event.tool_use_id), (acting, session, block));
    }
    // Also for a call that no hook sees.
    let refused = block.replace("/memories", "/etc");
    assert!(two.execute(&refused).is_error);
    assert_eq!(hooks.last().tool_use_id.as_deref(), Some("toolu_1"));
    let nobody = hooks.of(&memory(|_| {}));
    nobody.view("/memories", None).unwrap();
    assert_eq!(hooks.last().actor, None);
}

#[test]
fn every_session_has_an_id_of_its_own() {
    let memory = memory(|_| {});
    let mut ids = HashSet::from([memory.session_id().to_owned()]);
    for _ in 0..1_000 {
        assert!(ids.insert(memory.session().session_id().to_owned()));
        assert!(ids.insert(memory.acting_as("a").session_id().to_owned()));
    }
    let cancellation = memdir::Cancellation::new();
    assert_eq!(memory.cancelled_by(&cancellation).session_id(), memory.session_id());
}

#[test]
fn a_hook_sees_the_text_as_it_will_be_stored() {
    let seen = Arc::new(Mutex::new(String::new()));
    let by = Arc::clone(&seen);
    let hooks = Approving::new(move |command, _| {
        let text = command.text().map(|(_, text)| text.to_owned()).unwrap_or_default();
        by.lock().unwrap().clone_from(&text);
        Ok(if text.ends_with("shown\n") {
            // The result of a hook that returns the whole command.
            HookDecision::Replace(text)
        } else if text.ends_with("other\n") {
            HookDecision::Replace(text.replace("other", "another"))
        } else {
            HookDecision::Allow
        })
    });
    let memory = memory(|options| {
        options.sensitive_text = SensitiveText::Redact;
        options.on_existing = OnExisting::Overwrite;
    });
    let asking = hooks.of(&memory);
    let by_hook = "[The program that runs this memory changed the text";
    let by_rule = "[Sensitive text was not written: line 1 (password-assignment).";
    for (end, stored, sentence) in [
        ("allowed\n", "allowed\n", by_rule),
        ("shown\n", "shown\n", by_rule),
        ("other\n", "another\n", by_hook),
    ] {
        let text = format!("{SECRET}\n{end}");
        let expected = format!("{REDACTED}\n{stored}");
        memory.write("/memories/a", "x", None).unwrap();
        let path = "/memories/a";
        for (input, stored) in [
            (json!({"command": "create", "path": path, "file_text": text}), expected.clone()),
            (
                json!({"command": "str_replace", "path": path, "old_str": expected, "new_str": text}),
                expected.clone(),
            ),
            (
                json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": text}),
                format!("{expected}{expected}"),
            ),
        ] {
            let reply = asking.execute_value(&input).content.to_string();
            assert_eq!(*seen.lock().unwrap(), format!("{REDACTED}\n{end}"));
            assert!(reply.contains(sentence), "{reply}");
            assert_eq!(reply.contains(by_hook), sentence == by_hook);
            assert_eq!(memory.read("/memories/a").unwrap(), stored);
        }
    }
}

#[test]
fn a_hook_may_mend_a_text_that_would_be_refused_and_its_diff_says_so() {
    let memory = memory(|options| {
        options.sensitive_text = SensitiveText::Reject;
        options.max_file_bytes = Some(100);
    });
    put(&**memory.store(), "/memories/taken", "one");
    let mending = Approving::new(|_, _| Ok(HookDecision::Replace("(left out)".into())));
    for text in [SECRET.to_owned(), "x".repeat(101)] {
        for path in ["/memories/new", "/memories/taken"] {
            let usual = memory.create(path, &text).unwrap_err();
            let asking = Approving::new(|_, call| {
                call.diff().map(|_| HookDecision::Allow).map_err(Into::into)
            });
            let refused = asking.of(&memory).create(path, &text).unwrap_err();
            assert_eq!((refused.kind(), refused.to_string()), (usual.kind(), usual.to_string()));
            assert_eq!(asking.last().outcome, Outcome::Refused);
        }
        mending.of(&memory).create("/memories/new", &text).unwrap();
        assert_eq!(memory.read("/memories/new").unwrap(), "(left out)");
        memory.delete("/memories/new").unwrap();
    }
}

#[test]
fn the_first_half_of_a_call_does_not_touch_the_store() {
    for mode in [SensitiveText::Reject, SensitiveText::Redact] {
        let mut options = MemoryOptions::default();
        options.sensitive_text = mode;
        options.max_file_bytes = Some(50);
        let memory = Memory::with_store(Arc::new(Failing(|| panic!("touched"))), options);
        for text in [SECRET.to_owned(), "x".repeat(51), "fine".to_owned()] {
            let input = json!({"command": "create", "path": "/memories/a", "file_text": text});
            let call = memory.begin(Decoded::of_json(&input));
            assert!(call.command().is_some() && memory.hook_call(&call).is_some());
        }
    }
}

#[test]
fn a_call_without_hooks_has_no_hook_call() {
    let memory = memory(|_| {});
    let refused = memory.begin(Decoded::parse(r#"{"command": "view", "path": "/etc"}"#));
    assert!(refused.command().is_none() && memory.hook_call(&refused).is_none());
}

/// Both can be sent to another thread, and be shared by several.
fn is_shared<T: Send + Sync + 'static>(value: T) -> T {
    value
}

fn is_sent<T: Send + 'static>(value: T) -> T {
    value
}

#[test]
fn a_diff_is_computed_once_whoever_asks() {
    let memory = memory(|_| {});
    let input = r#"{"command": "create", "path": "/memories/a", "file_text": "one\n"}"#;
    let call: Call<'static> = is_sent(memory.begin(Decoded::parse(input)).into_owned());
    let known: HookCall<'static> = is_shared(memory.hook_call(&call).unwrap().into_owned());
    let diffs: Vec<String> = thread::scope(|scope| {
        let asking: Vec<_> =
            (0..4).map(|_| scope.spawn(|| known.clone().diff().unwrap())).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    assert!(diffs.iter().all(|diff| diff.contains("+one") && *diff == diffs[0]));
    memory.create("/memories/a", "two\n").unwrap();
    // It is still the diff of the decision.
    assert_eq!(memory.hook_call(&call).unwrap().diff().unwrap(), diffs[0]);
    let (reply, _) = memory.finish(call, Ok(HookDecision::Allow));
    assert_eq!(reply.kind, Some(ErrorKind::Changed));
    assert_eq!(known.diff().unwrap(), diffs[0]);
}

#[test]
fn what_is_not_shown_before_the_decision_is_not_shown() {
    let memory = memory(|_| {});
    let input = r#"{"command": "create", "path": "/memories/a", "file_text": "one\n"}"#;
    let call = memory.begin(Decoded::parse(input)).into_owned();
    let known = memory.hook_call(&call).unwrap().into_owned();
    let (reply, _) = memory.finish(call, Ok(HookDecision::Allow));
    assert!(!reply.is_error);
    assert!(matches!(known.diff(), Err(Error::Hook(_))));
}

#[test]
fn a_diff_of_a_cancelled_call_is_cancelled() {
    let memory = memory(|_| {});
    let cancellation = memdir::Cancellation::new();
    let cancelled = memory.cancelled_by(&cancellation);
    let input = r#"{"command": "create", "path": "/memories/a", "file_text": "one\n"}"#;
    let call = cancelled.begin(Decoded::parse(input));
    cancellation.cancel();
    let diff = cancelled.hook_call(&call).unwrap().diff();
    assert!(matches!(&diff, Err(Error::Store(error)) if error.is_cancelled()), "{diff:?}");
    let (_, event) = cancelled.finish(call, Ok(HookDecision::Allow));
    assert_eq!(event.unwrap().outcome, Outcome::Cancelled);
}

#[test]
fn commands_of_a_hook_and_diffs_do_not_disturb_each_other() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*store, "/memories/a", "one\n");
    let memory = Memory::with_store(store, MemoryOptions::default());
    let inner = Arc::new(Mutex::new(None::<Memory>));
    let own = Arc::clone(&inner);
    let hooks = Approving::new(move |_, call| {
        let own = own.lock().unwrap().clone().unwrap();
        let diff = call.diff()?;
        // These run without hooks, and concern other files.
        if own.create("/memories/log", &diff).is_err() {
            own.insert("/memories/log", 0, &diff)?;
        }
        own.view("/memories/a", None)?;
        let known = call.clone().into_owned();
        let elsewhere = thread::spawn(move || known.diff()).join().unwrap()?;
        assert_eq!(elsewhere, diff);
        Ok(HookDecision::Allow)
    });
    let asking = hooks.of(&memory);
    *inner.lock().unwrap() = Some(asking.clone());
    asking.insert("/memories/a", 1, "two").unwrap();
    asking.str_replace("/memories/a", "one", "1").unwrap();
    asking.delete("/memories/a").unwrap();
    assert_eq!(hooks.times_asked(), 3);
    let log = memory.read("/memories/log").unwrap();
    assert!(log.contains("+two") && log.contains("+1") && log.contains("-two"), "{log}");
    assert!(memory.store().read(&at("/memories/a")).is_err());
}
