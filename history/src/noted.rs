//! [`Noted`]: the journal of a database. Its records are written in the transactions of the changes.
//!
//! A record exists if and only if its change was made, so no record is ever withdrawn or in doubt.

use std::sync::Arc;

use memdir_store::HistoryId;
use memdir_store::notes::{HEAD, Listed, Note, Notes};
use memdir_store::{Context, Store, StoreError};

use super::journal::{
    Appended, AppendedTogether, Journal, Loaded, Locked, OpenSegment, Pen, Rewrite, Stored,
};
use super::packed::{PREFIX, Packed, Prefix};
use super::place::Place;
use super::record::{Damaged, Header, Record};
use super::record_form::RecordForm;

pub(super) struct Noted {
    store: Arc<dyn Store>,
    form: RecordForm,
}

impl Noted {
    /// `None` for a store that keeps no notes.
    pub(super) fn new(store: &Arc<dyn Store>, form: RecordForm) -> Option<Self> {
        store.notes().map(|_| Self { store: Arc::clone(store), form })
    }

    fn notes(&self) -> Result<&dyn Notes, StoreError> {
        self.store.notes().ok_or_else(|| damaged(Damaged))
    }

    fn record(&self, context: &Context, number: i64, len: u64) -> Result<Record, StoreError> {
        let bytes = self.notes()?.read(context, number, 0, len)?.ok_or_else(|| damaged(Damaged))?;
        self.form.record(Packed::from_bytes(&bytes).map_err(damaged)?)
    }

    fn header(&self, context: &Context, listed: &Listed) -> Result<Header, StoreError> {
        let prefix = Prefix::read(&listed.head).map_err(damaged)?;
        let end = PREFIX + prefix.header;
        if end <= HEAD {
            let header = listed.head.get(PREFIX..end).ok_or_else(|| damaged(Damaged))?;
            return self.header_in(prefix, header);
        }
        let read =
            self.notes()?.read(context, listed.number, PREFIX as u64, prefix.header as u64)?;
        self.header_in(prefix, &read.ok_or_else(|| damaged(Damaged))?)
    }

    fn header_in(&self, prefix: Prefix, bytes: &[u8]) -> Result<Header, StoreError> {
        let header = self.form.header(prefix.header(bytes).map_err(damaged)?)?;
        header.ok_or_else(|| damaged(Damaged))
    }

    fn note(&self, record: &Record) -> Result<Note, StoreError> {
        let bytes = self.form.pack(record)?.to_bytes();
        Ok(Note { id: record.header.id.to_string(), bytes })
    }
}

fn damaged(error: Damaged) -> StoreError {
    StoreError::damaged("reading the history", error)
}

impl Journal for Noted {
    /// Passes the record to the store with the change, so both are in one transaction.
    fn append(&self, context: &Context, pen: Pen, record: &Record) -> Result<Appended, StoreError> {
        let note = self.note(record)?;
        let len = note.bytes.len() as u64;
        context.put_note(note);
        Ok(Appended { len, is_next: false, pen, place: Place::default() })
    }

    fn append_alone(&self, record: &Record) -> Result<(), StoreError> {
        self.notes()?.append(&self.note(record)?)
    }

    fn confirm(&self, _: HistoryId, _: Appended) -> bool {
        true
    }

    /// The transaction failed, so its note must not be used for the next one.
    fn withdraw(
        &self,
        context: &Context,
        _: HistoryId,
        appended: Appended,
    ) -> Result<Pen, StoreError> {
        self.give_up(context);
        Ok(appended.pen)
    }

    fn appends_together(&self) -> bool {
        true
    }

    fn append_together(
        &self,
        _: &Context,
        pen: Pen,
        records: &[Record],
    ) -> Result<AppendedTogether, StoreError> {
        let notes = records.iter().map(|record| self.note(record)).collect::<Result<_, _>>()?;
        Ok(AppendedTogether { pen, count: records.len(), notes, ..AppendedTogether::default() })
    }

    fn end_together(&self, _: AppendedTogether, _: &[HistoryId], _: &[HistoryId]) -> bool {
        true
    }

    fn give_up(&self, context: &Context) {
        context.take_notes();
    }

