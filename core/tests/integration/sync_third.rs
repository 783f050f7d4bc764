//! Syncs with a third memory, with a restored one, or in one direction: nothing is lost, and no old content comes back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::common::store_helpers::at;
use crate::sync::{
    assert_equal, done, files, left_out, memory, on, options, put, synced, try_sync,
};
use crate::sync_safety::copied;
use memdir::policy::sensitive::SensitiveText;
use memdir::store::{Context, Entry, InProcess, Layer, Node};
use memdir::sync::{SyncPhase, SyncProgress, SyncReason};
use memdir::{Memory, MemoryOptions, MemoryPath, Store, StoreError, SyncOptions, sync};

fn one_way() -> SyncOptions {
    let mut options = options();
    options.one_way = true;
    options
}

/// Whether the text is in a file of the memory.
fn has(memory: &Memory, text: &str) -> bool {
    files(memory).values().any(|content| content.contains(text))
}

fn assert_all_have<const N: usize>(memories: &[Memory], texts: [&str; N]) {
    for memory in memories {
        for text in texts {
            assert!(has(memory, text), "{text}: {:?}", files(memory));
        }
    }
}

fn rename(memory: &Memory, from: &str, to: &str) {
    memory.rename(&format!("/memories/{from}"), &format!("/memories/{to}")).unwrap();
}

/// Three memories that all agree.
fn three(names: &[(&str, &str)]) -> [Memory; 3] {
    let all = [memory(), memory(), memory()];
    for (name, text) in names {
        put(&all[0], &format!("/memories/{name}"), text);
    }
    meet(&all);
    all
}

fn meet([a, b, c]: &[Memory; 3]) {
    for _ in 0..2 {
        synced(a, b);
        synced(a, c);
        synced(b, c);
    }
}

#[test]
fn renames_that_a_third_memory_passes_on_do_not_replace_another_file() {
    let all = three(&[("notes.md", "X precious\n")]);
    let [a, b, c] = &all;
    rename(a, "notes.md", "archive.md");
    put(a, "/memories/notes.md", "Y new\n");
    synced(a, b);
    rename(b, "archive.md", "old.md");
    rename(b, "notes.md", "today.md");
    synced(b, c);
    synced(a, c);
    meet(&all);
    for memory in &all {
        assert!(has(memory, "X precious") && has(memory, "Y new"), "{:?}", files(memory));
        assert_eq!(files(memory).len(), 2);
    }
}

#[test]
fn swapped_names_and_a_conflict_in_a_third_memory_lose_nothing() {
    let all = three(&[("p.md", "X\n"), ("q.md", "Z\n")]);
    let [a, b, c] = &all;
    rename(a, "p.md", "swap.md");
    rename(a, "q.md", "p.md");
    rename(a, "swap.md", "q.md");
    synced(b, a);
    rename(b, "p.md", "g.md");
    put(c, "/memories/q.md", "Z2\n");
    synced(c, b);
    synced(a, c);
    meet(&all);
    for memory in &all {
        for text in ["X", "Z", "Z2"] {
            assert!(has(memory, &format!("{text}\n")), "{text}: {:?}", files(memory));
        }
    }
}

#[test]
fn a_restored_memory_does_not_count_its_changes_again() {
    for edits in 1..=2 {
        let stores: [Arc<dyn Store>; 2] = [Arc::new(InProcess::new()), Arc::new(InProcess::new())];
        let [b, c] = [on(&stores[0]), on(&stores[1])];
        let before: Arc<dyn Store> = Arc::new(InProcess::new());
        let a = on(&before);
        put(&a, "/memories/f.md", "base\n");
        put(&a, "/memories/g.md", "other\n");
        for _ in 0..2 {
            synced(&a, &b);
            synced(&a, &c);
            synced(&b, &c);
        }
        let backup = copied(&before);
        put(&a, "/memories/f.md", "base\nX\n");
        synced(&a, &b);
        if edits == 1 {
            a.delete("/memories/f.md").unwrap();
            synced(&a, &b);
        }
        // The backup does not know that the memory has made changes.
        let a = on(&backup);
        put(&a, "/memories/f.md", "base\nY precious\n");
        synced(&a, &c);
        if edits == 2 {
            put(&a, "/memories/f.md", "base\nY precious\nmore\n");
            synced(&a, &c);
        }
        synced(&b, &c);
        synced(&a, &c);
        synced(&a, &b);
        for memory in [&a, &b, &c] {
            assert!(has(memory, "Y precious"), "{:?}", files(memory));
            assert!(edits == 1 || has(memory, "X\n"), "{:?}", files(memory));
        }
    }
}

