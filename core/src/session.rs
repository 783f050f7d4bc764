//! [`Session`]: the identity under which commands run, for hooks and the history.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use crate::history::HistoryId;
use memdir_store::SyncSource;

/// A session of a memory, and its actor. Clones are the same session.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    pub(crate) actor: Option<Arc<str>>,
    /// The memory from which a sync takes its changes.
    pub(crate) source: Option<Arc<SyncSource>>,
}

impl Session {
    /// Creates a new session.
    pub(crate) fn new(actor: Option<Arc<str>>) -> Self {
        Self { id: new_id().into(), actor, source: None }
    }
}

/// Ids sort by time, like every id that memdir creates. Opening a memory must not fail because of its id. If
/// the system has no random numbers, the keys of a hash map are unique enough.
fn new_id() -> String {
    HistoryId::new().map_or_else(
        |_| {
            let [high, low] = [0, 1].map(|half: u8| RandomState::new().hash_one(half));
            format!("{high:016x}{low:016x}")
        },
        |id| id.to_string(),
    )
}
