//! [`KeptFiles`]: the journal of any store, one hidden file for each record in the store itself.
//!
//! ```text
//! .memdir-history/BLOCK/NUMBER-ID   a record
//! .memdir-history/BLOCK/end         there is a later block
//! .memdir-history/redaction         the last redaction: its plan, or only its id when it is finished
//! ```
//! The directory has a reserved name, which the [`Recorder`](super::Recorder) hides from all other code. So an encrypted
//! store encrypts its history as well, and even a store that implements only six methods has a history.
//!
//! The records are ordered by their numbers, not by clocks. A writer reads the records that its change depends on, then lists the latest
//! block and takes the next number. So a record has a higher number than each record that it depends on. Two writers may take the
//! same number at the same time. Then neither depends on the other, and they are ordered by id. A block has few files, so a change
//! costs the same in a history of any length. The file `end` is never removed: it tells a writer that has not listed the blocks for
//! a long time that there is a later one, even if everything else in its block was removed meanwhile.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use memdir_store::HistoryId;
use memdir_store::batch::{batches, in_batches, read_all};
use memdir_store::path::MemoryPath;
use memdir_store::{
    Context, Entry, EntryKind, FileToWrite, Mutation, OnExisting, Store, StoreError, Times,
};

use super::journal::{
    Appended, AppendedTogether, Journal, Loaded, Locked, OpenSegment, Pen, Rewrite, Stored,
};
use super::open_redaction::{LastRedaction, NAME as REDACTION, OpenRedaction};
use super::packed::{PREFIX, Prefix};
use super::place::Place;
use super::record::{Damaged, Header, Record};
use super::record_form::RecordForm;
use super::redaction_plan::{RedactionPlan, Wholes};

/// The reserved name.
pub(super) use memdir_store::HISTORY as NAME;

/// The name of a file in every block except the latest.
const END: &str = "end";

/// The number of records in a block. Concurrent writers may add a few more.
const BLOCK_RECORDS: usize = 64;

/// Whether a name in the root is the reserved one. Case and invisible characters are ignored, because some file systems ignore
/// them.
pub(super) fn is_reserved(name: &str) -> bool {
    name.chars().filter(char::is_ascii).map(|c| c.to_ascii_lowercase()).eq(NAME.chars())
}

/// The directory of the records.
pub(super) fn directory() -> MemoryPath {
    // Joining a plain name cannot fail.
    MemoryPath::root().join(NAME).unwrap_or_else(|_| MemoryPath::root())
}

pub(super) struct KeptFiles {
    pub(super) store: Arc<dyn Store>,
    /// Whether the store calls the edit callback without holding a lock.
    is_apart: bool,
    /// The latest block that this process knows; 0 before it listed the blocks.
    block: AtomicU32,
    /// The last redaction when the journal was last loaded. If it is open, it is applied to every record that is read.
    pub(super) redaction: Mutex<Option<LastRedaction>>,
}

/// The number of a record, ordered by block first. Blocks are numbered from 1. Block 0 holds older records, which have no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number {
    block: u32,
    in_block: u32,
}

impl Number {
    pub(super) fn of(place: Place) -> Self {
        Self { block: (place.at >> 32) as u32, in_block: (place.at & 0xffff_ffff) as u32 }
    }

    pub(super) fn place(self) -> Place {
        Place::numbered(u64::from(self.block) << 32 | u64::from(self.in_block))
    }

    /// The file of the record with this number.
    pub(super) fn path(self, id: HistoryId) -> Result<MemoryPath, StoreError> {
        let (directory, name) = match self.block {
            0 => (directory(), id.to_string()),
            block => (block_directory(block)?, format!("{}-{id}", self.in_block)),
        };
        directory.join(&name).map_err(|_| StoreError::NameTooLong)
    }
}

fn block_directory(block: u32) -> Result<MemoryPath, StoreError> {
    directory().join(&block.to_string()).map_err(|_| StoreError::NameTooLong)
}

