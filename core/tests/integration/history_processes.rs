//! Histories that several processes write at once, and processes that are killed: every acknowledged change has its
//! version, and every version its content.
#![cfg(any(unix, windows))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::thread;

#[cfg(all(unix, feature = "object-storage"))]
use crate::common::clouds;
use crate::common::effort::times;
#[cfg(all(unix, feature = "postgres"))]
use crate::common::postgres;
use crate::common::workers::{self, Job, Worker, numbers, text};
use memdir::history::{HistoryQuery, Operation, Version};
use memdir::{Durability, EncryptionKey, Memory, MemoryOptions};

/// The number of edits of each process, over all files.
const EDITS: usize = 250;
const FILES: usize = 4;
/// The number of threads in each process that edit.
const THREADS: usize = 2;

/// Prefix of the address of an encrypted memory.
const ENCRYPTED: &str = "encrypted:";

fn open(address: &str) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.durability = Durability::Relaxed;
    let plain = address.strip_prefix(ENCRYPTED).unwrap_or(address);
    if plain != address {
        options.encryption_key = Some(EncryptionKey::from_bytes([7; 32]));
    }
    Memory::open(plain, options).unwrap()
}

const WORKER: &str = here!("worker");

/// Not a real test: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Some(job) = Job::of_this_process() else { return };
    let memory = open(&job.address).acting_as(&job.me);
    if job.name != "edit" {
        return job.run(&memory);
    }
    let edits: usize = job.place.file_name().unwrap().to_str().unwrap().parse().unwrap();
    let edit = |thread: usize| {
        for number in (thread..edits).step_by(THREADS) {
            // The threads edit the same file at about the same time.
            let file = format!("/memories/{}", number / THREADS % FILES);
            memory.insert(&file, 0, &format!("{} {number}", job.me)).unwrap();
        }
    };
    thread::scope(|scope| {
        for number in 0..THREADS {
            let edit = &edit;
            scope.spawn(move || edit(number));
        }
    });
}

/// The versions of each file, oldest first.
fn chains(memory: &Memory) -> BTreeMap<String, Vec<Version>> {
    let mut chains: BTreeMap<String, Vec<Version>> = BTreeMap::new();
    for version in memory.history(&HistoryQuery::default()).unwrap().into_iter().rev() {
        chains.entry(version.path.to_string()).or_default().push(version);
    }
    chains
}

/// Reads every version, in order. Each adds one line to the one before, and the last one matches the file.
fn replay(memory: &Memory, path: &str, versions: &[Version]) {
    let mut before = String::new();
    for (number, version) in versions.iter().enumerate() {
        let content = String::from_utf8(memory.read_version(version.id).unwrap()).unwrap();
        assert_eq!(version.size, Some(content.len() as u64));
        if number == 0 {
            assert_eq!(version.operation, Operation::Created);
        } else {
            assert_eq!(version.operation, Operation::Modified);
            let (line, rest) = content.split_once('\n').unwrap();
            assert_eq!(rest, before, "version {number} of {path}");
            let (actor, _) = line.split_once(' ').unwrap();
            assert_eq!(version.actor.as_deref(), Some(actor));
        }
        before = content;
    }
    assert_eq!(before, text(memory, path));
    assert!(versions.last().unwrap().is_current);
}

/// Eight processes edit four files.
fn edit_files(address: &str, edits: usize) {
    // At most as many as on the fastest store: some stores take minutes for that.
    let edits = times(edits).min(EDITS);
    let place = tempfile::tempdir().unwrap();
    let place = place.path().join(edits.to_string());
    std::fs::create_dir(&place).unwrap();
    let memory = open(address);
    for file in 0..FILES {
        memory.create(&format!("/memories/{file}"), "start\n").unwrap();
    }
    let mut workers: Vec<Worker> =
        (0..8).map(|me| Worker::start(WORKER, address, &place, "edit", &me.to_string())).collect();
    assert!(workers.iter_mut().all(Worker::succeeds));
    let chains = chains(&memory);
    assert_eq!(chains.len(), FILES);
    assert_eq!(chains.values().map(|versions| versions.len() - 1).sum::<usize>(), 8 * edits);
    for (path, versions) in &chains {
        replay(&memory, path, versions);
    }
    checked(&memory);
}

