//! The local directory keeps the contract of a store.
#![cfg(any(unix, windows))]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::{Arc, Mutex};

use memdir_local::LocalDirectory;
use memdir_store::{Durability, check_contract, contract};

#[test]
fn the_local_directory_keeps_the_contract() {
    for durability in [Durability::Full, Durability::Relaxed] {
        let places = Mutex::new(Vec::new());
        check_contract(&|| {
            let place = tempfile::tempdir().unwrap();
            let store = LocalDirectory::open(place.path(), durability).unwrap();
            places.lock().unwrap().push(place);
            Arc::new(store)
        })
        .unwrap();
        assert_eq!(places.into_inner().unwrap().len(), contract::rules().count());
    }
}
