//! `restore`, `undo` and `restore_all` with obstacles: a file where a directory is needed, or a directory where a file is.
//! Each is refused with the paths in the way, and changes nothing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use crate::common::folding_store::FoldingStore;
use memdir::history::{
    HistoryError, HistoryErrorKind, HistoryId, HistoryQuery, Restored, UndoOptions, Version,
};
use memdir::store::{Context, InProcess, Layer, Mounts, Mutation};
use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};

fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(&format!("/memories/{path}")).unwrap()
}

fn remembering(store: &Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(Arc::clone(store), options)
}

fn versions(memory: &Memory) -> Vec<Version> {
    memory.history(&HistoryQuery::default()).unwrap()
}

/// The id of the last change.
fn last(memory: &Memory) -> HistoryId {
    versions(memory)[0].change
}

fn tree(memory: &Memory) -> BTreeMap<String, String> {
    let mut paths = Vec::new();
    memory.store().files(&mut |entry| paths.push(entry.path)).unwrap();
    paths.retain(|path| !path.is_reserved());
    let text = |path: &MemoryPath| String::from_utf8(memory.store().read(path).unwrap()).unwrap();
    paths.iter().map(|path| (path.relative().to_owned(), text(path))).collect()
}

fn holds(memory: &Memory, files: &[(&str, &str)]) {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    assert_eq!(tree(memory), files.collect());
}

/// Checks that this is refused because of these paths, and that it changes nothing.
#[track_caller]
fn refused(
    memory: &Memory,
    in_the_way: &[&str],
    work: impl FnOnce(&Memory) -> Result<Restored, HistoryError>,
) {
    let before = (tree(memory), versions(memory));
    let error = work(memory).unwrap_err();
    let expected: Vec<MemoryPath> = in_the_way.iter().map(|path| at(path)).collect();
    assert!(error.conflicts().iter().all(|conflict| conflict.in_the_way), "{error:?}");
    assert_eq!(
        (error.kind(), error.paths()),
        (Some(HistoryErrorKind::Conflict), expected.iter().collect())
    );
    let named: Vec<&str> = expected.iter().map(MemoryPath::as_str).collect();
    let HistoryError::Conflict { restores, .. } = error else { panic!("{error:?}") };
    let done = if restores { "restored" } else { "undone" };
    let sentence = format!("something else is in the way, so nothing was {done}: ");
    assert_eq!(error.to_string(), format!("{sentence}{}", named.join(", ")));
    assert_eq!((tree(memory), versions(memory)), before);
}

/// Checks that neither a restore of the version nor an undo of its change, or of all changes since, succeeds.
fn nothing_brings_back(memory: &Memory, version: &Version, in_the_way: &[&str]) {
    for id in [version.id, version.change] {
        for overwrite in [false, true] {
            refused(memory, in_the_way, |memory| memory.restore(id, overwrite));
            let refused = memory.restore(id, overwrite).unwrap_err();
            assert!(refused.to_string().contains("so nothing was restored"), "{refused}");
        }
        for dry_run in [true, false] {
            refused(memory, in_the_way, |memory| memory.undo(id, crate::common::dry_run(dry_run)));
        }
    }
}

/// A time that no version has.
fn now() -> SystemTime {
    let pause = || std::thread::sleep(std::time::Duration::from_micros(10));
    pause();
    let now = SystemTime::now();
    pause();
    now
}

on_every_store!(nothing_is_brought_back_below_a_file);
fn nothing_is_brought_back_below_a_file(store: Arc<dyn Store>) {
    let memory = &remembering(&store);
    let (me, other) = (memory.acting_as("me"), memory.acting_as("other"));
    me.create("/memories/b/c.txt", "one").unwrap();
    me.create("/memories/e.txt", "kept").unwrap();
    let before = now();
    me.delete("/memories/b").unwrap();
    let deleted = versions(memory).remove(0);
    other.create("/memories/b", "two").unwrap();
    nothing_brings_back(memory, &deleted, &["b"]);
    let created = versions(memory).remove(3);
    for overwrite in [false, true] {
        refused(memory, &["b"], |memory| memory.restore(created.id, overwrite));
    }
    for dry_run in [true, false] {
        refused(memory, &["b"], |memory| {
            memory.undo_since(before, Some("me"), crate::common::dry_run(dry_run))
        });
    }
    // The file of the undone change is not in the way.
    memory.undo_since(before, None, UndoOptions::default()).unwrap();
    holds(memory, &[("b/c.txt", "one"), ("e.txt", "kept")]);
}