fn checked(memory: &Memory) {
    let mut problems = Vec::new();
    memory
        .store()
        .inspect(&mut |problem| {
            let problem = problem.to_string();
            if problem.contains("history") {
                problems.push(problem);
            }
        })
        .unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

/// Kills two processes again and again. The versions of the log match its lines, and there is no version
/// without a change.
fn kill(address: &str, rounds: u64) {
    kill_on(address, rounds, true);
}

/// `moves_at_once`: a killed rename of a directory never leaves it at both paths.
fn kill_on(address: &str, rounds: u64, moves_at_once: bool) {
    let memory = open(address);
    workers::kill_at_any_moment(WORKER, address, &memory, rounds, |names| {
        // A request that a process sent before it was killed may take effect at any moment, also between two reads. So the
        // versions are compared with the content of the last one, and that with the log before and after.
        let before = text(&memory, "/memories/log");
        let chain = chains(&memory).remove("/memories/log").unwrap();
        let after = text(&memory, "/memories/log");
        let last = memory.read_version(chain.last().unwrap().id).unwrap();
        let log = String::from_utf8(last).unwrap();
        assert!(log.ends_with(&before) && after.ends_with(&log), "{before:?}, {log:?}, {after:?}");
        assert_eq!(chain.len(), log.lines().count(), "{names:?}");
        for me in names {
            let made = chain.iter().filter(|version| version.actor.as_ref() == Some(me)).count();
            assert_eq!(made as u64, numbers(&log, me));
        }
    });
    // After this, no request that was made for an earlier content takes effect.
    memory.acting_as("end").insert("/memories/log", 0, "end 0").unwrap();
    replay(&memory, "/memories/log", &chains(&memory)["/memories/log"]);
    checked(&memory);
    if !moves_at_once {
        return;
    }
    // The history determines the paths of the others.
    for (path, versions) in chains(&memory) {
        let last = versions.last().unwrap();
        assert_eq!(
            last.is_current,
            memory.exists(&path).unwrap() && last.operation != Operation::Deleted,
            "{last:?}"
        );
    }
}

fn local(name: &str) -> (tempfile::TempDir, String) {
    let place = tempfile::tempdir().unwrap();
    let address = match name {
        "sqlite" => format!("sqlite:{}", place.path().join("a.db").display()),
        "bare" => format!("dir:{}", place.path().join("bare").display()),
        "encrypted" => format!("{ENCRYPTED}{}", place.path().display()),
        _ => place.path().display().to_string(),
    };
    (place, address)
}

macro_rules! on_each {
    ($($name:ident: $edits:expr, $kills:expr;)*) => {
        mod eight_processes_edit_four_files_and_every_edit_is_a_version {
            $(#[test]
            fn $name() {
                let (_place, address) = super::local(stringify!($name));
                super::edit_files(&address, $edits);
            })*
        }

        mod a_kill_at_any_moment_loses_no_version_and_makes_none {
            $(#[test]
            fn $name() {
                let (_place, address) = super::local(stringify!($name));
                super::kill(&address, super::times($kills));
            })*
        }
    };
}

on_each! {
    directory: 40, 8;
    bare: 20, 5;
    sqlite: 40, 5;
    encrypted: 20, 5;
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn on_postgresql() {
    let Some(server) = postgres::server() else { return };
    edit_files(&server.fresh(), 30);
    kill(&server.fresh(), times(5));
}

#[cfg(all(unix, feature = "object-storage"))]
#[test]
fn on_object_storage() {
    for cloud in clouds::all() {
        edit_files(&cloud.fresh(), cloud.few(15, 8));
        kill_on(&cloud.fresh(), times(5), false);
    }
}
