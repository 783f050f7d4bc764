//! The history of a memory, on the stores that need no server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use memdir::history::{
    HistoryError, HistoryErrorKind, HistoryQuery, Operation, UndoOptions, Version,
};
#[cfg(feature = "sqlite")]
use memdir::store::{Context, Mutation, SqliteDatabase};
use memdir::store::{Entry, InProcess, Layer, micros};
use memdir::{Cancellation, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};

pub(crate) fn remembering(store: Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(store, options)
}

pub(crate) fn all(memory: &Memory) -> Vec<Version> {
    memory.history(&HistoryQuery::default()).unwrap()
}

pub(crate) fn of(memory: &Memory, path: &str) -> Vec<Version> {
    let mut query = HistoryQuery::default();
    query.path = Some(path.to_owned());
    memory.history(&query).unwrap()
}

pub(crate) fn told(versions: &[Version]) -> Vec<String> {
    let told = |version: &Version| {
        let old = version.old_path.as_ref().map(|old| format!(" from {old}")).unwrap_or_default();
        let size = version.size.map(|size| format!(" {size}")).unwrap_or_default();
        let current = if version.is_current { " current" } else { "" };
        format!("{} {}{old}{size}{current}", version.operation, version.path)
    };
    versions.iter().map(told).collect()
}

pub(crate) fn content(memory: &Memory, version: &Version) -> String {
    String::from_utf8(memory.read_version(version.id).unwrap()).unwrap()
}

on_every_store!(what_a_condition_decides_is_recorded_with_what_it_accepted);
fn what_a_condition_decides_is_recorded_with_what_it_accepted(store: Arc<dyn Store>) {
    let memory = &remembering(Arc::clone(&store));
    memory.create("/memories/a", "one\n").unwrap();
    let [a, b] = ["/memories/a", "/memories/b"].map(|path| MemoryPath::parse(path).unwrap());
    let beneath = store;
    let store = memory.store();
    assert!(!store.delete_if(&a, &mut |_| false).unwrap());
    assert!(!store.rename_if(&a, &b, &mut |_| false).unwrap());
    store.delete_if(&b, &mut |_| true).unwrap_err();
    store.rename_if(&b, &a, &mut |_| true).unwrap_err();
    store.rename_if(&a, &a, &mut |_| true).unwrap_err();
    assert_eq!(told(&all(memory)), ["created /memories/a 4 current"]);

    // If the file is edited after the read, the condition is called again.
    let mut seen = Vec::new();
    let renamed = store.rename_if(&a, &b, &mut |content| {
        seen.push(String::from_utf8(content.to_vec()).unwrap());
        if seen.len() == 1 {
            memory.str_replace("/memories/a", "one", "two").unwrap();
        }
        true
    });
    assert!(renamed.unwrap());
    assert_eq!(seen, ["one\n", "two\n"]);
    assert!(store.delete_if(&b, &mut |content| content == b"two\n").unwrap());
    let versions = all(memory);
    assert_eq!(
        told(&versions),
        [
            "deleted /memories/b",
            "renamed /memories/b from /memories/a 4",
            "modified /memories/a 4",
            "created /memories/a 4",
        ]
    );
    // Another process sees the same.
    assert_eq!(told(&all(&remembering(beneath))), told(&versions));
    assert_eq!(content(memory, &versions[1]), "two\n");
    memory.restore(versions[0].id, false).unwrap();
    assert_eq!(memory.read("/memories/b").unwrap(), "two\n");
}

on_every_store!(what_is_not_deleted_as_unused_is_not_recorded);
fn what_is_not_deleted_as_unused_is_not_recorded(store: Arc<dyn Store>) {
    let memory = remembering(Arc::clone(&store));
    memory.create("/memories/a", "one\n").unwrap();
    let a = MemoryPath::parse("/memories/a").unwrap();
    assert!(!memory.store().delete_unused(&a, SystemTime::UNIX_EPOCH).unwrap());
    // Another process sees the same.
    for memory in [memory, remembering(store)] {
        assert_eq!(told(&all(&memory)), ["created /memories/a 4 current"]);
    }
}

