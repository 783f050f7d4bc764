//! [`without_journal`]: a store without the files of its history, for a reader or writer that records nothing.

use std::sync::Arc;
use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{
    BatchError, Context, Durability, Entry, FileToDelete, FileToWrite, Layer, Node, ReadOnly,
    Store, StoreError, Times,
};

use super::recorder::Recorder;

/// Hides the files of the history, which some stores keep among the files of the memory. Use it in a program that lists, copies or
/// exports the files of a memory. Changes made through it are not recorded.
///
/// ```
/// use std::sync::Arc;
/// use memdir::history::without_journal;
/// use memdir::{Memory, MemoryOptions, MemoryPath, open_store};
///
/// let mut options = MemoryOptions::default();
/// options.history = true;
/// let store = open_store("memory:", &options)?;
/// Memory::with_store(Arc::clone(&store), options).create("/memories/tea.md", "green\n")?;
/// let root = MemoryPath::root();
/// assert_eq!(store.list(&root).unwrap().len(), 2);
/// assert_eq!(without_journal(store).list(&root).unwrap().len(), 1);
/// # Ok::<(), memdir::Error>(())
/// ```
#[must_use]
pub fn without_journal(store: Arc<dyn Store>) -> Arc<dyn Store> {
    if let Some(mounts) = store.mounts() {
        let is_read_only = store.info().is_read_only;
        let shown = mounts.with_each(&mut |store| without_journal(Arc::clone(store)));
        return ReadOnly::where_asked(shown, is_read_only);
    }
    Arc::new(Hiding(Recorder::untrimmed(store, Durability::Full)))
}

struct Hiding(Recorder);

impl Layer for Hiding {
    fn inner(&self) -> &dyn Store {
        &*self.0.store
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        Layer::read_in(&self.0, context, path)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        Layer::list_in(&self.0, context, path)
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        Layer::open_in(&self.0, context, path, depth)
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        Layer::files_in(&self.0, context, visit)
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        self.0.store.write_batch(context, files)
    }

    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        self.0.store.delete_unused_batch(context, files, since, visit)
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        Layer::read_batch(&self.0, context, paths, visit)
    }

    fn read_times(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        Layer::read_times(&self.0, context, paths)
    }

    fn can_keep(&self, path: &MemoryPath) -> bool {
        !self.0.reader.is_hidden(path) && self.0.store.can_keep(path)
    }
}
