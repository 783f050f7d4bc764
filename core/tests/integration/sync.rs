//! Syncs of two memories: the rules for a file, on every store.
//!
//! `sync_options.rs` has the options, `sync_safety.rs` kills, agents at work and deletions, `sync_model.rs` random work.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, UNIX_EPOCH};

use crate::common::folding_store::FoldingStore;
use crate::common::store_helpers::at;
use memdir::store::{Context, InProcess, Layer, Mutation};
use memdir::sync::{SyncReason, SyncSide};
use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};
use memdir::{SyncError, SyncOptions, Synced, sync};

pub(crate) fn memory() -> Memory {
    Memory::open("memory:", MemoryOptions::default()).unwrap()
}

pub(crate) fn on(store: &Arc<dyn Store>) -> Memory {
    Memory::with_store(Arc::clone(store), MemoryOptions::default())
}

pub(crate) fn options() -> SyncOptions {
    let mut options = SyncOptions::default();
    options.names = [Some("laptop".to_owned()), Some("server".to_owned())];
    options
}

pub(crate) fn try_sync(a: &Memory, b: &Memory, options: &SyncOptions) -> Result<Synced, SyncError> {
    sync(a, b, options, &mut |_| ControlFlow::Continue(()))
}

pub(crate) fn synced(a: &Memory, b: &Memory) -> Synced {
    try_sync(a, b, &options()).unwrap()
}

/// All files without those that memdir keeps.
pub(crate) fn files(memory: &Memory) -> BTreeMap<String, String> {
    let mut paths = Vec::new();
    memory.store().files(&mut |entry| paths.push(entry.path)).unwrap();
    paths.retain(|path| !path.is_reserved());
    let read = |path: MemoryPath| {
        let content = memory.store().read(&path).unwrap();
        (path.to_string(), String::from_utf8_lossy(&content).into_owned())
    };
    paths.into_iter().map(read).collect()
}

pub(crate) fn put(memory: &Memory, path: &str, text: &str) {
    memory.write(path, text, None).unwrap();
    // Conflict copies have the time in their names.
    memory
        .store()
        .set_modified(&at(path), UNIX_EPOCH + Duration::from_secs(1_795_882_925))
        .unwrap();
}

/// The changes of a sync, each as `SIDE ACTION PATH`.
pub(crate) fn done(synced: &Synced) -> Vec<String> {
    let line = |change: &memdir::sync::SyncChange| {
        let (side, action, path) = (change.side, change.action.as_str(), change.path.relative());
        match &change.old_path {
            Some(old) => format!("{side} {action} {} -> {path}", old.relative()),
            None => format!("{side} {action} {path}"),
        }
    };
    synced.changes.iter().map(line).collect()
}

pub(crate) fn left_out(synced: &Synced) -> Vec<(&str, SyncReason)> {
    synced.left_out.iter().map(|left| (left.path.relative(), left.reason)).collect()
}

/// Both memories have exactly these files, and another sync finds nothing to do.
pub(crate) fn assert_equal(a: &Memory, b: &Memory, expected: &[(&str, &str)]) {
    let expected: BTreeMap<String, String> = expected
        .iter()
        .map(|(path, text)| (format!("/memories/{path}"), (*text).to_owned()))
        .collect();
    assert_eq!(files(a), expected);
    assert_eq!(files(b), expected);
    let again = synced(a, b);
    assert_eq!((done(&again), left_out(&again)), (vec![], vec![]));
    assert_eq!(again.equal, expected.len() as u64);
}

/// Two memories that agree on these files.
pub(crate) fn in_sync(files: &[(&str, &str)]) -> (Memory, Memory) {
    let (a, b) = (memory(), memory());
    for (path, text) in files {
        put(&a, &format!("/memories/{path}"), text);
    }
    synced(&a, &b);
    (a, b)
}

