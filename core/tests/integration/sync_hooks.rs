//! The hooks of a memory are asked about everything that a sync would change in it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use memdir::history::HistoryQuery;
use memdir::sync::{Resolution, SyncErrorKind, SyncReason};
use memdir::{
    CallHandler, Command, Event, HookCall, HookDecision, HookError, Memory, MemoryHooks,
    MemoryOptions, OnConflict, OnExisting, SyncError, SyncOptions,
};

use crate::common::store_helpers::at;
use crate::sync::{
    assert_equal, done, files, in_sync, left_out, memory, options, put, synced, try_sync,
};

type Decide = dyn Fn(&Command<'_>, &HookCall<'_>) -> Result<HookDecision, HookError> + Send + Sync;

/// Hooks that keep what they were asked and told.
struct Watching {
    decide: Box<Decide>,
    asked: Mutex<Vec<String>>,
    told: Mutex<Vec<Event>>,
}

impl Watching {
    fn new(
        decide: impl Fn(&Command<'_>, &HookCall<'_>) -> Result<HookDecision, HookError>
        + Send
        + Sync
        + 'static,
    ) -> Arc<Self> {
        let (asked, told) = (Mutex::default(), Mutex::default());
        Arc::new(Self { decide: Box::new(decide), asked, told })
    }

    /// Hooks that allow everything.
    fn allowing() -> Arc<Self> {
        Self::new(|_, _| Ok(HookDecision::Allow))
    }

    /// Takes the commands, each as `NAME PATH`.
    fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.sort();
        asked
    }

    /// Takes the events, each as `NAME PATH OUTCOME`.
    fn told(&self) -> Vec<String> {
        let told = std::mem::take(&mut *self.told.lock().unwrap());
        let line = |event: &Event| {
            let path = event.path.as_ref().map_or("", |path| path.relative());
            format!("{} {path} {}", event.command.unwrap_or(""), event.outcome)
        };
        let mut lines: Vec<String> = told.iter().map(line).collect();
        lines.sort();
        lines
    }
}

impl MemoryHooks for Watching {
    fn before(
        &self,
        command: &Command<'_>,
        call: &HookCall<'_>,
    ) -> Result<HookDecision, HookError> {
        let path = match command {
            Command::Rename { old_path, new_path } => format!("{old_path} -> {new_path}"),
            Command::Create { path, .. } | Command::Delete { path } => path.to_string(),
            _ => String::new(),
        };
        let line = format!("{} {}", command.name(), path.replace("/memories/", ""));
        self.asked.lock().unwrap().push(line);
        (self.decide)(command, call)
    }

    fn after(&self, event: &Event) {
        self.told.lock().unwrap().push(event.clone());
    }
}

fn with(memory: &Memory, hooks: &Arc<Watching>) -> Memory {
    memory.clone().with_hooks(Arc::clone(hooks) as Arc<dyn MemoryHooks>)
}

fn denying(sentence: &'static str) -> Arc<Watching> {
    Watching::new(move |_, _| Ok(HookDecision::Deny(sentence.to_owned())))
}

fn replacing(old: &'static str, new: &'static str) -> Arc<Watching> {
    Watching::new(move |command, _| {
        Ok(match command {
            Command::Create { file_text, .. } => HookDecision::Replace(file_text.replace(old, new)),
            _ => HookDecision::Allow,
        })
    })
}

fn details(synced: &memdir::Synced) -> Vec<&str> {
    synced.left_out.iter().map(|left| &*left.details).collect()
}

/// Two memories, of which the first has made a change of each kind.
fn changed() -> (Memory, Memory) {
    let files = [("old.md", "old\n"), ("name.md", "named\n"), ("list.md", "1\n2\n3\n")];
    let (a, b) = in_sync(&files);
    put(&a, "/memories/new.md", "new\n");
    put(&a, "/memories/list.md", "1\n2\n3\n4\n");
    a.delete("/memories/old.md").unwrap();
    a.rename("/memories/name.md", "/memories/renamed.md").unwrap();
    (a, b)
}