on_every_store!(restore_all_leaves_a_file_that_the_history_does_not_know);
fn restore_all_leaves_a_file_that_the_history_does_not_know(store: Arc<dyn Store>) {
    let memory = &remembering(&store);
    memory.create("/memories/b/c.txt", "one").unwrap();
    memory.create("/memories/a.txt", "one").unwrap();
    let before = now();
    memory.delete("/memories/b").unwrap();
    memory.str_replace("/memories/a.txt", "one", "two").unwrap();
    store.write(&at("b"), b"by somebody else", OnExisting::Error).unwrap();
    for dry_run in [true, false] {
        refused(memory, &["b"], |memory| memory.restore_all(before, dry_run));
    }
    holds(memory, &[("a.txt", "two"), ("b", "by somebody else")]);
    // A file that it knows is removed, because it did not exist then.
    store.delete(&at("b")).unwrap();
    memory.create("/memories/b", "two").unwrap();
    memory.restore_all(before, false).unwrap();
    holds(memory, &[("a.txt", "one"), ("b/c.txt", "one")]);
}

on_every_store!(what_was_changed_is_told_from_what_is_in_the_way);
fn what_was_changed_is_told_from_what_is_in_the_way(store: Arc<dyn Store>) {
    let memory = &remembering(&store);
    memory.create("/memories/a.txt", "one").unwrap();
    memory.create("/memories/b/c.txt", "one").unwrap();
    let before = now();
    memory.str_replace("/memories/a.txt", "one", "two").unwrap();
    memory.delete("/memories/b").unwrap();
    store.write(&at("b"), b"by somebody else", OnExisting::Error).unwrap();
    store.write(&at("a.txt"), b"by somebody else", OnExisting::Overwrite).unwrap();
    let error = memory.undo_since(before, None, UndoOptions::default()).unwrap_err();
    let told = error.conflicts().iter().map(|conflict| (&conflict.path, conflict.in_the_way));
    assert!(told.eq([(&at("a.txt"), false), (&at("b"), true)]), "{error:?}");
    let sentence = "changed since, so nothing was undone: /memories/a.txt; in the way: /memories/b";
    assert_eq!(error.to_string(), sentence);
    holds(memory, &[("a.txt", "by somebody else"), ("b", "by somebody else")]);
}

on_every_store!(a_directory_that_somebody_else_replaced_is_in_the_way);
fn a_directory_that_somebody_else_replaced_is_in_the_way(store: Arc<dyn Store>) {
    let memory = &remembering(&store);
    memory.create("/memories/b/c.txt", "one").unwrap();
    let before = now();
    memory.str_replace("/memories/b/c.txt", "one", "two").unwrap();
    let change = last(memory);
    // The history still believes that `b/c.txt` exists.
    store.delete(&at("b")).unwrap();
    store.write(&at("b"), b"by somebody else", OnExisting::Error).unwrap();
    refused(memory, &["b"], |memory| memory.restore(change, true));
    refused(memory, &["b"], |memory| memory.restore_all(before, false));
    let error = memory.undo(change, UndoOptions::default()).unwrap_err();
    assert_eq!(error.paths(), [&at("b"), &at("b/c.txt")], "{error:?}");
    holds(memory, &[("b", "by somebody else")]);
}

on_every_store!(a_file_several_levels_above_is_named);
fn a_file_several_levels_above_is_named(store: Arc<dyn Store>) {
    let memory = &remembering(&store);
    memory.create("/memories/a/b/c/d.txt", "deep").unwrap();
    memory.create("/memories/a/b/e.txt", "less deep").unwrap();
    memory.create("/memories/a/f.txt", "free").unwrap();
    let kept = versions(memory);
    memory.delete("/memories/a").unwrap();
    let deleted = last(memory);
    memory.create("/memories/a/b", "a file").unwrap();
    refused(memory, &["a/b"], |memory| memory.undo(deleted, UndoOptions::default()));
    refused(memory, &["a/b"], |memory| memory.restore(deleted, true));
    memory.restore(kept[0].id, false).unwrap();
    holds(memory, &[("a/b", "a file"), ("a/f.txt", "free")]);
    memory.delete("/memories/a").unwrap();
    memory.create("/memories/a", "another file").unwrap();
    refused(memory, &["a"], |memory| memory.restore(deleted, true));
    memory.delete("/memories/a").unwrap();
    memory.restore(deleted, false).unwrap();
    let all = [("a/b/c/d.txt", "deep"), ("a/b/e.txt", "less deep"), ("a/f.txt", "free")];
    holds(memory, &all);
}