#[test]
fn the_first_sync_takes_the_files_of_both() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/a/one.md", "one\n");
    put(&a, "/memories/both.md", "same\n");
    put(&b, "/memories/both.md", "same\n");
    put(&b, "/memories/.hidden", "two\n");
    let first = synced(&a, &b);
    assert_eq!(done(&first), ["a created .hidden", "b created a/one.md"]);
    assert_eq!((first.has_baseline, first.equal), (false, 3));
    assert!(synced(&a, &b).has_baseline);
    assert_equal(&a, &b, &[(".hidden", "two\n"), ("a/one.md", "one\n"), ("both.md", "same\n")]);
}

#[test]
fn a_new_file_keeps_its_time() {
    let (a, b) = in_sync(&[("a.md", "one\n")]);
    let time = |memory: &Memory| memory.store().modified(&at("/memories/a.md")).unwrap();
    assert_eq!(time(&a), time(&b));
}

#[test]
fn one_memory_follows_the_other() {
    for turned in [false, true] {
        let (a, b) = in_sync(&[("edited.md", "old\n"), ("gone.md", "x\n"), ("stays.md", "y\n")]);
        let (by, side) = if turned { (&b, "a") } else { (&a, "b") };
        put(by, "/memories/edited.md", "new\n");
        by.delete("/memories/gone.md").unwrap();
        put(by, "/memories/new.md", "z\n");
        let lines = ["replaced edited.md", "deleted gone.md", "created new.md"];
        assert_eq!(done(&synced(&a, &b)), lines.map(|line| format!("{side} {line}")));
        assert_equal(&a, &b, &[("edited.md", "new\n"), ("new.md", "z\n"), ("stays.md", "y\n")]);
    }
}

#[test]
fn the_order_in_which_the_memories_are_named_does_not_matter() {
    let (a, b) = in_sync(&[("a.md", "old\n"), ("b.md", "x\n")]);
    b.delete("/memories/b.md").unwrap();
    let turned = synced(&b, &a);
    assert!(turned.has_baseline);
    assert_eq!(done(&turned), ["b deleted b.md"]);
    put(&a, "/memories/a.md", "new\n");
    assert_eq!(done(&synced(&a, &b)), ["b replaced a.md"]);
    assert_equal(&a, &b, &[("a.md", "new\n")]);
}

#[test]
fn changes_of_both_are_merged_by_lines() {
    let (a, b) = in_sync(&[("list.md", "one\ntwo\nthree\n"), ("log.md", "- begin\n")]);
    put(&a, "/memories/list.md", "ONE\ntwo\nthree\n");
    put(&b, "/memories/list.md", "one\ntwo\nTHREE\n");
    put(&a, "/memories/log.md", "- begin\n- of a\n");
    put(&b, "/memories/log.md", "- begin\n- of b\n");
    let merged = synced(&a, &b);
    assert_eq!(
        done(&merged),
        ["a merged list.md", "b merged list.md", "a merged log.md", "b merged log.md"]
    );
    assert_eq!(merged.conflicts, []);
    let both = [("list.md", "ONE\ntwo\nTHREE\n"), ("log.md", "- begin\n- of a\n- of b\n")];
    assert_equal(&a, &b, &both);
}

const COPY: &str = "tea (conflict from server 2026-11-28 16.22.05).md";

#[test]
fn what_cannot_be_merged_is_kept_twice() {
    let (a, b) = in_sync(&[("tea.md", "green\n")]);
    put(&a, "/memories/tea.md", "black\n");
    put(&b, "/memories/tea.md", "white\n");
    let kept = synced(&a, &b);
    assert_eq!(kept.conflicts.len(), 1);
    let conflict = &kept.conflicts[0];
    assert_eq!((conflict.path.relative(), conflict.side), ("tea.md", SyncSide::B));
    assert_eq!(memdir::sync::original_of(&conflict.copy_path).unwrap(), conflict.path);
    assert_equal(&a, &b, &[("tea.md", "black\n"), (COPY, "white\n")]);
    // The model reads the copy like any other file.
    assert!(a.view(&format!("/memories/{COPY}"), None).unwrap().contains("white"));
}

