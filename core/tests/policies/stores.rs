//! A fresh store of every kind.

use std::sync::Arc;

use memdir::store::{
    Encrypted, InProcess, LocalDirectory, Mounts, PostgresDatabase, SqliteDatabase,
};
use memdir::{Durability, EncryptionKey, Store};

use crate::mounting::{at, in_process};
use crate::{clouds, postgres};

/// Runs the check on a fresh store of each kind; it is told which, and gets the store.
///
/// `/memories/mounted` may be another store than the rest.
pub(crate) fn each(check: impl Fn(&str, Arc<dyn Store>)) {
    let place = tempfile::tempdir().unwrap();
    let directory = |name: &str| -> Arc<dyn Store> {
        let base = place.path().join(name);
        Arc::new(LocalDirectory::open(base, Durability::Relaxed).unwrap())
    };
    let encrypted = |inner: Arc<dyn Store>, names: bool| -> Arc<dyn Store> {
        let key = EncryptionKey::from_slice(&[7; 32]).unwrap();
        Arc::new(Encrypted::open(inner, &key, names).unwrap())
    };
    let database =
        SqliteDatabase::open(place.path().join("agent.db"), Durability::Relaxed).unwrap();
    let mounts = Mounts::new(directory("root")).mount(at("/memories/mounted"), in_process());

    check("in process", Arc::new(InProcess::new()));
    check("a local directory", directory("plain"));
    check("an SQLite database", Arc::new(database));
    check("an encrypted directory", encrypted(directory("encrypted"), true));
    check("encrypted in process", encrypted(in_process(), false));
    check("mounts", Arc::new(mounts.unwrap()));
    if let Some(server) = postgres::server() {
        let store = PostgresDatabase::open(&server.fresh(), Durability::Relaxed).unwrap();
        check("a PostgreSQL database", Arc::new(store));
    }
    for cloud in clouds::all() {
        check("object storage", Arc::new(cloud.open(&clouds::prefix())));
    }
}
