//! [`Journal`]: stores the records of a history.
//!
//! A record is written before its change is made, and withdrawn if the change was not made. So a crash can leave a record without
//! its change, which [`settle`](super::settle) detects, but never a change without its record.

use std::collections::HashSet;
use std::sync::Arc;

use memdir_store::HistoryId;
use memdir_store::notes::Note;
use memdir_store::{Context, StoreError};

use super::log_frame::Check;
use super::log_segment::{Segment, SegmentId};
use super::log_writer::{Alone, LogWriter};
use super::open_redaction::RedactionState;
use super::place::Place;
use super::record::{Header, Record};
use super::redaction_plan::{RedactionPlan, Wholes};

/// Stores records, and returns them in the order in which they were appended.
pub(super) trait Journal: Send + Sync {
    /// Opens the journal to write a record. The journal is not rewritten until the change of this record is made, so the loaded
    /// records stay valid.
    fn open(&self) -> Result<Pen, StoreError> {
        Ok(Pen::default())
    }

    /// Stores a record, as durably as the store keeps files.
    fn append(&self, context: &Context, pen: Pen, record: &Record) -> Result<Appended, StoreError>;

    /// As [`append`](Journal::append), for a record without a change of the store.
    fn append_alone(&self, record: &Record) -> Result<(), StoreError> {
        self.append(&Context::new(), self.open()?, record).map(drop)
    }

    /// Appends the records that the journal does not have yet and whose changes were made: all or none, if the journal can do that.
    fn append_missing(
        &self,
        records: &mut dyn Iterator<Item = Result<Record, StoreError>>,
    ) -> Result<(), StoreError> {
        let mut loaded = Loaded::default();
        self.load(&Context::new(), &mut loaded)?;
        let known: HashSet<HistoryId> =
            loaded.records.iter().map(|stored| stored.header.id).collect();
        for record in records {
            let record = record?;
            if !known.contains(&record.header.id) {
                self.append_alone(&record)?;
            }
        }
        Ok(())
    }

    /// Notes that the change of a record was made, if that is cheap. The note need not be durable.
    fn confirm(&self, id: HistoryId, appended: Appended) -> bool;

    /// Notes that the change of a record was not made, and returns the pen for another record.
    fn withdraw(
        &self,
        context: &Context,
        id: HistoryId,
        appended: Appended,
    ) -> Result<Pen, StoreError>;

    /// As [`withdraw`](Journal::withdraw), if nothing else is to be recorded.
    fn withdraw_last(
        &self,
        context: &Context,
        id: HistoryId,
        appended: Appended,
    ) -> Result<(), StoreError> {
        self.withdraw(context, id, appended).map(drop)
    }

    /// Whether the journal appends many records in less time than one by one.
    fn appends_together(&self) -> bool {
        false
    }

    /// As [`append`](Journal::append), for the records of files that are written together. Called only if the journal
    /// [appends records together](Journal::appends_together).
    fn append_together(
        &self,
        context: &Context,
        pen: Pen,
        records: &[Record],
    ) -> Result<AppendedTogether, StoreError> {
        let _ = (context, pen, records);
        Err(StoreError::failed("writing the history", "it takes one record at a time").unchanged())
    }

    /// Notes which changes of such records were made and which were not. The outcome of the others is unknown. Returns whether that is
    /// noted.
    fn end_together(
        &self,
        appended: AppendedTogether,
        made: &[HistoryId],
        not_made: &[HistoryId],
    ) -> bool {
        let _ = (appended, made, not_made);
        false
    }

    /// Ends a change with an unknown outcome. Anything that was not written yet is discarded.
    fn give_up(&self, context: &Context) {
        let _ = context;
    }

    /// Adds the headers of the records that `loaded` does not have yet. Starts over if the journal was rewritten.
    fn load(&self, context: &Context, loaded: &mut Loaded) -> Result<(), StoreError>;

    /// A whole record.
    fn read(&self, context: &Context, stored: &Stored) -> Result<Record, StoreError> {
        self.read_next(context, stored, &mut OpenSegment::default())
    }

