//! The function `copy` takes the history along, by the same rules from and into every store.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::common::store_helpers::{at, copy_all, go_on, in_process, overwriting, put, tree};
use memdir::copy::{CopyError, Phase, Plan, Source};
use memdir::history::{HistoryQuery, UndoOptions, Version};
use memdir::store::{Cancellation, InProcess, ReadOnly, open_store};
use memdir::{CopyOptions, Durability, Memory, MemoryOptions, OnExisting, Store, copy};

fn on(store: &Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(Arc::clone(store), options)
}

fn versions(store: &Arc<dyn Store>) -> Vec<Version> {
    on(store).history(&HistoryQuery::default()).unwrap()
}

/// Makes changes of every kind, and returns the number of them.
fn change(memory: &Memory) -> u64 {
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.acting_as("ann").str_replace("/memories/a.md", "one", "two").unwrap();
    memory.create("/memories/d/b.md", "b\n").unwrap();
    memory.rename("/memories/d/b.md", "/memories/e.md").unwrap();
    memory.delete("/memories/a.md").unwrap();
    5
}

fn without_history() -> CopyOptions {
    let mut options = CopyOptions::default();
    options.without_history = true;
    options
}

#[allow(clippy::needless_pass_by_value, reason = "every check gets its store")]
fn takes_the_history_along(store: Arc<dyn Store>) {
    if store.mounts().is_some() {
        return refuses_the_history(&store);
    }
    let (from, back) = (in_process(), in_process());
    let changes = change(&on(&from));
    let copied = copy_all(&from, &store).unwrap();
    assert_eq!((copied.files, copied.changes), (1, Some(changes)));
    assert_eq!(versions(&store), versions(&from));
    let again = copy_all(&from, &store).unwrap();
    assert_eq!((again.files, again.equal, again.changes), (0, 1, Some(0)));

    // From a store that is opened read-only, as the bindings do.
    let read_only: Arc<dyn Store> = Arc::new(ReadOnly::from(Arc::clone(&store)));
    assert_eq!(copy_all(&read_only, &back).unwrap().changes, Some(changes));
    assert_eq!(versions(&back), versions(&from));
    // A later change follows, and it is a complete history.
    on(&store).str_replace("/memories/e.md", "b", "c").unwrap();
    let copied = copy(&store, &back, overwriting(), &mut go_on).unwrap();
    assert_eq!((copied.files, copied.changes), (1, Some(1)));
    let memory = on(&back);
    memory.undo(versions(&back)[0].change, UndoOptions::default()).unwrap();
    assert_eq!(memory.read("/memories/e.md").unwrap(), "b\n");

    // Now the destination has a change of its own.
    let before = (tree(&*back, "/memories"), versions(&back));
    let refused = copy(&store, &back, overwriting(), &mut go_on);
    assert!(matches!(refused, Err(CopyError::OtherHistory)), "{refused:?}");
    assert_eq!((tree(&*back, "/memories"), versions(&back)), before);
    let mut options = without_history();
    options.existing = OnExisting::Overwrite;
    let copied = copy(&store, &back, options, &mut go_on).unwrap();
    assert_eq!((copied.files, copied.changes), (1, None));
    assert_eq!(back.read(&at("/memories/e.md")).unwrap(), b"c\n");
}
on_every_store!(takes_the_history_along);

/// In a tree of mounts each store has its own history.
fn refuses_the_history(mounts: &Arc<dyn Store>) {
    let (from, to) = (in_process(), in_process());
    change(&on(&from));
    let refused = copy_all(&from, mounts);
    assert!(matches!(refused, Err(CopyError::ManyHistories)), "{refused:?}");
    assert!(mounts.read(&at("/memories/e.md")).is_err());
    assert_eq!(copy(&from, mounts, without_history(), &mut go_on).unwrap().files, 1);
    assert_eq!(copy_all(&in_process(), mounts).unwrap().changes, None);
    // As a source it is one history.
    on(mounts).create("/memories/f.md", "f\n").unwrap();
    assert_eq!(copy_all(mounts, &to).unwrap().changes, Some(1));
    assert_eq!(versions(&to).len(), 1);
}

#[test]
fn a_source_without_a_history_leaves_that_of_the_destination_alone() {
    let (from, to) = (in_process(), in_process());
    put(&*from, "/memories/b.md", "b");
    change(&on(&to));
    let before = versions(&to);
    let copied = copy_all(&from, &to).unwrap();
    assert_eq!((copied.files, copied.changes), (1, None));
    assert_eq!(versions(&to), before);
}

#[test]
fn a_damaged_history_is_refused_and_the_files_can_be_copied_alone() {
    let place = tempfile::tempdir().unwrap();
    let from = open_store(place.path().to_str().unwrap(), &MemoryOptions::default()).unwrap();
    change(&on(&from));
    let log = place.path().join("history/active");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xFF;
    std::fs::write(&log, bytes).unwrap();
    let to = in_process();
    let refused = copy_all(&from, &to);
    assert!(matches!(refused, Err(CopyError::DamagedHistory)), "{refused:?}");
    assert!(tree(&*to, "/memories").is_empty());
    assert_eq!(copy(&from, &to, without_history(), &mut go_on).unwrap().files, 1);
}

#[test]
fn an_interrupted_copy_of_a_history_is_completed() {
    let (from, to) = (in_process(), in_process());
    let changes = change(&on(&from));
    put(&*from, "/memories/z.md", "z");
    let stopped = copy(&from, &to, CopyOptions::default(), &mut |at| match (at.phase, at.files) {
        (Phase::Copying, 1) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(stopped, Err(CopyError::Stopped)));
    assert!(versions(&to).len() <= 1, "the history comes after the files");
    let to = in_process();
    put(&*to, "/memories/e.md", "b\n");
    let source = Source::new(&from, CopyOptions::default()).unwrap();
    let plan = Plan::compare(source, &to, OnExisting::Error, &mut go_on).unwrap();
    assert_eq!((plan.outcome().files, plan.outcome().changes), (1, Some(changes)));
    let copied = plan.carry_out(&to, Durability::Full, &mut go_on).unwrap();
    assert_eq!((copied.files, copied.equal, copied.changes), (1, 1, Some(changes)));
}

#[test]
fn a_memory_copies_itself_with_its_history_into_another_memory() {
    let memory = || on(&in_process());
    let (from, to) = (memory(), memory());
    let changes = change(&from);
    let copied = from.copy_to(&to, CopyOptions::default(), &mut go_on).unwrap();
    assert_eq!(copied.changes, Some(changes));
    let all = |memory: &Memory| memory.history(&HistoryQuery::default()).unwrap();
    assert_eq!(all(&to), all(&from));

    // Without a history to copy, that of the destination records the files.
    let (plain, to) = (Memory::open("memory:", MemoryOptions::default()).unwrap(), memory());
    plain.create("/memories/a.md", "one\n").unwrap();
    let copied = plain.copy_to(&to, CopyOptions::default(), &mut go_on).unwrap();
    assert_eq!((copied.files, copied.changes), (1, None));
    assert_eq!(all(&to)[0].operation.as_str(), "created");

    let own: Arc<dyn Store> = Arc::new(InProcess::new());
    let itself = on(&own).copy_to(&on(&own), CopyOptions::default(), &mut go_on);
    assert!(matches!(itself, Err(CopyError::Overlapping)), "{itself:?}");
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let cancelled = from.cancelled_by(&cancellation);
    let stopped = cancelled.copy_to(&memory(), CopyOptions::default(), &mut go_on);
    assert!(matches!(stopped, Err(CopyError::Stopped)), "{stopped:?}");
}
