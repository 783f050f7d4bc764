//! Changes to observe.

use std::sync::{Arc, Mutex, PoisonError};

use crate::results::Change;
use crate::store::StoreError;

/// Is told of changes.
#[uniffi::export(rust, foreign)]
pub trait ChangeListener: Send + Sync {
    /// Called after each change, on the thread that made it; so do not do much here. It may execute commands. An
    /// error that it throws is logged, and changes nothing.
    fn changed(&self, change: Change) -> Result<(), StoreError>;
}

/// Ends the calls of a listener: see `Memory.observe`.
#[derive(uniffi::Object, Debug)]
pub struct Subscription(Mutex<Option<memdir::Subscription>>);

#[uniffi::export]
impl Subscription {
    /// Ends the calls. A second call does nothing. So does letting go of the subscription.
    pub fn cancel(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

pub(crate) fn observe(memory: &memdir::Memory, listener: Arc<dyn ChangeListener>) -> Subscription {
    let subscription = memory.observe(move |change| {
        // The host's side has logged what it threw.
        let _ = listener.changed(change.clone().into());
    });
    Subscription(Mutex::new(Some(subscription)))
}
