//! The list of the memories that a memory was synced with.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::time::{Duration, SystemTime};

use crate::common::store_helpers::at;
use crate::sync::{done, in_sync, memory, options, put, synced, try_sync};
use memdir::sync::partners;
use memdir::text::rfc3339;
use memdir::{Memory, MemoryOptions, OnExisting};

/// The partners of a memory: name, equal files, different files.
fn known(memory: &Memory) -> Vec<(String, u64, u64)> {
    let all = partners(memory).unwrap().into_iter();
    all.map(|partner| (partner.name, partner.files, partner.left_out)).collect()
}

/// The path of the file about the only partner.
fn noted(memory: &Memory) -> String {
    format!("/memories/.memdir-sync/{}.partner", partners(memory).unwrap()[0].id)
}

#[test]
fn both_memories_know_each_other() {
    let before = SystemTime::now();
    let (a, b) = in_sync(&[("one.md", "1\n"), ("two.md", "2\n")]);
    assert_eq!(known(&a), [("server".to_owned(), 2, 0)]);
    assert_eq!(known(&b), [("laptop".to_owned(), 2, 0)]);
    let at = partners(&a).unwrap()[0].synced;
    assert!(before <= at + Duration::from_millis(1) && at <= SystemTime::now());
    assert_eq!(known(&memory()), []);
}

#[test]
fn the_last_partner_comes_first() {
    let (a, b) = in_sync(&[("one.md", "1\n")]);
    let phone = memory();
    let mut with_phone = options();
    with_phone.names[1] = Some("phone".to_owned());
    try_sync(&a, &phone, &with_phone).unwrap();
    let names = || known(&a).into_iter().map(|(name, ..)| name).collect::<Vec<_>>();
    assert_eq!(names(), ["phone", "server"]);
    put(&b, "/memories/two.md", "2\n");
    synced(&a, &b);
    assert_eq!(names(), ["server", "phone"]);
}

#[test]
fn a_memory_that_was_only_read_knows_no_partner() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/one.md", "1\n");
    let mut one_way = options();
    one_way.one_way = true;
    try_sync(&a, &b, &one_way).unwrap();
    assert_eq!(known(&a), []);
    assert_eq!(known(&b), [("laptop".to_owned(), 1, 0)]);
}

#[test]
fn a_dry_run_and_a_sync_that_stops_note_nothing() {
    let (a, b) = in_sync(&[("one.md", "1\n")]);
    let before = [&a, &b].map(|memory| partners(memory).unwrap());
    put(&a, "/memories/two.md", "2\n");
    let mut dry = options();
    dry.dry_run = true;
    try_sync(&a, &b, &dry).unwrap();
    assert_eq!([&a, &b].map(|memory| partners(memory).unwrap()), before);
    a.delete("/memories/one.md").unwrap();
    a.delete("/memories/two.md").unwrap();
    try_sync(&a, &b, &options()).unwrap_err();
    assert_eq!([&a, &b].map(|memory| partners(memory).unwrap()), before);
}

#[test]
fn files_that_stay_different_are_counted() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/large.md", "12345678\n");
    put(&a, "/memories/small.md", "1\n");
    let mut small = options();
    small.max_file_bytes = Some(4);
    try_sync(&a, &b, &small).unwrap();
    assert_eq!(known(&b), [("laptop".to_owned(), 1, 1)]);
    // The next sync changes no file of that kind, and notes the new number.
    small.exclude = vec!["/memories/large.md".parse().unwrap()];
    try_sync(&a, &b, &small).unwrap();
    assert_eq!(known(&b), [("laptop".to_owned(), 1, 0)]);
    // A file that was equal, and is now left out, is not equal.
    let all = options();
    try_sync(&a, &b, &all).unwrap();
    assert_eq!(known(&b), [("laptop".to_owned(), 2, 0)]);
    put(&a, "/memories/small.md", "another content\n");
    let mut excluded = options();
    excluded.exclude = vec!["/memories/small.md".parse().unwrap()];
    small.exclude = Vec::new();
    for (options, left_out) in [(excluded, 0), (small, 1)] {
        for dry_run in [true, false] {
            let mut options = options.clone();
            options.dry_run = dry_run;
            let done = try_sync(&a, &b, &options).unwrap();
            assert_eq!((done.equal, done.left_out.len()), (1, left_out));
        }
        assert_eq!(known(&b), [("laptop".to_owned(), 1, left_out as u64)]);
    }
}

#[cfg(unix)]
#[test]
fn a_note_that_cannot_be_kept_stops_no_sync() {
    let place = tempfile::tempdir().unwrap();
    let a = Memory::open(place.path().to_str().unwrap(), MemoryOptions::default()).unwrap();
    let b = memory();
    put(&a, "/memories/one.md", "1\n");
    synced(&a, &b);
    let file = place.path().join(&noted(&a)[1..]);
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("nothing", &file).unwrap();
    put(&a, "/memories/two.md", "2\n");
    assert_eq!(done(&synced(&a, &b)), ["b created two.md"]);
    assert_eq!(done(&synced(&a, &b)), [""; 0]);
}

#[test]
fn a_sync_without_changes_notes_its_time_only_if_the_last_one_is_old() {
    let (a, b) = in_sync(&[("one.md", "1\n")]);
    let file = noted(&a);
    let noted = || String::from_utf8(a.store().read(&at(&file)).unwrap()).unwrap();
    let first = noted();
    assert_eq!(done(&synced(&a, &b)), [""; 0]);
    assert_eq!(noted(), first);
    let now = SystemTime::now();
    let old = |by: u64| rfc3339(now - Duration::from_secs(by));
    for other in [
        // Almost ten minutes ago, and longer.
        first.replace(&first_time(&first), &old(590)),
        first.replace(&first_time(&first), &old(601)),
        // The clock was wrong.
        first.replace(&first_time(&first), &rfc3339(now + Duration::from_secs(3600))),
        // Damaged.
        "{".to_owned(),
        String::new(),
        "[]".to_owned(),
    ] {
        overwrite(&a, &file, &other);
        assert_eq!(done(&synced(&a, &b)), [""; 0]);
        let is_kept = noted() == other;
        assert_eq!(is_kept, other.contains(&old(590)), "{other}");
        assert_eq!(known(&a), [("server".to_owned(), 1, 0)]);
    }
}

fn overwrite(memory: &Memory, path: &str, text: &str) {
    memory.store().write(&at(path), text.as_bytes(), OnExisting::Overwrite).unwrap();
}

fn first_time(noted: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(noted).unwrap();
    value["synced"].as_str().unwrap().to_owned()
}

#[test]
fn a_partner_that_was_moved_is_the_same_one() {
    let (a, b) = in_sync(&[("one.md", "1\n")]);
    let mut renamed = options();
    renamed.names[1] = Some("desktop".to_owned());
    assert_eq!(done(&try_sync(&a, &b, &renamed).unwrap()), [""; 0]);
    assert_eq!(known(&a), [("desktop".to_owned(), 1, 0)]);
}
