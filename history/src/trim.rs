//! Removes the versions that exceed the limits of a history.
//!
//! If the predecessor of a version is removed, the content of the version is stored whole, so it no longer needs the predecessor.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::SystemTime;

use memdir_store::Operation;
use memdir_store::clock;
use memdir_store::{Context, HistoryId, StoreError};

use super::age_clock::{self, AgeClock};
use super::error::HistoryError;
use super::journal::Rewrite;
use super::record::{ContentId, Digest, Header, Record, Redaction};
use super::recorder::{Recorder, writable};
use super::retention::ALWAYS_KEPT;
use super::snapshot::Snapshot;
use super::timeline::Moment;
use super::trim_doubt::Decided;

/// The maximum number of retries. Each attempt fails only if another process appends a record meanwhile.
const MAX_ATTEMPTS: usize = 20;

/// The content of a version whose predecessor is removed.
struct First {
    content: ContentId,
    /// The bytes, to be stored whole. `None` if the history no longer has them.
    bytes: Option<Vec<u8>>,
    /// The redaction of the content, if it was redacted.
    redaction: Option<Redaction>,
}

impl Recorder {
    /// Removes versions beyond the limits of [`Retention`](crate::Retention). Returns the number of removed records. A recorder does this
    /// by itself once in a while.
    ///
    /// # Errors
    /// [`HistoryError::Store`].
    pub fn trim(&self, context: &Context) -> Result<usize, HistoryError> {
        if !self.parts.is_empty() {
            return writable(&self.parts).map(|(_, part)| part.recorder.trim(context)).sum();
        }
        // The first remaining version of a file is stored whole, so the history may exceed its limit of bytes again.
        let (mut trimmed, mut attempts) = (0, 0);
        loop {
            match self.trim_once(context)? {
                Some(0) => return Ok(trimmed),
                Some(records) => trimmed += records,
                None if attempts == MAX_ATTEMPTS => return Err(StoreError::Busy.into()),
                None => attempts += 1,
            }
        }
    }

