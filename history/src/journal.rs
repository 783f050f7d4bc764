//! [`Journal`]: where the records of a history are kept.
//!
//! A record is written before its change is made, and withdrawn if the change was not made. So a kill can leave a
//! record without a change, which [`settle`](super::settle) recognizes, but never a change without its record.

use std::collections::HashSet;
use std::sync::Arc;

use memdir_store::HistoryId;
use memdir_store::{Context, StoreError};

use super::log_writer::LogWriter;
use super::record::{Header, Record};

/// Keeps records, and gives them back in the order in which they were appended.
pub(super) trait Journal: Send + Sync {
    /// Keeps a record, as durably as the store keeps files.
    ///
    /// With [`Flush::Beside`] it may still be on its way to the disk when this returns; the store then waits for it
    /// before the change takes effect ([`Context::wait`]).
    fn append(
        &self,
        context: &Context,
        record: &Record,
        flush: Flush,
    ) -> Result<Appended, StoreError>;

    /// As [`append`](Journal::append), for a record that comes with no change of the store.
    fn append_alone(&self, record: &Record) -> Result<(), StoreError> {
        self.append(&Context::new(), record, Flush::Now).map(drop)
    }

    /// Notes that the change of a record was made, if that costs little. It need not be durable.
    fn confirm(&self, id: HistoryId, appended: &mut Appended) -> bool;

    /// Notes that the change of a record was not made.
    fn withdraw(&self, context: &Context, id: HistoryId) -> Result<(), StoreError>;

    /// Ends a change of which is not known whether it was made: what was not written yet is written no more.
    fn give_up(&self, context: &Context) {
        let _ = context;
    }

    /// Adds the headers of the records that `loaded` does not have yet; starts anew if the journal was rewritten.
    fn load(&self, context: &Context, loaded: &mut Loaded) -> Result<(), StoreError>;

    /// A whole record.
    fn read(&self, context: &Context, stored: &Stored) -> Result<Record, StoreError>;

    /// Replaces or removes records, while nobody appends any. What `change` returns stands for the record; `None`
    /// removes it.
    fn rewrite(&self, change: &mut Rewrite<'_>) -> Result<(), StoreError>;

    /// Whether a record may be appended while the store makes a change: the journal needs no lock of the store.
    fn is_apart(&self) -> bool;

    /// Whether [`load`](Journal::load) costs little if little is new: it reads the end of a file, and lists no
    /// directory.
    fn is_cheap_to_follow(&self) -> bool;
}

/// Decides what becomes of a record.
pub(super) type Rewrite<'r> = dyn FnMut(Record) -> Result<Option<Record>, StoreError> + 'r;

/// When a record is flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flush {
    Now,
    /// While the store flushes the new content.
    Beside,
}

/// Where an appended record stands, if the journal can tell; then it need not be loaded again.
#[derive(Debug)]
pub(super) struct Appended {
    pub(super) at: Option<u64>,
    pub(super) len: u64,
    /// The file that it was written to, open and locked until the change is made.
    pub(super) file: Option<Arc<LogWriter>>,
}

/// A record without its contents, and where it is.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) header: Arc<Header>,
    /// The place in the file, for a journal in one file.
    pub(super) at: u64,
    /// How many bytes the record has.
    pub(super) len: u64,
}

/// The records that were loaded so far.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// In the order of the journal.
    pub(super) records: Vec<Stored>,
    pub(super) withdrawn: HashSet<HistoryId>,
    /// The records whose change was made for certain.
    pub(super) confirmed: HashSet<HistoryId>,
    /// What is damaged, in a few words each.
    pub(super) damaged: Vec<String>,
    /// Where to go on, for a journal in one file.
    pub(super) end: u64,
    /// The first bytes of that file, which a rewritten one does not have.
    pub(super) beginning: Vec<u8>,
    /// How often it was started anew.
    pub(super) generation: u64,
}

impl Loaded {
    /// Forgets everything, because the journal was rewritten.
    pub(super) fn start_anew(&mut self) {
        let generation = self.generation + 1;
        *self = Self { generation, ..Self::default() };
    }

    pub(super) fn add(&mut self, header: Header, at: u64, len: u64) {
        header.id.seen();
        self.withdrawn.extend(&header.withdraws);
        self.confirmed.extend(&header.confirms);
        if !header.rows.is_empty() || !header.redacts.is_empty() || header.trims.is_some() {
            self.records.push(Stored { header: Arc::new(header), at, len });
        }
    }
}
