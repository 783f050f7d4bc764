//! The notes of changes, as rows that no directory contains. So the isolation of tenants applies to them as
//! well.

use memdir_store::notes::{HEAD, Listed, Note, Notes};
use memdir_store::path::MemoryPath;
use memdir_store::{Context, StoreError};

use super::error::PostgresError;
use super::session::{ChangeTransaction, Parameter, Wanted};
use super::{PostgresDatabase, statements};

const READING: &str = "reading the history";

impl PostgresDatabase {
    /// Changes notes, in turn with the other changes of the namespace.
    fn change_notes(
        &self,
        context: &Context,
        operation: &'static str,
        mut change: impl FnMut() -> Result<Option<ChangeTransaction>, StoreError>,
    ) -> Result<(), StoreError> {
        let wanted = Wanted::at(&MemoryPath::root());
        self.change(context, operation, wanted, |_| change())
    }
}

fn number(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

impl Notes for PostgresDatabase {
    fn append(&self, note: &Note) -> Result<(), StoreError> {
        self.change_notes(&Context::new(), "writing the history", || {
            let parameters: Vec<Parameter> =
                vec![Box::new(vec![note.id.clone()]), Box::new(vec![note.bytes.clone()])];
            Ok(Some(ChangeTransaction::new(&statements::ADD_NOTES, parameters)))
        })
    }

    fn list(&self, context: &Context, after: i64) -> Result<Vec<Listed>, StoreError> {
        let parameters: Vec<Parameter> = vec![Box::new(after), Box::new(number(HEAD as u64))];
        let rows = self.ask(context, READING, &statements::NOTES, parameters)?;
        let listed = rows.iter().map(|row| {
            let len: i32 = row.try_get(2)?;
            let len = u64::try_from(len).unwrap_or(0);
            Ok(Listed { number: row.try_get(0)?, head: row.try_get(1)?, len })
        });
        let listed: Result<_, tokio_postgres::Error> = listed.collect();
        listed.map_err(|error| PostgresError::from(error).during(READING))
    }

    fn read(
        &self,
        context: &Context,
        id: i64,
        from: u64,
        count: u64,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let from = number(from.saturating_add(1));
        let parameters: Vec<Parameter> =
            vec![Box::new(id), Box::new(from), Box::new(number(count))];
        let rows = self.ask(context, READING, &statements::READ_NOTE, parameters)?;
        let read = rows.first().map(|row| row.try_get(0)).transpose();
        read.map_err(|error| PostgresError::from(error).during(READING))
    }

    fn read_all(
        &self,
        context: &Context,
        notes: &[(i64, u64)],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let numbers: Vec<i64> = notes.iter().map(|(number, _)| *number).collect();
        let parameters: Vec<Parameter> = vec![Box::new(numbers)];
        let rows = self.ask(context, READING, &statements::READ_NOTES, parameters)?;
        let read: Result<_, _> = rows.iter().map(|row| row.try_get(0)).collect();
        read.map_err(|error| PostgresError::from(error).during(READING))
    }

    fn rewrite(
        &self,
        last: i64,
        replaced: &[(i64, Vec<u8>)],
        removed: &[i64],
        note: Option<&Note>,
    ) -> Result<bool, StoreError> {
        let mut is_known = false;
        let context = Context::new();
        if let Some(note) = note {
            context.put_note(note.clone());
        }
        self.change_notes(&context, "rewriting the history", || {
            // The namespace is locked here, so no note can be added after this check.
            is_known = self.list(&Context::new(), last)?.is_empty();
            let parameters: Vec<Parameter> = vec![Box::new(removed.to_vec())];
            let remove = ChangeTransaction::new(&statements::REMOVE_NOTES, parameters).of_rows(0);
            let replaced_notes = replaced.to_vec();
            Ok(is_known.then_some(ChangeTransaction { replaced_notes, ..remove }))
        })?;
        Ok(is_known)
    }

    /// The server's own `VACUUM` does this. Only the owner of the table may run it.
    fn scrub(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
