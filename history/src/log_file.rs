//! [`LogFile`]: the journal of a local directory, a log of segments that records are appended to.
//!
//! It is beside the directory of the files, where no command can reach it: `./memory/history` beside
//! `./memory/memories`. Each append opens it again ([`log_writer`](super::log_writer)), so nothing stays open between
//! commands, as with the files. The order of the records is the order of the log.

use std::collections::HashSet;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use memdir_store::HistoryId;
use memdir_store::{Context, Durability, StoreError};

use super::journal::{
    Appended, AppendedTogether, Journal, Loaded, Locked, OpenSegment, Pen, Rewrite, Stored,
};
use super::log_directory::{ACTIVE, DAMAGED, LogDirectory, OLD, Opening, SEGMENTS, TURN};
use super::log_segment::{FrameAt, Segment, SegmentId};
use super::log_writer::{Alone, LogWriter};
use super::new_segments::{NewSegments, SEGMENT_BYTES, remove_damaged, remove_leftovers};
use super::place::Place;
use super::record::{Damaged, Record};
use super::record_form::RecordForm;

const DAMAGED_HEAD: &str = "the first bytes of a segment are damaged";

pub(super) struct LogFile {
    pub(super) directory: PathBuf,
    pub(super) durability: Durability,
    form: RecordForm,
}

impl LogFile {
    pub(super) fn new(directory: PathBuf, durability: Durability, form: RecordForm) -> Self {
        Self { directory, durability, form }
    }

    pub(super) fn failed(operation: &'static str) -> impl Fn(Error) -> StoreError {
        move |error| match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full,
            ErrorKind::PermissionDenied => StoreError::PermissionDenied,
            ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
            _ => StoreError::failed(operation, error).unchanged(),
        }
    }

    /// Ends the active segment if it is full. If that fails, the next change can do it.
    fn begin_segment(&self, size: u64) -> Result<(), Error> {
        /// From this size in bytes on, this waits for the lock instead of leaving it to the next change.
        const LONG: u64 = 4 * SEGMENT_BYTES;
        if size < SEGMENT_BYTES {
            return Ok(());
        }
        let alone = match LogWriter::alone_if_free(&self.directory, self.durability)? {
            Some(alone) => alone,
            None if size < LONG => return Ok(()),
            None => LogWriter::alone(&self.directory, self.durability)?,
        };
        if alone.writer.size()? < SEGMENT_BYTES {
            return Ok(());
        }
        let active = alone.directory.file_there(ACTIVE, Opening::Read)?;
        let Some((id, segment)) = Segment::open(active)? else { return Ok(()) };
        let mut new = NewSegments::new(&alone.directory, SEGMENTS, self.durability)?;
        for earlier in segment.earlier {
            new.keep(earlier)?;
        }
        new.keep_active(id)?;
        new.prepare(&[])?;
        new.place()
    }

    /// Removes the leftovers of a killed rewrite, if no writer has the log now.
    fn remove_leftovers(&self) -> Result<(), Error> {
        let alone = LogWriter::alone_if_free(&self.directory, self.durability)?;
        let Some(Alone { directory, .. }) = &alone else { return Ok(()) };
        remove_leftovers(directory)?;
        directory.remove(TURN)
    }

    /// Appends a note about records, and then does what is due after a change. Returns whether the note was appended.
    fn end(&self, log: LogWriter, note: &Record) -> bool {
        let is_noted = self.form.pack(note).is_ok_and(|note| log.append(&note).is_ok());
        let (size, has_leftovers) = (log.size(), log.has_leftovers);
        drop(log);
        // The change was made. If this fails, the next change does it.
        let _ = size.and_then(|size| self.begin_segment(size));
        if has_leftovers {
            let _ = self.remove_leftovers();
        }
        is_noted
    }

    /// Loads the new records. Returns `false` if the log was rewritten meanwhile, so a segment no longer exists.
    fn load_once(&self, loaded: &mut Loaded) -> Result<bool, Error> {
        let Some(history) = LogDirectory::open(&self.directory)? else {
            loaded.start_anew_if_any();
            return Ok(true);
        };
        let Some(active) = history.file(ACTIVE, Opening::Read)? else {
            return load_old(&history, loaded, &self.form).map(|()| true);
        };
        let Some((active_id, active)) = Segment::open(active)? else {
            loaded.start_anew_if_any();
            loaded.damaged.push(DAMAGED_HEAD.to_owned());
            return Ok(true);
        };
        let full = history.directory(SEGMENTS)?;
        let mut segments = active.earlier.clone();
        segments.push(active_id);
        // The log was rewritten or converted.
        if loaded.log.segments.is_empty() || !segments.starts_with(&loaded.log.segments) {
            loaded.start_anew_if_any();
        }
        if loaded.log.segments.is_empty() && history.file(DAMAGED, Opening::Read)?.is_some() {
            loaded.damaged.push(DAMAGED_HEAD.to_owned());
        }
        let mut active = Some(active);
        let known = loaded.log.segments.len().saturating_sub(1);
        for id in segments.into_iter().skip(known) {
            let opened = if id == active_id { active.take() } else { segment(full.as_ref(), id)? };
            let is_known = loaded.log.segments.last() == Some(&id);
            let Some(mut segment) = opened else {
                if !is_active(&history, active_id)? {
                    return Ok(false);
                }
                if !is_known {
                    loaded.damaged.push(format!("the segment {id} is missing or damaged"));
                    loaded.log.begin(id, 0);
                }
                continue;
            };
            if !is_known {
                loaded.log.begin(id, segment.begin);
            } else if segment.mark_before(loaded.log.end)? != Some(loaded.log.mark) {
                // A record at the end was truncated.
                loaded.start_anew();
                return Ok(false);
            }
            load_frames(&mut segment, Some(id), loaded, &self.form)?;
        }
        Ok(true)
    }

    /// The segment that contains a record.
    fn segment_of(&self, place: Place) -> Result<Option<Segment>, Error> {
        let Some(history) = LogDirectory::open(&self.directory)? else { return Ok(None) };
        let Some(id) = place.segment else {
            let file = history.file(SEGMENTS, Opening::Read)?;
            return file.map(Segment::plain).transpose();
        };
        // Try the active segment first, because a crash may have left a partial copy of it among the full ones.
        let active = history.file(ACTIVE, Opening::Read)?.map(Segment::open).transpose()?.flatten();
        match active {
            Some((now, segment)) if now == id => Ok(Some(segment)),
            _ => segment(history.directory(SEGMENTS)?.as_ref(), id),
        }
    }
}

