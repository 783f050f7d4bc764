//! Changes to observe.

use std::sync::{Arc, Mutex, PoisonError};

use crate::store::StoreError;

/// A change that a memory of this process made, or that a `Watch` found. After a failure of the store that may have come before or
/// after the change, it is told as well: look at the path to see what is there.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// Where: for a rename the new path, for `cleared` the root.
    pub path: String,
    /// For a rename: the path before.
    #[uniffi(default = None)]
    pub old_path: Option<String>,
}

/// What a change did.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// A file was created, overwritten or edited.
    Written,
    /// A file was deleted, or a directory with everything in it; also by an expiry.
    Deleted,
    /// A file or directory was renamed or moved, with everything in it.
    Renamed,
    /// Everything was deleted.
    Cleared,
}

/// Is told of changes.
#[uniffi::export(rust, foreign)]
pub trait ChangeListener: Send + Sync {
    /// Called after each change, on the thread that made it; so do not do much here. It may execute commands. An
    /// error that it throws is dropped.
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
        // Its error is dropped, as its documentation says.
        let _ = listener.changed(change.into());
    });
    Subscription(Mutex::new(Some(subscription)))
}

impl From<&memdir::Change> for Change {
    fn from(change: &memdir::Change) -> Self {
        Self {
            kind: match change.kind {
                memdir::ChangeKind::Deleted => ChangeKind::Deleted,
                memdir::ChangeKind::Renamed => ChangeKind::Renamed,
                memdir::ChangeKind::Cleared => ChangeKind::Cleared,
                _ => ChangeKind::Written,
            },
            path: change.path.to_string(),
            old_path: change.old_path.as_ref().map(ToString::to_string),
        }
    }
}
