//! `watch`: what is changed, whoever does it.
//!
//! Nothing tells a store what other processes do, and each system has its own way to be told of files, with limits of its
//! own. So it looks again, and compares. A change that this process makes is looked for at once. A store that has a
//! [revision](Store::revision) is listed only when that has changed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use memdir_store::Error;
use memdir_store::path::{MAX_LEVELS, MemoryPath};

use crate::changes::{self, Change, ChangeKind, Subscription};
use crate::store::{Cancellation, Context, EntryKind, InContext, Location, Store};

/// How long it waits between two looks, at a store on this machine and at one elsewhere.
const NEARBY: Duration = Duration::from_millis(500);
const ELSEWHERE: Duration = Duration::from_secs(1);

/// It waits at least this many times as long as a look took: a large memory is not looked at all the time. For a change that this
/// process makes it does not wait longer than for any other.
const REST: u32 = 10;

/// How often a waiting call looks whether it is cancelled.
const CANCELLED: Duration = Duration::from_millis(50);

/// Tells what is changed in a memory, by whoever changes it; see [`Memory::watch`](crate::Memory::watch).
pub struct Watch {
    store: Arc<dyn Store>,
    path: MemoryPath,
    every: Duration,
    /// That of the memory.
    cancellation: Cancellation,
    known: HashMap<MemoryPath, Stamp>,
    /// The store's revision before `known` was listed, if it has one.
    revision: Option<String>,
    next: Instant,
    /// When a call that waits may look again for a change that this process has made.
    rested: Instant,
    pub(super) woken: Arc<Woken>,
    _observed: Subscription,
}

/// What tells one content of a file from another without reading it.
type Stamp = (u64, Option<SystemTime>);

/// Whether this process has changed something since the last look, or the watch is closed.
#[derive(Default)]
pub(super) struct Woken {
    state: Mutex<WakeState>,
    waiting: Condvar,
}