const EACH_KIND: [&str; 4] =
    ["create list.md", "create new.md", "delete old.md", "rename name.md -> renamed.md"];

#[test]
fn hooks_are_asked_about_each_kind_of_change() {
    let (a, b) = changed();
    let diffs = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&diffs);
    let hooks = Watching::new(move |command, call| {
        assert_eq!(call.actor(), Some("sync"));
        assert_eq!(call.tool_use_id(), None);
        if let Command::Create { path, file_text } = command {
            let text = if path.ends_with("new.md") { "new\n" } else { "1\n2\n3\n4\n" };
            assert_eq!(file_text, text);
        }
        kept.lock().unwrap().push(call.diff()?);
        Ok(HookDecision::Allow)
    });
    let made = synced(&a, &with(&b, &hooks));
    assert_eq!(hooks.asked(), EACH_KIND);
    assert_eq!(
        hooks.told(),
        ["create list.md ok", "create new.md ok", "delete old.md ok", "rename name.md ok"]
    );
    let mut diffs = diffs.lock().unwrap().clone();
    diffs.sort();
    assert_eq!(
        diffs,
        [
            "--- /dev/null\n+++ /memories/new.md\n@@ -0,0 +1 @@\n+new\n",
            "--- /memories/list.md\n+++ /memories/list.md\n@@ -1,3 +1,4 @@\n 1\n 2\n 3\n+4\n",
            "--- /memories/old.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
            "rename from /memories/name.md\nrename to /memories/renamed.md\n",
        ]
    );
    assert_eq!(made.changes.len(), 4);
    let expected = [("list.md", "1\n2\n3\n4\n"), ("new.md", "new\n"), ("renamed.md", "named\n")];
    assert_equal(&a, &b, &expected);
}

#[test]
fn a_denied_change_is_not_made_and_is_asked_about_again() {
    let (a, b) = changed();
    let before = files(&b);
    let refusing = denying("Error: This memory is under review.");
    let refused = synced(&a, &with(&b, &refusing));
    assert_eq!(files(&b), before);
    assert_eq!(done(&refused), [""; 0]);
    // The renamed file is reported under its new name.
    let paths = ["list.md", "new.md", "old.md", "renamed.md"];
    assert_eq!(left_out(&refused), paths.map(|path| (path, SyncReason::Refused)));
    assert_eq!(details(&refused), ["This memory is under review."; 4]);
    assert_eq!(refusing.asked(), EACH_KIND);
    let denied = refusing.told();
    assert!(denied.len() == 4 && denied.iter().all(|line| line.ends_with("denied")), "{denied:?}");

    let allowing = Watching::allowing();
    synced(&a, &with(&b, &allowing));
    assert_eq!(allowing.asked(), EACH_KIND);
    assert_eq!(files(&b), files(&a));
}

#[test]
fn both_memories_have_hooks_of_their_own() {
    let (a, b) = in_sync(&[("list.md", "1\n2\n3\n")]);
    put(&a, "/memories/list.md", "one\n2\n3\n");
    put(&b, "/memories/list.md", "1\n2\nthree\n");
    put(&a, "/memories/of-a.md", "a\n");
    put(&b, "/memories/of-b.md", "b\n");
    let (of_a, of_b) = (Watching::allowing(), Watching::allowing());
    synced(&with(&a, &of_a), &with(&b, &of_b));
    assert_eq!(of_a.asked(), ["create list.md", "create of-b.md"]);
    assert_eq!(of_b.asked(), ["create list.md", "create of-a.md"]);
    let again = synced(&with(&a, &of_a), &with(&b, &of_b));
    assert_eq!((done(&again), of_a.asked(), of_b.asked()), (vec![], vec![], vec![]));
}

