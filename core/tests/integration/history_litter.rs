//! Leftovers in a log that no reader is shown: a part of a record, a damaged record, a damaged segment, the files of a rewrite
//! that was killed. A redaction removes them, even if it finds no version with the text.
#![cfg(all(any(unix, windows), feature = "encryption"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use memdir::history::{HistoryId, HistoryQuery};
use memdir::store::Mounts;
use memdir::{Durability, GrepQuery, Memory, MemoryOptions, MemoryPath, open_store};

use crate::common::on_disk::on_disk;
use crate::common::store_helpers::key;

fn options(is_encrypted: bool) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.durability = Durability::Relaxed;
    options.encryption_key = is_encrypted.then(|| key(7));
    options
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Plain,
    Encrypted,
    /// The directory is mounted in another one.
    Mounted,
}

/// A memory whose journal is in this directory and records the changes at this path.
fn open(place: &Path, form: Form) -> (Memory, &'static str, PathBuf) {
    let own = place.join("own");
    let address = own.to_str().unwrap();
    let history = own.join("history");
    if form != Form::Mounted {
        let memory = Memory::open(address, options(form == Form::Encrypted)).unwrap();
        return (memory, "/memories", history);
    }
    let stored = |at: &Path| open_store(at.to_str().unwrap(), &options(false)).unwrap();
    let point = MemoryPath::parse("/memories/own").unwrap();
    let mounts = Mounts::new(stored(&place.join("root"))).mount(point, stored(&own)).unwrap();
    (Memory::with_store(Arc::new(mounts), options(false)), "/memories/own", history)
}

/// Every version with a content, by its id.
fn contents(memory: &Memory) -> BTreeMap<HistoryId, Vec<u8>> {
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    versions.iter().filter_map(|it| Some((it.id, memory.read_version(it.id).ok()?))).collect()
}

fn is_in_files(place: &Path, bytes: &[u8]) -> Vec<String> {
    let found = on_disk(place).into_iter().filter(|name| {
        let path = place.join(name);
        path.is_file() && memchr::memmem::find(&fs::read(path).unwrap(), bytes).is_some()
    });
    found.collect()
}

/// The record with the text begins and ends at these offsets of the active segment.
type Leave = fn(history: &Path, before: u64, after: u64);

fn active(history: &Path) -> Vec<u8> {
    fs::read(history.join("active")).unwrap()
}

fn cut_to(history: &Path, len: u64) {
    let file = fs::OpenOptions::new().write(true).open(history.join("active")).unwrap();
    file.set_len(len).unwrap();
}

fn with_byte_changed(history: &Path, at: u64) {
    let mut bytes = active(history);
    bytes[usize::try_from(at).unwrap()] ^= 1;
    fs::write(history.join("active"), bytes).unwrap();
}

/// Another record follows.
const A_PART_WITHIN: &str = "a part within";

/// Each leaves the record with the text somewhere, but no version of it.
const LITTER: [(&str, Leave); 8] = [
    ("a part at the end", |history, before, after| {
        cut_to(history, before + (after - before) * 9 / 10);
    }),
    (A_PART_WITHIN, |history, before, after| {
        cut_to(history, before + (after - before) * 9 / 10);
    }),
    ("a damaged header", |history, before, _| with_byte_changed(history, before + 40)),
    ("a damaged content", |history, before, after| {
        with_byte_changed(history, before + (after - before) / 2);
    }),
    ("a segment set aside", |history, before, _| {
        fs::copy(history.join("active"), history.join("active.damaged")).unwrap();
        cut_to(history, before);
    }),
    ("the log of an older form", |history, before, _| {
        fs::copy(history.join("active"), history.join("log.old")).unwrap();
        cut_to(history, before);
    }),
    ("a conversion that was killed", |history, before, _| {
        fs::create_dir(history.join("log.new")).unwrap();
        fs::copy(history.join("active"), history.join("log.new/part")).unwrap();
        cut_to(history, before);
    }),
    ("a rewrite that was killed", |history, before, _| {
        let segment = history.join("log/01990a3c-7c00-7123-8456-789abc000000");
        fs::copy(history.join("active"), segment).unwrap();
        fs::copy(history.join("active"), history.join("active.new")).unwrap();
        cut_to(history, before);
    }),
];

