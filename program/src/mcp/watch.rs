//! Notifies clients of changes, including those by other programs.
//!
//! [`ResourceWatch`] follows the memory for all clients of a server. One thread polls while at least one client listens.
//! [`Subscribed`] has the subscriptions of one client.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;

use super::resources;
use memdir::path::{Folding, MemoryPath, is_hidden};
use memdir::store::Location;
use memdir::{Cancellation, Memory, SharedWatch, Subscription};

/// The polling interval for changes by other programs: the first one for cheap polls, and the second one for object storage, where
/// each poll is a paid listing.
const CHEAP: Duration = Duration::from_secs(1);
const DEAR: Duration = Duration::from_secs(10);

/// The pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// The maximum time that a client waits for the first poll.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// The maximum number of pending notices for a slow client. Further ones are merged into one.
const KEPT: usize = 64;

/// The maximum number of resources that one client may subscribe to.
const MAX_SUBSCRIBED: usize = 1_000;

/// A notice for all clients.
#[derive(Debug, Clone)]
enum ChangeNotice {
    /// These files were changed.
    Paths(Arc<BTreeSet<MemoryPath>>),
    /// Any file may have been changed.
    Anything,
}

/// Follows a memory.
pub(super) struct ResourceWatch {
    memory: Memory,
    running: Mutex<Running>,
}

/// The polling thread. The previous thread may still be ending when the next one starts.
#[derive(Default)]
struct Running {
    looking: Option<Arc<Looking>>,
    listeners: usize,
    threads: Vec<JoinHandle<()>>,
}

