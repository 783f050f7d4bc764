//! One PostgreSQL database and several processes: that edit it, that are killed, that are forked;
//! and a server that is killed under them.
#![cfg(all(unix, feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

mod common;
#[path = "common/postgres.rs"]
mod postgres;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::fork::{child, succeeded};
use common::process;
use memdir::{Memory, MemoryPath, Options};
use postgres::{Server, server};

fn memory(address: &str) -> Memory {
    Memory::open(address, Options::default()).unwrap()
}

fn text(address: &str, path: &str) -> String {
    let content = memory(address).store().read(&MemoryPath::parse(path).unwrap()).unwrap();
    String::from_utf8(content).unwrap()
}

fn insert(memory: &Memory, me: &str, count: usize) {
    for number in 0..count {
        memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
    }
}

/// How often something is killed: a few times, or, with `MEMDIR_SOAK` set, as often as it says.
fn rounds(few: u64) -> u64 {
    std::env::var("MEMDIR_SOAK").map_or(few, |rounds| rounds.parse().unwrap())
}

/// Waits for what a process does, and not for ever.
fn until(ready: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if ready() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("a process does not get on");
}

/// Figures, for whoever asked for more rounds than usual.
fn report(figures: &str) {
    if std::env::var_os("MEMDIR_SOAK").is_some() {
        std::io::stderr().write_all(format!("{figures}\n").as_bytes()).unwrap();
    }
}

/// Not a test of its own: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Ok(job) = std::env::var("MEMDIR_JOB") else { return };
    let address = std::env::var("MEMDIR_ADDRESS").unwrap();
    let base = std::env::var("MEMDIR_BASE").unwrap();
    let (base, me) = (Path::new(&base), std::env::var("MEMDIR_ME").unwrap());
    match job.as_str() {
        "insert" => insert(&memory(&address), &me, 250),
        "create" => {
            let memory = memory(&address);
            let wins = (0..100)
                .filter(|number| memory.create(&format!("/memories/new/{number}"), &me).is_ok())
                .count();
            fs::write(base.join(format!("wins-{me}")), wins.to_string()).unwrap();
        }
        // Until it is killed: each line is acknowledged in a file of its own before the next.
        "insert-and-acknowledge" => {
            let memory = memory(&address);
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
        "insist" => insist(&address, base, &me),
        "fork" => forking(&address),
        other => panic!("no such job: {other}"),
    }
}