#[test]
fn a_redaction_removes_litter_also_if_it_finds_nothing() {
    type Redact = fn(&Memory);
    let ways: [(&str, Redact); 3] = [
        ("redact_text that finds nothing", |memory| {
            let redacted = memory.redact_text(&GrepQuery::text("hunter2"), "", false).unwrap();
            assert_eq!((redacted.change, redacted.versions.len()), (None, 0));
        }),
        ("redact_text that finds something", |memory| {
            let redacted = memory.redact_text(&GrepQuery::text("another"), "", false).unwrap();
            assert!(redacted.change.is_some());
        }),
        ("redact a second time", |memory| {
            let versions = memory.history(&HistoryQuery::default()).unwrap();
            let old = versions.iter().find(|version| !version.is_current).unwrap().id;
            assert!(memory.redact(old, "").unwrap().is_some());
            assert!(memory.redact(old, "").unwrap().is_none());
        }),
    ];
    for form in [Form::Plain, Form::Encrypted, Form::Mounted] {
        for (litter, leave) in LITTER {
            for (way, redact) in ways {
                let place = tempfile::tempdir().unwrap();
                let (memory, root, history) = open(place.path(), form);
                let file = |name: &str| format!("{root}/{name}.md");
                memory.create(&file("a"), "one, another\n").unwrap();
                memory.write(&file("a"), "two\n", None).unwrap();
                let kept = contents(&memory);
                let before = active(&history).len() as u64;
                let files = on_disk(&place.path().join("own/memories"));
                let text: String = (0..300).map(|line| format!("hunter2, line {line}\n")).collect();
                memory.create(&file("s"), &text).unwrap();
                let whole = active(&history);
                let after = whole.len() as u64;
                // Encrypted or not, these bytes belong to the text.
                let at = usize::try_from(before + (after - before) * 3 / 4).unwrap();
                let needle = &whole[at..at + 40];
                drop(memory);
                leave(&history, before, after);
                for name in on_disk(&place.path().join("own/memories")) {
                    if !files.contains(&name) {
                        fs::remove_file(place.path().join("own/memories").join(name)).unwrap();
                    }
                }
                if litter == A_PART_WITHIN {
                    open(place.path(), form).0.create(&file("later"), "later\n").unwrap();
                }

                let what = format!("{litter}, {way}, {form:?}");
                assert!(!is_in_files(place.path(), needle).is_empty(), "{what}");
                let (memory, ..) = open(place.path(), form);
                memory.redact_text(&GrepQuery::text("hunter2"), "", true).unwrap();
                assert!(!is_in_files(place.path(), needle).is_empty(), "{what}: a dry run");
                redact(&memory);
                assert_eq!(is_in_files(place.path(), needle), [""; 0], "{what}");
                // Everything else is as before, except for the redacted versions.
                let now = contents(&memory);
                let is_all = way == "redact_text that finds nothing";
                let whole = kept.iter().filter(|(id, content)| now.get(id) == Some(content));
                assert_eq!(whole.count(), kept.len() - usize::from(!is_all), "{what}");
                assert_eq!(contents(&open(place.path(), form).0), now, "{what}");

                // Afterwards nothing is left to do.
                let clean = active(&history);
                memory.redact_text(&GrepQuery::text("nowhere"), "", false).unwrap();
                assert!(active(&history) == clean, "{what}: it was rewritten again");
                memory.create(&file("b"), "new\n").unwrap();
                assert_eq!(contents(&memory).len(), now.len() + 1, "{what}");
            }
        }
    }
}

#[test]
fn a_redaction_that_finds_nothing_makes_no_history_where_there_is_none() {
    let place = tempfile::tempdir().unwrap();
    let (memory, ..) = open(place.path(), Form::Mounted);
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.redact_text(&GrepQuery::text("hunter2"), "", false).unwrap();
    assert!(place.path().join("root/history/active").exists());
    assert!(!place.path().join("own/history").exists());
}

#[test]
fn full_segments_outlive_damage_in_the_list_of_them() {
    let place = tempfile::tempdir().unwrap();
    let (memory, _, history) = open(place.path(), Form::Plain);
    let text = "0123456789".repeat(100_000);
    for number in 0..6 {
        memory.create(&format!("/memories/{number}.md"), &format!("{number}{text}")).unwrap();
    }
    let full = fs::read_dir(history.join("log")).unwrap().count();
    assert!(full >= 1);
    let kept = contents(&memory);
    drop(memory);
    // The ids begin after the first 56 bytes.
    with_byte_changed(&history, 60);
    let (memory, ..) = open(place.path(), Form::Plain);
    memory.redact_text(&GrepQuery::text("hunter2"), "", false).unwrap();
    let now = contents(&memory);
    assert!(now.len() >= 4, "{} of {}", now.len(), kept.len());
    assert!(now.iter().all(|(id, content)| kept.get(id) == Some(content)));
    memory.write("/memories/0.md", "new\n", None).unwrap();
    assert!(contents(&open(place.path(), Form::Plain).0).len() > now.len());
}

#[test]
fn no_acknowledged_change_is_lost_beside_redactions_that_remove_litter() {
    const WRITERS: usize = 3;
    const CHANGES: usize = 40;
    let place = tempfile::tempdir().unwrap();
    let (memory, _, history) = open(place.path(), Form::Plain);
    memory.create("/memories/a.md", "one\n").unwrap();
    let (is_done, rewrites) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (memory, ..) = open(place.path(), Form::Plain);
                threads.spawn(move || {
                    for number in 0..CHANGES {
                        let text = format!("{writer} {number}\n");
                        memory.write(&format!("/memories/{writer}.md"), &text, None).unwrap();
                    }
                })
            })
            .collect();
        let (is_done, rewrites, history, place) = (&is_done, &rewrites, &history, place.path());
        threads.spawn(move || {
            let (memory, ..) = open(place, Form::Plain);
            while !is_done.load(Ordering::Relaxed) {
                fs::write(history.join("active.damaged"), "hunter2").unwrap();
                // A killed process began to write this: the mark of a record, and no more.
                let mut active = fs::OpenOptions::new().append(true).open(history.join("active"));
                std::io::Write::write_all(active.as_mut().unwrap(), b"\xf7hunter2").unwrap();
                memory.redact_text(&GrepQuery::text("hunter2"), "", false).unwrap();
                assert!(!history.join("active.damaged").exists());
                rewrites.fetch_add(1, Ordering::Relaxed);
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(rewrites.load(Ordering::Relaxed) > 0);
    let all: Vec<Vec<u8>> = contents(&open(place.path(), Form::Plain).0).into_values().collect();
    for writer in 0..WRITERS {
        for number in 0..CHANGES {
            let text = format!("{writer} {number}\n").into_bytes();
            assert!(all.contains(&text), "{writer} {number}");
        }
    }
}
