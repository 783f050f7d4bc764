//! Checks a whole history: that each record is intact, and that each content can be computed.

use std::collections::HashSet;

use memdir_store::{Context, StoreError};

use super::error::HistoryError;
use super::reader::HistoryReader;
use super::timeline::FileState;

impl HistoryReader {
    /// The problems of the history, in a few words each. Empty if there are none.
    ///
    /// # Errors
    /// Only failures of the store.
    pub fn check_history(&self, context: &Context) -> Result<Vec<String>, StoreError> {
        let reading = match self.history_snapshot(context) {
            Ok(reading) => reading,
            Err(HistoryError::Store(error)) => return Err(error),
            Err(error) => return Ok(vec![error.to_string()]),
        };
        let snapshot = &reading.snapshot;
        let mut problems: Vec<String> =
            snapshot.damaged.iter().map(|damage| format!("the history: {damage}")).collect();
        // A content that is lost in one record may still be computed from others.
        for stored in &snapshot.records {
            if let Err(error) = self.journal.read(context, stored) {
                // The record may have been removed for its age just now.
                let mut index = self.index_in(context)?;
                if index.reload(context, &*self.journal).is_ok()
                    && !index.records().any(|now| now.header.id == stored.header.id)
                {
                    continue;
                }
                drop(index);
                problems.push(format!("the history: the record {}: {error}", stored.header.id));
            }
        }
        let mut seen = HashSet::new();
        for moment in &snapshot.timeline.moments {
            let FileState::Content(content) = moment.state else { continue };
            if snapshot.timeline.redaction(content).is_some() || !seen.insert(content.sha256) {
                continue;
            }
            if let Err(error) = reading.content(content) {
                let (id, path) = (moment.id, &moment.path);
                problems.push(format!("the history: version {id} of {path}: {error}"));
            }
        }
        Ok(problems)
    }
}