#[test]
fn a_copy_with_its_hidden_directory_loses_nothing_before_it_meets_its_original() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let (a, b, c) = (on(&store), memory(), memory());
    put(&a, "/memories/f.md", "one\n-\ntwo\n");
    synced(&a, &b);
    let copy = on(&copied(&store));
    put(&a, "/memories/f.md", "ONE\n-\ntwo\n");
    synced(&a, &b);
    put(&copy, "/memories/f.md", "one\n-\nTWO\n");
    synced(&copy, &c);
    put(&c, "/memories/f.md", "one\n-\nTWO\nthree\n");
    synced(&c, &b);
    for line in ["ONE", "TWO", "three"] {
        assert!(has(&b, line), "{line}: {:?}", files(&b));
    }
}

/// A made-up password that a rule finds.
const SECRET: &str = "password = \"hunter2hunter2\"";

fn redacting() -> Memory {
    let mut options = MemoryOptions::default();
    options.sensitive_text = SensitiveText::Redact;
    Memory::open("memory:", options).unwrap()
}

#[test]
fn a_redaction_in_one_memory_changes_nothing_in_the_other() {
    let start = format!("top\n-\n{SECRET}\n-\nend\n-\nlast\n");
    for is_first in [true, false] {
        let (whole, redacted) = (memory(), redacting());
        put(&whole, "/memories/f.md", &start);
        let sync = || {
            let (a, b) = if is_first { (&redacted, &whole) } else { (&whole, &redacted) };
            let result = synced(a, b);
            assert_eq!(result.conflicts, []);
        };
        sync();
        assert!(!has(&redacted, SECRET) && has(&redacted, "[REDACTED:"));
        let edit = |memory: &Memory, old: &str, new: &str| {
            memory.str_replace("/memories/f.md", old, new).unwrap();
        };
        edit(&whole, "top", "TOP");
        sync();
        edit(&redacted, "end", "END");
        sync();
        edit(&whole, "TOP", "Top");
        edit(&redacted, "last", "LAST");
        sync();
        let now = start.replace("top", "Top").replace("end", "END").replace("last", "LAST");
        assert_eq!(files(&whole)["/memories/f.md"], now);
        let shown = &files(&redacted)["/memories/f.md"];
        assert!(!shown.contains(SECRET), "{shown}");
        for line in ["Top\n", "END\n", "LAST\n", "[REDACTED:"] {
            assert!(shown.contains(line), "{shown}");
        }
        // Nothing is left to do.
        let (a, b) = if is_first { (&redacted, &whole) } else { (&whole, &redacted) };
        assert_eq!(done(&synced(a, b)), [""; 0]);
    }
}

#[test]
fn a_redacted_content_does_not_replace_the_whole_one_through_a_third_memory() {
    let (whole, redacted, third) = (memory(), redacting(), memory());
    put(&whole, "/memories/f.md", &format!("top\n-\n{SECRET}\n"));
    synced(&whole, &redacted);
    synced(&redacted, &third);
    third.str_replace("/memories/f.md", "top", "TOP").unwrap();
    synced(&third, &whole);
    assert!(has(&whole, SECRET) && has(&whole, "TOP"), "{:?}", files(&whole));
}

