//! A store whose changes are recorded keeps the contract of a store.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use memdir_history::{Recorder, Retention};
use memdir_store::{Durability, InProcess, check_contract};

#[test]
fn a_recorded_store_keeps_the_contract() {
    check_contract(&|| {
        let store = Arc::new(InProcess::new());
        Arc::new(Recorder::new(store, Durability::Full, Retention::default())).into_store()
    })
    .unwrap();
}
