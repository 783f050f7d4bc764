//! [`HistoryRecords`]: copies a history to another store, record by record.
//!
//! The destination must have no history, or a part of this one that an interrupted attempt left. Each record is read back
//! and compared.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use memdir_store::{Context, HistoryId};
use memdir_store::{Durability, Store, StoreError};

use super::error::HistoryError;
use super::journal::Stored;
use super::packed::Prefix;
use super::record::{Header, Record};
use super::recorder::Recorder;

/// Reads the bytes of a record.
type ReadRecord = Box<dyn Fn(usize) -> Result<Vec<u8>, StoreError>>;

/// All records of a history in order, to copy them to another store or an archive. The function `copy` copies a memory with its
/// history. With other sources, first write the files, then append the records.
///
/// Pass stores that `open_store` returned. `Memory::store` of a memory with a history does not show where the history is
/// kept.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
/// use memdir::history::{HistoryQuery, HistoryRecords};
/// use memdir::{CopyOptions, Durability, Memory, MemoryOptions, open_store};
///
/// let mut options = MemoryOptions::default();
/// options.history = true;
/// let (old, new) = (open_store("memory:", &options)?, open_store("memory:", &options)?);
/// Memory::with_store(Arc::clone(&old), options.clone()).create("/memories/tea.md", "green\n")?;
///
/// let mut only_files = CopyOptions::default();
/// only_files.without_history = true;
/// memdir::copy(&old, &new, only_files, &mut |_| ControlFlow::Continue(()))?;
/// let records = HistoryRecords::of(old)?;
/// if let Some(missing) = records.missing_in(&new)? {
///     records.append_to(&new, &missing, Durability::Full)?;
/// }
/// let versions = Memory::with_store(new, options).history(&HistoryQuery::default())?;
/// assert_eq!(versions[0].operation.as_str(), "created");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HistoryRecords {
    headers: Vec<Header>,
    read: Reads,
}

enum Reads {
    Journal(Arc<Recorder>, Vec<Stored>),
    Bytes(ReadRecord),
}

impl HistoryRecords {
    /// The history of a store. It may be empty.
    ///
    /// # Errors
    /// [`HistoryError::Damaged`], because a copy would lack the records that cannot be read; [`HistoryError::Store`].
    pub fn of(store: Arc<dyn Store>) -> Result<Self, HistoryError> {
        let recorder = Arc::new(Recorder::untrimmed(store, Durability::Full));
        let (headers, stored) = {
            let mut index = recorder.reader.index();
            index.refresh(&Context::new(), &*recorder.journal)?;
            if !index.loaded.damaged.is_empty() {
                return Err(HistoryError::Damaged);
            }
            let stored: Vec<Stored> = index.records().cloned().collect();
            let confirmed = &index.loaded.confirmed;
            let headers = stored.iter().map(|stored| {
                let header = (*stored.header).clone();
                // A record that changed no file needs no confirmation, and only some stores keep one.
                let is_confirmed = confirmed.contains(&header.id) && !header.rows.is_empty();
                as_carried(header, is_confirmed)
            });
            (headers.collect(), stored)
        };
        Ok(Self { headers, read: Reads::Journal(recorder, stored) })
    }

    /// The number of records. There is one for each change.
    #[must_use]
    pub fn len(&self) -> usize {
        self.headers.len()
    }

    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// One record, without notes about other records.
    fn record(&self, number: usize) -> Result<Record, StoreError> {
        let header = self.headers.get(number).ok_or(StoreError::NotFound)?;
        let mut record = match &self.read {
            Reads::Journal(recorder, stored) => {
                recorder.journal.read(&Context::new(), &stored[number])?
            }
            Reads::Bytes(read) => Record::from_bytes(&read(number)?)
                .map_err(|error| StoreError::failed("reading the history", error))?,
        };
        if comparable(&record.header) != comparable(header) {
            let changed = "it was changed meanwhile";
            return Err(StoreError::failed("reading the history", changed).unchanged());
        }
        record.header = header.clone();
        Ok(record)
    }

    /// The bytes of a record, for [`HistoryRecordsBuilder`]. Records are numbered from 0.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if there is no record with this number. Fails if the record cannot be read, or was changed meanwhile.
    pub fn read(&self, number: usize) -> Result<Vec<u8>, StoreError> {
        self.record(number).map(|record| record.to_bytes())
    }

