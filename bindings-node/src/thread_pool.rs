//! The thread pool that executes commands ([`memdir_bindings_shared::thread_pool`]), and the way their results reach
//! JavaScript.
//!
//! It is not libuv's pool. That has only four threads for the whole process, and a store written in JavaScript that reads
//! files needs them to answer the commands that would be waiting on them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use memdir::StoreError;
pub(crate) use memdir_bindings_shared::thread_pool::Purpose;
use memdir_bindings_shared::thread_pool::{Job, ThreadPools};
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, Error, Result};

use crate::cancel::Caller;
use crate::errors::to_js;

/// The interval at which a thread that waits for JavaScript checks that JavaScript still runs.
const LOOK: Duration = Duration::from_secs(1);

/// An error if the work must not run: there is no thread for it, or the call was cancelled while it waited for one.
pub(crate) type Ready = std::result::Result<(), StoreError>;

/// The thread pools for one set of callers.
pub(crate) struct Workers(ThreadPools);

impl Workers {
    /// A set of its own, for callers that may wait for other callers.
    pub(crate) fn own() -> Arc<Self> {
        Arc::new(Self(ThreadPools::new(None)))
    }

    /// The shared set, for callers that only wait for the operating system.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: LazyLock<Arc<Workers>> = LazyLock::new(Workers::own);
        Arc::clone(&SHARED)
    }

    /// Runs `work` on one of the threads. Back on JavaScript's thread, `finish` converts the result, which settles the
    /// promise. If no thread can be started, the promise is rejected as for a broken store. If the call is cancelled before
    /// a thread takes it, the promise is rejected as for a cancelled call.
    pub(crate) fn promise<'env, T, D>(
        &self,
        env: &'env Env,
        purpose: Purpose,
        caller: Option<Arc<Caller>>,
        work: impl FnOnce() -> T + Send + 'static,
        finish: impl FnOnce(Env, T) -> Result<D> + Send + 'static,
    ) -> Result<Object<'env>>
    where
        T: Send + 'static,
        D: ToNapiValue + 'static,
    {
        let work = move |ready: Ready| ready.map(|()| work());
        self.answer(env, purpose, caller, work, |env, result| match result {
            Ok(result) => finish(env, result),
            Err(error) => Err(to_js(&env, &error)),
        })
    }

    /// As [`promise`](Self::promise), for work that has an answer even if it gets no thread. It is then called on
    /// JavaScript's thread, with the reason.
    pub(crate) fn answer<'env, T, D>(
        &self,
        env: &'env Env,
        purpose: Purpose,
        caller: Option<Arc<Caller>>,
        work: impl FnOnce(Ready) -> T + Send + 'static,
        finish: impl FnOnce(Env, T) -> Result<D> + Send + 'static,
    ) -> Result<Object<'env>>
    where
        T: Send + 'static,
        D: ToNapiValue + 'static,
    {
        let (deferred, promise) = env.create_deferred()?;
        let settle = move |result: std::thread::Result<T>| match result {
            Ok(result) => deferred.resolve(move |env| finish(env, result)),
            Err(_) => deferred.reject(Error::from_reason("memdir itself is at fault: it panicked")),
        };
        let of_work = caller.clone();
        let job: Job = Box::new(move |worker| {
            let (worker, ready) = match worker {
                Ok(worker) => (Some(worker), Ok(())),
                Err(error) => (None, Err(error)),
            };
            let work = || Caller::during(of_work, || work(ready));
            let result = catch_unwind(AssertUnwindSafe(work));
            if let Some(worker) = worker {
                worker.release();
            }
            settle(result);
        });
        let job = match caller {
            Some(caller) => unless_cancelled(caller, job),
            None => job,
        };
        if let Err(unsubmitted) = self.0.of(purpose).submit(job) {
            unsubmitted.refuse();
        }
        Ok(promise)
    }
}

/// Wraps the job: if the call is cancelled before a thread takes it, the job ends at once, on JavaScript's thread. This
/// must not need a thread, because all of them may be waiting for a store.
fn unless_cancelled(caller: Arc<Caller>, job: Job) -> Job {
    let job = Arc::new(Mutex::new(Some(job)));
    let untaken = Arc::clone(&job);
    let take = |job: &Mutex<Option<Job>>| job.lock().unwrap_or_else(PoisonError::into_inner).take();
    caller.tell(move || {
        if let Some(job) = take(&untaken) {
            job(Err(StoreError::Cancelled));
        }
    });
    Box::new(move |worker| {
        caller.forget();
        if let Some(job) = take(&job) {
            job(worker);
        }
    })
}

/// The result of a wait.
pub(crate) enum Received<T> {
    Message(T),
    /// The time limit passed.
    TimedOut,
    /// No answer will come: the other end was dropped, or the JavaScript environment ended.
    Gone,
}

/// As [`receive`], with an optional time limit.
pub(crate) fn receive_until<T>(
    receiver: &Receiver<T>,
    until: Option<Instant>,
    gone: impl Fn() -> bool,
) -> Received<T> {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        match receiver.recv_timeout(left.map_or(LOOK, |left| left.min(LOOK))) {
            Ok(message) => return Received::Message(message),
            Err(RecvTimeoutError::Disconnected) => return Received::Gone,
            Err(RecvTimeoutError::Timeout) if gone() => return Received::Gone,
            Err(RecvTimeoutError::Timeout) if left.is_some_and(|left| left <= LOOK) => {
                return Received::TimedOut;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Waits for JavaScript's answer. Returns `None` if the other end was dropped, or if the JavaScript environment ended, such
/// as a worker thread of Node that is terminated.
pub(crate) fn receive<T>(receiver: &Receiver<T>, gone: impl Fn() -> bool) -> Option<T> {
    match receive_until(receiver, None, gone) {
        Received::Message(message) => Some(message),
        Received::TimedOut | Received::Gone => None,
    }
}
