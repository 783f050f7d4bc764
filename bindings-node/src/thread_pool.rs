//! The threads that commands are executed on.
//!
//! A change may have to wait for another writer, so views have their own threads.
//!
//! They are not libuv's. Those are only four for the whole process, and a store written in JavaScript that
//! reads files needs them to answer the commands that would be waiting on them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use memdir::StoreError;
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, Error, Result};

use crate::errors::to_js;

/// The most threads for one purpose of one set of callers; further work waits its turn. There are far more
/// than processors, because these threads mostly wait: for a disk, for another writer's lock, for a store
/// written in JavaScript.
const MOST: usize = 64;

/// How long a thread stays idle before it ends.
const IDLE: Duration = Duration::from_secs(10);

/// How often a thread that waits for JavaScript checks whether JavaScript still runs.
const LOOK: Duration = Duration::from_secs(1);

/// A piece of work. It returns a function that reports its result to JavaScript. It learns if it cannot be
/// done because the system cannot start a thread.
type Job = Box<dyn FnOnce(Ready) -> Settle + Send>;
type Settle = Box<dyn FnOnce()>;
/// Whether there is a thread.
pub(crate) type Ready = std::result::Result<(), StoreError>;

/// What a thread is wanted for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Nothing is changed.
    View,
    /// Something may be.
    Change,
}

/// The threads that work for one set of callers.
pub(crate) struct Workers {
    views: Arc<Threads>,
    changes: Arc<Threads>,
}

/// Threads for one purpose, started as they are needed.
#[derive(Default)]
struct Threads {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    /// How many of the threads have nothing to do.
    idle: usize,
}

impl Workers {
    /// A set of its own, for callers that may wait for others.
    pub(crate) fn own() -> Arc<Self> {
        Arc::new(Self { views: Arc::default(), changes: Arc::default() })
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
        let threads = match purpose {
            Purpose::View => &self.views,
            Purpose::Change => &self.changes,
        };
        threads.submit(Box::new(move |ready| {
            let result = catch_unwind(AssertUnwindSafe(|| work(ready)));
            Box::new(move || match result {
                Ok(result) => deferred.resolve(move |env| finish(env, result)),
                Err(_) => {
                    deferred.reject(Error::from_reason("memdir itself is at fault: it panicked"));
                }
            })
        }));
        Ok(promise)
    }
}

impl Threads {
    fn submit(self: &Arc<Self>, job: Job) {
        let mut queue = self.queue();
        if queue.idle <= queue.jobs.len() && queue.threads < MOST {
            let threads = Arc::clone(self);
            let started =
                thread::Builder::new().name("memdir".into()).spawn(move || threads.serve());
            match started {
                Ok(_) => queue.threads += 1,
                // The existing threads will do it.
                Err(_) if queue.threads > 0 => {}
                Err(error) => {
                    drop(queue);
                    job(Err(StoreError::failed("starting a thread", error).unchanged()))();
                    return;
                }
            }
        }
        queue.jobs.push_back(job);
        drop(queue);
        self.wake.notify_one();
    }

    fn serve(&self) {
        let mut queue = self.queue();
        loop {
            while let Some(job) = queue.jobs.pop_front() {
                drop(queue);
                let settle = job(Ok(()));
                // As good as idle: JavaScript's next call, which may come before `settle` returns,
                // needs no other thread.
                self.queue().idle += 1;
                settle();
                queue = self.queue();
                queue.idle -= 1;
            }
            queue.idle += 1;
            let waited = self.wake.wait_timeout(queue, IDLE);
            let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            queue.idle -= 1;
            if timeout.timed_out() && queue.jobs.is_empty() {
                queue.threads -= 1;
                return;
            }
        }
    }

    /// Nothing that could panic is done under the lock.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
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