/// A store in which a directory cannot be read.
struct Unreadable(Arc<dyn Store>);

const HIDDEN: &str = "/memories/d";

impl Layer for Unreadable {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        if path.as_str().starts_with(HIDDEN) {
            return Err(StoreError::PermissionDenied);
        }
        self.0.read_in(context, path)
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        if path.as_str().starts_with(HIDDEN) {
            return Err(StoreError::PermissionDenied);
        }
        self.0.open_in(context, path, depth)
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.0.files_in(context, &mut |entry| {
            if !entry.path.as_str().starts_with(HIDDEN) {
                visit(entry);
            }
        })
    }
}

#[test]
fn an_unreadable_file_is_not_deleted_after_a_sync_with_a_memory_that_lacks_it() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let (a, b) = (on(&store), memory());
    for name in ["d/1.md", "d/2.md", "k1.md", "k2.md", "k3.md", "k4.md"] {
        put(&a, &format!("/memories/{name}"), name);
    }
    synced(&a, &b);
    let unreadable: Arc<dyn Store> = Arc::new(Unreadable(Arc::clone(&store)));
    let hidden = on(&unreadable);
    let said = synced(&hidden, &b);
    assert_eq!(
        left_out(&said),
        [("d/1.md", SyncReason::Unreadable), ("d/2.md", SyncReason::Unreadable)]
    );
    synced(&hidden, &memory());
    let said = synced(&hidden, &b);
    assert_eq!((left_out(&said).len(), done(&said)), (2, vec![]));
    assert_eq!(files(&b).len(), 6);
    assert_eq!(done(&synced(&a, &b)), [""; 0]);
}

#[test]
fn a_conflict_that_the_second_memory_wins_in_one_direction_stays_a_difference() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/f.md", "base\n");
    synced(&a, &b);
    put(&a, "/memories/f.md", "A1\n");
    put(&b, "/memories/f.md", "B1\n");
    let mut options = one_way();
    options.on_conflict = memdir::OnConflict::B;
    for _ in 0..2 {
        let said = try_sync(&a, &b, &options).unwrap();
        assert_eq!((done(&said), left_out(&said)), (vec![], vec![("f.md", SyncReason::OneWay)]));
    }
    assert_eq!(synced(&a, &b).conflicts.len(), 1);
    assert!(has(&a, "A1") && has(&a, "B1"));
}

#[test]
fn a_large_file_stays_as_it_is() {
    let large = "x".repeat(1_000);
    let (a, b) = (memory(), memory());
    put(&a, "/memories/deleted.md", &large);
    put(&a, "/memories/renamed.md", &(large.clone() + "y"));
    synced(&a, &b);
    a.delete("/memories/deleted.md").unwrap();
    rename(&a, "renamed.md", "moved.md");
    let mut options = options();
    options.max_file_bytes = Some(100);
    let before = files(&b);
    let said = try_sync(&a, &b, &options).unwrap();
    assert_eq!((done(&said), said.left_out.len()), (vec![], 3), "{said:?}");
    assert_eq!(files(&b), before);
    assert_eq!(done(&synced(&a, &b)), ["b deleted deleted.md", "b renamed renamed.md -> moved.md"]);
}

#[test]
fn a_direction_may_change_between_two_syncs() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let (a, b) = (on(&store), memory());
    put(&a, "/memories/f.md", "1\n-\n2\n");
    put(&a, "/memories/g.md", "g\n");
    synced(&a, &b);
    // In one direction, a deletion goes over, and nothing is written to the first memory.
    a.delete("/memories/g.md").unwrap();
    put(&a, "/memories/f.md", "one\n-\n2\n");
    put(&b, "/memories/f.md", "1\n-\ntwo\n");
    let kept = || {
        let directory = at("/memories/.memdir-sync");
        let listed = store.list(&directory).unwrap().into_iter();
        listed
            .map(|entry| (entry.path.clone(), store.read(&entry.path).unwrap()))
            .collect::<Vec<_>>()
    };
    let before = kept();
    let said = try_sync(&a, &b, &one_way()).unwrap();
    assert_eq!(done(&said), ["b merged f.md", "b deleted g.md"]);
    assert_eq!(kept(), before);
    // And back again: nothing is a conflict, as it is known which content includes which.
    put(&a, "/memories/h.md", "h\n");
    put(&a, "/memories/f.md", "one\n-\ntwo\n");
    let said = synced(&a, &b);
    assert_eq!(said.conflicts, [], "{said:?}");
    assert_eq!(files(&a), files(&b));
}

