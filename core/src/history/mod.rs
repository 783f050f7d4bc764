//! The history of a memory: every change can be seen, and taken back.
//!
//! A memory with [`MemoryOptions::history`](crate::MemoryOptions::history) records each change before it makes it. An edit
//! is a splice, and a splice with what it removed leads back as well as forth, so a version costs what the edit changed
//! and not what the file holds.
//!
//! The way of a record, downward: a layer over the store notices a change (`recorder`, `edits`, `deletions`) and makes a
//! `record` of it, which a `journal` keeps: a log beside a local directory (`log_file`), the database itself (`noted`), or
//! hidden files in any other store (`kept_files`). In a tree of mounts each store has its own, which are read as one
//! (`mounted`).
//!
//! The way of a question: what was loaded (`index`), which of it was really made (`settle`), the versions that come of it
//! (`timeline`), and their `contents`. What is brought back is decided in `restore` and made by `steps`. `docs/history.md`
//! is the page about it.

mod abbreviation;
mod check;
mod contents;
mod deletions;
mod diff;
mod edits;
mod error;
mod fast_import;
mod hidden;
pub(crate) mod id;
mod index;
mod journal;
mod kept_files;
mod log_file;
mod log_writer;
mod mounted;
mod noted;
mod obstacles;
mod opening;
mod past;
mod query;
mod reading;
mod recall;
mod record;
mod recorder;
mod redact;
mod restore;
mod retention;
mod settle;
mod size;
mod snapshot;
mod steps;
mod timeline;
mod transfer;
mod trim;
mod undo;
pub(crate) mod version;

pub use abbreviation::{ResolvedId, SHORTEST_ID_PART};
pub use error::HistoryError;
pub use fast_import::FastImportError;
pub use hidden::without_journal;
pub use id::{HistoryId, NoHistoryId};
pub use past::PastFile;
pub use query::HistoryQuery;
pub use reading::{HistorySnapshot, has_history};
pub(crate) use recorder::Recorder;
pub(crate) use restore::How;
pub(crate) use retention::Retention;
pub use size::HistorySize;
pub use steps::{Restored, RestoredFile};
pub use transfer::{HistoryRecords, HistoryRecordsBuilder};
#[doc(hidden)]
pub use undo::Undo;
pub use version::{Operation, Version};
