//! `redact`: removes a content from the history for good.
//!
//! The content is removed from every record: as a whole content, and as the splices that lead to it and from it. The contents that
//! those splices lead to are kept whole instead, so every other version stays readable. The SHA-256 of the content is replaced by a
//! random mark, because a SHA-256 would confirm a guess. A text is also removed from the names of files that no longer exist.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use memdir_store::path::MemoryPath;
use memdir_store::{Context, HistoryId, Layer, Operation, StoreError};
use serde::Serialize;

use super::error::HistoryError;
use super::journal::Locked;
use super::record::{Digest, Record, Redaction};
use super::recorder::Recorder;
use super::redacted_names::{NameMatcher, NamesWithText};
use super::redaction_plan::{RedactionPlan, Wholes};
use super::settle::PathState;
use super::snapshot::Snapshot;
use super::timeline::FileState;
use super::version::Version;

/// The result of `redact_text`: what was removed from the history, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RedactedText {
    /// The id of the change; `None` if there was nothing to do, or with `dry_run`.
    pub change: Option<HistoryId>,
    /// The versions whose contents contain the text, newest first, as they were before.
    pub versions: Vec<Version>,
    /// With `dry_run`: the paths of the files whose present content contains the text, sorted. Without it, such files are an error.
    pub current: Vec<MemoryPath>,
    /// The paths that contained the text, as they were before, sorted. Their names are replaced by `redacted-` and random digits.
    pub names: Vec<MemoryPath>,
    /// The paths of existing files whose names contain the text, sorted. They are kept.
    pub kept_names: Vec<MemoryPath>,
}

impl Recorder {
    /// Removes the contents of versions, or of all versions of changes, and stores `reason` instead. Returns the id of this
    /// change; `None` if nothing was left to remove.
    ///
    /// # Errors
    /// [`HistoryError::IsCurrent`] if a file holds such a content now; as [`read_version`](crate::HistoryReader::read_version).
    pub fn redact(
        &self,
        context: &Context,
        ids: &[HistoryId],
        reason: &str,
    ) -> Result<Option<HistoryId>, HistoryError> {
        // Check the ids before taking the lock, so that writers do not wait for an error.
        self.reader.snapshot(context)?.numbers_of_all(ids)?;
        attempts(|| self.try_to_redact(context, ids, reason))
    }

    fn try_to_redact(
        &self,
        context: &Context,
        ids: &[HistoryId],
        reason: &str,
    ) -> Result<Option<Option<HistoryId>>, HistoryError> {
        let locked = self.journal.lock()?;
        self.journal.finish_redactions()?;
        let snapshot = self.reader.snapshot(context)?;
        let timeline = &snapshot.timeline;
        let mut found = Found::default();
        for number in snapshot.numbers_of_all(ids)? {
            let moment = &timeline.moments[number];
            // A deletion whose earlier versions were trimmed still records the content of the deleted file.
            let state = match (&moment.state, moment.earlier, moment.before) {
                (FileState::Gone, None, Some(before)) => FileState::Content(before),
                (state, ..) => state.clone(),
            };
            match state {
                FileState::Content(content) if timeline.redaction(content).is_none() => {
                    found.contents.insert(content.sha256, redaction(reason)?);
                    found.versions.push((moment.id, content.sha256));
                }
                // The file was moved with its directory and still has this content. Otherwise the content is unknown.
                FileState::Unread if timeline.is_latest(number) => {
                    return Err(HistoryError::IsCurrent { path: moment.path.clone() });
                }
                _ => {}
            }
        }
        self.redact_found(context, locked, &snapshot, found, reason)
    }

    /// Removes every content for which `has_text` returns true, from all versions, and stores `reason` instead. Also removes each name for
    /// which it returns true. If it returns true for a path but for none of its names, all names of the path are removed. Names that an
    /// existing file or directory has are kept. With `dry_run`, or if a file has such a content now, nothing is removed.
    ///
    /// # Errors
    /// [`HistoryError::AreCurrent`] if files have such a content now, unless with `dry_run`; [`HistoryError::Store`].
    pub fn redact_matching(
        &self,
        context: &Context,
        has_text: &dyn Fn(&[u8]) -> bool,
        reason: &str,
        dry_run: bool,
    ) -> Result<RedactedText, HistoryError> {
        attempts(|| self.try_to_redact_matching(context, has_text, reason, dry_run, false))
    }