impl ResourceWatch {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, running: Mutex::default() }
    }

    /// Listens for changes from now on.
    pub(super) fn listen(self: &Arc<Self>) -> Listener {
        let mut running = self.running();
        running.listeners += 1;
        let looking = match &running.looking {
            Some(looking) => Arc::clone(looking),
            None => {
                let looking = Arc::new(Looking::new());
                // Start observing here: the first poll may include changes that this process makes before that poll ends.
                let of = Arc::clone(&looking);
                let observed = self.memory.observe(move |_| of.state().has_missed = true);
                let (of, memory) = (Arc::clone(&looking), self.memory.clone());
                running.threads.retain(|thread| !thread.is_finished());
                running.threads.push(thread::spawn(move || of.look(&memory, observed)));
                running.looking = Some(Arc::clone(&looking));
                looking
            }
        };
        Listener { of: Arc::clone(self), first: None, told: looking.told.subscribe(), looking }
    }

    /// Waits for the threads to end. Call it when there are no listeners left.
    pub(super) fn join(&self) {
        let threads = std::mem::take(&mut self.running().threads);
        for thread in threads {
            // The thread is not expected to panic. If it did, there is nothing to wait for.
            let _ = thread.join();
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes one listener. The last one stops the thread.
    fn leave(&self) {
        let mut running = self.running();
        running.listeners -= 1;
        if running.listeners == 0
            && let Some(looking) = running.looking.take()
        {
            looking.end();
        }
    }
}

/// The state that a polling thread shares with its listeners.
struct Looking {
    told: broadcast::Sender<ChangeNotice>,
    /// Whether the first poll is done, so every later change is seen.
    has_begun: watch::Sender<bool>,
    state: Mutex<ResourceWatchState>,
    woken: Condvar,
}

#[derive(Default)]
struct ResourceWatchState {
    is_over: bool,
    /// Whether a listener may have missed a change because the first poll was not done.
    has_missed: bool,
    /// The watch, once it has started. Another thread can close it.
    watch: Option<Arc<SharedWatch>>,
}

impl Looking {
    fn new() -> Self {
        let (told, has_begun) = (broadcast::Sender::new(KEPT), watch::Sender::new(false));
        Self { told, has_begun, state: Mutex::default(), woken: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, ResourceWatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        let mut state = self.state();
        state.is_over = true;
        self.woken.notify_all();
        if let Some(watch) = state.watch.take() {
            watch.close();
        }
    }

    /// Sends notices of changes until it is stopped.
    fn look(self: Arc<Self>, memory: &Memory, observed: Subscription) {
        let Some(watch) = self.begin(memory) else { return };
        self.has_begun.send_replace(true);
        drop(observed);
        if self.state().has_missed {
            self.tell(ChangeNotice::Anything);
        }
        loop {
            match watch.changes(&Cancellation::never(), Duration::MAX) {
                Ok(None) => return,
                Ok(Some(changes)) => {
                    let paths = changes.into_iter().map(|change| change.path);
                    self.tell(ChangeNotice::Paths(Arc::new(paths.collect())));
                }
                // The store is unavailable. The next poll includes the changes until then.
                Err(_) if self.pause() => {}
                Err(_) => return,
            }
        }
    }

    /// The watch, as soon as the store can be read; `None` if it is stopped before.
    fn begin(&self, memory: &Memory) -> Option<Arc<SharedWatch>> {
        loop {
            if let Ok(watch) = watch_of(memory) {
                let watch = Arc::new(SharedWatch::from(watch));
                let mut state = self.state();
                state.watch = Some(Arc::clone(&watch));
                return (!state.is_over).then_some(watch);
            }
            if !self.pause() {
                return None;
            }
        }
    }

    /// Waits for a while. Returns whether to continue.
    fn pause(&self) -> bool {
        let waited = self.woken.wait_timeout_while(self.state(), PAUSE, |state| !state.is_over);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }

    fn tell(&self, told: ChangeNotice) {
        // The last client may have left just now.
        let _ = self.told.send(told);
    }
}

fn watch_of(memory: &Memory) -> Result<memdir::Watch, memdir::Error> {
    let store = memory.store();
    let is_cheap = store.revision().map_err(memdir::Error::Store)?.is_some()
        || store.info().locations.iter().all(Location::is_local);
    memory.watch("/memories", Some(if is_cheap { CHEAP } else { DEAR }))
}

/// Receives notices until it is dropped.
pub(super) struct Listener {
    of: Arc<ResourceWatch>,
    /// A notice to send before all others.
    first: Option<ChangeNotice>,
    told: broadcast::Receiver<ChangeNotice>,
    looking: Arc<Looking>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.of.leave();
    }
}

impl Listener {
    /// Allows to wait until every change is seen.
    pub(super) fn beginning(&self) -> Beginning {
        Beginning(Arc::clone(&self.looking))
    }

    /// Sends a notice first that any file may have been changed, for a client whose request came before the listener started.
    pub(super) fn telling_first(mut self) -> Self {
        self.first = Some(ChangeNotice::Anything);
        self
    }

    /// Calls `updated` and `list_changed` for each notice, until one of them fails.
    pub(super) async fn tell<A, B>(
        mut self,
        subscribed: Arc<Subscribed>,
        list_changed: impl Fn() -> A,
        updated: impl Fn(String) -> B,
    ) where
        A: Future<Output = bool>,
        B: Future<Output = bool>,
    {
        loop {
            let told = match self.first.take() {
                Some(told) => told,
                None => match self.told.recv().await {
                    Ok(told) => told,
                    Err(RecvError::Lagged(_)) => ChangeNotice::Anything,
                    Err(RecvError::Closed) => return,
                },
            };
            for uri in subscribed.among(&told) {
                if !updated(uri).await {
                    return;
                }
            }
            if !list_changed().await {
                return;
            }
        }
    }
}

/// Waits for the first poll of a thread.
#[derive(Clone)]
pub(super) struct Beginning(Arc<Looking>);

impl Beginning {
    /// Waits until every later change is reported, so the client misses no change of the data that it gets afterwards. If the store takes
    /// too long, the client will be told to look again later.
    pub(super) async fn wait(&self) {
        let mut has_begun = self.0.has_begun.subscribe();
        // The thread shares the sender, so the channel cannot be closed.
        if timeout(FIRST_LOOK, has_begun.wait_for(|begun| *begun)).await.is_err() {
            self.0.state().has_missed = true;
            // If it started just now, later changes are reported anyway.
        }
    }
}

/// The resources that a client has subscribed to.
pub(super) struct Subscribed {
    /// How the store compares paths.
    folding: Folding,
    /// The URIs with their paths. Several URIs may name the same path.
    uris: Mutex<BTreeMap<String, MemoryPath>>,
}

impl Subscribed {
    pub(super) fn new(memory: &Memory) -> Self {
        Self { folding: Folding::new(memory.store().info().folds_case), uris: Mutex::default() }
    }

    /// Adds a resource. Returns whether it was added. Hidden files are not followed.
    pub(super) fn add(&self, uri: &str) -> bool {
        let path = resources::path(uri).filter(|path| !path.names().any(is_hidden));
        let Some(path) = path else { return false };
        let mut all = self.all();
        if all.len() >= MAX_SUBSCRIBED && !all.contains_key(uri) {
            return false;
        }
        all.insert(uri.to_owned(), path);
        true
    }

    pub(super) fn remove(&self, uri: &str) {
        self.all().remove(uri);
    }

    /// The subscribed URIs that may have changed.
    fn among(&self, told: &ChangeNotice) -> Vec<String> {
        let all = self.all();
        let changed = all.iter().filter(|(_, path)| match told {
            ChangeNotice::Paths(paths) => {
                paths.contains(path) || self.is_spelled_among(path, paths)
            }
            ChangeNotice::Anything => true,
        });
        changed.map(|(uri, _)| uri.clone()).collect()
    }

    /// Whether the store treats one of the paths as this path.
    fn is_spelled_among(&self, path: &MemoryPath, paths: &BTreeSet<MemoryPath>) -> bool {
        self.folding != Folding::default()
            && paths.iter().any(|changed| self.folding.are_same(changed, path))
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, MemoryPath>> {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::runtime::Runtime;

    use super::*;
    use memdir::MemoryOptions;
    use memdir::store::{InProcess, Layer, Store, StoreError};

    /// Far longer than anything takes here.
    const LONG: Duration = Duration::from_secs(60);

    /// A store whose files cannot be listed until the test allows it.
    struct Closed {
        store: InProcess,
        is_open: Arc<(Mutex<bool>, Condvar)>,
    }

    impl Layer for Closed {
        fn inner(&self) -> &dyn Store {
            &self.store
        }

        fn revision(&self) -> Result<Option<String>, StoreError> {
            let (is_open, opened) = &*self.is_open;
            let waiting = opened.wait_while(is_open.lock().unwrap(), |is_open| !*is_open);
            drop(waiting.unwrap());
            self.store.revision()
        }
    }

    /// A memory over such a store, a function that allows the listing, and the watch of the memory.
    fn closed() -> (Memory, impl Fn(), Arc<ResourceWatch>) {
        let is_open = Arc::<(Mutex<bool>, Condvar)>::default();
        let store = Closed { store: InProcess::new(), is_open: Arc::clone(&is_open) };
        let memory = Memory::with_store(Arc::new(store), MemoryOptions::default());
        let watch = Arc::new(ResourceWatch::new(memory.clone()));
        let open = move || {
            *is_open.0.lock().unwrap() = true;
            is_open.1.notify_all();
        };
        (memory, open, watch)
    }

    /// The number of notices about the file `a.md` before the listener is told that the list has changed.
    async fn told(listener: Listener, memory: &Memory) -> usize {
        let subscribed = Arc::new(Subscribed::new(memory));
        assert!(subscribed.add("memdir:///memories/a.md"));
        let updated = AtomicUsize::new(0);
        // The listener stops when the client can no longer be notified.
        let telling = listener.tell(
            subscribed,
            || async { false },
            |_| async { updated.fetch_add(1, Ordering::Relaxed) < usize::MAX },
        );
        timeout(LONG, telling).await.expect("nothing was told");
        updated.into_inner()
    }

    #[test]
    fn a_change_before_the_first_look_is_told() {
        let (memory, open, watch) = closed();
        Runtime::new().unwrap().block_on(async {
            let listener = watch.listen();
            memory.create("/memories/a.md", "one").unwrap();
            open();
            assert_eq!(told(listener, &memory).await, 1);
        });
        watch.join();
    }

    /// The first poll includes the change, so no later poll reports it.
    #[test]
    fn a_change_between_the_acknowledgement_and_listening_is_told() {
        let (memory, open, watch) = closed();
        memory.create("/memories/a.md", "one").unwrap();
        Runtime::new().unwrap().block_on(async {
            let listener = watch.listen();
            open();
            listener.beginning().wait().await;
            assert_eq!(told(listener.telling_first(), &memory).await, 1);
        });
        watch.join();
    }
}
