//! `redact`: removes a content from the history for good.
//!
//! The content goes from every record: whole, and as the splices that lead to it and from it. What those splices lead to
//! is kept whole instead, so every other version stays. In the place of its SHA-256, by which a guess could be tried,
//! stands a random mark.

use std::collections::HashMap;

use memdir_store::Context;
use memdir_store::HistoryId;

use super::error::HistoryError;
use super::journal::Rewrite;
use super::record::{ContentId, Digest, Record, Redaction};
use super::recorder::Recorder;
use super::settle::PathState;
use super::timeline::FileState;

impl Recorder {
    /// Removes the contents of a version, or of all versions of a change, and keeps `reason` in their place. Returns the id of this
    /// change; `None` if nothing was left to remove.
    ///
    /// # Errors
    /// [`HistoryError::IsCurrent`] if a file holds such a content now; as [`read_version`](Self::read_version).
    pub fn redact(
        &self,
        context: &Context,
        id: HistoryId,
        reason: &str,
    ) -> Result<Option<HistoryId>, HistoryError> {
        // Check the id before taking the lock, so that writers do not wait for an error.
        self.snapshot(context)?.numbers_of(id)?;
        let locked = self.journal.lock()?;
        let snapshot = self.snapshot(context)?;
        let timeline = &snapshot.timeline;
        let (mut marks, mut redacts) = (HashMap::new(), Vec::new());
        for number in snapshot.numbers_of(id)? {
            let moment = &timeline.moments[number];
            // A deletion whose earlier versions were trimmed still has what the file held.
            let state = match (&moment.state, moment.earlier, moment.before) {
                (FileState::Gone, None, Some(before)) => FileState::Content(before),
                (state, ..) => state.clone(),
            };
            match state {
                FileState::Content(content) if timeline.redaction(content).is_none() => {
                    let mark = Digest::of(HistoryId::new()?.to_string().as_bytes());
                    marks.insert(content.sha256, Redaction { mark, reason: reason.to_owned() });
                    redacts.push(moment.id);
                }
                FileState::Unread => return Err(HistoryError::NoContent(moment.id.to_string())),
                _ => {}
            }
        }
        if marks.is_empty() {
            return Ok(None);
        }
        for file in timeline.live.values() {
            let latest = &timeline.moments[timeline.latest[*file]];
            if let PathState::File(found) = self.found(context, &latest.path)?
                && marks.contains_key(&found)
            {
                return Err(HistoryError::IsCurrent { path: latest.path.clone() });
            }
        }
        // The contents that the splices lead to, which cannot be computed any more without them.
        let mut wholes: HashMap<Digest, Vec<u8>> = HashMap::new();
        for row in snapshot.records.iter().flat_map(|stored| &stored.header.rows) {
            let (Some(_), Some(before), Some(after)) = (row.splice, row.before, row.after) else {
                continue;
            };
            for (one, other) in [(before, after), (after, before)] {
                if marks.contains_key(&one.sha256)
                    && !marks.contains_key(&other.sha256)
                    && !wholes.contains_key(&other.sha256)
                    // What cannot be computed with them either is lost already.
                    && let Ok(content) = self.content(context, &snapshot, other)
                {
                    wholes.insert(other.sha256, content);
                }
            }
        }
        let Ok(change) = HistoryId::new() else { return Err(HistoryError::Damaged) };
        let mut record = Record::new(change, change, context.actor());
        record.header.redacts = redacts;
        let is_marked = |content: &ContentId| marks.contains_key(&content.sha256);
        let mut rewrite = Rewrite {
            concerns: &|header| header.contents().any(|content| is_marked(&content)),
            change: &mut |record| Ok(Some(redacted(record, &marks, &wholes))),
        };
        self.journal.rewrite(&locked, &mut rewrite, Some(&record))?;
        self.index().reload(context, &*self.journal)?;
        Ok(Some(change))
    }
}

fn redacted(
    record: Record,
    marks: &HashMap<Digest, Redaction>,
    wholes: &HashMap<Digest, Vec<u8>>,
) -> Record {
    let before: Vec<ContentId> = record.header.contents().collect();
    if !before.iter().any(|content| marks.contains_key(&content.sha256)) {
        return record;
    }
    let mut record = record.with_only(|digest| !marks.contains_key(&digest));
    for content in before {
        if let Some(whole) = wholes.get(&content.sha256) {
            record.keep(content, whole);
        }
        if let Some(redaction) = marks.get(&content.sha256)
            && !record.header.redactions.contains(redaction)
        {
            record.header.redactions.push(redaction.clone());
        }
    }
    for content in
        record.header.rows.iter_mut().flat_map(|row| [&mut row.before, &mut row.after]).flatten()
    {
        if let Some(redaction) = marks.get(&content.sha256) {
            *content = ContentId { sha256: redaction.mark, size: 0 };
        }
    }
    record
}
