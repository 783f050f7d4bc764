//! [`MovedJournal`]: the journal of an encrypted store. It is kept in the underlying store. Earlier it was kept in hidden files of the
//! encrypted store.
//!
//! The first use copies the records from the hidden files to the new journal, and then removes the hidden files. After a crash in
//! between, the next use continues. A read-only store reads the records where they are.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Context, HistoryId, Store, StoreError};

use super::journal::{
    Appended, AppendedTogether, Journal, Loaded, Locked, OpenSegment, Pen, Rewrite, Stored,
};
use super::kept_files::KeptFiles;
use super::record::{Digest, Record};
use super::redaction_plan::{RedactionPlan, Wholes};
use super::settle::{self, PathState};

pub(super) struct MovedJournal {
    new: Arc<dyn Journal>,
    old: KeptFiles,
    store: Arc<dyn Store>,
    /// Whether the old journal is used, because the store is read-only.
    uses_old: OnceLock<bool>,
}

impl MovedJournal {
    pub(super) fn new(new: Arc<dyn Journal>, old: KeptFiles, store: Arc<dyn Store>) -> Self {
        Self { new, old, store, uses_old: OnceLock::new() }
    }

    fn journal(&self) -> Result<&dyn Journal, StoreError> {
        let uses_old = match self.uses_old.get() {
            Some(uses_old) => *uses_old,
            None => {
                let uses_old = self.move_records()?;
                *self.uses_old.get_or_init(|| uses_old)
            }
        };
        Ok(if uses_old { &self.old } else { &*self.new })
    }

    /// The journal that was used before; the new one if there was no use yet.
    fn used(&self) -> &dyn Journal {
        if self.uses_old.get() == Some(&true) { &self.old } else { &*self.new }
    }

    /// Returns whether the old records must stay.
    fn move_records(&self) -> Result<bool, StoreError> {
        let context = &Context::new();
        if !self.store.info().is_read_only {
            self.old.finish_redactions()?;
        }
        loop {
            let mut loaded = Loaded::default();
            self.old.load(context, &mut loaded)?;
            if loaded.records.is_empty() && loaded.damaged.is_empty() {
                return Ok(false);
            }
            if self.store.info().is_read_only {
                return Ok(true);
            }
            let made = self.made(&loaded)?;
            let mut records = made.iter().map(|stored| {
                let mut record = self.old.read(context, stored)?;
                record.header.withdraws.clear();
                record.header.confirms = vec![record.header.id];
                Ok(record)
            });
            match self.new.append_missing(&mut records) {
                // Another process moved the records meanwhile.
                Err(StoreError::NotFound) => continue,
                appended => appended?,
            }
            return self.old.remove_all().map(|()| false);
        }
    }

    /// The records whose changes were made. The new journal has no notes about records in doubt.
    fn made(&self, loaded: &Loaded) -> Result<Vec<Stored>, StoreError> {
        let is_kept = |stored: &&Stored| !loaded.withdrawn.contains(&stored.header.id);
        let records: Vec<Stored> = loaded.records.iter().filter(is_kept).cloned().collect();
        let ids = records.iter().map(|stored| stored.header.id);
        let in_doubt = ids.filter(|id| !loaded.confirmed.contains(id)).collect();
        let folding = Folding::new(self.store.info().folds_case);
        let (mut broken, mut found) = (None, HashMap::<MemoryPath, PathState>::new());
        let not_made = settle::not_made(&records, &in_doubt, folding, &mut |path: &MemoryPath| {
            *found.entry(path.clone()).or_insert_with(|| match self.store.read(path) {
                Ok(content) => PathState::File(Digest::of(&content)),
                Err(error) if error.is_failure() => {
                    broken = Some(error);
                    PathState::Unknown
                }
                Err(_) => PathState::Nothing,
            })
        });
        if let Some(error) = broken {
            return Err(error);
        }
        let is_made = |(number, stored): &(usize, Stored)| {
            let rows = stored.header.rows.len();
            rows == 0 || (0..rows).any(|row| !not_made.contains(&(*number, row)))
        };
        let made = records.into_iter().enumerate().filter(is_made);
        Ok(made.map(|(_, stored)| stored).collect())
    }
}

impl Journal for MovedJournal {
    fn open(&self) -> Result<Pen, StoreError> {
        self.journal()?.open()
    }

    fn append(&self, context: &Context, pen: Pen, record: &Record) -> Result<Appended, StoreError> {
        self.journal()?.append(context, pen, record)
    }

    fn append_alone(&self, record: &Record) -> Result<(), StoreError> {
        self.journal()?.append_alone(record)
    }

    fn append_missing(
        &self,
        records: &mut dyn Iterator<Item = Result<Record, StoreError>>,
    ) -> Result<(), StoreError> {
        self.journal()?.append_missing(records)
    }

    fn appends_together(&self) -> bool {
        self.used().appends_together()
    }

    fn append_together(
        &self,
        context: &Context,
        pen: Pen,
        records: &[Record],
    ) -> Result<AppendedTogether, StoreError> {
        self.journal()?.append_together(context, pen, records)
    }

    fn end_together(
        &self,
        appended: AppendedTogether,
        made: &[HistoryId],
        not_made: &[HistoryId],
    ) -> bool {
        self.used().end_together(appended, made, not_made)
    }

    fn read_together(
        &self,
        context: &Context,
        stored: &[&Stored],
    ) -> Vec<Result<Record, StoreError>> {
        self.used().read_together(context, stored)
    }

    fn confirm(&self, id: HistoryId, appended: Appended) -> bool {
        self.used().confirm(id, appended)
    }

    fn withdraw(
        &self,
        context: &Context,
        id: HistoryId,
        appended: Appended,
    ) -> Result<Pen, StoreError> {
        self.used().withdraw(context, id, appended)
    }

    fn withdraw_last(
        &self,
        context: &Context,
        id: HistoryId,
        appended: Appended,
    ) -> Result<(), StoreError> {
        self.used().withdraw_last(context, id, appended)
    }

    fn give_up(&self, context: &Context) {
        self.used().give_up(context);
    }

    fn load(&self, context: &Context, loaded: &mut Loaded) -> Result<(), StoreError> {
        self.journal()?.load(context, loaded)
    }

    fn read_next(
        &self,
        context: &Context,
        stored: &Stored,
        open: &mut OpenSegment,
    ) -> Result<Record, StoreError> {
        self.journal()?.read_next(context, stored, open)
    }

    fn lock(&self) -> Result<Locked, StoreError> {
        self.journal()?.lock()
    }

    fn rewrite(
        &self,
        locked: &Locked,
        rewrite: &mut Rewrite<'_>,
        note: Option<&Record>,
    ) -> Result<bool, StoreError> {
        self.journal()?.rewrite(locked, rewrite, note)
    }

    fn redact(
        &self,
        locked: &Locked,
        plan: &RedactionPlan,
        wholes: &Wholes,
    ) -> Result<bool, StoreError> {
        self.journal()?.redact(locked, plan, wholes)
    }

    fn finish_redactions(&self) -> Result<(), StoreError> {
        self.journal()?.finish_redactions()
    }

    /// Hidden files are removed with the other files.
    fn erase(
        &self,
        context: &Context,
        remove_files: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.new.erase(context, remove_files)
    }

    fn scrub(&self) -> Result<(), StoreError> {
        self.used().scrub()
    }

    fn is_apart(&self) -> bool {
        self.new.is_apart()
    }

    fn is_cheap_to_follow(&self) -> bool {
        self.used().is_cheap_to_follow()
    }
}
