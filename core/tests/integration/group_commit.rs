//! Edits of one file that wait for each other: they share writes, and each has its own reply and its own version.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use crate::common::effort::times;
use crate::common::store_helpers::at;
use crate::common::workers::{lines, text};
use memdir::history::HistoryQuery;
use memdir::store::{Context, Mutation, OnExisting};
use memdir::text::Splice;
use memdir::{Memory, MemoryOptions, Store};

const LOG: &str = "/memories/log";

/// Runs `each` on many threads at the same moment.
fn at_once(threads: usize, each: impl Fn(usize) + Sync) {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        for number in 0..threads {
            let (start, each) = (&start, &each);
            scope.spawn(move || {
                start.wait();
                each(number);
            });
        }
    });
}

fn edits_share_writes(store: Arc<dyn Store>) {
    let path = at(LOG);
    store.write(&path, b"", OnExisting::Error).unwrap();
    let (joined, mut edits) = (AtomicUsize::new(0), 0);
    // How many edits wait for each other depends on the machine, but some do.
    while joined.load(Ordering::Relaxed) == 0 && edits < 8 * 200 {
        at_once(8, |number| {
            let context = Context::new();
            let mut was_joined = false;
            let mut edit = |old: &[u8]| {
                thread::sleep(Duration::from_millis(2));
                was_joined = context.is_joined();
                let text = format!("{number}\n").into_bytes();
                Some(Splice { range: old.len()..old.len(), text })
            };
            store.mutate(&context, Mutation::Update { path: &path, edit: &mut edit }).unwrap();
            joined.fetch_add(usize::from(was_joined), Ordering::Relaxed);
        });
        edits += 8;
    }
    assert!(joined.into_inner() > 0, "no edit of {edits} was joined");
    assert_eq!(store.read(&path).unwrap().len(), 2 * edits);
}

/// Not in the store in memory, where a write costs nothing.
mod edits_share_writes {
    use super::edits_share_writes as check;

    on_every_store!(check in sqlite);
    #[cfg(any(unix, windows))]
    on_every_store!(check in local_directory, encrypted_directory, mounts);
    #[cfg(unix)]
    on_every_store!(check in postgres, s3, azure);
}

/// More edits than a group has. Each version adds the line of its actor to the version before it.
fn each_edit_has_its_own_version(store: Arc<dyn Store>) {
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::with_store(store, options);
    memory.create(LOG, "").unwrap();
    let threads = times(70);
    at_once(threads, |number| {
        let agent = memory.acting_as(&number.to_string());
        let reply = agent.insert(LOG, 0, &format!("line {number}")).unwrap();
        assert!(reply.contains("has been edited"), "{reply}");
    });
    assert_eq!(lines(&memory), threads);
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    assert_eq!(versions.len(), threads + 1);
    let (mut before, mut actors) = (String::new(), BTreeSet::new());
    for version in versions.iter().rev().skip(1) {
        let content = String::from_utf8(memory.read_version(version.id).unwrap()).unwrap();
        let actor = version.actor.clone().unwrap();
        assert_eq!(content, format!("line {actor}\n{before}"));
        actors.insert(actor);
        before = content;
    }
    assert_eq!(before, text(&memory, LOG));
    assert_eq!(actors.len(), threads);
}

on_every_store!(each_edit_has_its_own_version);

/// A limit, a guard and a refusal concern the edit that they are about, and no other.
fn a_refused_edit_refuses_no_other(store: Arc<dyn Store>) {
    let mut options = MemoryOptions::default();
    options.max_file_bytes = Some(400);
    let memory = Memory::with_store(store, options);
    memory.create(LOG, "start\n").unwrap();
    let (made, refused, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    at_once(30, |number| {
        let done = match number % 3 {
            0 => memory.str_replace(LOG, "not there", "x"),
            _ => memory.insert(LOG, 0, &format!("{number:<28}")),
        };
        let count = match done {
            Ok(_) => &made,
            Err(error) if number % 3 == 0 => {
                assert!(error.to_string().contains("did not appear"), "{error}");
                &wrong
            }
            Err(error) => {
                assert!(error.to_string().contains("400"), "{error}");
                &refused
            }
        };
        count.fetch_add(1, Ordering::Relaxed);
    });
    // 13 lines of 29 bytes fit besides the first one.
    let counts = [made, refused, wrong].map(AtomicUsize::into_inner);
    assert_eq!(counts, [13, 7, 10]);
    assert_eq!(lines(&memory), 14);
}

on_every_store!(a_refused_edit_refuses_no_other);
