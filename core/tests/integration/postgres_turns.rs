//! The PostgreSQL store when writers have to wait: how long, for which lock, the connections that they
//! hold meanwhile, and cancelled calls.
#![cfg(all(unix, feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

use crate::common::postgres::{Server, server};
use crate::common::store_helpers::{appending, at};
use memdir::store::{Context, InContext, PostgresDatabase, Splice};
use memdir::{
    Cancellation, Durability, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError,
};

fn open(address: &str, lock_timeout: Option<Duration>) -> PostgresDatabase {
    PostgresDatabase::open(address, Durability::Relaxed).unwrap().with_lock_timeout(lock_timeout)
}

/// Does `work` while an edit of `file` is in progress, which holds the namespace's lock until then.
fn while_locked<T>(store: &PostgresDatabase, file: &MemoryPath, work: impl FnOnce() -> T) -> T {
    let (inside, wait_until_inside) = mpsc::channel();
    let (leave, wait_to_leave) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || {
            store.update(file, &mut |old| {
                inside.send(()).unwrap();
                // Also if the work panics.
                let _ = wait_to_leave.recv();
                Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() })
            })
        });
        wait_until_inside.recv().unwrap();
        let done = work();
        drop(leave);
        writer.join().unwrap().unwrap();
        done
    })
}

