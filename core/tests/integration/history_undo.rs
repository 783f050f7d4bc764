//! `undo` where later changes depend on the undone ones, on every store.
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::time::SystemTime;

use crate::common::effort;
use memdir::history::{
    Conflict, HistoryError, HistoryId, HistoryQuery, Operation, Restored, UndoOptions, Version,
};
use memdir::store::InProcess;
use memdir::{Memory, MemoryOptions, Store};
use proptest::prelude::*;

const A: &str = "/memories/a.md";
const B: &str = "/memories/b.md";

fn remembering(store: Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(store, options)
}

fn plain(store: &Arc<dyn Store>) -> Memory {
    Memory::with_store(Arc::clone(store), MemoryOptions::default())
}

fn how(set: impl FnOnce(&mut UndoOptions)) -> UndoOptions {
    let mut options = UndoOptions::default();
    set(&mut options);
    options
}

fn merging() -> UndoOptions {
    how(|how| how.merge = true)
}

fn skipping() -> UndoOptions {
    how(|how| how.skip_conflicts = true)
}

fn last(memory: &Memory) -> Version {
    memory.history(&HistoryQuery::default()).unwrap().remove(0)
}

fn now() -> SystemTime {
    // So no two changes have the same microsecond.
    std::thread::sleep(std::time::Duration::from_millis(1));
    SystemTime::now()
}

/// Each conflict as its path and its change.
fn told(conflicts: &[Conflict]) -> Vec<(&str, Option<HistoryId>)> {
    conflicts.iter().map(|conflict| (conflict.path.as_str(), conflict.change)).collect()
}

on_every_store!(a_conflict_names_the_newest_later_change);
fn a_conflict_names_the_newest_later_change(store: Arc<dyn Store>) {
    let memory = remembering(Arc::clone(&store));
    let [ann, ben] = ["Ann", "Ben"].map(|actor| memory.acting_as(actor));
    memory.create(A, "one\n").unwrap();
    memory.create(B, "one\n").unwrap();
    ann.str_replace(A, "one", "two").unwrap();
    let change = last(&memory).change;
    ben.str_replace(A, "two", "three").unwrap();
    ann.str_replace(A, "three", "four").unwrap();
    let later = last(&memory);
    let error = memory.undo(change, UndoOptions::default()).unwrap_err();
    let [conflict] = error.conflicts() else { panic!("{error:?}") };
    assert_eq!((conflict.path.as_str(), conflict.in_the_way), (A, false));
    assert_eq!(conflict.change, Some(later.change));
    assert_eq!((conflict.actor.as_deref(), conflict.time), (Some("Ann"), Some(later.time)));
    let time = memdir::text::rfc3339(later.time);
    let sentence = format!(
        "changed since, so nothing was undone: {A} by Ann at {time} (change {})",
        later.change
    );
    assert_eq!(error.to_string(), sentence);
    assert_eq!(memory.read(A).unwrap(), "four\n");

    // A change by another program is known after it was noticed.
    ben.str_replace(B, "one", "two").unwrap();
    let change = last(&memory).change;
    plain(&store).str_replace(B, "two", "theirs").unwrap();
    let error = memory.undo(change, UndoOptions::default()).unwrap_err();
    assert_eq!(told(error.conflicts()), [(B, None)]);
    assert_eq!(error.to_string(), format!("changed since, so nothing was undone: {B}"));
    ann.rename(B, "/memories/c.md").unwrap();
    let error = memory.undo(change, UndoOptions::default()).unwrap_err();
    assert_eq!(told(error.conflicts()), [("/memories/c.md", Some(last(&memory).change))]);
    // A restore over it reports the same.
    let first = memory.history(&HistoryQuery::default()).unwrap();
    let first = first.iter().rfind(|version| version.path.as_str() == A).unwrap();
    let error = memory.restore(first.id, false).unwrap_err();
    assert_eq!(told(error.conflicts()), [(A, Some(later.change))]);
}

