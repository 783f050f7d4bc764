//! The records of a sync in the histories of both memories.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::store_helpers::at;
use crate::sync::{assert_equal, done, files, memory, options, put, synced, try_sync};
use memdir::history::{HistoryQuery, Operation, UndoOptions, Version};
use memdir::{Memory, MemoryOptions};

fn recorded(place: &Path) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::open(place.to_str().unwrap(), options).unwrap()
}

/// All versions, newest first.
fn versions(memory: &Memory) -> Vec<Version> {
    memory.history(&HistoryQuery::default()).unwrap()
}

fn newest(memory: &Memory) -> Version {
    versions(memory).remove(0)
}

/// The versions that a sync made: operation, path, partner.
fn of_syncs(memory: &Memory) -> Vec<String> {
    let mut made: Vec<String> = versions(memory)
        .iter()
        .filter(|version| version.actor.as_deref() == Some("sync"))
        .map(|version| {
            let partner = version.partner.as_deref().unwrap_or("-");
            format!("{} {} from {partner}", version.operation.as_str(), version.path.relative())
        })
        .collect();
    made.sort();
    made
}

#[test]
fn a_version_names_the_partner_and_the_version_that_it_is_from() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (a, b) = (recorded(one.path()), recorded(two.path()));
    a.create("/memories/tea.md", "green\n").unwrap();
    let first = newest(&a);
    a.create("/memories/later.md", "x\n").unwrap();
    b.create("/memories/coffee.md", "black\n").unwrap();
    let of_b = newest(&b);
    synced(&a, &b);
    let at_b = b.history(&of("/memories/tea.md")).unwrap().remove(0);
    assert_eq!((at_b.actor.as_deref(), at_b.partner.as_deref()), (Some("sync"), Some("laptop")));
    assert_eq!((at_b.partner_version, &at_b.sha256), (Some(first.id), &first.sha256));
    let at_a = newest(&a);
    assert_eq!(at_a.partner.as_deref(), Some("server"));
    assert_eq!(at_a.partner_version, Some(of_b.id));
    // Changes that no sync made have no partner.
    assert_eq!((first.partner, of_b.partner_version), (None, None));
    // Another process reads the same.
    assert_eq!(versions(&recorded(one.path())), versions(&a));
}

fn of(path: &str) -> HistoryQuery {
    let mut query = HistoryQuery::default();
    query.path = Some(path.to_owned());
    query
}

#[test]
fn every_kind_of_change_names_the_partner() {
    let place = tempfile::tempdir().unwrap();
    let (a, b) = (memory(), recorded(place.path()));
    for name in ["edited", "merged", "gone", "old", "bytes"] {
        put(&a, &format!("/memories/{name}.md"), &format!("{name} 1\n2\n3\n4\n"));
    }
    synced(&a, &b);
    put(&a, "/memories/edited.md", "new\n");
    put(&a, "/memories/merged.md", "merged 1\n2\n3\nfour\n");
    put(&b, "/memories/merged.md", "merged one\n2\n3\n4\n");
    a.delete("/memories/gone.md").unwrap();
    a.rename("/memories/old.md", "/memories/renamed.md").unwrap();
    let overwrite = memdir::OnExisting::Overwrite;
    a.store().write(&at("/memories/bytes.md"), b"\xff", overwrite).unwrap();
    synced(&a, &b);
    let change = newest(&b).change;
    let mut made: Vec<String> = of_syncs(&b);
    made.retain(|line| !line.starts_with("created"));
    assert_eq!(
        made,
        [
            "deleted gone.md from laptop",
            "modified bytes.md from laptop",
            "modified edited.md from laptop",
            "modified merged.md from laptop",
            "renamed renamed.md from laptop",
        ]
    );
    // A memory without a history has no version that could be named.
    assert!(versions(&b).iter().all(|version| version.partner_version.is_none()));
    // The undo is a change of its own.
    b.undo(change, UndoOptions::default()).unwrap();
    let undone = newest(&b);
    assert_eq!((undone.operation, undone.partner), (Operation::Restored, None));
}

#[test]
fn a_memory_that_is_only_read_gets_no_record() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (a, b) = (recorded(one.path()), recorded(two.path()));
    a.create("/memories/tea.md", "green\n").unwrap();
    fs::write(one.path().join("memories/other.md"), "by an editor\n").unwrap();
    let tree = || tree(one.path());
    let before = tree();
    let mut one_way = options();
    one_way.one_way = true;
    try_sync(&a, &b, &one_way).unwrap();
    let mut after = tree();
    // Only its identity is new.
    after.retain(|file, _| !file.components().any(|part| part.as_os_str() == ".memdir-sync"));
    assert_eq!(after, before);
    assert_eq!(of_syncs(&b), ["created other.md from laptop", "created tea.md from laptop"]);
}

/// All files below a directory, with their contents.
fn tree(place: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(tree(&path));
        } else {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
}

#[test]
fn a_conflict_copy_and_its_end_are_told_apart() {
    let place = tempfile::tempdir().unwrap();
    let (a, b) = (memory(), recorded(place.path()));
    put(&a, "/memories/tea.md", "green\n");
    put(&b, "/memories/tea.md", "black\n");
    synced(&a, &b);
    let copy = memdir::sync::conflicts(&b).unwrap().remove(0).copy_path;
    assert!(
        versions(&b).iter().any(|version| {
            version.path == copy && version.partner.as_deref() == Some("laptop")
        })
    );
    memdir::sync::resolve(&b, &copy, memdir::sync::Resolution::KeepCopy, None).unwrap();
    let resolved = newest(&b);
    assert_eq!((resolved.actor, resolved.partner), (None, None));
}

