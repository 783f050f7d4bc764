//! The history of a memory: every change can be seen, and undone.
//!
//! A memory with [`MemoryOptions::history`](crate::MemoryOptions::history) records each change before it makes it.
//! [`Memory::history`](crate::Memory::history) lists the versions, and the methods beside it read, compare and restore them.
//! The crate `memdir-history` records and answers.

#[cfg(feature = "cli")]
pub(crate) use memdir_history::{Carried, Collected, Named, NotWritten, Reading, time, write_fast_import};
pub(crate) use memdir_history::{How, Recorder, Retention, hiding};
pub use memdir_history::{
    HistoryError, HistoryId, HistoryQuery, HistorySize, NoHistoryId, Operation, PastFile, Restored, RestoredFile, Version,
};

#[doc(hidden)]
pub use crate::undo::Undo;