on_every_store!(files_with_a_conflict_are_left_out_on_request);
fn files_with_a_conflict_are_left_out_on_request(store: Arc<dyn Store>) {
    let memory = remembering(Arc::clone(&store));
    let [ann, ben] = ["Ann", "Ben"].map(|actor| memory.acting_as(actor));
    for path in ["/memories/d/a", "/memories/d/b", "/memories/d/c"] {
        memory.create(path, "one\n").unwrap();
    }
    let begun = now();
    for path in ["/memories/d/a", "/memories/d/b", "/memories/d/c"] {
        ann.str_replace(path, "one", "two").unwrap();
    }
    ben.str_replace("/memories/d/b", "two", "three").unwrap();
    let later = last(&memory).change;
    plain(&store).str_replace("/memories/d/c", "two", "theirs").unwrap();
    assert!(memory.undo_since(begun, Some("Ann"), UndoOptions::default()).is_err());
    let skipped = [("/memories/d/b", Some(later)), ("/memories/d/c", None)];
    let would = how(|how| (how.skip_conflicts, how.dry_run) = (true, true));
    let would = memory.undo_since(begun, Some("Ann"), would).unwrap();
    assert_eq!((told(&would.skipped), would.change), (skipped.to_vec(), None));
    assert_eq!(memory.read("/memories/d/a").unwrap(), "two\n");
    let done = memory.undo_since(begun, Some("Ann"), skipping()).unwrap();
    assert_eq!((told(&done.skipped), &done.files), (skipped.to_vec(), &would.files));
    assert_eq!(done.files.len(), 1);
    for (path, text) in [("a", "one\n"), ("b", "three\n"), ("c", "theirs\n")] {
        assert_eq!(memory.read(&format!("/memories/d/{path}")).unwrap(), text);
    }
    // Nothing is left.
    let change = memory.history(&HistoryQuery::default()).unwrap();
    let change = change.iter().find(|version| version.path.as_str() == "/memories/d/b").unwrap();
    assert_eq!(change.actor.as_deref(), Some("Ben"));
    let done = memory.undo_since(begun, Some("Ann"), skipping()).unwrap();
    assert_eq!((done.change, done.files.len(), done.skipped.len()), (None, 0, 3));
}

on_every_store!(a_file_that_is_left_out_may_be_in_the_way_of_another);
fn a_file_that_is_left_out_may_be_in_the_way_of_another(store: Arc<dyn Store>) {
    let memory = remembering(store);
    memory.create(A, "a\n").unwrap();
    memory.create("/memories/c.md", "c\n").unwrap();
    let begun = now();
    let ann = memory.acting_as("Ann");
    // `a` moves away, and `c` moves to its path.
    ann.rename(A, B).unwrap();
    ann.rename("/memories/c.md", A).unwrap();
    memory.acting_as("Ben").str_replace(A, "c", "d").unwrap();
    let later = last(&memory).change;
    let done = memory.undo_since(begun, Some("Ann"), skipping()).unwrap();
    assert_eq!(told(&done.skipped), [(A, Some(later))]);
    assert_eq!((done.change, done.files), (None, Vec::new()));
    assert_eq!(memory.read(B).unwrap(), "a\n");
}

on_every_store!(later_changes_of_other_lines_are_kept_on_request);
fn later_changes_of_other_lines_are_kept_on_request(store: Arc<dyn Store>) {
    let memory = remembering(Arc::clone(&store));
    let [ann, ben] = ["Ann", "Ben"].map(|actor| memory.acting_as(actor));
    memory.create(A, "1\n2\n3\n4\n5\n6\n7\n8\n9\n").unwrap();
    let begun = now();
    ann.str_replace(A, "2\n", "two\n").unwrap();
    let change = last(&memory).change;
    ben.str_replace(A, "9\n", "nine\nten\n").unwrap();
    // Another program, which is not recorded, and a new path.
    plain(&store).str_replace(A, "6\n", "").unwrap();
    ben.rename(A, B).unwrap();
    let text = "1\n2\n3\n4\n5\n7\n8\nnine\nten\n";
    assert!(memory.undo(change, UndoOptions::default()).is_err());
    let would = memory.undo(change, how(|how| (how.merge, how.dry_run) = (true, true))).unwrap();
    let merged = |restored: &Restored| -> Vec<(String, Operation, Option<String>)> {
        let files = restored.files.iter();
        files.map(|file| (file.path.to_string(), file.operation, file.merged.clone())).collect()
    };
    let expected = [(B.to_owned(), Operation::Modified, Some(text.to_owned()))];
    assert_eq!((merged(&would), would.change), (expected.to_vec(), None));
    assert!(memory.read(B).unwrap().contains("two"));
    let done = memory.undo(change, merging()).unwrap();
    assert_eq!((merged(&done), memory.read(B).unwrap()), (expected.to_vec(), text.to_owned()));
    // The undo is a separate change.
    memory.undo(done.change.unwrap(), UndoOptions::default()).unwrap();
    assert!(memory.read(B).unwrap().contains("two"));

    // Several changes of an actor, interleaved with those of another one.
    ann.str_replace(B, "5\n", "five\n").unwrap();
    ben.str_replace(B, "8\n", "eight\n").unwrap();
    ann.str_replace(B, "ten\n", "TEN\n").unwrap();
    memory.undo_since(begun, Some("Ann"), merging()).unwrap();
    assert_eq!(memory.read(B).unwrap(), "1\n2\n3\n4\n5\n7\neight\nnine\nten\n");
}

