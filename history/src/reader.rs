//! [`HistoryReader`]: answers queries about a history. It changes neither the files nor the journal.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use memdir_store::backoff::Backoff;
use memdir_store::path::MemoryPath;
use memdir_store::{Context, Entry, Store, StoreError, is_own_file};

use super::index::Index;
use super::journal::Journal;
use super::kept_files;
use super::snapshot::{LoadedUntil, Snapshot};

/// Answers queries about a history: its versions, their contents, and the version that added each line. You get it from
/// [`Recorder::reader`](crate::Recorder::reader). It sees the changes of that recorder immediately.
pub struct HistoryReader {
    pub(super) store: Arc<dyn Store>,
    pub(super) journal: Arc<dyn Journal>,
    /// Whether the journal is kept among the files of the store.
    pub(super) is_inside: bool,
    /// The loaded part of the journal. The recorder adds the records that it appends.
    index: Mutex<Index>,
    /// Notes that are not in the index yet, because another call held its lock: see [`note`](Self::note).
    notes: Mutex<Vec<IndexNote>>,
    /// The snapshot that was computed last, and how far the journal was loaded then.
    snapshot: Mutex<Option<(LoadedUntil, Arc<Snapshot>)>>,
}

/// An update of the index, made by a call about its own record.
type IndexNote = Box<dyn FnOnce(&mut Index) + Send>;

impl HistoryReader {
    pub(super) fn new(store: Arc<dyn Store>, journal: Arc<dyn Journal>, is_inside: bool) -> Self {
        let (index, notes, snapshot) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { store, journal, is_inside, index, notes, snapshot }
    }

    /// The loaded part of the journal. This loads nothing.
    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        self.with_notes(self.index.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// As [`index`](Self::index), for a call that can be cancelled: another call may hold the lock while it loads the journal from a
    /// store that does not respond.
    pub(super) fn index_in(&self, context: &Context) -> Result<MutexGuard<'_, Index>, StoreError> {
        if !context.cancellation().is_possible() {
            return Ok(self.index());
        }
        let mut backoff = Backoff::new(None, context.cancellation());
        loop {
            match self.index.try_lock() {
                Ok(index) => return Ok(self.with_notes(index)),
                Err(TryLockError::Poisoned(poisoned)) => {
                    return Ok(self.with_notes(poisoned.into_inner()));
                }
                Err(TryLockError::WouldBlock) => backoff.wait()?,
            }
        }
    }

    /// Updates the index with the outcome of a record. This does not wait for a call that is loading the journal: a call that has made
    /// its change returns, even if the store does not respond to the other call. The next call that locks the index applies the update.
    pub(super) fn note(&self, note: impl FnOnce(&mut Index) + Send + 'static) {
        self.notes().push(Box::new(note));
        match self.index.try_lock() {
            Ok(index) => drop(self.with_notes(index)),
            Err(TryLockError::Poisoned(poisoned)) => drop(self.with_notes(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    fn with_notes<'i>(&self, mut index: MutexGuard<'i, Index>) -> MutexGuard<'i, Index> {
        let notes = mem::take(&mut *self.notes());
        notes.into_iter().for_each(|note| note(&mut index));
        index
    }

    fn notes(&self) -> MutexGuard<'_, Vec<IndexNote>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn last_snapshot(&self) -> MutexGuard<'_, Option<(LoadedUntil, Arc<Snapshot>)>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a path is the journal's directory or below it.
    pub(super) fn is_journal(&self, path: &MemoryPath) -> bool {
        self.is_inside && path.names().next().is_some_and(kept_files::is_reserved)
    }

    /// Whether a path belongs to the journal or to the kept index of a search, which both are no files of the memory.
    pub(super) fn is_hidden(&self, path: &MemoryPath) -> bool {
        self.is_journal(path) || is_own_file(path)
    }

    pub(super) fn hide_in(&self, entries: &mut Vec<Entry>) {
        entries.retain(|entry| !self.is_hidden(&entry.path));
    }

    /// The files of the memory.
    pub(super) fn visible_files(
        &self,
        context: &Context,
        visit: &mut dyn FnMut(Entry),
    ) -> Result<(), StoreError> {
        self.store.files_in(context, &mut |entry| {
            if !self.is_hidden(&entry.path) {
                visit(entry);
            }
        })
    }
}
