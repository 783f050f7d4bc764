//! [`Journal`]: where the records of a history are kept.
//!
//! A record is written before its change is made, and withdrawn if the change was not made. So a kill can leave a
//! record without a change, which [`settle`](super::settle) recognizes, but never a change without its record.

use std::collections::HashSet;
use std::sync::Arc;

use memdir_store::HistoryId;
use memdir_store::{Context, StoreError};

use super::log_frame::Check;
use super::log_segment::{Segment, SegmentId};
use super::log_writer::{Alone, LogWriter};
use super::open_redaction::RedactionState;
use super::place::Place;
use super::record::{Header, Record};
use super::redaction_plan::{RedactionPlan, Wholes};

/// Keeps records, and gives them back in the order in which they were appended.
pub(super) trait Journal: Send + Sync {
    /// Opens the journal for a record. Until the record's change is made, the journal is not rewritten, so
    /// what is known of it stays true.
    fn open(&self) -> Result<Pen, StoreError> {
        Ok(Pen::default())
    }

    /// Keeps a record, as durably as the store keeps files.
    fn append(&self, context: &Context, pen: Pen, record: &Record) -> Result<Appended, StoreError>;

    /// As [`append`](Journal::append), for a record that comes with no change of the store.
    fn append_alone(&self, record: &Record) -> Result<(), StoreError> {
        self.append(&Context::new(), self.open()?, record).map(drop)
    }

    /// Keeps the records that the journal does not have yet, whose changes were made: all or none, where the journal can.
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

    /// Notes that the change of a record was made, if that costs little. It need not be durable.
    fn confirm(&self, id: HistoryId, appended: Appended) -> bool;

    /// Notes that the change of a record was not made, and gives the pen back for another one.
    fn withdraw(
        &self,
        context: &Context,
        id: HistoryId,
        appended: Appended,
    ) -> Result<Pen, StoreError>;

    /// As [`withdraw`](Journal::withdraw), when nothing else is to be recorded.
    fn withdraw_last(
        &self,
        context: &Context,
        id: HistoryId,
        appended: Appended,
    ) -> Result<(), StoreError> {
        self.withdraw(context, id, appended).map(drop)
    }

    /// Ends a change of which is not known whether it was made: what was not written yet is written no more.
    fn give_up(&self, context: &Context) {
        let _ = context;
    }

    /// Adds the headers of the records that `loaded` does not have yet; starts anew if the journal was rewritten.
    fn load(&self, context: &Context, loaded: &mut Loaded) -> Result<(), StoreError>;

    /// A whole record.
    fn read(&self, context: &Context, stored: &Stored) -> Result<Record, StoreError> {
        self.read_next(context, stored, &mut OpenSegment::default())
    }

    /// As [`read`](Journal::read), for a reader of several records. `open` is dropped when the question is answered: an open
    /// segment keeps its blocks on the disk, also what was redacted.
    fn read_next(
        &self,
        context: &Context,
        stored: &Stored,
        open: &mut OpenSegment,
    ) -> Result<Record, StoreError>;

    /// Keeps others from appending and rewriting, where the journal can, until what is returned is dropped.
    fn lock(&self) -> Result<Locked, StoreError> {
        Ok(Locked::default())
    }

    /// Replaces or removes records, and then appends `note`. `false`, and nothing is changed, if others appended something since the
    /// journal was loaded for it; a journal with a lock has no need of that.
    fn rewrite(
        &self,
        locked: &Locked,
        rewrite: &mut Rewrite<'_>,
        note: Option<&Record>,
    ) -> Result<bool, StoreError>;

    /// Removes contents and names from the records, and then appends the note of the plan. The contents that only removed splices
    /// lead to are `wholes`. A journal that cannot do this at once finishes it with
    /// [`finish_redactions`](Journal::finish_redactions), and readers never see it half done. `false` if another process redacted
    /// something since the journal was loaded, which the plan does not know.
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

