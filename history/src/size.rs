//! [`HistorySize`]: how much a history holds.

use memdir_store::{Context, StoreError};
use serde::Serialize;

use super::error::HistoryError;
use super::reader::HistoryReader;

/// How much the history of a memory holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HistorySize {
    /// The number of versions of all files, those of deleted files included.
    pub versions: u64,
    /// The bytes of its records, as `history_max_bytes` counts them.
    pub bytes: u64,
}

impl HistoryReader {
    /// How much the history holds.
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
