//! The requests of a search to a server: one question whether anything has changed, and then the changed files.
#![cfg(all(unix, feature = "search"))]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use memdir::path::MAX_LEVELS;
use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting};

#[cfg(feature = "object-storage")]
use crate::common::clouds::{BUCKET, Cloud, prefix};
#[cfg(feature = "object-storage")]
use crate::common::faulty::{Plan, Proxy};
use crate::common::search::{FILES, found};
use crate::common::store_helpers::put;

fn filled(address: &str) -> Memory {
    let memory = Memory::open(address, MemoryOptions::default()).unwrap();
    for (path, text) in FILES {
        put(&**memory.store(), path, text);
    }
    memory
}

fn list(memory: &Memory) {
    drop(memory.store().open(&MemoryPath::root(), MAX_LEVELS).unwrap());
}

#[cfg(feature = "object-storage")]
fn a_search_sends_the_requests_of_a_listing_and_reads_what_has_changed(cloud: &'static Cloud) {
    let proxy = Proxy::before(&cloud.server);
    let memory = filled(&cloud.address_at(&proxy.address, BUCKET, &prefix()));
    let requests = |work: &dyn Fn()| {
        proxy.plan(Plan::Nothing);
        work();
        proxy.requests().len()
    };
    let listing = requests(&|| list(&memory));
    assert_eq!(listing, 1);
    let search = |query: &'static str, files: usize| {
        requests(&|| assert_eq!(found(&memory, query).len(), files, "{query}"))
    };
    assert_eq!(search("tea", 3), listing + FILES.len());
    assert_eq!(search("tea", 3), listing);
    assert_eq!(search("Verträge", 1), listing);
    memory.str_replace("/memories/tea", "milk", "water").unwrap();
    assert_eq!(search("water", 1), listing + 1);
    assert_eq!(search("milk", 0), listing);
    memory.create("/memories/new.md", "milk").unwrap();
    assert_eq!(search("milk", 1), listing + 1);
    memory.delete("/memories/new.md").unwrap();
    assert_eq!(search("milk", 0), listing);
}

#[cfg(feature = "object-storage")]
memdir_test_support::on_servers! {
    all:
        a_search_sends_the_requests_of_a_listing_and_reads_what_has_changed;
}

/// On PostgreSQL it does not even list the files.
#[cfg(feature = "postgres")]
#[test]
fn a_search_after_which_nothing_has_changed_is_one_prepared_statement() {
    use crate::common::{postgres::server, proxy::Proxy};

    let Some(server) = server() else { return };
    let (start, after) = server.base().rsplit_once(':').unwrap();
    let (port, _) = after.split_once('/').unwrap();
    let proxy = Proxy::before(port.parse().unwrap());
    let through = format!("{start}:{}/", proxy.port);
    let address = server.address("searched").replace(&format!("{start}:{port}/"), &through);
    // One connection, so all statements are prepared on it after the first round.
    let memory = filled(&(address + "&pool_size=1"));
    let fewest = |work: &dyn Fn(usize)| (0..5).map(|n| proxy.round_trips(|| work(n))).min();
    let search = |files: usize| assert_eq!(found(&memory, "tea").len(), files);
    assert_eq!(fewest(&|_| search(3)), Some(1));
    assert_eq!(proxy.statements(|| search(3)), 0);
    // After a change, also the listing, and the files that have changed.
    let path = MemoryPath::parse("/memories/code/view.rs").unwrap();
    let change = |n: usize| {
        let text = format!("tea {n}");
        memory.store().write(&path, text.as_bytes(), OnExisting::Overwrite).unwrap();
    };
    assert_eq!(fewest(&change), Some(2));
    let changed_and_searched = fewest(&|n| {
        change(n);
        search(4);
    });
    assert_eq!(changed_and_searched, Some(2 + 3));
}
