//! The history of a memory: every change can be seen, and taken back.
//!
//! A memory with `MemoryOptions::history` records each change before it makes it. An edit
//! is a splice, and a splice with what it removed leads back as well as forth, so a version costs what the edit changed
//! and not what the file holds.
//!
//! Users of memdir have this as methods of `Memory` and as `memdir::history`, and examples use those names. Without a `Memory` there
//! are two types: a [`Recorder`] is a store that records its changes, and its [`HistoryReader`] answers what is asked.
//!
//! The way of a record, downward: a layer over the store notices a change (`recording_layer`: `creations`, `edits`, `renames`,
//! `deletions`, `taken_along`), and the `recorder` makes a `record` of it, which a `journal` keeps: a log beside a local directory (`log_file`), the
//! database itself (`noted`), or hidden files in any other store (`kept_files`). An encrypted store's records are sealed
//! (`record_form`) and go to the journal of the store beneath. In a tree of mounts each store has its own, which are read as one
//! (`mounted`).
//!
//! The way of a question: a `reader` asks what was loaded (`index`), which of it was really made (`settle`) and when
//! (`late_rows`), the versions that come of it (`timeline`), and their `contents`. A history that went on is not computed anew (`recall`, `snapshot`). Which version
//! brought a line is found by `blame`, line by line in `line_trace`; a search goes from version to version by `old_lines`. What is
//! brought back is decided in `restore` and `undo`, and made by `steps`. `docs/guides/history.md` is the page about it.

mod abbreviation;
mod age_clock;
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

/// The example of the README, which runs with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
