//! [`Version`]: what the history tells about one file and one change.

use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{HistoryId, Operation};
use serde::Serialize;

use crate::time::rfc3339;

/// One version of one file: what a change made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Version {
    /// Names this version, for `Memory::read_version` and the like. It sorts by time.
    pub id: HistoryId,
    /// The change that made it. One change can make versions of several files, such as the deletion of a directory.
    pub change: HistoryId,
    /// What was done.
    pub operation: Operation,
    /// Where the file is since then; where it was, if it was deleted.
    pub path: MemoryPath,
    /// Where it was before, if it was renamed.
    pub old_path: Option<MemoryPath>,
    /// When, by the clock of the machine that made the change.
    #[serde(serialize_with = "as_text")]
    pub time: SystemTime,
    /// Who, as the memory that made the change was told.
    pub actor: Option<String>,
    /// The size of the content in bytes. `None` if the file was deleted, its content is redacted, or nobody has read
    /// it since it was moved.
    pub size: Option<u64>,
    /// The SHA-256 of the content, in hexadecimal digits. `None` as for `size`.
    pub sha256: Option<String>,
    /// Whether the file is there, and this is what it holds, as far as the history knows.
    pub is_current: bool,
    /// Why the content was removed from the history, if it was.
    pub redacted: Option<String>,
}

fn as_text<S: serde::Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&rfc3339(*time))
}
