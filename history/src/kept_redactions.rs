//! How [`KeptFiles`] redacts, though a store can change only one hidden file at a time.
//!
//! 1. Each record that will lose a splice gets the contents that this splice leads to. After a kill the history is as before.
//! 2. The plan is written into a file of its own. From now on every reader applies it to each record, so the redaction is done.
//! 3. The note is written, and the records are changed one by one. After a kill the next redaction, trim or scrub goes on here.
//! 4. The file of the plan is emptied. It stays, so a reader notices that there was a redaction while it read. The next
//!    redaction removes it.
//!
//! Two processes may finish the same plan at once: each step changes nothing if it was done before.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use memdir_store::path::MemoryPath;
use memdir_store::{Context, Entry, HistoryId, Mutation, OnExisting, Splice, StoreError};

use super::kept_files::{KeptFiles, Number, directory};
use super::open_redaction::{OpenRedaction, name, redactions_in};
use super::place::Place;
use super::record::{Header, Record};
use super::redaction_plan::{RedactionPlan, Wholes};

fn path(redaction: HistoryId) -> Result<MemoryPath, StoreError> {
    directory().join(&name(redaction)).map_err(|_| StoreError::NameTooLong)
}

impl KeptFiles {
    /// What the process applies to each record that it reads.
    pub(super) fn open_redactions(&self) -> Vec<Arc<OpenRedaction>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The plans of these redactions that are not finished. `None` if one of them was finished meanwhile.
    pub(super) fn read_redactions(
        &self,
        context: &Context,
        redactions: &[(HistoryId, u64)],
        damaged: &mut Vec<String>,
    ) -> Result<Option<Vec<Arc<OpenRedaction>>>, StoreError> {
        let mut open = Vec::new();
        for (id, _) in redactions.iter().filter(|(_, size)| *size > 0) {
            let bytes = match self.store.read_in(context, &path(*id)?) {
                Err(StoreError::NotFound) => return Ok(None),
                read => read?,
            };
            if bytes.is_empty() {
                return Ok(None);
            }
            match OpenRedaction::from_bytes(&bytes) {
                Some(redaction) => open.push(Arc::new(redaction)),
                None => damaged.push(format!("the redaction {id}")),
            }
        }
        Ok(Some(open))
    }

    /// Redacts, in the steps above.
    pub(super) fn redact_in_steps(
        &self,
        plan: &RedactionPlan,
        wholes: &Wholes,
    ) -> Result<(), StoreError> {
        let context = &Context::new();
        self.finish_redactions_there()?;
        let (mut unreadable, mut is_concerned) = (BTreeSet::new(), false);
        for (path, id, header) in self.headers(context)? {
            match header {
                Ok(header) if plan.concerns(&header) => {
                    is_concerned = true;
                    self.apply(&path, |record| plan.with_wholes(record, wholes))?;
                }
                Ok(_) => {}
                // It cannot be read anyway.
                Err(_) => drop(unreadable.insert(id)),
            }
        }
        if !is_concerned && plan.note.is_none() {
            return Ok(());
        }
        self.remove_redactions(&self.list(context, &directory())?)?;
        let id = plan.note.as_ref().map_or_else(HistoryId::new, |note| Ok(note.id))?;
        let note = self.next_number(context)?.place().at;
        let redaction = OpenRedaction { id, note, plan: plan.clone(), unreadable };
        self.store.write(&path(id)?, &redaction.to_bytes(), OnExisting::Error)?;
        self.finish(context, &redaction)
    }

    /// Does what is left of interrupted redactions.
    pub(super) fn finish_redactions_there(&self) -> Result<(), StoreError> {
        let context = &Context::new();
        let there = redactions_in(&self.list(context, &directory())?);
        // What another process finished meanwhile is left to it.
        let open = self.read_redactions(context, &there, &mut Vec::new())?.unwrap_or_default();
        open.iter().try_for_each(|redaction| self.finish(context, redaction))
    }

    fn finish(&self, context: &Context, redaction: &OpenRedaction) -> Result<(), StoreError> {
        let plan = &redaction.plan;
        if let Some(note) = plan.note() {
            let path = Number::of(Place::numbered(redaction.note)).path(note.header.id)?;
            let bytes = note.to_bytes();
            let write = Mutation::WriteUnique { path: &path, content: &bytes };
            match self.store.mutate(&context.separate(), write) {
                Err(StoreError::AlreadyExists) => {}
                written => drop(written?),
            }
        }
        for (path, id, header) in self.headers(context)? {
            match header {
                Ok(header) if plan.concerns(&header) => {
                    self.apply(&path, |record| plan.apply(record))?;
                }
                Err(error) if !redaction.unreadable.contains(&id) => return Err(error),
                _ => {}
            }
        }
        self.store.write(&path(redaction.id)?, b"", OnExisting::Overwrite)
    }

    /// Where each record is, and its header as it is stored, or why it cannot be read.
    #[allow(clippy::type_complexity, reason = "it is used here only")]
    fn headers(
        &self,
        context: &Context,
    ) -> Result<Vec<(MemoryPath, HistoryId, Result<Header, StoreError>)>, StoreError> {
        let mut headers = Vec::new();
        for (_, id, entry) in self.listed(context)? {
            match self.stored_record(context, &entry.path) {
                Err(StoreError::NotFound) => {}
                record => headers.push((entry.path, id, record.map(|record| record.header))),
            }
        }
        Ok(headers)
    }

    /// Removes the files of all redactions that are among these entries.
    pub(super) fn remove_redactions(&self, there: &[Entry]) -> Result<(), StoreError> {
        redactions_in(there).iter().try_for_each(|(id, _)| self.remove(&path(*id)?))
    }

    /// Changes a record, unless it is gone or damaged, or `change` returns `None`. The last call of `change` counts.
    pub(super) fn update(
        &self,
        path: &MemoryPath,
        change: &mut dyn FnMut(Record) -> Option<Record>,
    ) -> Result<(), StoreError> {
        let mut edit = |old: &[u8]| {
            let new = change(Record::from_bytes(old).ok()?)?;
            Some(Splice { range: 0..old.len(), text: new.to_bytes() })
        };
        match self.store.update(path, &mut edit) {
            Err(StoreError::NotFound) => Ok(()),
            // Stores limit what can be edited, and not what can be written.
            Err(StoreError::TooLarge { .. }) => match edit(&self.store.read(path)?) {
                Some(new) => self.store.write(path, &new.text, OnExisting::Overwrite),
                None => Ok(()),
            },
            updated => updated,
        }
    }

    /// The same for a change that may change nothing.
    fn apply(
        &self,
        path: &MemoryPath,
        change: impl Fn(Record) -> Record,
    ) -> Result<(), StoreError> {
        self.update(path, &mut |record| {
            let new = change(record.clone());
            (new != record).then_some(new)
        })
    }
}
