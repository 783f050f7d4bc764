//! A trim of changes of several files: each file keeps its newest versions, without a gap.
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memdir::history::{HistoryQuery, UndoOptions, Version};
use memdir::store::{Context, InProcess, Layer, Mutation};
use memdir::{Memory, MemoryOptions, Store, StoreError};

fn memory(store: &Arc<dyn Store>, kept: Option<usize>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.history_max_versions = kept;
    Memory::with_store(Arc::clone(store), options)
}

fn operations(versions: &[Version], path: &str) -> Vec<String> {
    let at = versions.iter().filter(|version| version.path.as_str() == path);
    at.map(|version| version.operation.to_string()).collect()
}

on_every_store!(a_file_whose_later_versions_went_is_not_where_it_was_before);
/// A move of two files, one of which has changed often since. The trim removes the move for that file, although the other one
/// needs it.
fn a_file_whose_later_versions_went_is_not_where_it_was_before(store: Arc<dyn Store>) {
    let one = memory(&store, None);
    one.create("/memories/d/often.md", "the first\n").unwrap();
    one.create("/memories/d/once.md", "once\n").unwrap();
    one.rename("/memories/d", "/memories/e").unwrap();
    one.rename("/memories/e/often.md", "/memories/often.md").unwrap();
    one.str_replace("/memories/often.md", "first", "second").unwrap();
    one.delete("/memories/often.md").unwrap();
    one.delete("/memories/e/once.md").unwrap();

    assert!(memory(&store, Some(2)).trim_history().unwrap() > 0);
    for later in [one, memory(&store, None)] {
        let versions = later.history(&HistoryQuery::default()).unwrap();
        assert!(!versions.iter().any(|version| version.is_current), "{versions:#?}");
        assert_eq!(operations(&versions, "/memories/e/once.md"), ["deleted", "renamed"]);
        assert_eq!(operations(&versions, "/memories/often.md"), ["deleted", "modified"]);
        assert_eq!(versions.len(), 4, "{versions:#?}");
        let contents: Vec<_> =
            versions.iter().filter_map(|version| later.read_version(version.id).ok()).collect();
        assert_eq!(contents, [b"the second\n".to_vec(), b"once\n".to_vec()]);
    }
}

/// Fails after N changes that were made: the answer is lost.
struct Failing(Arc<dyn Store>, AtomicUsize);

impl Layer for Failing {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let done = self.0.mutate(context, mutation);
        match self.1.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(StoreError::failed("a change", "the answer was lost")),
            _ => done,
        }
    }
}

/// Two files that are moved and moved back together. One of them is then changed and deleted.
fn moved_and_moved_back() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let one = memory(&store, None);
    one.create("/memories/d/e/a", "first\n").unwrap();
    one.create("/memories/d/a", "other\n").unwrap();
    one.rename("/memories/d", "/memories/x").unwrap();
    let latest = &one.history(&HistoryQuery::default()).unwrap()[0];
    one.undo(latest.change, UndoOptions::default()).unwrap();
    one.str_replace("/memories/d/e/a", "first", "second").unwrap();
    one.delete("/memories/d/e/a").unwrap();
    store
}

#[test]
fn a_trim_that_is_interrupted_among_hidden_files_leaves_no_gap() {
    for fails_at in 0.. {
        let store = moved_and_moved_back();
        let before = memory(&store, None).history(&HistoryQuery::default()).unwrap();
        let failing: Arc<dyn Store> =
            Arc::new(Failing(Arc::clone(&store), AtomicUsize::new(fails_at)));
        let is_done = memory(&failing, Some(2)).trim_history().is_ok();
        let versions = memory(&store, None).history(&HistoryQuery::default()).unwrap();
        for version in &versions {
            let was =
                before.iter().any(|was| (was.id, was.operation) == (version.id, version.operation));
            assert!(was, "{fails_at}: {version:#?}");
        }
        if is_done {
            assert!(fails_at > 1 && versions.len() < before.len(), "{fails_at}: {versions:#?}");
            return;
        }
    }
}
