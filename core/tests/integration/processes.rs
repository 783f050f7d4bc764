//! Several processes in one directory, and processes that are killed in the middle of their work.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![cfg(any(unix, windows))]

use std::path::Path;

use crate::common::effort::times;
use crate::common::workers::{self, Job};
use crate::common::{memory, memory_with, on_disk};
use memdir::Durability;

const WORKER: &str = here!("worker");

/// Not a real test: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Some(job) = Job::of_this_process() else { return };
    job.run(&memory_with(Path::new(&job.address), Durability::Relaxed));
}

#[test]
fn processes_that_edit_one_file_lose_nothing() {
    let place = tempfile::tempdir().unwrap();
    workers::edit_one_file(WORKER, place.path().to_str().unwrap(), &memory(place.path()));
    assert_eq!(on_disk(&place.path().join("memories")), ["log"]);
}

#[test]
fn of_processes_that_create_one_path_exactly_one_wins() {
    let place = tempfile::tempdir().unwrap();
    let address = place.path().to_str().unwrap();
    workers::create_the_same_paths(WORKER, address, || memory(place.path()));
}

#[test]
fn of_processes_that_expire_one_file_one_does_and_none_that_is_used_meanwhile() {
    let place = tempfile::tempdir().unwrap();
    workers::expire_at_once(
        WORKER,
        place.path().to_str().unwrap(),
        &memory(place.path()),
        times(60),
    );
}

#[test]
fn a_kill_at_any_moment_loses_nothing_acknowledged() {
    let place = tempfile::tempdir().unwrap();
    let first = memory(place.path());
    workers::kill_at_any_moment(WORKER, place.path().to_str().unwrap(), &first, times(8), |_| {});
    // A view shows nothing of the killed processes except the files that they had completed.
    let listing = first.view("/memories", None).unwrap();
    for line in listing.lines().skip(2) {
        let (_, path) = line.split_once('\t').unwrap();
        assert!(path == "/memories/log" || path.starts_with("/memories/dir-r"), "{line}");
    }
    // Nor is anything left on the disk, once it is opened again. The last killed process may have
    // left a partial file, and no process has written since.
    memory(place.path());
    let left = on_disk(&place.path().join("memories"));
    assert!(left.iter().all(|path| !path.contains("memdir-")), "{left:?}");
}
