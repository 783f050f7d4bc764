//! [`HistoryReader`]: answers what is asked of a history. It changes neither the files nor the journal.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use memdir_store::backoff::Backoff;
use memdir_store::path::MemoryPath;
use memdir_store::{Context, Entry, Store, StoreError};

use super::index::Index;
use super::journal::Journal;
use super::kept_files;
use super::snapshot::{LoadedUntil, Snapshot};

/// Answers what is asked of a history: which versions there are, what they hold, and which of them brought a line. It is that of a
/// recorder, [`Recorder::reader`](crate::Recorder::reader), and knows at once what that recorder writes.
pub struct HistoryReader {
    pub(super) store: Arc<dyn Store>,
    pub(super) journal: Arc<dyn Journal>,
    /// Whether the journal is among the files of the store.
    pub(super) is_inside: bool,
    /// What is known of the journal. The recorder notes here what it appends.
    index: Mutex<Index>,
    /// What is not noted there yet, because another call had it: see [`note`](Self::note).
    notes: Mutex<Vec<IndexNote>>,
    /// What was last computed of all this, and how far the journal was loaded then.
    snapshot: Mutex<Option<(LoadedUntil, Arc<Snapshot>)>>,
}

/// What a call has to say of its own record.
type IndexNote = Box<dyn FnOnce(&mut Index) + Send>;

impl HistoryReader {
    pub(super) fn new(store: Arc<dyn Store>, journal: Arc<dyn Journal>, is_inside: bool) -> Self {
        let (index, notes, snapshot) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { store, journal, is_inside, index, notes, snapshot }
    }

    /// What is known of the journal. Nothing is loaded here.
    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        self.with_notes(self.index.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// As [`index`](Self::index), for a call that can be cancelled: another one may be loading the journal, from a store that does
    /// not answer.
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

    /// Notes in the index what became of a record. It does not wait for a call that loads the journal: a call that has made its
    /// change ends, even if the store does not answer the other one. Whoever takes the index next finds the note in it.
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

    /// Whether a path is that of the journal, or below it.
    pub(super) fn is_hidden(&self, path: &MemoryPath) -> bool {
        self.is_inside && path.names().next().is_some_and(kept_files::is_reserved)
    }

    pub(super) fn hide_in(&self, entries: &mut Vec<Entry>) {
        if self.is_inside {
            entries.retain(|entry| !self.is_hidden(&entry.path));
        }
    }

    /// The files of the store, without those of the journal.
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