#[test]
fn a_hook_replaces_the_text() {
    let (a, b) = in_sync(&[("tea.md", "green\n-\n")]);
    put(&a, "/memories/tea.md", "green, for Anna\n-\n");
    put(&a, "/memories/new.md", "by Anna\n");
    let hooks = replacing("Anna", "A.");
    let b = with(&b, &hooks);
    synced(&a, &b);
    assert_eq!(b.read("/memories/tea.md").unwrap(), "green, for A.\n-\n");
    assert_eq!(b.read("/memories/new.md").unwrap(), "by A.\n");
    let bytes: Vec<u64> = hooks.told.lock().unwrap().iter().map(|event| event.bytes).collect();
    assert_eq!(bytes, [6, 16]);
    hooks.asked();
    // The memories stay different, and neither of both counts as changed.
    let again = synced(&a, &b);
    assert_eq!((done(&again), hooks.asked()), (vec![], vec![]));
    let again = synced(&b, &a);
    assert_eq!((done(&again), hooks.asked()), (vec![], vec![]), "the other way round");
    assert_eq!(a.read("/memories/tea.md").unwrap(), "green, for Anna\n-\n");

    // A change of the other memory reaches the first one, without the replaced part.
    put(&b, "/memories/tea.md", "green, for A.\n-\nblack\n");
    assert_eq!(done(&synced(&a, &b)), ["a merged tea.md"]);
    assert_eq!(a.read("/memories/tea.md").unwrap(), "green, for Anna\n-\nblack\n");
}

#[test]
fn a_failing_hook_ends_the_sync_and_keeps_what_was_done() {
    let (a, b) = memories(&["1.md", "2.md", "3.md"]);
    let hooks = Watching::new(|command, _| match command {
        Command::Create { path, .. } if path.ends_with("2.md") => {
            Err("the reviewer is away".into())
        }
        _ => Ok(HookDecision::Allow),
    });
    let error = try_sync(&a, &with(&b, &hooks), &options()).unwrap_err();
    assert_eq!(error.kind(), Some(SyncErrorKind::Stopped));
    let sentence = "/memories/2.md could not be checked: the reviewer is away";
    assert_eq!(error.to_string(), sentence);
    assert!(matches!(error, SyncError::Hook { path, .. } if path == at("/memories/2.md")));
    assert_eq!(hooks.told(), ["create 1.md ok", "create 2.md failed"]);
    assert_eq!(files(&b).len(), 1);
    synced(&a, &b);
    assert_eq!(files(&b), files(&a));
}

/// The first memory has these files, and the other one nothing.
fn memories(paths: &[&str]) -> (Memory, Memory) {
    let (a, b) = (memory(), memory());
    for path in paths {
        put(&a, &format!("/memories/{path}"), path);
    }
    (a, b)
}

#[test]
fn an_edit_during_a_hook_is_not_overwritten() {
    let (a, b) = in_sync(&[("tea.md", "green\n"), ("gone.md", "gone\n")]);
    put(&a, "/memories/tea.md", "green\nblack\n");
    a.delete("/memories/gone.md").unwrap();
    let agent = b.clone();
    let hooks = Watching::new(move |command, call| {
        let diff = call.diff()?;
        match command {
            Command::Create { path, .. } if !diff.contains("herbal") => {
                agent.write(path, "herbal\ngreen\n", None).unwrap();
            }
            Command::Delete { path } => agent.write(path, "still here\n", None).unwrap(),
            _ => {}
        }
        Ok(HookDecision::Allow)
    });
    synced(&a, &with(&b, &hooks));
    assert_equal(&a, &b, &[("gone.md", "still here\n"), ("tea.md", "herbal\ngreen\nblack\n")]);
    // The hook was asked again, about the merged text.
    assert_eq!(hooks.asked(), ["create tea.md", "create tea.md", "delete gone.md"]);
}