    /// As [`read`](Journal::read), for a caller that reads several records. Drop `open` when the query ends: an open segment keeps its
    /// blocks on the disk, including redacted ones.
    fn read_next(
        &self,
        context: &Context,
        stored: &Stored,
        open: &mut OpenSegment,
    ) -> Result<Record, StoreError>;

    /// Whole records, read together. After a failure of the store the rest may be left out. The caller limits the sum of their lengths.
    fn read_together(
        &self,
        context: &Context,
        stored: &[&Stored],
    ) -> Vec<Result<Record, StoreError>> {
        let mut open = OpenSegment::default();
        stored.iter().map(|stored| self.read_next(context, stored, &mut open)).collect()
    }

    /// Prevents others from appending and rewriting until the returned value is dropped, if the journal has a lock.
    fn lock(&self) -> Result<Locked, StoreError> {
        Ok(Locked::default())
    }

    /// Replaces or removes records, and then appends `note`. Returns `false` and changes nothing if another process appended something
    /// since the journal was loaded. A journal with a lock does not need this check.
    fn rewrite(
        &self,
        locked: &Locked,
        rewrite: &mut Rewrite<'_>,
        note: Option<&Record>,
    ) -> Result<bool, StoreError>;

    /// Removes contents and names from the records, and then appends the note of the plan. `wholes` are the contents that only removed
    /// splices lead to. If a journal cannot do this in one step, [`finish_redactions`](Journal::finish_redactions) completes it, and
    /// readers never see a partial redaction. Returns `false` if another process redacted something since the journal was loaded,
    /// because the plan does not include it.
    fn redact(
        &self,
        locked: &Locked,
        plan: &RedactionPlan,
        wholes: &Wholes,
    ) -> Result<bool, StoreError> {
        let mut rewrite = Rewrite {
            concerns: &|header| plan.concerns(header),
            is_forced: false,
            loaded_end: plan.loaded_end,
            change: &mut |record| Ok(Some(plan.apply(plan.with_wholes(record, wholes)))),
        };
        self.rewrite(locked, &mut rewrite, plan.note().as_ref())
    }

