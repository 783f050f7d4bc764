//! Calls that need the history while another call loads it from a store that does not answer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use memdir::store::{Context, Entry, InProcess, Layer, Mutation, StoreInfo};
use memdir::{Cancellation, Error, Memory, MemoryPath, Store, StoreError};

use crate::history::{of, remembering};

/// A store in which the thread `loader` waits when it lists the journal, and the thread `writer` at one step of a deletion.
struct Held {
    inner: InProcess,
    /// The value of [`StoreInfo::edits_apart`]: whether edits run without a lock of the store.
    edits_apart: bool,
    /// The step at which the writer waits.
    step: &'static str,
    loader: Gate,
    writer: Gate,
}

/// A point where a thread reports its arrival and waits until it may continue. It is open once the test has dropped its end.
struct Gate(Mutex<(Sender<()>, Receiver<()>)>);

/// The test's end of a gate.
struct Keeper {
    there: Receiver<()>,
    go_on: Sender<()>,
}

fn gate() -> (Gate, Keeper) {
    let (tell, there) = mpsc::channel();
    let (go_on, wait) = mpsc::channel();
    (Gate(Mutex::new((tell, wait))), Keeper { there, go_on })
}

impl Gate {
    fn pass(&self) {
        let gate = self.0.lock().unwrap();
        let _ = gate.0.send(());
        let _ = gate.1.recv();
    }
}

fn is_thread(name: &str) -> bool {
    thread::current().name() == Some(name)
}

impl Layer for Held {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn info(&self) -> StoreInfo {
        StoreInfo { edits_apart: self.edits_apart, ..self.inner.info() }
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let is_deletion = match &mutation {
            Mutation::Clear => true,
            Mutation::Delete { path } if path.as_str() == "/memories/d" => true,
            Mutation::Delete { path } | Mutation::DeleteIf { path, .. } => {
                path.as_str() == "/memories/a"
            }
            _ => false,
        };
        let done = self.inner.mutate(context, mutation);
        if is_deletion && self.step == "deleted" && is_thread("writer") {
            self.writer.pass();
        }
        done
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        if path.as_str() == "/memories/a" && self.step == "read" && is_thread("writer") {
            self.writer.pass();
        }
        self.inner.read_in(context, path)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        if path.names().next().is_some() && is_thread("loader") {
            self.loader.pass();
        }
        self.inner.list_in(context, path)
    }
}

/// The result of a deletion of a file that is at `step` when another call begins to load the history, and `then` runs.
fn deleted_behind_a_loader(
    step: &'static str,
    then: impl FnOnce(&Cancellation),
) -> (Memory, Result<String, Error>) {
    behind_a_loader(step, false, |memory| memory.delete("/memories/a"), then)
}

/// The result of a change that is at `step` when another call begins to load the history, and `then` runs. The other call
/// continues after the change has ended.
fn behind_a_loader<T: Send>(
    step: &'static str,
    edits_apart: bool,
    change: impl FnOnce(&Memory) -> Result<T, Error> + Send,
    then: impl FnOnce(&Cancellation),
) -> (Memory, Result<T, Error>) {
    let ((loader, loading), (writer, writing)) = (gate(), gate());
    let store = Arc::new(Held { inner: InProcess::new(), edits_apart, step, loader, writer });
    let memory = remembering(store);
    memory.create("/memories/a", "one").unwrap();
    memory.create("/memories/d/b", "two").unwrap();
    let cancellation = Cancellation::new();
    let cancelled = memory.cancelled_by(&cancellation);
    let ended = thread::scope(|scope| {
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        let writer = named("writer").spawn_scoped(scope, || change(&cancelled)).unwrap();
        writing.there.recv().unwrap();
        let loader = named("loader").spawn_scoped(scope, || of(&memory, "/memories/a")).unwrap();
        loading.there.recv().unwrap();
        then(&cancellation);
        writing.go_on.send(()).unwrap();
        let ended = writer.join().unwrap();
        drop(loading);
        loader.join().unwrap();
        ended
    });
    (memory, ended)
}

#[test]
fn a_call_that_is_cancelled_behind_one_that_loads_the_history_changes_nothing() {
    let (memory, ended) = deleted_behind_a_loader("read", Cancellation::cancel);
    assert!(matches!(ended, Err(Error::Store(StoreError::Cancelled))), "{ended:?}");
    assert!(memory.exists("/memories/a").unwrap());
    assert_eq!(of(&memory, "/memories/a").len(), 1);
}

#[test]
fn a_change_that_is_made_does_not_wait_for_a_call_that_loads_the_history() {
    let (memory, ended) = deleted_behind_a_loader("deleted", |_| {});
    ended.unwrap();
    let versions = of(&memory, "/memories/a");
    assert_eq!(versions.len(), 2, "{versions:?}");
    assert!(!memory.exists("/memories/a").unwrap());
    // A late confirmation is known when the next change is recorded.
    memory.create("/memories/a", "two").unwrap();
    assert_eq!(of(&memory, "/memories/a").len(), 3);
}

#[test]
fn a_cancelled_deletion_of_a_directory_does_not_wait_for_a_call_that_loads_the_history() {
    let delete = |memory: &Memory| memory.delete("/memories/d");
    let (memory, ended) = behind_a_loader("deleted", true, delete, Cancellation::cancel);
    ended.unwrap();
    assert!(!memory.exists("/memories/d").unwrap());
    assert_eq!(of(&memory, "/memories/d/b").len(), 2);
}

#[test]
fn an_erasure_does_not_wait_for_a_call_that_loads_the_history() {
    for then in [|_: &Cancellation| {}, Cancellation::cancel] {
        let (memory, ended) = behind_a_loader("deleted", false, |memory| memory.erase(false), then);
        assert_eq!(ended.unwrap().files, 2);
        // The other call has loaded records that are gone.
        assert_eq!(of(&memory, "/memories/a").len(), 0);
        memory.create("/memories/a", "one").unwrap();
        let [version] = &of(&memory, "/memories/a")[..] else { panic!("one version") };
        assert_eq!(memory.read_version(version.id).unwrap(), b"one");
    }
}