impl Journal for LogFile {
    fn open(&self) -> Result<Pen, StoreError> {
        let log = LogWriter::shared(&self.directory, self.durability);
        Ok(Pen { log: Some(log.map_err(Self::failed("writing the history"))?) })
    }

    fn append(&self, _: &Context, pen: Pen, record: &Record) -> Result<Appended, StoreError> {
        let failed = Self::failed("writing the history");
        let record = &self.form.pack(record)?;
        let pen = if pen.log.is_some() { pen } else { self.open()? };
        let appended =
            pen.log.as_ref().map(|log| log.append(record).and_then(|at| log.flush().map(|()| at)));
        let at = appended.transpose().map_err(failed)?;
        let (place, len) = at.unwrap_or_default();
        Ok(Appended { len, is_next: false, pen, place })
    }

    fn confirm(&self, id: HistoryId, appended: Appended) -> bool {
        let (Some(log), Ok(noted)) = (appended.pen.log, HistoryId::new()) else { return false };
        let mut record = Record::new(noted, id, None);
        record.header.confirms.push(id);
        self.end(log, &record)
    }

    fn appends_together(&self) -> bool {
        true
    }

    /// With one write and one flush.
    fn append_together(
        &self,
        _: &Context,
        pen: Pen,
        records: &[Record],
    ) -> Result<AppendedTogether, StoreError> {
        let failed = Self::failed("writing the history");
        let pen = if pen.log.is_some() { pen } else { self.open()? };
        let Some(log) = &pen.log else { return Ok(AppendedTogether::default()) };
        let mut frames = Vec::new();
        for record in records {
            frames.extend(log.frame(&self.form.pack(record)?));
        }
        let appended = log.append_frames(&frames).and_then(|at| log.flush().map(|()| at));
        let (place, len) = appended.map_err(failed)?;
        let count = records.len();
        Ok(AppendedTogether { pen, count, place, len, ..AppendedTogether::default() })
    }