#[test]
fn edits_during_the_sync_of_a_renamed_file_are_kept() {
    let (a, b) = in_sync(&[("old.md", "green\n")]);
    a.rename("/memories/old.md", "/memories/new.md").unwrap();
    put(&b, "/memories/old.md", "black\n");
    // An agent edits the file in the first memory before it gets the text of the other one, and then in the other memory before that gets
    // the merged text.
    let inserting = |agent: &Memory, line: &'static str| {
        let (agent, has_inserted) = (agent.clone(), AtomicBool::new(false));
        Watching::new(move |command, _| {
            if matches!(command, Command::Create { .. }) && !has_inserted.swap(true, SeqCst) {
                agent.insert("/memories/new.md", 0, line).unwrap();
            }
            Ok(HookDecision::Allow)
        })
    };
    let (of_a, of_b) = (inserting(&a, "first\n"), inserting(&b, "second\n"));
    let mut options = options();
    options.on_conflict = OnConflict::merge(|file| Ok(Some(format!("{}{}", file.a, file.b))));
    try_sync(&with(&a, &of_a), &with(&b, &of_b), &options).unwrap();
    assert_equal(&a, &b, &[("new.md", "first\ngreen\nsecond\nblack\n")]);
}

#[test]
fn a_content_that_is_not_text_is_shown_as_well_as_it_can_be() {
    let (a, b) = memories(&[]);
    let bytes = b"\x89PNG\n\n";
    a.store().write(&at("/memories/a.png"), bytes, OnExisting::Error).unwrap();
    let hooks = Watching::new(|command, call| {
        let Command::Create { file_text, .. } = command else { panic!("{command:?}") };
        assert_eq!(file_text, "\u{fffd}PNG\n\n");
        let diff = "Binary files /dev/null and /memories/a.png (6 bytes) differ\n";
        assert_eq!(call.diff()?, diff);
        Ok(HookDecision::Replace(file_text.to_string()))
    });
    let refusing = denying("no pictures");
    let refused = synced(&a, &with(&b, &refusing));
    assert_eq!(details(&refused), ["no pictures"]);
    synced(&a, &with(&b, &hooks));
    // The shown text is no other text, so the file has its own content.
    assert_eq!(b.store().read(&at("/memories/a.png")).unwrap(), b"\x89PNG\n\n");
    assert_eq!(hooks.told.lock().unwrap()[0].bytes, 6);
}

#[test]
fn a_conflict_needs_the_hooks_of_both_memories() {
    let (a, b) = in_sync(&[("tea.md", "green\n")]);
    put(&a, "/memories/tea.md", "black\n");
    put(&b, "/memories/tea.md", "white\n");
    let (of_a, of_b) = (Watching::allowing(), denying("no"));
    let refused = synced(&with(&a, &of_a), &with(&b, &of_b));
    assert_eq!(left_out(&refused), [("tea.md", SyncReason::Refused)]);
    assert!(refused.conflicts.is_empty());
    // The copy was removed from the first memory again, and its hooks were not asked about that.
    assert_eq!(refused.changes, []);
    assert_eq!(files(&a).len(), 1);
    assert_eq!(of_a.asked().len(), 1);
    assert_eq!(files(&b)["/memories/tea.md"], "white\n");

    // So does a text of the function.
    let mut options = options();
    options.on_conflict = OnConflict::merge(|file| Ok(Some(format!("{}{}", file.a, file.b))));
    try_sync(&with(&a, &of_a), &with(&b, &of_b), &options).unwrap();
    assert_eq!(files(&a)["/memories/tea.md"], "black\n");
    assert_eq!(of_a.asked(), ["create tea.md"]);
    try_sync(&with(&a, &of_a), &b, &options).unwrap();
    assert_equal(&a, &b, &[("tea.md", "black\nwhite\n")]);
}

/// Two memories with a conflict, of which the first has a history, and the number of its changes.
fn in_conflict(options: MemoryOptions) -> (Memory, Memory, usize) {
    let mut with_history = MemoryOptions::default();
    with_history.history = true;
    let a = Memory::open("memory:", with_history).unwrap();
    let b = Memory::open("memory:", options).unwrap();
    put(&a, "/memories/tea.md", "black\n");
    put(&b, "/memories/tea.md", "white\n");
    let changes = changes_of(&a);
    (a, b, changes)
}

fn changes_of(memory: &Memory) -> usize {
    memory.history(&HistoryQuery::default()).unwrap().len()
}