    /// Does what is left of redactions that were interrupted.
    fn finish_redactions(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Removes all records for good. `remove_files` removes the files, while no change is in flight where the journal can lock.
    ///
    /// The files go first: a failure or a kill leaves the records of files that are gone, which a second call removes, and
    /// never files whose records are gone.
    fn erase(
        &self,
        context: &Context,
        remove_files: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Leaves nothing where the journal is kept that is no part of it: what rewrites removed, such as in the free space of a database,
    /// and what kills and damage left in a log. The caller has no lock of the journal.
    fn scrub(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether a record may be appended while the store makes a change: the journal needs no lock of the store.
    fn is_apart(&self) -> bool;

    /// Whether [`load`](Journal::load) costs little if little is new: it reads the end of a file, and lists no
    /// directory.
    fn is_cheap_to_follow(&self) -> bool;
}

/// Decides what becomes of records.
pub(super) struct Rewrite<'r> {
    /// Whether a record with this header may become another one. Those of which it is not true are not read.
    pub(super) concerns: &'r dyn Fn(&Header) -> bool,
    /// Whether a record that stays the same is written anew as well, such as under another key.
    pub(super) is_forced: bool,
    /// [`Loaded::end`] when what is to be changed was decided; `None` if it does not depend on other records.
    pub(super) loaded_end: Option<u64>,
    /// What stands for a record from now on; `None` removes it.
    pub(super) change: &'r mut dyn FnMut(Record) -> Result<Option<Record>, StoreError>,
}

/// The segment of a log that was read last.
#[derive(Default)]
pub(super) struct OpenSegment(pub(super) Option<(SegmentId, Segment)>);

/// A journal that is open for a record.
#[derive(Debug, Default)]
pub(super) struct Pen {
    /// The log, open and locked, if it is one.
    pub(super) log: Option<LogWriter>,
}

/// A journal locked against other writers.
#[derive(Debug, Default)]
pub(super) struct Locked {
    pub(super) log: Option<Alone>,
}

impl Locked {
    /// Whether no change is being made while it is held: not in a journal without a lock.
    pub(super) fn is_alone(&self) -> bool {
        self.log.is_some()
    }
}

/// What became of a record.
#[derive(Debug)]
pub(super) struct Appended {
    pub(super) len: u64,
    /// Whether it follows what was loaded, so it need not be loaded itself.
    pub(super) is_next: bool,
    pub(super) pen: Pen,
    pub(super) place: Place,
}

/// A record without its contents, and where it is.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) header: Arc<Header>,
    pub(super) place: Place,
    /// How many bytes the record has.
    pub(super) len: u64,
}

impl LogCursor {
    /// Goes on in another segment.
    pub(super) fn begin(&mut self, segment: SegmentId, at: u64) {
        self.segments.push(segment);
        (self.end, self.mark) = (at, Check::default());
    }
}

/// How far a log was loaded.
#[derive(Debug, Default)]
pub(super) struct LogCursor {
    /// The segments, in their order.
    pub(super) segments: Vec<SegmentId>,
    /// Where to go on in the last of them.
    pub(super) end: u64,
    /// The bytes before that place: they differ if the last record was truncated since.
    pub(super) mark: Check,
}

/// The records that were loaded so far.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// In the order of the journal.
    pub(super) records: Vec<Stored>,
    /// The ids of all records that were added.
    added: HashSet<HistoryId>,
    pub(super) withdrawn: HashSet<HistoryId>,
    /// The records whose change was made for certain.
    pub(super) confirmed: HashSet<HistoryId>,
    /// What is damaged, in a few words each.
    pub(super) damaged: Vec<String>,
    /// The number to go on after, for a journal in a table.
    pub(super) end: u64,
    /// The last redaction of a journal of hidden files. If it is open, it is applied to the headers.
    pub(super) redaction: RedactionState,
    /// Where to go on, for a log.
    pub(super) log: LogCursor,
    /// How often it was started anew.
    pub(super) generation: u64,
}

impl Loaded {
    /// Forgets everything, because the journal was rewritten.
    pub(super) fn start_anew(&mut self) {
        let generation = self.generation + 1;
        *self = Self { generation, ..Self::default() };
    }

    /// Forgets everything, if there is anything, because there is no journal any more.
    pub(super) fn start_anew_if_any(&mut self) {
        let is_empty = self.records.is_empty()
            && self.withdrawn.is_empty()
            && self.damaged.is_empty()
            && self.log.segments.is_empty();
        if !is_empty {
            self.start_anew();
        }
    }

    /// Whether this record was added, also if it is not kept because it tells only of others.
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