#[test]
fn without_a_baseline_different_files_are_kept_twice() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/tea.md", "black\n");
    put(&b, "/memories/tea.md", "black\nwhite\n");
    assert_eq!(synced(&a, &b).conflicts.len(), 1);
    assert_equal(&a, &b, &[("tea.md", "black\n"), (COPY, "black\nwhite\n")]);
}

#[test]
fn contents_that_are_not_text_travel_and_are_kept_twice() {
    let (a, b) = (memory(), memory());
    let image = at("/memories/image.png");
    a.store().write(&image, &[0x89, b'P', 0xff, 0], OnExisting::Error).unwrap();
    synced(&a, &b);
    assert_eq!(b.store().read(&image).unwrap(), [0x89, b'P', 0xff, 0]);
    b.store().write(&image, &[0xff, 1], OnExisting::Overwrite).unwrap();
    assert_eq!(done(&synced(&a, &b)), ["a replaced image.png"]);
    assert_eq!(a.store().read(&image).unwrap(), [0xff, 1]);
    a.store().write(&image, &[0xff, 2], OnExisting::Overwrite).unwrap();
    b.store().write(&image, b"a text now", OnExisting::Overwrite).unwrap();
    assert_eq!(synced(&a, &b).conflicts.len(), 1);
    assert_eq!(files(&a), files(&b));
    assert_eq!(files(&a).len(), 2);
}

#[test]
fn an_edit_beats_a_deletion() {
    let (a, b) = in_sync(&[("one.md", "1\n"), ("two.md", "2\n")]);
    a.delete("/memories/one.md").unwrap();
    put(&b, "/memories/one.md", "1\nmore\n");
    put(&a, "/memories/two.md", "2\nmore\n");
    b.delete("/memories/two.md").unwrap();
    assert_eq!(done(&synced(&a, &b)), ["a created one.md", "b created two.md"]);
    assert_equal(&a, &b, &[("one.md", "1\nmore\n"), ("two.md", "2\nmore\n")]);
}

#[test]
fn a_rename_stays_a_rename_and_takes_an_edit_of_the_other_with_it() {
    let (a, b) = in_sync(&[("old/tea.md", "green\n"), ("old/cups.md", "two\n"), ("x.md", "x\n")]);
    a.rename("/memories/old", "/memories/new").unwrap();
    put(&b, "/memories/old/tea.md", "green\nblack\n");
    b.rename("/memories/x.md", "/memories/y.md").unwrap();
    let renamed = synced(&a, &b);
    assert_eq!(
        done(&renamed),
        [
            "b renamed old/cups.md -> new/cups.md",
            "a replaced new/tea.md",
            "b renamed old/tea.md -> new/tea.md",
            "a renamed x.md -> y.md",
        ]
    );
    let both = [("new/cups.md", "two\n"), ("new/tea.md", "green\nblack\n"), ("y.md", "x\n")];
    assert_equal(&a, &b, &both);
    // The texts of renamed files still serve for merges.
    put(&a, "/memories/new/cups.md", "two\nof a\n");
    put(&b, "/memories/new/cups.md", "two\nof b\n");
    assert_eq!(synced(&a, &b).conflicts, []);
}

#[test]
fn two_names_for_a_renamed_file_both_stay() {
    let (a, b) = in_sync(&[("tea.md", "green\n")]);
    a.rename("/memories/tea.md", "/memories/one.md").unwrap();
    b.rename("/memories/tea.md", "/memories/two.md").unwrap();
    synced(&a, &b);
    assert_equal(&a, &b, &[("one.md", "green\n"), ("two.md", "green\n")]);
}

