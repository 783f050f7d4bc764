//! The conflict copies in a memory, and how a conflict ends: as it was seen, or not at all.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::common::store_helpers::at;
use crate::sync::{files, memory, on, put, synced};
use memdir::store::{Context, InProcess, Layer, Mutation};
use memdir::sync::{ConflictContents, ConflictCopy, Resolution, conflicts, resolve};
use memdir::{Error, ErrorKind, Memory, MemoryOptions, OnExisting, Store, StoreError};

const FILE: &str = "/memories/tea.md";
const COPY: &str = "/memories/tea (conflict from laptop 1).md";

/// A memory with a conflict.
fn conflicted() -> Memory {
    let memory = memory();
    put(&memory, FILE, "green\n");
    put(&memory, COPY, "black\n");
    memory
}

fn only(memory: &Memory) -> ConflictCopy {
    let mut found = conflicts(memory).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn seen(memory: &Memory) -> ConflictContents {
    only(memory).read(memory).unwrap().unwrap()
}

fn kind(result: Result<memdir::MemoryPath, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn files_that_no_sync_makes_equal_have_no_conflicts() {
    let memory = memory();
    for path in [
        // A resolution would write a file that memdir keeps.
        "/memories/.mem (conflict from x 1)dir-encryption",
        "/memories/.memdir-history (conflict from x 1)",
        "/memories/.git/config (conflict from x 1)",
        "/memories/(conflict from x 1)",
    ] {
        memory.store().write(&at(path), b"x\n", OnExisting::Error).unwrap();
        assert_eq!(conflicts(&memory).unwrap(), [], "{path}");
        for resolution in [Resolution::KeepOriginal, Resolution::KeepCopy, Resolution::Merged(b"y")]
        {
            assert_eq!(kind(resolve(&memory, &at(path), resolution, None)), ErrorKind::Invalid);
        }
        assert_eq!(memory.store().read(&at(path)).unwrap(), b"x\n");
    }
}

#[test]
fn a_directory_in_the_place_of_the_file_is_said() {
    for below in ["/memories/tea.md/in.md", "/memories/tea.md/a/b.md"] {
        let memory = memory();
        put(&memory, COPY, "black\n");
        put(&memory, "/memories/tea.md-more", "between them\n");
        assert!(!only(&memory).is_directory);
        put(&memory, below, "x\n");
        assert!(only(&memory).is_directory);
        let before = files(&memory);
        for resolution in [Resolution::KeepOriginal, Resolution::KeepCopy, Resolution::Merged(b"y")]
        {
            let error = resolve(&memory, &at(COPY), resolution, None).unwrap_err();
            let sentence = format!("Error: {FILE} is a directory: rename {COPY}, or delete it");
            assert_eq!(error.to_string(), sentence);
        }
        assert_eq!(files(&memory), before);
    }
}

#[test]
fn a_copy_whose_name_was_cut_belongs_to_the_file() {
    for (name, extension) in [("n", ".md"), ("é", ".md"), ("n", ""), ("😀", ".markdown")] {
        let long = name.repeat(240 / name.len()) + extension;
        let (a, b) = (memory(), memory());
        let path = format!("/memories/{long}");
        put(&a, &path, "green\n");
        put(&b, &path, "black\n");
        // Another file has the shorter name.
        put(&a, &format!("/memories/{}{extension}", name.repeat(200 / name.len())), "x\n");
        synced(&a, &b);
        for memory in [&a, &b] {
            assert_eq!(only(memory).path.as_str(), path);
        }
        resolve(&a, &only(&a).copy_path, Resolution::KeepCopy, None).unwrap();
        assert_eq!(a.read(&path).unwrap(), "black\n");
        assert_eq!(files(&a).len(), 2);
    }
}

#[test]
fn a_conflict_ends_only_with_the_contents_that_were_seen() {
    type Change = fn(&Memory);
    let changes: [(Change, &str); 5] = [
        (|memory| put(memory, FILE, "white\n"), FILE),
        (|memory| put(memory, COPY, "white\n"), COPY),
        (|memory| drop(memory.delete(FILE).unwrap()), FILE),
        (|memory| drop(memory.delete(COPY).unwrap()), COPY),
        (|memory| put(memory, FILE, ""), FILE),
    ];
    for (change, path) in changes {
        for resolution in [Resolution::KeepOriginal, Resolution::KeepCopy, Resolution::Merged(b"y")]
        {
            let memory = conflicted();
            let seen = seen(&memory);
            change(&memory);
            let before = files(&memory);
            let error = resolve(&memory, &at(COPY), resolution, Some(&seen)).unwrap_err();
            assert!(error.to_string().contains(path), "{error}");
            assert_eq!(files(&memory), before);
        }
    }
    // The file did not exist, and an agent has created it.
    let memory = conflicted();
    memory.delete(FILE).unwrap();
    let seen = seen(&memory);
    put(&memory, FILE, "white\n");
    assert_eq!(
        kind(resolve(&memory, &at(COPY), Resolution::KeepCopy, Some(&seen))),
        ErrorKind::Changed
    );
    assert_eq!(memory.read(FILE).unwrap(), "white\n");
}

#[test]
fn a_copy_that_may_not_be_deleted_keeps_the_file_as_it_is() {
    let store = Arc::clone(conflicted().store());
    let mut options = MemoryOptions::default();
    options.read_only_paths = vec!["/memories/tea (*".parse().unwrap()];
    let memory = Memory::with_store(store, options);
    let before = files(&memory);
    for resolution in [Resolution::KeepOriginal, Resolution::KeepCopy, Resolution::Merged(b"y")] {
        assert_eq!(kind(resolve(&memory, &at(COPY), resolution, None)), ErrorKind::ReadOnly);
        assert_eq!(files(&memory), before);
    }
}

/// A store in which another program changes the copy when it is about to be deleted, and the file, too, with `also_the_file`.
struct Disturbed {
    store: Arc<dyn Store>,
    also_the_file: bool,
    is_done: AtomicBool,
}

impl Layer for Disturbed {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let is_deletion =
            matches!(&mutation, Mutation::DeleteIf { path, .. } if path.as_str() == COPY);
        if is_deletion && !self.is_done.swap(true, SeqCst) {
            let overwrite = OnExisting::Overwrite;
            self.store.write(&at(COPY), b"white\n", overwrite)?;
            if self.also_the_file {
                self.store.write(&at(FILE), b"white\n", overwrite)?;
            }
        }
        self.store.mutate(context, mutation)
    }
}

#[test]
fn a_copy_that_is_changed_at_the_last_moment_gives_the_file_its_content_back() {
    let cases = [
        (Resolution::KeepOriginal, true),
        (Resolution::KeepCopy, true),
        (Resolution::Merged(b"y\n"), true),
        (Resolution::Merged(b"y\n"), false),
    ];
    for (resolution, has_file) in cases {
        for also_the_file in [false, true] {
            let store: Arc<dyn Store> = Arc::new(InProcess::new());
            if has_file {
                store.write(&at(FILE), b"green\n", OnExisting::Error).unwrap();
            }
            store.write(&at(COPY), b"black\n", OnExisting::Error).unwrap();
            let is_done = AtomicBool::new(false);
            let disturbed: Arc<dyn Store> = Arc::new(Disturbed { store, also_the_file, is_done });
            let memory = on(&disturbed);
            let error = resolve(&memory, &at(COPY), resolution, None).unwrap_err();
            let mut expected = vec![(COPY.to_owned(), "white\n".to_owned())];
            if also_the_file {
                expected.push((FILE.to_owned(), "white\n".to_owned()));
            } else if has_file {
                expected.push((FILE.to_owned(), "green\n".to_owned()));
            }
            assert_eq!(files(&memory).into_iter().collect::<Vec<_>>(), expected);
            assert_eq!(error.kind(), ErrorKind::Changed);
            let says_nothing = error.to_string().contains("Nothing was changed");
            let is_true = !also_the_file || resolution == Resolution::KeepOriginal;
            assert_eq!(says_nothing, is_true, "{error}");
        }
    }
}

#[test]
fn resolved_conflicts_are_not_too_many_deletions() {
    let (a, b) = (memory(), memory());
    for number in 0..12 {
        put(&a, &format!("/memories/{number}.md"), "green\n");
        put(&b, &format!("/memories/{number}.md"), "black\n");
    }
    synced(&a, &b);
    for conflict in conflicts(&a).unwrap() {
        resolve(&a, &conflict.copy_path, Resolution::KeepCopy, None).unwrap();
    }
    synced(&a, &b);
    assert_eq!((files(&b).len(), files(&a)), (12, files(&b)));
}
