//! [`ResolvedId`]: resolves part of an id that a person typed.
//!
//! Ids of one day have the same beginning, and those of first versions have similar ends. So a beginning or an end is
//! accepted if it matches exactly one version or one change.

use std::collections::HashSet;

use memdir_store::HistoryId;
use memdir_store::Operation;

use super::error::HistoryError;
use super::reading::HistorySnapshot;
use super::timeline::Moment;

/// The shortest part of an id that [`HistorySnapshot::resolve`] looks for, in hexadecimal digits.
pub const SHORTEST_ID_PART: usize = 6;

/// The result of resolving an id or part of one: see [`HistorySnapshot::resolve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedId {
    /// A version, or a change that made only this version.
    Version(HistoryId),
    /// A change that made several versions, and those versions.
    Change(HistoryId, Vec<HistoryId>),
    /// No version and no change of this history matches.
    Unknown,
    /// Several versions of several changes match.
    Ambiguous(Vec<HistoryId>),
    /// The text is neither an id nor a part of one of sufficient length ([`SHORTEST_ID_PART`]).
    NoId,
}

impl ResolvedId {
    /// The id of the version or change that `text` was resolved to.
    ///
    /// # Errors
    /// [`HistoryError::NoId`], [`HistoryError::Unknown`], [`HistoryError::Ambiguous`].
    pub fn id(self, text: &str) -> Result<HistoryId, HistoryError> {
        match self {
            Self::Version(id) | Self::Change(id, _) => Ok(id),
            Self::Unknown => Err(HistoryError::Unknown(text.to_owned())),
            Self::Ambiguous(ids) => Err(HistoryError::Ambiguous { part: text.to_owned(), ids }),
            Self::NoId => Err(HistoryError::NoId(text.to_owned())),
        }
    }
}

impl HistorySnapshot<'_> {
    /// Resolves an id, or part of one, to a version or a change. The part is the beginning or the end of the id, with at least
    /// [`SHORTEST_ID_PART`] digits. Dashes and the case of letters are ignored.
    ///
    /// ```
    /// use memdir::history::{HistoryQuery, ResolvedId};
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let memory = Memory::open("memory:", options)?;
    /// memory.create("/memories/tea.md", "green\n")?;
    /// let id = memory.history(&HistoryQuery::default())?[0].id;
    ///
    /// let (whole, reading) = (id.to_string(), memory.history_snapshot()?);
    /// assert_eq!(reading.resolve(&whole[whole.len() - 12..]), ResolvedId::Version(id));
    /// assert_eq!(reading.resolve("tea"), ResolvedId::NoId);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn resolve(&self, text: &str) -> ResolvedId {
        let digits = text.bytes().filter(|byte| *byte != b'-').count();
        let is_part = text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if !is_part || !(SHORTEST_ID_PART..=32).contains(&digits) {
            return ResolvedId::NoId;
        }
        let part: String =
            text.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
        let fits = |id: HistoryId| {
            let id: String = id.to_string().chars().filter(|c| *c != '-').collect();
            id.starts_with(&part) || id.ends_with(&part)
        };
        let moments = &self.snapshot.timeline.moments;
        let is_of_change = |moment: &&Moment| moment.operation != Operation::External;
        let versions: Vec<&Moment> = moments.iter().filter(|moment| fits(moment.id)).collect();
        let of_changes: Vec<&Moment> = moments
            .iter()
            .filter(is_of_change)
            .filter(|moment| fits(moment.header.change))
            .collect();
        let changes: HashSet<HistoryId> =
            of_changes.iter().map(|moment| moment.header.change).collect();
        let ids = |moments: &[&Moment]| moments.iter().map(|moment| moment.id).collect::<Vec<_>>();
        let is_outside =
            |version: &&Moment| !is_of_change(version) || !changes.contains(&version.header.change);
        match (&versions[..], &of_changes[..]) {
            ([], []) => ResolvedId::Unknown,
            // A whole id, or a part that matches only this version.
            ([one], []) => ResolvedId::Version(one.id),
            // A change with one version: both are the same.
            (versions, [one]) if !versions.iter().any(is_outside) => ResolvedId::Version(one.id),
            (versions, of_change) if changes.len() == 1 && !versions.iter().any(is_outside) => {
                ResolvedId::Change(of_change[0].header.change, ids(of_change))
            }
            (versions, of_changes) => {
                let mut several = ids(versions);
                several.extend(ids(of_changes));
                several.sort_unstable();
                several.dedup();
                ResolvedId::Ambiguous(several)
            }
        }
    }
}
