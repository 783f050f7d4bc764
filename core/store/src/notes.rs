//! [`Notes`]: what a database keeps together with a change, in one transaction. The history is kept so.
//!
//! The note of a change is in its [`Context`]. The store takes it into the transaction. So is the wish that all notes go with the
//! files ([`Context::remove_notes`]).

pub use super::note::{HEAD, Listed, Note};
use super::{Context, StoreError};

/// A store that can keep notes in the transaction of a change.
pub trait Notes: Send + Sync {
    /// Keeps a note by itself.
    fn append(&self, note: &Note) -> Result<(), StoreError>;

    /// The notes with a number above `after`, in the order of their numbers, which is that of their transactions.
    fn list(&self, context: &Context, after: i64) -> Result<Vec<Listed>, StoreError>;

    /// The bytes of a note, from `from` on, at most `count`; `None` if it is gone.
    fn read(
        &self,
        context: &Context,
        number: i64,
        from: u64,
        count: u64,
    ) -> Result<Option<Vec<u8>>, StoreError>;

    /// Replaces the bytes of notes, removes notes, and then keeps `note`: all in one transaction, so a failure or a kill leaves
    /// everything or nothing of it. Numbers that are not there are skipped. If there is a note above the number `last`, it is not known
    /// to the caller: then nothing is changed, and the result is `false`.
    fn rewrite(
        &self,
        last: i64,
        replaced: &[(i64, Vec<u8>)],
        removed: &[i64],
        note: Option<&Note>,
    ) -> Result<bool, StoreError>;

    /// Leaves nothing of what was replaced or removed, of notes and of files: neither in free space nor in a log. It may write the
    /// whole database again.
    fn scrub(&self) -> Result<(), StoreError>;
}
