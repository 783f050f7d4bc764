//! What an address or a form says, as the pages want it.

use std::str::FromStr;
use std::time::SystemTime;

use chrono::{FixedOffset, Offset as _, Utc};
use serde::Deserialize;

use super::answer::Refusal;
use super::html::Layout;
use crate::typed_time::{self, TIME_FORMS};
use memdir::history::HistoryId;
use memdir::path::MemoryPath;

/// Every parameter that a page knows. What a page has no use for is left out of account.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    /// A file or a directory.
    pub(super) path: Option<String>,
    /// Which view of a file: `rendered`, `source` or `blame`.
    pub(super) view: Option<String>,
    /// The first line or entry that is shown.
    pub(super) from: Option<String>,
    /// What is searched for, and how.
    pub(super) q: Option<String>,
    pub(super) regex: Option<String>,
    pub(super) case: Option<String>,
    pub(super) past: Option<String>,
    /// A version or a change, another one, and how their difference is shown.
    pub(super) id: Option<String>,
    pub(super) other: Option<String>,
    pub(super) diff: Option<String>,
    /// Of which changes.
    pub(super) actor: Option<String>,
    /// Since when, as a person types it or by the button of a preset, and the zone in which that is meant.
    pub(super) since: Option<String>,
    pub(super) preset: Option<String>,
    pub(super) zone: Option<String>,
    pub(super) before: Option<String>,
    /// What a form says.
    pub(super) token: Option<String>,
    pub(super) text: Option<String>,
    /// The text that was opened in the editor: its fingerprint, and itself.
    pub(super) base: Option<String>,
    pub(super) was: Option<String>,
    /// Whether conflict marks in the text are meant.
    pub(super) marks: Option<String>,
    pub(super) to: Option<String>,
    pub(super) reason: Option<String>,
    /// Which rule for sensitive text found what is redacted, and the versions that have it.
    pub(super) rule: Option<String>,
    pub(super) ids: Option<String>,
    pub(super) overwrite: Option<String>,
    /// What becomes of files that were changed since a change that is undone.
    pub(super) skip: Option<String>,
    pub(super) merge: Option<String>,
    /// What was done just before: the word for it, and its change.
    pub(super) done: Option<String>,
}

impl Params {
    /// The path, which must be there.
    pub(super) fn path(&self) -> Result<MemoryPath, Refusal> {
        Self::parsed(self.path.as_deref().unwrap_or_default())
    }

    /// The path, or the root if there is none.
    pub(super) fn path_or_root(&self) -> Result<MemoryPath, Refusal> {
        self.path
            .as_deref()
            .filter(|path| !path.is_empty())
            .map_or(Ok(MemoryPath::root()), Self::parsed)
    }

    pub(super) fn parsed(path: &str) -> Result<MemoryPath, Refusal> {
        match MemoryPath::parse(path) {
            Ok(path) if !path.is_reserved() => Ok(path),
            _ => Err(Refusal::wrong(format!("{path:?} is not a path below /memories."))),
        }
    }

    pub(super) fn id(&self) -> Result<HistoryId, Refusal> {
        Self::an_id(self.id.as_deref().unwrap_or_default())
    }

    pub(super) fn other(&self) -> Result<Option<HistoryId>, Refusal> {
        given(&self.other).map(Self::an_id).transpose()
    }

    pub(super) fn before(&self) -> Result<Option<HistoryId>, Refusal> {
        given(&self.before).map(Self::an_id).transpose()
    }

    fn an_id(id: &str) -> Result<HistoryId, Refusal> {
        HistoryId::from_str(id)
            .map_err(|_| Refusal::wrong(format!("{id:?} is not the id of a version or a change.")))
    }

    /// Since when, as it was typed. The button of a preset says more than what the field holds.
    pub(super) fn typed_since(&self) -> Option<&str> {
        given(&self.preset).or_else(|| given(&self.since))
    }

    /// Since when.
    ///
    /// # Errors
    /// What is wrong with it, for the person who typed it.
    pub(super) fn since(&self) -> Result<Option<SystemTime>, String> {
        let Some(typed) = self.typed_since() else { return Ok(None) };
        let time = typed_time::time_in(typed, SystemTime::now(), &self.zone());
        time.map(Some).ok_or_else(|| format!("This is not a time: use {TIME_FORMS}."))
    }

    /// The zone in which the person types times; UTC without a script, which knows the browser's.
    pub(super) fn zone(&self) -> FixedOffset {
        given(&self.zone).and_then(typed_time::zone).unwrap_or_else(|| Utc.fix())
    }

    pub(super) fn actor(&self) -> Option<&str> {
        given(&self.actor)
    }

    pub(super) fn from(&self) -> usize {
        given(&self.from).and_then(|from| from.parse().ok()).unwrap_or(1).max(1)
    }

    pub(super) fn layout(&self) -> Layout {
        if self.diff.as_deref() == Some("side") { Layout::SideBySide } else { Layout::Inline }
    }
}

/// What a field of a form that is empty says is nothing.
pub(super) fn given(field: &Option<String>) -> Option<&str> {
    field.as_deref().filter(|text| !text.is_empty())
}
