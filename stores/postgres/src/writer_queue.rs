//! [`WriterQueue`]: limits the number of a process's connections that its writers hold at once.
//!
//! A writer that waits for the lock of its namespace holds a connection meanwhile. The writers of one
//! namespace must leave connections to other namespaces, and all writers must leave some to views. So they
//! wait here first, without a connection, in the order of their arrival.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use memdir_store::StoreError;

/// The limit for one namespace: one writer that begins or decides. It passes its turn when it sends its last request, so
/// the next one begins while the server executes that request, and no time is lost between the two.
const OF_A_NAMESPACE: usize = 1;

/// From this number on, namespaces without writers are removed from the map.
const FORGET_FROM: usize = 64;

pub(super) struct WriterQueue {
    all: Arc<Semaphore>,
    namespaces: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// The permit of a writer to hold a connection, until it is dropped.
pub(super) struct WriterPermit {
    _of_all: OwnedSemaphorePermit,
    of_namespace: Option<OwnedSemaphorePermit>,
}

impl WriterPermit {
    /// Lets the next writer of the namespace begin, and keeps the connection.
    pub(super) fn pass(&mut self) {
        self.of_namespace = None;
    }
}

impl WriterQueue {
    pub(super) fn new(connections: usize) -> Self {
        let writers = connections.saturating_sub(for_views(connections)).max(1);
        Self { all: Arc::new(Semaphore::new(writers)), namespaces: Mutex::default() }
    }

    /// Waits for a turn.
    pub(super) async fn take(&self, namespace: &str) -> Result<WriterPermit, StoreError> {
        // The namespace's permit first, so a namespace with many writers takes only its share of all.
        let of_namespace = permit(self.of(namespace)).await?;
        let of_all = permit(self.all.clone()).await?;
        Ok(WriterPermit { _of_all: of_all, of_namespace: Some(of_namespace) })
    }

    fn of(&self, namespace: &str) -> Arc<Semaphore> {
        let mut known = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = known.get(namespace).and_then(Weak::upgrade) {
            return own;
        }
        if known.len() >= FORGET_FROM {
            known.retain(|_, own| own.strong_count() > 0);
        }
        let own = Arc::new(Semaphore::new(OF_A_NAMESPACE));
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

    /// Takes a turn without waiting; `None` if there is none.
    fn now(writers: &WriterQueue, namespace: &str) -> Option<WriterPermit> {
        match pin!(writers.take(namespace)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn.unwrap()),
            Poll::Pending => None,
        }
    }

    #[test]
    fn writers_leave_connections_to_other_namespaces_and_to_views() {
        for connections in [4, 5, 8, 100] {
            let writers = WriterQueue::new(connections);
            let mut held: Vec<WriterPermit> = (0..50).map_while(|_| now(&writers, "a")).collect();
            assert_eq!(held.len(), OF_A_NAMESPACE);
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
    fn a_writer_that_passes_its_turn_keeps_its_connection() {
        let writers = WriterQueue::new(4);
        let mut held = Vec::new();
        while let Some(mut permit) = now(&writers, "a") {
            assert!(now(&writers, "a").is_none());
            permit.pass();
            held.push(permit);
        }
        assert_eq!(held.len(), 4 - for_views(4));
        held.pop();
        assert!(now(&writers, "a").is_some());
    }

    #[test]
    fn namespaces_without_writers_are_forgotten() {
        let writers = WriterQueue::new(8);
        let held = now(&writers, "held");
        for number in 0..1000 {
            now(&writers, &number.to_string()).unwrap();
        }
        let known = writers.namespaces.lock().unwrap().len();
        assert!(known <= FORGET_FROM, "{known}");
        assert!(writers.of("held").available_permits() < OF_A_NAMESPACE);
        drop(held);
    }
}