#[test]
fn a_file_makes_room_for_a_directory() {
    for turned in [false, true] {
        let (a, b) = in_sync(&[("x", "file\n")]);
        let (file, directory) = if turned { (&b, &a) } else { (&a, &b) };
        put(file, "/memories/x", "file\nedited\n");
        directory.delete("/memories/x").unwrap();
        put(directory, "/memories/x/y.md", "inside\n");
        assert_eq!(synced(&a, &b).conflicts.len(), 1);
        let name = if turned { "server" } else { "laptop" };
        let copy = format!("x (conflict from {name} 2026-11-28 16.22.05)");
        assert_equal(&a, &b, &[(&copy, "file\nedited\n"), ("x/y.md", "inside\n")]);
    }
}

#[test]
fn a_file_that_was_renamed_to_the_name_of_a_directory_makes_room_for_it() {
    for from_a in [true, false] {
        let (a, b) = in_sync(&[("b.md", "b\n"), ("other.md", "other\n")]);
        let (one, other) = if from_a { (&a, &b) } else { (&b, &a) };
        one.rename("/memories/b.md", "/memories/dir").unwrap();
        other.create("/memories/dir/a.md", "a\n").unwrap();
        let done = synced(&a, &b);
        let [conflict] = &done.conflicts[..] else { panic!("{done:?}") };
        assert_eq!((conflict.path.relative(), left_out(&done)), ("dir", vec![]));
        let copy = conflict.copy_path.relative();
        assert_equal(&a, &b, &[(copy, "b\n"), ("dir/a.md", "a\n"), ("other.md", "other\n")]);
    }
}

#[test]
fn a_directory_replaces_a_file_that_is_unchanged() {
    let (a, b) = in_sync(&[("x", "file\n"), ("z", "z\n")]);
    a.delete("/memories/x").unwrap();
    put(&a, "/memories/x/y.md", "inside\n");
    assert_eq!(synced(&a, &b).conflicts, []);
    assert_equal(&a, &b, &[("x/y.md", "inside\n"), ("z", "z\n")]);
}

/// The directories of a memory, without those that memdir keeps.
fn directories(memory: &Memory) -> Vec<String> {
    let mut found = Vec::new();
    let mut ahead = vec![MemoryPath::root()];
    while let Some(directory) = ahead.pop() {
        let entries = memory.store().list(&directory).unwrap().into_iter();
        let below = entries.filter(|entry| !entry.is_file() && !entry.path.is_reserved());
        for entry in below {
            found.push(entry.path.relative().to_owned());
            ahead.push(entry.path);
        }
    }
    found.sort();
    found
}

#[test]
fn directories_that_the_other_memory_deleted_or_renamed_are_removed() {
    for turned in [false, true] {
        let (a, b) = in_sync(&[
            ("deleted/one.md", "1\n"),
            ("deleted/deep/er/two.md", "2\n"),
            ("renamed/three.md", "3\n"),
            ("renamed/deep/four.md", "4\n"),
            ("kept/five.md", "5\n"),
            ("kept/six.md", "6\n"),
            ("own/seven.md", "7\n"),
        ]);
        let (by, other) = if turned { (&b, &a) } else { (&a, &b) };
        // An empty directory of an agent stays.
        other.store().make_directory(&at("/memories/own/empty")).unwrap();
        by.delete("/memories/deleted").unwrap();
        by.rename("/memories/renamed", "/memories/new/place").unwrap();
        by.delete("/memories/kept/five.md").unwrap();
        by.delete("/memories/own").unwrap();
        let mut options = options();
        options.delete = true;
        assert_eq!(left_out(&try_sync(&a, &b, &options).unwrap()), []);
        assert_eq!(directories(by), ["kept", "new", "new/place", "new/place/deep"]);
        assert_eq!(
            directories(other),
            ["kept", "new", "new/place", "new/place/deep", "own", "own/empty"]
        );
    }
}

#[test]
fn a_directory_that_both_memories_empty_together_is_removed() {
    let (a, b) = in_sync(&[("old/one.md", "1\n"), ("old/two.md", "2\n"), ("stays.md", "x\n")]);
    a.rename("/memories/old/one.md", "/memories/new/one.md").unwrap();
    b.rename("/memories/old/two.md", "/memories/new/two.md").unwrap();
    synced(&a, &b);
    assert_equal(&a, &b, &[("new/one.md", "1\n"), ("new/two.md", "2\n"), ("stays.md", "x\n")]);
    assert_eq!([directories(&a), directories(&b)], [["new"], ["new"]]);
}

