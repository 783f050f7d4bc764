//! Redacts in [`KeptFiles`], where the store can change only one hidden file at a time.
//!
//! 1. Each record that will lose a splice gets the contents that this splice leads to. After a crash the history is unchanged.
//! 2. The plan is written to a file of its own. From now on every reader applies it to each record, so the redaction is in effect.
//! 3. The note is written, and the records are changed one by one. A damaged one is removed. After a crash the next redaction, trim
//!    or scrub continues here.
//! 4. The plan is replaced by its id. So a reader detects that there was a redaction while it read.
//!
//! There is one such file, so there is only one redaction at a time. Several processes may finish the same one concurrently: each
//! step that was already done changes nothing.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use memdir_store::path::MemoryPath;
use memdir_store::{Context, HistoryId, Mutation, OnExisting, Splice, StoreError};

use super::kept_files::{KeptFiles, Number, directory};
use super::open_redaction::{LastRedaction, NAME, OpenRedaction, RedactionState};
use super::place::Place;
use super::record::{Header, Record};
use super::redaction_plan::{RedactionPlan, Wholes};

/// The file of the last redaction.
fn file() -> Result<MemoryPath, StoreError> {
    directory().join(NAME).map_err(|_| StoreError::NameTooLong)
}

impl KeptFiles {
    /// The last redaction, if there was one.
    pub(super) fn last_redaction(
        &self,
        context: &Context,
    ) -> Result<Option<LastRedaction>, StoreError> {
        match self.store.read_in(context, &file()?) {
            Err(StoreError::NotFound) => Ok(None),
            read => Ok(Some(LastRedaction::from_bytes(&read?))),
        }
    }

    /// The last redaction that this process saw when it loaded the journal.
    pub(super) fn seen_redaction(&self) -> Option<LastRedaction> {
        self.redaction.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Redacts in the steps above. Returns `false` if another process has redacted something since the journal was loaded.
    pub(super) fn redact_in_steps(
        &self,
        plan: &RedactionPlan,
        wholes: &Wholes,
    ) -> Result<bool, StoreError> {
        let context = &Context::new();
        let before = self.seen_redaction().and_then(|seen| seen.state());
        let (mut unreadable, mut is_concerned) = (BTreeSet::new(), false);
        for (path, id, header) in self.headers(context)? {
            match header {
                Ok(header) if plan.concerns(&header) => {
                    is_concerned = true;
                    self.apply(&path, |record| plan.with_wholes(record, wholes))?;
                }
                Ok(_) => {}
                // The record cannot be read anyway.
                Err(_) => drop(unreadable.insert(id)),
            }
        }
        if !is_concerned && plan.note.is_none() {
            return Ok(true);
        }
        let id = plan.note.as_ref().map_or_else(HistoryId::new, |note| Ok(note.id))?;
        let note = self.next_number(context)?.place().at;
        let redaction = OpenRedaction { id, note, plan: plan.clone(), unreadable };
        if !self.begin(before, &redaction)? {
            return Ok(false);
        }
        self.finish(context, &redaction).map(|()| true)
    }

    /// Writes the plan, if the last redaction is still `before` and is finished.
    fn begin(&self, before: RedactionState, redaction: &OpenRedaction) -> Result<bool, StoreError> {
        let bytes = redaction.to_bytes();
        if before.is_none() {
            return match self.store.write(&file()?, &bytes, OnExisting::Error) {
                Err(StoreError::AlreadyExists) => Ok(false),
                written => written.map(|()| true),
            };
        }
        let mut has_begun = false;
        let mut edit = |old: &[u8]| {
            let now = LastRedaction::from_bytes(old);
            has_begun = now.state() == before && now.open().is_none();
            has_begun.then(|| Splice { range: 0..old.len(), text: bytes.clone() })
        };
        match self.store.update(&file()?, &mut edit) {
            // Everything was erased.
            Err(StoreError::NotFound) => Ok(false),
            updated => updated.map(|()| has_begun),
        }
    }

    /// Completes an interrupted redaction.
    pub(super) fn finish_last_redaction(&self) -> Result<(), StoreError> {
        let context = &Context::new();
        let last = self.last_redaction(context)?;
        last.iter().filter_map(|last| last.open()).try_for_each(|open| self.finish(context, open))
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
                Ok(_) => {}
                // A damaged record never becomes readable again, and may contain data that must be removed.
                Err(error) if error.is_damage() => self.remove(&path)?,
                Err(_) if redaction.unreadable.contains(&id) => {}
                Err(error) => return Err(error),
            }
        }
        let finished = LastRedaction::finished(redaction.id);
        let mut edit = |old: &[u8]| {
            let is_open = LastRedaction::from_bytes(old).state() == Some((redaction.id, true));
            is_open.then(|| Splice { range: 0..old.len(), text: finished.clone() })
        };
        match self.store.update(&file()?, &mut edit) {
            // Everything was erased.
            Err(StoreError::NotFound) => Ok(()),
            Err(StoreError::TooLarge { .. }) => {
                self.store.write(&file()?, &finished, OnExisting::Overwrite)
            }
            updated => updated,
        }
    }

    /// The path of each record, and its stored header, or the reason why it cannot be read.
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

    /// Removes the file of the last redaction.
    pub(super) fn remove_redaction(&self) -> Result<(), StoreError> {
        self.remove(&file()?)
    }

    /// Changes a record, unless it is gone or damaged, or `change` returns `None`. `change` may be called several times; the last
    /// call counts.
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
            // Stores limit the size of edits, but not of writes.
            Err(StoreError::TooLarge { .. }) => match edit(&self.store.read(path)?) {
                Some(new) => self.store.write(path, &new.text, OnExisting::Overwrite),
                None => Ok(()),
            },
            updated => updated,
        }
    }

    /// The same, for a change that may leave the record as it is.
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
