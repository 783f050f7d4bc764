//! Who makes a change and why, for the layer that records it.
//!
//! A store's methods have no parameter for it. So it follows the thread that executes a call, as a
//! [cancellation](crate::Cancellation) does.

use std::cell::RefCell;
use std::sync::Arc;

use super::id::HistoryId;
use super::version::Operation;

#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    /// Who, as the host program says.
    pub(crate) actor: Option<Arc<str>>,
    /// What is done, if it is not what the store's method says.
    pub(crate) operation: Option<Operation>,
    /// The change that has begun, which further records belong to.
    pub(super) change: Option<HistoryId>,
}

thread_local! {
    static CURRENT: RefCell<Context> = RefCell::new(Context::default());
}

impl Context {
    pub(crate) fn of(actor: Option<Arc<str>>) -> Self {
        Self { actor, ..Self::default() }
    }

    /// The same context of an operation that has a name of its own.
    #[cfg(feature = "cli")]
    pub(crate) fn doing(self, operation: Operation) -> Self {
        Self { operation: Some(operation), ..self }
    }

    /// Runs `work` as one change. Returns its result, and the id of the change if something was recorded.
    pub(crate) fn within<T>(self, work: impl FnOnce() -> T) -> (T, Option<HistoryId>) {
        /// Restores what was before, also after a panic.
        struct Before(Context);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.with(|current| *current.borrow_mut() = std::mem::take(&mut self.0));
            }
        }
        let _before =
            Before(CURRENT.with(|current| current.replace(Self { change: None, ..self })));
        let done = work();
        (done, CURRENT.with(|current| current.borrow().change))
    }
}

pub(super) fn current() -> Context {
    CURRENT.with(|current| current.borrow().clone())
}

/// Further records of this thread belong to this change, until its [`Context`] ends.
pub(super) fn begin(change: HistoryId) {
    CURRENT.with(|current| {
        let change_of = &mut current.borrow_mut().change;
        *change_of = change_of.or(Some(change));
    });
}
