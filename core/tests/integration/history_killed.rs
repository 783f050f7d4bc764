//! A history after processes were killed in the middle of an edit: each change has exactly one version, and nothing else
//! has one. Every sequence of such ends is tried; `history_processes.rs` kills real processes at random moments.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use memdir::history::{HistoryQuery, Operation};
use memdir::store::{Context, InProcess, Layer, Mutation};
use memdir::{Error, Memory, MemoryOptions, Store, StoreError};

/// The end of a process that edits the log.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    /// It makes its change and another one, whose record confirms the first.
    Confirmed,
    /// It makes its change. Nothing confirms it.
    Made,
    /// It is killed after it has written its record and before it makes the change.
    NotMade,
    /// It is killed after it finds that another process was faster, and before it withdraws its record.
    TooLate,
}

/// The store, as seen by a process with such an end.
struct Process {
    inner: Arc<dyn Store>,
    end: End,
    /// The action of another process before this one makes its change.
    other: Option<Box<dyn Fn() + Send + Sync>>,
    updates: AtomicUsize,
    is_killed: AtomicBool,
}

impl Process {
    fn still_there(&self) -> Result<(), StoreError> {
        let is_killed = self.is_killed.load(Ordering::Relaxed);
        if is_killed { Err(StoreError::failed("a call", "killed")) } else { Ok(()) }
    }
}

impl Layer for Process {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        self.still_there()?;
        let Mutation::Update { path, edit } = mutation else {
            return self.inner.mutate(context, mutation);
        };
        // The first update only reads. The store is locked meanwhile.
        let is_second = self.updates.fetch_add(1, Ordering::Relaxed) == 1;
        if let Some(other) = self.other.as_ref().filter(|_| is_second) {
            other();
            self.is_killed.store(true, Ordering::Relaxed);
        }
        let mut is_asked = false;
        let mut edit = |old: &[u8]| {
            let splice = edit(old);
            is_asked = splice.is_some();
            splice.filter(|_| self.end != End::NotMade)
        };
        self.inner.mutate(context, Mutation::Update { path, edit: &mut edit })?;
        // The process receives no answer.
        if is_asked && self.end != End::Confirmed {
            self.is_killed.store(true, Ordering::Relaxed);
        }
        self.still_there()?;
        Ok(true)
    }
}

const LOG: &str = "/memories/log";

fn remembering(store: Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(store, options)
}

/// Starts a process that edits the log and has this end.
fn edit(store: &Arc<dyn Store>, me: &str, end: End) {
    let other = (end == End::TooLate).then(|| {
        let (store, me) = (Arc::clone(store), format!("{me}-faster"));
        Box::new(move || edit(&store, &me, End::Made)) as Box<dyn Fn() + Send + Sync>
    });
    let (updates, is_killed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let inner = Arc::clone(store);
    let process = Process { inner, end, other, updates, is_killed };
    let memory = remembering(Arc::new(process)).acting_as(me);
    match (memory.insert(LOG, 0, me), end) {
        (Ok(_), End::Confirmed) => {
            memory.create(&format!("/memories/{me}"), "").unwrap();
        }
        (Err(Error::Store(StoreError::Failed { .. })), _) if end != End::Confirmed => {}
        (ended, _) => panic!("{end:?}: {ended:?}"),
    }
}

/// Checks that the versions of the log match its lines.
fn is_told(memory: &Memory, ends: &[End]) {
    let log = memory.read(LOG).unwrap();
    let mut query = HistoryQuery::default();
    query.path = Some(LOG.to_owned());
    let versions = memory.history(&query).unwrap();
    assert_eq!(versions.len(), log.lines().count(), "{ends:?}: {versions:#?}");
    let mut rest = &*log;
    for version in &versions {
        let content = memory.read_version(version.id).unwrap();
        assert_eq!(String::from_utf8(content).unwrap(), rest, "{ends:?}");
        let (line, older) = rest.split_once('\n').unwrap();
        if older.is_empty() {
            assert_eq!((line, version.operation), ("start", Operation::Created), "{ends:?}");
        } else {
            assert_eq!(version.operation, Operation::Modified, "{ends:?}");
            assert_eq!(version.actor.as_deref(), Some(line), "{ends:?}");
        }
        rest = older;
    }
}

fn after(store: &Arc<dyn Store>, ends: &[End]) {
    let memory = remembering(Arc::clone(store));
    memory.create(LOG, "start\n").unwrap();
    for (number, end) in ends.iter().enumerate() {
        edit(store, &format!("p{number}"), *end);
    }
    // A memory that has read the history before, and a new one.
    for memory in [memory, remembering(Arc::clone(store))] {
        is_told(&memory, ends);
    }
}

on_every_store!(a_change_that_a_kill_prevented_has_no_version);
fn a_change_that_a_kill_prevented_has_no_version(store: Arc<dyn Store>) {
    // If the first were shown, a version `external` would be shown too: two versions too many.
    let mut ends = vec![End::NotMade, End::Made, End::Made, End::NotMade];
    if store.notes().is_some() {
        // A record in the transaction of its change never exists alone.
        ends.retain(|end| *end != End::NotMade);
    }
    // A layer over mounts has its own history, and not that of each store, which the next process reads.
    if store.mounts().is_none() {
        after(&store, &ends);
    }
}

#[test]
fn after_every_order_of_kills_the_versions_are_the_changes() {
    const MOST: u32 = 4;
    let all = [End::Confirmed, End::Made, End::NotMade, End::TooLate];
    for length in 0..=MOST {
        for mut number in 0..all.len().pow(length) {
            let ends: Vec<End> = (0..length)
                .map(|_| {
                    let end = all[number % all.len()];
                    number /= all.len();
                    end
                })
                .collect();
            after(&(Arc::new(InProcess::new()) as Arc<dyn Store>), &ends);
        }
    }
}
