//! The history of a memory: the types of its methods, and the methods.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::time::SystemTime;

use memdir::history::{HistoryId, Operation};
use memdir_bindings_shared::history::{self as shared, Query, Undo, undo_options};

use crate::border::{MemdirText, MemdirTime};
use crate::conflict::Conflict;
use crate::error::MemdirError;
use crate::expiry::number;
use crate::files::count;
use crate::memory::Memory;

/// One version of one file: what a change made of it.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Names this version, for `read_version` and the like. Ids sort by time.
    pub id: String,
    /// The id of the change that made it. One change can make versions of several files, such as the
    /// deletion of a directory.
    pub change: String,
    /// What was done.
    pub operation: HistoryOperation,
    /// Where the file is since then; where it was, if it was deleted.
    pub path: String,
    /// Where it was before, if it was renamed.
    pub old_path: Option<String>,
    /// When, by the clock of the machine that made the change.
    pub time: SystemTime,
    /// Who, as the memory that made the change was told.
    pub actor: Option<String>,
    /// The size of the content in bytes; null if the file was deleted, its content is redacted, or
    /// nobody has read it since it was moved.
    pub size: Option<i64>,
    /// The SHA-256 of the content, in hexadecimal digits; null as for `size`.
    pub sha256: Option<String>,
    /// Whether the file is there, and this is what it holds, as far as the history knows.
    pub is_current: bool,
    /// Why the content was removed from the history; null if it was not.
    pub redacted: Option<String>,
}

/// What a change did to a file.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryOperation {
    /// A new file.
    Created,
    /// An edit: `str_replace`, `insert`, or an edit of your own code.
    Modified,
    /// The whole content was replaced.
    Overwritten,
    /// The file, or a directory above it, was renamed or moved. The content is the same.
    Renamed,
    /// The file, or a directory above it, was deleted.
    Deleted,
    /// Nobody had used it for so long that it expired.
    Expired,
    /// It was deleted with everything else.
    Cleared,
    /// An earlier state was brought back.
    Restored,
    /// It came from a file outside of the memory.
    Imported,
    /// The content of an earlier version was removed from the history.
    Redacted,
    /// Somebody else changed the file, not through a memory with history. The next change of that file
    /// notices it.
    External,
    /// An operation that this package has no name for.
    Unknown,
}

/// What was done to bring back an earlier state, or would be done.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The id of the change that this made, which can be undone itself; null if there was nothing to do,
    /// or with `dry_run`.
    pub change: Option<String>,
    /// The files, in the order of their paths.
    pub files: Vec<RestoredFile>,
    /// What was left out with `skip_conflicts`, and why, in the order of the paths.
    #[uniffi(default = [])]
    pub skipped: Vec<Conflict>,
}

/// A file that was changed to bring back an earlier state, or would be changed.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct RestoredFile {
    /// What was done: created, modified, renamed or deleted.
    pub operation: HistoryOperation,
    /// Where the file is; where it was, if it was deleted.
    pub path: String,
    /// Where it was before, if it was renamed.
    pub old_path: Option<String>,
    /// The text of the file after it, if this was merged with later changes.
    #[uniffi(default = None)]
    pub merged: Option<String>,
}

#[uniffi::export]
impl Memory {
    /// A session of the same memory, for a conversation of its own: its changes are recorded as this
    /// actor's, such as an agent or a user, and with `stale_guard` only what it was shown itself counts.
    /// Everything else is shared. It takes the place of the option `actor`. Never take it from a model's
    /// input.
    ///
    /// Throws `Config` if the text is not valid Unicode.
    pub fn acting_as(&self, actor: MemdirText) -> Result<Self, MemdirError> {
        let actor = actor.option("actor")?;
        Ok(self.of(self.core.acting_as(&actor)))
    }

