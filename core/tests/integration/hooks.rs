//! Hooks: their decisions, the data that they get, and no deadlocks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use crate::common::failing::Failing;
use memdir::command::Decoded;
use memdir::policy::sensitive::SensitiveText;
use memdir::store::InProcess;
use memdir::{
    Cancellation, Command, Error, ErrorKind, Event, HookCall, HookDecision, HookError, Memory,
    MemoryHooks, MemoryOptions, MemoryPath, Outcome, Store, StoreError,
};

type Before = dyn Fn(&Command<'_>) -> Result<HookDecision, HookError> + Send + Sync;

/// A hook made from a closure, and the calls that it received.
struct Told {
    before: Box<Before>,
    events: Mutex<Vec<Event>>,
}

impl Told {
    fn new(
        before: impl Fn(&Command<'_>) -> Result<HookDecision, HookError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { before: Box::new(before), events: Mutex::default() })
    }

    fn last(&self) -> Event {
        self.events.lock().unwrap().last().cloned().unwrap()
    }

    fn count(&self) -> usize {
        self.events.lock().unwrap().len()
    }
}

impl MemoryHooks for Told {
    fn before(&self, command: &Command<'_>, _: &HookCall<'_>) -> Result<HookDecision, HookError> {
        (self.before)(command)
    }

    fn after(&self, event: &Event) {
        self.events.lock().unwrap().push(event.clone());
    }
}

fn memory(options: MemoryOptions, hooks: &Arc<Told>) -> Memory {
    Memory::open("memory:", options).unwrap().with_hooks(Arc::<Told>::clone(hooks))
}

fn said(event: &Event) -> String {
    let path = event.path.as_ref().map_or("-", MemoryPath::as_str);
    let Event { command, outcome, bytes, lines, .. } = event;
    format!("{} {path} {outcome} {bytes} {lines}", command.unwrap_or("-"))
}

#[test]
fn a_command_is_vetoed_before_the_store_is_touched() {
    let hooks = Told::new(|command| Ok(HookDecision::Deny(format!("Not {}.", command.name()))));
    let memory =
        Memory::with_store(Arc::new(Failing(|| panic!("touched"))), MemoryOptions::default())
            .with_hooks(Arc::<Told>::clone(&hooks));
    for (input, name) in [
        (r#"{"command":"view","path":"/memories"}"#, "view"),
        (r#"{"command":"create","path":"/memories/a","file_text":"x"}"#, "create"),
        (r#"{"command":"str_replace","path":"/memories/a","old_str":"x"}"#, "str_replace"),
        (
            r#"{"command":"insert","path":"/memories/a","insert_line":0,"insert_text":"x"}"#,
            "insert",
        ),
        (r#"{"command":"delete","path":"/memories//a/"}"#, "delete"),
        (r#"{"command":"rename","old_path":"/memories/a","new_path":"/memories/b"}"#, "rename"),
    ] {
        let reply = memory.execute(input);
        assert!(reply.is_error && reply.cause.is_none());
        assert_eq!(reply.content.as_text().unwrap_or_default(), format!("Not {name}."));
        let path = if name == "view" { "/memories" } else { "/memories/a" };
        assert_eq!(said(&hooks.last()), format!("{name} {path} denied 0 0"));
    }
    assert_eq!(hooks.last().new_path.unwrap().as_str(), "/memories/b");
}

#[test]
fn a_veto_without_a_word_has_a_sentence_all_the_same() {
    let memory =
        memory(MemoryOptions::default(), &Told::new(|_| Ok(HookDecision::Deny(" ".into()))));
    let error = memory.delete("/memories/a").unwrap_err().to_string();
    assert_eq!(error, "Error: This command is not allowed here. Nothing was changed.");
}

#[test]
fn what_a_hook_writes_is_judged_like_any_text() {
    let mut options = MemoryOptions::default();
    options.sensitive_text = SensitiveText::Reject;
    options.max_file_bytes = Some(100);
    let hooks = Told::new(|command| {
        Ok(match command.text() {
            Some((_, text)) => HookDecision::Replace(
                text.replace("(1)", "token: ghp_0123456789abcdefghijABCDEFGHIJ012345")
                    .replace("(2)", &"x".repeat(101))
                    .replace("(3)", "fine"),
            ),
            None => HookDecision::Allow,
        })
    });
    let memory = memory(options, &hooks);
    memory.create("/memories/a", "(3)\n").unwrap();
    assert_eq!(said(&hooks.last()), "create /memories/a ok 5 1");
    for (text, said) in [("(1)", "github-token"), ("(2)", "may hold 100 bytes")] {
        for refused in [
            memory.create("/memories/b", text),
            memory.str_replace("/memories/a", "fine", text),
            memory.insert("/memories/a", 1, text),
        ] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
    memory.insert("/memories/a", 0, "(3)").unwrap();
    assert!(memory.view("/memories/a", None).unwrap().ends_with("     1\tfine\n     2\tfine"));
}

#[test]
fn a_hook_that_fails_carries_nothing_out_and_tells_the_developer_alone() {
    let hooks = Told::new(|command| match command {
        Command::Delete { .. } => Ok(HookDecision::Replace("text".into())),
        _ => Err("no route to rules.internal".into()),
    });
    let memory = memory(MemoryOptions::default(), &hooks);
    let reply = memory.execute(r#"{"command":"create","path":"/memories/a","file_text":"x"}"#);
    assert!(reply.is_error);
    assert!(
        reply.content.as_text().unwrap_or_default().contains("not carried out"),
        "{}",
        reply.content
    );
    assert!(!reply.content.as_text().unwrap_or_default().contains("rules.internal"));
    assert!(reply.cause.unwrap().to_string().contains("rules.internal"));
    assert_eq!(said(&hooks.last()), "create /memories/a failed 0 0");
    let error = memory.create("/memories/a", "x").unwrap_err();
    assert!(matches!(&error, Error::Hook(source) if source.to_string().contains("internal")));
    // A text for a command that writes none.
    assert!(matches!(memory.delete("/memories/a"), Err(Error::Hook(_))));
    assert!(memory.store().list(&MemoryPath::root()).unwrap().is_empty());
}

#[test]
fn events_tell_of_every_call() {
    let hooks = Told::new(|_| Ok(HookDecision::Allow));
    let memory = memory(MemoryOptions::default(), &hooks);
    for (input, expected) in [
        (
            r#"{"command":"create","path":"/memories//é","file_text":"é\nb"}"#,
            "create /memories/é ok 4 2",
        ),
        (r#"{"command":"view","path":"/memories/é"}"#, "view /memories/é ok 72 3"),
        (
            r#"{"command":"str_replace","path":"/memories/é","old_str":"b"}"#,
            "str_replace /memories/é ok 0 0",
        ),
        (
            r#"{"command":"insert","path":"/memories/é","insert_line":0,"insert_text":"c"}"#,
            "insert /memories/é ok 1 1",
        ),
        (
            r#"{"command":"insert","path":"/memories/é","insert_line":9,"insert_text":"c"}"#,
            "insert /memories/é refused 0 0",
        ),
        (
            r#"{"command":"rename","old_path":"/memories/é","new_path":"/memories/b"}"#,
            "rename /memories/é ok 0 0",
        ),
        (r#"{"command":"delete","path":"/memories/b"}"#, "delete /memories/b ok 0 0"),
        (r#"{"command":"delete","path":"/etc"}"#, "delete - refused 0 0"),
        (r#"{"command":"delete"}"#, "delete - refused 0 0"),
        (r#"{"command":"undo"}"#, "- - refused 0 0"),
        (r#"[]"#, "- - refused 0 0"),
        (r#"{"#, "- - refused 0 0"),
    ] {
        let before = hooks.count();
        let _ = memory.execute(input);
        assert_eq!(hooks.count(), before + 1);
        let event = hooks.last();
        assert_eq!(said(&event), expected, "{input}");
        assert_eq!((event.content, event.repairs.len()), (None, 0));
    }
    memory.clear().unwrap();
    assert_eq!(hooks.count(), 12);
}

#[test]
fn the_content_is_told_where_it_is_asked_for() {
    let mut options = MemoryOptions::default();
    options.event_content = true;
    let hooks = Told::new(|command| match command {
        Command::Delete { .. } => Err("broken".into()),
        _ => Ok(HookDecision::Allow),
    });
    let memory = memory(options, &hooks);
    for input in [
        r#"{"command":"view","path":"/memories"}"#,
        r#"{"command":"view","path":"/memories/a"}"#,
        r#"{"command":"delete","path":"/memories/a"}"#,
        "{}",
    ] {
        let reply = memory.execute(input);
        assert_eq!(
            hooks.last().content.as_deref(),
            Some(reply.content.as_text().unwrap_or_default())
        );
    }
}

/// Calls back into its own memory and into another one, before and after.
struct CallsBack {
    own: OnceLock<Memory>,
    other: OnceLock<Memory>,
    calls: AtomicUsize,
}

impl CallsBack {
    fn write(&self, text: &str) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let log = "/memories/log";
        for memory in [self.own.get(), self.other.get()].into_iter().flatten() {
            if memory.create(log, "").is_err() {
                memory.insert(log, 0, text).unwrap();
            }
            memory.view(log, None).unwrap();
        }
    }
}

impl MemoryHooks for CallsBack {
    fn before(&self, command: &Command<'_>, _: &HookCall<'_>) -> Result<HookDecision, HookError> {
        self.write(command.name());
        Ok(HookDecision::Allow)
    }

    fn after(&self, event: &Event) {
        self.write(event.outcome.as_str());
    }
}

#[test]
fn a_hook_may_use_its_own_memory_and_another_whose_hooks_use_this_one() {
    let [one, two] = [(); 2].map(|()| {
        Arc::new(CallsBack {
            own: OnceLock::new(),
            other: OnceLock::new(),
            calls: AtomicUsize::new(0),
        })
    });
    let open = |hooks: &Arc<CallsBack>| {
        let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
        memory.with_hooks(Arc::<CallsBack>::clone(hooks))
    };
    let (first, second) = (open(&one), open(&two));
    let _ = (one.own.set(first.clone()), one.other.set(second.clone()));
    let _ = (two.own.set(second.clone()), two.other.set(first.clone()));
    first.view("/memories", None).unwrap();
    // Before and after the one view; and the other memory's own hooks around the nested calls.
    assert_eq!(one.calls.load(Ordering::SeqCst), 2);
    assert!(two.calls.load(Ordering::SeqCst) > 2);
    let calls = one.calls.load(Ordering::SeqCst);
    first.view("/memories", None).unwrap();
    assert_eq!(one.calls.load(Ordering::SeqCst), calls + 2);
}

#[test]
fn many_threads_at_once() {
    static STORE: OnceLock<Memory> = OnceLock::new();
    let hooks = Told::new(|command| {
        let inner = STORE.get().unwrap();
        inner.view("/memories", None)?;
        Ok(match command.text() {
            Some((_, text)) => HookDecision::Replace(text.to_uppercase()),
            None => HookDecision::Allow,
        })
    });
    let memory = Memory::with_store(Arc::new(InProcess::new()), MemoryOptions::default())
        .with_hooks(Arc::<Told>::clone(&hooks));
    let _ = STORE.set(memory.clone());
    memory.create("/memories/a", "x\n").unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                (0..50).for_each(|_| drop(memory.insert("/memories/a", 0, "y").unwrap()));
            });
        }
    });
    let shown = memory.view("/memories/a", None).unwrap();
    assert_eq!(shown.matches("\tY").count(), 400);
    assert!(!shown.contains('y'));
    assert_eq!(hooks.count(), 402);
}

#[test]
fn a_hook_that_panics_leaves_the_next_command_its_hooks() {
    let hooks = Told::new(|command| match command {
        Command::Delete { .. } => panic!("a mistake"),
        _ => Ok(HookDecision::Deny("No.".into())),
    });
    let memory = memory(MemoryOptions::default(), &hooks);
    assert!(catch_unwind(AssertUnwindSafe(|| memory.delete("/memories/a"))).is_err());
    assert_eq!(memory.view("/memories", None).unwrap_err().to_string(), "No.");
}

#[test]
fn a_call_that_is_cancelled_during_before_is_cancelled_whatever_before_decides() {
    let decisions: [fn() -> Result<HookDecision, HookError>; 4] = [
        || Ok(HookDecision::Allow),
        || Ok(HookDecision::Replace("y".into())),
        || Ok(HookDecision::Deny("No.".into())),
        || Err("no answer".into()),
    ];
    for decide in decisions {
        let cancellation = Cancellation::new();
        let cancel = cancellation.clone();
        let hooks = Told::new(move |_| {
            cancel.cancel();
            decide()
        });
        let memory = memory(MemoryOptions::default(), &hooks).cancelled_by(&cancellation);
        let done = memory.create("/memories/a", "x");
        assert!(matches!(done, Err(Error::Store(StoreError::Cancelled))), "{done:?}");
        assert_eq!(hooks.last().outcome.as_str(), "cancelled");
        // The same in two steps, for a binding that calls the hooks itself.
        let begun = memory.begin(Decoded::parse(r#"{"command": "delete", "path": "/memories/a"}"#));
        let (reply, event) = memory.finish(begun, decide());
        assert_eq!(reply.kind, Some(memdir::ErrorKind::Cancelled), "{reply:?}");
        assert_eq!(event.unwrap().outcome.as_str(), "cancelled");
        // A call that is refused without the hook stays refused.
        let begun = memory.begin(Decoded::parse(r#"{"command": "delete", "path": "/elsewhere"}"#));
        assert_eq!(memory.finish(begun, decide()).0.kind, Some(memdir::ErrorKind::Invalid));
    }
}

#[test]
fn a_command_of_a_hook_is_not_cancelled_with_the_call() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let cancellation = Cancellation::new();
    let (own, cancel) = (Arc::clone(&store), cancellation.clone());
    let hooks = Told::new(move |_| {
        cancel.cancel();
        let own = Memory::with_store(Arc::clone(&own), MemoryOptions::default());
        own.create("/memories/log", "seen").unwrap();
        Ok(HookDecision::Allow)
    });
    let memory = Memory::with_store(store, MemoryOptions::default()).with_hooks(hooks);
    let done = memory.cancelled_by(&cancellation).create("/memories/a", "x");
    assert!(matches!(done, Err(Error::Store(StoreError::Cancelled))), "{done:?}");
    assert!(memory.exists("/memories/log").unwrap() && !memory.exists("/memories/a").unwrap());
}

#[test]
fn before_is_not_asked_about_a_call_that_is_cancelled_and_after_is_told_of_it() {
    let hooks = Told::new(|_| panic!("asked"));
    let cancellation = Cancellation::new();
    let memory = memory(MemoryOptions::default(), &hooks).cancelled_by(&cancellation);
    cancellation.cancel();
    let done = memory.create("/memories/a", "x");
    assert!(matches!(done, Err(Error::Store(StoreError::Cancelled))), "{done:?}");
    assert_eq!(hooks.last().outcome, Outcome::Cancelled);
    // A command that is refused in any case is not cancelled.
    assert_eq!(memory.create("/elsewhere", "x").unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(hooks.last().outcome, Outcome::Refused);
    assert_eq!(hooks.count(), 2);
}
