//! One SQLite database and several processes: that edit it, are killed, or are forked.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::path::Path;
use std::sync::mpsc;

use crate::common::effort::times;
use crate::common::workers::{self, Job, Worker, insert, lines, text};
use memdir::store::{self, Splice, SqliteDatabase};
use memdir::{Durability, Memory, MemoryOptions, MemoryPath, OnExisting, Store};

fn memory(base: &Path) -> Memory {
    opened(&address(base))
}

fn opened(address: &str) -> Memory {
    let mut options = MemoryOptions::default();
    options.durability = Durability::Relaxed;
    Memory::open(address, options).unwrap()
}

fn address(base: &Path) -> String {
    format!("sqlite:{}", base.join("a.db").display())
}

/// The database is intact, according to SQLite itself.
fn check(base: &Path) {
    let db = rusqlite::Connection::open(base.join("a.db")).unwrap();
    let answer: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(answer, "ok");
    let mut broken = db.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(!broken.exists([]).unwrap(), "a node or chunk belongs to nothing");
}

const WORKER: &str = here!("worker");

/// Not a real test: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Some(job) = Job::of_this_process() else { return };
    match job.name.as_str() {
        "fork" => fork::idle(&job.place),
        "fork-inside" => fork::inside(&job.place),
        "fork-announced" => fork::announced(&job.place),
        _ => job.run(&opened(&job.address)),
    }
}

/// The address is not used here: the database is in `base`.
fn succeeds(base: &Path, job: &str) -> bool {
    Worker::start(WORKER, "", base, job, "").succeeds()
}

#[test]
fn processes_that_edit_one_file_lose_nothing() {
    let place = tempfile::tempdir().unwrap();
    workers::edit_one_file(WORKER, &address(place.path()), &memory(place.path()));
    check(place.path());
}

#[test]
fn processes_that_make_the_database_at_once_share_one() {
    let place = tempfile::tempdir().unwrap();
    workers::create_the_same_paths(WORKER, &address(place.path()), || memory(place.path()));
    check(place.path());
}

#[test]
fn of_processes_that_expire_one_file_one_does_and_none_that_is_used_meanwhile() {
    let place = tempfile::tempdir().unwrap();
    workers::expire_at_once(WORKER, &address(place.path()), &memory(place.path()), times(60));
    check(place.path());
}

#[test]
fn a_kill_at_any_moment_loses_nothing_acknowledged() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path();
    workers::kill_at_any_moment(WORKER, &address(base), &memory(base), times(8), |_| check(base));
}

#[test]
fn a_forked_process_goes_on_with_connections_of_its_own() {
    let place = tempfile::tempdir().unwrap();
    assert!(succeeds(place.path(), "fork"));
    // Two children with 200 each, the parent's 53 and the last child's 50.
    assert_eq!(lines(&memory(place.path())), 503);
    check(place.path());
}

#[test]
fn a_process_that_was_forked_in_the_middle_of_a_command_is_told_so() {
    let place = tempfile::tempdir().unwrap();
    assert!(succeeds(place.path(), "fork-inside"));
    assert_eq!(text(&memory(place.path()), "/memories/log"), "start after");
    check(place.path());
}

#[test]
fn a_fork_that_is_announced_waits_for_commands_and_the_child_goes_on() {
    let place = tempfile::tempdir().unwrap();
    assert!(succeeds(place.path(), "fork-announced"));
    check(place.path());
}

/// In separate processes, so no other test is running in them.
mod fork {
    use super::*;

    use crate::common::fork::{beside_busy_threads, child, succeeded};

    /// The parent has idle connections of two stores, and continues to use them. The last one to
    /// work is a child whose parent has already closed the database.
    pub(super) fn idle(base: &Path) {
        let memory = memory(base);
        let other = super::memory(base);
        memory.create("/memories/log", "first\n").unwrap();
        other.insert("/memories/log", 1, "second").unwrap();
        let mut children = Vec::new();
        for me in ["a", "b"] {
            children.push(child(|| {
                insert(&memory, me, 50);
                let grandchild = child(|| insert(&other, &format!("{me} below"), 100));
                insert(&other, &format!("{me} again"), 50);
                assert!(succeeded(grandchild));
            }));
        }
        insert(&memory, "parent", 50);
        let (ready, start) = std::io::pipe().unwrap();
        let last = child(|| {
            insert(&memory, "last", 25);
            assert_eq!(std::io::Read::read(&mut &ready, &mut [0]).unwrap(), 1);
            // The parent has closed the database meanwhile.
            insert(&memory, "last again", 25);
        });
        assert!(children.into_iter().all(succeeded));
        drop((memory, other));
        // A process that opens it now must respect the child's locks. Otherwise it removes the log
        // from under the child.
        insert(&super::memory(base), "anew", 1);
        std::io::Write::write_all(&mut &start, b"!").unwrap();
        assert!(succeeded(last));
    }

    /// Another thread is in the middle of an edit when the process forks.
    pub(super) fn inside(base: &Path) {
        let store = SqliteDatabase::open(base.join("a.db"), Durability::Full).unwrap();
        let log = MemoryPath::parse("/memories/log").unwrap();
        store.write(&log, b"start", OnExisting::Error).unwrap();
        let (entered, wait_until_entered) = mpsc::channel();
        let (leave, wait_to_leave) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let (store, log) = (&store, &log);
            scope.spawn(move || {
                store.update(log, &mut |old| {
                    entered.send(()).unwrap();
                    wait_to_leave.recv().unwrap();
                    Some(Splice { range: old.len()..old.len(), text: b" after".to_vec() })
                })
            });
            wait_until_entered.recv().unwrap();
            let told = child(|| {
                for _ in 0..2 {
                    let error = store.read(log).unwrap_err().to_string();
                    assert!(error.contains("forked"), "{error}");
                }
            });
            assert!(succeeded(told));
            leave.send(()).unwrap();
        });
        // Now that no edit is in progress, a child may use it.
        assert!(succeeded(child(|| assert_eq!(store.read(&log).unwrap(), b"start after"))));
    }

    /// Other threads never stop working.
    pub(super) fn announced(base: &Path) {
        let memory = memory(base);
        memory.create("/memories/log", "").unwrap();
        let parents = beside_busy_threads(&memory, || {
            for round in 0..20 {
                store::before_fork();
                let child = child(|| {
                    store::after_fork_in_child();
                    insert(&memory, &format!("child {round}"), 5);
                });
                store::after_fork_in_parent();
                assert!(succeeded(child));
            }
        });
        assert_eq!(lines(&memory), parents + 20 * 5);
    }
}