    /// The versions of files, newest first. The memory needs the option `history`, and the model cannot
    /// call this.
    ///
    /// `path` is a file or a directory, also one that is not there any more: only versions of what is or
    /// was there, and the earlier versions of files that were moved there. Only the first `limit`; only
    /// those before the version `before`, the last of the page that was shown before; only those that
    /// `actor` made; only those of the change `change`; only those made at the time `since` or later.
    ///
    /// Throws `History` if the memory has no history, or a text is no id or no path; `Config` for a wrong
    /// limit; `Store` if the store is broken.
    #[uniffi::method(default(
        path = None,
        limit = None,
        before = None,
        actor = None,
        change = None,
        since = None
    ))]
    pub fn history(
        &self,
        path: Option<MemdirText>,
        limit: Option<i64>,
        before: Option<MemdirText>,
        actor: Option<MemdirText>,
        change: Option<MemdirText>,
        since: Option<MemdirTime>,
    ) -> Result<Vec<Version>, MemdirError> {
        let text =
            |name, given: Option<MemdirText>| given.map(|given| given.option(name)).transpose();
        let query = Query {
            path: text("path", path)?,
            limit: limit.map(|limit| count("limit", limit)).transpose()?,
            before: text("before", before)?,
            actor: text("actor", actor)?,
            change: text("change", change)?,
            since: since.map(|since| since.argument("since")).transpose()?,
        };
        let query = query.into_core()?;
        let versions = self.core.history(&query)?;
        Ok(versions.into_iter().map(Version::from).collect())
    }

    /// The content of a version.
    ///
    /// Throws `History` if there is no such version, or it has no content: it is a deletion, was redacted,
    /// or its records are damaged. Throws `Store` if the store is broken.
    pub fn read_version(&self, id: MemdirText) -> Result<Vec<u8>, MemdirError> {
        let id = self::id("id", id)?;
        Ok(self.core.read_version(id)?)
    }

    /// A unified diff from one version to another; empty if nothing differs. With null as the other one:
    /// what the change of the version did to the file.
    ///
    /// Throws as `read_version`; but a file that is not there counts as empty.
    #[uniffi::method(default(other = None))]
    pub fn diff(&self, id: MemdirText, other: Option<MemdirText>) -> Result<String, MemdirError> {
        let id = self::id("id", id)?;
        let other = other.map(|other| self::id("other", other)).transpose()?;
        Ok(self.core.diff(id, other)?)
    }

    /// Writes the content of a version back, as a new version. A deleted file is made again where it was:
    /// `id` is then the version of its deletion, or an earlier one. With the id of a change, all files of
    /// that change are brought back, such as those of a deleted directory.
    ///
    /// With `overwrite` also over what was changed since; otherwise a file that is there with another
    /// content is a conflict. Policies do not apply: your own code brings back what was there.
    ///
    /// Throws as `read_version`, and `History` for a conflict, a read-only memory, or if the store failed
    /// in the middle.
    #[uniffi::method(default(overwrite = false))]
    pub fn restore(&self, id: MemdirText, overwrite: bool) -> Result<Restored, MemdirError> {
        let id = self::id("id", id)?;
        Ok(self.core.restore(id, overwrite)?.into())
    }

    /// Takes back a change: every file that it changed becomes what it was before. `change` is the id of
    /// the change, or of a version that it made. With `since` instead, takes back all changes that were
    /// made at that time or later, by `actor` or by anybody. With `dry_run` it only returns what it would do.
    /// With `skip_conflicts` it leaves out the files that cannot be undone because of a conflict, and lists
    /// them. With `merge` it keeps later changes of other lines: where a file was changed since, the lines
    /// of the undone change become what they were, if no later change touches them or a line beside them.
    ///
    /// Throws `History` if later changes depend on it, and then nothing was changed, or if what the files
    /// were before was removed because of a limit; otherwise as `restore`. Throws `Config` unless there is either
    /// `change` or `since`.
    #[uniffi::method(default(
        change = None,
        since = None,
        actor = None,
        dry_run = false,
        skip_conflicts = false,
        merge = false
    ))]
    pub fn undo(
        &self,
        change: Option<MemdirText>,
        since: Option<MemdirTime>,
        actor: Option<MemdirText>,
        dry_run: bool,
        skip_conflicts: bool,
        merge: bool,
    ) -> Result<Restored, MemdirError> {
        let text = |name, text: Option<MemdirText>| text.map(|text| text.option(name)).transpose();
        let since = since.map(|since| since.argument("since")).transpose()?;
        let undo = Undo::of(text("change", change)?, since, text("actor", actor)?)?;
        let restored = undo.take_back(&self.core, undo_options(dry_run, skip_conflicts, merge))?;
        Ok(restored.into())
    }

    /// Makes every file what it was at a time, whatever was changed since. Files of which the history
    /// knows nothing stay. With `dry_run` it only returns what it would do.
    ///
    /// Throws `History` if the history does not reach back so far; otherwise as `restore`.
    #[uniffi::method(default(dry_run = false))]
    pub fn restore_all(&self, at: MemdirTime, dry_run: bool) -> Result<Restored, MemdirError> {
        let at = at.argument("at")?;
        Ok(self.core.restore_all(at, dry_run)?.into())
    }

    /// Removes the content of a version from the history for good, wherever the history has it; with the
    /// id of a change, the contents of all its versions. The version stays, with the reason. Returns the
    /// id of the change, or null if nothing was left to remove.
    ///
    /// Throws `History` if a file holds this content now; otherwise as `read_version`.
    pub fn redact(
        &self,
        id: MemdirText,
        reason: MemdirText,
    ) -> Result<Option<String>, MemdirError> {
        let (id, reason) = (self::id("id", id)?, reason.option("reason")?);
        let change = self.core.redact(id, &reason)?;
        Ok(change.as_ref().map(ToString::to_string))
    }

    /// Removes the versions that the options keep no longer, and returns how many records of changes that
    /// were. The memory does this now and then after a change, too.
    ///
    /// Throws `History` if the memory has no history or is read-only, `Store` if the store is broken.
    pub fn trim_history(&self) -> Result<i64, MemdirError> {
        let trimmed = self.core.trim_history()?;
        Ok(i64::try_from(trimmed).unwrap_or(i64::MAX))
    }
}

