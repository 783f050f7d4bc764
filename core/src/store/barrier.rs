//! What a change has to wait for before it takes effect: the record of a history that is being flushed meanwhile.
//!
//! It follows the thread that makes the change, as [notes](super::notes) do. A store that flushes the new content first
//! waits after that, so that both flushes coincide.

use std::cell::RefCell;

use super::StoreError;

/// Ends when what it stands for is on the disk.
pub(crate) type Wait = Box<dyn FnOnce() -> Result<(), StoreError>>;

thread_local! {
    static PENDING: RefCell<Option<Wait>> = const { RefCell::new(None) };
}

/// The next change of this thread waits for this.
pub(crate) fn put(wait: Wait) {
    PENDING.with(|pending| *pending.borrow_mut() = Some(wait));
}

/// Waits for what was put, if anything was.
///
/// # Errors
/// Nothing was changed yet.
pub(crate) fn wait() -> Result<(), StoreError> {
    match PENDING.with(|pending| pending.borrow_mut().take()) {
        None => Ok(()),
        Some(wait) => wait().map_err(StoreError::unchanged),
    }
}
