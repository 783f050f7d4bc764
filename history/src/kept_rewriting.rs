//! Rewrites for a trim in [`KeptFiles`], where the store can change only one hidden file at a time.
//!
//! 1. Each record that keeps all of its rows is rewritten: the first remaining versions of a file no longer need their predecessors.
//! 2. The note is appended. It contains the confirmations that only removed records had.
//! 3. Records are removed, and rows are removed from remaining records: newest first, so no file has a gap in its versions.
//!
//! So an interruption leaves a correct history, and the next trim completes the rest.

use memdir_store::path::MemoryPath;
use memdir_store::{Context, StoreError};

use super::journal::{Journal, Loaded, Rewrite};
use super::kept_files::{KeptFiles, Number};
use super::record::Record;

/// Whether a record may lose rows in a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    Stay,
    MayGo,
}

/// The result of a step for a record.
enum Rewritten {
    /// Nothing is left to do.
    Done,
    /// The record still has rows that must be removed.
    LosesRows,
    /// The record must be removed.
    Goes,
}

impl KeptFiles {
    /// Rewrites in the steps above.
    pub(super) fn rewrite_in_steps(
        &self,
        rewrite: &mut Rewrite<'_>,
        note: Option<&Record>,
    ) -> Result<(), StoreError> {
        self.finish_last_redaction()?;
        let mut loaded = Loaded::default();
        self.load(&Context::new(), &mut loaded)?;
        let mut losing = Vec::new();
        for stored in loaded.records.iter().filter(|stored| (rewrite.concerns)(&stored.header)) {
            let path = Number::of(stored.place).path(stored.header.id)?;
            match self.rewrite_one(&path, rewrite, Rows::Stay)? {
                Rewritten::Done => {}
                Rewritten::LosesRows | Rewritten::Goes => losing.push(path),
            }
        }
        note.map_or(Ok(()), |note| self.append_alone(note))?;
        for path in losing.iter().rev() {
            if let Rewritten::Goes = self.rewrite_one(path, rewrite, Rows::MayGo)? {
                self.remove(path)?;
            }
        }
        Ok(())
    }

    fn rewrite_one(
        &self,
        path: &MemoryPath,
        rewrite: &mut Rewrite<'_>,
        rows: Rows,
    ) -> Result<Rewritten, StoreError> {
        let mut done = Ok(Rewritten::Done);
        self.update(path, &mut |record| {
            let new = match (rewrite.change)(record.clone()) {
                Ok(Some(new)) => new,
                Ok(None) => {
                    done = Ok(Rewritten::Goes);
                    return None;
                }
                Err(error) => {
                    done = Err(error);
                    return None;
                }
            };
            if rows == Rows::Stay && count_rows(&new) < count_rows(&record) {
                done = Ok(Rewritten::LosesRows);
                return None;
            }
            done = Ok(Rewritten::Done);
            (new != record || rewrite.is_forced).then_some(new)
        })?;
        done
    }
}

/// The number of rows of a record that were not cleared.
fn count_rows(record: &Record) -> usize {
    record.header.rows.iter().filter(|row| !row.is_reserved()).count()
}
