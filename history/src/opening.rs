//! Opens the history of a store: of one store its own, of mounts that of each.

use std::sync::Arc;

use memdir_store::{Durability, Store};

use super::mounted;
use super::recorder::Recorder;
use super::retention::Retention;

impl Recorder {
    /// The history of `store`. Of mounts each store has its own, and they are read as one.
    pub fn new(store: Arc<dyn Store>, durability: Durability, retention: Retention) -> Self {
        match store.mounts() {
            None => Self::of_one(store, durability, retention),
            Some(mounts) => mounted::recorder(&*store, mounts, retention, |store| {
                Self::new(store, durability, retention)
            }),
        }
    }

    /// A history that keeps everything.
    pub fn untrimmed(store: Arc<dyn Store>, durability: Durability) -> Self {
        Self::new(store, durability, Retention::default())
    }
}