#[test]
fn a_conflict_that_one_memory_refuses_changes_nothing_in_the_other() {
    let mut merging = options();
    merging.on_conflict = OnConflict::merge(|_| Ok(Some("much longer than both\n".to_owned())));
    let mut small = MemoryOptions::default();
    (small.max_files, small.max_file_bytes) = (Some(1), Some(10));
    let hooks = denying("no");
    for options in [options(), merging] {
        let (a, b, before) = in_conflict(MemoryOptions::default());
        let (c, d, of_c) = in_conflict(small.clone());
        for _ in 0..3 {
            for (one, other) in
                [(&a, &with(&b, &hooks)), (&with(&b, &hooks), &a), (&c, &d), (&d, &c)]
            {
                let refused = try_sync(one, other, &options).unwrap();
                assert_eq!(left_out(&refused), [("tea.md", SyncReason::Refused)]);
                assert!(refused.conflicts.is_empty() && refused.changes.is_empty());
            }
        }
        assert_eq!((changes_of(&a), changes_of(&c)), (before, of_c));
        for memory in [&a, &b, &c, &d] {
            assert_eq!(files(memory).len(), 1);
        }
    }
}

#[test]
fn a_copy_that_a_hook_has_changed_is_not_made_again_and_again() {
    let is_copy = |path: &str| path.contains("conflict");
    let denies = Arc::new(AtomicBool::new(true));
    let decides = Arc::clone(&denies);
    let hooks = Watching::new(move |command, _| {
        Ok(match command {
            Command::Create { path, .. } if !is_copy(path) && decides.load(SeqCst) => {
                HookDecision::Deny("no".to_owned())
            }
            Command::Create { file_text, .. } => {
                HookDecision::Replace(format!("{file_text}reviewed\n"))
            }
            _ => HookDecision::Allow,
        })
    });
    let (a, b, _) = in_conflict(MemoryOptions::default());
    let b = with(&b, &hooks);
    for _ in 0..3 {
        let refused = synced(&a, &b);
        assert_eq!(left_out(&refused), [("tea.md", SyncReason::Refused)]);
        assert!(refused.conflicts.is_empty() && refused.changes.is_empty());
        assert_eq!((files(&a).len(), files(&b).len()), (1, 1));
    }
    denies.store(false, SeqCst);
    let copy = synced(&a, &b).conflicts[0].copy_path.clone();
    assert_eq!(files(&a)["/memories/tea.md"], "black\n");
    assert_eq!(files(&a)[copy.as_str()], "white\n");
    assert_eq!(files(&b)[copy.as_str()], "white\nreviewed\n");
    assert_eq!(done(&synced(&a, &b)), [""; 0]);
}

#[test]
fn a_text_that_a_hook_left_out_in_one_direction_is_not_lost_in_the_other() {
    let mut one_way = options();
    one_way.one_way = true;
    let (a, b) = (memory(), memory());
    put(&a, "/memories/tea.md", "1\nprivate\n");
    let hooks = replacing("private\n", "");
    let b = with(&b, &hooks);
    synced(&a, &b);
    put(&a, "/memories/tea.md", "0\n1\nprivate\n");
    try_sync(&a, &b, &one_way).unwrap();
    assert_eq!(files(&b)["/memories/tea.md"], "0\n1\n");
    synced(&a, &b);
    assert_eq!(files(&a)["/memories/tea.md"], "0\n1\nprivate\n");

    // A merged text includes all of the first memory's, so it goes back.
    let (a, b) = in_sync(&[("list.md", "1\n-\n2\n")]);
    put(&a, "/memories/list.md", "one\n-\n2\n");
    put(&b, "/memories/list.md", "1\n-\ntwo\n");
    try_sync(&a, &b, &one_way).unwrap();
    assert_eq!(done(&synced(&a, &b)), ["a replaced list.md"]);
    assert_equal(&a, &b, &[("list.md", "one\n-\ntwo\n")]);
}