    /// Returns the number of removed records. Returns `None` and removes nothing if another process appended a record meanwhile.
    fn trim_once(&self, context: &Context) -> Result<Option<usize>, HistoryError> {
        self.journal.finish_redactions()?;
        // Check before taking the lock, so that writers do not wait if there is nothing to remove.
        let snapshot = self.reader.snapshot(context)?;
        let now = self.reader.index_in(context)?.ages().now();
        if self.expired_records(&snapshot, now).is_empty() {
            self.note_doubted_time(&snapshot)?;
            return Ok(Some(0));
        }
        // While the lock is held, no change is in flight and no writer relies on a record that is removed. A journal without a lock
        // rejects the rewrite if there is a new record by then.
        let locked = self.journal.lock()?;
        let snapshot = self.reader.snapshot(context)?;
        let mut goes = self.expired_records(&snapshot, now);
        if goes.is_empty() {
            return Ok(Some(0));
        }
        let lone = take_lone_rows(&snapshot, &mut goes);
        let is_gone = |moment: &Moment| {
            let id = moment.header.id;
            goes.contains(&id) || lone.contains(&(id, moment.row))
        };
        let firsts = self.first_after(context, &snapshot, &is_gone);
        let id = HistoryId::new()?;
        let mut note = Record::new(id, id, None);
        note.header.trims = goes.last().copied().max(snapshot.timeline.trimmed);
        let mut decided = {
            let index = self.reader.index_in(context)?;
            Decided::new(&snapshot, &goes, |id| index.is_confirmed(id), locked.is_alone())
        };
        note.header.confirms.clone_from(&decided.made);
        decided.gone_rows.extend(&lone);
        // The contents of the remaining versions, and the contents that the remaining deletions found.
        let moments = snapshot.timeline.moments.iter();
        let needed: HashSet<Digest> = moments
            .filter(|moment| !is_gone(moment))
            .flat_map(|moment| {
                let is_first = firsts.contains_key(&(moment.header.id, moment.row));
                [moment.state.content(), moment.before.filter(|_| !is_first)]
            })
            .flatten()
            .map(|content| content.sha256)
            .collect();
        let is_older_note = |header: &Header| header.trims.is_some() && header.id != id;
        let is_first = |header: &Header| {
            (0..header.rows.len()).any(|row| firsts.contains_key(&(header.id, row)))
        };
        let mut rewrite = Rewrite {
            concerns: &|header| {
                goes.contains(&header.id)
                    || is_older_note(header)
                    || is_first(header)
                    || decided.concerns(header.id)
            },
            is_forced: false,
            loaded_end: Some(snapshot.loaded_end),
            change: &mut |mut record| {
                let id = record.header.id;
                let is_gone = goes.contains(&id) || decided.not_made.contains(&id);
                if is_gone || is_older_note(&record.header) {
                    return Ok(None);
                }
                let mut forgotten: HashSet<Digest> = lone
                    .iter()
                    .filter(|(of, _)| *of == id)
                    .flat_map(|(_, row)| {
                        [record.header.rows[*row].before, record.header.rows[*row].after]
                    })
                    .flatten()
                    .map(|content| content.sha256)
                    .collect();
                decided.apply(id, &mut record.header.rows);
                for row in 0..record.header.rows.len() {
                    let Some(first) = firsts.get(&(record.header.id, row)) else { continue };
                    let kept = &mut record.header.rows[row];
                    kept.is_trimmed = true;
                    let Some(First { content, bytes, redaction }) = first else { continue };
                    // If the journal has no lock, another process may have redacted the content meanwhile.
                    let has = [kept.before, kept.after].into_iter().flatten().collect::<Vec<_>>();
                    if !has.is_empty() && !has.contains(content) {
                        continue;
                    }
                    if kept.old_path.is_some() {
                        (kept.before, kept.after) = (Some(*content), Some(*content));
                        record.header.redactions.extend(redaction.clone());
                    }
                    if let Some(bytes) = bytes {
                        // The splice holds the content before it, so remove that as well.
                        let kept = &record.header.rows[row];
                        let before = kept.before.filter(|_| kept.splice.is_some());
                        forgotten.extend(before.map(|before| before.sha256));
                        record.keep(*content, bytes);
                    }
                }
                forgotten.retain(|digest| !needed.contains(digest));
                if !forgotten.is_empty() {
                    record = record.with_only(|digest| !forgotten.contains(&digest));
                }
                Ok(Some(record))
            },
        };
        let is_done = self.journal.rewrite(&locked, &mut rewrite, Some(&note))?;
        self.reader.index_in(context)?.reload(context, &*self.journal)?;
        Ok(is_done.then_some(goes.len()))
    }

    /// If records are too old only by the machine's clock, this notes its time in the journal, so the next process accepts it.
    /// Otherwise nothing would ever be removed from a memory that no longer changes.
    fn note_doubted_time(&self, snapshot: &Snapshot) -> Result<(), HistoryError> {
        let would_be_doubted = AgeClock::new(&snapshot.records).is_doubted();
        if !would_be_doubted || self.expired_records(snapshot, clock::now()).is_empty() {
            return Ok(());
        }
        let id = HistoryId::new()?;
        let mut note = Record::new(id, id, None);
        note.header.trims = Some(snapshot.timeline.trimmed.unwrap_or(HistoryId::EARLIEST));
        Ok(self.journal.append_alone(&note)?)
    }

