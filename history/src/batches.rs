//! Records files that are written together, and unused files that are deleted together.
//!
//! The records of the files are appended together, before the files are changed together. Each of them is about one file, as if the
//! file were changed alone. So after a crash the files show which of the changes were made. A file that exists already is written alone.

use std::time::SystemTime;

use memdir_store::batch::{delete_each_unused, read_all, write_each};
use memdir_store::path::MemoryPath;
use memdir_store::transfer::holds;
use memdir_store::{
    BatchError, Context, FileToDelete, FileToWrite, HistoryId, Layer, Mutation, OnExisting,
    Operation, StoreError,
};

use super::journal::AppendedTogether;
use super::record::{ContentId, Header, Record, Row};
use super::recorder::{Draft, Recorder};

/// The records of files that are changed together.
struct RecordedTogether {
    change: HistoryId,
    /// The ids of the records, in the order of the files.
    ids: Vec<HistoryId>,
    /// The earlier records whose changes the first record confirms.
    said: Vec<HistoryId>,
    appended: AppendedTogether,
}

impl Recorder {
    /// [`Store::write_batch`](memdir_store::Store::write_batch).
    pub(super) fn write_together(
        &self,
        context: &Context,
        files: &[FileToWrite<'_>],
    ) -> Result<(), BatchError> {
        let mut written = 0;
        while let Some(rest) = files.get(written..).filter(|rest| !rest.is_empty()) {
            let done = match self.count_new(context, rest) {
                0 | 1 => self.write_alone(context, &rest[..1]).map(|()| 1),
                new => self.create_together(context, &rest[..new]),
            };
            written += done.map_err(|failed| BatchError {
                written: written + failed.written,
                error: failed.error,
            })?;
        }
        Ok(())
    }

    fn write_alone(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        let tracks_access = || self.store.info().tracks_access;
        write_each(context, files, tracks_access, &mut |change| {
            Layer::mutate(self, context, change)
        })
    }

    /// The number of files, from the first on, that do not exist and that the history can record together.
    fn count_new(&self, context: &Context, files: &[FileToWrite<'_>]) -> usize {
        let is_new = |file: &&FileToWrite<'_>| {
            let is_recorded = !self.reader.is_hidden(file.path) && !file.path.is_reserved();
            let open = || self.store.open_in(context, file.path, 0).map(drop);
            // A file that must be new is not looked for: if it exists, the batch ends there.
            let is_new = || {
                file.existing == OnExisting::Error || open().is_err_and(|error| !error.is_failure())
            };
            is_recorded && !file.path.is_root() && is_new()
        };
        if self.journal.appends_together() { files.iter().take_while(is_new).count() } else { 0 }
    }

    /// Creates the files, and returns their number. The number is smaller if another writer has created one of them meanwhile, and it
    /// could be overwritten.
    fn create_together(
        &self,
        context: &Context,
        files: &[FileToWrite<'_>],
    ) -> Result<usize, BatchError> {
        let recorded = self.record_creations(context, files);
        let recorded = recorded.map_err(|error| BatchError { written: 0, error })?;
        let mut notes = recorded.appended.notes.iter();
        let existing = OnExisting::Error;
        let new: Vec<_> = files
            .iter()
            .map(|file| FileToWrite { existing, note: notes.next(), ..*file })
            .collect();
        let done = self.store.write_batch(context, &new);
        self.finish_together(context, recorded, files, done.as_ref().err());
        let Err(failed) = done else { return Ok(files.len()) };
        match files.get(failed.written..) {
            Some([file, ..])
                if matches!(failed.error, StoreError::AlreadyExists)
                    && file.existing == OnExisting::Overwrite =>
            {
                let alone = self.write_alone(context, std::slice::from_ref(file));
                alone.map_err(|error| BatchError { written: failed.written, ..error })?;
                Ok(failed.written + 1)
            }
            _ => Err(failed),
        }
    }

    fn record_creations(
        &self,
        context: &Context,
        files: &[FileToWrite<'_>],
    ) -> Result<RecordedTogether, StoreError> {
        let operation = context.operation(Operation::Created);
        self.record_together(context, files, &|file, record| {
            let content = ContentId::of(file.content);
            record.keep(content, file.content);
            Ok(Row {
                operation,
                path: file.path.clone(),
                old_path: None,
                before: None,
                after: Some(content),
                splice: None,
                is_trimmed: false,
            })
        })
    }

    /// Appends a record for each file, with the row from `row`, which also adds the contents to keep.
    fn record_together<F>(
        &self,
        context: &Context,
        files: &[F],
        row: &dyn Fn(&F, &mut Record) -> Result<Row, StoreError>,
    ) -> Result<RecordedTogether, StoreError> {
        let Draft { record: first, pen } = self.draft(context)?;
        let change = first.header.change;
        let mut records = vec![first];
        while records.len() < files.len() {
            records.push(Record::by(context, HistoryId::new()?, change));
        }
        for (record, file) in records.iter_mut().zip(files) {
            let row = row(file, record)?;
            record.header.partner = context.partner_of(&row.path);
            record.header.rows.push(row);
        }
        let said = self.reader.index_in(context)?.take_unconfirmed();
        records[0].header.confirms.clone_from(&said);
        let appended = match self.journal.append_together(context, pen, &records) {
            Ok(appended) => appended,
            Err(error) => {
                // The next record repeats the confirmations.
                self.reader.note(move |index| index.maybe_appended(said));
                // No file is changed without a record, no matter what became of the records.
                context.check()?;
                return Err(error.unchanged());
            }
        };
        let headers: Vec<Header> = records.into_iter().map(|record| record.header).collect();
        let ids = headers.iter().map(|header| header.id).collect();
        self.reader.note(move |index| index.appended_together(&headers));
        Ok(RecordedTogether { change, ids, said, appended })
    }

    /// [`Store::delete_unused_batch`](memdir_store::Store::delete_unused_batch).
    pub(super) fn delete_unused_together(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        if !self.journal.appends_together() {
            let mut alone = |change: Mutation<'_>| Layer::mutate(self, context, change);
            return delete_each_unused(context, files, since, &mut alone, visit);
        }
        let is_shown = |file: &&FileToDelete<'_>| !self.reader.is_hidden(file.path);
        let shown: Vec<&MemoryPath> = files.iter().filter(is_shown).map(|file| file.path).collect();
        let mut found = Vec::new();
        for (path, read) in shown.iter().zip(read_all(&*self.store, context, shown.clone())) {
            match read {
                Ok(content) => found.push((*path, content)),
                Err(error) if error.is_failure() => return Err(error.unchanged()),
                // It is gone, or its content cannot be recorded, so it is not deleted.
                Err(_) => {}
            }
        }
        let mut deleted = Vec::with_capacity(found.len());
        let done = if found.is_empty() {
            Ok(())
        } else {
            self.delete_found(context, &found, since, &mut deleted)
        };
        let (mut found, mut deleted) = (found.iter().peekable(), deleted.into_iter());
        for file in files {
            let is_found = found.next_if(|(path, _)| std::ptr::eq(*path, file.path)).is_some();
            let outcome = if is_found { deleted.next() } else { Some(false) };
            // After a failure, the outcome may be unknown.
            let Some(is_deleted) = outcome else { break };
            visit(is_deleted);
        }
        done
    }

    /// Deletes files with these contents, and sets `deleted` to whether each of them was.
    fn delete_found(
        &self,
        context: &Context,
        found: &[(&MemoryPath, Vec<u8>)],
        since: SystemTime,
        deleted: &mut Vec<bool>,
    ) -> Result<(), StoreError> {
        let operation = context.operation(Operation::Expired);
        let recorded = self.record_together(context, found, &|(path, bytes), record| {
            let content = ContentId::of(bytes);
            self.keep_unknown(context, record, content, bytes)?;
            Ok(Row::deleted(operation, (*path).clone(), content))
        })?;
        let mut notes = recorded.appended.notes.iter();
        let files: Vec<_> =
            found.iter().map(|(path, _)| FileToDelete { path, note: notes.next() }).collect();
        let done =
            self.store.delete_unused_batch(context, &files, since, &mut |done| deleted.push(done));
        let is_unknown = done.as_ref().is_err_and(StoreError::may_have_changed);
        let outcome = |number: usize| match deleted.get(number) {
            Some(is_deleted) => Some(*is_deleted),
            None => (!is_unknown).then_some(false),
        };
        let outcomes: Vec<_> = (0..found.len()).map(outcome).collect();
        self.end_together(context, recorded, &outcomes);
        done
    }

    /// Ends the changes with the result of the store. The records of files that were not written are withdrawn.
    fn finish_together(
        &self,
        context: &Context,
        recorded: RecordedTogether,
        files: &[FileToWrite<'_>],
        failed: Option<&BatchError>,
    ) {
        let written = failed.map_or(files.len(), |failed| failed.written);
        let is_unknown = failed.is_some_and(|failed| failed.error.may_have_changed());
        // In a database the record exists if and only if the file was written.
        let is_in_database = !recorded.appended.notes.is_empty();
        let mut is_reachable = true;
        let mut was_not_made = |number: usize| match failed.map(|failed| &failed.error) {
            None => false,
            Some(_) if is_unknown || !is_reachable => false,
            Some(_) if is_in_database => true,
            Some(error) if number == written && !error.is_failure() => true,
            // A store may have written files after the one that failed. The file then shows it.
            Some(_) => match holds(&*self.store, files[number].path, files[number].content) {
                Ok(is_there) => !is_there,
                Err(error) => {
                    is_reachable = !error.is_failure();
                    is_reachable
                }
            },
        };
        let outcomes: Vec<Option<bool>> = (0..files.len())
            .map(|number| match number < written {
                true => Some(true),
                false => was_not_made(number).then_some(false),
            })
            .collect();
        self.end_together(context, recorded, &outcomes);
    }

    /// Ends the changes, of which each was made, was not made, or has an unknown outcome. The records of those that were not made are
    /// withdrawn.
    fn end_together(
        &self,
        context: &Context,
        recorded: RecordedTogether,
        outcomes: &[Option<bool>],
    ) {
        let RecordedTogether { change, ids, said, appended } = recorded;
        let with = |wanted: bool| {
            let all = ids.iter().zip(outcomes);
            all.filter(move |(_, outcome)| **outcome == Some(wanted)).map(|(id, _)| *id)
        };
        let (made, not_made): (Vec<_>, Vec<_>) = (with(true).collect(), with(false).collect());
        let count = made.len();
        if not_made.len() < ids.len() {
            // Further changes of the same command belong to this change.
            context.begin(change);
        }
        let is_noted = self.journal.end_together(appended, &made, &not_made);
        let said = if not_made.first() == ids.first() { said } else { Vec::new() };
        self.reader.note(move |index| {
            index.ended_together(made, &not_made, is_noted);
            index.maybe_appended(said);
        });
        if count > 0 {
            self.trim_sometimes(context, count);
        }
    }
}
