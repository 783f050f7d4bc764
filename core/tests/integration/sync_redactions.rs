//! Redactions that a sync takes over from one history to the other, and those that it only names.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::store_helpers::at;
use crate::sync::{memory, options, put, synced, try_sync};
use memdir::history::{HistoryQuery, Version};
use memdir::sync::{SyncRedaction, SyncSide};
use memdir::{GrepQuery, Memory, MemoryOptions, SyncOptions, Synced};

fn recorded() -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::open("memory:", options).unwrap()
}

fn taking_over() -> SyncOptions {
    let mut options = options();
    options.redactions = true;
    options
}

fn sync_all(a: &Memory, b: &Memory) -> Synced {
    try_sync(a, b, &taking_over()).unwrap()
}

/// The versions of a file, oldest first.
fn versions(memory: &Memory, path: &str) -> Vec<Version> {
    let mut query = HistoryQuery::default();
    query.path = Some(path.to_owned());
    let mut versions = memory.history(&query).unwrap();
    versions.reverse();
    versions
}

fn reasons(memory: &Memory, path: &str) -> Vec<Option<String>> {
    versions(memory, path).into_iter().map(|version| version.redacted).collect()
}

/// The side, the file, whether it was redacted, and why not.
fn told(redactions: &[SyncRedaction]) -> Vec<String> {
    let line = |told: &SyncRedaction| {
        let done = if told.is_done { "redacted" } else { "not redacted" };
        let side = told.side.as_str();
        let path = told.path.relative();
        let details = told.details.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        format!("{side} {path} {done}, as {}{details}", told.redacted)
    };
    redactions.iter().map(line).collect()
}

fn has_secret(memory: &Memory) -> bool {
    !memory.grep_history(&GrepQuery::text("hunter2"), "/memories", 10).unwrap().is_empty()
}

/// Two memories with the same file, whose first version has a secret and came from `a`.
fn with_secret() -> (Memory, Memory) {
    let (a, b) = (recorded(), recorded());
    put(&a, "/memories/db.md", "password: hunter2\n");
    put(&a, "/memories/tea.md", "green\n");
    synced(&a, &b);
    put(&a, "/memories/db.md", "password: in the vault\n");
    synced(&a, &b);
    (a, b)
}

fn redact(memory: &Memory) {
    memory.redact_text(&GrepQuery::text("hunter2"), "a password", false).unwrap();
}

#[test]
fn a_redaction_is_taken_over_in_both_directions() {
    for from_a in [true, false] {
        let (a, b) = with_secret();
        let (one, other) = if from_a { (&a, &b) } else { (&b, &a) };
        redact(one);
        assert!(!has_secret(one) && has_secret(other));
        let done = sync_all(&a, &b);
        let side = if from_a { "b" } else { "a" };
        assert_eq!(told(&done.redactions), [format!("{side} db.md redacted, as a password")]);
        assert!(!has_secret(other));
        let reason = Some("a password".to_owned());
        assert_eq!(reasons(other, "/memories/db.md")[..2], [reason, None]);
        assert_eq!(other.read("/memories/db.md").unwrap(), "password: in the vault\n");
        // The record of the redaction names the actor.
        let newest = versions(other, "/memories").pop().unwrap();
        assert_eq!(
            (newest.operation.as_str(), newest.actor.as_deref()),
            ("redacted", Some("sync"))
        );
        assert_eq!(sync_all(&a, &b).redactions, []);
    }
}

#[test]
fn without_the_option_a_redaction_is_named() {
    let (a, b) = with_secret();
    redact(&a);
    // Nothing has changed, so no history is read.
    assert_eq!(synced(&a, &b).redactions, []);
    put(&a, "/memories/tea.md", "black\n");
    let done = synced(&a, &b);
    assert_eq!(
        told(&done.redactions),
        ["b db.md not redacted, as a password: the sync does not take redactions over"]
    );
    assert_eq!((done.redactions[0].side, has_secret(&b)), (SyncSide::B, true));
    assert_eq!(done.redactions[0].version, versions(&b, "/memories/db.md")[0].id);
}

#[test]
fn a_dry_run_says_the_same_and_does_nothing() {
    let (a, b) = with_secret();
    redact(&a);
    let mut rehearsing = taking_over();
    rehearsing.dry_run = true;
    let said = try_sync(&a, &b, &rehearsing).unwrap().redactions;
    assert!(has_secret(&b));
    assert_eq!(said, sync_all(&a, &b).redactions);
}

