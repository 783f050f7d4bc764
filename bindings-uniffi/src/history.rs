//! The history of a memory: the types of its methods, and the methods.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use memdir::history::HistoryId;
use memdir_bindings_shared::history::{self as shared, Query, Undo, undo_options};

use crate::border::{MemdirText, MemdirTime};
use crate::error::MemdirError;
use crate::files::count;
use crate::memory::Memory;
use crate::results::{Restored, Version};

#[uniffi::export]
impl Memory {
    /// A session of the same memory, for one conversation. Its changes are recorded under this actor, such as an
    /// agent or a user, and its `stale_guard` counts only its own views. Everything else is shared. `actor`
    /// replaces the option `actor`. Never take it from a model's input.
    ///
    /// Throws `Config` if the text is not valid Unicode.
    pub fn acting_as(&self, actor: MemdirText) -> Result<Self, MemdirError> {
        let actor = actor.option("actor")?;
        Ok(self.of(self.core.acting_as(&actor)))
    }

    /// The versions of files, newest first. The memory needs the option `history`, and the model cannot call
    /// this.
    ///
    /// The arguments are filters; null does not filter:
    ///
    /// - `path`: versions of this file, or of everything below this directory, whether it still exists or not.
    ///   Earlier versions of files that were moved there are included.
    /// - `limit`: the most versions to return.
    /// - `before`: only versions older than the one with this id, the last id of the previous page.
    /// - `actor`: only versions that this actor made.
    /// - `change`: only versions of this change.
    /// - `since`: only versions that were made at this time or later.
    ///
    /// Throws `History` if the memory has no history, or a text is not a valid id or path; `Config` for a wrong
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
    /// Throws `History` if there is no such version, or it has no content because it is a deletion, was redacted,
    /// or its records are damaged. Throws `Store` if the store is broken.
    pub fn read_version(&self, id: MemdirText) -> Result<Vec<u8>, MemdirError> {
        let id = self::id("id", id)?;
        Ok(self.core.read_version(id)?)
    }

    /// A unified diff from one version to another; empty if they do not differ. If `other` is null, it shows the
    /// change that made the version.
    ///
    /// Throws as `read_version`, but a deleted file counts as empty.
    #[uniffi::method(default(other = None))]
    pub fn diff(&self, id: MemdirText, other: Option<MemdirText>) -> Result<String, MemdirError> {
        let id = self::id("id", id)?;
        let other = other.map(|other| self::id("other", other)).transpose()?;
        Ok(self.core.diff(id, other)?)
    }

    /// Writes the content of a version back, as a new version. A deleted file is created again at its old path:
    /// `id` is then the version of its deletion, or an earlier one. With the id of a change, all files of that
    /// change are restored, such as those of a deleted directory.
    ///
    /// If a file now has a different content, that is a conflict, unless `overwrite` is true. Policies do not
    /// apply, because your own code restores content that was allowed before.
    ///
    /// Throws as `read_version`, and `History` for a conflict, a read-only memory, or if the store failed midway.
    #[uniffi::method(default(overwrite = false))]
    pub fn restore(&self, id: MemdirText, overwrite: bool) -> Result<Restored, MemdirError> {
        let id = self::id("id", id)?;
        Ok(self.core.restore(id, overwrite)?.into())
    }

    /// Undoes a change: every file that it changed returns to its previous content. `change` is the id of the
    /// change, or of a version that it made. With `since` instead, it undoes all changes that were made at that
    /// time or later, by `actor` or by all actors. With `dry_run` it only returns what it would do. With
    /// `skip_conflicts` it leaves out the files that cannot be undone because of a conflict, and lists them. With
    /// `merge` it keeps later changes of other lines. In a file that was changed since, only the lines of the
    /// undone change are reverted, if no later change touches them or an adjacent line.
    ///
    /// Throws `History` if later changes depend on it, and then nothing was changed, or if a previous content was
    /// removed because of a limit; otherwise as `restore`. Throws `Config` unless exactly one of `change` and
    /// `since` is given.
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
        let restored = undo.apply(&self.core, undo_options(dry_run, skip_conflicts, merge))?;
        Ok(restored.into())
    }

    /// Restores every file to its state at a time: all later changes are reverted. Files that the history does
    /// not know are left unchanged. With `dry_run` it only returns what it would do.
    ///
    /// Throws `History` if the history does not reach back to that time; otherwise as `restore`.
    #[uniffi::method(default(dry_run = false))]
    pub fn restore_all(&self, at: MemdirTime, dry_run: bool) -> Result<Restored, MemdirError> {
        let at = at.argument("at")?;
        Ok(self.core.restore_all(at, dry_run)?.into())
    }

    /// Permanently removes the content of a version from the history, wherever the history has it; with the id of
    /// a change, the contents of all its versions. The version stays, with the reason. Returns the id of the
    /// change, or null if nothing was left to remove.
    ///
    /// Throws `History` if a file has this content now; otherwise as `read_version`.
    pub fn redact(
        &self,
        id: MemdirText,
        reason: MemdirText,
    ) -> Result<Option<String>, MemdirError> {
        let (id, reason) = (self::id("id", id)?, reason.option("reason")?);
        let change = self.core.redact(id, &reason)?;
        Ok(change.as_ref().map(ToString::to_string))
    }

    /// Removes the versions that the retention options no longer keep, and returns the number of removed change
    /// records. The memory also does this from time to time after a change.
    ///
    /// Throws `History` if the memory has no history or is read-only, `Store` if the store is broken.
    pub fn trim_history(&self) -> Result<i64, MemdirError> {
        let trimmed = self.core.trim_history()?;
        Ok(i64::try_from(trimmed).unwrap_or(i64::MAX))
    }
}

/// Parses an id.
fn id(name: &str, text: MemdirText) -> Result<HistoryId, MemdirError> {
    Ok(shared::id(&text.option(name)?)?)
}
