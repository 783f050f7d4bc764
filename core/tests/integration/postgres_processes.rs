//! One PostgreSQL database and several processes: that edit it, are killed, or are forked; and a
//! server that is killed while they run.
#![cfg(all(unix, feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::common::effort::times;
use crate::common::fork::{beside_busy_threads, child, succeeded};
use crate::common::postgres::{Server, server};
use crate::common::store_helpers::open_memory;
use crate::common::workers::{self, Job, Worker, insert, lines, numbers, text, until};
use memdir::{Memory, MemoryOptions, MemoryPath};

/// Figures of a long run.
fn report(figures: &str) {
    if times(1) > 1 {
        std::io::stderr().write_all(format!("{figures}\n").as_bytes()).unwrap();
    }
}

const WORKER: &str = here!("worker");

/// Not a real test: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Some(job) = Job::of_this_process() else { return };
    match job.name.as_str() {
        "insist" => insist(&job.address, &job.place, &job.me),
        "fork" => forking(&job.address),
        _ => job.run(&open_memory(&job.address)),
    }
}

/// Runs until it is told to stop. Each line is retried until it is acknowledged. A failed insert
/// was not made, unless the error says that the outcome is unknown.
fn insist(address: &str, base: &Path, me: &str) {
    let memory = loop {
        match Memory::open(address, MemoryOptions::default()) {
            Ok(memory) => break memory,
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let mut number = 0_u64;
    let mut unknown = 0_u64;
    while !base.join("stop").exists() {
        let line = format!("{me} {number}");
        loop {
            let Err(error) = memory.insert("/memories/log", 0, &line) else { break };
            assert!(matches!(error, memdir::Error::Store(_)), "the server's end came as: {error}");
            std::thread::sleep(Duration::from_millis(20));
            if error.to_string().contains("not known") {
                unknown += 1;
                let path = MemoryPath::parse("/memories/log").unwrap();
                let log = loop {
                    if let Ok(log) = memory.store().read(&path) {
                        break String::from_utf8(log).unwrap();
                    }
                    std::thread::sleep(Duration::from_millis(20));
                };
                if log.lines().any(|found| found == line) {
                    break;
                }
            }
        }
        number += 1;
        fs::write(base.join(format!("done-{me}")), format!("{number} {unknown}")).unwrap();
    }
}

#[test]
fn processes_that_edit_one_file_lose_nothing() {
    let Some(server) = server() else { return };
    let address = server.fresh();
    workers::edit_one_file(WORKER, &address, &open_memory(&address));
}

#[test]
fn processes_that_make_the_tables_at_once_share_them_and_of_two_creations_one_wins() {
    let Some(server) = server() else { return };
    let address = server.database("made_at_once");
    workers::create_the_same_paths(WORKER, &address, || open_memory(&address));
}

#[test]
fn of_processes_that_expire_one_file_one_does_and_none_that_is_used_meanwhile() {
    let Some(server) = server() else { return };
    let address = server.fresh();
    workers::expire_at_once(WORKER, &address, &open_memory(&address), times(40));
}

#[test]
fn a_kill_of_the_client_at_any_moment_loses_nothing_acknowledged() {
    let Some(server) = server() else { return };
    let (address, rounds) = (server.fresh(), times(6));
    let lived =
        workers::kill_at_any_moment(WORKER, &address, &open_memory(&address), rounds, |_| {});
    report(&format!("killed clients: {}; {lived} had changed something", 2 * rounds));
}

#[test]
fn a_kill_of_the_server_at_any_moment_loses_nothing_acknowledged_and_does_nothing_twice() {
    let Some(server) = Server::start("") else { return };
    let place = tempfile::tempdir().unwrap();
    let (base, address) = (place.path(), server.fresh());
    open_memory(&address).create("/memories/log", "start\n").unwrap();
    let names = ["a", "b", "c"];
    let mut workers = names.map(|me| Worker::start(WORKER, &address, base, "insist", me));
    let rounds = times(3);
    let done = |me: &str| fs::read_to_string(base.join(format!("done-{me}"))).unwrap_or_default();
    for round in 0..rounds {
        let before = names.map(done);
        until(|| names.map(done) != before);
        std::thread::sleep(Duration::from_millis(round * 37 % 211));
        if round % 5 == 4 {
            server.stop();
        } else {
            server.kill();
        }
        server.start_again();
    }
    let before = names.map(done);
    until(|| names.iter().zip(&before).all(|(me, before)| done(me) != *before));
    fs::write(base.join("stop"), "").unwrap();
    for worker in &mut workers {
        assert!(worker.succeeds());
    }
    let log = text(&open_memory(&address), "/memories/log");
    assert!(log.ends_with("start\n"), "torn: {log:?}");
    let (mut total, mut unknown) = (0, 0);
    for me in names {
        let said = done(me);
        let (acknowledged, in_doubt) = said.split_once(' ').unwrap();
        // Each once and in order, and no line that was not acknowledged in the end.
        let acknowledged: u64 = acknowledged.parse().unwrap();
        assert_eq!(numbers(&log, me), acknowledged, "{me}");
        total += acknowledged;
        unknown += in_doubt.parse::<u64>().unwrap();
    }
    report(&format!(
        "kills and stops of the server: {rounds}; changes: {total}, of which {unknown} were first \
         answered \"not known\""
    ));
}

#[test]
fn a_forked_process_goes_on_with_connections_of_its_own() {
    let Some(server) = server() else { return };
    assert!(Worker::start(WORKER, &server.fresh(), Path::new(""), "fork", "").succeeds());
}

/// In a separate process: other threads keep working while it forks, and children use the parent's
/// store.
fn forking(address: &str) {
    let memory = open_memory(address);
    let other = open_memory(address);
    memory.create("/memories/log", "").unwrap();
    let parents = beside_busy_threads(&memory, || {
        for round in 0..15 {
            let child = child(|| {
                insert(&memory, &format!("child {round}"), 3);
                let grandchild = child(|| insert(&other, &format!("grandchild {round}"), 2));
                insert(&other, &format!("child again {round}"), 1);
                assert!(succeeded(grandchild));
            });
            assert!(succeeded(child));
        }
    });
    assert_eq!(lines(&memory), parents + 15 * 6);
}