    /// The records that exceed the limits.
    fn expired_records(&self, snapshot: &Snapshot, now: SystemTime) -> BTreeSet<HistoryId> {
        let retention = self.retention;
        let timeline = &snapshot.timeline;
        let oldest = retention.max_age.and_then(|age| now.checked_sub(age));
        let times = age_clock::times(&snapshot.records, now);
        let is_old = |id: HistoryId| {
            let time = times.get(&id).copied().unwrap_or_else(|| id.time());
            oldest.is_some_and(|oldest| time < oldest)
        };
        // The records of which a version must stay, and for the others whether age or number allows their removal.
        let (mut stays, mut may_go) = (HashSet::new(), HashSet::new());
        for file in 0..timeline.latest.len() {
            let is_there = timeline.moments[timeline.latest[file]].state.is_there();
            for (rank, number) in timeline.chain(file).enumerate() {
                let moment = &timeline.moments[number];
                let id = moment.header.id;
                if is_there && rank < ALWAYS_KEPT {
                    stays.insert(id);
                } else if !is_old(id) && retention.max_versions.is_none_or(|most| rank < most) {
                    // Kept, unless all records together exceed the limit of bytes.
                    may_go.insert((id, false));
                } else {
                    may_go.insert((id, true));
                }
            }
        }
        let mut goes: BTreeSet<HistoryId> = BTreeSet::new();
        let mut bytes: u64 = snapshot.records.iter().map(|stored| stored.len).sum();
        for stored in &snapshot.records {
            let id = stored.header.id;
            if stays.contains(&id) || stored.header.trims.is_some() {
                continue;
            }
            let is_wanted = may_go.contains(&(id, false));
            let is_too_much = retention.max_bytes.is_some_and(|most| bytes > most);
            let is_versionless = !may_go.contains(&(id, true)) && !is_wanted;
            if is_too_much || (!is_wanted && (!is_versionless || is_old(id))) {
                goes.insert(id);
                bytes = bytes.saturating_sub(stored.len);
            }
        }
        goes
    }

    /// The remaining versions whose predecessor is removed, each with its content, so that it no longer needs its predecessor.
    fn first_after(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        is_gone: &dyn Fn(&Moment) -> bool,
    ) -> HashMap<(HistoryId, usize), Option<First>> {
        let timeline = &snapshot.timeline;
        let mut firsts = HashMap::new();
        for file in 0..timeline.latest.len() {
            for number in timeline.chain(file) {
                let moment = &timeline.moments[number];
                let is_first =
                    moment.earlier.is_some_and(|earlier| is_gone(&timeline.moments[earlier]));
                if is_gone(moment) || !is_first || moment.operation == Operation::External {
                    continue;
                }
                // The record of a moved directory does not hold the contents of its files.
                let row = &moment.header.rows[moment.row];
                let content = row.after.or(moment.state.content()).or(row.before);
                let first = content.map(|content| First {
                    content,
                    bytes: self.reader.content(context, snapshot, content).ok(),
                    redaction: timeline.redaction(content).cloned(),
                });
                firsts.insert((moment.header.id, moment.row), first);
            }
        }
        firsts
    }
}

/// The rows to remove from remaining records because a later version of the same file is removed. Otherwise the file would have a gap
/// in its versions and reappear at an earlier path. A record stays whole if any of its files needs it. Adds records with no remaining
/// row to `goes`.
fn take_lone_rows(
    snapshot: &Snapshot,
    goes: &mut BTreeSet<HistoryId>,
) -> HashSet<(HistoryId, usize)> {
    let timeline = &snapshot.timeline;
    let mut lone = HashSet::new();
    for file in 0..timeline.latest.len() {
        let chain = timeline.chain(file).map(|number| &timeline.moments[number]);
        let older = chain.skip_while(|moment| !goes.contains(&moment.header.id));
        // A change by another program is removed with the row that detected it.
        let rows = older.filter(|moment| moment.operation != Operation::External);
        let stay = rows.filter(|moment| !goes.contains(&moment.header.id));
        lone.extend(stay.map(|moment| (moment.header.id, moment.row)));
    }
    for stored in &snapshot.records {
        let Header { id, rows, .. } = &*stored.header;
        let is_lone = |row: usize| lone.contains(&(*id, row));
        let stays = |row: usize| !is_lone(row) && !rows[row].is_reserved();
        if (0..rows.len()).any(is_lone) && !(0..rows.len()).any(stays) {
            goes.insert(*id);
        }
    }
    lone.retain(|(id, _)| !goes.contains(id));
    lone
}
