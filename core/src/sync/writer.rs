//! [`Writer`]: changes one of the two memories, as one change in its history.

use std::sync::{Arc, Mutex, PoisonError};

use memdir_store::path::MemoryPath;

use super::both::SyncSide;
use super::error::SyncError;
use super::sources::{Sources, Taken};
use crate::history::{HistoryError, HistoryId};
use crate::memory::Memory;
use crate::store::StoreError;
use crate::unit_of_work::UnitOfWork;

/// Changes one of the two memories.
pub(super) struct Writer {
    pub(super) side: SyncSide,
    /// The memory, acting as the one who makes the changes.
    pub(super) acting: Memory,
    pub(super) has_history: bool,
    /// The versions of the other memory, for the history of this one.
    sources: Mutex<Option<Arc<Sources>>>,
    /// The change in the history, once it has begun.
    change: Mutex<Option<HistoryId>>,
}

impl Writer {
    pub(super) fn new(side: SyncSide, acting: Memory) -> Self {
        let has_history = acting.options().history;
        Self { side, acting, has_history, sources: Mutex::default(), change: Mutex::default() }
    }

    /// Names the versions of the other memory, for the history of this one.
    pub(super) fn set_sources(&self, sources: Sources) {
        let mut current = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::new(sources));
    }

    fn taking(&self, files: &[Taken<'_>]) -> Memory {
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let taking = |sources: Arc<Sources>| self.acting.taking_from(sources.of(files));
        sources.map_or_else(|| self.acting.clone(), taking)
    }

    /// Does `work`, which takes these files, as a part of the one change in the history.
    pub(super) fn working<T>(
        &self,
        taken: &[Taken<'_>],
        work: impl FnOnce(&UnitOfWork<'_>) -> T,
    ) -> T {
        if !self.has_history {
            return self.acting.working_in(None, work).0;
        }
        let acting = self.taking(taken);
        let mut change = self.change.lock().unwrap_or_else(PoisonError::into_inner);
        if change.is_some() {
            let begun = *change;
            drop(change);
            return acting.working_in(begun, work).0;
        }
        // Other threads wait until the change has an id.
        let (done, begun) = acting.working_in(None, work);
        *change = begun;
        done
    }

    /// The change in the history, once it has begun.
    pub(super) fn change(&self) -> Option<HistoryId> {
        *self.change.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Redacts versions as one change. Returns those that were not redacted, with the reasons.
    pub(super) fn redact(
        &self,
        versions: &[HistoryId],
        reason: &str,
    ) -> Result<Vec<(HistoryId, String)>, SyncError> {
        let details = match self.taking(&[]).redact_all(versions, reason) {
            Ok(_) => return Ok(Vec::new()),
            Err(HistoryError::Store(error)) => {
                return Err(self.failed(&MemoryPath::root(), error));
            }
            Err(HistoryError::IsCurrent { path }) => format!("{path} has this content now"),
            Err(error) => error.to_string(),
        };
        match versions {
            [version] => Ok(vec![(*version, details)]),
            // One of them keeps the others from it.
            versions => {
                let (some, others) = versions.split_at(versions.len() / 2);
                let mut refused = self.redact(some, reason)?;
                refused.extend(self.redact(others, reason)?);
                Ok(refused)
            }
        }
    }

    pub(super) fn failed(&self, path: &MemoryPath, error: StoreError) -> SyncError {
        SyncError::of(self.side, path, error)
    }
}
