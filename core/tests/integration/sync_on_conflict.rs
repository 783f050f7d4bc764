//! Conflicts of a sync that end by a function of the application.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, UNIX_EPOCH};

use memdir::history::{HistoryQuery, UndoOptions};
use memdir::sync::{MergeError, SyncErrorKind, SyncMerge, SyncReason};
use memdir::{Cancellation, Memory, MemoryOptions, OnConflict, OnExisting, SyncError, SyncOptions};

use crate::common::store_helpers::at;
use crate::sync::{
    assert_equal, done, files, in_sync, left_out, memory, options, put, synced, try_sync,
};
use crate::sync_safety::with_each_fault;

type Asked = Arc<Mutex<Vec<SyncMerge>>>;

/// Options with this function, and the files that it was asked to merge.
fn merging(
    function: impl Fn(&SyncMerge) -> Option<String> + Send + Sync + 'static,
) -> (SyncOptions, Asked) {
    let asked = Asked::default();
    let kept = Arc::clone(&asked);
    let mut options = options();
    options.on_conflict = OnConflict::merge(move |file| {
        kept.lock().unwrap().push(file.clone());
        Ok(function(file))
    });
    (options, asked)
}

fn paths(asked: &Asked) -> Vec<String> {
    asked.lock().unwrap().iter().map(|file| file.path.relative().to_owned()).collect()
}

fn failing(message: &'static str) -> SyncOptions {
    let mut options = options();
    options.on_conflict = OnConflict::merge(move |_| Err(MergeError::from(message)));
    options
}

/// Two memories with a conflict at `tea.md`, and a change that can be merged at `list.md`.
fn in_conflict() -> (Memory, Memory) {
    let (a, b) = in_sync(&[("tea.md", "green\n"), ("list.md", "1\n2\n3\n")]);
    put(&a, "/memories/tea.md", "black\n");
    put(&b, "/memories/tea.md", "white\n");
    put(&a, "/memories/list.md", "one\n2\n3\n");
    put(&b, "/memories/list.md", "1\n2\nthree\n");
    (a, b)
}

#[test]
fn a_function_merges_what_cannot_be_merged_by_lines() {
    let (a, b) = in_conflict();
    let (options, asked) = merging(|file| Some(format!("{}{}", file.a, file.b)));
    let merged = try_sync(&a, &b, &options).unwrap();
    assert_eq!(merged.conflicts, []);
    assert_eq!(
        done(&merged),
        ["a merged list.md", "b merged list.md", "a merged tea.md", "b merged tea.md"]
    );
    assert_equal(&a, &b, &[("tea.md", "black\nwhite\n"), ("list.md", "one\n2\nthree\n")]);
    let time = Some(UNIX_EPOCH + Duration::from_secs(1_795_882_925));
    let asked = asked.lock().unwrap();
    let [file] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(
        (file.path.as_str(), &*file.a, &*file.b),
        ("/memories/tea.md", "black\n", "white\n")
    );
    assert_eq!(file.base.as_deref(), Some("green\n"));
    assert_eq!((file.modified_a, file.modified_b), (time, time));
}

#[test]
fn a_merged_file_is_the_base_of_the_next_merge() {
    let (a, b) = in_conflict();
    let (options, asked) = merging(|_| Some("1\n2\n3\n".to_owned()));
    try_sync(&a, &b, &options).unwrap();
    put(&a, "/memories/tea.md", "one\n2\n3\n");
    put(&b, "/memories/tea.md", "1\n2\nthree\n");
    try_sync(&a, &b, &options).unwrap();
    assert_eq!(a.read("/memories/tea.md").unwrap(), "one\n2\nthree\n");
    assert_eq!(paths(&asked), ["tea.md"]);
}

#[test]
fn at_the_first_sync_there_is_no_base() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/tea.md", "black\n");
    put(&b, "/memories/tea.md", "white\n");
    let (options, asked) = merging(|file| Some(file.b.clone()));
    // The second memory already has the text.
    assert_eq!(done(&try_sync(&a, &b, &options).unwrap()), ["a merged tea.md"]);
    assert_eq!(asked.lock().unwrap()[0].base, None);
    assert_equal(&a, &b, &[("tea.md", "white\n")]);
}

#[test]
fn without_a_text_both_contents_are_kept() {
    let expected = {
        let (a, b) = in_conflict();
        (done(&synced(&a, &b)), files(&a))
    };
    let (a, b) = in_conflict();
    let (options, asked) = merging(|_| None);
    let kept = try_sync(&a, &b, &options).unwrap();
    assert_eq!((done(&kept), files(&a)), expected);
    assert_eq!((kept.conflicts.len(), files(&b)), (1, expected.1));
    assert_eq!(paths(&asked), ["tea.md"]);
    // The conflict has ended.
    try_sync(&a, &b, &options).unwrap();
    assert_eq!(paths(&asked).len(), 1);
}

