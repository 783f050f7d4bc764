//! The stale-view guard.

use std::sync::Arc;

use memdir::policy::StaleGuard;
use memdir::store::InProcess;
use memdir::{Error, Memory, MemoryOptions, OnExisting, Store};

use crate::common::store_helpers::{at, put, race, refusal};

const PATH: &str = "/memories/a.md";
const CHANGED: &str = "Error: The file /memories/a.md has changed since you last viewed or changed \
                       it. Nothing was changed: view it again before you edit it.";

fn guarded(store: &Arc<dyn Store>, guard: StaleGuard) -> Memory {
    let mut options = MemoryOptions::default();
    options.stale_guard = guard;
    Memory::with_store(Arc::clone(store), options)
}

/// Each thread appends the number of lines that it saw after the last of them. Each line then has a
/// different number, if no thread wrote with a stale view.
fn stale_guard_inserts_only_into_what_was_last_viewed_under_races(store: Arc<dyn Store>) {
    const EACH: usize = 10;
    put(&*store, PATH, "0\n");
    let accepted = race(|racer| {
        let memory = guarded(&store, StaleGuard::On);
        let accepted = (0..EACH).filter(|_| {
            // Half of the threads see only the end of the file.
            let view = memory.view(PATH, (racer % 2 == 0).then_some((1, 1))).unwrap();
            let lines = match view.lines().count() {
                2 => last_line(&memory.view(PATH, None).unwrap()),
                _ => last_line(&view),
            };
            let at = i64::try_from(lines).unwrap();
            match memory.insert(PATH, at, &lines.to_string()) {
                Ok(_) => true,
                Err(Error::Refused(refused)) => {
                    assert_eq!(refused.sentence(), CHANGED);
                    false
                }
                Err(broken) => panic!("{broken}"),
            }
        });
        accepted.count()
    });
    let content = String::from_utf8(store.read(&at(PATH)).unwrap()).unwrap();
    let expected: String = (0..=accepted).map(|line| format!("{line}\n")).collect();
    assert_eq!(content, expected);
}
on_every_store!(stale_guard_inserts_only_into_what_was_last_viewed_under_races);

/// The number of the last line in a view.
fn last_line(view: &str) -> u64 {
    let number = view.lines().last().unwrap().split('\t').next().unwrap();
    number.trim().parse().unwrap()
}

#[test]
fn what_a_session_was_shown_is_its_own() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*store, PATH, "a\n");
    let memory = guarded(&store, StaleGuard::Strict);
    let [one, other] = ["one", "other"].map(|actor| memory.acting_as(actor));
    one.view(PATH, None).unwrap();
    let not_viewed = |session: &Memory| {
        let refused = refusal(session.str_replace(PATH, "a", "b"));
        assert!(refused.contains("You have not viewed the file"), "{refused}");
    };
    not_viewed(&other);
    not_viewed(&memory);
    not_viewed(&one.session());
    not_viewed(&memory.acting_as("one"));
    one.clone().str_replace(PATH, "a", "b").unwrap();
    // Moving or forgetting in one memory does not affect the other.
    other.view(PATH, None).unwrap();
    one.forget_views();
    other.insert(PATH, 0, "c").unwrap();
    one.rename(PATH, "/memories/b.md").unwrap();
    let refused = refusal(other.insert("/memories/b.md", 0, "d"));
    assert!(refused.contains("You have not viewed the file /memories/b.md"), "{refused}");
}

#[test]
fn sessions_share_the_limits() {
    let mut options = MemoryOptions::default();
    options.max_files = Some(1);
    let memory = Memory::with_store(Arc::new(InProcess::new()), options);
    memory.acting_as("one").create(PATH, "a").unwrap();
    let refused = refusal(memory.acting_as("other").create("/memories/b.md", "b"));
    assert!(refused.contains("1 file"), "{refused}");
}

#[test]
fn clones_know_the_same_and_another_memory_knows_nothing() {
    let store = Arc::new(InProcess::new()) as Arc<dyn Store>;
    put(&*store, PATH, "one\n");
    let (memory, other) = (guarded(&store, StaleGuard::On), guarded(&store, StaleGuard::On));
    memory.view(PATH, None).unwrap();
    store.write(&at(PATH), b"two\n", OnExisting::Overwrite).unwrap();
    assert_eq!(refusal(memory.clone().insert(PATH, 0, "x")), CHANGED);
    other.insert(PATH, 0, "x").unwrap();
    memory.clone().view(PATH, None).unwrap();
    memory.insert(PATH, 0, "y").unwrap();
    // The last write of the other memory is not the current content.
    assert_eq!(refusal(other.insert(PATH, 0, "z")), CHANGED);
    // Cleared files were never seen.
    memory.clear().unwrap();
    put(&*store, PATH, "three\n");
    memory.insert(PATH, 0, "x").unwrap();
}

fn stale_guard_notices_a_change_anywhere_in_a_large_file(store: Arc<dyn Store>) {
    let lines: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    put(&*store, PATH, &lines);
    let memory = guarded(&store, StaleGuard::Strict);
    memory.view(PATH, Some((2, 3))).unwrap();
    memory.insert(PATH, 20_000, "more").unwrap();
    memory.str_replace(PATH, "line 19999\n", "the last\n").unwrap();
    memory.insert(PATH, 5, "more").unwrap();
    // A change of one byte near the end, with the same length.
    let mut content = store.read(&at(PATH)).unwrap();
    let end = content.len() - 3;
    content[end] ^= 1;
    store.write(&at(PATH), &content, OnExisting::Overwrite).unwrap();
    assert_eq!(refusal(memory.insert(PATH, 0, "x")), CHANGED);
    assert_eq!(refusal(memory.str_replace(PATH, "the last", "x")), CHANGED);
    assert_eq!(store.read(&at(PATH)).unwrap(), content);
}
on_every_store!(stale_guard_notices_a_change_anywhere_in_a_large_file);
