//! [`Session`]: who executes commands, as hooks and the history are told.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use crate::history::HistoryId;

/// A session of a memory and its actor. Clones are the same session.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    pub(crate) actor: Option<Arc<str>>,
}

impl Session {
    /// A new session.
    pub(crate) fn new(actor: Option<Arc<str>>) -> Self {
        Self { id: new_id().into(), actor }
    }
}

/// Sorts by time, like every id that memdir makes. Opening a memory must not fail for it: without random numbers of the
/// system, the keys of a hash map are unique enough.
fn new_id() -> String {
    HistoryId::new().map_or_else(
        |_| {
            let [high, low] = [0, 1].map(|half: u8| RandomState::new().hash_one(half));
            format!("{high:016x}{low:016x}")
        },
        |id| id.to_string(),
    )
}
