//! [`WriterQueue`]: limits the number of a process's connections that its writers hold at once.
//!
//! A writer that waits for the lock of its namespace holds a connection meanwhile. The writers of one
//! namespace must leave connections to other namespaces, and all writers must leave some to views. So they
//! wait here first, without a connection, in the order of their arrival.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use memdir_store::StoreError;

/// The number of writers of a namespace that may hold a connection: one that commits, and one that begins.
const OF_A_NAMESPACE: usize = 2;

/// How long a writer waits for the turn. Then it goes on without, and waits for the lock on the server: the writer before
/// it decides for long, or the server is far away.
const PATIENCE: Duration = Duration::from_millis(100);

/// From this number on, namespaces without writers are removed from the map.
const FORGET_FROM: usize = 64;

pub(super) struct WriterQueue {
    all: Arc<Semaphore>,
    namespaces: Mutex<HashMap<String, Weak<OfNamespace>>>,
}

/// The writers of a namespace.
struct OfNamespace {
    writers: Arc<Semaphore>,
    /// One writer begins or decides. It passes the turn on when it sends its last request, so the next one begins while the
    /// server executes that request, and seldom waits for the lock there.
    turn: Arc<Semaphore>,
}

/// The permit of a writer to hold a connection, until it is dropped.
pub(super) struct WriterPermit {
    turn: Option<OwnedSemaphorePermit>,
    _of_all: OwnedSemaphorePermit,
    _of_namespace: OwnedSemaphorePermit,
    /// Keeps the namespace in the map.
    _namespace: Arc<OfNamespace>,
}

impl WriterPermit {
    /// Lets the next writer of the namespace begin, and keeps the connection.
    pub(super) fn pass_turn(&mut self) {
        self.turn = None;
    }
}

impl WriterQueue {
    pub(super) fn new(connections: usize) -> Self {
        let writers = connections.saturating_sub(for_views(connections)).max(1);
        Self { all: Arc::new(Semaphore::new(writers)), namespaces: Mutex::default() }
    }

    /// Waits until the writer may hold a connection.
    pub(super) async fn take(&self, namespace: &str) -> Result<WriterPermit, StoreError> {
        // The namespace's permit first, so a namespace with many writers takes only its share of all.
        let namespace = self.of(namespace);
        let of_namespace = permit(namespace.writers.clone()).await?;
        let turn = timeout(PATIENCE, permit(namespace.turn.clone())).await.ok().transpose()?;
        let of_all = permit(self.all.clone()).await?;
        Ok(WriterPermit {
            turn,
            _of_all: of_all,
            _of_namespace: of_namespace,
            _namespace: namespace,
        })
    }

    fn of(&self, namespace: &str) -> Arc<OfNamespace> {
        let mut known = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = known.get(namespace).and_then(Weak::upgrade) {
            return own;
        }
        if known.len() >= FORGET_FROM {
            known.retain(|_, own| own.strong_count() > 0);
        }
        let own = Arc::new(OfNamespace {
            writers: Arc::new(Semaphore::new(OF_A_NAMESPACE)),
            turn: Arc::new(Semaphore::new(1)),
        });
        known.insert(namespace.to_owned(), Arc::downgrade(&own));
        own
    }
}

/// The number of connections reserved for views: a quarter. A single connection is shared, so views may have to wait for it.
fn for_views(connections: usize) -> usize {
    connections.div_ceil(4)
}

async fn permit(of: Arc<Semaphore>) -> Result<OwnedSemaphorePermit, StoreError> {
    let permit = of.acquire_owned().await;
    // The semaphore is never closed.
    permit.map_err(|error| StoreError::failed("waiting for other writers", error).unchanged())
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn timed() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    /// Takes a turn without waiting; `None` if there is none.
    fn now(writers: &WriterQueue, namespace: &str) -> Option<WriterPermit> {
        match pin!(writers.take(namespace)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn.unwrap()),
            Poll::Pending => None,
        }
    }

    #[test]
    fn writers_leave_connections_to_other_namespaces_and_to_views() {
        let runtime = timed();
        let _time = runtime.enter();
        for connections in [4, 5, 8, 100] {
            let writers = WriterQueue::new(connections);
            let mut held: Vec<WriterPermit> = (0..50).map_while(|_| now(&writers, "a")).collect();
            assert_eq!(held.len(), 1);
            held[0].pass_turn();
            held.extend(now(&writers, "a"));
            assert_eq!(held.len(), OF_A_NAMESPACE);
            held[1].pass_turn();
            assert!(now(&writers, "a").is_none());
            for number in 0..100 {
                held.extend(now(&writers, &number.to_string()));
            }
            assert_eq!(held.len(), connections - for_views(connections));
            drop(held);
            assert!(now(&writers, "a").is_some());
        }
        for few in [1, 2] {
            let writers = WriterQueue::new(few);
            let _held = now(&writers, "a").unwrap();
            assert!(now(&writers, "b").is_none());
        }
    }

    #[test]
    fn a_writer_that_does_not_pass_its_turn_delays_the_next_one_only_for_a_time() {
        timed().block_on(async {
            let writers = WriterQueue::new(8);
            let first = writers.take("a").await.unwrap();
            let second = writers.take("a").await.unwrap();
            assert!(first.turn.is_some() && second.turn.is_none());
            // It has gone on, but a third one has no connection, however long it waits.
            assert!(timeout(3 * PATIENCE, writers.take("a")).await.is_err());
            drop((first, second));
            assert!(writers.take("a").await.unwrap().turn.is_some());
        });
    }

    #[test]
    fn namespaces_without_writers_are_forgotten() {
        let runtime = timed();
        let _time = runtime.enter();
        let writers = WriterQueue::new(8);
        let held = now(&writers, "held");
        for number in 0..1000 {
            now(&writers, &number.to_string()).unwrap();
        }
        let known = writers.namespaces.lock().unwrap().len();
        assert!(known <= FORGET_FROM, "{known}");
        assert!(writers.of("held").writers.available_permits() < OF_A_NAMESPACE);
        drop(held);
    }
}
