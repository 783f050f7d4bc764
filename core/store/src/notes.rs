//! [`Notes`]: what a database keeps together with a change, in one transaction. The history is kept so.
//!
//! The note of a change is in its [`Context`]. The store takes it into the transaction.

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

    /// Replaces the bytes of a note, if it is there, and leaves nothing of the old ones in the database.
    fn replace(&self, number: i64, bytes: &[u8]) -> Result<(), StoreError>;

    /// Removes notes, likewise.
    fn remove(&self, numbers: &[i64]) -> Result<(), StoreError>;
}