impl KeptFiles {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let is_apart = store.info().edits_apart;
        Self { store, is_apart, block: AtomicU32::new(0), redaction: Mutex::default() }
    }

    pub(super) fn remove(&self, path: &MemoryPath) -> Result<(), StoreError> {
        match self.store.delete(path) {
            Err(StoreError::NotFound) => Ok(()),
            deleted => deleted,
        }
    }

    /// A record as it is stored.
    pub(super) fn stored_record(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<Record, StoreError> {
        Record::from_bytes(&self.store.read_in(context, path)?).map_err(damaged)
    }

    pub(super) fn list(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<Vec<Entry>, StoreError> {
        match self.store.list_in(context, path) {
            Err(StoreError::NotFound) => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// Removes all records. The directory may contain something else: a log of the underlying store.
    pub(super) fn remove_all(&self) -> Result<(), StoreError> {
        let context = &Context::new();
        let listed = self.list(context, &directory())?;
        for block in blocks_in(&listed) {
            self.remove(&block_directory(block)?)?;
        }
        for entry in &listed {
            if entry.path.name().is_some_and(|name| name.parse::<HistoryId>().is_ok()) {
                self.remove(&entry.path)?;
            }
        }
        self.remove_redaction()?;
        let is_empty = self.list(context, &directory())?.is_empty();
        if is_empty { self.remove(&directory()) } else { Ok(()) }
    }

    /// The number for a new record. It is higher than the number of every present record.
    pub(super) fn next_number(&self, context: &Context) -> Result<Number, StoreError> {
        let (mut block, mut records) = self.latest_block(context)?;
        if records.len() >= BLOCK_RECORDS {
            let end = block_directory(block)?.join(END).map_err(|_| StoreError::NameTooLong)?;
            let write = Mutation::WriteUnique { path: &end, content: &[] };
            match self.store.mutate(&context.separate(), write) {
                Err(StoreError::AlreadyExists) => {}
                written => drop(written?),
            }
            self.block.store(block, Ordering::Relaxed);
            (block, records) = self.latest_block(context)?;
        }
        self.block.store(block, Ordering::Relaxed);
        let highest =
            records.iter().filter_map(|entry| Some(numbered(entry.path.name()?)?.0)).max();
        Ok(Number { block, in_block: highest.unwrap_or(0) + 1 })
    }

    /// The numbers for new records that are written together. Other writers go on behind all of them.
    fn next_numbers(&self, context: &Context, count: usize) -> Result<Vec<Number>, StoreError> {
        let mut next = self.next_number(context)?;
        let first = next.block;
        let mut numbers = Vec::with_capacity(count);
        while numbers.len() < count {
            numbers.push(next);
            next.in_block += 1;
            if next.in_block as usize > BLOCK_RECORDS {
                next = Number { block: next.block + 1, in_block: 1 };
            }
        }
        let last = numbers.last().map_or(first, |last| last.block);
        let ends: Vec<MemoryPath> = (first..last)
            .map(|block| block_directory(block)?.join(END).map_err(|_| StoreError::NameTooLong))
            .collect::<Result<_, _>>()?;
        let ends: Vec<_> =
            ends.iter().map(|path| written(path, &[], OnExisting::Overwrite)).collect();
        // Before the records: a writer who knows one of them must find the block after it.
        for some in batches(&ends) {
            self.store.write_batch(&context.separate(), some).map_err(|failed| failed.error)?;
        }
        self.block.store(last, Ordering::Relaxed);
        Ok(numbers)
    }

    /// The record, with the open redaction applied.
    fn redacted(&self, record: Record) -> Record {
        match self.seen_redaction() {
            Some(LastRedaction::Open(open)) => open.plan.apply(record),
            _ => record,
        }
    }

    /// The latest block and its records. The block may not exist yet.
    fn latest_block(&self, context: &Context) -> Result<(u32, Vec<Entry>), StoreError> {
        let mut block = self.block.load(Ordering::Relaxed);
        loop {
            let mut listed = Vec::new();
            if block > 0 {
                listed = self.list(context, &block_directory(block)?)?;
            }
            let has_ended = listed.iter().any(|entry| entry.path.name() == Some(END));
            if !has_ended && !listed.is_empty() {
                return Ok((block, listed));
            }
            // Other writers continued in a later block, or everything was removed, including the blocks.
            let latest = self.blocks(context)?.first().copied().unwrap_or(1);
            if has_ended && latest <= block {
                return Ok((block + 1, Vec::new()));
            }
            if latest == block {
                return Ok((block, listed));
            }
            block = latest;
        }
    }

    /// The blocks, latest first.
    fn blocks(&self, context: &Context) -> Result<Vec<u32>, StoreError> {
        Ok(blocks_in(&self.list(context, &directory())?))
    }

    /// All present records. The latest block is listed first: if a record is listed, so is every record that it depends on.
    pub(super) fn listed(
        &self,
        context: &Context,
    ) -> Result<Vec<(Number, HistoryId, Entry)>, StoreError> {
        let there = self.list(context, &directory())?;
        self.listed_in(context, there)
    }

    /// As [`listed`](Self::listed), for a known listing of the directory.
    fn listed_in(
        &self,
        context: &Context,
        old: Vec<Entry>,
    ) -> Result<Vec<(Number, HistoryId, Entry)>, StoreError> {
        let mut records = Vec::new();
        for block in blocks_in(&old) {
            for entry in self.list(context, &block_directory(block)?)? {
                if let Some((in_block, id)) = entry.path.name().and_then(numbered) {
                    records.push((Number { block, in_block }, id, entry));
                }
            }
        }
        for entry in old {
            if let Some(id) = entry.path.name().and_then(|name| name.parse().ok()) {
                records.push((Number { block: 0, in_block: 0 }, id, entry));
            }
        }
        records.sort_by_key(|(number, id, _)| (*number, *id));
        Ok(records)
    }

    /// Adds the new records. Returns `false` if several records were changed together meanwhile, so the result would mix two states.
    fn load_once(&self, context: &Context, loaded: &mut Loaded) -> Result<bool, StoreError> {
        let there = self.list(context, &directory())?;
        let is_redacted = there.iter().any(|entry| entry.path.name() == Some(REDACTION));
        let last_redaction = if is_redacted { self.last_redaction(context)? } else { None };
        let state = last_redaction.as_ref().and_then(LastRedaction::state);
        if loaded.redaction != state {
            loaded.start_anew_if_any();
            loaded.redaction = state;
        }
        loaded.damaged.clear();
        if let Some(LastRedaction::Damaged) = last_redaction {
            loaded.damaged.push("the last redaction".to_owned());
        }
        let open = last_redaction.as_ref().and_then(LastRedaction::open);
        let there = self.listed_in(context, there)?;
        let kinds: HashMap<HistoryId, EntryKind> =
            there.iter().map(|(_, id, entry)| (*id, entry.kind)).collect();
        // Records that another process withdrew, trimmed or rewrote. A rewrite changes the size.
        let kept = loaded.records.len();
        loaded
            .records
            .retain(|stored| kinds.get(&stored.header.id) == Some(&EntryKind::File(stored.len)));
        let mut is_rewritten = loaded.records.len() < kept;
        let known: HashSet<HistoryId> =
            loaded.records.iter().map(|stored| stored.header.id).collect();
        let key = |stored: &Stored| (stored.place.at, stored.header.id);
        let last = loaded.records.last().map(key);
        let new = there.into_iter().filter(|(_, id, _)| !known.contains(id)).collect::<Vec<_>>();
        let has_new = !new.is_empty();
        let size = |(_, _, entry): &(_, _, Entry)| match entry.kind {
            EntryKind::File(size) => size,
            EntryKind::Directory => 0,
        };
        let read = in_batches(&new, size).flat_map(|some| {
            let paths: Vec<&MemoryPath> = some.iter().map(|(_, _, entry)| &entry.path).collect();
            some.iter().zip(read_all(&*self.store, context, paths))
        });
        for (&(number, id, _), bytes) in read {
            let bytes = match bytes {
                Err(StoreError::NotFound) => continue,
                Err(StoreError::Cancelled) => return Err(StoreError::Cancelled),
                Err(error) if error.is_failure() => {
                    loaded.damaged.push(format!("the record {id}"));
                    continue;
                }
                read => read?,
            };
            match header_of(&bytes, open) {
                Some(header) if header.id == id => {
                    // The last record of a trim or a redaction. Records that were loaded before may have changed, even with the same size.
                    if last.is_some() && (header.trims.is_some() || !header.redacts.is_empty()) {
                        return Ok(false);
                    }
                    is_rewritten |= last.is_some_and(|last| (number.place().at, id) < last);
                    loaded.add(header, number.place(), bytes.len() as u64);
                }
                _ => loaded.damaged.push(format!("the record {id}")),
            }
        }
        if has_new {
            let now = self.last_redaction(context)?;
            if now.as_ref().and_then(LastRedaction::state) != state {
                return Ok(false);
            }
        }
        loaded.records.sort_by_key(key);
        loaded.generation += u64::from(is_rewritten);
        *self.redaction.lock().unwrap_or_else(PoisonError::into_inner) = last_redaction;
        Ok(true)
    }
}

/// The header of a record, with the open redaction applied.
fn header_of(bytes: &[u8], open: Option<&Arc<OpenRedaction>>) -> Option<Header> {
    let prefix = Prefix::read(bytes).ok()?;
    let header = prefix.header(bytes.get(PREFIX..PREFIX + prefix.header)?).ok()?;
    let header = RecordForm::Plain.header(header).ok()??;
    match open.filter(|open| open.plan.concerns(&header)) {
        Some(open) => Some(open.plan.apply(Record::from_bytes(bytes).ok()?).header),
        None => Some(header),
    }
}

fn blocks_in(entries: &[Entry]) -> Vec<u32> {
    let names =
        entries.iter().filter(|entry| !entry.is_file()).filter_map(|entry| entry.path.name());
    let mut blocks: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
    blocks.sort_unstable_by(|a, b| b.cmp(a));
    blocks
}

/// The number in its block, and the id, from the name of a record's file.
fn numbered(name: &str) -> Option<(u32, HistoryId)> {
    let (number, id) = name.split_once('-')?;
    Some((number.parse().ok()?, id.parse().ok()?))
}

/// A file to write together with others.
fn written<'f>(path: &'f MemoryPath, content: &'f [u8], existing: OnExisting) -> FileToWrite<'f> {
    FileToWrite { path, content, times: Times::default(), existing, note: None }
}

fn damaged(error: Damaged) -> StoreError {
    StoreError::damaged("reading the history", error)
}

impl Journal for KeptFiles {
    fn append(&self, context: &Context, pen: Pen, record: &Record) -> Result<Appended, StoreError> {
        let bytes = record.to_bytes();
        let number = self.next_number(context)?;
        let path = number.path(record.header.id)?;
        let write = Mutation::WriteUnique { path: &path, content: &bytes };
        self.store.mutate(&context.separate(), write)?;
        let (len, place) = (bytes.len() as u64, number.place());
        Ok(Appended { len, is_next: true, pen, place })
    }

    fn appends_together(&self) -> bool {
        true
    }

    /// The records are about different new files, so none depends on another one.
    fn append_together(
        &self,
        context: &Context,
        pen: Pen,
        records: &[Record],
    ) -> Result<AppendedTogether, StoreError> {
        let numbers = self.next_numbers(context, records.len())?;
        let mut files = Vec::with_capacity(records.len());
        for (number, record) in numbers.iter().zip(records) {
            files.push((number.path(record.header.id)?, record.to_bytes()));
        }
        let to_write: Vec<_> =
            files.iter().map(|(path, bytes)| written(path, bytes, OnExisting::Error)).collect();
        for some in batches(&to_write) {
            self.store.write_batch(&context.separate(), some).map_err(|failed| failed.error)?;
        }
        let numbered = records.iter().map(|record| record.header.id).zip(numbers);
        let apart = numbered.map(|(id, number)| (id, number.place())).collect();
        Ok(AppendedTogether { pen, count: records.len(), apart, ..AppendedTogether::default() })
    }

    /// Removes the records of changes that were not made. The next record confirms the others.
    fn end_together(
        &self,
        appended: AppendedTogether,
        _: &[HistoryId],
        not_made: &[HistoryId],
    ) -> bool {
        let not_made: HashSet<&HistoryId> = not_made.iter().collect();
        for (id, place) in appended.apart.iter().filter(|(id, _)| not_made.contains(id)) {
            // If that fails, the files show that the change was not made.
            let _ = Number::of(*place).path(*id).and_then(|path| self.remove(&path));
        }
        false
    }

    /// The next record contains the confirmation, so this needs no further file.
    fn confirm(&self, _: HistoryId, _: Appended) -> bool {
        false
    }

    /// Works even if the call is cancelled.
    fn withdraw(&self, _: &Context, id: HistoryId, appended: Appended) -> Result<Pen, StoreError> {
        self.remove(&Number::of(appended.place).path(id)?).map(|()| appended.pen)
    }

    fn load(&self, context: &Context, loaded: &mut Loaded) -> Result<(), StoreError> {
        /// Each attempt fails only if records were changed together while they were read.
        const MAX_ATTEMPTS: usize = 100;
        for _ in 0..MAX_ATTEMPTS {
            if self.load_once(context, loaded)? {
                return Ok(());
            }
            loaded.start_anew();
        }
        Err(StoreError::failed("reading the history", "gave up: other processes kept changing it")
            .unchanged())
    }

    fn read_next(
        &self,
        context: &Context,
        stored: &Stored,
        _: &mut OpenSegment,
    ) -> Result<Record, StoreError> {
        let path = Number::of(stored.place).path(stored.header.id)?;
        self.stored_record(context, &path).map(|record| self.redacted(record))
    }

    fn read_together(
        &self,
        context: &Context,
        stored: &[&Stored],
    ) -> Vec<Result<Record, StoreError>> {
        let path = |stored: &&Stored| Number::of(stored.place).path(stored.header.id);
        let paths: Vec<MemoryPath> = match stored.iter().map(path).collect() {
            Ok(paths) => paths,
            Err(error) => return vec![Err(error)],
        };
        let mut records = Vec::with_capacity(paths.len());
        for read in read_all(&*self.store, context, paths.iter().collect()) {
            let is_failure = read.as_ref().is_err_and(StoreError::is_failure);
            let record = read.and_then(|bytes| Record::from_bytes(&bytes).map_err(damaged));
            records.push(record.map(|record| self.redacted(record)));
            if is_failure {
                break;
            }
        }
        records
    }

    fn rewrite(
        &self,
        _: &Locked,
        rewrite: &mut Rewrite<'_>,
        note: Option<&Record>,
    ) -> Result<bool, StoreError> {
        self.rewrite_in_steps(rewrite, note).map(|()| true)
    }

    fn redact(
        &self,
        _: &Locked,
        plan: &RedactionPlan,
        wholes: &Wholes,
    ) -> Result<bool, StoreError> {
        self.redact_in_steps(plan, wholes)
    }

    fn finish_redactions(&self) -> Result<(), StoreError> {
        self.finish_last_redaction()
    }

    /// The records are among the files. A store that clears file by file may be killed partway, or leave records that were
    /// appended meanwhile.
    fn erase(
        &self,
        _: &Context,
        remove_files: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        remove_files()
    }

    fn scrub(&self) -> Result<(), StoreError> {
        self.finish_last_redaction()
    }

    fn is_apart(&self) -> bool {
        self.is_apart
    }

    fn is_cheap_to_follow(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
