//! [`Turns`]: lets the threads of a process take turns, in the order of their arrival.
//!
//! A lock between processes goes to the first process that tries while it is free. If a thousand threads tried, some would
//! never get it, and all of them would hold resources meanwhile: a descriptor, a name, a connection. So a thread first waits
//! here, where it holds nothing, and only the first few compete with other processes.
//!
//! A thread that already has a place does not queue again, because it would wait for itself: the callback of an edit may use
//! the store, and so may the callback that checks for cancellation.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::StoreError;
use crate::cancel::Cancellation;
use crate::process;

/// How often a waiting thread checks for cancellation.
const LOOK: Duration = Duration::from_millis(20);

/// The queues of a process, one for each key in use.
#[derive(Debug)]
pub struct Turns<K> {
    /// The number of threads that have a turn of the same key at the same time.
    at_once: usize,
    queues: Mutex<HashMap<K, Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    running: usize,
    waiting: VecDeque<Arc<Waiting>>,
    /// When a turn last ended with success.
    moved: Option<Instant>,
}

#[derive(Debug)]
struct Waiting {
    thread: Thread,
    has_turn: AtomicBool,
}

/// A thread's place: first in the queue, then its turn, until this is dropped.
#[derive(Debug)]
pub struct Turn<'t, K: Eq + Hash + Clone> {
    turns: &'t Turns<K>,
    /// `None` for a thread that already had a place.
    key: Option<K>,
    /// `None` once the thread has its turn.
    waiting: Option<Arc<Waiting>>,
    /// The process of the thread. A forked child has no place in the queue of its parent.
    process: u32,
    has_waited: bool,
    has_succeeded: bool,
    /// Prevents a move to another thread, because [`PLACES`] belongs to this one.
    of_this_thread: PhantomData<*const ()>,
}

thread_local! {
    /// The queues (by address) in which this thread has a turn or waits for one.
    static PLACES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

impl<K: Eq + Hash + Clone> Turns<K> {
    /// Queues that each let `at_once` threads run at the same time.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        Self { at_once, queues: Mutex::default() }
    }

    /// Waits for a turn. Gives up if no turn has succeeded within `timeout`; without a timeout, never gives up.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Cancelled`].
    pub fn take(
        &self,
        key: K,
        timeout: Option<Duration>,
        cancellation: &Cancellation,
    ) -> Result<Turn<'_, K>, StoreError> {
        let address = std::ptr::from_ref(self).addr();
        let is_nested = self.has_place();
        let waiting = if is_nested { None } else { self.enter(&key) };
        let mut turn = Turn {
            turns: self,
            key: (!is_nested).then_some(key),
            has_waited: waiting.is_some(),
            waiting,
            process: process::id(),
            has_succeeded: false,
            of_this_thread: PhantomData,
        };
        if !is_nested {
            PLACES.with_borrow_mut(|places| places.push(address));
        }
        turn.wait(timeout, cancellation)?;
        turn.waiting = None;
        Ok(turn)
    }

    /// Whether this thread has a turn or waits for one, so it would not queue again.
    pub fn has_place(&self) -> bool {
        let address = std::ptr::from_ref(self).addr();
        PLACES.with_borrow(|places| places.contains(&address))
    }

    /// Whether a thread has a turn of this key.
    pub fn is_busy(&self, key: &K) -> bool {
        self.queues().contains_key(key)
    }

    /// Joins the queue. Returns `None` if the thread has its turn immediately.
    fn enter(&self, key: &K) -> Option<Arc<Waiting>> {
        let mut queues = self.queues();
        let queue = queues.entry(key.clone()).or_default();
        if queue.running < self.at_once && queue.waiting.is_empty() {
            queue.running += 1;
            return None;
        }
        let waiting =
            Arc::new(Waiting { thread: thread::current(), has_turn: AtomicBool::new(false) });
        queue.waiting.push_back(Arc::clone(&waiting));
        Some(waiting)
    }

    fn last_moved(&self, key: &K, since: Instant) -> Instant {
        let moved = self.queues().get(key).and_then(|queue| queue.moved);
        moved.map_or(since, |moved| moved.max(since))
    }

    /// Ends a turn and gives it to the next thread.
    fn end(&self, key: &K, has_succeeded: bool) {
        let mut queues = self.queues();
        let Some(queue) = queues.get_mut(key) else { return };
        if has_succeeded {
            queue.moved = Some(Instant::now());
        }
        match queue.waiting.pop_front() {
            Some(next) => {
                next.has_turn.store(true, Ordering::Release);
                next.thread.unpark();
            }
            None => {
                queue.running -= 1;
                if queue.running == 0 {
                    queues.remove(key);
                }
            }
        }
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<K, Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Clone> Turn<'_, K> {
    fn wait(
        &self,
        timeout: Option<Duration>,
        cancellation: &Cancellation,
    ) -> Result<(), StoreError> {
        let (Some(waiting), Some(key)) = (&self.waiting, &self.key) else { return Ok(()) };
        let since = Instant::now();
        while !waiting.has_turn.load(Ordering::Acquire) {
            // This may call a callback of the caller, which may fork.
            cancellation.check()?;
            let is_over = |timeout| self.turns.last_moved(key, since).elapsed() >= timeout;
            if self.process != process::id() || timeout.is_some_and(is_over) {
                return Err(StoreError::Busy);
            }
            thread::park_timeout(timeout.map_or(LOOK, |timeout| timeout.min(LOOK)));
        }
        Ok(())
    }

    /// Whether the thread had to wait for others.
    pub fn has_waited(&self) -> bool {
        self.has_waited
    }

    /// Records that the work of this turn succeeded, so waiting threads do not time out.
    pub fn succeeded(&mut self) {
        self.has_succeeded = true;
    }
}

