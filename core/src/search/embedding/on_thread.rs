//! [`Calls`]: calls an embedder on a thread of its own, and gives up in time.
//!
//! A call that is given up cannot be stopped. Its result is used by a later search. Until it ends, or for a minute, no search waits for the
//! embedder again.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Late, Limits, Request, Without, called, cancelled, failed};
use crate::embedder::Embedder;

/// How often a waiting search checks for cancellation.
const LOOK: Duration = Duration::from_millis(20);

/// How long no search calls an embedder that is late. Then one tries again, because a lost connection may hold a call for ever.
const PAUSE: Duration = Duration::from_secs(60);

/// The most calls that are late at the same time: each has a thread.
const MOST_OVERDUE: usize = 8;

/// The calls of an embedder that no search waits for.
#[derive(Debug, Default)]
pub(in super::super) struct Calls(Mutex<Overdue>);

#[derive(Debug, Default)]
struct Overdue {
    calls: usize,
    /// When the last of them was given up.
    since: Option<Instant>,
    /// Their results, until a search takes them.
    results: Vec<Late>,
}

impl Overdue {
    fn must_wait(&self) -> bool {
        let is_new = self.since.is_some_and(|since| since.elapsed() < PAUSE);
        self.calls >= MOST_OVERDUE || self.calls > 0 && is_new
    }
}

impl Calls {
    fn overdue(&self) -> MutexGuard<'_, Overdue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the vectors of calls that have ended since they were given up.
    pub(super) fn take_late(&self) -> Vec<Late> {
        std::mem::take(&mut self.overdue().results)
    }

    /// Calls the embedder, and waits.
    pub(super) fn call(
        self: &Arc<Self>,
        embedder: &Arc<dyn Embedder>,
        request: Request,
        limits: &Limits<'_>,
    ) -> Result<Vec<Vec<f32>>, Without> {
        if self.overdue().must_wait() {
            return Err(Without::WordsOnly("an earlier call of the embedder has not ended".into()));
        }
        let began = Instant::now();
        let (sender, receiver) = mpsc::sync_channel(1);
        // Set by the search that gives up, or by the call that ends: the first of both.
        let is_over = Arc::new(Mutex::new(false));
        let (embedder, calls, ends) =
            (Arc::clone(embedder), Arc::clone(self), Arc::clone(&is_over));
        let run = move || {
            let result = called(&*embedder, &request);
            drop(embedder);
            let mut is_over = ends.lock().unwrap_or_else(PoisonError::into_inner);
            if !*is_over {
                *is_over = true;
                let _ = sender.send(result);
                return;
            }
            let mut overdue = calls.overdue();
            overdue.calls -= 1;
            if let Ok(vectors) = result
                && !request.is_query
            {
                overdue.results.push((request.digests, vectors));
            }
        };
        if let Err(error) = thread::Builder::new().name("memdir-embedder".into()).spawn(run) {
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
                    return Err(Without::WordsOnly(failed("its thread has ended")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let is_late = limits.left.is_some_and(|left| began.elapsed() >= left);
            let is_cancelled = limits.cancellation.check();
            if !is_late && is_cancelled.is_ok() {
                continue;
            }
            let mut is_over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_over {
                // The result has just been sent.
                continue;
            }
            *is_over = true;
            let mut overdue = self.overdue();
            overdue.calls += 1;
            // A caller that has gone says nothing about the embedder.
            if is_late {
                overdue.since = Some(Instant::now());
            }
            drop(overdue);
            is_cancelled.map_err(cancelled)?;
            let seconds = limits.timeout.unwrap_or_default().as_secs_f64();
            let reason = format!("the embedder took more than {seconds} seconds");
            return Err(Without::WordsOnly(reason));
        }
    }
}
