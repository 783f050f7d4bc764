//! The requests of a sync to a server: those of a listing and a constant number more, and those of the changes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use memdir::path::MAX_LEVELS;
use memdir::{Memory, MemoryOptions, MemoryPath};

#[cfg(feature = "object-storage")]
use crate::common::clouds::{BUCKET, Cloud, prefix};
#[cfg(feature = "object-storage")]
use crate::common::faulty::{Plan, Proxy};
use crate::common::store_helpers::put;
use crate::sync::{memory, synced};

fn fill(memory: &Memory, files: usize) {
    for number in 0..files {
        put(&**memory.store(), &format!("/memories/{number:03}.md"), format!("{number}\n"));
    }
}

fn change(memory: &Memory, files: usize, text: &str) {
    for number in 0..files {
        memory.write(&format!("/memories/{number:03}.md"), text, None).unwrap();
    }
}

#[cfg(feature = "object-storage")]
fn a_sync_sends_the_requests_of_a_listing_and_a_few_more(cloud: &'static Cloud) {
    let proxy = Proxy::before(&cloud.server);
    let unchanged = |files: usize, changed: usize| {
        let address = cloud.address_at(&proxy.address, BUCKET, &prefix());
        let far = Memory::open(&address, MemoryOptions::default()).unwrap();
        let near = memory();
        fill(&near, files);
        synced(&near, &far);
        let requests = |work: &dyn Fn()| {
            proxy.plan(Plan::Nothing);
            work();
            proxy.requests().len()
        };
        let listing =
            requests(&|| drop(far.store().open(&MemoryPath::root(), MAX_LEVELS).unwrap()));
        let nothing = requests(&|| assert_eq!(synced(&near, &far).changes, []));
        change(&near, changed, "changed\n");
        let some = requests(&|| assert_eq!(synced(&near, &far).changes.len(), changed));
        (listing, nothing - listing, some - nothing)
    };
    let (listing, more, of_ten) = unchanged(20, 10);
    assert_eq!(listing, 1);
    let (listing, as_many, of_forty) = unchanged(200, 40);
    assert_eq!((listing, as_many), (1, more));
    assert!(more <= 6, "{more}");
    // An edit is a read and a conditional write, and the file is read back once.
    assert!(of_forty - of_ten <= 30 * 4, "{of_ten} {of_forty}");
}

#[cfg(feature = "object-storage")]
memdir_test_support::on_servers! {
    all:
        a_sync_sends_the_requests_of_a_listing_and_a_few_more;
}

#[cfg(feature = "postgres")]
#[test]
fn a_sync_without_changes_is_a_constant_number_of_statements() {
    use crate::common::{postgres::server, proxy::Proxy};

    let Some(server) = server() else { return };
    let (start, after) = server.base().rsplit_once(':').unwrap();
    let (port, _) = after.split_once('/').unwrap();
    let proxy = Proxy::before(port.parse().unwrap());
    let through = format!("{start}:{}/", proxy.port);
    let trips = |name: &str, files: usize| {
        let address = server.address(name).replace(&format!("{start}:{port}/"), &through);
        let far = Memory::open(&(address + "&pool_size=1"), MemoryOptions::default()).unwrap();
        let near = memory();
        fill(&near, files);
        synced(&near, &far);
        let nothing = || assert_eq!(synced(&near, &far).changes, []);
        (0..5).map(|_| proxy.round_trips(nothing)).min().unwrap()
    };
    let few = trips("synced_few", 20);
    assert_eq!(trips("synced_many", 300), few);
    assert!(few <= 6, "{few}");
}
