//! `Memory::stats`: the same figures on every store.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::common::store_helpers::{at, put};
use memdir::{Memory, MemoryOptions, Store, TimedPath};

const HOUR: Duration = Duration::from_secs(3600);

fn stats_are_of_all_files_and_of_the_history(store: Arc<dyn Store>) {
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::with_store(Arc::clone(&store), options);
    memory.create("/memories/mounted/deep/new.md", "new\n").unwrap();
    memory.create("/memories/mounted/large.md", "the largest\n").unwrap();
    memory.str_replace("/memories/mounted/large.md", "the", "The").unwrap();
    memory.create("/memories/.hidden/a", "a").unwrap();
    store.make_directory(&at("/memories/empty")).unwrap();

    let stats = memory.stats().unwrap();
    assert_eq!((stats.files, stats.directories, stats.bytes), (3, 4, 17));
    let largest = stats.largest.unwrap();
    assert_eq!((largest.path, largest.bytes), (at("/memories/mounted/large.md"), 12));
    let history = stats.history.unwrap();
    assert_eq!(history.versions, 4);
    assert!(history.bytes > 100, "{history:?}");
    let plain = Memory::with_store(store, MemoryOptions::default());
    assert_eq!(plain.stats().unwrap().history, None);
}

on_every_store!(stats_are_of_all_files_and_of_the_history);

fn stats_know_the_file_that_was_not_used_for_the_longest_time(store: Arc<dyn Store>) {
    // To the microsecond, the precision of every store.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let ago = |hours: u32| SystemTime::UNIX_EPOCH + Duration::from_secs(now) - HOUR * hours;
    for (path, written) in [("/memories/a", 30), ("/memories/b", 20), ("/memories/c", 10)] {
        put(&*store, path, b"x");
        if store.set_modified(&at(path), ago(written)).is_err() {
            return;
        }
    }
    // In object storage a listing has the time of the upload.
    let listed = store.list(&at("/memories")).unwrap();
    if !store.info().tracks_access || listed.iter().all(|file| file.modified != Some(ago(30))) {
        return;
    }
    store.record_access(&at("/memories/a"), ago(1)).unwrap();
    let stats = Memory::with_store(store, MemoryOptions::default()).stats().unwrap();
    let timed = |file: Option<TimedPath>| file.map(|file| (file.path, file.time));
    assert_eq!(timed(stats.oldest), Some((at("/memories/a"), ago(30))));
    assert_eq!(timed(stats.newest), Some((at("/memories/c"), ago(10))));
    assert_eq!(timed(stats.least_recently_used), Some((at("/memories/b"), ago(20))));
}

on_every_store!(stats_know_the_file_that_was_not_used_for_the_longest_time);
