//! The history of a memory: every change can be viewed and undone.
//!
//! A memory with `MemoryOptions::history` records each change before it makes it. An edit is recorded as a splice. A splice
//! includes the bytes that it removed, so it can be applied in both directions, and a version costs as much as the edit changed,
//! not as much as the file holds.
//!
//! Users of memdir call methods of `Memory` and types of `memdir::history`, and examples use those names. Without a `Memory` there
//! are two types: a [`Recorder`] is a store that records its changes, and its [`HistoryReader`] answers queries.
//!
//! How a change is recorded: a layer over the store sees the change (`recording_layer`: `creations`, `edits`, `renames`,
//! `deletions`, `taken_along`). The `recorder` makes a `record` of it, and a `journal` keeps the record: a log beside a local
//! directory (`log_file`), the database itself (`noted`), or hidden files in any other store (`kept_files`). An encrypted store's
//! records are sealed (`record_form`) and go to the journal of the underlying store. In a tree of mounts each store has its own
//! journal, and they are read as one (`mounted`).
//!
//! How a query is answered: the `reader` takes the loaded records (`index`), determines which changes were made (`settle`) and when
//! (`late_rows`), and computes the versions (`timeline`) and their `contents`. When a history grows, it is extended and not
//! computed again (`recall`, `snapshot`). `blame` finds the version that added each line, with `line_trace`. A search walks from
//! version to version with `old_lines`. `restore` and `undo` plan the changes that bring content back, and `steps` makes them.
//! `docs/guides/history.md` is the guide.

mod abbreviation;
mod age_clock;
mod batches;
mod blame;
mod check;
mod conditional;
mod conflict;
mod contents;
mod creations;
mod deletions;
mod diff;
mod edits;
mod erase;
mod error;
mod error_kind;
mod fast_import;
mod hidden;
mod index;
mod journal;
mod kept_files;
mod kept_redactions;
mod kept_rewriting;
mod late_rows;
pub mod line_diff;
mod line_trace;
mod log_beginning;
mod log_directory;
mod log_erasure;
mod log_file;
mod log_frame;
mod log_litter;
mod log_segment;
mod log_writer;
mod mounted;
mod moved_journal;
mod new_segments;
mod noted;
mod obstacles;
mod old_lines;
mod open_redaction;
mod opening;
mod packed;
mod past;
mod place;
mod query;
mod reader;
mod reading;
mod recall;
mod record;
mod record_form;
mod recorder;
mod recording_layer;
mod redact;
mod redacted_names;
mod redaction_plan;
mod renames;
mod restore;
mod retention;
mod seal_again;
mod settle;
mod size;
mod snapshot;
mod steps;
mod taken_along;
pub mod text_diff;
pub mod text_merge;
mod timeline;
mod transfer;
mod trim;
mod trim_doubt;
mod undo;
mod version;

pub use abbreviation::{ResolvedId, SHORTEST_ID_PART};
pub use blame::BlamedLine;
pub use conflict::Conflict;
pub use erase::Erased;
pub use error::HistoryError;
pub use error_kind::HistoryErrorKind;
pub use fast_import::FastImportError;
pub use hidden::without_journal;
pub use memdir_store::{HistoryId, NoHistoryId, Operation};
pub use old_lines::{LinesOf, OldLines};
pub use past::PastFile;
pub use query::HistoryQuery;
pub use reader::HistoryReader;
pub use reading::{HistorySnapshot, ListedVersion, has_history};
pub use recorder::Recorder;
pub use redact::RedactedText;
pub use restore::RestoreOptions;
pub use retention::Retention;
pub use seal_again::seal_again;
pub use size::HistorySize;
pub use steps::{Restored, RestoredFile};
pub use transfer::{HistoryRecords, HistoryRecordsBuilder};
pub use undo::UndoOptions;
pub use version::Version;

/// The example in the README, which runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
