//! The ranked search is never behind the store, and reads no more than what has changed.
#![cfg(feature = "search")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "`on_every_store` passes a store")]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memdir::policy::StaleGuard;
use memdir::store::{Fingerprints, Store};
use memdir::{Memory, MemoryPath};

use crate::common::search::{FILES, counting, found, found_by_both, options, over, paths};
use crate::common::store_helpers::{at, put};

fn every_change_is_found_at_once(store: Arc<dyn Store>) {
    let (memory, other) = (over(&store), over(&store));
    let is = |query: &str, expected: &[&str]| {
        assert_eq!(found_by_both(&memory, query), expected, "{query}");
    };
    is("green", &[]);
    other.create("/memories/tea.md", "green\n").unwrap();
    is("green", &["/memories/tea.md"]);
    other.str_replace("/memories/tea.md", "green", "black").unwrap();
    is("green", &[]);
    is("black", &["/memories/tea.md"]);
    // Equal sizes, one after the other.
    for number in 10..30 {
        let word = format!("{}{}", ["white", "black"][number % 2], number);
        other.write("/memories/tea.md", &word, None).unwrap();
        let quoted = format!("\"{word}\"");
        is(&quoted, &["/memories/tea.md"]);
        store
            .update(&at("/memories/tea.md"), &mut |old| {
                Some(memdir::store::Splice {
                    range: 0..old.len(),
                    text: format!("other{number}").into(),
                })
            })
            .unwrap();
        is(&quoted, &[]);
    }
    other.insert("/memories/tea.md", 0, "a new line").unwrap();
    is("line", &["/memories/tea.md"]);
    other.create("/memories/dir/sub/a.md", "oolong").unwrap();
    other.create("/memories/mounted/b.md", "oolong tea").unwrap();
    is("oolong path:dir", &["/memories/dir/sub/a.md"]);
    other.rename("/memories/dir", "/memories/moved").unwrap();
    is("oolong path:moved", &["/memories/moved/sub/a.md"]);
    is("oolong path:dir", &[]);
    // A file at the path of another one, in one step each.
    other.rename("/memories/tea.md", "/memories/was.md").unwrap();
    other.rename("/memories/moved/sub/a.md", "/memories/tea.md").unwrap();
    is("oolong path:tea", &["/memories/tea.md"]);
    other.delete("/memories/moved").unwrap();
    other.delete("/memories/was.md").unwrap();
    is("line", &[]);
    // A directory instead of a file, and the other way round.
    other.delete("/memories/tea.md").unwrap();
    other.create("/memories/tea.md/a", "sencha").unwrap();
    is("sencha", &["/memories/tea.md/a"]);
    other.delete("/memories/tea.md").unwrap();
    other.create("/memories/tea.md", "matcha").unwrap();
    is("sencha", &[]);
    is("matcha", &["/memories/tea.md"]);
    // A time that is set.
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    store.set_modified(&at("/memories/tea.md"), past).unwrap();
    is("matcha", &["/memories/tea.md"]);
    assert_eq!(
        memory.search("matcha", "/memories", 1).unwrap().hits[0].modified,
        store
            .list(&MemoryPath::root())
            .unwrap()
            .iter()
            .find(|entry| entry.is_file())
            .unwrap()
            .modified
    );
    other.clear().unwrap();
    is("matcha", &[]);
    other.create("/memories/tea.md", "matcha").unwrap();
    is("matcha", &["/memories/tea.md"]);
    assert_eq!(other.erase(false).unwrap().files, 1);
    is("matcha", &[]);
}
on_every_store!(every_change_is_found_at_once);

fn what_the_history_brings_back_is_found(store: Arc<dyn Store>) {
    let recording =
        || Memory::with_store(Arc::clone(&store), options(|options| options.history = true));
    let (memory, other) = (recording(), recording());
    other.create("/memories/tea.md", "green\n").unwrap();
    assert_eq!(found(&memory, "green"), ["/memories/tea.md"]);
    other.str_replace("/memories/tea.md", "green", "black").unwrap();
    let newest = other.history(&memdir::history::HistoryQuery::default()).unwrap()[0].clone();
    other.undo(newest.change, memdir::history::UndoOptions::default()).unwrap();
    assert_eq!(found(&memory, "green"), ["/memories/tea.md"]);
    assert!(found(&memory, "black").is_empty());
    other.delete("/memories/tea.md").unwrap();
    assert!(found(&memory, "green").is_empty());
    other.restore(newest.id, false).unwrap();
    assert_eq!(found(&memory, "black"), ["/memories/tea.md"]);
    // Past contents and the records themselves are not found.
    assert!(found(&memory, "green").is_empty());
    assert_eq!(found(&memory, "path:/").len(), 1);
}
on_every_store!(what_the_history_brings_back_is_found);

