//! Many writers at once, in threads and in processes with many threads: all of them succeed, and none holds a resource that
//! others wait for.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![cfg(any(unix, windows))]

use std::io::Write as _;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::effort::times;
use crate::common::workers::{Job, Worker, lines};
use crate::common::{memory_with, on_disk};
use memdir::{Durability, Memory, MemoryOptions};

const WORKER: &str = here!("worker");

/// The number of threads in each process of the test: as many as a directory has names for files that are being
/// written.
const THREADS: usize = 64;

/// Not a real test: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Some(job) = Job::of_this_process() else { return };
    match job.name.as_str() {
        "many-threads" => {
            let memory = memory_with(Path::new(&job.address), Durability::Relaxed);
            insert_at_once(&memory, &job.me, THREADS);
        }
        #[cfg(all(unix, feature = "sqlite"))]
        "few-descriptors" => few_descriptors::work(&job),
        other => panic!("no such job: {other}"),
    }
}

/// Each thread inserts its own line into the log, at the same moment. Prints the longest wait.
fn insert_at_once(memory: &Memory, me: &str, threads: usize) {
    let start = Barrier::new(threads);
    let insert = |number: usize| {
        start.wait();
        let begun = Instant::now();
        memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
        begun.elapsed()
    };
    let worst = thread::scope(|scope| {
        let insert = &insert;
        let all: Vec<_> = (0..threads).map(|it| scope.spawn(move || insert(it))).collect();
        all.into_iter().map(|it| it.join().unwrap()).max()
    });
    let worst = worst.unwrap_or(Duration::ZERO);
    // Bypasses the capture of a test's output.
    let _ = writeln!(std::io::stderr(), "{me}: {threads} threads; the last had waited {worst:?}");
}

#[test]
fn threads_that_edit_one_file_all_get_through() {
    for threads in [65, times(200)] {
        for durability in [Durability::Relaxed, Durability::Full] {
            let place = tempfile::tempdir().unwrap();
            let memory = memory_with(place.path(), durability);
            memory.create("/memories/log", "").unwrap();
            insert_at_once(&memory, "local", threads);
            assert_eq!(lines(&memory), threads);
            assert_eq!(on_disk(&place.path().join("memories")), ["log"]);
        }
    }
}

/// Regression test: 64 of them had all the names and waited for the lock, whose owner waited for a name, for ever.
#[test]
fn without_a_timeout_they_stop_nobody() {
    let place = tempfile::tempdir().unwrap();
    let mut options = MemoryOptions::default();
    options.durability = Durability::Relaxed;
    options.lock_timeout = None;
    let memory = Memory::open(place.path().to_str().unwrap(), options).unwrap();
    memory.create("/memories/log", "").unwrap();
    let other = memory_with(place.path(), Durability::Relaxed);
    thread::scope(|scope| {
        let inserted = scope.spawn(|| insert_at_once(&memory, "without a timeout", times(150)));
        let mut written = 0;
        while !inserted.is_finished() || written == 0 {
            other.create(&format!("/memories/other/{written}"), "x").unwrap();
            written += 1;
        }
    });
    assert_eq!(lines(&memory), times(150));
}

#[test]
fn threads_that_create_files_all_get_through() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory_with(place.path(), Durability::Relaxed);
    let start = Barrier::new(times(200));
    thread::scope(|scope| {
        for number in 0..times(200) {
            let (memory, start) = (&memory, &start);
            scope.spawn(move || {
                start.wait();
                memory.create(&format!("/memories/{number}"), "x").unwrap();
            });
        }
    });
    assert_eq!(on_disk(&place.path().join("memories")).len(), times(200));
}

#[test]
fn processes_of_many_threads_all_get_through() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory_with(place.path(), Durability::Relaxed);
    memory.create("/memories/log", "").unwrap();
    let aside = tempfile::tempdir().unwrap();
    let processes = times(4).min(20);
    let address = place.path().to_str().unwrap();
    let start =
        |me: usize| Worker::start(WORKER, address, aside.path(), "many-threads", &me.to_string());
    let mut workers: Vec<Worker> = (0..processes).map(start).collect();
    assert!(workers.iter_mut().all(Worker::succeeds));
    assert_eq!(lines(&memory), processes * THREADS);
    assert_eq!(on_disk(&place.path().join("memories")), ["log"]);
}

#[cfg(all(unix, feature = "sqlite"))]
mod few_descriptors {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    const DESCRIPTORS: u64 = 256;

    pub(super) fn work(job: &Job) {
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: Some(DESCRIPTORS), maximum }).unwrap();
        let mut options = MemoryOptions::default();
        options.durability = Durability::Relaxed;
        let memory = Memory::open(&job.address, options).unwrap();
        insert_at_once(&memory, &job.me, times(300));
        thread::scope(|scope| {
            for _ in 0..times(300) {
                scope.spawn(|| memory.view("/memories/log", None).unwrap());
            }
        });
    }

    #[test]
    fn many_threads_on_a_database_or_a_directory_need_few_descriptors() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().to_str().unwrap();
        for address in [format!("sqlite:{path}/a.db"), format!("{path}/directory")] {
            let memory = Memory::open(&address, MemoryOptions::default()).unwrap();
            memory.create("/memories/log", "").unwrap();
            let mut worker =
                Worker::start(WORKER, &address, place.path(), "few-descriptors", "one");
            assert!(worker.succeeds(), "{address}");
            assert_eq!(lines(&memory), times(300));
        }
    }
}