#[test]
fn a_conflict_that_a_hook_has_interrupted_is_finished() {
    for is_edited in [false, true] {
        let (a, b) = (memory(), memory());
        put(&a, "/memories/tea.md", "1\n");
        put(&b, "/memories/tea.md", "2\n");
        let (denies, agent) = (Arc::new(AtomicBool::new(!is_edited)), b.clone());
        let (decides, has_edited) = (Arc::clone(&denies), AtomicBool::new(!is_edited));
        let hooks = Watching::new(move |command, call| {
            call.diff()?;
            let Command::Create { path, .. } = command else { return Ok(HookDecision::Allow) };
            if !has_edited.swap(true, SeqCst) {
                agent.write("/memories/tea.md", "3\n", None).unwrap();
            }
            Ok(match decides.load(SeqCst) && path.ends_with("tea.md") {
                true => HookDecision::Deny("not now".to_owned()),
                false => HookDecision::Allow,
            })
        });
        let b = with(&b, &hooks);
        synced(&a, &b);
        if !is_edited {
            // The copy is in both memories.
            assert_eq!(files(&b).len(), 2);
            assert_eq!(files(&b)["/memories/tea.md"], "2\n");
        }
        denies.store(false, SeqCst);
        let last = synced(&a, &b);
        assert_eq!(left_out(&last), [], "{is_edited}");
        assert_eq!(files(&b), files(&a));
        assert_eq!(files(&a)["/memories/tea.md"], "1\n");
        assert_eq!(done(&synced(&a, &b)), [""; 0]);
    }
}

#[test]
fn a_text_of_a_function_is_in_no_memory_after_a_hook_has_failed() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/tea.md", "1\n");
    put(&b, "/memories/tea.md", "2\n");
    let mut options = options();
    options.on_conflict = OnConflict::merge(|file| Ok(Some(format!("{}{}", file.a, file.b))));
    let hooks = Watching::new(|_, _| Err("away".into()));
    let error = try_sync(&a, &with(&b, &hooks), &options).unwrap_err();
    assert!(matches!(error, SyncError::Hook { .. }), "{error}");
    assert_eq!(files(&a)["/memories/tea.md"], "1\n");
    try_sync(&a, &b, &options).unwrap();
    assert_equal(&a, &b, &[("tea.md", "1\n2\n")]);
}

#[test]
fn the_history_and_the_events_have_the_same_change() {
    let (a, _) = changed();
    let mut with_history = MemoryOptions::default();
    with_history.history = true;
    let b = Memory::open("memory:", with_history).unwrap();
    let hooks = Watching::allowing();
    synced(&a, &with(&b, &hooks));
    let told = hooks.told.lock().unwrap().clone();
    let versions = b.history(&HistoryQuery::default()).unwrap();
    assert_eq!(versions.len(), 3);
    for event in &told {
        assert_eq!(event.change, Some(versions[0].change));
        assert_eq!(event.actor.as_deref(), Some("sync"));
    }
    assert!(versions.iter().all(|version| version.actor.as_deref() == Some("sync")));
    assert!(versions.iter().all(|version| version.partner.as_deref() == Some("laptop")));
}

#[test]
fn no_hook_is_asked_where_nothing_is_changed_by_a_sync() {
    let (a, b) = changed();
    let (of_a, of_b) = (Watching::allowing(), Watching::allowing());
    let mut dry_run: SyncOptions = options();
    dry_run.dry_run = true;
    try_sync(&with(&a, &of_a), &with(&b, &of_b), &dry_run).unwrap();
    let mut one_way = options();
    one_way.one_way = true;
    try_sync(&with(&a, &of_a), &with(&b, &of_b), &one_way).unwrap();
    assert_eq!((of_a.asked(), of_b.asked().len()), (vec![], 4));

    // A person resolves a conflict.
    put(&a, "/memories/list.md", "a\n");
    put(&b, "/memories/list.md", "b\n");
    let copy = synced(&a, &b).conflicts[0].copy_path.clone();
    memdir::sync::resolve(&with(&a, &of_a), &copy, Resolution::KeepCopy, None).unwrap();
    assert_eq!(of_a.asked(), [""; 0]);
}