    fn end_together(
        &self,
        appended: AppendedTogether,
        made: &[HistoryId],
        not_made: &[HistoryId],
    ) -> bool {
        let (Some(log), Ok(noted)) = (appended.pen.log, HistoryId::new()) else { return false };
        let is_all_withdrawn = not_made.len() == appended.count;
        if is_all_withdrawn && log.retract(appended.place, appended.len) {
            return true;
        }
        let mut record = Record::new(noted, noted, None);
        record.header.confirms.extend(made);
        record.header.withdraws.extend(not_made);
        self.end(log, &record)
    }

    fn withdraw(&self, _: &Context, id: HistoryId, appended: Appended) -> Result<Pen, StoreError> {
        let pen = if appended.pen.log.is_some() { appended.pen } else { self.open()? };
        let mut record = Record::new(HistoryId::new()?, id, None);
        record.header.withdraws.push(id);
        // A loss of power may restore the record. Then the file shows that the change was not made.
        let record = self.form.pack(&record)?;
        let written = pen.log.as_ref().map(|log| log.append(&record));
        written.transpose().map_err(Self::failed("writing the history"))?;
        Ok(pen)
    }

    /// Truncates the record if it is still the last one, so repeated refusals do not grow the log.
    fn withdraw_last(
        &self,
        context: &Context,
        id: HistoryId,
        mut appended: Appended,
    ) -> Result<(), StoreError> {
        if let Some(log) = appended.pen.log.take()
            && log.retract(appended.place, appended.len)
        {
            return Ok(());
        }
        self.withdraw(context, id, appended).map(drop)
    }

    fn load(&self, _: &Context, loaded: &mut Loaded) -> Result<(), StoreError> {
        /// Each attempt fails only if the log was rewritten while it was read.
        const MAX_ATTEMPTS: usize = 100;
        for _ in 0..MAX_ATTEMPTS {
            if self.load_once(loaded).map_err(Self::failed("reading the history"))? {
                return Ok(());
            }
        }
        Err(StoreError::failed("reading the history", "gave up: other processes kept rewriting it")
            .unchanged())
    }

    fn read_next(
        &self,
        _: &Context,
        stored: &Stored,
        open: &mut OpenSegment,
    ) -> Result<Record, StoreError> {
        let failed = Self::failed("reading the history");
        let damaged = |error| StoreError::damaged("reading the history", error);
        let mut plain;
        let segment = match (&mut open.0, stored.place.segment) {
            (Some((id, segment)), Some(wanted))
                if *id == wanted && stored.place.at + stored.len <= segment.len =>
            {
                segment
            }
            (last, wanted) => {
                let segment = self.segment_of(stored.place).map_err(&failed)?;
                let segment = segment.ok_or_else(|| damaged(Damaged))?;
                match wanted {
                    Some(id) => &mut last.insert((id, segment)).1,
                    None => {
                        plain = segment;
                        &mut plain
                    }
                }
            }
        };
        let packed =
            segment.read(stored.place.at, stored.len).map_err(&failed)?.map_err(damaged)?;
        let record = self.form.record(packed)?;
        if record.header.id == stored.header.id { Ok(record) } else { Err(damaged(Damaged)) }
    }

    fn lock(&self) -> Result<Locked, StoreError> {
        let alone = LogWriter::alone(&self.directory, self.durability);
        Ok(Locked { log: Some(alone.map_err(Self::failed("rewriting the history"))?) })
    }

    fn rewrite(
        &self,
        locked: &Locked,
        rewrite: &mut Rewrite<'_>,
        note: Option<&Record>,
    ) -> Result<bool, StoreError> {
        let own;
        let alone = match &locked.log {
            Some(alone) => alone,
            None => {
                own = self.lock()?.log;
                own.as_ref().ok_or_else(|| StoreError::failed("rewriting the history", "no log"))?
            }
        };
        let mut loaded = Loaded::default();
        self.load(&Context::new(), &mut loaded)?;
        self.rewrite_segments(alone, &loaded, rewrite, note).map(|()| true)
    }