    fn load(&self, context: &Context, loaded: &mut Loaded) -> Result<(), StoreError> {
        let last = i64::try_from(loaded.end).unwrap_or(0);
        let mut is_continued = last > 0;
        let mut new = self.notes()?.list(context, (last - 1).max(0))?;
        if is_continued {
            if new.first().is_some_and(|first| first.number == last) {
                new.remove(0);
            } else {
                // The record was erased or trimmed, so others may be gone as well.
                loaded.start_anew();
                is_continued = false;
                new = self.notes()?.list(context, 0)?;
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let mut is_rewritten = false;
        for listed in new {
            let number = u64::try_from(listed.number).unwrap_or(0);
            match self.header(context, &listed) {
                Ok(header) => {
                    // This is the last record of a trim or a redaction, which changed records that were loaded before.
                    is_rewritten |= header.trims.is_some() || !header.redacts.is_empty();
                    // Two processes that moved the same records here at the same time may have duplicated some.
                    if !loaded.has(header.id) {
                        loaded.confirmed.insert(header.id);
                        loaded.add(header, Place::numbered(number), listed.len);
                    }
                }
                Err(StoreError::Cancelled) => return Err(StoreError::Cancelled),
                Err(_) => loaded.damaged.push(format!("the record number {number}")),
            }
            loaded.end = number;
        }
        if is_rewritten && is_continued {
            loaded.start_anew();
            return self.load(context, loaded);
        }
        Ok(())
    }

    fn read_next(
        &self,
        context: &Context,
        stored: &Stored,
        _: &mut OpenSegment,
    ) -> Result<Record, StoreError> {
        let record =
            self.record(context, i64::try_from(stored.place.at).unwrap_or(-1), stored.len)?;
        if record.header.id == stored.header.id { Ok(record) } else { Err(damaged(Damaged)) }
    }

    fn read_together(
        &self,
        context: &Context,
        stored: &[&Stored],
    ) -> Vec<Result<Record, StoreError>> {
        let number = |stored: &&Stored| (i64::try_from(stored.place.at).unwrap_or(-1), stored.len);
        let numbers: Vec<_> = stored.iter().map(number).collect();
        let notes = self.notes().and_then(|notes| notes.read_all(context, &numbers));
        let mut notes = match notes {
            Ok(notes) => notes.into_iter(),
            Err(error) => return vec![Err(error)],
        };
        let record = |stored: &&Stored| {
            let bytes = notes.next().flatten().ok_or_else(|| damaged(Damaged))?;
            let record = self.form.record(Packed::from_bytes(&bytes).map_err(damaged)?)?;
            if record.header.id == stored.header.id { Ok(record) } else { Err(damaged(Damaged)) }
        };
        stored.iter().map(record).collect()
    }

    fn rewrite(
        &self,
        _: &Locked,
        rewrite: &mut Rewrite<'_>,
        note: Option<&Record>,
    ) -> Result<bool, StoreError> {
        /// The number of bytes written at once, if the records need not change together.
        const AT_ONCE: usize = 16 << 20;
        let (mut replaced, mut gone, mut bytes) = (Vec::new(), Vec::new(), 0);
        let all = self.notes()?.list(&Context::new(), 0)?;
        let end = rewrite.loaded_end.and_then(|end| i64::try_from(end).ok());
        let last = end.unwrap_or_else(|| all.last().map_or(0, |listed| listed.number));
        for listed in all {
            let header = self.header(&Context::new(), &listed);
            if !header.is_ok_and(|header| (rewrite.concerns)(&header)) {
                continue;
            }
            // A damaged record cannot be read anyway.
            let Ok(record) = self.record(&Context::new(), listed.number, listed.len) else {
                continue;
            };
            match (rewrite.change)(record.clone())? {
                None => gone.push(listed.number),
                Some(new) if new == record && !rewrite.is_forced => {}
                Some(new) => {
                    let new = self.note(&new)?.bytes;
                    bytes += new.len();
                    replaced.push((listed.number, new));
                }
            }
            // Records can be read in between while the key changes. Removals must be in one transaction, together with their note.
            if note.is_none() && bytes >= AT_ONCE {
                if !self.notes()?.rewrite(last, &replaced, &[], None)? {
                    return Ok(false);
                }
                (replaced, bytes) = (Vec::new(), 0);
            }
        }
        let note = note.map(|note| self.note(note)).transpose()?;
        if replaced.is_empty() && gone.is_empty() && note.is_none() {
            return Ok(true);
        }
        self.notes()?.rewrite(last, &replaced, &gone, note.as_ref())
    }

    /// In one transaction with the files.
    fn erase(
        &self,
        context: &Context,
        remove_files: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        context.remove_notes();
        let removed = remove_files();
        let is_left = context.take_removal_of_notes();
        removed?;
        // A layer removed the files in another way.
        if is_left {
            let remove = || {
                let all = self.notes()?.list(context, 0)?;
                let numbers: Vec<i64> = all.iter().map(|listed| listed.number).collect();
                self.notes()?.rewrite(i64::MAX, &[], &numbers, None)?;
                self.notes()?.scrub()
            };
            remove().map_err(StoreError::after_changes)?;
        }
        Ok(())
    }

    fn scrub(&self) -> Result<(), StoreError> {
        self.notes()?.scrub()
    }

    fn is_apart(&self) -> bool {
        true
    }

    fn is_in_transaction(&self) -> bool {
        true
    }

    fn is_cheap_to_follow(&self) -> bool {
        false
    }
}
