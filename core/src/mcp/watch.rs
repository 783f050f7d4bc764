//! Tells a client of changes: at once of those that this process makes, and of others when it looks again.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;
use tokio::time::sleep;

use super::resources;
use crate::changes::Subscription;
use crate::memory::Memory;
use crate::store::StoreError;

/// How often it looks whether somebody else has changed a file that is subscribed to: on this machine, and elsewhere,
/// where each look is a request.
const NEARBY: Duration = Duration::from_secs(1);
const FAR: Duration = Duration::from_secs(10);

/// The most resources that one client subscribes to.
const MAX_SUBSCRIBED: usize = 1_000;

/// What one client wants to be told.
pub(super) struct Watch {
    memory: Memory,
    woken: Arc<Woken>,
    subscribed: Mutex<BTreeMap<String, Option<SystemTime>>>,
    _observed: Subscription,
}

#[derive(Default)]
struct Woken {
    changed: AtomicBool,
    notify: Notify,
}

impl Watch {
    pub(super) fn new(memory: Memory) -> Self {
        let woken = Arc::new(Woken::default());
        let wakes = Arc::clone(&woken);
        let observed = memory.observe(move |_| {
            wakes.changed.store(true, Ordering::SeqCst);
            wakes.notify.notify_one();
        });
        Self { memory, woken, subscribed: Mutex::default(), _observed: observed }
    }

    /// Adds a resource; whether it could be added. Looks at the store, so it may take a while.
    pub(super) fn subscribe(&self, uri: &str) -> bool {
        let stamp = self.stamp(uri);
        let mut subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = subscribed.contains_key(uri);
        if !known && (subscribed.len() >= MAX_SUBSCRIBED || resources::path(uri).is_none()) {
            return false;
        }
        subscribed.entry(uri.to_owned()).or_insert(stamp);
        true
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// When the file was last written; `None` if there is none.
    fn stamp(&self, uri: &str) -> Option<SystemTime> {
        let path = resources::path(uri)?;
        match self.memory.store().modified(&path) {
            Ok(time) => time,
            Err(StoreError::NotFound | StoreError::NotADirectory | StoreError::IsADirectory) => {
                None
            }
            // What cannot be asked has not changed as far as anybody knows.
            Err(_) => {
                self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).get(uri).copied()?
            }
        }
    }

    /// The resources that have changed since this was last asked.
    fn changed(&self) -> Vec<String> {
        let uris: Vec<String> = {
            let subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            subscribed.keys().cloned().collect()
        };
        uris.into_iter()
            .filter(|uri| {
                let stamp = self.stamp(uri);
                let mut subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
                match subscribed.get_mut(uri) {
                    Some(known) if *known != stamp => {
                        *known = stamp;
                        true
                    }
                    _ => false,
                }
            })
            .collect()
    }

    /// Calls `list_changed` and `updated` from now on, until one of them fails, or the client is `gone`.
    pub(super) async fn run<A, B>(
        self: Arc<Self>,
        gone: impl Fn() -> bool,
        list_changed: impl Fn() -> A,
        updated: impl Fn(String) -> B,
    ) where
        A: Future<Output = bool>,
        B: Future<Output = bool>,
    {
        let nearby = self.memory.store().directory().is_some();
        let pause = if nearby { NEARBY } else { FAR };
        loop {
            tokio::select! {
                () = self.woken.notify.notified() => {}
                () = sleep(pause) => {}
            }
            if gone() {
                return;
            }
            if self.woken.changed.swap(false, Ordering::SeqCst) && !list_changed().await {
                return;
            }
            let watch = Arc::clone(&self);
            let looked = tokio::task::spawn_blocking(move || watch.changed()).await;
            for uri in looked.unwrap_or_default() {
                if !updated(uri).await {
                    return;
                }
            }
        }
    }
}