#[test]
fn a_change_after_a_sync_in_one_direction_is_no_conflict() {
    let (a, b) = (memory(), memory());
    put(&a, "/memories/f.md", "1\n");
    try_sync(&a, &b, &one_way()).unwrap();
    put(&a, "/memories/f.md", "2\n");
    let said = synced(&a, &b);
    assert_eq!((said.conflicts.len(), done(&said)), (0, vec!["b replaced f.md".to_owned()]));
    // From now on, the first memory keeps its versions itself.
    let kept = b.store().list(&at("/memories/.memdir-sync")).unwrap();
    let versions = kept.iter().filter(|entry| entry.path.as_str().ends_with("versions"));
    assert_eq!(versions.count(), 1, "{kept:?}");
}

#[test]
fn a_conflict_that_a_full_memory_cannot_keep_leaves_no_copy_in_the_other() {
    let mut limit = MemoryOptions::default();
    limit.max_files = Some(1);
    let (a, b) = (memory(), Memory::open("memory:", limit).unwrap());
    put(&a, "/memories/f.md", "base\n");
    synced(&a, &b);
    for number in 0..3 {
        put(&a, "/memories/f.md", &format!("A{number}\n"));
        put(&b, "/memories/f.md", &format!("B{number}\n"));
        let said = synced(&a, &b);
        assert_eq!((done(&said), left_out(&said)), (vec![], vec![("f.md", SyncReason::Refused)]));
        assert_eq!((files(&a).len(), files(&b).len()), (1, 1));
    }
}

#[test]
fn a_content_that_comes_back_after_a_deletion_is_kept() {
    for turned in [false, true] {
        let [a, b, c] = three(&[("stays.md", "stays\n"), ("x.md", "1\n2\n3\n")]);
        c.delete("/memories/x.md").unwrap();
        synced(&a, &c);
        synced(&b, &c);
        put(&a, "/memories/x.md", "1\n2\n3\n");
        put(&b, "/memories/x.md", "another\n");
        let (one, other) = if turned { (&b, &a) } else { (&a, &b) };
        assert_eq!(synced(one, other).conflicts.len(), 1);
        let texts: Vec<String> = files(&a).into_values().collect();
        assert!(texts.contains(&"1\n2\n3\n".to_owned()), "{texts:?}");
        assert!(texts.contains(&"another\n".to_owned()), "{texts:?}");
        assert_eq!(files(&a), files(&b));
    }
}

#[test]
fn a_line_that_comes_back_after_a_third_memory_has_removed_it_is_kept() {
    for (of_a, of_b, is_conflict) in [
        ("1\n2\n3\n", "one\n3\n", true),
        ("1\n2\n3\nmore\n", "one\n3\n", true),
        ("1\n3\n", "one\n3\n", false),
    ] {
        let [a, b, c] = three(&[("stays.md", "stays\n"), ("x.md", "1\n2\n3\n")]);
        put(&c, "/memories/x.md", "1\n3\n");
        synced(&a, &c);
        synced(&b, &c);
        put(&a, "/memories/x.md", of_a);
        put(&b, "/memories/x.md", of_b);
        let conflicts = synced(&a, &b).conflicts;
        assert_eq!(!conflicts.is_empty(), is_conflict, "{of_a:?}");
        let all: String = files(&a).into_values().collect();
        for line in of_a.lines().chain(of_b.lines()).filter(|line| is_conflict || *line != "1") {
            assert!(all.lines().any(|there| there == line), "{line}: {all}");
        }
        assert_eq!(files(&a), files(&b));
    }
}