#[test]
fn a_function_is_not_asked_about_bytes() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/tea.md", "black\n");
    let bytes = b"\xff\xfe";
    b.store().write(&at("/memories/tea.md"), bytes, OnExisting::Error).unwrap();
    let (options, asked) = merging(|_| Some(String::new()));
    let kept = try_sync(&a, &b, &options).unwrap();
    assert_eq!((kept.conflicts.len(), paths(&asked)), (1, vec![]));
    assert_eq!(b.store().read(&kept.conflicts[0].copy_path).unwrap(), bytes);
}

#[test]
fn every_text_can_be_the_result() {
    let large = "x".repeat(3 << 20);
    for text in ["", "green\n", "\r\nno end", "\u{feff}ä\0", &large] {
        let (a, b) = in_conflict();
        let result = text.to_owned();
        let (options, _) = merging(move |_| Some(result.clone()));
        try_sync(&a, &b, &options).unwrap();
        assert_equal(&a, &b, &[("tea.md", text), ("list.md", "one\n2\nthree\n")]);
    }
}

#[test]
fn an_error_of_the_function_ends_the_sync_and_loses_nothing() {
    let (a, b) = in_conflict();
    put(&a, "/memories/new.md", "new\n");
    let error = try_sync(&a, &b, &failing("no model")).unwrap_err();
    assert_eq!(error.to_string(), "/memories/tea.md could not be merged: no model");
    assert_eq!(error.source().unwrap().to_string(), "no model");
    assert_eq!(error.kind(), Some(SyncErrorKind::Stopped));
    assert!(matches!(&error, SyncError::Merge { path, .. } if path.as_str() == "/memories/tea.md"));
    assert_eq!(a.read("/memories/tea.md").unwrap(), "black\n");
    assert_eq!(b.read("/memories/tea.md").unwrap(), "white\n");
    let (options, asked) = merging(|file| Some(format!("{}{}", file.a, file.b)));
    try_sync(&a, &b, &options).unwrap();
    assert_eq!(paths(&asked), ["tea.md"]);
    assert_equal(
        &a,
        &b,
        &[("tea.md", "black\nwhite\n"), ("list.md", "one\n2\nthree\n"), ("new.md", "new\n")],
    );
}

/// Options with a function, during whose first call an agent acts.
fn merging_at_work(
    agent: impl Fn(&str) + Send + Sync + 'static,
    function: impl Fn(&SyncMerge) -> Option<String> + Send + Sync + 'static,
) -> (SyncOptions, Asked) {
    let has_acted = AtomicBool::new(false);
    merging(move |file| {
        if !has_acted.swap(true, SeqCst) {
            agent(file.path.as_str());
        }
        function(file)
    })
}

type Takes = fn(&SyncMerge) -> String;

/// A text of both contents, and each of them.
const TAKES: [Takes; 3] =
    [|file| format!("{}{}", file.a, file.b), |file| file.a.clone(), |file| file.b.clone()];

#[test]
fn an_edit_during_a_call_is_in_the_next_call() {
    for by_first in [true, false] {
        for takes in TAKES {
            let (a, b) = in_conflict();
            let agent = if by_first { a.clone() } else { b.clone() };
            // The function may use both memories.
            let edit = move |path: &str| drop(agent.insert(path, 0, "by the agent\n").unwrap());
            let (options, asked) = merging_at_work(edit, move |file| Some(takes(file)));
            let synced = try_sync(&a, &b, &options).unwrap();
            let (of_a, of_b) = match by_first {
                true => ("by the agent\nblack\n", "white\n"),
                false => ("black\n", "by the agent\nwhite\n"),
            };
            let asked = asked.lock().unwrap();
            let [_, last] = &asked[..] else { panic!("{asked:?}") };
            assert_eq!((&*last.a, &*last.b), (of_a, of_b));
            let merged = takes(last);
            assert_eq!(a.read("/memories/tea.md").unwrap(), merged);
            assert_equal(&a, &b, &[("tea.md", &merged), ("list.md", "one\n2\nthree\n")]);
            let changes =
                synced.changes.iter().filter(|change| change.path.name() == Some("tea.md"));
            assert_eq!(changes.count(), if merged == of_a || merged == of_b { 1 } else { 2 });
        }
    }
}

