//! Several processes in one tree, and processes that are killed in the middle of their work.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![cfg(unix)]

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{memory, memory_with, on_disk, process};
use memdir::Durability;

/// Not a test of its own: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Ok(job) = std::env::var("MEMDIR_JOB") else { return };
    let base = std::env::var("MEMDIR_BASE").unwrap();
    let me = std::env::var("MEMDIR_ME").unwrap_or_default();
    let memory = memory_with(Path::new(&base), Durability::Relaxed);
    match job.as_str() {
        "insert" => {
            for number in 0..250 {
                memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
            }
        }
        "create" => {
            let wins = (0..200)
                .filter(|number| memory.create(&format!("/memories/new/{number}"), &me).is_ok())
                .count();
            fs::write(Path::new(&base).join(format!("wins-{me}")), wins.to_string()).unwrap();
        }
        // Until it is killed: each line is acknowledged in a file of its own before the next.
        "insert-and-acknowledge" => {
            let done = Path::new(&base).join(format!("done-{me}"));
            for number in 0_u64.. {
                memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
                memory.create(&format!("/memories/dir-{me}/sub/file"), "x").unwrap();
                fs::write(&done, number.to_string()).unwrap();
                memory.delete(&format!("/memories/dir-{me}")).unwrap();
            }
        }
        other => panic!("no such job: {other}"),
    }
}

fn work(base: &Path, job: &str, me: &str) -> std::process::Child {
    let base = base.to_str().unwrap();
    process("worker", &[("MEMDIR_JOB", job), ("MEMDIR_BASE", base), ("MEMDIR_ME", me)])
}

#[test]
fn processes_that_edit_one_file_lose_nothing() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/log", "").unwrap();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut workers = names.map(|me| work(place.path(), "insert", me));
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    let log = fs::read_to_string(place.path().join("memories/log")).unwrap();
    let mut lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2000);
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 2000);
    assert_eq!(on_disk(&place.path().join("memories")), ["log"]);
}

#[test]
fn of_two_processes_that_create_one_path_exactly_one_wins() {
    let place = tempfile::tempdir().unwrap();
    let mut workers = ["a", "b", "c"].map(|me| work(place.path(), "create", me));
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    let wins = |me| fs::read_to_string(place.path().join(format!("wins-{me}"))).unwrap();
    let wins = ["a", "b", "c"].map(|me| wins(me).parse::<usize>().unwrap());
    assert_eq!(wins.iter().sum::<usize>(), 200, "{wins:?}");
    for number in 0..200 {
        let content = fs::read_to_string(place.path().join(format!("memories/new/{number}")));
        assert!(["a", "b", "c"].contains(&content.unwrap().as_str()));
    }
}

#[test]
fn a_kill_at_any_moment_loses_nothing_acknowledged() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path();
    let log = base.join("memories/log");
    memory(base).create("/memories/log", "start\n").unwrap();
    let mut lived = 0;
    for round in 0..40_u64 {
        let me = format!("r{round}");
        let mut victim = work(base, "insert-and-acknowledge", &me);
        let mut bystander = work(base, "insert-and-acknowledge", &format!("{me}b"));
        std::thread::sleep(Duration::from_millis(15 + round * 7 % 23));
        for process in [&mut victim, &mut bystander] {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.ends_with("start\n"), "torn: {text:?}");
        for me in [me.clone(), format!("{me}b")] {
            let numbers: Vec<u64> = text
                .lines()
                .filter_map(|line| line.strip_prefix(&format!("{me} ")))
                .map(|number| number.parse().unwrap())
                .collect();
            // Newest first, without a gap; the last one acknowledged is among them.
            let newest = numbers.len() as u64;
            assert!(numbers.iter().copied().eq((0..newest).rev()), "{numbers:?}");
            if let Some(acknowledged) = fs::read_to_string(base.join(format!("done-{me}")))
                .ok()
                .and_then(|number| number.parse::<u64>().ok())
            {
                assert!(acknowledged < newest, "{acknowledged} of {newest}");
                lived += 1;
            }
        }
    }
    assert!(lived > 10, "the processes were killed before they did anything: {lived}");
    // Nothing that a view shows is left of the killed but what they had made.
    let memory = memory(base);
    let listing = memory.view("/memories", None).unwrap();
    for line in listing.lines().skip(2) {
        let (_, path) = line.split_once('\t').unwrap();
        assert!(path == "/memories/log" || path.starts_with("/memories/dir-r"), "{line}");
    }
    assert!(on_disk(&base.join("memories")).iter().all(|path| !path.contains("memdir-")));
}