on_every_store!(every_command_makes_its_versions_and_each_has_its_content);
fn every_command_makes_its_versions_and_each_has_its_content(store: Arc<dyn Store>) {
    let memory = &remembering(store);
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.str_replace("/memories/a.md", "one", "two").unwrap();
    memory.insert("/memories/a.md", 1, "three\n").unwrap();
    memory.rename("/memories/a.md", "/memories/b/c.md").unwrap();
    memory.delete("/memories/b").unwrap();
    let versions = all(memory);
    assert_eq!(
        told(&versions),
        [
            "deleted /memories/b/c.md",
            "renamed /memories/b/c.md from /memories/a.md 10",
            "modified /memories/a.md 10",
            "modified /memories/a.md 4",
            "created /memories/a.md 4",
        ]
    );
    let texts: Vec<_> = versions[1..].iter().map(|version| content(memory, version)).collect();
    assert_eq!(texts, ["two\nthree\n", "two\nthree\n", "two\n", "one\n"]);
    assert!(matches!(memory.read_version(versions[0].id), Err(HistoryError::NoContent(_))));
    assert_eq!(told(&of(memory, "/memories/a.md")).len(), 4);
    assert_eq!(told(&of(memory, "/memories/b")).len(), 2);
    assert!(versions.is_sorted_by(|a, b| a.id > b.id));

    let restored = memory.restore(versions[0].id, false).unwrap();
    assert_eq!(memory.read("/memories/b/c.md").unwrap(), "two\nthree\n");
    let newest = &all(memory)[0];
    assert_eq!(told(std::slice::from_ref(newest)), ["restored /memories/b/c.md 10 current"]);
    assert_eq!(Some(newest.change), restored.change);
    memory.undo(newest.id, UndoOptions::default()).unwrap();
    assert!(!memory.exists("/memories/b/c.md").unwrap());
}

on_every_store!(nobody_sees_the_journal_and_nobody_reaches_it);
fn nobody_sees_the_journal_and_nobody_reaches_it(store: Arc<dyn Store>) {
    let memory = &remembering(store);
    memory.create("/memories/a", "one").unwrap();
    for name in [".memdir-history", ".MEMDIR-history"] {
        let path = MemoryPath::root().join(name).unwrap();
        assert!(memory.view(path.as_str(), None).is_err());
        let (above, below) = (path.clone(), path.join("x").unwrap());
        for path in [&path, &below] {
            assert!(matches!(memory.store().read(path), Err(StoreError::NotFound)));
            assert!(matches!(memory.store().list(path), Err(StoreError::NotFound)));
            // A local directory and a database keep their history outside the files, so there is nothing to hide.
            match memory.store().write(path, b"", OnExisting::Overwrite) {
                Err(StoreError::PermissionDenied) => {}
                written => {
                    written.unwrap();
                    memory.store().delete(if path == &below { &above } else { path }).unwrap();
                }
            }
        }
    }
    let names = memory.store().list(&MemoryPath::root()).unwrap();
    assert!(names.iter().all(|entry| entry.path.name() != Some(".memdir-history")));
    let mut files = Vec::new();
    memory.store().files(&mut |entry| files.push(entry.path.to_string())).unwrap();
    files.retain(|path| !path.contains("encryption"));
    assert_eq!(files, ["/memories/a"]);
    memory.clear().unwrap();
    let mut versions = all(memory);
    versions.retain(|version| version.path.as_str() == "/memories/a");
    assert_eq!(told(&versions), ["cleared /memories/a", "created /memories/a 3"]);
    memory.restore(versions[0].id, false).unwrap();
    assert_eq!(memory.read("/memories/a").unwrap(), "one");
}