on_every_store!(a_rename_is_not_undone_below_a_file);
fn a_rename_is_not_undone_below_a_file(store: Arc<dyn Store>) {
    let memory = &remembering(&store);
    memory.create("/memories/b/c.txt", "one").unwrap();
    memory.rename("/memories/b/c.txt", "/memories/x.txt").unwrap();
    let moved = last(memory);
    memory.delete("/memories/b").unwrap();
    memory.create("/memories/b", "two").unwrap();
    refused(memory, &["b"], |memory| memory.undo(moved, crate::common::dry_run(true)));
    refused(memory, &["b"], |memory| memory.undo(moved, UndoOptions::default()));

    memory.create("/memories/d/e/f.txt", "f").unwrap();
    memory.create("/memories/d/g.txt", "g").unwrap();
    memory.rename("/memories/d", "/memories/y").unwrap();
    let moved = last(memory);
    memory.create("/memories/d", "three").unwrap();
    refused(memory, &["d"], |memory| memory.undo(moved, UndoOptions::default()));
    let files =
        [("b", "two"), ("d", "three"), ("x.txt", "one"), ("y/e/f.txt", "f"), ("y/g.txt", "g")];
    holds(memory, &files);
    memory.delete("/memories/d").unwrap();
    memory.undo(moved, UndoOptions::default()).unwrap();
    let files = [("b", "two"), ("d/e/f.txt", "f"), ("d/g.txt", "g"), ("x.txt", "one")];
    holds(memory, &files);
}

on_every_store!(nothing_is_brought_back_onto_a_directory);
fn nothing_is_brought_back_onto_a_directory(store: Arc<dyn Store>) {
    let memory = &remembering(&store);
    memory.create("/memories/b", "one").unwrap();
    let before = now();
    memory.delete("/memories/b").unwrap();
    let deleted = versions(memory).remove(0);
    memory.create("/memories/b/c.txt", "two").unwrap();
    nothing_brings_back(memory, &deleted, &["b"]);
    refused(memory, &["b"], |memory| memory.undo_since(before, None, UndoOptions::default()));
    refused(memory, &["b"], |memory| memory.restore_all(before, false));
    // A directory without files still exists, and no version allows its removal.
    memory.delete("/memories/b/c.txt").unwrap();
    nothing_brings_back(memory, &deleted, &["b"]);
    memory.delete("/memories/b").unwrap();
    memory.undo(deleted.change, UndoOptions::default()).unwrap();
    holds(memory, &[("b", "one")]);
}

on_every_store!(files_that_go_where_others_are_wait_for_them);
fn files_that_go_where_others_are_wait_for_them(store: Arc<dyn Store>) {
    let memory = &remembering(&store);
    memory.create("/memories/b/c", "one").unwrap();
    memory.create("/memories/y", "two").unwrap();
    memory.create("/memories/z/1", "three").unwrap();
    let before = now();
    // A file is at the path of its directory.
    memory.rename("/memories/b/c", "/memories/x").unwrap();
    memory.delete("/memories/b").unwrap();
    memory.rename("/memories/x", "/memories/b").unwrap();
    // Another file is at the path of a directory.
    memory.rename("/memories/z/1", "/memories/w").unwrap();
    memory.delete("/memories/z").unwrap();
    memory.rename("/memories/y", "/memories/z").unwrap();
    holds(memory, &[("b", "one"), ("w", "three"), ("z", "two")]);
    memory.undo_since(before, None, UndoOptions::default()).unwrap();
    holds(memory, &[("b/c", "one"), ("y", "two"), ("z/1", "three")]);
}

on_every_store!(files_of_one_change_that_are_in_each_others_way_are_not_brought_back);
fn files_of_one_change_that_are_in_each_others_way_are_not_brought_back(store: Arc<dyn Store>) {
    let memory = &remembering(&store);
    memory.create("/memories/b/c.txt", "one").unwrap();
    memory.create("/memories/a", "first").unwrap();
    let before = now();
    memory.delete("/memories/b").unwrap();
    memory.delete("/memories/a").unwrap();
    memory.create("/memories/b", "two").unwrap();
    memory.create("/memories/a", "second").unwrap();
    // It deletes `b` and creates `b/c.txt`. Of two files at `a` it deletes one and creates the other.
    let change = memory.undo_since(before, None, UndoOptions::default()).unwrap().change.unwrap();
    memory.delete("/memories/b").unwrap();
    memory.delete("/memories/a").unwrap();
    refused(memory, &["b"], |memory| memory.restore(change, false));
    memory.create("/memories/b", "three").unwrap();
    let error = memory.restore(change, true).unwrap_err();
    assert_eq!(error.paths(), [&at("b")], "{error:?}");
    holds(memory, &[("b", "three")]);
}

