//! [`Calls`]: calls an embedder on a thread of its own, and gives up in time.
//!
//! A call that is given up cannot be stopped. Its result is used by a later search. Until it ends, or for a minute, no search waits for the
//! embedder again.
//!
//! An embedder that searches its own memory from another thread, or task, begins a call within a call, and so on. So only some calls run at
//! the same time, and a further one waits for a place. The first call is late then, and every search within it answers by words alone.

use std::collections::HashMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Embedded, Limits, Request, Without, called, cancelled, failed};
use crate::embedder::Embedder;

/// How often a waiting search checks for cancellation.
const LOOK: Duration = Duration::from_millis(20);

/// How long no search calls an embedder that is late. Then one tries again, because a lost connection may hold a call for ever. Without a
/// timeout, a call that has run for longer is late, too.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 60_000 });

/// The most calls that are late at the same time: each has a thread.
const MOST_OVERDUE: usize = 8;

/// The most calls that run at the same time. The bindings run searches on 64 threads, so one is left for a search by an embedder.
const MOST_RUNNING: usize = 60;

/// The calls of an embedder.
#[derive(Debug, Default)]
pub(in super::super) struct Calls {
    state: Mutex<State>,
    has_ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: HashMap<u64, Running>,
    /// The number of calls that have begun.
    begun: u64,
    /// When the last call began or ended.
    progress: Option<Instant>,
    /// Whether a search embeds passages.
    has_passages: bool,
    /// The results of calls that were given up, until a search takes them.
    results: Vec<Embedded>,
}

/// A call that has not ended.
#[derive(Debug)]
struct Running {
    began: Instant,
    /// Whether a search waits for it.
    is_awaited: bool,
    /// When it was given up because it was late. A caller that has gone says nothing about the embedder.
    late: Option<Instant>,
}

impl State {
    /// Whether no search calls the embedder, because it is late.
    fn must_wait(&self, timeout: Option<Duration>) -> bool {
        let (mut overdue, mut is_new) = (0, false);
        for call in self.running.values() {
            let allowed = timeout.unwrap_or(PAUSE);
            let is_long = call.began.elapsed() > allowed;
            let late = call.late.or_else(|| is_long.then(|| call.began + allowed));
            overdue += usize::from(late.is_some() || !call.is_awaited);
            is_new |= late.is_some_and(|late| late.elapsed() < PAUSE);
        }
        overdue >= MOST_OVERDUE || is_new
    }

    /// Begins a call, if there is a place.
    fn begin(&mut self) -> Option<u64> {
        if self.running.len() >= MOST_RUNNING {
            return None;
        }
        self.begun += 1;
        let began = Instant::now();
        self.progress = Some(began);
        let call = Running { began, is_awaited: true, late: None };
        self.running.insert(self.begun, call);
        Some(self.begun)
    }
}

/// The right to embed passages.
pub(super) struct Passages(Arc<Calls>);

impl Drop for Passages {
    fn drop(&mut self) {
        self.0.state().has_passages = false;
        self.0.has_ended.notify_all();
    }
}

impl Calls {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the vectors of calls that have ended since they were given up.
    pub(super) fn take_late(&self) -> Vec<Embedded> {
        std::mem::take(&mut self.state().results)
    }

    /// Waits until no other search embeds passages.
    pub(super) fn begin_passages(
        self: &Arc<Self>,
        limits: &Limits<'_>,
    ) -> Result<Passages, Without> {
        self.wait(limits, "another search still embeds passages", |state| {
            (!std::mem::replace(&mut state.has_passages, true)).then_some(())
        })?;
        Ok(Passages(Arc::clone(self)))
    }

    /// Waits for a place. `full` is the reason if there is none in time. Without a timeout, a search waits as long as calls begin and end: if none
    /// does, they may all wait for this search, which one of them has made.
    fn wait<T>(
        &self,
        limits: &Limits<'_>,
        full: &str,
        mut enter: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T, Without> {
        let began = Instant::now();
        loop {
            let mut state = self.state();
            if state.must_wait(limits.timeout) {
                let reason = "an earlier call of the embedder has not ended";
                return Err(Without::WordsOnly(reason.into()));
            }
            if let Some(entered) = enter(&mut state) {
                return Ok(entered);
            }
            let idle = state.progress.map_or(began, |at| at.max(began)).elapsed();
            if limits.left.map_or(idle >= PAUSE, |left| began.elapsed() >= left) {
                return Err(Without::WordsOnly(full.into()));
            }
            let ended = self.has_ended.wait_timeout(state, LOOK);
            drop(ended.unwrap_or_else(PoisonError::into_inner));
            // This may call a callback of the caller.
            limits.cancellation.check().map_err(cancelled)?;
        }
    }

    /// Ends a call. `None` if it has ended before.
    fn end(&self, state: &mut State, call: u64) -> Option<Running> {
        self.has_ended.notify_all();
        state.progress = Some(Instant::now());
        state.running.remove(&call)
    }

    /// Calls the embedder, and waits.
    pub(super) fn call(
        self: &Arc<Self>,
        embedder: &Arc<dyn Embedder>,
        request: Request,
        limits: &Limits<'_>,
    ) -> Result<Vec<Vec<f32>>, Without> {
        let began = Instant::now();
        let full = format!("{MOST_RUNNING} calls of the embedder have not ended");
        let call = self.wait(limits, &full, State::begin)?;
        let (sender, receiver) = mpsc::sync_channel(1);
        let (embedder, calls) = (Arc::clone(embedder), Arc::clone(self));
        let run = move || {
            let result = called(&*embedder, &request);
            drop(embedder);
            let mut state = calls.state();
            match (calls.end(&mut state, call), result) {
                (Some(Running { is_awaited: true, .. }), result) => {
                    let _ = sender.send(result);
                }
                (_, Ok(vectors)) if !request.is_query => {
                    state.results.push((request.digests, vectors));
                }
                _ => {}
            }
        };
        if let Err(error) = thread::Builder::new().name("memdir-embedder".into()).spawn(run) {
            self.end(&mut self.state(), call);
            return Err(Without::WordsOnly(format!("no thread could be started: {error}")));
        }
        loop {
            let wait =
                limits.left.map_or(LOOK, |left| left.saturating_sub(began.elapsed()).min(LOOK));
            match receiver.recv_timeout(wait) {
                Ok(result) => {
                    return result.map_err(|problem| Without::WordsOnly(failed(&problem)));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.end(&mut self.state(), call);
                    return Err(Without::WordsOnly(failed("its thread has ended")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let is_late = limits.left.is_some_and(|left| began.elapsed() >= left);
            let is_cancelled = limits.cancellation.check();
            if !is_late && is_cancelled.is_ok() {
                continue;
            }
            let mut state = self.state();
            // Otherwise the result has just been sent.
            let Some(running) = state.running.get_mut(&call) else { continue };
            running.is_awaited = false;
            running.late = is_late.then(Instant::now);
            drop(state);
            is_cancelled.map_err(cancelled)?;
            let seconds = limits.timeout.unwrap_or_default().as_secs_f64();
            let reason = format!("the embedder took more than {seconds} seconds");
            return Err(Without::WordsOnly(reason));
        }
    }
}