fn a_search_is_no_view_and_no_use(store: Arc<dyn Store>) {
    put(&*store, "/memories/old.md", "green");
    put(&*store, "/memories/tea.md", "green");
    store.set_modified(&at("/memories/old.md"), SystemTime::UNIX_EPOCH).unwrap();
    let memory = Memory::with_store(
        Arc::clone(&store),
        options(|options| {
            options.stale_guard = StaleGuard::Strict;
            options.expire_after = Some(Duration::from_secs(3_600));
        }),
    );
    assert_eq!(found(&memory, "green"), ["/memories/tea.md"]);
    assert_eq!(store.accessed(&at("/memories/tea.md")).unwrap(), None);
    let refused = memory.str_replace("/memories/tea.md", "green", "black").unwrap_err();
    assert!(refused.to_string().contains("You have not viewed"), "{refused}");
}
on_every_store!(a_search_is_no_view_and_no_use);

fn a_file_that_expires_while_the_memory_is_open_is_no_hit(store: Arc<dyn Store>) {
    let memory = Memory::with_store(
        Arc::clone(&store),
        options(|options| {
            options.expire_after = Some(Duration::from_secs(3_600));
            options.never_expire = vec!["/memories/pinned".parse().unwrap()];
            options.read_only_paths = vec!["/memories/rules".parse().unwrap()];
        }),
    );
    let is = |expected: &[&str]| {
        let mut hits = found(&memory, "green");
        hits.sort();
        assert_eq!(hits, expected);
    };
    let all = ["a", "b", "c", "pinned/a", "rules/a", "viewed"];
    for path in all {
        put(&*store, &format!("/memories/{path}"), "green");
    }
    is(&all.map(|path| format!("/memories/{path}")).each_ref().map(String::as_str));
    memory.view("/memories/viewed", None).unwrap();
    for path in ["a", "b", "pinned/a", "rules/a", "viewed"] {
        store.set_modified(&at(&format!("/memories/{path}")), SystemTime::UNIX_EPOCH).unwrap();
    }
    is(&["/memories/c", "/memories/pinned/a", "/memories/rules/a", "/memories/viewed"]);
    // Others take the places of expired files.
    let best = |limit| paths(&memory.search("green", "/memories", limit).unwrap()).len();
    assert_eq!([0, 1, 2, 3, 4, 5].map(best), [0, 1, 2, 3, 4, 4]);
    assert!(memory.search("green", "/memories/a", 10).unwrap().hits.is_empty());
    // A view is a use.
    memory.view("/memories/a", None).unwrap();
    assert_eq!(paths(&memory.search("green", "/memories/a", 10).unwrap()), ["/memories/a"]);
    // Without the option nothing expires.
    assert_eq!(found(&over(&store), "green").len(), all.len());
}
on_every_store!(a_file_that_expires_while_the_memory_is_open_is_no_hit);

#[test]
fn a_search_asks_for_no_more_than_what_has_changed() {
    // With a revision, nothing. With fingerprints, a listing. Without, everything.
    for (has_revision, kind, warm, after_edit) in [
        (true, Fingerprints::Exact, (0, 0), (1, 1)),
        (false, Fingerprints::Exact, (1, 0), (1, 1)),
        (false, Fingerprints::Absent, (1, FILES.len()), (1, FILES.len())),
    ] {
        let (store, memory) = counting(|store| {
            (store.has_revision, store.kind) = (has_revision, Some(kind));
        });
        assert_eq!(found(&memory, "Verträge").len(), 1);
        assert_eq!(store.counts(), (1, FILES.len()));
        for searching in [&memory, &memory.clone(), &memory.session(), &memory.acting_as("anna")] {
            found(searching, "tea");
            assert_eq!(store.counts(), warm, "{kind:?}");
        }
        memory.str_replace("/memories/tea", "milk", "water").unwrap();
        store.counts();
        assert_eq!(found(&memory, "water"), ["/memories/tea"]);
        assert_eq!(store.counts(), after_edit, "{kind:?}");
        memory.delete("/memories/tea").unwrap();
        store.counts();
        assert!(found(&memory, "water").is_empty());
        assert_eq!(
            store.counts().1,
            if kind == Fingerprints::Absent { FILES.len() - 1 } else { 0 }
        );
    }
}