    fn append_missing(
        &self,
        records: &mut dyn Iterator<Item = Result<Record, StoreError>>,
    ) -> Result<(), StoreError> {
        self.add_missing(records)
    }

    fn erase(
        &self,
        _: &Context,
        remove_files: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.erase_log(remove_files)
    }

    fn scrub(&self) -> Result<(), StoreError> {
        self.remove_litter()
    }

    fn is_apart(&self) -> bool {
        true
    }

    fn is_cheap_to_follow(&self) -> bool {
        true
    }
}

/// A segment to be rewritten.
pub(super) struct OldSegment {
    id: SegmentId,
    pub(super) segment: Segment,
    pub(super) records: Vec<Stored>,
    /// The confirmations of records in other segments.
    confirms: Vec<HistoryId>,
    /// Whether the segment has litter that any rewrite removes: withdrawn, damaged or incomplete records.
    pub(super) has_litter: bool,
}

impl LogFile {
    /// Appends the missing records to the log, all in one step.
    fn add_missing(
        &self,
        records: &mut dyn Iterator<Item = Result<Record, StoreError>>,
    ) -> Result<(), StoreError> {
        let failed = Self::failed("writing the history");
        let alone = LogWriter::alone(&self.directory, self.durability).map_err(&failed)?;
        let mut loaded = Loaded::default();
        self.load(&Context::new(), &mut loaded)?;
        let known: HashSet<HistoryId> =
            loaded.records.iter().map(|stored| stored.header.id).collect();
        let new = NewSegments::new(&alone.directory, SEGMENTS, self.durability);
        let mut new = new.map_err(&failed)?;
        for id in &loaded.log.segments {
            let is_active = *id == alone.writer.id;
            if is_active { new.keep_active(*id) } else { new.keep(*id) }.map_err(&failed)?;
        }
        for record in records {
            let record = record?;
            if !known.contains(&record.header.id) {
                new.add(&self.form.pack(&record)?).map_err(&failed)?;
            }
        }
        new.prepare(&[]).and_then(|()| new.place()).map_err(&failed)
    }

    pub(super) fn old_segment(
        &self,
        id: SegmentId,
        loaded: &Loaded,
    ) -> Result<Option<OldSegment>, Error> {
        let Some(segment) = self.segment_of(Place { segment: Some(id), at: 0 })? else {
            return Ok(None);
        };
        let mut old = OldSegment {
            id,
            segment,
            records: Vec::new(),
            confirms: Vec::new(),
            has_litter: false,
        };
        let mut at = old.segment.begin;
        loop {
            match old.segment.frame_at(at, &self.form)? {
                FrameAt::Record { header, len } => {
                    old.confirms.extend(&header.confirms);
                    if loaded.withdrawn.contains(&header.id) || !header.withdraws.is_empty() {
                        old.has_litter = true;
                    } else if header.is_kept() {
                        let place = Place { segment: Some(id), at };
                        old.records.push(Stored { header: Arc::new(*header), place, len });
                    }
                    at += len;
                }
                FrameAt::Part(next) | FrameAt::Damage(next) => {
                    old.has_litter = true;
                    at = next;
                }
                FrameAt::End => break,
            }
        }
        old.has_litter |= at < old.segment.len;
        Ok(Some(old))
    }

