//! [`ThreadPool`]: the threads on which bindings execute the commands of an event loop.
//!
//! - **Few threads.** A thread starts when there is work and no idle thread, and ends after a while without work. The
//!   thread that submits work starts at most one thread. Working threads start the others, so a burst of calls does not
//!   block an event loop.
//! - **Two pools.** A change may have to wait for another writer, so views have their own threads.
//! - **Forks.** A forked child has none of its parent's threads, so it starts its own.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use memdir::StoreError;
use memdir_store::per_process::PerProcess;

/// The most threads of one pool. Further work is queued. There are many more threads than processors, because these
/// threads mostly wait: for a disk, for another writer's lock, for a store in the host's language.
pub const MOST: usize = 64;

/// How long a thread stays idle before it ends.
const IDLE: Duration = Duration::from_secs(10);

/// A piece of work. It reports its result itself, after [`Worker::release`]. It gets an error if there is no thread for
/// it.
pub type Job = Box<dyn FnOnce(Result<&Worker<'_>, StoreError>) + Send>;

/// Wraps a thread's whole life in the registration that the host's language requires.
pub type Around = fn(&mut (dyn FnMut() + Send));

/// The purpose of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A call that changes nothing.
    View,
    /// A call that may change something.
    Change,
}

/// The thread pools for one set of callers.
#[derive(Debug)]
pub struct ThreadPools {
    views: ThreadPool,
    changes: ThreadPool,
}

impl ThreadPools {
    /// Makes two pools without any threads.
    #[must_use]
    pub const fn new(around: Option<Around>) -> Self {
        Self { views: ThreadPool::new(MOST, around), changes: ThreadPool::new(MOST, around) }
    }

    /// The threads for this purpose.
    #[must_use]
    pub fn of(&self, purpose: Purpose) -> &ThreadPool {
        match purpose {
            Purpose::View => &self.views,
            Purpose::Change => &self.changes,
        }
    }
}

/// Threads for one purpose.
pub struct ThreadPool {
    most: usize,
    around: Option<Around>,
    threads: PerProcess<Ending>,
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("most", &self.most).finish_non_exhaustive()
    }
}

/// Work for which no thread could be started.
pub struct Unsubmitted {
    /// The work, which has not begun.
    pub job: Job,
    /// The reason.
    pub error: StoreError,
}

impl fmt::Debug for Unsubmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Unsubmitted").field(&self.error).finish()
    }
}

impl Unsubmitted {
    /// Passes the error to the work, on this thread.
    pub fn refuse(self) {
        (self.job)(Err(self.error));
    }
}

impl ThreadPool {
    /// A pool that never has more threads than `most`.
    #[must_use]
    pub const fn new(most: usize, around: Option<Around>) -> Self {
        Self { most, around, threads: PerProcess::new() }
    }

    /// Submits work to one of the threads, and does not wait.
    ///
    /// # Errors
    /// There is no thread, and the system cannot start one. The error returns the work.
    pub fn submit(&self, job: Job) -> Result<(), Unsubmitted> {
        let make = || -> Result<_, Infallible> {
            Ok(Ending(Arc::new(Threads::new(self.most, self.around))))
        };
        let Ok(Ending(threads)) = self.threads.get(make);
        threads.submit(job)
    }
}

/// The threads of a pool. They end when the pool is dropped and all submitted work is done.
struct Ending(Arc<Threads>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.queue().ending = true;
        self.0.wake.notify_all();
    }
}

struct Threads {
    most: usize,
    around: Option<Around>,
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    /// The number of idle threads.
    idle: usize,
    /// A thread was started, and does not run yet.
    starting: bool,
    ending: bool,
}

/// The thread that does a piece of work.
pub struct Worker<'t> {
    threads: &'t Threads,
    released: std::cell::Cell<bool>,
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("released", &self.released).finish_non_exhaustive()
    }
}

impl Worker<'_> {
    /// Marks the work as done; its result is about to be reported. From now on this thread counts as idle, so the next
    /// call of the same caller, which may follow immediately, needs no other thread.
    pub fn release(&self) {
        if !self.released.replace(true) {
            self.threads.queue().idle += 1;
        }
    }
}