/// Waits until the server's state of its clients is `expected`.
fn until(server: &Server, sql: &str, expected: &str) {
    let since = Instant::now();
    while server.sql("postgres", sql) != expected {
        assert!(
            since.elapsed() < Duration::from_secs(30),
            "{sql}: {}",
            server.sql("postgres", sql)
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn waiting_for_a_lock(name: &str) -> String {
    format!(
        "SELECT count(*) FROM pg_stat_activity \
         WHERE application_name = '{name}' AND wait_event_type = 'Lock'"
    )
}

#[test]
fn a_writer_waits_for_others_as_long_as_it_may_and_changes_nothing() {
    let Some(server) = server() else { return };
    let address = server.fresh();
    let slow = open(&address, None);
    // One that shares the queue of its process, and one that meets the lock only on the server.
    let near = open(&address, Some(Duration::from_millis(100)));
    let far = format!("{address}&application_name=far");
    let far = open(&far, Some(Duration::from_millis(100)));
    let file = at("/memories/a");
    slow.write(&file, b"one", OnExisting::Error).unwrap();
    while_locked(&slow, &file, || {
        for quick in [&near, &far] {
            let refused = quick.write(&file, b"three", OnExisting::Overwrite);
            assert!(matches!(refused, Err(StoreError::Busy)), "{refused:?}");
            let refused = quick.rename(&file, &at("/memories/b"));
            assert!(matches!(refused, Err(StoreError::Busy)), "{refused:?}");
            // Views and opening do not wait.
            assert_eq!(quick.read(&file).unwrap(), b"one");
            open(&address, Some(Duration::ZERO));
        }
    });
    assert_eq!(near.read(&file).unwrap(), b"one+");
    near.write(&file, b"two", OnExisting::Overwrite).unwrap();
    far.write(&file, b"three", OnExisting::Overwrite).unwrap();
}

#[test]
fn the_lock_timeout_is_an_option_and_a_sentence() {
    let Some(server) = server() else { return };
    let address = server.fresh();
    let mut options = MemoryOptions::default();
    options.lock_timeout = Some(Duration::from_millis(50));
    let memory = Memory::open(&address, options).unwrap();
    memory.create("/memories/a", "one\n").unwrap();
    let slow = open(&address, None);
    while_locked(&slow, &at("/memories/a"), || {
        let reply = memory.execute(
            r#"{"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "x"}"#,
        );
        assert!(reply.is_error);
        let said = reply.content.as_text().unwrap_or_default();
        assert!(said.contains("busy") && said.contains("Nothing was changed"), "{said}");
    });
    assert_eq!(slow.read(&at("/memories/a")).unwrap(), b"one\n+");
}

#[test]
fn waiting_for_other_writers_does_not_count_as_work() {
    let Some(server) = server() else { return };
    let address = server.fresh();
    let slow = open(&address, None);
    let file = at("/memories/a");
    slow.write(&file, b"one", OnExisting::Error).unwrap();
    // A limit of the role or the database does not apply to the wait either.
    let limits = "statement_timeout=2s&options=-c%20statement_timeout%3D2s";
    let patient = open(&format!("{address}&application_name=patient&{limits}"), None);
    std::thread::scope(|scope| {
        let waiting = while_locked(&slow, &file, || {
            let waiting = scope.spawn(|| patient.write(&file, b"two", OnExisting::Overwrite));
            until(server, &waiting_for_a_lock("patient"), "1");
            // Longer than the statement timeout.
            std::thread::sleep(Duration::from_secs(3));
            waiting
        });
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(slow.read(&file).unwrap(), b"two");
}

/// Regression test: with a namespace's row locked and its writers waiting, a view in another
/// namespace waited for seconds, because the writers held all connections.
#[test]
fn waiting_writers_leave_connections_to_other_namespaces_and_to_views() {
    let Some(server) = server() else { return };
    let slow = open(&server.address("locked"), None);
    let file = at("/memories/a");
    slow.write(&file, b"", OnExisting::Error).unwrap();
    let address = |namespace: &str| server.address(namespace) + "&application_name=shared";
    let locked = open(&address("locked"), None);
    // Edits of one file would be written together.
    let files: Vec<_> = (0..30).map(|number| at(&format!("/memories/{number}"))).collect();
    for file in &files {
        locked.write(file, b"", OnExisting::Error).unwrap();
    }
    let other = open(&address("other"), None);
    other.write(&file, b"other", OnExisting::Error).unwrap();
    std::thread::scope(|scope| {
        let waiting: Vec<_> = while_locked(&slow, &file, || {
            let locked = &locked;
            let edit = |file| move || locked.update(file, &mut appending("+"));
            let waiting: Vec<_> = files.iter().map(|file| scope.spawn(edit(file))).collect();
            // They hold two of eight connections, and all the others wait without one.
            until(server, &waiting_for_a_lock("shared"), "2");
            assert_eq!(other.read(&file).unwrap(), b"other");
            assert_eq!(locked.read(&file).unwrap(), b"");
            for number in 0..10 {
                other.write(&at(&format!("/memories/{number}")), b"", OnExisting::Error).unwrap();
            }
            assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
            assert_eq!(server.sql("postgres", &waiting_for_a_lock("shared")), "2");
            waiting
        });
        waiting.into_iter().for_each(|waiting| waiting.join().unwrap().unwrap());
    });
    assert!([&file].into_iter().chain(&files).all(|file| slow.read(file).unwrap() == b"+"));
}

#[test]
fn writers_of_all_namespaces_together_leave_connections_to_views() {
    let Some(server) = server() else { return };
    let file = at("/memories/a");
    let names: Vec<String> = (0..5).map(|number| format!("locked-{number}")).collect();
    let address = |namespace: &str| server.address(namespace) + "&application_name=views";
    let stores: Vec<_> = names.iter().map(|name| open(&address(name), None)).collect();
    for store in &stores {
        store.write(&file, b"", OnExisting::Error).unwrap();
    }
    // Another client locks all of the rows, and then takes an advisory lock as a signal.
    let lock = "BEGIN; \
                SELECT id FROM memdir.node WHERE namespace LIKE 'locked-_' AND parent = 0 FOR UPDATE; \
                SELECT pg_advisory_lock(7); SELECT pg_sleep(600)";
    let holder = std::thread::scope(|scope| {
        let holder = scope.spawn(|| server.try_sql("postgres", lock));
        let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7";
        until(server, held, "1");
        for store in &stores {
            for _ in 0..4 {
                scope.spawn(|| store.write(&file, b"+", OnExisting::Overwrite).unwrap());
            }
        }
        // Six of eight connections.
        until(server, &waiting_for_a_lock("views"), "6");
        for store in &stores {
            assert_eq!(store.read(&file).unwrap(), b"");
        }
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                   WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()";
        assert_eq!(server.sql("postgres", end), "1");
        holder.join().unwrap()
    });
    assert!(!holder);
    assert!(stores.iter().all(|store| store.read(&file).unwrap() == b"+"));
}

#[test]
fn a_change_whose_caller_has_gone_does_not_happen_and_waits_no_longer() {
    let Some(server) = server() else { return };
    let address = server.address("given-up");
    let slow = open(&address, None);
    let file = at("/memories/a");
    slow.write(&file, b"", OnExisting::Error).unwrap();
    let shared = open(&format!("{address}&application_name=gone"), None);
    let (asked, cancelled) = (AtomicUsize::new(0), AtomicUsize::new(0));
    while_locked(&slow, &file, || {
        let start = Barrier::new(21);
        let cancellation = Cancellation::new();
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    start.wait();
                    let context = Context::new().cancelled_by(&cancellation);
                    let done = InContext::new(&shared, &context).update(&file, &mut |_| {
                        asked.fetch_add(1, SeqCst);
                        Some(Splice { range: 0..0, text: b"late".to_vec() })
                    });
                    assert!(matches!(done, Err(StoreError::Cancelled)), "{done:?}");
                    cancelled.fetch_add(1, SeqCst);
                });
            }
            start.wait();
            // The others wait for this one, to be written together with it.
            until(server, &waiting_for_a_lock("gone"), "1");
            cancellation.cancel();
        });
        // No request waits on the server either, while the lock is still held.
        until(server, &waiting_for_a_lock("gone"), "0");
    });
    assert_eq!((asked.into_inner(), cancelled.into_inner()), (0, 20));
    assert_eq!(slow.read(&file).unwrap(), b"+");
    shared.write(&file, b"again", OnExisting::Overwrite).unwrap();
}