on_every_store!(a_session_is_undone_and_what_others_did_stays);
fn a_session_is_undone_and_what_others_did_stays(store: Arc<dyn Store>) {
    let memory = &remembering(store);
    let begun = SystemTime::now();
    let (me, other) = (memory.acting_as("me"), memory.acting_as("other"));
    other.create("/memories/shared", "a\nb\nc\n").unwrap();
    other.create("/memories/gone", "was here").unwrap();
    other.create("/memories/d/e/f", "deep").unwrap();
    let before = SystemTime::now();
    me.str_replace("/memories/shared", "b", "B").unwrap();
    me.create("/memories/mine", "mine").unwrap();
    me.delete("/memories/gone").unwrap();
    me.rename("/memories/d", "/memories/x").unwrap();
    me.str_replace("/memories/x/e/f", "deep", "deeper").unwrap();
    other.create("/memories/others", "others").unwrap();
    let at_last = all(memory).len();

    let would = me.undo_since(begun, Some("me"), crate::common::dry_run(true)).unwrap();
    assert_eq!(would.files.len(), 5, "{would:?}");
    assert_eq!(all(memory).len(), at_last);
    let done = me.undo_since(begun, Some("me"), UndoOptions::default()).unwrap();
    assert_eq!(done.files, would.files);
    assert_eq!(memory.read("/memories/shared").unwrap(), "a\nb\nc\n");
    assert_eq!(memory.read("/memories/gone").unwrap(), "was here");
    assert_eq!(memory.read("/memories/d/e/f").unwrap(), "deep");
    assert_eq!(memory.read("/memories/others").unwrap(), "others");
    assert!(!memory.exists("/memories/mine").unwrap());

    // The undo can be undone, too.
    me.undo(done.change.unwrap(), UndoOptions::default()).unwrap();
    assert_eq!(memory.read("/memories/x/e/f").unwrap(), "deeper");
    assert_eq!(memory.read("/memories/mine").unwrap(), "mine");

    // Another actor's change depends on one of mine.
    other.str_replace("/memories/mine", "mine", "ours").unwrap();
    match me.undo_since(begun, Some("me"), UndoOptions::default()) {
        Err(HistoryError::Conflict { conflicts, .. }) => {
            let later = &other.history(&HistoryQuery::default()).unwrap()[0];
            assert_eq!(conflicts.len(), 1);
            assert_eq!(conflicts[0].path.as_str(), "/memories/mine");
            assert_eq!(conflicts[0].change, Some(later.change));
            assert_eq!((&conflicts[0].actor, conflicts[0].time), (&later.actor, Some(later.time)));
        }
        unexpected => panic!("{unexpected:?}"),
    }
    memory.restore_all(before, false).unwrap();
    assert_eq!(memory.read("/memories/shared").unwrap(), "a\nb\nc\n");
    assert_eq!(memory.read("/memories/d/e/f").unwrap(), "deep");
    assert!(!memory.exists("/memories/mine").unwrap());
    assert!(!memory.exists("/memories/others").unwrap());
    assert_eq!(memory.restore_all(before, false).unwrap().change, None);
    let none = memory.restore_all(begun, false).unwrap();
    assert_eq!(none.files.len(), 3);
    assert!(memory.list("/memories", None).unwrap().iter().all(|entry| !entry.is_file()));
}

on_every_store!(what_somebody_else_wrote_is_a_version_of_its_own);
fn what_somebody_else_wrote_is_a_version_of_its_own(store: Arc<dyn Store>) {
    let memory = &remembering(store);
    memory.create("/memories/a", "one").unwrap();
    let Some(directory) = memory.store().info().directory else {
        return;
    };
    std::fs::write(directory.join("a"), "by hand").unwrap();
    memory.str_replace("/memories/a", "hand", "paw").unwrap();
    std::fs::remove_file(directory.join("a")).unwrap();
    memory.create("/memories/a", "new").unwrap();
    std::fs::write(directory.join("b"), "unknown").unwrap();
    memory.delete("/memories/b").unwrap();
    let versions = all(memory);
    assert_eq!(
        told(&versions),
        [
            "deleted /memories/b",
            "external /memories/b 7",
            "created /memories/a 3 current",
            "external /memories/a",
            "modified /memories/a 6",
            "external /memories/a 7",
            "created /memories/a 3",
        ]
    );
    assert_eq!(versions[1].actor, None);
    assert_eq!(content(memory, &versions[5]), "by hand");
    assert_eq!(content(memory, &versions[4]), "by paw");
    assert_eq!(content(memory, &versions[6]), "one");
    memory.restore(versions[0].id, false).unwrap();
    assert_eq!(memory.read("/memories/b").unwrap(), "unknown");
}

