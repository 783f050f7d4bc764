//! [`OpenRedaction`]: a redaction that was begun and is not finished, as a file keeps it for the process that goes on with it.

use std::collections::BTreeSet;

use memdir_store::{Entry, EntryKind, HistoryId};
use serde::{Deserialize, Serialize};

use super::redaction_plan::RedactionPlan;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenRedaction {
    pub(super) id: HistoryId,
    /// Where the record of the plan's note is.
    pub(super) note: u64,
    pub(super) plan: RedactionPlan,
    /// The records that could not be read when it began.
    pub(super) unreadable: BTreeSet<HistoryId>,
}

impl OpenRedaction {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // A struct of texts and numbers always becomes JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// What the names of their files begin with. The id of the redaction follows.
const PREFIX: &str = "redaction-";

/// The name of the file of a redaction.
pub(super) fn name(redaction: HistoryId) -> String {
    format!("{PREFIX}{redaction}")
}

/// The redactions whose files are among these entries, each with the size of its file. That of a finished one is empty.
pub(super) fn redactions_in(entries: &[Entry]) -> Vec<(HistoryId, u64)> {
    let files = entries.iter().filter_map(|entry| match entry.kind {
        EntryKind::File(size) => {
            Some((entry.path.name()?.strip_prefix(PREFIX)?.parse().ok()?, size))
        }
        EntryKind::Directory => None,
    });
    let mut redactions: Vec<(HistoryId, u64)> = files.collect();
    redactions.sort_unstable();
    redactions
}