#[derive(Default)]
struct WakeState {
    changed: bool,
    closed: bool,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the store: its address may hold a password.
        f.debug_struct("Watch").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Watch {
    pub(crate) fn new(
        context: &Context,
        store: Arc<dyn Store>,
        path: MemoryPath,
        every: Option<Duration>,
    ) -> Result<Self, Error> {
        let is_nearby = store.info().locations.iter().all(Location::is_local);
        let every = every.unwrap_or(if is_nearby { NEARBY } else { ELSEWHERE });
        let woken = Arc::new(Woken::default());
        let wakes = Arc::clone(&woken);
        let observed = changes::observe(&store, move |_| wakes.wake());
        let next = Instant::now();
        let mut watch = Self {
            store,
            path,
            every,
            cancellation: context.cancellation().clone(),
            known: HashMap::new(),
            revision: None,
            next,
            rested: next,
            woken,
            _observed: observed,
        };
        watch.compare(context)?;
        Ok(watch)
    }

    /// What was changed since the last call, or since the watch began, in the order of the paths. If that is nothing, it
    /// waits for a change, at most for `wait`; with [`Duration::ZERO`] it looks once and does not wait.
    ///
    /// A rename is told as a deletion and a file that was written; a directory, as its files. What was changed and changed
    /// back between two looks is not told, and neither is a content of the same size and time.
    ///
    /// # Errors
    /// [`Error::Store`] if the store cannot be read. Nothing is lost by that: the next call tells it. So is
    /// [`StoreError::Cancelled`](crate::StoreError::Cancelled), if what cancels the calls of the memory cancels this one.
    pub fn changes(&mut self, wait: Duration) -> Result<Vec<Change>, Error> {
        let cancellation = self.cancellation.clone();
        self.changes_unless(&cancellation, wait)
    }

    /// As [`changes`](Watch::changes), for a call that only `cancellation` cancels.
    ///
    /// # Errors
    /// As [`changes`](Watch::changes), and [`StoreError::Cancelled`](crate::StoreError::Cancelled). Nothing is lost by that, either.
    pub fn changes_unless(
        &mut self,
        cancellation: &Cancellation,
        wait: Duration,
    ) -> Result<Vec<Change>, Error> {
        let context = &Context::new().cancelled_by(cancellation);
        let until = Instant::now().checked_add(wait);
        loop {
            context.check().map_err(Error::Store)?;
            if self.woken.is_closed() {
                return Ok(Vec::new());
            }
            let is_last = until.is_some_and(|until| Instant::now() >= until);
            let is_woken = self.woken.has_changed() && Instant::now() >= self.rested;
            if is_last || is_woken || Instant::now() >= self.next {
                self.woken.take();
                let changes = self.compare(context)?;
                if is_last || !changes.is_empty() {
                    return Ok(changes);
                }
            }
            let end = until.map_or(self.next, |until| until.min(self.next));
            let left = |end: Instant| end.saturating_duration_since(Instant::now()).min(CANCELLED);
            if self.woken.has_changed() {
                self.woken.wait_until_closed(left(end.min(self.rested)));
            } else {
                self.woken.wait(left(end));
            }
        }
    }

    /// Whether it is time to look again: this process has changed something, or the time for the next look has come.
    pub(super) fn is_due(&self) -> bool {
        self.woken.has_changed() || Instant::now() >= self.next
    }

    /// The files as they are now; `None` if nothing was changed since the last look.
    fn look(&mut self, context: &Context) -> Result<Option<HashMap<MemoryPath, Stamp>>, Error> {
        let began = Instant::now();
        // Also if it fails: who asks again and again shall not keep a broken store busy.
        self.next = began.checked_add(self.every).unwrap_or(began);
        // Before the listing, so that what is changed meanwhile is seen by the next look.
        let revision = self.store.revision().map_err(Error::Store)?;
        if revision.is_some() && revision == self.revision {
            return Ok(None);
        }
        let found =
            match super::list(&InContext::new(&*self.store, context), &self.path, MAX_LEVELS) {
                Ok(entries) => entries,
                // It is not there, or not any more.
                Err(Error::Refused(_)) => Vec::new(),
                Err(error) => return Err(error),
            };
        let rest = began.elapsed().saturating_mul(REST);
        let now = Instant::now();
        let after = |pause| now.checked_add(pause).unwrap_or(now);
        self.next = after(self.every.max(rest));
        self.rested = after(self.every.min(rest));
        let files = found.into_iter().filter_map(|entry| match entry.kind {
            EntryKind::File(size) => Some((entry.path, (size, entry.modified))),
            EntryKind::Directory => None,
        });
        let files = files.collect();
        self.revision = revision;
        Ok(Some(files))
    }

    fn compare(&mut self, context: &Context) -> Result<Vec<Change>, Error> {
        let Some(found) = self.look(context)? else { return Ok(Vec::new()) };
        let change = |kind, path: &MemoryPath| Change { kind, path: path.clone(), old_path: None };
        let gone = self.known.keys().filter(|path| !found.contains_key(*path));
        let gone = gone.map(|path| change(ChangeKind::Deleted, path));
        let written = found.iter().filter(|(path, stamp)| self.known.get(*path) != Some(stamp));
        let written = written.map(|(path, _)| change(ChangeKind::Written, path));
        let mut changes: Vec<_> = gone.chain(written).collect();
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        self.known = found;
        Ok(changes)
    }
}

impl Woken {
    fn wake(&self) {
        self.lock().changed = true;
        self.waiting.notify_all();
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.waiting.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn has_changed(&self) -> bool {
        self.lock().changed
    }

    fn take(&self) -> bool {
        std::mem::take(&mut self.lock().changed)
    }

    fn wait(&self, pause: Duration) {
        let state = self.lock();
        if !state.changed && !state.closed && !pause.is_zero() {
            drop(self.waiting.wait_timeout(state, pause));
        }
    }

    /// Waits although something has changed.
    fn wait_until_closed(&self, pause: Duration) {
        let state = self.lock();
        drop(self.waiting.wait_timeout_while(state, pause, |state| !state.closed));
    }

    fn lock(&self) -> MutexGuard<'_, WakeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