on_every_store!(what_cannot_be_merged_stays_a_conflict);
fn what_cannot_be_merged_stays_a_conflict(store: Arc<dyn Store>) {
    let memory = remembering(Arc::clone(&store));
    let [ann, ben] = ["Ann", "Ben"].map(|actor| memory.acting_as(actor));
    memory.create("/memories/d/old", "1\n").unwrap();
    let refused = |change: HistoryId, path: &str| {
        let before = memory.read(path).ok();
        let later = last(&memory).change;
        let error = memory.undo(change, merging()).unwrap_err();
        assert_eq!(told(error.conflicts()), [(path, Some(later))], "{error}");
        // With both options it is left out.
        let both = how(|how| (how.merge, how.skip_conflicts) = (true, true));
        let done = memory.undo(change, both).unwrap();
        assert_eq!(told(&done.skipped), [(path, Some(later))]);
        assert_eq!((done.change, memory.read(path).ok()), (None, before));
    };
    // The same line, and the line beside it.
    for (old, new) in [("two", "zwei"), ("3", "three")] {
        memory.write(A, "1\n2\n3\n", None).unwrap();
        ann.str_replace(A, "2", "two").unwrap();
        let change = last(&memory).change;
        ben.str_replace(A, old, new).unwrap();
        refused(change, A);
    }
    // A file that the change created, with later changes.
    ann.create(B, "1\n2\n").unwrap();
    let change = last(&memory).change;
    ben.insert(B, 2, "3\n").unwrap();
    refused(change, B);
    // A file that was deleted since.
    ann.str_replace("/memories/d/old", "1", "one").unwrap();
    let change = last(&memory).change;
    ben.delete("/memories/d/old").unwrap();
    refused(change, "/memories/d/old");
    // A new path that was changed since.
    ann.rename(B, "/memories/c").unwrap();
    let change = last(&memory).change;
    ben.rename("/memories/c", "/memories/e").unwrap();
    refused(change, "/memories/e");
    // A rename alone is undone.
    ben.str_replace("/memories/e", "1", "one").unwrap();
    ann.rename("/memories/e", "/memories/f").unwrap();
    let change = last(&memory).change;
    ben.insert("/memories/f", 0, "0\n").unwrap();
    memory.undo(change, merging()).unwrap();
    assert_eq!(memory.read("/memories/e").unwrap(), "0\none\n2\n3\n");
    // A merge does not hide other errors.
    memory.write(A, "1\nsecret\n", None).unwrap();
    let secret = last(&memory).id;
    ann.write(A, "1\n2\n", None).unwrap();
    let change = last(&memory).change;
    ben.insert(A, 2, "3\n").unwrap();
    memory.redact(secret, "a secret").unwrap();
    let error = memory.undo(change, merging()).unwrap_err();
    assert!(matches!(error, HistoryError::Redacted(_)), "{error}");
}

proptest! {
    #![proptest_config(effort::cases(100))]

    /// Each actor changes different lines, which are never neighbours. So a merge that undoes one actor leaves exactly the
    /// changes of the others.
    #[test]
    fn a_merge_undoes_one_actor_and_no_other(
        edits in prop::collection::vec((0..3_usize, 0..6_usize, "[a-z]{0,3}(\n[a-z]{1,3})?"), 1..20),
        undone in 0..3_usize,
    ) {
        let line = |at: usize| format!("line {at}");
        // Lines of the actors 0, 1 and 2 in turn, with a line of no actor between them.
        let mut lines: Vec<String> = (0..36).map(line).collect();
        let mut others = lines.clone();
        let text = |lines: &[String]| lines.join("\n") + "\n";
        let memory = remembering(Arc::new(InProcess::new()));
        memory.acting_as("first").create(A, &text(&lines)).unwrap();
        let begun = now();
        for (actor, at, new) in edits {
            let at = 2 * (3 * at + actor);
            lines[at].clone_from(&new);
            if actor != undone {
                others[at] = new;
            }
            memory.acting_as(&actor.to_string()).write(A, &text(&lines), None).unwrap();
        }
        memory.undo_since(begun, Some(&undone.to_string()), merging()).unwrap();
        prop_assert_eq!(memory.read(A).unwrap(), text(&others));
    }
}