/// The id that a text is.
fn id(name: &str, text: MemdirText) -> Result<HistoryId, MemdirError> {
    Ok(shared::id(&text.option(name)?)?)
}

impl From<memdir::history::Version> for Version {
    fn from(version: memdir::history::Version) -> Self {
        Self {
            id: version.id.to_string(),
            change: version.change.to_string(),
            operation: version.operation.into(),
            path: version.path.to_string(),
            old_path: version.old_path.as_ref().map(ToString::to_string),
            time: version.time,
            actor: version.actor,
            size: version.size.map(number),
            sha256: version.sha256,
            is_current: version.is_current,
            redacted: version.redacted,
        }
    }
}

impl From<Operation> for HistoryOperation {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Created => Self::Created,
            Operation::Modified => Self::Modified,
            Operation::Overwritten => Self::Overwritten,
            Operation::Renamed => Self::Renamed,
            Operation::Deleted => Self::Deleted,
            Operation::Expired => Self::Expired,
            Operation::Cleared => Self::Cleared,
            Operation::Restored => Self::Restored,
            Operation::Imported => Self::Imported,
            Operation::Redacted => Self::Redacted,
            Operation::External => Self::External,
            _ => Self::Unknown,
        }
    }
}

impl From<memdir::history::Restored> for Restored {
    fn from(restored: memdir::history::Restored) -> Self {
        let files = restored.files.into_iter().map(|file| RestoredFile {
            operation: file.operation.into(),
            path: file.path.to_string(),
            old_path: file.old_path.as_ref().map(ToString::to_string),
            merged: file.merged,
        });
        let skipped = restored.skipped.iter().map(Conflict::from).collect();
        let change = restored.change.as_ref().map(ToString::to_string);
        Self { change, files: files.collect(), skipped }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_operation_has_its_own_name() {
        let names =
            Operation::ALL.map(|operation| format!("{:?}", HistoryOperation::from(operation)));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), Operation::ALL.len());
        assert!(!names.contains(&"Unknown".to_owned()));
    }
}