#[test]
fn a_deletion_during_a_call_gives_way_to_the_edit_of_the_other_memory() {
    for by_first in [true, false] {
        for takes in TAKES {
            let (a, b) = in_conflict();
            let agent = if by_first { a.clone() } else { b.clone() };
            let delete = move |path: &str| drop(agent.delete(path).unwrap());
            let (options, asked) = merging_at_work(delete, move |file| Some(takes(file)));
            try_sync(&a, &b, &options).unwrap();
            assert_eq!(paths(&asked), ["tea.md"]);
            let kept = if by_first { "white\n" } else { "black\n" };
            assert_equal(&a, &b, &[("tea.md", kept), ("list.md", "one\n2\nthree\n")]);
        }
    }
}

#[test]
fn a_file_that_changes_in_each_call_is_left_out() {
    let (a, b) = in_conflict();
    let (agent, number) = (b.clone(), AtomicUsize::new(0));
    let (options, asked) = merging(move |file| {
        let text = format!("{}\n", number.fetch_add(1, SeqCst));
        agent.write(file.path.as_str(), &text, None).unwrap();
        Some(format!("{}{}", file.a, file.b))
    });
    let synced = try_sync(&a, &b, &options).unwrap();
    assert_eq!(left_out(&synced), [("tea.md", SyncReason::Changing)]);
    assert_eq!(paths(&asked).len(), 3);
    assert_eq!(
        (a.read("/memories/tea.md").unwrap(), b.read("/memories/tea.md").unwrap()),
        ("black\n".to_owned(), "2\n".to_owned())
    );
}

#[test]
fn a_dry_run_asks_as_well_and_changes_nothing() {
    for text in [Some("merged\n"), Some("black\n"), None] {
        let (a, b) = in_conflict();
        a.rename("/memories/list.md", "/memories/new.md").unwrap();
        put(&b, "/memories/list.md", "2\n");
        put(&a, "/memories/new.md", "3\n");
        let before = (files(&a), files(&b));
        let (mut dry, asked) = merging(move |_| text.map(str::to_owned));
        dry.dry_run = true;
        let said = try_sync(&a, &b, &dry).unwrap();
        assert_eq!((files(&a), files(&b)), before);
        let (run, asked_again) = merging(move |_| text.map(str::to_owned));
        let ran = try_sync(&a, &b, &run).unwrap();
        assert_eq!(done(&said), done(&ran));
        assert_eq!(said.conflicts, ran.conflicts);
        assert_eq!(*asked.lock().unwrap(), *asked_again.lock().unwrap());
    }
}

#[test]
fn one_way_only_the_second_memory_gets_the_text() {
    let (a, b) = in_conflict();
    let (mut options, asked) = merging(|file| Some(format!("{}{}", file.a, file.b)));
    options.one_way = true;
    try_sync(&a, &b, &options).unwrap();
    assert_eq!(a.read("/memories/tea.md").unwrap(), "black\n");
    assert_eq!(b.read("/memories/tea.md").unwrap(), "black\nwhite\n");
    // It has the changes of the first memory, so there is nothing to merge.
    assert_eq!(done(&try_sync(&a, &b, &options).unwrap()), Vec::<String>::new());
    assert_eq!(paths(&asked), ["tea.md"]);
    put(&a, "/memories/tea.md", "brown\n");
    try_sync(&a, &b, &options).unwrap();
    assert_eq!(b.read("/memories/tea.md").unwrap(), "brown\nblack\nwhite\n");
}

#[test]
fn the_options_of_each_memory_hold_for_the_text() {
    let mut limited = MemoryOptions::default();
    limited.max_file_bytes = Some(20);
    let (a, b) = (memory(), Memory::open("memory:", limited).unwrap());
    put(&a, "/memories/tea.md", "black\n");
    put(&b, "/memories/tea.md", "white\n");
    let (options, _) = merging(|_| Some("a text that is too long for one of them\n".to_owned()));
    // It stays in neither of both, and is asked for again.
    for _ in 0..2 {
        let refused = try_sync(&a, &b, &options).unwrap();
        assert_eq!(
            (left_out(&refused), done(&refused)),
            (vec![("tea.md", SyncReason::Refused)], vec![])
        );
        assert_eq!(a.read("/memories/tea.md").unwrap(), "black\n");
        assert_eq!(b.read("/memories/tea.md").unwrap(), "white\n");
    }
}