on_every_store!(a_file_that_another_program_deleted_is_restored);
fn a_file_that_another_program_deleted_is_restored(store: Arc<dyn Store>) {
    let memory = &remembering(Arc::clone(&store));
    memory.create("/memories/a", "one").unwrap();
    memory.str_replace("/memories/a", "one", "two").unwrap();
    let Some(directory) = store.info().directory else { return };
    std::fs::remove_file(directory.join("a")).unwrap();
    let versions = all(memory);
    // The file that the undo would change is missing.
    assert_eq!(
        memory.undo(versions[0].id, UndoOptions::default()).unwrap_err().kind(),
        Some(HistoryErrorKind::Conflict)
    );
    memory.restore(versions[1].id, false).unwrap();
    assert_eq!(memory.read("/memories/a").unwrap(), "one");
    std::fs::write(directory.join("a"), "by hand").unwrap();
    let changed = memory.restore(all(memory).last().unwrap().id, false).unwrap_err();
    assert_eq!(changed.kind(), Some(HistoryErrorKind::Conflict));
    assert_eq!(memory.read("/memories/a").unwrap(), "by hand");
}

on_every_store!(a_deletion_that_is_restored_twice_leaves_nothing_to_do);
fn a_deletion_that_is_restored_twice_leaves_nothing_to_do(store: Arc<dyn Store>) {
    let memory = &remembering(store);
    for name in ["a", "b"] {
        memory.create(&format!("/memories/d/{name}"), name).unwrap();
    }
    memory.delete("/memories/d").unwrap();
    let deletion = all(memory)[0].change;
    assert_eq!(memory.restore(deletion, false).unwrap().files.len(), 2);
    let versions = all(memory).len();
    for overwrite in [false, true] {
        let again = memory.restore(deletion, overwrite).unwrap();
        assert_eq!((again.change, again.files.len()), (None, 0), "{overwrite}");
    }
    assert_eq!(all(memory).len(), versions);
    // Of several files only the others are restored. Anything else is a conflict as before.
    memory.delete("/memories/d/a").unwrap();
    assert_eq!(memory.restore(deletion, false).unwrap().files.len(), 1);
    memory.write("/memories/d/a", "changed", None).unwrap();
    let refused = memory.restore(deletion, false).unwrap_err();
    assert_eq!(refused.paths(), [&MemoryPath::parse("/memories/d/a").unwrap()]);
    assert!(
        refused.to_string().starts_with("changed since, so nothing was restored: "),
        "{refused}"
    );
}

on_every_store!(two_writers_of_one_new_file_make_two_versions);
fn two_writers_of_one_new_file_make_two_versions(store: Arc<dyn Store>) {
    const ROUNDS: usize = 16;
    let memories = [remembering(Arc::clone(&store)), remembering(Arc::clone(&store))];
    for round in 0..ROUNDS {
        let path = format!("/memories/{round}");
        let (turn, path) = (&std::sync::Barrier::new(memories.len()), &path);
        std::thread::scope(|threads| {
            for (memory, size) in memories.iter().zip([1, 10_000]) {
                threads.spawn(move || {
                    turn.wait();
                    memory.write(path, &format!("{size}\n").repeat(size), None).unwrap();
                });
            }
        });
        for memory in &memories {
            let mut query = HistoryQuery::default();
            query.path = Some(path.clone());
            let versions = memory.history(&query).unwrap();
            let told: Vec<&str> =
                versions.iter().map(|version| version.operation.as_str()).collect();
            assert_eq!(told, ["overwritten", "created"]);
            assert!(versions[0].is_current);
            assert_eq!(content(memory, &versions[0]), memory.read(path).unwrap());
        }
    }
}

on_every_store!(bad_ids_are_said_so);
fn bad_ids_are_said_so(store: Arc<dyn Store>) {
    let memory = &remembering(store);
    memory.create("/memories/a", "one").unwrap();
    let other = Memory::open("memory:", {
        let mut options = MemoryOptions::default();
        options.history = true;
        options
    })
    .unwrap();
    other.create("/memories/a", "one").unwrap();
    let foreign = all(&other)[0].id;
    assert!(matches!(memory.read_version(foreign), Err(HistoryError::Unknown(_))));
    assert!(matches!(memory.undo(foreign, UndoOptions::default()), Err(HistoryError::Unknown(_))));
    assert!(matches!(memory.restore(foreign, true), Err(HistoryError::Unknown(_))));
    assert!(matches!(memory.redact(foreign, ""), Err(HistoryError::Unknown(_))));
    assert!(matches!(memory.diff(foreign, None), Err(HistoryError::Unknown(_))));
}

#[test]
fn without_the_option_there_is_none() {
    let off = Memory::open("memory:", MemoryOptions::default()).unwrap();
    assert!(matches!(off.history(&HistoryQuery::default()), Err(HistoryError::Off)));
}

