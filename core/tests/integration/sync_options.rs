//! The options of a sync, and those of the memories that it writes to.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::common::store_helpers::at;
use crate::sync::{
    assert_equal, done, files, in_sync, left_out, memory, on, options, put, synced, try_sync,
};
use memdir::policy::PathPattern;
use memdir::store::InProcess;
use memdir::sync::{OnConflict, SyncReason, SyncSide};
use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting, Store};
use memdir::{SyncError, sync};

#[test]
fn an_option_says_which_content_wins_a_conflict() {
    for (on_conflict, winner) in [(OnConflict::A, "black\n"), (OnConflict::B, "white\n")] {
        let (a, b) = in_sync(&[("tea.md", "green\n"), ("list.md", "1\n2\n3\n")]);
        put(&a, "/memories/tea.md", "black\n");
        put(&b, "/memories/tea.md", "white\n");
        // A text that can be merged is merged.
        put(&a, "/memories/list.md", "one\n2\n3\n");
        put(&b, "/memories/list.md", "1\n2\nthree\n");
        let mut options = options();
        options.on_conflict = on_conflict;
        assert_eq!(try_sync(&a, &b, &options).unwrap().conflicts, []);
        assert_equal(&a, &b, &[("tea.md", winner), ("list.md", "one\n2\nthree\n")]);
    }
}

#[test]
fn a_dry_run_says_what_a_run_does_and_changes_nothing() {
    let (a, b) = in_sync(&[
        ("deleted.md", "1\n"),
        ("edited.md", "2\n"),
        ("merged.md", "a\nb\nc\n"),
        ("conflict.md", "3\n"),
        ("old.md", "4\n"),
        ("x", "5\n"),
    ]);
    a.delete("/memories/deleted.md").unwrap();
    put(&b, "/memories/edited.md", "two\n");
    put(&a, "/memories/merged.md", "A\nb\nc\n");
    put(&b, "/memories/merged.md", "a\nb\nC\n");
    put(&a, "/memories/conflict.md", "of a\n");
    put(&b, "/memories/conflict.md", "of b\n");
    a.rename("/memories/old.md", "/memories/new.md").unwrap();
    put(&a, "/memories/x", "edited\n");
    b.delete("/memories/x").unwrap();
    put(&b, "/memories/x/y.md", "inside\n");
    let before = (files(&a), files(&b));
    let mut dry = options();
    dry.dry_run = true;
    let said = try_sync(&a, &b, &dry).unwrap();
    assert_eq!((files(&a), files(&b)), before);
    let run = synced(&a, &b);
    assert_eq!(done(&said), done(&run));
    assert_eq!((said.conflicts, said.left_out), (run.conflicts, run.left_out));
    // A dry run of memories that have never met leaves no trace.
    let (a, b) = (memory(), memory());
    put(&a, "/memories/a.md", "a\n");
    assert_eq!(done(&try_sync(&a, &b, &dry).unwrap()), ["b created a.md"]);
    for memory in [&a, &b] {
        let listed = memory.store().list(&MemoryPath::root()).unwrap();
        assert!(listed.iter().all(|entry| !entry.path.is_reserved()), "{listed:?}");
    }
}

#[test]
fn one_way_changes_only_the_second_memory() {
    let (a, b) = (memory(), memory());
    let mut options = options();
    options.one_way = true;
    put(&a, "/memories/one.md", "1\n");
    put(&a, "/memories/two.md", "2\n");
    put(&a, "/memories/three.md", "a\n-\nb\n-\nc\n");
    put(&b, "/memories/own.md", "mine\n");
    let first = try_sync(&a, &b, &options).unwrap();
    assert_eq!(done(&first), ["b created one.md", "b created three.md", "b created two.md"]);
    assert_eq!(left_out(&first), [("own.md", SyncReason::OneWay)]);
    // Changes of the second memory stay; those of both are merged into it.
    put(&b, "/memories/two.md", "mine\n");
    put(&a, "/memories/three.md", "A\n-\nb\n-\nc\n");
    put(&b, "/memories/three.md", "a\n-\nb\n-\nC\n");
    a.delete("/memories/one.md").unwrap();
    let before = files(&a);
    let second = try_sync(&a, &b, &options).unwrap();
    assert_eq!(done(&second), ["b deleted one.md", "b merged three.md"]);
    assert_eq!(left_out(&second), [("own.md", SyncReason::OneWay), ("two.md", SyncReason::OneWay)]);
    assert_eq!(files(&a), before);
    assert_eq!(files(&b)["/memories/three.md"], "A\n-\nb\n-\nC\n");
    assert_eq!(files(&b)["/memories/two.md"], "mine\n");
    // The next change of the first memory is merged, too.
    put(&a, "/memories/three.md", "A\n-\nbee\n-\nc\n");
    assert_eq!(done(&try_sync(&a, &b, &options).unwrap()), ["b merged three.md"]);
    assert_eq!(files(&b)["/memories/three.md"], "A\n-\nbee\n-\nC\n");
    // The first memory keeps only its identity.
    let kept = a.store().list(&at("/memories/.memdir-sync")).unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0].path.name(), Some("identity"));
}

#[test]
fn a_memory_that_would_have_to_be_changed_must_not_be_read_only() {
    let mut read_only = MemoryOptions::default();
    read_only.read_only = true;
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    store.write(&at("/memories/a.md"), b"a\n", OnExisting::Error).unwrap();
    let (a, b) = (Memory::with_store(store, read_only), memory());
    let refused = try_sync(&a, &b, &options());
    assert!(matches!(refused, Err(SyncError::ReadOnly { side: SyncSide::A })), "{refused:?}");
    let mut one_way = options();
    one_way.one_way = true;
    assert!(matches!(try_sync(&b, &a, &one_way), Err(SyncError::ReadOnly { side: SyncSide::B })));
    assert_eq!(done(&try_sync(&a, &b, &one_way).unwrap()), ["b created a.md"]);
    assert!(try_sync(&a, &b, &one_way).unwrap().has_baseline);
}