#[test]
fn a_file_is_read_again_until_the_tick_of_its_last_change_is_over() {
    let now = SystemTime::now();
    for (changed, reads) in [
        (None, FILES.len()),
        (Some(now + Duration::from_secs(3_600)), FILES.len()),
        (Some(now - Duration::from_secs(3_600)), 0),
    ] {
        let (store, memory) = counting(|store| {
            (store.kind, store.changed) = (Some(Fingerprints::Likely), changed);
        });
        found(&memory, "tea");
        store.counts();
        found(&memory, "tea");
        assert_eq!(store.counts(), (1, reads), "{changed:?}");
    }
}

#[test]
fn erasing_and_redacting_drop_the_index() {
    for drop_it in [
        |memory: &Memory| drop(memory.erase(false)),
        |memory: &Memory| drop(memory.redact_past_text(&memdir::GrepQuery::text("no"), "", false)),
        |memory: &Memory| drop(memory.redact_text(&memdir::GrepQuery::text("no"), "", true)),
        |memory: &Memory| drop(memory.redact(memdir::history::HistoryId::new().unwrap(), "")),
    ] {
        let (store, memory) = counting(|store| store.has_revision = true);
        let options = options(|options| options.history = true);
        let memory = Memory::with_store(Arc::clone(memory.store()), options);
        found(&memory, "tea");
        found(&memory, "tea");
        store.counts();
        drop_it(&memory);
        store.counts();
        memory.write("/memories/tea", "tea", None).unwrap();
        store.counts();
        found(&memory, "tea");
        let left = memory.list("/memories", None).unwrap();
        assert_eq!(store.counts().1, left.iter().filter(|entry| entry.is_file()).count());
    }
}

#[test]
fn files_beyond_the_limit_of_memory_are_left_out_and_found_when_there_is_room() {
    let limited = |bytes: Option<u64>| {
        let memory =
            Memory::open("memory:", options(|options| options.search_max_bytes = bytes)).unwrap();
        for number in 0..40 {
            let text = format!("green{number} ").repeat(1_000);
            put(&**memory.store(), &format!("/memories/{number:02}"), text);
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 + number);
            memory.store().set_modified(&at(&format!("/memories/{number:02}")), time).unwrap();
        }
        memory
    };
    let search = |memory: &Memory| memory.search("path:/", "/memories", 100).unwrap();
    for bytes in [Some(0), Some(1), Some(100)] {
        let results = search(&limited(bytes));
        assert_eq!((results.hits.len(), results.files_left_out), (0, 40));
    }
    for bytes in [None, Some(u64::MAX), Some(1 << 30)] {
        let results = search(&limited(bytes));
        assert_eq!((results.hits.len(), results.files_left_out), (40, 0));
    }
    let memory = limited(Some(300_000));
    let results = search(&memory);
    let left_out = results.files_left_out;
    assert!((5..35).contains(&left_out), "{left_out}");
    assert_eq!(results.hits.len() as u64, 40 - left_out);
    // The newest are searched.
    assert!(paths(&results).iter().all(|path| path[10..].parse::<u64>().unwrap() >= left_out));
    // The same again.
    assert_eq!(search(&memory), results);
    // A new file that does not fit is left out, too, and a small one is not.
    memory.write("/memories/new", &"large ".repeat(20_000), None).unwrap();
    memory.write("/memories/small", "small", None).unwrap();
    assert_eq!(search(&memory).files_left_out, left_out + 1);
    assert_eq!(found(&memory, "small"), ["/memories/small"]);
    assert!(found(&memory, "large").is_empty());
    memory.delete("/memories/new").unwrap();
    for number in 10..40 {
        memory.delete(&format!("/memories/{number}")).unwrap();
    }
    let results = search(&memory);
    assert_eq!((results.hits.len(), results.files_left_out), (11, 0));
}
