//! A store whose changes are recorded keeps the contract of a store.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use memdir_history::{Recorder, Retention};
use memdir_store::{Durability, InProcess, check_contract};

#[test]
fn a_recorded_store_keeps_the_contract() {
    check_contract(&|| {
        let retention = Retention { max_age: None, max_versions: None, max_bytes: None };
        let store = Arc::new(InProcess::new());
        Arc::new(Recorder::new(store, Durability::Full, retention)).into_store()
    })
    .unwrap();
}