/// A made-up token in two parts, so that no scanner of this repository finds it.
const SECRET: [&str; 2] = ["ghp_8fK2mQz7Lw4Xt9Rb", "1Vc6Ny3Hj5Pd0GsAeT2u"];

#[test]
fn what_an_option_refuses_stays_and_is_reported() {
    let secret = SECRET.concat();
    let mut strict = MemoryOptions::default();
    strict.max_file_bytes = Some(60);
    strict.read_only_paths = vec!["/memories/fixed".parse().unwrap()];
    strict.sensitive_text = memdir::policy::sensitive::SensitiveText::Reject;
    let (a, b) = (memory(), Memory::open("memory:", strict).unwrap());
    put(&a, "/memories/large.md", &"more than sixty\n".repeat(4));
    put(&a, "/memories/fixed/a.md", "a\n");
    put(&a, "/memories/small.md", "a\n");
    put(&a, "/memories/s.md", &format!("{secret}\n"));
    let result = synced(&a, &b);
    assert_eq!(done(&result), ["b created small.md"]);
    let refused = |path| (path, SyncReason::Refused);
    assert_eq!(left_out(&result), [refused("fixed/a.md"), refused("large.md"), refused("s.md")]);
    for left in &result.left_out {
        assert!(!left.details.contains(&secret) && !left.details.starts_with("Error"), "{left:?}");
    }
    assert_eq!(files(&a).len(), 4);
    assert_eq!(files(&b).len(), 1);
}

#[test]
fn a_redacted_text_does_not_come_back_as_a_change() {
    let secret = SECRET.concat();
    let mut redacting = MemoryOptions::default();
    redacting.sensitive_text = memdir::policy::sensitive::SensitiveText::Redact;
    let (a, b) = (memory(), Memory::open("memory:", redacting).unwrap());
    put(&a, "/memories/s.md", &format!("key {secret}\n-\ntwo\n-\nthree\n"));
    synced(&a, &b);
    let of = |memory: &Memory| memory.read("/memories/s.md").unwrap();
    assert!(!of(&b).contains(&secret) && of(&a).contains(&secret), "{:?}", (of(&a), of(&b)));
    assert_eq!(done(&synced(&a, &b)), Vec::<String>::new());
    assert_eq!(done(&synced(&b, &a)), Vec::<String>::new());
    // An edit of the redacted text changes only its lines.
    b.str_replace("/memories/s.md", "three", "3").unwrap();
    assert_eq!(done(&synced(&a, &b)), ["a merged s.md"]);
    assert_eq!(of(&a), format!("key {secret}\n-\ntwo\n-\n3\n"));
    a.str_replace("/memories/s.md", "two", "2").unwrap();
    synced(&a, &b);
    assert!(of(&b).ends_with("\n-\n2\n-\n3\n") && !of(&b).contains(&secret));
    assert_eq!(done(&synced(&a, &b)), Vec::<String>::new());
}

#[test]
fn excluded_and_large_files_are_left_as_they_are() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/private/a.md", "a\n");
    put(&a, "/memories/large.md", "123456\n");
    put(&a, "/memories/.git/config", "x\n");
    put(&b, "/memories/private/b.md", "b\n");
    let mut options = options();
    options.exclude = vec!["/memories/private".parse::<PathPattern>().unwrap()];
    options.max_file_bytes = Some(6);
    let result = try_sync(&a, &b, &options).unwrap();
    assert_eq!(done(&result), Vec::<String>::new());
    assert_eq!(left_out(&result), [("large.md", SyncReason::TooLarge)]);
}

#[test]
fn the_history_shows_a_sync_as_one_change_that_can_be_undone() {
    let mut recorded = MemoryOptions::default();
    recorded.history = true;
    let (a, b) = (memory(), Memory::open("memory:", recorded).unwrap());
    put(&a, "/memories/one.md", "1\n");
    put(&a, "/memories/two.md", "2\n");
    b.create("/memories/own.md", "mine\n").unwrap();
    synced(&a, &b);
    put(&a, "/memories/one.md", "one\n");
    a.delete("/memories/two.md").unwrap();
    a.rename("/memories/own.md", "/memories/mine.md").unwrap();
    let before = files(&b);
    synced(&a, &b);
    let versions = b.history(&memdir::history::HistoryQuery::default()).unwrap();
    let of_sync: Vec<_> =
        versions.iter().take_while(|version| version.actor.as_deref() == Some("sync")).collect();
    let change = of_sync[0].change;
    assert_eq!(of_sync.iter().filter(|version| version.change == change).count(), 3);
    b.undo(change, memdir::history::UndoOptions::default()).unwrap();
    assert_eq!(files(&b), before);
}

#[test]
fn memories_that_are_the_same_are_refused() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let result = try_sync(&on(&store), &on(&store), &options());
    assert!(matches!(result, Err(SyncError::Overlapping)));
}

#[test]
fn a_callback_stops_a_sync() {
    let (a, b) = (memory(), memory());
    for number in 0..10 {
        put(&a, &format!("/memories/{number}"), "x");
    }
    let result = sync(&a, &b, &options(), &mut |_| ControlFlow::Break(()));
    assert!(matches!(result, Err(SyncError::Stopped)));
    synced(&a, &b);
    assert_eq!(files(&a), files(&b));
}
