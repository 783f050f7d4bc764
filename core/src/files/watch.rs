//! `watch`: reports changes by this and by other processes.
//!
//! A store cannot learn what other processes do, and the file notifications of operating systems differ and
//! have limits. So a watch polls the store and compares. It polls at once when this process makes a change. A
//! store with a [revision](Store::revision) is only listed when the revision has changed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use memdir_store::Error;
use memdir_store::path::{MAX_LEVELS, MemoryPath};

use crate::changes::{self, Change, ChangeKind, Subscription};
use crate::store::{Cancellation, Context, EntryKind, InContext, Location, Store};

/// The default polling intervals, for a store on this machine and for one on another machine.
const NEARBY: Duration = Duration::from_millis(500);
const ELSEWHERE: Duration = Duration::from_secs(1);

/// The pause after a poll is at least this multiple of the time that the poll took, so a large memory is not
/// polled all the time. After a change by this process, the pause is no longer than the polling interval.
const REST: u32 = 10;

/// The interval at which a waiting call checks for cancellation.
const CANCELLED: Duration = Duration::from_millis(50);

/// Reports the changes in a memory, by this and by other processes; see
/// [`Memory::watch`](crate::Memory::watch).
pub struct Watch {
    store: Arc<dyn Store>,
    path: MemoryPath,
    every: Duration,
    /// The cancellation of the memory.
    cancellation: Cancellation,
    known: HashMap<MemoryPath, Stamp>,
    /// The store's revision before `known` was listed, if it has one.
    revision: Option<String>,
    next: Instant,
    /// The earliest time at which a waiting call may poll again after a change by this process.
    rested: Instant,
    pub(super) woken: Arc<Woken>,
    _observed: Subscription,
}

/// Size and time, which identify a content of a file without reading it.
type Stamp = (u64, Option<SystemTime>);

/// Wakes a waiting call when this process has changed something since the last poll, or the watch is closed.
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

    /// Returns the changes since the last call, or since the watch began, sorted by path. If there are none, it
    /// waits for a change for up to `wait`. With [`Duration::ZERO`] it polls once and does not wait.
    ///
    /// A rename is reported as a deletion and a written file. A change to a directory is reported for each of
    /// its files. Changes undone between two polls are not reported. Neither is a new content with the same
    /// size and time.
    ///
    /// # Errors
    /// [`Error::Store`] if the store cannot be read, or with
    /// [`StoreError::Cancelled`](crate::StoreError::Cancelled) if the cancellation of the memory cancels the
    /// call. No change is lost: the next call reports it.
    pub fn changes(&mut self, wait: Duration) -> Result<Vec<Change>, Error> {
        let cancellation = self.cancellation.clone();
        self.changes_unless(&cancellation, wait)
    }

    /// Like [`changes`](Watch::changes), but only `cancellation` cancels the call.
    ///
    /// # Errors
    /// Same as [`changes`](Watch::changes). [`StoreError::Cancelled`](crate::StoreError::Cancelled) does not
    /// lose changes, either.
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

    /// Returns whether the next poll is due, because this process has changed something or the interval has
    /// passed.
    pub(super) fn is_due(&self) -> bool {
        self.woken.has_changed() || Instant::now() >= self.next
    }

    /// Returns the current files, or `None` if nothing was changed since the last poll.
    fn look(&mut self, context: &Context) -> Result<Option<HashMap<MemoryPath, Stamp>>, Error> {
        let began = Instant::now();
        // Set before the poll, so a caller that retries in a loop does not overload a broken store.
        self.next = began.checked_add(self.every).unwrap_or(began);
        // Read before the listing, so changes during the listing are found by the next poll.
        let revision = self.store.revision().map_err(Error::Store)?;
        if revision.is_some() && revision == self.revision {
            return Ok(None);
        }
        let found =
            match super::list(&InContext::new(&*self.store, context), &self.path, MAX_LEVELS) {
                Ok(entries) => entries,
                // The path does not exist, or no longer.
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

    /// Waits until the watch is closed, even if something has changed.
    fn wait_until_closed(&self, pause: Duration) {
        let state = self.lock();
        drop(self.waiting.wait_timeout_while(state, pause, |state| !state.closed));
    }

    fn lock(&self) -> MutexGuard<'_, WakeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
