//! A fresh store of every kind for each test.
#![allow(dead_code, reason = "each test program uses its part")]

use std::path::Path;
use std::sync::Arc;

use memdir::store::{Encrypted, InProcess, Mounts};
use memdir::{Durability, EncryptionKey, MemoryOptions, MemoryPath, Store, open_store};

#[cfg(unix)]
use super::{clouds, effort::is_turn, postgres};

/// Makes one test per kind of store from a function `fn feature(store: Arc<dyn Store>)`: `feature::sqlite` and so on.
///
/// In each of them `/memories/mounted` may be another store than the rest, and each store keeps access times.
macro_rules! on_every_store {
    ($check:ident) => {
        mod $check {
            use super::$check as check;

            on_every_store!(check in in_process, sqlite, encrypted, encrypted_names);
            #[cfg(any(unix, windows))]
            on_every_store!(check in local_directory, encrypted_directory, mounts);
            #[cfg(unix)]
            on_every_store!(check in postgres, s3, azure);
        }
    };
    ($check:ident in $($kind:ident),*) => {
        $(
            #[test]
            fn $kind() {
                crate::common::stores::$kind($check);
            }
        )*
    };
}

type Check = fn(Arc<dyn Store>);

fn open(address: &str) -> Arc<dyn Store> {
    let mut options = MemoryOptions::default();
    options.durability = Durability::Relaxed;
    open_store(address, &options).unwrap()
}

fn directory(base: &Path) -> Arc<dyn Store> {
    open(base.to_str().unwrap())
}

fn encrypt(inner: Arc<dyn Store>, names: bool) -> Arc<dyn Store> {
    Arc::new(Encrypted::open(inner, &EncryptionKey::from_bytes([7; 32]), names).unwrap())
}

pub(crate) fn in_process(check: Check) {
    check(Arc::new(InProcess::new()));
}

pub(crate) fn local_directory(check: Check) {
    let place = tempfile::tempdir().unwrap();
    check(directory(place.path()));
}

pub(crate) fn sqlite(check: Check) {
    let place = tempfile::tempdir().unwrap();
    check(open(&format!("sqlite:{}", place.path().join("a.db").display())));
}

pub(crate) fn encrypted(check: Check) {
    check(encrypt(Arc::new(InProcess::new()), false));
}

pub(crate) fn encrypted_names(check: Check) {
    check(encrypt(Arc::new(InProcess::new()), true));
}

pub(crate) fn encrypted_directory(check: Check) {
    let place = tempfile::tempdir().unwrap();
    check(encrypt(directory(place.path()), true));
}

pub(crate) fn mounts(check: Check) {
    let place = tempfile::tempdir().unwrap();
    let point = MemoryPath::root().join("mounted").unwrap();
    let mounts = Mounts::new(directory(place.path())).mount(point, Arc::new(InProcess::new()));
    check(Arc::new(mounts.unwrap()));
}

#[cfg(unix)]
pub(crate) fn postgres(check: Check) {
    if let Some(server) = postgres::server() {
        check(open(&server.fresh()));
    }
}

#[cfg(unix)]
pub(crate) fn s3(check: Check) {
    if let Some(cloud) = clouds::s3() {
        check(open(&cloud.fresh()));
    }
}

/// Runs only with more effort: above the store, Azure behaves like S3, and its server takes a minute of processor time. The
/// differences are tested in `objects.rs` and its neighbours, and by the conformance cases.
#[cfg(unix)]
pub(crate) fn azure(check: Check) {
    if is_turn(1, 2)
        && let Some(cloud) = clouds::azure()
    {
        check(open(&cloud.fresh()));
    }
}