impl Threads {
    fn new(most: usize, around: Option<Around>) -> Self {
        Self { most, around, queue: Mutex::default(), wake: Condvar::new() }
    }

    fn submit(self: &Arc<Self>, job: Job) -> Result<(), Unsubmitted> {
        let mut queue = self.queue();
        if queue.idle <= queue.jobs.len()
            && let Err(error) = self.start(&mut queue)
            // Otherwise the existing threads will do the work.
            && queue.threads == 0
        {
            let error = StoreError::failed("starting a thread", error).unchanged();
            return Err(Unsubmitted { job, error });
        }
        queue.jobs.push_back(job);
        drop(queue);
        self.wake.notify_one();
        Ok(())
    }

    /// Starts a thread, unless there are enough or one is already starting.
    fn start(self: &Arc<Self>, queue: &mut Queue) -> std::io::Result<()> {
        if queue.starting || queue.threads >= self.most {
            return Ok(());
        }
        let threads = Arc::clone(self);
        let serve = move || match threads.around {
            Some(around) => around(&mut || threads.serve()),
            None => threads.serve(),
        };
        thread::Builder::new().name("memdir-call".into()).spawn(serve)?;
        queue.starting = true;
        queue.threads += 1;
        Ok(())
    }

    fn serve(self: &Arc<Self>) {
        let mut queue = self.queue();
        queue.starting = false;
        loop {
            while let Some(job) = queue.jobs.pop_front() {
                if !queue.jobs.is_empty() && queue.idle == 0 {
                    // If no thread can be started, the existing ones do the work.
                    let _ = self.start(&mut queue);
                }
                drop(queue);
                let worker = Worker { threads: self, released: false.into() };
                // The work reports its own panics; the thread has other work to do.
                let _ = catch_unwind(AssertUnwindSafe(|| job(Ok(&worker))));
                queue = self.queue();
                queue.idle -= usize::from(worker.released.get());
            }
            if queue.ending {
                queue.threads -= 1;
                return;
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

    /// No code under this lock can panic.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_burst_is_done_by_no_more_threads_than_the_pool_has() {
        let pool = ThreadPool::new(3, None);
        let (told, heard) = mpsc::channel();
        let gate = Arc::new(Mutex::new(()));
        let closed = gate.lock().unwrap();
        for _ in 0..100 {
            let (told, gate) = (told.clone(), Arc::clone(&gate));
            let job = move |worker: Result<&Worker<'_>, StoreError>| {
                drop(gate.lock().unwrap());
                worker.unwrap().release();
                told.send(thread::current().id()).unwrap();
            };
            pool.submit(Box::new(job)).unwrap();
        }
        drop(closed);
        let threads: HashSet<_> = heard.iter().take(100).collect();
        assert!((1..=3).contains(&threads.len()), "{}", threads.len());
    }

    #[test]
    fn a_thread_outlives_work_that_panics_and_serves_the_next_call() {
        let pool = ThreadPool::new(1, None);
        pool.submit(Box::new(|_| std::panic::resume_unwind(Box::new("at fault")))).unwrap();
        let (told, heard) = mpsc::channel();
        for number in 0..3 {
            let told = told.clone();
            pool.submit(Box::new(move |worker| {
                worker.unwrap().release();
                told.send((number, thread::current().id())).unwrap();
            }))
            .unwrap();
        }
        let heard: Vec<_> = heard.iter().take(3).collect();
        assert_eq!(heard.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(heard.iter().all(|(_, thread)| *thread == heard[0].1));
    }

    #[test]
    fn threads_end_with_their_pool_after_what_was_submitted() {
        let pool = ThreadPool::new(2, None);
        let (told, heard) = mpsc::channel();
        for _ in 0..10 {
            let told = told.clone();
            pool.submit(Box::new(move |_| told.send(()).unwrap())).unwrap();
        }
        drop((pool, told));
        assert_eq!(heard.iter().count(), 10);
    }
}