/// A store that ignores case reports the path in the way as it is spelled there.
#[test]
fn a_file_in_another_spelling_is_in_the_way_as_well() {
    for store in [FoldingStore::like_windows(), FoldingStore::like_macos()] {
        let store: Arc<dyn Store> = Arc::new(store);
        let memory = &remembering(&store);
        memory.create("/memories/dir/c.txt", "one").unwrap();
        memory.create("/memories/file", "old").unwrap();
        let before = now();
        memory.delete("/memories/dir").unwrap();
        let deleted = versions(memory).remove(0);
        memory.create("/memories/DIR", "two").unwrap();
        memory.delete("/memories/file").unwrap();
        nothing_brings_back(memory, &deleted, &["DIR"]);
        memory.create("/memories/File", "new").unwrap();
        memory.undo_since(before, None, UndoOptions::default()).unwrap();
        holds(memory, &[("dir/c.txt", "one"), ("file", "old")]);
    }
}

#[test]
fn a_mount_point_is_in_the_way_of_a_file() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let memory = &remembering(&store);
    memory.create("/memories/team", "one").unwrap();
    memory.create("/memories/x/team", "two").unwrap();
    memory.delete("/memories/team").unwrap();
    let first = last(memory);
    memory.delete("/memories/x").unwrap();
    let second = last(memory);
    let mount = || Arc::new(InProcess::new());
    let mounts = Mounts::new(Arc::clone(&store)).mount(at("team"), mount()).unwrap();
    let mounts = mounts.mount(at("x/team/deep"), mount()).unwrap();
    let mounts: Arc<dyn Store> = Arc::new(mounts);
    let memory = &remembering(&mounts);
    refused(memory, &["team"], |memory| memory.restore(first, true));
    refused(memory, &["x/team"], |memory| memory.undo(second, UndoOptions::default()));
    memory.create("/memories/team/a", "a file of the mounted store").unwrap();
    refused(memory, &["team"], |memory| memory.undo(first, UndoOptions::default()));
}

/// Links are never followed, and are in the way.
#[cfg(unix)]
#[test]
fn a_link_is_in_the_way() {
    let place = tempfile::tempdir().unwrap();
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = &Memory::open(place.path().join("m").to_str().unwrap(), options).unwrap();
    memory.create("/memories/b/c.txt", "one").unwrap();
    memory.create("/memories/d", "two").unwrap();
    memory.delete("/memories/b").unwrap();
    let below = versions(memory).remove(0);
    memory.delete("/memories/d").unwrap();
    let here = versions(memory).remove(0);
    let elsewhere = place.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    for name in ["b", "d"] {
        let link = memory.store().info().directory.unwrap().join(name);
        std::os::unix::fs::symlink(&elsewhere, link).unwrap();
    }
    nothing_brings_back(memory, &below, &["b"]);
    nothing_brings_back(memory, &here, &["d"]);
    assert_eq!(std::fs::read_dir(elsewhere).unwrap().count(), 0);
}

/// A store where another program creates the file `b` just before a write or rename to a path.
struct Faster {
    inner: InProcess,
    before: MemoryPath,
    is_armed: AtomicBool,
}

impl Faster {
    fn make(&self, path: &MemoryPath) {
        if *path == self.before && self.is_armed.swap(false, Ordering::Relaxed) {
            self.inner.write(&at("b"), b"faster", OnExisting::Error).unwrap();
        }
    }
}

impl Layer for Faster {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        if let Mutation::Write { path, .. }
        | Mutation::Rename { to: path, .. }
        | Mutation::RenameIf { to: path, .. } = &mutation
        {
            self.make(path);
        }
        self.inner.mutate(context, mutation)
    }
}

#[test]
fn what_gets_in_the_way_meanwhile_changes_nothing_either() {
    for (place, is_moved) in [("b/c.txt", true), ("b/c.txt", false), ("b", true), ("b", false)] {
        let (inner, is_armed) = (InProcess::new(), AtomicBool::new(false));
        let store = Arc::new(Faster { inner, before: at(place), is_armed });
        let memory = &remembering(&(Arc::clone(&store) as Arc<dyn Store>));
        memory.create(at(place).as_str(), "one").unwrap();
        if is_moved {
            memory.rename(at(place).as_str(), "/memories/x").unwrap();
        } else {
            memory.delete(at(place).as_str()).unwrap();
        }
        let change = last(memory);
        if place != "b" {
            memory.delete("/memories/b").unwrap();
        }
        let before = versions(memory);
        store.is_armed.store(true, Ordering::Relaxed);
        let error = memory.undo(change, UndoOptions::default()).unwrap_err();
        assert!(!store.is_armed.load(Ordering::Relaxed));
        assert_eq!(error.paths(), [&at("b")]);
        assert_eq!(error.conflicts()[0].in_the_way, place != "b");
        assert_eq!(versions(memory), before);
        let moved: &[_] =
            if is_moved { &[("b", "faster"), ("x", "one")] } else { &[("b", "faster")] };
        holds(memory, moved);
    }
}