    /// As [`redact_matching`](Self::redact_matching), but a content that a file has now is kept and is not an error.
    ///
    /// # Errors
    /// [`HistoryError::IsCurrent`] if a file gets such a content meanwhile; [`HistoryError::Store`].
    pub fn redact_past_matching(
        &self,
        context: &Context,
        has_text: &dyn Fn(&[u8]) -> bool,
        reason: &str,
        dry_run: bool,
    ) -> Result<RedactedText, HistoryError> {
        attempts(|| self.try_to_redact_matching(context, has_text, reason, dry_run, true))
    }

    fn try_to_redact_matching(
        &self,
        context: &Context,
        has_text: &dyn Fn(&[u8]) -> bool,
        reason: &str,
        dry_run: bool,
        keeps_current: bool,
    ) -> Result<Option<RedactedText>, HistoryError> {
        let mut locked = Locked::default();
        if !dry_run {
            locked = self.journal.lock()?;
            self.journal.finish_redactions()?;
        }
        let reading = self.reader.history_snapshot(context)?;
        let snapshot = Arc::clone(&reading.snapshot);
        let timeline = &snapshot.timeline;
        // This includes contents before a version whose predecessor was removed for its age. They have no version.
        let mut found = Found::default();
        let mut seen = HashSet::new();
        let of_versions = timeline.moments.iter().rev().filter_map(|moment| moment.state.content());
        let of_records = snapshot.records.iter().flat_map(|stored| stored.header.contents());
        for content in of_versions.chain(of_records) {
            if timeline.redaction(content).is_some() || !seen.insert(content.sha256) {
                continue;
            }
            context.check()?;
            match reading.content(content) {
                Ok(bytes) if has_text(&bytes) => {
                    found.contents.insert(content.sha256, redaction(reason)?);
                }
                // A content that cannot be computed cannot be read either.
                Ok(_) | Err(HistoryError::Damaged) => {}
                Err(error) => return Err(error),
            }
        }
        let matcher = NameMatcher::new(has_text);
        let Living { with_text, named } = self.living(context, has_text, &matcher)?;
        if keeps_current {
            found.contents.retain(|content, _| !with_text.values().any(|living| living == content));
        }
        let current: Vec<MemoryPath> = with_text.into_keys().collect();
        found.names = self.names_with(context, &matcher)?;
        let mut versions = Vec::new();
        for (number, moment) in timeline.moments.iter().enumerate() {
            let has_name = |path: &MemoryPath| found.names.has(path);
            if let Some(content) = moment.state.content()
                && found.contents.contains_key(&content.sha256)
            {
                found.versions.push((moment.id, content.sha256));
                versions.push(timeline.version(number));
            } else if moment.operation != Operation::Redacted
                && (has_name(&moment.path) || moment.old_path.as_ref().is_some_and(has_name))
            {
                found.renamed.push(moment.id);
            }
        }
        versions.reverse();
        // List a directory only if no listed file is at or below it.
        let is_told = |directory: &MemoryPath| {
            named.iter().any(|file| directory == file || directory.is_above(file))
        };
        let empty = found.names.living.iter().filter(|path| !is_told(path)).cloned();
        let mut kept_names: Vec<MemoryPath> = empty.chain(named.iter().cloned()).collect();
        kept_names.sort();
        let names = found.names.paths.iter().cloned().collect();
        if dry_run {
            let change = None;
            return Ok(Some(RedactedText { change, versions, current, names, kept_names }));
        }
        if !current.is_empty() && !keeps_current {
            return Err(HistoryError::AreCurrent { paths: current });
        }
        let redacted = self.redact_found(context, locked, &snapshot, found, reason)?;
        Ok(redacted.map(|change| RedactedText { change, versions, current, names, kept_names }))
    }

