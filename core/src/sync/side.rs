//! [`Side`]: one of the two memories, as a sync reads it. `asking` and `change` change it.

use std::sync::{Arc, Mutex, PoisonError};

use memdir_store::batch::{in_batches, read_all};
use memdir_store::path::{Folding, MemoryPath};

use super::both::SyncSide;
use super::error::{SyncError, is_missing};
use super::parallel::for_each;
use super::writer::Writer;
use crate::history::{HistoryError, HistorySnapshot};
use crate::memory::Memory;
use crate::store::{Context, Entry, Fingerprints, Node, Store, StoreError};
use crate::trust::{Moment, Seen};

/// The actor of a sync, in the history.
const ACTOR: &str = "sync";

/// The number of calls of a store in a service that run at once.
const AT_ONCE: usize = 32;

/// One of the two memories.
pub(super) struct Side<'m> {
    pub(super) side: SyncSide,
    pub(super) memory: &'m Memory,
    pub(super) writer: Arc<Writer>,
    /// Whether hooks are asked about each change.
    pub(super) asks: bool,
    pub(super) is_read_only: bool,
    /// The number of calls at once.
    pub(super) at_once: usize,
    /// Whether it is a store of the application, which may not be made for many calls at once.
    pub(super) is_own: bool,
    fingerprints: Fingerprints,
    pub(super) folding: Folding,
    pub(super) has_history: bool,
}

impl<'m> Side<'m> {
    pub(super) fn new(side: SyncSide, memory: &'m Memory) -> Self {
        let asks = memory.asks();
        Self { asks, ..Self::changed_by(side, memory, memory.acting_as(ACTOR)) }
    }

    /// A memory that is changed by the actor of `acting`. No hooks are asked.
    pub(super) fn changed_by(side: SyncSide, memory: &'m Memory, acting: Memory) -> Self {
        let info = memory.store().info();
        let is_far = info.locations.iter().any(|at| !at.is_local());
        Self {
            side,
            memory,
            writer: Arc::new(Writer::new(side, acting)),
            asks: false,
            is_read_only: info.is_read_only,
            at_once: if is_far { AT_ONCE } else { 1 },
            is_own: info.locations.is_empty(),
            fingerprints: info.fingerprints,
            folding: Folding::new(info.folds_case),
            has_history: memory.options().history,
        }
    }

    /// The store beneath the history, for what the sync keeps.
    pub(super) fn store(&self) -> &dyn Store {
        &**self.memory.without_recorder()
    }

    pub(super) fn context(&self) -> Context {
        Context::new().cancelled_by(self.memory.cancellation())
    }

    pub(super) fn can_keep(&self, path: &MemoryPath) -> bool {
        self.memory.store().can_keep(path)
    }

    /// The history; `None` if the memory has none.
    pub(super) fn history(&self) -> Result<Option<HistorySnapshot<'_>>, SyncError> {
        if !self.has_history {
            return Ok(None);
        }
        match self.memory.history_snapshot() {
            Ok(history) => Ok(Some(history)),
            Err(HistoryError::Store(error)) => Err(self.failed(&MemoryPath::root(), error)),
            Err(_) => Ok(None),
        }
    }

    pub(super) fn check(&self) -> Result<(), SyncError> {
        self.memory.cancellation().check().map_err(|_| SyncError::Stopped)
    }

    pub(super) fn failed(&self, path: &MemoryPath, error: StoreError) -> SyncError {
        SyncError::of(self.side, path, error)
    }

    pub(super) fn list(&self) -> Result<Vec<Entry>, SyncError> {
        let mut entries = Vec::new();
        let listed =
            self.memory.store().files_in(&self.context(), &mut |entry| entries.push(entry));
        listed.map_err(|error| self.failed(&MemoryPath::root(), error))?;
        Ok(entries)
    }

    /// The trust in the fingerprint of a listed file.
    pub(super) fn seen(&self, entry: &Entry, listed: (Moment, Moment)) -> Seen {
        Seen::new(entry, self.fingerprints, listed, None)
    }

    /// Reads files of these sizes, in their order. A condition of a file is passed on, and a failure of the store ends it.
    pub(super) fn read_each<'p>(
        &self,
        files: &[(&'p MemoryPath, u64)],
        visit: &mut dyn FnMut(&'p MemoryPath, Result<Vec<u8>, StoreError>) -> Result<(), SyncError>,
    ) -> Result<(), SyncError> {
        let context = self.context();
        for batch in in_batches(files, |(_, size)| *size) {
            let paths: Vec<&MemoryPath> = batch.iter().map(|(path, _)| *path).collect();
            let contents = read_all(&**self.memory.store(), &context, paths);
            for ((path, _), content) in batch.iter().zip(contents) {
                match content {
                    Err(error) if error.is_failure() => return Err(self.failed(path, error)),
                    content => visit(path, content)?,
                }
            }
        }
        Ok(())
    }

    /// The content of a file; `None` if there is none that can be read.
    pub(super) fn read(&self, path: &MemoryPath) -> Result<Option<Vec<u8>>, SyncError> {
        match self.memory.store().read_in(&self.context(), path) {
            Err(error) if error.is_failure() => Err(self.failed(path, error)),
            content => Ok(content.ok()),
        }
    }

    /// The paths that are not certainly without a file.
    pub(super) fn unreadable(&self, paths: Vec<MemoryPath>) -> Result<Vec<MemoryPath>, SyncError> {
        let unreadable = Mutex::new(Vec::new());
        for_each(self.at_once, paths, |path| {
            let context = self.context();
            let is_missing = match self.memory.store().open_in(&context, &path, 0) {
                Ok(Node::Directory(_)) => true,
                // It was created a moment ago.
                Ok(Node::File(..)) => false,
                Err(error) if is_missing(&error) => true,
                Err(error) if error.is_failure() => return Err(self.failed(&path, error)),
                Err(_) => false,
            };
            if !is_missing {
                unreadable.lock().unwrap_or_else(PoisonError::into_inner).push(path);
            }
            Ok(())
        })?;
        Ok(unreadable.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}