on_every_store!(the_time_of_a_version_in_microseconds_is_a_time_with_that_version);
fn the_time_of_a_version_in_microseconds_is_a_time_with_that_version(store: Arc<dyn Store>) {
    let memory = &remembering(store);
    for text in ["one", "two"] {
        memory.write("/memories/a", text, None).unwrap();
        std::thread::sleep(std::time::Duration::from_micros(10));
    }
    let versions = all(memory);
    let [newer, older] = [0, 1].map(|at| {
        let time: SystemTime = versions[at].time;
        let there_and_back = micros::time(micros::of(time)).unwrap();
        assert_eq!(there_and_back, time);
        time
    });
    let mut query = HistoryQuery::default();
    query.since = Some(newer);
    assert_eq!(memory.history(&query).unwrap(), versions[..1]);
    memory.restore_all(older, false).unwrap();
    assert_eq!(memory.read("/memories/a").unwrap(), "one");
}

#[test]
fn a_cancelled_call_neither_reads_the_history_nor_restores() {
    let memory = remembering(Arc::new(InProcess::new()));
    memory.create("/memories/a", "one").unwrap();
    let id = all(&memory)[0].id;
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let gone = memory.cancelled_by(&cancellation);
    let cancelled = |error| matches!(error, HistoryError::Store(StoreError::Cancelled));
    assert!(cancelled(gone.history(&HistoryQuery::default()).unwrap_err()));
    assert!(cancelled(gone.undo(id, UndoOptions::default()).unwrap_err()));
    assert!(cancelled(gone.trim_history().unwrap_err()));
    assert!(memory.exists("/memories/a").unwrap());
}

#[test]
fn the_retention_keeps_the_last_ten_versions_of_a_file_that_is_there() {
    let place = tempfile::tempdir().unwrap();
    let mut options = MemoryOptions::default();
    options.history = true;
    options.history_max_age = Some(std::time::Duration::from_nanos(1));
    for address in ["memory:".to_owned(), place.path().join("m").to_string_lossy().into_owned()] {
        let memory = Memory::open(&address, options.clone()).unwrap();
        memory.create("/memories/a", "0").unwrap();
        for number in 1..=20 {
            memory
                .str_replace("/memories/a", &(number - 1).to_string(), &number.to_string())
                .unwrap();
        }
        memory.create("/memories/b", "b").unwrap();
        memory.delete("/memories/b").unwrap();
        memory.trim_history().unwrap();
        let versions = all(&memory);
        assert_eq!(versions.len(), 10, "{:?}", told(&versions));
        let operations = versions.iter().map(|version| version.operation);
        assert!(operations.clone().all(|one| one == Operation::Modified), "{:?}", told(&versions));
        for (version, number) in versions.iter().zip((11..=20).rev()) {
            assert_eq!(content(&memory, version), number.to_string());
        }
        assert_eq!(memory.trim_history().unwrap(), 0);
        let of_first = memory.undo(versions[9].change, UndoOptions::default());
        assert!(matches!(of_first, Err(HistoryError::Trimmed { .. })), "{of_first:?}");
        memory.undo_since(SystemTime::UNIX_EPOCH, None, UndoOptions::default()).unwrap_err();
        memory.restore(versions[9].id, true).unwrap();
        assert_eq!(memory.read("/memories/a").unwrap(), "11");
    }
}

#[test]
fn a_file_that_was_made_again_is_restored_where_it_is() {
    let memory = remembering(Arc::new(InProcess::new()));
    memory.create("/memories/a", "one").unwrap();
    let then = all(&memory)[0].time;
    memory.delete("/memories/a").unwrap();
    memory.create("/memories/a", "two").unwrap();
    let restored = memory.restore_all(then, false).unwrap();
    assert_eq!(restored.files.len(), 1, "{restored:?}");
    assert_eq!(restored.files[0].operation, Operation::Modified);
    assert_eq!(memory.read("/memories/a").unwrap(), "one");
    assert_eq!(memory.restore_all(then, false).unwrap().change, None);
}

