//! `undo`: reverts a change, or all changes since a time.
//!
//! Each file becomes what it was before the change. A later change of the file depends on the reverted change. That is a conflict,
//! unless the caller asks to skip such files, or to merge them line by line.

use std::collections::{BTreeMap, HashSet};
use std::time::SystemTime;

use memdir_store::{Context, HistoryId, Operation, StoreError};

use super::conflict::Conflict;
use super::error::HistoryError;
use super::record::Digest;
use super::recorder::Recorder;
use super::restore::Wanted;
use super::settle::PathState;
use super::snapshot::Snapshot;
use super::steps::Restored;
use super::text_merge::merge;

/// Options of an undo.
///
/// ```
/// use memdir::history::UndoOptions;
///
/// let mut options = UndoOptions::default();
/// options.dry_run = true;
/// options.merge = true;
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoOptions {
    /// Only returns the planned result and changes nothing.
    pub dry_run: bool,
    /// Skips the files that cannot be undone because of a [conflict](HistoryError::Conflict), and undoes the rest.
    /// [`Restored::skipped`] lists them.
    pub skip_conflicts: bool,
    /// Keeps later changes of other lines. If a file was changed since, the lines of the undone change are reverted, provided that no
    /// later change touches them or an adjacent line. [`RestoredFile::merged`](crate::RestoredFile::merged) is the resulting text.
    pub merge: bool,
}

impl Recorder {
    /// Undoes a change. The id may also be that of a version: then this undoes its whole change, in all of the files.
    ///
    /// # Errors
    /// As [`restore`](Self::restore), also [`HistoryError::Conflict`] with the paths that later changes depend on, and
    /// [`HistoryError::Trimmed`].
    pub fn undo(
        &self,
        context: &Context,
        id: HistoryId,
        how: UndoOptions,
    ) -> Result<Restored, HistoryError> {
        let snapshot = self.reader.snapshot(context)?;
        let numbers = snapshot.numbers_of(id)?;
        let moments = &snapshot.timeline.moments;
        let changes: HashSet<HistoryId> =
            numbers.iter().map(|number| moments[*number].header.change).collect();
        let is_meant = |number: usize| changes.contains(&moments[number].header.change);
        self.undo_all(context, &snapshot, is_meant, how)
    }

    /// Undoes all changes since a time, of one actor or of all.
    ///
    /// # Errors
    /// As [`undo`](Self::undo).
    pub fn undo_since(
        &self,
        context: &Context,
        since: SystemTime,
        actor: Option<&str>,
        how: UndoOptions,
    ) -> Result<Restored, HistoryError> {
        let snapshot = self.reader.snapshot(context)?;
        let moments = &snapshot.timeline.moments;
        let is_meant = |number: usize| {
            moments[number].id.time() >= since
                && actor.is_none_or(|actor| moments[number].header.actor.as_deref() == Some(actor))
        };
        self.undo_all(context, &snapshot, is_meant, how)
    }

    /// Undoes the changes that `is_meant` selects, each as a whole.
    fn undo_all(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        is_meant: impl Fn(usize) -> bool,
        how: UndoOptions,
    ) -> Result<Restored, HistoryError> {
        let timeline = &snapshot.timeline;
        let (mut wanted, mut conflicts) = (BTreeMap::new(), Vec::new());
        for file in 0..timeline.latest.len() {
            let chain: Vec<usize> = timeline.chain(file).collect();
            let meant = |number: &usize| {
                timeline.moments[*number].operation != Operation::External && is_meant(*number)
            };
            let Some(first) = chain.iter().rposition(meant) else { continue };
            // A later change depends on it.
            let later = chain[..first].iter().find(|number| !meant(number));
            if how.merge
                && let Some(merged) = self.merged(context, snapshot, &chain, &meant)?
            {
                wanted.insert(file, merged);
                continue;
            }
            if let Some(later) = later {
                let path = timeline.moments[chain[0]].path.clone();
                conflicts.push(Conflict::changed_by(path, &timeline.moments[*later]));
                if how.skip_conflicts {
                    continue;
                }
            }
            let first = &timeline.moments[chain[first]];
            if first.is_trimmed {
                return Err(HistoryError::Trimmed { path: first.path.clone() });
            }
            wanted.insert(file, snapshot.wanted_at(first.earlier)?);
        }
        if !conflicts.is_empty() && !how.skip_conflicts {
            return Err(HistoryError::conflict(conflicts));
        }
        let steps = loop {
            let plan = self.plan(context, snapshot, wanted.clone(), false, |_| false)?;
            if plan.conflicts.is_empty() {
                break plan.steps;
            }
            // A skipped file may be in the way of another one.
            for (file, conflict) in plan.conflicts {
                wanted.remove(&file);
                conflicts.push(conflict);
            }
            if !how.skip_conflicts {
                return Err(HistoryError::conflict(conflicts));
            }
        };
        let restored = self.apply(context, snapshot, &steps, how.dry_run)?;
        Ok(Restored { skipped: Conflict::sorted(conflicts), ..restored })
    }

    /// The content of a file without the selected changes but with the later ones: one merge for each run of selected changes, newest
    /// first. `None` if there is no later change, or if the merge has conflicts.
    fn merged(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        chain: &[usize],
        meant: &dyn Fn(&usize) -> bool,
    ) -> Result<Option<Wanted>, HistoryError> {
        let moments = &snapshot.timeline.moments;
        let latest = &moments[chain[0]];
        if !latest.state.is_there() {
            return Ok(None);
        }
        let now = match self.store.read_in(context, &latest.path) {
            Err(error) if error.is_failure() => return Err(error.into()),
            Err(_) => return Ok(None),
            Ok(now) => now,
        };
        let found = Digest::of(&now);
        let is_known = latest.state.content().is_none_or(|content| content.sha256 == found);
        let first = chain.iter().rposition(meant).unwrap_or_default();
        if is_known && chain[..first].iter().all(meant) {
            return Ok(None);
        }
        let Ok(mut text) = String::from_utf8(now) else { return Ok(None) };
        let mut path = latest.path.clone();
        let mut versions = chain.iter().copied().peekable();
        while let Some(after) = versions.next() {
            if !meant(&after) {
                continue;
            }
            let mut oldest = after;
            while let Some(older) = versions.next_if(meant) {
                oldest = older;
            }
            // If the undone change created the file, undoing it would discard the later changes too.
            let before = match moments[oldest].earlier {
                Some(before) if moments[before].state.is_there() => before,
                _ => return Ok(None),
            };
            if moments[oldest].is_trimmed {
                return Err(HistoryError::Trimmed { path: moments[oldest].path.clone() });
            }
            if moments[before].path != moments[after].path {
                if path != moments[after].path {
                    return Ok(None);
                }
                path = moments[before].path.clone();
            }
            if moments[before].state == moments[after].state {
                continue;
            }
            let text_of = |number| self.text_of(context, snapshot, number);
            let (Some(base), Some(old)) = (text_of(after)?, text_of(before)?) else {
                return Ok(None);
            };
            let merged = merge(&base, &old, &text);
            if merged.conflicts > 0 {
                return Ok(None);
            }
            text = merged.text;
        }
        Ok(Some(Wanted::Merged { path, found: PathState::File(found), text }))
    }

    /// The content after a version as text, if it is text and the history has it.
    fn text_of(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        number: usize,
    ) -> Result<Option<String>, HistoryError> {
        match self.reader.content_of(context, snapshot, number) {
            Ok(content) => Ok(String::from_utf8(content).ok()),
            Err(HistoryError::Store(error @ StoreError::Cancelled)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }
}