#[test]
fn a_caller_that_goes_while_it_is_decided_changes_nothing() {
    let Some(server) = server() else { return };
    let store = open(&server.fresh(), None);
    let file = at("/memories/a");
    store.write(&file, b"one", OnExisting::Error).unwrap();
    let cancellation = Cancellation::new();
    let context = Context::new().cancelled_by(&cancellation);
    let done = InContext::new(&store, &context).update(&file, &mut |_| {
        cancellation.cancel();
        Some(Splice { range: 0..0, text: b"late".to_vec() })
    });
    assert!(matches!(done, Err(StoreError::Cancelled)), "{done:?}");
    assert_eq!(store.read(&file).unwrap(), b"one");
    store.write(&file, b"two", OnExisting::Overwrite).unwrap();
}

/// In transaction mode a pooler may give each transaction another connection to the server.
#[test]
fn it_works_behind_a_connection_pooler_in_transaction_mode() {
    let Some(pooler) = Server::behind_pooler() else { return };
    const CLIENTS: usize = 8;
    const ROUNDS: usize = 20;
    let memory = |client: usize, namespace: &str| {
        // Separate connections.
        let address = format!("{}?namespace={namespace}&application_name=c{client}", pooler.base());
        Memory::open(&address, MemoryOptions::default()).unwrap()
    };
    memory(0, "pooled").create("/memories/log", "start\n").unwrap();
    let start = Barrier::new(CLIENTS);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (memory, start) = (&memory, &start);
            scope.spawn(move || {
                let shared = memory(client, "pooled");
                let own = memory(client, &format!("pooled-{client}"));
                start.wait();
                for round in 0..ROUNDS {
                    let line = format!("{client}/{round}");
                    shared.insert("/memories/log", 0, &line).unwrap();
                    let file = format!("/memories/dir/{round}/file");
                    own.create(&file, &line).unwrap();
                    own.str_replace(&file, &line, "edited").unwrap();
                    own.rename(&file, &format!("/memories/kept/{round}")).unwrap();
                    own.delete(&format!("/memories/dir/{round}")).unwrap();
                    let shown = own.view(&format!("/memories/kept/{round}"), None).unwrap();
                    assert!(shown.ends_with("edited"), "{shown}");
                    shared.view("/memories", None).unwrap();
                }
            });
        }
    });
    let log = memory(0, "pooled").store().read(&at("/memories/log")).unwrap();
    let mut lines: Vec<&str> = std::str::from_utf8(&log).unwrap().lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), CLIENTS * ROUNDS + 1);
}
