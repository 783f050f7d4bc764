//! [`LastRedaction`]: the file about a journal's last redaction, with which another process can continue it.

use std::collections::BTreeSet;
use std::sync::Arc;

use memdir_store::HistoryId;
use serde::{Deserialize, Serialize};

use super::redaction_plan::RedactionPlan;

/// The name of the file.
pub(super) const NAME: &str = "redaction";

/// A redaction that was started and is not finished.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenRedaction {
    pub(super) id: HistoryId,
    /// The place of the record with the plan's note.
    pub(super) note: u64,
    pub(super) plan: RedactionPlan,
    /// The records that could not be read when the redaction started.
    pub(super) unreadable: BTreeSet<HistoryId>,
}

/// The last redaction.
#[derive(Debug, Clone)]
pub(super) enum LastRedaction {
    Open(Arc<OpenRedaction>),
    Finished(HistoryId),
    /// The file is damaged.
    Damaged,
}

/// The id of the last redaction, and whether it is open. `None` if there was none.
pub(super) type RedactionState = Option<(HistoryId, bool)>;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written<O> {
    Open(O),
    Finished(HistoryId),
}

impl LastRedaction {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        match serde_json::from_slice(bytes) {
            Ok(Written::Open(open)) => Self::Open(Arc::new(open)),
            Ok(Written::Finished(id)) => Self::Finished(id),
            Err(_) => Self::Damaged,
        }
    }

    /// The bytes for a finished redaction.
    pub(super) fn finished(id: HistoryId) -> Vec<u8> {
        // A struct of texts and numbers always becomes JSON.
        serde_json::to_vec(&Written::<()>::Finished(id)).unwrap_or_default()
    }

    pub(super) fn state(&self) -> RedactionState {
        match self {
            Self::Open(open) => Some((open.id, true)),
            Self::Finished(id) => Some((*id, false)),
            Self::Damaged => Some((HistoryId::EARLIEST, false)),
        }
    }

    pub(super) fn open(&self) -> Option<&Arc<OpenRedaction>> {
        if let Self::Open(open) = self { Some(open) } else { None }
    }
}

impl OpenRedaction {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(&Written::Open(self)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written() {
        let id = HistoryId::new().unwrap();
        let (note, plan) = (u64::MAX, RedactionPlan::default());
        let open = OpenRedaction { id, note, plan, unreadable: BTreeSet::from([id]) };
        let read = LastRedaction::from_bytes(&open.to_bytes());
        assert_eq!(read.open().map(|open| &**open), Some(&open));
        assert_eq!(read.state(), Some((id, true)));
        let finished = LastRedaction::from_bytes(&LastRedaction::finished(id));
        assert_eq!((finished.state(), finished.open().is_none()), (Some((id, false)), true));
        for damaged in [&b""[..], b"{}", b"{\"open\":{}}", &open.to_bytes()[1..]] {
            assert!(matches!(LastRedaction::from_bytes(damaged), LastRedaction::Damaged));
        }
    }
}
