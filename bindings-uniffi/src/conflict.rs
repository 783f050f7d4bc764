//! [`Conflict`]: why a file is not brought back. An error has it, and so has what was restored.

use std::time::SystemTime;

/// A path that was changed since, or where something is in the way, so a file is not brought back there.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path.
    pub path: String,
    /// Whether it is in the way: a file where a directory is needed, or a directory or something else where
    /// a file is needed. It is never overwritten. Delete or rename it first.
    pub in_the_way: bool,
    /// The id of the newest later change of the file. Null if it is not recorded: another program changed the
    /// file since its last version, or something is in the way.
    pub change: Option<String>,
    /// Who made this change, as the memory was told.
    pub actor: Option<String>,
    /// When. If another program made the change, when it was noticed.
    pub time: Option<SystemTime>,
}

impl From<&memdir::history::Conflict> for Conflict {
    fn from(conflict: &memdir::history::Conflict) -> Self {
        Self {
            path: conflict.path.to_string(),
            in_the_way: conflict.in_the_way,
            change: conflict.change.as_ref().map(ToString::to_string),
            actor: conflict.actor.clone(),
            time: conflict.time,
        }
    }
}