#[test]
fn an_empty_directory_makes_room_for_a_file() {
    let (a, b) = in_sync(&[("old.md", "1\n"), ("stays.md", "x\n")]);
    b.store().make_directory(&at("/memories/new/empty/deep")).unwrap();
    b.store().make_directory(&at("/memories/renamed")).unwrap();
    put(&a, "/memories/new", "2\n");
    a.rename("/memories/old.md", "/memories/renamed").unwrap();
    assert_eq!(done(&synced(&a, &b)), ["b created new", "b renamed old.md -> renamed"]);
    assert_equal(&a, &b, &[("new", "2\n"), ("renamed", "1\n"), ("stays.md", "x\n")]);
}

#[test]
fn a_file_replaces_its_own_directory_and_the_other_way_round() {
    let (a, b) = in_sync(&[("up/x", "1\n"), ("down", "2\n"), ("stays.md", "x\n")]);
    a.rename("/memories/up/x", "/memories/aside").unwrap();
    a.delete("/memories/up").unwrap();
    a.rename("/memories/aside", "/memories/up").unwrap();
    a.rename("/memories/down", "/memories/aside").unwrap();
    a.rename("/memories/aside", "/memories/down/x").unwrap();
    assert_eq!(left_out(&synced(&a, &b)), []);
    assert_equal(&a, &b, &[("down/x", "2\n"), ("stays.md", "x\n"), ("up", "1\n")]);
}

#[test]
fn a_directory_with_files_that_are_not_synced_stays_in_the_way() {
    let (a, b) = in_sync(&[("stays.md", "x\n")]);
    put(&b, "/memories/project/.git/config", "of git\n");
    put(&a, "/memories/project", "a file\n");
    let result = synced(&a, &b);
    assert_eq!(left_out(&result), [("project", SyncReason::Directory)]);
    assert_eq!(
        result.left_out[0].details,
        "a directory is in the way, with files that are not synced"
    );
}

#[test]
fn a_name_that_differs_only_in_case_stays_where_it_can_be() {
    for folding in [FoldingStore::like_windows(), FoldingStore::like_macos()] {
        let a = memory();
        let b = Memory::with_store(Arc::new(folding), MemoryOptions::default());
        put(&a, "/memories/Notes.md", "one\n");
        put(&a, "/memories/notes.md", "two\n");
        let first = synced(&a, &b);
        assert_eq!(left_out(&first), [("notes.md", SyncReason::SameName)]);
        assert_eq!(files(&b).len(), 1);
        assert_eq!(files(&a).len(), 2);
        // The next sync says the same, and a change of the other spelling travels.
        put(&b, "/memories/Notes.md", "edited\n");
        let again = synced(&a, &b);
        assert_eq!(left_out(&again), [("notes.md", SyncReason::SameName)]);
        assert_eq!(done(&again), ["a replaced Notes.md"]);
        assert_eq!(files(&a)["/memories/notes.md"], "two\n");
    }
}

/// Counts the contents that are read.
struct Counting(Arc<dyn Store>, Arc<AtomicUsize>);

impl Layer for Counting {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.1.fetch_add(usize::from(!path.is_reserved()), SeqCst);
        self.0.read_in(context, path)
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        self.1.fetch_add(1, SeqCst);
        self.0.mutate(context, mutation)
    }
}

