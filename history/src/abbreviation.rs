//! [`Named`]: what a person means by a part of an id.
//!
//! Ids of one day begin alike, and those of first versions end alike. So a beginning or an end is enough if there is one
//! version, or one change, that it fits.

use std::collections::HashSet;

use memdir_store::HistoryId;
use super::reading::Reading;
use super::timeline::Moment;
use memdir_store::Operation;

/// The shortest part of an id that is looked for, in digits.
pub(crate) const SHORTEST: usize = 6;

/// What an id, or a part of one, stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    Version(HistoryId),
    /// A change that made several versions.
    Change(HistoryId, Vec<HistoryId>),
    /// There is none.
    Nothing,
    /// Several versions of several changes.
    Several(Vec<HistoryId>),
    /// No id, and no part of one.
    NoId,
}

impl Reading<'_> {
    pub(crate) fn named(&self, text: &str) -> Named {
        let digits = text.bytes().filter(|byte| *byte != b'-').count();
        let is_part = text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if !is_part || !(SHORTEST..=32).contains(&digits) {
            return Named::NoId;
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
            ([], []) => Named::Nothing,
            // A whole id, or a part that only this version has.
            ([one], []) => Named::Version(one.id),
            // A change of one version: both are the same.
            (versions, [one]) if !versions.iter().any(is_outside) => Named::Version(one.id),
            (versions, of_change) if changes.len() == 1 && !versions.iter().any(is_outside) => {
                Named::Change(of_change[0].header.change, ids(of_change))
            }
            (versions, of_changes) => {
                let mut several = ids(versions);
                several.extend(ids(of_changes));
                several.sort_unstable();
                several.dedup();
                Named::Several(several)
            }
        }
    }
}
