//! Helpers of the tests of the search: files to search, and a store that counts what a search asks it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use memdir::store::{
    Context, Entry, Fingerprint, Fingerprints, InProcess, Layer, Node, Store, StoreInfo,
};
use memdir::{Memory, MemoryOptions, MemoryPath, SearchResults, StoreError};

use super::store_helpers::put;

pub(crate) fn options(set: impl FnOnce(&mut MemoryOptions)) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    set(&mut options);
    options
}

pub(crate) fn over(store: &Arc<dyn Store>) -> Memory {
    Memory::with_store(Arc::clone(store), MemoryOptions::default())
}

pub(crate) fn found(memory: &Memory, query: &str) -> Vec<String> {
    paths(&memory.search(query, "/memories", 1_000).unwrap())
}

pub(crate) fn paths(results: &SearchResults) -> Vec<String> {
    results.hits.iter().map(|hit| hit.path.to_string()).collect()
}

/// A search of this memory, and of a new one, which reads everything.
#[track_caller]
pub(crate) fn found_by_both(memory: &Memory, query: &str) -> Vec<String> {
    let new = Memory::with_store(Arc::clone(memory.store()), memory.options().clone());
    let search = |memory: &Memory| memory.search(query, "/memories", 1_000).unwrap();
    let (results, anew) = (search(memory), search(&new));
    assert_eq!(results, anew);
    paths(&results)
}

/// Files in several languages and of several sizes.
pub(crate) const FILES: [(&str, &str); 8] = [
    ("/memories/people/anna.md", "# Anna\n\n- prefers green tea\n- lives in Boston\n"),
    ("/memories/people/ben.md", "# Ben\n\n- prefers espresso, never tea\n"),
    ("/memories/verträge.md", "Die Verträge sind nicht fertig.\n"),
    ("/memories/mounted/log.txt", "2024-03-17 deployed v1.2.3\n2024-04-17 rolled back\n"),
    ("/memories/mounted/会议.md", "会议在北京举行\n"),
    ("/memories/code/view.rs", "fn max_view_chars() -> usize { getUserById(7) }\n"),
    ("/memories/empty", ""),
    ("/memories/tea", "tea tea tea tea\r\n\r\nmilk\r\n"),
];

/// Counts operations, and can be told to do other things in them.
#[derive(Default)]
pub(crate) struct Counting {
    pub(crate) inner: InProcess,
    pub(crate) has_revision: bool,
    pub(crate) kind: Option<Fingerprints>,
    /// The time of the last change that listings have.
    pub(crate) changed: Option<SystemTime>,
    pub(crate) listings: AtomicUsize,
    pub(crate) reads: AtomicUsize,
    pub(crate) on_list: Mutex<Option<OnList>>,
    pub(crate) on_read: Mutex<Option<OnRead>>,
}

pub(crate) type OnList = Arc<dyn Fn() -> Result<(), StoreError> + Send + Sync>;
pub(crate) type OnRead = Arc<dyn Fn(&MemoryPath) -> Result<(), StoreError> + Send + Sync>;

impl Counting {
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.listings.swap(0, Ordering::SeqCst), self.reads.swap(0, Ordering::SeqCst))
    }
}

impl Layer for Counting {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn info(&self) -> StoreInfo {
        let info = self.inner.info();
        StoreInfo { fingerprints: self.kind.unwrap_or(info.fingerprints), ..info }
    }

    fn revision(&self) -> Result<Option<String>, StoreError> {
        if self.has_revision { self.inner.revision() } else { Ok(None) }
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        Ok(match self.inner.open_in(context, path, depth)? {
            Node::Directory(entries) => {
                self.listings.fetch_add(1, Ordering::SeqCst);
                let on_list = self.on_list.lock().unwrap().clone();
                on_list.map_or(Ok(()), |on_list| on_list())?;
                let listed = |entry: Entry| {
                    let entry = entry.changed_at(self.changed);
                    match self.kind {
                        Some(Fingerprints::Absent) => entry.with_fingerprint(None),
                        // The size alone.
                        Some(Fingerprints::Likely) => {
                            entry.with_fingerprint(Some(Fingerprint::of_numbers(&[1])))
                        }
                        _ => entry,
                    }
                };
                Node::Directory(entries.into_iter().map(listed).collect())
            }
            file => {
                self.reads.fetch_add(1, Ordering::SeqCst);
                file
            }
        })
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let on_read = self.on_read.lock().unwrap().clone();
        on_read.map_or(Ok(()), |on_read| on_read(path))?;
        self.inner.read_in(context, path)
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        paths.iter().try_for_each(|path| Layer::read_in(self, context, path).map(&mut *visit))
    }
}

pub(crate) fn counting(set: impl FnOnce(&mut Counting)) -> (Arc<Counting>, Memory) {
    let mut store = Counting::default();
    set(&mut store);
    let store = Arc::new(store);
    for (path, text) in FILES {
        put(&store.inner, path, text);
    }
    let memory = Memory::with_store(Arc::clone(&store) as Arc<dyn Store>, MemoryOptions::default());
    (store, memory)
}