#[test]
fn policies_refuse_before_a_hook_is_asked() {
    let (a, _) = memories(&["a.md", "secret.md"]);
    let mut options = MemoryOptions::default();
    options.read_only_paths =
        memdir::policy::PathPattern::all("read_only_paths", ["/memories/secret.md"]).unwrap();
    let b = Memory::open("memory:", options).unwrap();
    let hooks = Watching::allowing();
    let made = synced(&a, &with(&b, &hooks));
    assert_eq!(left_out(&made), [("secret.md", SyncReason::Refused)]);
    assert_eq!(hooks.asked(), ["create a.md"]);
    assert_eq!(hooks.told(), ["create a.md ok", "create secret.md refused"]);
}

#[test]
fn a_diff_that_a_policy_refuses_refuses_the_change() {
    let (a, _) = memories(&["large.md"]);
    let mut options = MemoryOptions::default();
    options.max_file_bytes = Some(4);
    let b = Memory::open("memory:", options).unwrap();
    let hooks = Watching::new(|_, call| {
        call.diff()?;
        Ok(HookDecision::Allow)
    });
    let made = synced(&a, &with(&b, &hooks));
    assert_eq!(left_out(&made), [("large.md", SyncReason::Refused)]);
    assert!(details(&made)[0].contains("at most"), "{:?}", details(&made));
    assert_eq!(hooks.told(), ["create large.md refused"]);
}

#[test]
fn a_hook_that_syncs_the_same_memory_is_not_asked() {
    let (a, b) = memories(&["a.md"]);
    let other = memory();
    put(&other, "/memories/other.md", "other\n");
    let inner = Arc::new(Mutex::new(None::<Memory>));
    let of_hook = Arc::clone(&inner);
    let hooks = Watching::new(move |_, _| {
        let memory = of_hook.lock().unwrap().clone().unwrap();
        synced(&other, &memory);
        Ok(HookDecision::Allow)
    });
    let b = with(&b, &hooks);
    *inner.lock().unwrap() = Some(b.clone());
    synced(&a, &b);
    assert_eq!(hooks.asked(), ["create a.md"]);
    assert_eq!(files(&b).len(), 2);
    *inner.lock().unwrap() = None;
}

#[test]
fn a_binding_finishes_the_calls_itself() {
    let (a, b) = changed();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let events = Arc::clone(&kept);
    let handler: Arc<CallHandler> = Arc::new(move |memory, call| {
        let known = memory.hook_call(&call).unwrap().into_owned();
        assert_eq!(known.actor(), Some("sync"));
        assert!(!known.diff()?.is_empty());
        let is_deletion = call.command().unwrap().name() == "delete";
        let decision = match is_deletion {
            true => HookDecision::Deny("not here".to_owned()),
            false => HookDecision::Allow,
        };
        let (reply, event) = memory.finish(call, Ok(decision));
        assert_eq!(reply.is_error, is_deletion);
        events.lock().unwrap().push(event.unwrap().outcome.to_string());
        Ok(())
    });
    let made = synced(&a, &b.clone().with_call_handler(handler));
    assert_eq!(details(&made), ["not here"]);
    assert_eq!(made.changes.len(), 3);
    let mut outcomes = kept.lock().unwrap().clone();
    outcomes.sort();
    assert_eq!(outcomes, ["denied", "ok", "ok", "ok"]);

    // One that drops a call, and one that fails.
    let drops: Arc<CallHandler> = Arc::new(|_, _| Ok(()));
    let error = try_sync(&a, &b.clone().with_call_handler(drops), &options()).unwrap_err();
    assert!(matches!(&error, SyncError::Hook { .. }), "{error}");
    let fails: Arc<CallHandler> = Arc::new(|_, _| Err("no thread".into()));
    let error = try_sync(&a, &b.clone().with_call_handler(fails), &options()).unwrap_err();
    assert_eq!(error.to_string(), "/memories/old.md could not be checked: no thread");
    assert!(b.exists("/memories/old.md").unwrap());
}
