//! [`HistorySize`]: the size of a history.

use memdir_store::{Context, StoreError};
use serde::Serialize;

use super::error::HistoryError;
use super::reader::HistoryReader;

/// The size of the history of a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HistorySize {
    /// The number of versions of all files, including deleted files.
    pub versions: u64,
    /// The total size of its records in bytes, as `history_max_bytes` counts them.
    pub bytes: u64,
}

impl HistoryReader {
    /// The size of the history.
    ///
    /// # Errors
    /// Only failures of the store.
    pub fn size(&self, context: &Context) -> Result<HistorySize, StoreError> {
        let snapshot = self.snapshot(context).map_err(|error| match error {
            HistoryError::Store(error) => error,
            error => StoreError::failed("reading the history", error),
        })?;
        let bytes = snapshot.records.iter().map(|stored| stored.len).sum();
        Ok(HistorySize { versions: snapshot.timeline.moments.len() as u64, bytes })
    }
}
