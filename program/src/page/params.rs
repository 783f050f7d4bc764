//! Parses the parameters of addresses and forms for the pages.

use std::str::FromStr;
use std::time::SystemTime;

use chrono::{FixedOffset, Offset as _, Utc};
use serde::Deserialize;

use super::answer::Refusal;
use super::html::Layout;
use crate::typed_time::{self, TIME_FORMS};
use memdir::history::HistoryId;
use memdir::path::MemoryPath;

/// Every parameter of any page. A page ignores the parameters that it does not use.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    /// A file or a directory.
    pub(super) path: Option<String>,
    /// The view of a file: `rendered`, `source` or `blame`; of a conflict: `edit`.
    pub(super) view: Option<String>,
    /// The first line or entry to show.
    pub(super) from: Option<String>,
    /// The search text, and its options.
    pub(super) q: Option<String>,
    pub(super) exact: Option<String>,
    pub(super) regex: Option<String>,
    pub(super) case: Option<String>,
    pub(super) past: Option<String>,
    /// The passage that a ranked search found, such as `3-5`.
    pub(super) lines: Option<String>,
    /// A version or a change, another one, and how to show their difference.
    pub(super) id: Option<String>,
    pub(super) other: Option<String>,
    pub(super) diff: Option<String>,
    /// Only the changes of this actor.
    pub(super) actor: Option<String>,
    /// The start time, as typed or from the button of a preset, and the zone of a typed time.
    pub(super) since: Option<String>,
    pub(super) preset: Option<String>,
    pub(super) zone: Option<String>,
    pub(super) before: Option<String>,
    /// The fields of a form.
    pub(super) token: Option<String>,
    pub(super) text: Option<String>,
    /// The text that was opened in the editor: its fingerprint, and the text itself.
    pub(super) base: Option<String>,
    pub(super) was: Option<String>,
    /// The fingerprint of the conflict copy that is shown, and which content stays: `original` or `copy`.
    pub(super) copy: Option<String>,
    pub(super) keep: Option<String>,
    /// Whether conflict marks in the text are intended.
    pub(super) marks: Option<String>,
    pub(super) to: Option<String>,
    pub(super) reason: Option<String>,
    /// The rule for sensitive text that found the text to redact, and the versions that contain it.
    pub(super) rule: Option<String>,
    pub(super) ids: Option<String>,
    pub(super) overwrite: Option<String>,
    /// The handling of files that were changed after an undone change.
    pub(super) skip: Option<String>,
    pub(super) merge: Option<String>,
    /// The previous action: its name, and its change.
    pub(super) done: Option<String>,
}

impl Params {
    /// The path, which must be given.
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

    /// The start time as text. The button of a preset takes precedence over the field.
    pub(super) fn typed_since(&self) -> Option<&str> {
        given(&self.preset).or_else(|| given(&self.since))
    }

    /// The start time.
    ///
    /// # Errors
    /// The problem, as a message for the user.
    pub(super) fn since(&self) -> Result<Option<SystemTime>, String> {
        let Some(typed) = self.typed_since() else { return Ok(None) };
        let time = typed_time::time_in(typed, SystemTime::now(), &self.zone());
        time.map(Some).ok_or_else(|| format!("This is not a time: use {TIME_FORMS}."))
    }

    /// The zone in which the user types times. UTC without a script, because only the script knows the browser's zone.
    pub(super) fn zone(&self) -> FixedOffset {
        given(&self.zone).and_then(typed_time::zone).unwrap_or_else(|| Utc.fix())
    }

    pub(super) fn actor(&self) -> Option<&str> {
        given(&self.actor)
    }

    pub(super) fn from(&self) -> usize {
        given(&self.from).and_then(|from| from.parse().ok()).unwrap_or(1).max(1)
    }

    /// The first and the last line of the passage.
    pub(super) fn lines(&self) -> Option<(u64, u64)> {
        let (first, last) = given(&self.lines)?.split_once('-')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    }

    pub(super) fn layout(&self) -> Layout {
        if self.diff.as_deref() == Some("side") { Layout::SideBySide } else { Layout::Inline }
    }
}

/// A field of a form; `None` if it is empty.
pub(super) fn given(field: &Option<String>) -> Option<&str> {
    field.as_deref().filter(|text| !text.is_empty())
}