#[test]
fn a_content_that_a_file_has_now_is_kept_and_named() {
    let (a, b) = with_secret();
    put(&b, "/memories/again.md", "password: hunter2\n");
    redact(&a);
    let mut one_way = taking_over();
    one_way.one_way = true;
    let mut rehearsing = one_way.clone();
    rehearsing.dry_run = true;
    let expected = ["b db.md not redacted, as a password: /memories/again.md has this content now"];
    assert_eq!(told(&try_sync(&a, &b, &rehearsing).unwrap().redactions), expected);
    assert_eq!(told(&try_sync(&a, &b, &one_way).unwrap().redactions), expected);
    assert!(has_secret(&b));
    // The sync itself replaces the content, and redacts it after that.
    let (a, b) = (recorded(), recorded());
    put(&a, "/memories/db.md", "hunter2\n");
    synced(&a, &b);
    put(&a, "/memories/db.md", "in the vault\n");
    redact(&a);
    let said = try_sync(&a, &b, &{
        let mut options = taking_over();
        options.dry_run = true;
        options
    });
    assert_eq!(told(&said.unwrap().redactions), ["b db.md redacted, as a password"]);
    assert_eq!(told(&sync_all(&a, &b).redactions), ["b db.md redacted, as a password"]);
    assert!(!has_secret(&b));
}

#[test]
fn one_way_takes_over_only_what_the_first_memory_redacted() {
    let (a, b) = with_secret();
    redact(&b);
    let mut one_way = taking_over();
    one_way.one_way = true;
    assert_eq!(try_sync(&a, &b, &one_way).unwrap().redactions, []);
    assert!(has_secret(&a));
}

#[test]
fn a_result_of_a_merge_is_redacted_in_both() {
    let (a, b) = (recorded(), recorded());
    put(&a, "/memories/db.md", "host: db\n2\n3\nport: 1\n");
    synced(&a, &b);
    put(&a, "/memories/db.md", "password: hunter2\nhost: db\n2\n3\nport: 1\n");
    put(&b, "/memories/db.md", "host: db\n2\n3\nport: 2\n");
    synced(&a, &b);
    let merged = "password: hunter2\nhost: db\n2\n3\nport: 2\n";
    assert_eq!((a.read("/memories/db.md").unwrap(), b.read("/memories/db.md").unwrap()), {
        (merged.to_owned(), merged.to_owned())
    });
    put(&a, "/memories/db.md", "host: db\n2\n3\nport: 2\n");
    synced(&a, &b);
    redact(&a);
    let done = sync_all(&a, &b);
    // The version of `a` alone was merged into that of `b`, and the result was redacted in `a`, too.
    assert_eq!(told(&done.redactions), ["b db.md redacted, as a password"]);
    assert!(!has_secret(&b), "{:?}", told(&done.redactions));
}

#[test]
fn a_merge_with_a_redacted_content_is_named_and_kept() {
    let (a, b) = (recorded(), recorded());
    put(&a, "/memories/db.md", "host: db\n2\n3\nport: 1\n");
    synced(&a, &b);
    put(&a, "/memories/db.md", "host: server\n2\n3\nport: 1\n");
    put(&b, "/memories/db.md", "host: db\n2\n3\nport: 2\n");
    synced(&a, &b);
    put(&a, "/memories/db.md", "-\n");
    synced(&a, &b);
    // The version of `b` before the merge.
    let before = versions(&b, "/memories/db.md")[1].id;
    b.redact(before, "wrong").unwrap();
    let done = sync_all(&a, &b);
    assert_eq!(
        told(&done.redactions),
        [
            "a db.md not redacted, as wrong: a sync merged it with the redacted content, so it may have the text too"
        ]
    );
    put(&a, "/memories/tea.md", "x\n");
    assert_eq!(synced(&a, &b).redactions, []);
}

#[test]
fn a_redaction_reaches_a_third_memory_and_renamed_files() {
    let (a, b, c) = (recorded(), recorded(), recorded());
    put(&a, "/memories/db.md", "hunter2\n");
    synced(&a, &b);
    synced(&b, &c);
    c.rename("/memories/db.md", "/memories/renamed.md").unwrap();
    put(&c, "/memories/renamed.md", "in the vault\n");
    synced(&b, &c);
    synced(&a, &b);
    redact(&a);
    sync_all(&a, &b);
    sync_all(&b, &c);
    assert!(![&a, &b, &c].into_iter().any(has_secret));
}

#[test]
fn a_conflict_copy_is_redacted_too() {
    let (a, b) = (recorded(), recorded());
    put(&a, "/memories/db.md", "green\n");
    put(&b, "/memories/db.md", "hunter2\n");
    let copy = synced(&a, &b).conflicts.remove(0).copy_path;
    for memory in [&a, &b] {
        memory.delete(copy.as_str()).unwrap();
    }
    synced(&a, &b);
    redact(&b);
    sync_all(&a, &b);
    assert!(!has_secret(&a) && !has_secret(&b));
}