/// Until it is told to stop: each line is tried until it is acknowledged. What failed was not done,
/// unless the error says that this is not known.
fn insist(address: &str, base: &Path, me: &str) {
    let memory = loop {
        match Memory::open(address, Options::default()) {
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
                let log = loop {
                    if let Ok(log) =
                        memory.store().read(&MemoryPath::parse("/memories/log").unwrap())
                    {
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

/// A process that does not outlive the test, also where that fails.
struct Worker(Child);

impl Worker {
    fn succeeds(&mut self) -> bool {
        self.0.wait().unwrap().success()
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended, which is how it should be.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn work(address: &str, base: &Path, job: &str, me: &str) -> Worker {
    let base = base.to_str().unwrap();
    let job = [
        ("MEMDIR_JOB", job),
        ("MEMDIR_ADDRESS", address),
        ("MEMDIR_BASE", base),
        ("MEMDIR_ME", me),
    ];
    Worker(process("worker", &job))
}

fn lines(address: &str) -> usize {
    let log = text(address, "/memories/log");
    let distinct: BTreeSet<&str> = log.lines().collect();
    assert_eq!(distinct.len(), log.lines().count());
    distinct.len()
}

#[test]
fn processes_that_edit_one_file_lose_nothing() {
    let Some(server) = server() else { return };
    let (place, address) = (tempfile::tempdir().unwrap(), server.fresh());
    memory(&address).create("/memories/log", "").unwrap();
    let mut workers: Vec<Worker> =
        (0..8).map(|me| work(&address, place.path(), "insert", &me.to_string())).collect();
    for worker in &mut workers {
        assert!(worker.succeeds());
    }
    assert_eq!(lines(&address), 2000);
}

#[test]
fn processes_that_make_the_tables_at_once_share_them_and_of_two_creations_one_wins() {
    let Some(server) = server() else { return };
    let (place, address) = (tempfile::tempdir().unwrap(), server.database("made_at_once"));
    let names: Vec<String> = (0..6).map(|name| name.to_string()).collect();
    let mut workers: Vec<Worker> =
        names.iter().map(|me| work(&address, place.path(), "create", me)).collect();
    for worker in &mut workers {
        assert!(worker.succeeds());
    }
    let wins = names.iter().map(|me| {
        let wins = fs::read_to_string(place.path().join(format!("wins-{me}"))).unwrap();
        wins.parse::<usize>().unwrap()
    });
    assert_eq!(wins.sum::<usize>(), 100);
}

#[test]
fn a_kill_of_the_client_at_any_moment_loses_nothing_acknowledged() {
    let Some(server) = server() else { return };
    let place = tempfile::tempdir().unwrap();
    let (base, address) = (place.path(), server.fresh());
    memory(&address).create("/memories/log", "start\n").unwrap();
    let (mut lived, rounds) = (0, rounds(25));
    for round in 0..rounds {
        let names = [format!("r{round}"), format!("r{round}b")];
        let mut victims =
            names.clone().map(|me| work(&address, base, "insert-and-acknowledge", &me));
        // How quickly a process starts depends on the machine.
        until(|| names.iter().any(|me| base.join(format!("done-{me}")).exists()));
        std::thread::sleep(Duration::from_millis(round * 7 % 83));
        for victim in &mut victims {
            victim.kill();
        }
        let text = text(&address, "/memories/log");
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
    assert!(lived > rounds / 2, "the processes were killed before they did anything: {lived}");
    report(&format!("killed clients: {}; {lived} had changed something", 2 * rounds));
}

#[test]
fn a_kill_of_the_server_at_any_moment_loses_nothing_acknowledged_and_does_nothing_twice() {
    let Some(server) = Server::start("") else { return };
    let place = tempfile::tempdir().unwrap();
    let (base, address) = (place.path(), server.fresh());
    memory(&address).create("/memories/log", "start\n").unwrap();
    let names = ["a", "b", "c"];
    let mut workers = names.map(|me| work(&address, base, "insist", me));
    let rounds = rounds(5);
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
    let log = text(&address, "/memories/log");
    assert!(log.ends_with("start\n"), "torn: {log:?}");
    let (mut total, mut unknown) = (0, 0);
    for me in names {
        let numbers: Vec<u64> = log
            .lines()
            .filter_map(|line| line.strip_prefix(&format!("{me} ")))
            .map(|number| number.parse().unwrap())
            .collect();
        let said = done(me);
        let (acknowledged, in_doubt) = said.split_once(' ').unwrap();
        // Each once and in order, and none that was not acknowledged in the end.
        let acknowledged: u64 = acknowledged.parse().unwrap();
        assert!(numbers.iter().copied().eq((0..acknowledged).rev()), "{me}: {numbers:?}");
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
    let (place, address) = (tempfile::tempdir().unwrap(), server.fresh());
    assert!(work(&address, place.path(), "fork", "").succeeds());
}

/// In a process of its own: other threads never stop working while it forks, and children use what
/// the parent opened.
fn forking(address: &str) {
    let memory = memory(address);
    let other = self::memory(address);
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
        for round in 0..15 {
            let child = child(|| {
                insert(&memory, &format!("child {round}"), 3);
                let grandchild = child(|| insert(&other, &format!("grandchild {round}"), 2));
                insert(&other, &format!("child again {round}"), 1);
                assert!(succeeded(grandchild));
            });
            assert!(succeeded(child));
        }
        stop.store(true, Ordering::Relaxed);
        busy.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(lines(address), parents + 15 * 6);
}