impl<K: Eq + Hash + Clone> Drop for Turn<'_, K> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        let address = std::ptr::from_ref(self.turns).addr();
        PLACES.with_borrow_mut(|places| places.retain(|place| *place != address));
        if self.process != process::id() {
            return;
        }
        let mut queues = self.turns.queues();
        match &self.waiting {
            // The thread gives up before it got its turn.
            Some(waiting) if !waiting.has_turn.load(Ordering::Acquire) => {
                if let Some(queue) = queues.get_mut(&key) {
                    queue.waiting.retain(|other| !Arc::ptr_eq(other, waiting));
                }
            }
            _ => {
                drop(queues);
                self.turns.end(&key, self.has_succeeded);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const NEVER: &Cancellation = &Cancellation::never();

    #[test]
    fn turns_come_in_the_order_of_arrival() {
        let turns: &Turns<&str> = Box::leak(Box::new(Turns::new(1)));
        let (sender, receiver) = mpsc::channel();
        let first = turns.take("file", None, NEVER).unwrap();
        // No thread waits for another key.
        let other = thread::spawn(move || {
            let other = turns.take("other", Some(Duration::ZERO), NEVER).unwrap();
            assert!(!other.has_waited() && turns.is_busy(&"other"));
        });
        other.join().unwrap();
        assert!(!turns.is_busy(&"other"));
        for number in 0..100 {
            let sender = sender.clone();
            thread::spawn(move || {
                let turn = turns.take("file", None, NEVER).unwrap();
                assert!(turn.has_waited());
                sender.send(number).unwrap();
            });
            while turns.queues().get("file").unwrap().waiting.len() <= number {
                thread::yield_now();
            }
        }
        drop(first);
        assert!((0..100).all(|number| receiver.recv() == Ok(number)));
        while !turns.queues().is_empty() {
            thread::yield_now();
        }
    }

    #[test]
    fn a_thread_with_a_place_waits_for_no_second_one_and_a_panic_leaves_none() {
        let turns: &Turns<()> = Box::leak(Box::new(Turns::new(1)));
        let held = turns.take((), None, NEVER).unwrap();
        drop(turns.take((), Some(Duration::ZERO), NEVER).unwrap());
        assert!(turns.is_busy(&()));
        let panicking = thread::spawn(move || {
            let asking = Cancellation::asking(|| {
                // A nested call must not wait for itself.
                drop(turns.take((), Some(Duration::ZERO), NEVER).unwrap());
                panic!("while it waits")
            });
            turns.take((), None, &asking).map(drop)
        });
        assert!(panicking.join().is_err());
        assert!(turns.queues().get(&()).unwrap().waiting.is_empty());
        drop(held);
        assert!(!turns.is_busy(&()));
    }

    #[test]
    fn who_waits_gives_up_when_nobody_gets_on_and_not_before() {
        let turns: &Turns<()> = Box::leak(Box::new(Turns::new(2)));
        let timeout = Duration::from_millis(300);
        let (taken, is_taken) = mpsc::channel();
        let hold = |others_succeed: bool, is_over: &Arc<AtomicBool>| {
            let (taken, is_over) = (taken.clone(), Arc::clone(is_over));
            thread::spawn(move || {
                let _turn = turns.take((), None, NEVER).unwrap();
                if others_succeed {
                    let moved = Instant::now() + 1_000 * timeout;
                    turns.queues().get_mut(&()).unwrap().moved = Some(moved);
                }
                taken.send(()).unwrap();
                while !is_over.load(Ordering::SeqCst) {
                    thread::sleep(timeout / 10);
                }
            })
        };
        for others_succeed in [false, true] {
            let is_over = Arc::new(AtomicBool::new(false));
            let holders = [(); 2].map(|()| hold(others_succeed, &is_over));
            holders.iter().for_each(|_| is_taken.recv().unwrap());
            let waiting = thread::spawn(move || turns.take((), Some(timeout), NEVER).map(drop));
            if others_succeed {
                thread::sleep(2 * timeout);
                is_over.store(true, Ordering::SeqCst);
            }
            let waited = waiting.join().unwrap();
            assert_eq!(matches!(waited, Err(StoreError::Busy)), !others_succeed, "{waited:?}");
            is_over.store(true, Ordering::SeqCst);
            holders.into_iter().for_each(|holder| holder.join().unwrap());
            assert!(!turns.is_busy(&()));
        }
    }
}
