//! Notifications about changes.

use std::sync::{Arc, Mutex, PoisonError};

use crate::results::Change;
use crate::store::StoreError;

/// Receives changes.
#[uniffi::export(rust, foreign)]
pub trait ChangeListener: Send + Sync {
    /// Called after each change, on the thread that made it, so return quickly. It may execute commands. An
    /// error that it throws is logged and has no other effect.
    fn changed(&self, change: Change) -> Result<(), StoreError>;
}

/// The registration of a listener: see `Memory.observe`.
#[derive(uniffi::Object, Debug)]
pub struct Subscription(Mutex<Option<memdir::Subscription>>);

#[uniffi::export]
impl Subscription {
    /// Stops the calls of the listener. A second call does nothing. Releasing the subscription also stops them.
    pub fn cancel(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

pub(crate) fn observe(memory: &memdir::Memory, listener: Arc<dyn ChangeListener>) -> Subscription {
    let subscription = memory.observe(move |change| {
        // The host's side has already logged the error.
        let _ = listener.changed(change.clone().into());
    });
    Subscription(Mutex::new(Some(subscription)))
}