#[test]
fn a_sync_without_changes_reads_and_writes_no_file() {
    let counts = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let [a, b] = counts.clone().map(|count| {
        let store: Arc<dyn Store> = Arc::new(InProcess::new());
        let counting: Arc<dyn Store> = Arc::new(Counting(store, count));
        on(&counting)
    });
    for number in 0..50 {
        put(&a, &format!("/memories/{number}.md"), "x\n");
        put(&b, &format!("/memories/of b {number}.md"), &format!("{number}\n"));
    }
    for round in 0..2 {
        synced(&a, &b);
        counts.iter().for_each(|count| count.store(0, SeqCst));
        assert_eq!(done(&synced(&a, &b)), Vec::<String>::new());
        assert_eq!(counts.clone().map(|count| count.load(SeqCst)), [0, 0]);
        // An edit, a rename and a deletion later.
        put(&a, "/memories/1.md", "edited\n");
        b.rename(&format!("/memories/of b {round}.md"), &format!("/memories/new {round}")).unwrap();
        b.delete(&format!("/memories/{}.md", round + 8)).unwrap();
    }
}

/// Changes two memories before a sync in every way that a sync has steps for.
pub(crate) fn diverge(a: &Memory, b: &Memory) {
    a.delete("/memories/deleted.md").unwrap();
    put(b, "/memories/edited.md", "two\n");
    put(a, "/memories/merged.md", "A\nb\nc\n");
    put(b, "/memories/merged.md", "a\nb\nC\n");
    put(a, "/memories/conflict.md", "of a\n");
    put(b, "/memories/conflict.md", "of b\n");
    a.rename("/memories/old.md", "/memories/new.md").unwrap();
    // Renamed in one memory, and edited in the other.
    a.rename("/memories/draft.md", "/memories/plan.md").unwrap();
    put(b, "/memories/draft.md", "1\n2\nthree\n");
    b.rename("/memories/bytes", "/memories/bits").unwrap();
    a.store().write(&at("/memories/bytes"), b"\xff of a", OnExisting::Overwrite).unwrap();
    // Renamed in one memory to the name of a new file in the other.
    a.rename("/memories/idea.md", "/memories/taken.md").unwrap();
    put(b, "/memories/taken.md", "of b\n");
    put(a, "/memories/x", "edited\n");
    b.delete("/memories/x").unwrap();
    put(b, "/memories/x/y.md", "inside\n");
    put(a, "/memories/new of a.md", "7\n");
    put(b, "/memories/new of b.md", "8\n");
}

pub(crate) const BEFORE: [(&str, &str); 10] = [
    ("deleted.md", "1\n"),
    ("edited.md", "2\n"),
    ("merged.md", "a\nb\nc\n"),
    ("conflict.md", "3\n"),
    ("old.md", "4\n"),
    ("draft.md", "1\n2\n3\n"),
    ("bytes", "bytes\n"),
    ("idea.md", "idea\n"),
    ("stays.md", "5\n"),
    ("x", "6\n"),
];

#[allow(clippy::needless_pass_by_value, reason = "every check gets its store")]
fn every_store_is_synced(store: Arc<dyn Store>) {
    let (a, b) = (memory(), on(&store));
    for (path, text) in BEFORE {
        put(&a, &format!("/memories/{path}"), text);
    }
    synced(&a, &b);
    assert_eq!(files(&a), files(&b));
    diverge(&a, &b);
    put(&b, "/memories/mounted/own.md", "own\n");
    synced(&a, &b);
    assert_eq!(files(&a), files(&b));
    assert_eq!(files(&a).len(), 15);
    let again = synced(&b, &a);
    assert!(again.has_baseline);
    assert_eq!(done(&again), Vec::<String>::new());
    // A directory that is deleted is gone, and an empty one makes room for a file.
    put(&a, "/memories/dir/sub/file.md", "1\n");
    b.store().make_directory(&at("/memories/empty/sub")).unwrap();
    put(&a, "/memories/empty", "a file\n");
    synced(&a, &b);
    a.delete("/memories/dir").unwrap();
    assert_eq!(left_out(&synced(&a, &b)), []);
    assert_eq!(files(&a), files(&b));
    assert_eq!(directories(&b), ["mounted", "x"]);
}

on_every_store!(every_store_is_synced);
