//! [`Version`]: what the history tells about one file and one change.

use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{HistoryId, Operation};
use serde::Serialize;

/// One version of one file: what a change made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Version {
    /// Names this version, for `read_version` and the like. Ids sort by time.
    pub id: HistoryId,
    /// The id of the change that made it. One change can make versions of several files, such as the deletion of a directory.
    pub change: HistoryId,
    /// What was done.
    pub operation: Operation,
    /// Where the file is since then; where it was, if it was deleted.
    pub path: MemoryPath,
    /// Where it was before, if it was renamed; otherwise `None`.
    pub old_path: Option<MemoryPath>,
    /// When, by the clock of the machine that made the change.
    #[serde(serialize_with = "memdir_store::time::serialize")]
    #[cfg_attr(feature = "schema", schemars(with = "memdir_store::schema::Time"))]
    pub time: SystemTime,
    /// Who, as the memory that made the change was told; `None` if it was not told.
    pub actor: Option<String>,
    /// The size of the content in bytes. `None` if the file was deleted, its content is redacted, or it was not read
    /// since it was moved.
    pub size: Option<u64>,
    /// The SHA-256 of the content, in hexadecimal digits. `None` as for `size`.
    pub sha256: Option<String>,
    /// Whether the file is there, and this is what it holds, as far as the history knows.
    pub is_current: bool,
    /// Why the content was removed from the history; `None` if it was not.
    pub redacted: Option<String>,
}