#[test]
fn a_version_stands_for_itself_when_what_was_before_it_is_gone() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let mut options = MemoryOptions::default();
    options.history = true;
    options.history_max_versions = Some(10);
    let memory = Memory::with_store(store, options);
    memory.create("/memories/d/often", "0").unwrap();
    memory.create("/memories/d/seldom", "kept").unwrap();
    // One record for both. It stays for the file that has few changes.
    memory.rename("/memories/d", "/memories/e").unwrap();
    for number in 1..=30 {
        let (old, new) = ((number - 1).to_string(), number.to_string());
        memory.str_replace("/memories/e/often", &old, &new).unwrap();
    }
    assert!(memory.trim_history().unwrap() > 10);
    let versions = all(&memory);
    let external = versions.iter().filter(|version| version.operation == Operation::External);
    assert_eq!(external.count(), 0, "{:?}", told(&versions));
    let often: Vec<_> =
        versions.iter().filter(|version| version.path.as_str() == "/memories/e/often").collect();
    assert_eq!(often.len(), 10, "{:?}", told(&versions));
    assert_eq!(content(&memory, often[0]), "30");
    assert_eq!(content(&memory, often[9]), "21");
    let seldom = versions.iter().find(|version| version.path.as_str() == "/memories/e/seldom");
    let moved = seldom.unwrap();
    assert_eq!((moved.operation, content(&memory, moved).as_str()), (Operation::Renamed, "kept"));
    // The content before the first of the last ten changes is gone.
    let undone = memory.undo(often[9].change, UndoOptions::default());
    assert!(matches!(undone, Err(HistoryError::Conflict { .. } | HistoryError::Trimmed { .. })));
}

/// Records every deletion in another database, before it is made.
#[cfg(feature = "sqlite")]
struct Audited(SqliteDatabase, Arc<SqliteDatabase>);

#[cfg(feature = "sqlite")]
impl Layer for Audited {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let (Mutation::Delete { path } | Mutation::DeleteIf { path, .. }) = mutation else {
            return self.0.mutate(context, mutation);
        };
        self.1.write(path, b"deleted", OnExisting::Overwrite)?;
        match path.name() {
            Some("never") => Err(StoreError::failed("auditing", "it may not be deleted")),
            _ => self.0.mutate(context, mutation),
        }
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn a_record_goes_into_its_own_database_and_no_other() {
    let place = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        SqliteDatabase::open(place.path().join(name), memdir::Durability::Relaxed).unwrap()
    };
    let audit = Arc::new(open("audit.db"));
    let memory = remembering(Arc::new(Audited(open("a.db"), Arc::clone(&audit))));
    for name in ["a", "never"] {
        memory.create(&format!("/memories/{name}"), "secret").unwrap();
    }
    memory.delete("/memories/a").unwrap();
    memory.delete("/memories/never").unwrap_err();
    // On the same thread, without a history.
    let other = Memory::with_store(Arc::clone(&audit) as _, MemoryOptions::default());
    other.create("/memories/x", "x").unwrap();
    assert!(all(&remembering(audit)).is_empty());
    let made =
        ["deleted /memories/a", "created /memories/never 6 current", "created /memories/a 6"];
    assert_eq!(told(&all(&memory)), made);
    memory.create("/memories/b", "b").unwrap();
    assert_eq!(all(&memory).len(), 4);
}

/// Counts the reads.
struct Counting(InProcess, AtomicUsize);

impl Layer for Counting {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Layer::inner(self).read_in(context, path)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Layer::inner(self).list_in(context, path)
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.1.fetch_add(1000, Ordering::SeqCst);
        Layer::inner(self).files_in(context, visit)
    }
}

#[test]
fn it_is_turned_on_for_many_files_without_reading_them() {
    let store = Arc::new(Counting(InProcess::new(), AtomicUsize::new(0)));
    let plain = Memory::with_store(Arc::clone(&store) as _, MemoryOptions::default());
    for number in 0..2_000 {
        plain.create(&format!("/memories/{}/{number}", number % 100), "one").unwrap();
    }
    store.1.store(0, Ordering::SeqCst);
    let memory = remembering(Arc::clone(&store) as _);
    memory.str_replace("/memories/7/7", "one", "two").unwrap();
    assert!(store.1.load(Ordering::SeqCst) < 10);
    let versions = all(&memory);
    assert_eq!(told(&versions), ["modified /memories/7/7 3 current", "external /memories/7/7 3"]);
    assert_eq!(content(&memory, &versions[1]), "one");
    assert!(store.1.load(Ordering::SeqCst) < 20);
}

