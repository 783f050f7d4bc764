//! The PostgreSQL database keeps the contract of a store, on a real server.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use memdir_postgres::PostgresDatabase;
use memdir_store::{Durability, check_contract};
use memdir_test_support::postgres;

#[test]
fn the_postgresql_database_keeps_the_contract() {
    let Some(server) = postgres::server() else { return };
    // Several at once, like tenants of one database.
    std::thread::scope(|scope| {
        for durability in [Durability::Full, Durability::Relaxed, Durability::Full] {
            scope.spawn(move || {
                check_contract(&|| {
                    Arc::new(PostgresDatabase::open(&server.fresh(), durability).unwrap())
                })
                .unwrap();
            });
        }
    });
}
