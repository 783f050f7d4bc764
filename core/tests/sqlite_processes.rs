//! One SQLite database and several processes: that edit it, that are killed, that are forked.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use common::process;
use memdir::store::{self, Splice, SqliteDatabase};
use memdir::{Durability, Memory, MemoryPath, OnExisting, Options, Store};

fn memory(base: &Path) -> Memory {
    let mut options = Options::default();
    options.durability = Durability::Relaxed;
    Memory::open(&format!("sqlite:{}", base.join("a.db").display()), options).unwrap()
}

fn text(base: &Path, path: &str) -> String {
    let content = memory(base).store().read(&MemoryPath::parse(path).unwrap()).unwrap();
    String::from_utf8(content).unwrap()
}

fn insert(memory: &Memory, me: &str, count: usize) {
    for number in 0..count {
        memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
    }
}

/// The database is whole, for SQLite itself.
fn check(base: &Path) {
    let db = rusqlite::Connection::open(base.join("a.db")).unwrap();
    let answer: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(answer, "ok");
    let mut broken = db.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(!broken.exists([]).unwrap(), "a node or chunk belongs to nothing");
}

/// Not a test of its own: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Ok(job) = std::env::var("MEMDIR_JOB") else { return };
    let base = std::env::var("MEMDIR_BASE").unwrap();
    let base = Path::new(&base);
    let me = std::env::var("MEMDIR_ME").unwrap_or_default();
    match job.as_str() {
        "insert" => insert(&memory(base), &me, 250),
        "create" => {
            let memory = memory(base);
            let wins = (0..100)
                .filter(|number| memory.create(&format!("/memories/new/{number}"), &me).is_ok())
                .count();
            fs::write(base.join(format!("wins-{me}")), wins.to_string()).unwrap();
        }
        // Until it is killed: each line is acknowledged in a file of its own before the next.
        "insert-and-acknowledge" => {
            let memory = memory(base);
            let done = base.join(format!("done-{me}"));
            for number in 0_u64.. {
                memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
                let directory = format!("/memories/dir-{me}");
                memory.create(&format!("{directory}/sub/file"), "x").unwrap();
                fs::write(&done, number.to_string()).unwrap();
                memory.rename(&directory, &format!("{directory}-moved")).unwrap();
                memory.delete(&format!("{directory}-moved")).unwrap();
            }
        }
        "fork" => fork::idle(base),
        "fork-inside" => fork::inside(base),
        "fork-announced" => fork::announced(base),
        other => panic!("no such job: {other}"),
    }
}

fn work(base: &Path, job: &str, me: &str) -> Child {
    let base = base.to_str().unwrap();
    process("worker", &[("MEMDIR_JOB", job), ("MEMDIR_BASE", base), ("MEMDIR_ME", me)])
}

fn lines(base: &Path) -> usize {
    let log = text(base, "/memories/log");
    let distinct: BTreeSet<&str> = log.lines().collect();
    assert_eq!(distinct.len(), log.lines().count());
    distinct.len()
}

#[test]
fn processes_that_edit_one_file_lose_nothing() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/log", "").unwrap();
    let mut workers: Vec<Child> =
        (0..8).map(|me| work(place.path(), "insert", &me.to_string())).collect();
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    assert_eq!(lines(place.path()), 2000);
    check(place.path());
}

#[test]
fn processes_that_make_the_database_at_once_share_one() {
    let place = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..6).map(|name| name.to_string()).collect();
    let mut workers: Vec<Child> = names.iter().map(|me| work(place.path(), "create", me)).collect();
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    let wins = names.iter().map(|me| {
        let wins = fs::read_to_string(place.path().join(format!("wins-{me}"))).unwrap();
        wins.parse::<usize>().unwrap()
    });
    assert_eq!(wins.sum::<usize>(), 100);
    check(place.path());
}

#[test]
fn a_kill_at_any_moment_loses_nothing_acknowledged() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path();
    memory(base).create("/memories/log", "start\n").unwrap();
    let mut lived = 0;
    for round in 0..40_u64 {
        let names = [format!("r{round}"), format!("r{round}b")];
        let mut victims = names.clone().map(|me| work(base, "insert-and-acknowledge", &me));
        std::thread::sleep(Duration::from_millis(20 + round * 7 % 23));
        for victim in &mut victims {
            victim.kill().unwrap();
            victim.wait().unwrap();
        }
        check(base);
        let text = text(base, "/memories/log");
        assert!(text.ends_with("start\n"), "torn: {text:?}");
        for me in names {
            let numbers: Vec<u64> = text
                .lines()
                .filter_map(|line| line.strip_prefix(&format!("{me} ")))
                .map(|number| number.parse().unwrap())
                .collect();
            // Newest first, without a gap; the last one acknowledged is among them.
            let newest = numbers.len() as u64;
            assert!(numbers.iter().copied().eq((0..newest).rev()), "{numbers:?}");
            let acknowledged = fs::read_to_string(base.join(format!("done-{me}"))).ok();
            if let Some(acknowledged) = acknowledged.and_then(|number| number.parse::<u64>().ok()) {
                assert!(acknowledged < newest, "{acknowledged} of {newest}");
                lived += 1;
            }
        }
    }
    assert!(lived > 10, "the processes were killed before they did anything: {lived}");
}

#[test]
fn a_forked_process_goes_on_with_connections_of_its_own() {
    let place = tempfile::tempdir().unwrap();
    assert!(work(place.path(), "fork", "").wait().unwrap().success());
    // Two children of 200 each, the parent's 53 and the last child's 50.
    assert_eq!(lines(place.path()), 503);
    check(place.path());
}

#[test]
fn a_process_that_was_forked_in_the_middle_of_a_command_is_told_so() {
    let place = tempfile::tempdir().unwrap();
    assert!(work(place.path(), "fork-inside", "").wait().unwrap().success());
    assert_eq!(text(place.path(), "/memories/log"), "start after");
    check(place.path());
}

#[test]
fn a_fork_that_is_announced_waits_for_commands_and_the_child_goes_on() {
    let place = tempfile::tempdir().unwrap();
    assert!(work(place.path(), "fork-announced", "").wait().unwrap().success());
    check(place.path());
}

/// In processes of their own, so that no other test is running in them.
mod fork {
    use super::*;

    use crate::common::fork::{child, succeeded};

    /// The parent has idle connections, of two stores, and goes on using them. The last to work
    /// is a child whose parent is through with the database.
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
        // Whoever opens it now has to meet the child's locks, or it takes the log away from it.
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
        // Now that nobody is inside, a child may.
        assert!(succeeded(child(|| assert_eq!(store.read(&log).unwrap(), b"start after"))));
    }

    /// Other threads never stop working.
    pub(super) fn announced(base: &Path) {
        let memory = memory(base);
        memory.create("/memories/log", "").unwrap();
        let stop = AtomicBool::new(false);
        let parents: usize = std::thread::scope(|scope| {
            let busy: Vec<_> = (0..3)
                .map(|thread| {
                    let (memory, stop) = (&memory, &stop);
                    scope.spawn(move || {
                        (0..)
                            .take_while(|_| !stop.load(Ordering::Relaxed))
                            .map(|number| insert(memory, &format!("{thread} {number}"), 1))
                            .count()
                    })
                })
                .collect();
            for round in 0..20 {
                store::before_fork();
                let child = child(|| {
                    store::after_fork_in_child();
                    insert(&memory, &format!("child {round}"), 5);
                });
                store::after_fork_in_parent();
                assert!(succeeded(child));
            }
            stop.store(true, Ordering::Relaxed);
            busy.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(lines(base), parents + 20 * 5);
    }
}