#[cfg(any(unix, windows))]
#[test]
fn a_damaged_journal_costs_what_only_it_can_tell_and_stands_in_no_way() {
    let place = tempfile::tempdir().unwrap();
    let open = || {
        let mut options = MemoryOptions::default();
        options.history = true;
        options.durability = memdir::Durability::Relaxed;
        Memory::open(place.path().to_str().unwrap(), options).unwrap()
    };
    let memory = open();
    memory.create("/memories/a", "0\n").unwrap();
    for number in 1..12 {
        memory.insert("/memories/a", 0, &number.to_string()).unwrap();
    }
    let versions = all(&memory);
    let contents: Vec<String> = versions.iter().map(|version| content(&memory, version)).collect();
    let log = place.path().join("history/active");
    let whole = std::fs::read(&log).unwrap();
    let (mut lost, mut damages) = (0, 0);
    for at in (0..whole.len()).step_by(37) {
        let mut damaged = whole.clone();
        match at % 3 {
            0 => damaged[at] ^= 0x20,
            1 => damaged.truncate(at),
            _ => drop(damaged.drain(at..(at + 300).min(whole.len()))),
        }
        std::fs::write(&log, &damaged).unwrap();
        damages += 1;
        let memory = open();
        assert!(memory.view("/memories/a", None).is_ok());
        memory.insert("/memories/a", 0, "x").unwrap();
        memory.str_replace("/memories/a", "x\n", "").unwrap();
        memory.create("/memories/b", "new").unwrap();
        memory.delete("/memories/b").unwrap();
        let known = all(&memory);
        for (version, content) in versions.iter().zip(&contents) {
            let Some(version) = known.iter().find(|known| known.id == version.id) else {
                lost += 1;
                continue;
            };
            match memory.read_version(version.id) {
                Ok(read) => assert_eq!(String::from_utf8(read).unwrap(), *content),
                Err(HistoryError::Damaged | HistoryError::Store(_)) => lost += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(memory.read("/memories/a").unwrap(), contents[0]);
        assert!(memory.redact(known[0].id, "").is_ok());
    }
    // A truncation loses everything after it; damage in the middle loses one version or a few.
    assert!(lost < damages * versions.len() / 2, "{lost} of {damages} times {}", versions.len());
}

#[test]
fn store_and_memory_are_dropped() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::with_store(Arc::clone(&store), options);
    memory.create("/memories/a", "one").unwrap();
    drop(memory);
    assert_eq!(Arc::strong_count(&store), 1);
}

#[test]
fn a_part_of_an_id_is_resolved_or_said_to_be_none_unknown_or_several() {
    let memory = remembering(Arc::new(InProcess::new()));
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.create("/memories/b/c.md", "two\n").unwrap();
    memory.create("/memories/b/d.md", "three\n").unwrap();
    memory.delete("/memories/b").unwrap();
    let versions = all(&memory);
    let (deletion, first) = (&versions[0], &versions[versions.len() - 1]);
    let whole = first.id.to_string();

    // Of a change with one version, and of a change with two.
    assert_eq!(memory.resolve_id(&whole).unwrap(), first.id);
    assert_eq!(memory.resolve_id(&whole.to_uppercase()).unwrap(), first.id);
    assert_eq!(memory.resolve_id(&deletion.change.to_string()).unwrap(), deletion.change);

    // Ids of the same day have the same prefix.
    match memory.resolve_id(&whole[..6]) {
        Err(error @ HistoryError::Ambiguous { .. }) => {
            assert_eq!(error.kind(), Some(HistoryErrorKind::Ambiguous));
            assert!(error.to_string().contains(&whole), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let unknown = memory.resolve_id("01990a3c-7c00-7123-8456-789abc000000");
    assert!(matches!(unknown, Err(HistoryError::Unknown(_))), "{unknown:?}");
    for text in ["", "tea", &whole[..5], &format!("{whole}0")] {
        let none = memory.resolve_id(text);
        assert!(matches!(none, Err(HistoryError::NoId(_))), "{text}: {none:?}");
    }
    let off = Memory::open("memory:", MemoryOptions::default()).unwrap();
    assert!(matches!(off.resolve_id(&whole), Err(HistoryError::Off)));
}