    /// The numbers of the records that the history of a store lacks. `None` if that history has records that are not among these.
    ///
    /// # Errors
    /// [`HistoryError::Store`].
    pub fn missing_in(&self, store: &Arc<dyn Store>) -> Result<Option<Vec<usize>>, HistoryError> {
        let there = Recorder::untrimmed(Arc::clone(store), Durability::Full);
        let mut index = there.reader.index();
        index.refresh(&Context::new(), &*there.journal)?;
        let there: HashMap<HistoryId, Header> =
            index.records().map(|stored| (stored.header.id, comparable(&stored.header))).collect();
        let (mut missing, mut found) = (Vec::new(), 0);
        for (number, header) in self.headers.iter().enumerate() {
            match there.get(&header.id) {
                None => missing.push(number),
                Some(there) if *there == comparable(header) => found += 1,
                Some(_) => return Ok(None),
            }
        }
        Ok((found == there.len()).then_some(missing))
    }

    /// Appends the records with these numbers to the history of a store. Copy the files first. Each record is read back and
    /// compared. After an interruption, call it again with the records that are [missing](Self::missing_in) then.
    ///
    /// # Errors
    /// [`HistoryError::Store`].
    pub fn append_to(
        &self,
        store: &Arc<dyn Store>,
        missing: &[usize],
        durability: Durability,
    ) -> Result<(), HistoryError> {
        let Some(last) = missing.last() else { return Ok(()) };
        let durable = Recorder::untrimmed(Arc::clone(store), durability);
        let quick = Recorder::untrimmed(Arc::clone(store), Durability::Relaxed);
        for number in missing {
            // Syncing the last record to disk syncs all of them.
            let journal = if number == last { &durable.journal } else { &quick.journal };
            journal.append_alone(&self.record(*number)?)?;
        }
        self.compare(missing, store)
    }

    /// Compares the appended records with their originals.
    fn compare(&self, appended: &[usize], store: &Arc<dyn Store>) -> Result<(), HistoryError> {
        let there = Recorder::untrimmed(Arc::clone(store), Durability::Full);
        let mut index = there.reader.index();
        index.refresh(&Context::new(), &*there.journal)?;
        let stored: HashMap<HistoryId, &Stored> =
            index.loaded.records.iter().map(|stored| (stored.header.id, stored)).collect();
        for number in appended {
            let is_same = match stored.get(&self.headers[*number].id) {
                Some(stored) => {
                    there.journal.read(&Context::new(), stored)? == self.record(*number)?
                }
                None => false,
            };
            if !is_same {
                return Err(StoreError::failed("copying the history", "the copy differs").into());
            }
        }
        Ok(())
    }
}

/// A header that says only whether the change of its own record was made.
fn as_carried(mut header: Header, is_confirmed: bool) -> Header {
    header.withdraws.clear();
    header.confirms.clear();
    header.confirms.extend(is_confirmed.then_some(header.id));
    header
}

/// A header without the facts that become known later.
fn comparable(header: &Header) -> Header {
    as_carried(header.clone(), false)
}

/// Makes [`HistoryRecords`] from the bytes that [`HistoryRecords::read`] returned, such as those in an archive.
#[derive(Default)]
pub struct HistoryRecordsBuilder {
    headers: Vec<Header>,
}

impl HistoryRecordsBuilder {
    /// Adds the concatenated records in `bytes`, and returns the range of each one. `None` if one of them is damaged.
    pub fn add(&mut self, bytes: &[u8]) -> Option<Vec<Range<usize>>> {
        let (mut places, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let len = Prefix::read(bytes.get(at..)?).ok()?.record_len();
            let end = at.checked_add(usize::try_from(len).ok()?)?;
            let record = Record::from_bytes(bytes.get(at..end)?).ok()?;
            let is_confirmed = record.header.confirms.contains(&record.header.id);
            self.headers.push(as_carried(record.header, is_confirmed));
            places.push(at..end);
            at = end;
        }
        Some(places)
    }

    /// All records that were added. They are not kept in memory: `read` must return the bytes of a record by its number, in the
    /// order in which the records were added. `None` if a record was added twice.
    #[must_use]
    pub fn finish(
        self,
        read: impl Fn(usize) -> Result<Vec<u8>, StoreError> + 'static,
    ) -> Option<HistoryRecords> {
        let ids: HashSet<HistoryId> = self.headers.iter().map(|header| header.id).collect();
        let is_good = ids.len() == self.headers.len();
        is_good
            .then_some(HistoryRecords { headers: self.headers, read: Reads::Bytes(Box::new(read)) })
    }
}
