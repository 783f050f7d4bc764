//! The history of a memory: every change can be seen, and taken back.
//!
//! A memory with [`MemoryOptions::history`](crate::MemoryOptions::history) records each change before it makes it. An edit
//! is a splice, and a splice with what it removed leads back as well as forth, so a version costs what the edit changed
//! and not what the file holds.
//!
//! The way of a record, downward: a layer over the store notices a change ([`Recorder`]) and makes a [`record`] of it,
//! which a [`journal`] keeps: a log beside a local directory ([`log_file`]), or hidden files in any other store
//! ([`kept_files`]). The way of a question: what was loaded ([`index`]), which of it was really made ([`settle`]), the
//! versions that come of it ([`timeline`]), and their [`contents`]. `docs/history.md` is the page about it.

mod check;
mod contents;
pub(crate) mod context;
mod diff;
mod error;
mod id;
mod index;
mod journal;
mod kept_files;
mod log_file;
mod noted;
mod query;
mod recall;
mod record;
mod recorder;
mod redact;
mod restore;
mod retention;
mod settle;
mod snapshot;
pub(crate) mod time;
mod timeline;
mod trim;
mod version;

pub use error::HistoryError;
pub use id::{HistoryId, NoHistoryId};
pub use query::HistoryQuery;
pub(crate) use recorder::Recorder;
pub(crate) use restore::How;
pub use restore::{Restored, RestoredFile};
pub(crate) use retention::Retention;
pub use version::{Operation, Version};