/// A memory whose history knows that a file was renamed and edited, and another one that has it under the old name.
fn renamed_and_edited(content: &str) -> (Memory, Memory) {
    let (a, b) = (recorded_in_process(), memory());
    put(&a, "/memories/old.md", content);
    put(&a, "/memories/other.md", "other\n");
    synced(&a, &b);
    a.rename("/memories/old.md", "/memories/dir/new.md").unwrap();
    put(&a, "/memories/dir/new.md", &content.replace('1', "one"));
    (a, b)
}

fn recorded_in_process() -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::open("memory:", options).unwrap()
}

#[test]
fn a_file_that_was_renamed_and_edited_keeps_its_identity() {
    let (a, b) = renamed_and_edited("1\n2\n3\n4\n");
    let done_so = ["b renamed old.md -> dir/new.md", "b replaced dir/new.md"];
    let mut rehearsing = options();
    rehearsing.dry_run = true;
    assert_eq!(done(&try_sync(&a, &b, &rehearsing).unwrap()), done_so);
    assert_eq!(done(&synced(&a, &b)), done_so);
    assert_equal(&a, &b, &[("dir/new.md", "one\n2\n3\n4\n"), ("other.md", "other\n")]);
    assert_eq!(done(&synced(&a, &b)), [""; 0]);
    // The edits of both are merged under the new name.
    let (a, b) = renamed_and_edited("1\n2\n3\n4\n");
    put(&b, "/memories/old.md", "1\n2\n3\nfour\n");
    let said = done(&try_sync(&b, &a, &rehearsing).unwrap());
    assert_eq!(said, done(&synced(&b, &a)));
    assert_equal(&a, &b, &[("dir/new.md", "one\n2\n3\nfour\n"), ("other.md", "other\n")]);
    assert_eq!(done(&synced(&a, &b)), [""; 0]);
}

#[test]
fn a_renamed_file_that_is_no_text_keeps_its_identity() {
    let (a, b) = (recorded_in_process(), memory());
    let write = |path: &str, content: &[u8]| {
        a.store().write(&at(path), content, memdir::OnExisting::Overwrite).unwrap();
    };
    write("/memories/old", b"\xff 1");
    synced(&a, &b);
    a.rename("/memories/old", "/memories/new").unwrap();
    write("/memories/new", b"\xff 2");
    assert_eq!(done(&synced(&a, &b)), ["b renamed old -> new", "b replaced new"]);
    assert_eq!(b.store().read(&at("/memories/new")).unwrap(), b"\xff 2");
}

#[test]
fn a_directory_that_was_renamed_and_edited_keeps_its_files() {
    let (a, b) = (recorded_in_process(), recorded_in_process());
    for name in ["1", "2", "3"] {
        put(&a, &format!("/memories/old/{name}.md"), &format!("{name}\n"));
    }
    synced(&a, &b);
    a.rename("/memories/old", "/memories/new").unwrap();
    put(&a, "/memories/new/2.md", "2\nmore\n");
    put(&b, "/memories/old/3.md", "3\nmore\n");
    let change = synced(&a, &b);
    assert!(change.conflicts.is_empty() && change.left_out.is_empty(), "{change:?}");
    assert_equal(
        &a,
        &b,
        &[("new/1.md", "1\n"), ("new/2.md", "2\nmore\n"), ("new/3.md", "3\nmore\n")],
    );
    // The history of the other memory knows them, too.
    let of_file: Vec<Operation> = {
        let versions = b.history(&of("/memories/new/2.md")).unwrap();
        versions.iter().map(|version| version.operation).collect()
    };
    assert_eq!(of_file, [Operation::Modified, Operation::Renamed, Operation::Created]);
}

#[test]
fn a_rename_reaches_a_third_memory() {
    let (a, b) = renamed_and_edited("1\n2\n3\n4\n");
    let c = memory();
    put(&b, "/memories/c.md", "c\n");
    synced(&b, &c);
    synced(&a, &b);
    put(&c, "/memories/old.md", "1\n2\n3\nfour\n");
    for (one, other) in [(&b, &c), (&a, &b), (&a, &c), (&b, &c)] {
        synced(one, other);
    }
    let files = files(&a);
    assert_eq!((&files, &files), (&crate::sync::files(&b), &crate::sync::files(&c)));
    // Without a history in `b`, the old name comes back with the edit, but no edit is lost.
    let all: String = files.values().cloned().collect();
    assert!(all.contains("one\n") && all.contains("four\n"), "{files:?}");
}

#[test]
fn another_file_at_the_new_path_is_no_rename() {
    let (a, b) = renamed_and_edited("1\n2\n3\n4\n");
    a.delete("/memories/dir/new.md").unwrap();
    put(&a, "/memories/dir/new.md", "another\n");
    assert_eq!(done(&synced(&a, &b)), ["b created dir/new.md", "b deleted old.md"]);
    // The history is of no use without a baseline.
    let (a, _) = renamed_and_edited("1\n2\n3\n4\n");
    let b = memory();
    put(&b, "/memories/old.md", "1\n2\n3\n4\n");
    assert_eq!(files(&b).len(), 1);
    synced(&a, &b);
    assert_eq!(files(&b).len(), 3);
}