#[test]
fn changes_on_top_of_those_of_a_third_memory_are_merged_after_a_sync_of_each_pair() {
    let [a, b, c] = three(&[("stays.md", "stays\n"), ("x.md", "1\n2\n3\n")]);
    put(&c, "/memories/x.md", "1\n2\n3\nof c\n");
    for (one, other) in [(&a, &c), (&b, &c), (&a, &b)] {
        synced(one, other);
    }
    put(&a, "/memories/x.md", "one\n2\n3\nof c\n");
    put(&b, "/memories/x.md", "1\n2\nthree\nof c\n");
    synced(&a, &b);
    assert_equal(&a, &b, &[("stays.md", "stays\n"), ("x.md", "one\n2\nthree\nof c\n")]);
    // Lines that are only added are merged in any case.
    put(&c, "/memories/x.md", "one\n2\nthree\nof c\nmore\n");
    synced(&a, &c);
    synced(&b, &c);
    put(&a, "/memories/x.md", "one\n2\nthree\nof c\nmore\nof a\n");
    put(&b, "/memories/x.md", "one\n2\nthree\nof c\nmore\nof b\n");
    synced(&a, &b);
    assert_equal(
        &a,
        &b,
        &[("stays.md", "stays\n"), ("x.md", "one\n2\nthree\nof c\nmore\nof a\nof b\n")],
    );
}

#[test]
fn an_edit_during_the_first_copy_of_a_file_is_a_change() {
    let all = [memory(), memory(), memory()];
    let [a, b, c] = &all;
    put(c, "/memories/x.md", "1\n2\n3\n");
    // The second sync knows the content, so it does not read it before it is copied.
    synced(a, c);
    synced(a, c);
    let mut agent = |at: SyncProgress<'_>| {
        if at.phase == SyncPhase::Changing {
            put(a, "/memories/x.md", "1\n2\n3\nby the agent\n");
        }
        ControlFlow::Continue(())
    };
    sync(a, b, &options(), &mut agent).unwrap();
    put(c, "/memories/x.md", "one\n2\n3\n");
    meet(&all);
    assert_all_have(&all, ["by the agent", "one"]);
}

fn swap(memory: &Memory, one: &str, other: &str) {
    rename(memory, one, "swapped.md");
    rename(memory, other, one);
    rename(memory, "swapped.md", other);
}

#[test]
fn a_rename_after_a_swap_that_a_third_memory_passes_on_loses_no_file() {
    let all = [memory(), memory(), memory()];
    let [a, b, c] = &all;
    put(c, "/memories/x.md", "ONE\n");
    put(c, "/memories/y.md", "TWO\n");
    synced(c, b);
    synced(c, a);
    swap(a, "x.md", "y.md");
    synced(b, a);
    b.insert("/memories/x.md", 1, "new\n").unwrap();
    rename(a, "y.md", "d.md");
    rename(a, "x.md", "y.md");
    synced(a, c);
    synced(c, b);
    synced(a, b);
    meet(&all);
    assert_all_have(&all, ["ONE", "TWO", "new"]);

    let all = [memory(), memory(), memory()];
    let [a, b, c] = &all;
    put(c, "/memories/x.md", "ONE\n");
    synced(a, c);
    put(b, "/memories/y.md", "TWO\n");
    synced(b, c);
    swap(b, "x.md", "y.md");
    synced(b, c);
    rename(c, "x.md", "e.md");
    synced(a, b);
    rename(a, "x.md", "d.md");
    swap(a, "d.md", "y.md");
    put(c, "/memories/x.md", "NEW\n");
    synced(a, b);
    synced(a, c);
    synced(b, c);
    meet(&all);
    assert_all_have(&all, ["ONE", "TWO", "NEW"]);
}
