//! Object storage keeps the contract of a store, on real servers with the S3 and Azure protocols.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use memdir_store::check_contract;
use memdir_test_support::clouds::{Cloud, prefix};

fn object_storage_keeps_the_contract(cloud: &'static Cloud) {
    check_contract(&|| Arc::new(cloud.open(&prefix()))).unwrap();
}

memdir_test_support::on_servers! { all: object_storage_keeps_the_contract; }