#[test]
fn the_calls_come_one_after_another_in_the_thread_of_the_sync() {
    let (a, b) = (memory(), memory());
    let names: Vec<String> = (0..200).map(|number| format!("{number:03}.md")).collect();
    for name in &names {
        put(&a, &format!("/memories/{name}"), "a\n");
        put(&b, &format!("/memories/{name}"), "b\n");
    }
    let threads = Arc::new(Mutex::new(Vec::<ThreadId>::new()));
    let seen = Arc::clone(&threads);
    let (options, asked) = merging(move |_| {
        seen.try_lock().unwrap().push(std::thread::current().id());
        Some("both\n".to_owned())
    });
    try_sync(&a, &b, &options).unwrap();
    assert_eq!(paths(&asked), names);
    let here = std::thread::current().id();
    assert!(threads.lock().unwrap().iter().all(|thread| *thread == here));
}

#[test]
fn a_renamed_file_has_both_times() {
    let mut with_history = MemoryOptions::default();
    with_history.history = true;
    for (dry_run, by_first) in [(true, true), (true, false), (false, true), (false, false)] {
        let open = || Memory::open("memory:", with_history.clone()).unwrap();
        let (a, b) = (open(), open());
        put(&a, "/memories/tea.md", "green\n");
        synced(&a, &b);
        let (renamer, other) = if by_first { (&a, &b) } else { (&b, &a) };
        renamer.rename("/memories/tea.md", "/memories/teas.md").unwrap();
        put(renamer, "/memories/teas.md", "black\n");
        put(other, "/memories/tea.md", "white\n");
        let (mut options, asked) = merging(|file| Some(format!("{}{}", file.a, file.b)));
        options.dry_run = dry_run;
        try_sync(&a, &b, &options).unwrap();
        let asked = asked.lock().unwrap();
        let [file] = &asked[..] else { panic!("{asked:?}") };
        assert_eq!((file.path.relative(), file.base.as_deref()), ("teas.md", Some("green\n")));
        assert!(file.modified_a.is_some() && file.modified_b.is_some(), "{file:?}");
    }
}

#[test]
fn after_a_kill_or_a_lost_answer_the_text_of_a_function_is_merged_once() {
    let (options, _) = merging(|file| Some(format!("{}{}", file.a, file.b)));
    let begin = |a: &Memory, b: &Memory| {
        put(a, "/memories/tea.md", "green\n");
        synced(a, b);
        put(a, "/memories/tea.md", "black\n");
        put(b, "/memories/tea.md", "white\n");
    };
    with_each_fault(&options, begin, |a, b, context| {
        assert_eq!(a.read("/memories/tea.md").unwrap(), "black\nwhite\n", "{context}");
        assert_equal(a, b, &[("tea.md", "black\nwhite\n")]);
    });
}

#[test]
fn a_cancellation_ends_the_sync_before_the_next_call() {
    let (a, b) = (memory(), memory());
    for name in ["1.md", "2.md", "3.md"] {
        put(&a, &format!("/memories/{name}"), "a\n");
        put(&b, &format!("/memories/{name}"), "b\n");
    }
    let cancellation = Cancellation::new();
    let cancel = cancellation.clone();
    let (options, asked) = merging(move |_| {
        cancel.cancel();
        Some("both\n".to_owned())
    });
    let stopped = try_sync(&a.cancelled_by(&cancellation), &b, &options);
    assert!(matches!(stopped, Err(SyncError::Stopped)), "{stopped:?}");
    assert_eq!(paths(&asked), ["1.md"]);
    // It had no effect.
    assert!(files(&a).values().all(|text| text == "a\n"));
}

#[test]
fn the_history_shows_that_both_versions_were_merged() {
    let mut with_history = MemoryOptions::default();
    with_history.history = true;
    let open = || Memory::open("memory:", with_history.clone()).unwrap();
    let (a, b) = (open(), open());
    put(&a, "/memories/tea.md", "black\n");
    put(&b, "/memories/tea.md", "white\n");
    let (options, _) = merging(|file| Some(format!("{}{}", file.a, file.b)));
    try_sync(&a, &b, &options).unwrap();
    let newest = |memory: &Memory| memory.history(&HistoryQuery::default()).unwrap().remove(0);
    let (of_a, of_b) = (newest(&a), newest(&b));
    assert_eq!(of_a.actor.as_deref(), Some("sync"));
    let partner = of_a.partner.as_deref();
    assert_eq!((partner, of_b.partner.as_deref()), (Some("server"), Some("laptop")));
    assert!(of_a.partner_version.is_some() && of_b.partner_version.is_some());
    a.undo(of_a.change, UndoOptions::default()).unwrap();
    assert_eq!(a.read("/memories/tea.md").unwrap(), "black\n");
    synced(&a, &b);
    assert_eq!(b.read("/memories/tea.md").unwrap(), "black\n");
}
