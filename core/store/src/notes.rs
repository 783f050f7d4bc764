//! [`Notes`]: data that a database stores in the same transaction as a change. The history uses this.
//!
//! The [`Context`] of a change carries its note, and the request to remove all notes with the files ([`Context::remove_notes`]). The
//! store applies both in the transaction.

pub use super::note::{HEAD, Listed, Note};
use super::{Context, StoreError};

/// A store that can write notes in the transaction of a change.
pub trait Notes: Send + Sync {
    /// Writes a note in a transaction of its own.
    fn append(&self, note: &Note) -> Result<(), StoreError>;

    /// The notes with a number above `after`, sorted by number, which is the order of their transactions.
    fn list(&self, context: &Context, after: i64) -> Result<Vec<Listed>, StoreError>;

    /// At most `count` bytes of a note, starting at `from`; `None` if the note does not exist.
    fn read(
        &self,
        context: &Context,
        number: i64,
        from: u64,
        count: u64,
    ) -> Result<Option<Vec<u8>>, StoreError>;

    /// Whole notes, each with its length, in the order of their numbers here; `None` for one that does not exist. The caller limits
    /// the sum of the lengths.
    ///
    /// By default it reads one after another.
    fn read_all(
        &self,
        context: &Context,
        notes: &[(i64, u64)],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        notes.iter().map(|(number, len)| self.read(context, *number, 0, *len)).collect()
    }

    /// Replaces the bytes of notes, removes notes, and then appends `note`, all in one transaction, so a failure or a crash leaves all
    /// of it or nothing. Missing numbers are skipped. If a note above the number `last` exists, the caller does not know it: then
    /// nothing is changed, and the result is `false`.
    fn rewrite(
        &self,
        last: i64,
        replaced: &[(i64, Vec<u8>)],
        removed: &[i64],
        note: Option<&Note>,
    ) -> Result<bool, StoreError>;

    /// Erases all traces of replaced or removed notes and files, from free space and from logs. It may rewrite the whole database.
    fn scrub(&self) -> Result<(), StoreError>;
}
