//! [`Version`]: the state of one file after one change.

use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{HistoryId, Operation};
use serde::Serialize;

/// One version of one file: its state after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Version {
    /// Identifies this version, for example for `read_version`. Ids sort by time.
    pub id: HistoryId,
    /// The id of the change that made it. One change can make versions of several files, such as the deletion of a directory.
    pub change: HistoryId,
    /// The operation.
    pub operation: Operation,
    /// The path of the file after the change. If the file was deleted, its last path.
    pub path: MemoryPath,
    /// The path before the change, if it was a rename; otherwise `None`.
    pub old_path: Option<MemoryPath>,
    /// The time of the change, by the clock of the machine that made it.
    #[serde(serialize_with = "memdir_store::time::serialize")]
    #[cfg_attr(feature = "schema", schemars(with = "memdir_store::schema::Time"))]
    pub time: SystemTime,
    /// The actor, as set on the memory that made the change; `None` if none was set.
    pub actor: Option<String>,
    /// The name of the other memory if a sync made the change; otherwise `None`.
    pub partner: Option<String>,
    /// The version in the history of the other memory that the sync took or merged. `None` if that history does not have it, or if no sync made
    /// the change.
    pub partner_version: Option<HistoryId>,
    /// The size of the content in bytes. `None` if the file was deleted, if its content is redacted, or if it was not read
    /// since it was moved.
    pub size: Option<u64>,
    /// The SHA-256 of the content, in hexadecimal digits. `None` as for `size`.
    pub sha256: Option<String>,
    /// Whether the file exists and holds this content, as far as the history knows.
    pub is_current: bool,
    /// The reason why the content was removed from the history; `None` if it was not.
    pub redacted: Option<String>,
}