    pub(super) fn rewrite_segments(
        &self,
        alone: &Alone,
        loaded: &Loaded,
        rewrite: &mut Rewrite<'_>,
        note: Option<&Record>,
    ) -> Result<(), StoreError> {
        let failed = Self::failed("rewriting the history");
        let new = NewSegments::new(&alone.directory, SEGMENTS, self.durability);
        let mut new = new.map_err(&failed)?;
        // Confirmations of records whose segment stays.
        let mut said = Record::new(HistoryId::new()?, HistoryId::new()?, None);
        for id in &loaded.log.segments {
            let Some(mut old) = self.old_segment(*id, loaded).map_err(&failed)? else { continue };
            let bytes: u64 = old.records.iter().map(|stored| stored.len).sum();
            let concerned = old.records.iter().any(|stored| (rewrite.concerns)(&stored.header));
            let is_small = bytes < SEGMENT_BYTES / 2 && new.has_room_for(bytes);
            if !concerned && !old.has_litter && !old.records.is_empty() && !is_small {
                let is_active = old.id == alone.writer.id;
                if is_active { new.keep_active(old.id) } else { new.keep(old.id) }
                    .map_err(&failed)?;
                continue;
            }
            for stored in &old.records {
                let read = old.segment.read(stored.place.at, stored.len).map_err(&failed)?;
                // Leave out damaged records: they cannot be read anyway, and may contain data that must be removed.
                let Ok(packed) = read else { continue };
                let Ok(record) = self.form.record(packed) else { continue };
                let is_concerned = (rewrite.concerns)(&record.header);
                let changed = if is_concerned { (rewrite.change)(record)? } else { Some(record) };
                let Some(mut record) = changed else { continue };
                // The record contains its own confirmation from now on. The notes of other records about it are left out.
                let id = record.header.id;
                let is_confirmed = loaded.confirmed.contains(&id);
                record.header.confirms = Vec::from_iter(is_confirmed.then_some(id));
                new.add(&self.form.pack(&record)?).map_err(&failed)?;
            }
            let own: HashSet<HistoryId> = old.records.iter().map(|own| own.header.id).collect();
            said.header.confirms.extend(old.confirms.iter().filter(|id| !own.contains(id)));
        }
        let said = (!said.header.confirms.is_empty()).then_some(said);
        let notes = note.into_iter().chain(&said).map(|record| self.form.pack(record));
        let notes = notes.collect::<Result<Vec<_>, _>>()?;
        let placed = new.prepare(&notes).and_then(|()| new.place());
        placed.and_then(|()| remove_damaged(&alone.directory)).map_err(&failed)
    }
}

/// Reads a log in the older form without segments. The next writer converts it.
fn load_old(history: &LogDirectory, loaded: &mut Loaded, form: &RecordForm) -> Result<(), Error> {
    loaded.start_anew_if_any();
    // If a conversion was killed, the name of the older form may be that of a directory.
    for name in [OLD, SEGMENTS] {
        let Ok(Some(file)) = history.file(name, Opening::Read) else { continue };
        loaded.log.end = 0;
        load_frames(&mut Segment::plain(file)?, None, loaded, form)?;
    }
    Ok(())
}

fn is_active(history: &LogDirectory, id: SegmentId) -> Result<bool, Error> {
    let Some(active) = history.file(ACTIVE, Opening::Read)? else { return Ok(false) };
    Ok(Segment::open(active)?.is_some_and(|(now, _)| now == id))
}

/// A full segment, if it exists and its first bytes are intact.
fn segment(full: Option<&LogDirectory>, id: SegmentId) -> Result<Option<Segment>, Error> {
    let Some(full) = full else { return Ok(None) };
    let Some(file) = full.file(&id.to_string(), Opening::Read)? else { return Ok(None) };
    Ok(Segment::open(file)?.filter(|(found, _)| *found == id).map(|(_, segment)| segment))
}

/// Loads the frames from where the last load ended.
fn load_frames(
    segment: &mut Segment,
    id: Option<SegmentId>,
    loaded: &mut Loaded,
    form: &RecordForm,
) -> Result<(), Error> {
    let mut at = loaded.log.end;
    loop {
        match segment.frame_at(at, form)? {
            FrameAt::Record { header, len } => {
                loaded.add(*header, Place { segment: id, at }, len);
                at += len;
            }
            FrameAt::Part(next) => at = next,
            FrameAt::Damage(next) => {
                loaded.damaged.push(format!("{} bytes at {at} are no record", next - at));
                at = next;
            }
            FrameAt::End => {
                loaded.log.mark = segment.mark_before(at)?.unwrap_or_default();
                loaded.log.end = at;
                return Ok(());
            }
        }
    }
}
