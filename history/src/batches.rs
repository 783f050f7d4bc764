//! Records files that are written together.
//!
//! The records of new files are appended together, before the files are written together. Each of them is about one file, as if the
//! file were written alone. So after a crash the files show which of the changes were made. A file that exists already is written alone.

use memdir_store::batch::write_each;
use memdir_store::transfer::holds;
use memdir_store::{
    BatchError, Context, FileToWrite, HistoryId, Layer, OnExisting, Operation, StoreError,
};

use super::journal::AppendedTogether;
use super::record::{ContentId, Header, Record, Row};
use super::recorder::{Draft, Recorder};

/// The records of files that are written together.
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
        let Draft { record: first, pen } = self.draft(context)?;
        let change = first.header.change;
        let mut records = vec![first];
        while records.len() < files.len() {
            records.push(Record::new(HistoryId::new()?, change, context.actor()));
        }
        for (record, file) in records.iter_mut().zip(files) {
            let content = ContentId::of(file.content);
            record.keep(content, file.content);
            record.header.rows.push(Row {
                operation: context.operation(Operation::Created),
                path: file.path.clone(),
                old_path: None,
                before: None,
                after: Some(content),
                splice: None,
                is_trimmed: false,
            });
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

    /// Ends the changes with the result of the store. The records of files that were not written are withdrawn.
    fn finish_together(
        &self,
        context: &Context,
        recorded: RecordedTogether,
        files: &[FileToWrite<'_>],
        failed: Option<&BatchError>,
    ) {
        let RecordedTogether { change, ids, said, appended } = recorded;
        let written = failed.map_or(ids.len(), |failed| failed.written.min(ids.len()));
        let is_unknown = failed.is_some_and(|failed| failed.error.may_have_changed());
        // In a database the record exists if and only if the file was written.
        let is_in_database = !appended.notes.is_empty();
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
        let rest = written..ids.len();
        let not_made: Vec<_> =
            rest.filter(|number| was_not_made(*number)).map(|number| ids[number]).collect();
        if written > 0 || is_unknown {
            // Further changes of the same command belong to this change.
            context.begin(change);
        }
        let made = ids[..written].to_vec();
        let is_noted = self.journal.end_together(appended, &made, &not_made);
        let said = if not_made.first() == ids.first() { said } else { Vec::new() };
        self.reader.note(move |index| {
            index.ended_together(made, &not_made, is_noted);
            index.maybe_appended(said);
        });
        if written > 0 {
            self.trim_sometimes(context, written);
        }
    }
}
