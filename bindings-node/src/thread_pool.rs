//! The threads that commands are executed on ([`memdir_bindings_shared::thread_pool`]), and how their results reach JavaScript.
//!
//! They are not libuv's. Those are only four for the whole process, and a store written in JavaScript that
//! reads files needs them to answer the commands that would be waiting on them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use memdir::StoreError;
pub(crate) use memdir_bindings_shared::thread_pool::Purpose;
use memdir_bindings_shared::thread_pool::ThreadPools;
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, Error, Result};

use crate::errors::to_js;

/// How often a thread that waits for JavaScript checks whether JavaScript still runs.
const LOOK: Duration = Duration::from_secs(1);

/// Whether there is a thread.
pub(crate) type Ready = std::result::Result<(), StoreError>;

/// The threads that work for one set of callers.
pub(crate) struct Workers(ThreadPools);

impl Workers {
    /// A set of its own, for callers that may wait for others.
    pub(crate) fn own() -> Arc<Self> {
        Arc::new(Self(ThreadPools::new(None)))
    }

    /// The set that all callers share that wait for nothing but the operating system.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: LazyLock<Arc<Workers>> = LazyLock::new(Workers::own);
        Arc::clone(&SHARED)
    }

    /// Runs `work` on one of the threads. Back on JavaScript's thread, `finish` converts the result, which
    /// settles the promise. If no thread can be started, the promise is rejected as for a broken store.
    pub(crate) fn promise<'env, T, D>(
        &self,
        env: &'env Env,
        purpose: Purpose,
        work: impl FnOnce() -> T + Send + 'static,
        finish: impl FnOnce(Env, T) -> Result<D> + Send + 'static,
    ) -> Result<Object<'env>>
    where
        T: Send + 'static,
        D: ToNapiValue + 'static,
    {
        let work = move |ready: Ready| ready.map(|()| work());
        self.answer(env, purpose, work, |env, result| match result {
            Ok(result) => finish(env, result),
            Err(error) => Err(to_js(&env, &error)),
        })
    }

    /// As [`promise`](Self::promise), for work that has an answer even if no thread can be started. It is
    /// then called on JavaScript's thread, and learns why.
    pub(crate) fn answer<'env, T, D>(
        &self,
        env: &'env Env,
        purpose: Purpose,
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
        let submitted = self.0.of(purpose).submit(Box::new(move |worker| {
            let (worker, ready) = match worker {
                Ok(worker) => (Some(worker), Ok(())),
                Err(error) => (None, Err(error)),
            };
            let result = catch_unwind(AssertUnwindSafe(|| work(ready)));
            if let Some(worker) = worker {
                worker.release();
            }
            settle(result);
        }));
        if let Err(unsubmitted) = submitted {
            unsubmitted.refuse();
        }
        Ok(promise)
    }
}

/// Waits for JavaScript's answer; none comes if the other end was dropped, or if all of JavaScript
/// went away as a worker thread of Node's does when it is terminated.
pub(crate) fn receive<T>(receiver: &Receiver<T>, gone: impl Fn() -> bool) -> Option<T> {
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(message) => return Some(message),
            Err(RecvTimeoutError::Timeout) if !gone() => {}
            Err(_) => return None,
        }
    }
}
