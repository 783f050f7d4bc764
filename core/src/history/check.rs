//! Checks every chain of a history: that each record is whole, and each content can be computed.

use std::collections::HashSet;

use super::recorder::Recorder;
use super::timeline::State;
use crate::store::StoreError;

impl Recorder {
    /// What is wrong with the history, in a few words each.
    pub(super) fn check_history(&self) -> Result<Vec<String>, StoreError> {
        let snapshot = match self.snapshot() {
            Ok(snapshot) => snapshot,
            Err(super::HistoryError::Store(error)) => return Err(error),
            Err(error) => return Ok(vec![error.to_string()]),
        };
        let mut problems: Vec<String> =
            snapshot.damaged.iter().map(|damage| format!("the history: {damage}")).collect();
        let mut seen = HashSet::new();
        for moment in &snapshot.timeline.moments {
            let State::Content(content) = moment.state else { continue };
            if snapshot.timeline.redaction(content).is_some() || !seen.insert(content.sha256) {
                continue;
            }
            if let Err(error) = self.content(&snapshot, content) {
                let (id, path) = (moment.id, &moment.path);
                problems.push(format!("the history: version {id} of {path}: {error}"));
            }
        }
        Ok(problems)
    }
}
