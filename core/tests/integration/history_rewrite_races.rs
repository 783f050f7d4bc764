//! Two processes that change records of one history at the same time, a redaction beside another redaction or a trim: neither
//! restores anything that the other removed, and the remaining versions can be read.
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::{Arc, Barrier};

use crate::common::effort;
use memdir::history::HistoryQuery;
use memdir::store::Location;
use memdir::{GrepQuery, Memory, MemoryOptions, Store};

/// A process whose trim keeps `kept` versions of a deleted file.
fn process(store: &Arc<dyn Store>, kept: Option<usize>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.history_max_versions = kept;
    Memory::with_store(Arc::clone(store), options)
}

/// Writes a secret into a file, and deletes the file. Its directory is moved there and back, because such a version has no
/// content of its own.
fn leave_a_secret(memory: &Memory, round: usize, secret: &str) {
    let path = format!("/memories/d{round}/a.md");
    memory.create(&path, "before\n").unwrap();
    memory.insert(&path, 0, secret).unwrap();
    memory.rename(&format!("/memories/d{round}"), &format!("/memories/e{round}")).unwrap();
    memory.rename(&format!("/memories/e{round}"), &format!("/memories/d{round}")).unwrap();
    memory.str_replace(&path, secret, "gone\n").unwrap();
    memory.delete(&path).unwrap();
}

fn race(store: &Arc<dyn Store>, beside: impl Fn(&Memory, usize) + Sync) {
    const ROUNDS: usize = 6;
    // On a server every round takes long, because it reads the history of all rounds.
    let is_local = store.info().locations.iter().all(Location::is_local);
    let few = if is_local { ROUNDS } else { ROUNDS / 2 };
    for round in 0..effort::times_or_few(ROUNDS, few) {
        let [one, other] = [process(store, None), process(store, Some(3))];
        let secret = format!("the secret {round} is 7391-hazelnut\n");
        leave_a_secret(&one, round, &secret);
        one.create(&format!("/memories/{round}.md"), "another file\n").unwrap();
        let turn = Barrier::new(2);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                turn.wait();
                one.redact_text(&GrepQuery::text(secret.trim()), "because", false).unwrap();
            });
            threads.spawn(|| {
                other.history(&HistoryQuery::default()).unwrap();
                turn.wait();
                beside(&other, round);
            });
        });
        let later = process(store, None);
        for version in later.history(&HistoryQuery::default()).unwrap() {
            let content = later.read_version(version.id).unwrap_or_default();
            let content = String::from_utf8(content).unwrap();
            assert!(!content.contains(&secret), "round {round}: {version:?}");
        }
        let mut problems = Vec::new();
        later.store().inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
        problems.retain(|problem| problem.contains("history"));
        assert!(problems.is_empty(), "round {round}: {problems:?}");
    }
}

on_every_store!(two_redactions_at_once_bring_nothing_back);
fn two_redactions_at_once_bring_nothing_back(store: Arc<dyn Store>) {
    race(&store, |memory, round| {
        let mut query = HistoryQuery::default();
        query.path = Some(format!("/memories/d{round}/a.md"));
        // The version after the secret, whose splice leads to it.
        let versions = memory.history(&query).unwrap();
        let after = versions.iter().find(|version| version.operation.as_str() == "modified");
        // The other process may have been first. Then this one is not the newest.
        if let Some(after) = after.filter(|version| version.redacted.is_none()) {
            memory.redact(after.id, "this too").unwrap();
        }
    });
}

on_every_store!(a_trim_beside_a_redaction_brings_nothing_back);
fn a_trim_beside_a_redaction_brings_nothing_back(store: Arc<dyn Store>) {
    race(&store, |memory, _| {
        memory.trim_history().unwrap();
    });
}

on_every_store!(a_trim_beside_changes_leaves_all_that_stays_readable);
fn a_trim_beside_changes_leaves_all_that_stays_readable(store: Arc<dyn Store>) {
    race(&store, |memory, round| {
        std::thread::scope(|threads| {
            threads.spawn(|| drop(memory.trim_history()));
            let writer = process(&store, None);
            leave_a_secret(&writer, 1_000 + round, "nothing of that kind\n");
        });
    });
}
