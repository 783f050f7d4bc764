//! The SQLite database keeps the contract of a store.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::{Arc, Mutex};

use memdir_sqlite::SqliteDatabase;
use memdir_store::{Durability, check_contract, contract};

#[test]
fn the_sqlite_database_keeps_the_contract() {
    for durability in [Durability::Full, Durability::Relaxed] {
        let places = Mutex::new(Vec::new());
        check_contract(&|| {
            let place = tempfile::tempdir().unwrap();
            let store = SqliteDatabase::open(place.path().join("a.db"), durability).unwrap();
            places.lock().unwrap().push(place);
            Arc::new(store)
        })
        .unwrap();
        assert_eq!(places.into_inner().unwrap().len(), contract::rules().count());
    }
}