    /// The files whose present content or name matches, sorted by path.
    fn living(
        &self,
        context: &Context,
        has_text: &dyn Fn(&[u8]) -> bool,
        matcher: &NameMatcher<'_>,
    ) -> Result<Living, HistoryError> {
        let mut paths = Vec::new();
        Layer::files_in(self, context, &mut |file| paths.push(file.path))?;
        paths.sort();
        let named = paths.iter().filter(|path| matcher.is_in(path)).cloned().collect();
        let mut with_text = BTreeMap::new();
        for path in paths {
            match self.store.read_in(context, &path) {
                Ok(content) if has_text(&content) => {
                    with_text.insert(path, Digest::of(&content));
                }
                Err(error) if error.is_failure() => return Err(error.into()),
                // The file was removed meanwhile, or we may not read it.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(Living { with_text, named })
    }

    /// Removes what was found, and notes the versions. Returns the change, or `Some(None)` if nothing was found. Returns `None`
    /// if another process redacted something meanwhile.
    fn redact_found(
        &self,
        context: &Context,
        locked: Locked,
        snapshot: &Snapshot,
        found: Found,
        reason: &str,
    ) -> Result<Option<Option<HistoryId>>, HistoryError> {
        if found.contents.is_empty() && found.names.is_empty() {
            // An earlier call may have failed partway, and data that belongs to no version may contain the text.
            drop(locked);
            self.journal.scrub()?;
            return Ok(Some(None));
        }
        let change = HistoryId::new()?;
        let mut note = Record::by(context, change, change).header;
        let Found { contents, versions, names, renamed } = found;
        note.reason = Some(reason.to_owned());
        note.redacts = versions.iter().map(|(version, _)| *version).chain(renamed).collect();
        if note.redacts.is_empty() {
            // The note makes other processes load the history again.
            note.redacts.push(change);
        }
        let (names, note) = (names.new, Some(note));
        let loaded_end = Some(snapshot.loaded_end);
        let plan = RedactionPlan { contents, names, note, loaded_end, versions };
        if !plan.contents.is_empty() {
            self.check_living(context, snapshot, &plan)?;
        }
        let wholes = self.wholes_without(context, snapshot, &plan);
        if !self.journal.redact(&locked, &plan, &wholes)? {
            return Ok(None);
        }
        drop(locked);
        self.reader.index_in(context)?.reload(context, &*self.journal)?;
        self.journal.scrub()?;
        Ok(Some(Some(change)))
    }

    /// Fails if a file has one of the contents now.
    fn check_living(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        plan: &RedactionPlan,
    ) -> Result<(), HistoryError> {
        let timeline = &snapshot.timeline;
        for file in timeline.live.values() {
            let latest = &timeline.moments[timeline.latest[*file]];
            if let PathState::File(found) = self.reader.found(context, &latest.path)?
                && plan.contents.contains_key(&found)
            {
                return Err(HistoryError::IsCurrent { path: latest.path.clone() });
            }
        }
        Ok(())
    }

    /// The contents that can no longer be computed without the removed splices.
    fn wholes_without(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        plan: &RedactionPlan,
    ) -> Wholes {
        let mut wholes = Wholes::new();
        for row in snapshot.records.iter().flat_map(|stored| &stored.header.rows) {
            let (Some(_), Some(before), Some(after)) = (row.splice, row.before, row.after) else {
                continue;
            };
            for (one, other) in [(before, after), (after, before)] {
                if plan.has(one)
                    && !plan.has(other)
                    && !wholes.contains_key(&other.sha256)
                    // A content that cannot be computed now is lost already.
                    && let Ok(content) = self.reader.content(context, snapshot, other)
                {
                    wholes.insert(other.sha256, content);
                }
            }
        }
        wholes
    }
}

/// The result of `attempt`, repeated until no other process interferes.
fn attempts<T>(
    mut attempt: impl FnMut() -> Result<Option<T>, HistoryError>,
) -> Result<T, HistoryError> {
    /// Each attempt fails only if another redaction was made meanwhile.
    const MAX_ATTEMPTS: usize = 100;
    for _ in 0..MAX_ATTEMPTS {
        if let Some(done) = attempt()? {
            return Ok(done);
        }
    }
    Err(StoreError::Busy.into())
}

/// The contents and names to remove.
#[derive(Default)]
struct Found {
    contents: BTreeMap<Digest, Redaction>,
    /// The versions, each with the digest of its content.
    versions: Vec<(HistoryId, Digest)>,
    names: NamesWithText,
    /// The versions that lose a name but no content.
    renamed: Vec<HistoryId>,
}

/// The existing files that contain a text.
struct Living {
    /// Files whose content contains it, with the SHA-256 of the content.
    with_text: BTreeMap<MemoryPath, Digest>,
    named: Vec<MemoryPath>,
}

/// The replacement for a content.
fn redaction(reason: &str) -> Result<Redaction, HistoryError> {
    let mark = Digest::of(HistoryId::new()?.to_string().as_bytes());
    Ok(Redaction { mark, reason: reason.to_owned() })
}