    /// Completes redactions that were interrupted.
    fn finish_redactions(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Removes all records for good. `remove_files` removes the files. If the journal has a lock, no change is in flight meanwhile.
    ///
    /// The files are removed first. So a failure or a crash can leave the records of files that are gone, which a second call
    /// removes, but never files whose records are gone.
    fn erase(
        &self,
        context: &Context,
        remove_files: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Removes all leftovers from where the journal is kept: data that rewrites removed, for example in the free space of a database,
    /// and leftovers of crashes and damage in a log. The caller must not hold the lock of the journal.
    fn scrub(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether a record may be appended while the store makes a change. True if the journal needs no lock of the store.
    fn is_apart(&self) -> bool;

    /// Whether a record is in the transaction of its change. Then the record of a refused change costs nothing, so the change need not
    /// be checked before it is recorded.
    fn is_in_transaction(&self) -> bool {
        false
    }

    /// Whether [`load`](Journal::load) is cheap if there is little new: it reads the end of a file, and lists no
    /// directory.
    fn is_cheap_to_follow(&self) -> bool;
}

/// Decides which records to replace or remove.
pub(super) struct Rewrite<'r> {
    /// Whether a record with this header may be changed. Other records are not read.
    pub(super) concerns: &'r dyn Fn(&Header) -> bool,
    /// Whether unchanged records are written again as well, for example with another key.
    pub(super) is_forced: bool,
    /// [`Loaded::end`] at the time when the change was decided; `None` if it does not depend on other records.
    pub(super) loaded_end: Option<u64>,
    /// Returns the replacement of a record; `None` removes it.
    pub(super) change: &'r mut dyn FnMut(Record) -> Result<Option<Record>, StoreError>,
}

/// The segment of a log that was read last.
#[derive(Default)]
pub(super) struct OpenSegment(pub(super) Option<(SegmentId, Segment)>);

/// A journal that is open for one record.
#[derive(Debug, Default)]
pub(super) struct Pen {
    /// The log, open and locked, if the journal is a log.
    pub(super) log: Option<LogWriter>,
}

/// A journal that is locked against other writers.
#[derive(Debug, Default)]
pub(super) struct Locked {
    pub(super) log: Option<Alone>,
}

impl Locked {
    /// Whether no change is being made while this is held. False for a journal without a lock.
    pub(super) fn is_alone(&self) -> bool {
        self.log.is_some()
    }
}

/// The result of appending a record.
#[derive(Debug)]
pub(super) struct Appended {
    pub(super) len: u64,
    /// Whether the record directly follows the loaded ones, so it need not be loaded itself.
    pub(super) is_next: bool,
    pub(super) pen: Pen,
    pub(super) place: Place,
}

/// The result of appending records together.
#[derive(Debug, Default)]
pub(super) struct AppendedTogether {
    pub(super) pen: Pen,
    /// The number of records.
    pub(super) count: usize,
    /// Where the first of them begins, and the length of all of them.
    pub(super) place: Place,
    pub(super) len: u64,
    /// The place of each record, if each is a file of its own.
    pub(super) apart: Vec<(HistoryId, Place)>,
    /// The records, if the store keeps them in the transaction of the files.
    pub(super) notes: Vec<Note>,
}

/// A record without its contents, and its place.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) header: Arc<Header>,
    pub(super) place: Place,
    /// The size of the record in bytes.
    pub(super) len: u64,
}

impl LogCursor {
    /// Continues in another segment.
    pub(super) fn begin(&mut self, segment: SegmentId, at: u64) {
        self.segments.push(segment);
        (self.end, self.mark) = (at, Check::default());
    }
}

/// How far a log was loaded.
#[derive(Debug, Default)]
pub(super) struct LogCursor {
    /// The segments, in order.
    pub(super) segments: Vec<SegmentId>,
    /// Where to continue in the last segment.
    pub(super) end: u64,
    /// A check of the bytes before that position. It differs if the last record was truncated since.
    pub(super) mark: Check,
}

/// The records that were loaded so far.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// The records, in the order of the journal.
    pub(super) records: Vec<Stored>,
    /// The ids of all records that were added.
    added: HashSet<HistoryId>,
    pub(super) withdrawn: HashSet<HistoryId>,
    /// The records whose changes were certainly made.
    pub(super) confirmed: HashSet<HistoryId>,
    /// The damaged parts, described in a few words each.
    pub(super) damaged: Vec<String>,
    /// The number of the last loaded row, for a journal in a table.
    pub(super) end: u64,
    /// The last redaction of a journal of hidden files. If it is open, it is applied to the headers.
    pub(super) redaction: RedactionState,
    /// Where to continue, for a log.
    pub(super) log: LogCursor,
    /// The number of times that loading started over.
    pub(super) generation: u64,
}

impl Loaded {
    /// Forgets everything, because the journal was rewritten.
    pub(super) fn start_anew(&mut self) {
        let generation = self.generation + 1;
        *self = Self { generation, ..Self::default() };
    }

    /// Forgets everything, if there is anything, because the journal no longer exists.
    pub(super) fn start_anew_if_any(&mut self) {
        let is_empty = self.records.is_empty()
            && self.withdrawn.is_empty()
            && self.damaged.is_empty()
            && self.log.segments.is_empty();
        if !is_empty {
            self.start_anew();
        }
    }

    /// Whether this record was added. True also for a record that is not kept because it only has notes about others.
    pub(super) fn has(&self, id: HistoryId) -> bool {
        self.added.contains(&id)
    }

    pub(super) fn add(&mut self, header: Header, place: Place, len: u64) {
        header.id.seen();
        self.added.insert(header.id);
        self.withdrawn.extend(&header.withdraws);
        self.confirmed.extend(&header.confirms);
        if header.is_kept() {
            self.records.push(Stored { header: Arc::new(header), place, len });
        }
    }
}
