//! The history of a memory: every change is recorded and can be undone.
//!
//! A memory with [`MemoryOptions::history`](crate::MemoryOptions::history) records each change before it makes
//! it. [`Memory::history`](crate::Memory::history) lists the versions, and related methods read, compare and
//! restore them. [`Memory::history_snapshot`](crate::Memory::history_snapshot) is for a program that reads much
//! of the history.

pub use memdir_history::{
    BlamedLine, Conflict, Erased, FastImportError, HistoryError, HistoryErrorKind, HistoryId,
    HistoryQuery, HistoryRecords, HistoryRecordsBuilder, HistorySize, HistorySnapshot, LinesOf,
    NoHistoryId, OldLines, Operation, PastFile, RedactedText, ResolvedId, Restored, RestoredFile,
    SHORTEST_ID_PART, UndoOptions, Version, has_history, without_journal,
};
pub(crate) use memdir_history::{
    HistoryReader, ListedVersion, Recorder, RestoreOptions, Retention,
};