#[test]
fn memories_that_cannot_take_a_redaction_over() {
    // Without a history there is nothing to redact.
    let (a, b) = (recorded(), memory());
    put(&a, "/memories/db.md", "hunter2\n");
    synced(&a, &b);
    put(&a, "/memories/db.md", "in the vault\n");
    redact(&a);
    assert_eq!(sync_all(&a, &b).redactions, []);
    // A memory that is only read.
    let place = tempfile::tempdir().unwrap();
    let open = |read_only: bool| {
        let mut options = MemoryOptions::default();
        (options.history, options.read_only) = (true, read_only);
        Memory::open(place.path().to_str().unwrap(), options).unwrap()
    };
    let (b, c) = (open(false), recorded());
    put(&c, "/memories/db.md", "hunter2\n");
    synced(&b, &c);
    put(&c, "/memories/db.md", "in the vault\n");
    synced(&b, &c);
    redact(&c);
    let mut one_way = taking_over();
    one_way.one_way = true;
    assert_eq!(try_sync(&open(true), &c, &one_way).unwrap().redactions, []);
    assert!(b.store().read(&at("/memories/db.md")).is_ok());
    assert!(has_secret(&b));
}

#[test]
fn a_file_that_was_renamed_and_merged_is_redacted_too() {
    for from_a in [true, false] {
        let (a, b) = (recorded(), recorded());
        put(&a, "/memories/db.md", "1\n2\n3\n4\n5\n");
        synced(&a, &b);
        put(&b, "/memories/db.md", "1\nhunter2\n3\n4\n5\n");
        a.rename("/memories/db.md", "/memories/new.md").unwrap();
        put(&a, "/memories/new.md", "1\n2\n3\n4\nfive\n");
        synced(&a, &b);
        put(&b, "/memories/new.md", "1\n-\n3\n4\nfive\n");
        synced(&a, &b);
        let (one, other) = if from_a { (&a, &b) } else { (&b, &a) };
        redact(one);
        let done = sync_all(&a, &b);
        // The merged version, and not the one of `b` that was merged, which `a` never had.
        assert!(done.redactions.iter().any(|redaction| redaction.is_done));
        let is_redacted = |version: &Version| version.redacted.is_some();
        assert!(versions(other, "/memories/new.md").iter().any(is_redacted));
        let open = told(&done.redactions).into_iter().filter(|line| line.contains("not redacted"));
        assert_eq!((open.count(), has_secret(other)), if from_a { (1, true) } else { (0, false) });
    }
}

#[test]
fn a_content_in_several_files_is_redacted_in_one_sync() {
    let (a, b) = (recorded(), recorded());
    put(&a, "/memories/db.md", "hunter2\n");
    put(&b, "/memories/other.md", "hunter2\n");
    put(&b, "/memories/third.md", "green\n");
    synced(&a, &b);
    a.delete("/memories/db.md").unwrap();
    synced(&a, &b);
    put(&a, "/memories/other.md", "-\n");
    synced(&a, &b);
    let of_db = versions(&a, "/memories/db.md")[0].id;
    a.redact(of_db, "a password").unwrap();
    sync_all(&a, &b);
    assert!(!has_secret(&a) && !has_secret(&b));
    assert_eq!(sync_all(&a, &b).redactions, []);
}

#[test]
fn many_redactions_are_one_change() {
    let (a, b) = (recorded(), recorded());
    for number in 0..300 {
        put(&a, &format!("/memories/{number}.md"), &format!("hunter2 {number}\n"));
    }
    synced(&a, &b);
    for number in 0..300 {
        put(&a, &format!("/memories/{number}.md"), "-\n");
    }
    synced(&a, &b);
    // One of them is in a file again, which keeps it and not the others.
    put(&b, "/memories/again.md", "hunter2 77\n");
    redact(&a);
    let mut one_way = taking_over();
    one_way.one_way = true;
    let done = try_sync(&a, &b, &one_way).unwrap().redactions;
    let open: Vec<String> = told(&done).into_iter().filter(|line| line.contains("not")).collect();
    assert_eq!(done.len(), 300);
    assert_eq!(
        open,
        ["b 77.md not redacted, as a password: /memories/again.md has this content now"]
    );
    let redacted =
        versions(&b, "/memories").into_iter().filter(|it| it.operation.as_str() == "redacted");
    let changes: std::collections::BTreeSet<_> = redacted.map(|version| version.change).collect();
    assert!(changes.len() < 20, "{}", changes.len());
}

#[test]
fn a_dry_run_knows_a_file_that_would_be_renamed_and_replaced() {
    let (a, b) = (recorded(), recorded());
    put(&a, "/memories/db.md", "hunter2\n");
    synced(&a, &b);
    a.rename("/memories/db.md", "/memories/new.md").unwrap();
    put(&a, "/memories/new.md", "in the vault\n");
    redact(&a);
    let mut rehearsing = taking_over();
    rehearsing.dry_run = true;
    let said = try_sync(&a, &b, &rehearsing).unwrap();
    assert_eq!(told(&said.redactions), ["b db.md redacted, as a password"]);
    let done = sync_all(&a, &b);
    assert_eq!((&said.changes, &said.redactions), (&done.changes, &done.redactions));
}
