//! The methods of [`Memory`] for its history. They are for your own code; a model cannot call them.

use std::sync::Arc;
use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{Error, SyncSource};

use super::Memory;
use crate::files::GrepQuery;
use crate::history::{
    BlamedLine, Erased, HistoryError, HistoryId, HistoryQuery, HistoryReader, HistorySnapshot,
    Operation, PastFile, Recorder, RedactedText, RestoreOptions, Restored, Retention, UndoOptions,
    Version,
};
use crate::options::MemoryOptions;
use crate::preview::preview_of;
use crate::reply;
use crate::session::Session;
use crate::store::{Context, Store, StoreError};
use crate::unit_of_work::UnitOfWork;

/// The history of a memory with [`MemoryOptions::history`](crate::MemoryOptions::history).
///
/// ```
/// use memdir::history::{HistoryQuery, UndoOptions};
/// use memdir::{Memory, MemoryOptions};
///
/// let mut options = MemoryOptions::default();
/// options.history = true;
/// let memory = Memory::open("memory:", options)?.acting_as("session 1");
/// memory.create("/memories/tea.md", "green\n")?;
/// memory.str_replace("/memories/tea.md", "green", "black")?;
///
/// let versions = memory.history(&HistoryQuery::default())?;
/// assert_eq!(versions[0].operation.as_str(), "modified");
/// assert_eq!(versions[0].actor.as_deref(), Some("session 1"));
/// assert_eq!(memory.read_version(versions[1].id)?, b"green\n");
/// assert_eq!(
///     memory.diff(versions[0].id, None)?,
///     "--- /memories/tea.md\n+++ /memories/tea.md\n@@ -1 +1 @@\n-green\n+black\n",
/// );
///
/// memory.undo(versions[0].change, UndoOptions::default())?;
/// assert_eq!(memory.read("/memories/tea.md")?, "green\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Memory {
    /// Returns a new [`session`](Memory::session) that records its changes under this actor: an agent, a user,
    /// a conversation. The actor replaces [`MemoryOptions::actor`](crate::MemoryOptions::actor). Never take it
    /// from a model's input.
    #[must_use]
    pub fn acting_as(&self, actor: &str) -> Self {
        let session = Session::new(Some(Arc::from(actor)));
        Self { session, ..self.session() }
    }

    /// Returns the same session, for changes that a sync takes from this memory.
    pub(crate) fn taking_from(&self, source: Arc<SyncSource>) -> Self {
        let mut memory = self.clone();
        memory.session.source = Some(source);
        memory
    }

    /// Returns a snapshot of the history, for a caller that reads much of it.
    ///
    /// # Errors
    /// [`HistoryError::Off`]; [`HistoryError::Store`].
    pub fn history_snapshot(&self) -> Result<HistorySnapshot<'_>, HistoryError> {
        self.reader()?.history_snapshot(&self.context())
    }

    /// Resolves an abbreviated id to the full id of a version or change. It takes a new snapshot of the history
    /// for each call; [`HistorySnapshot::resolve`] reuses one.
    ///
    /// # Errors
    /// [`HistoryError::NoId`] if the text is neither an id nor at least
    /// [`SHORTEST_ID_PART`](crate::history::SHORTEST_ID_PART) digits of one; [`HistoryError::Unknown`];
    /// [`HistoryError::Ambiguous`]; [`HistoryError::Off`]; [`HistoryError::Store`].
    pub fn resolve_id(&self, part: &str) -> Result<HistoryId, HistoryError> {
        self.history_snapshot()?.resolve(part).id(part)
    }

    /// Returns the versions that match the query, newest first.
    ///
    /// # Errors
    /// [`HistoryError::Off`], [`HistoryError::Path`], [`HistoryError::Store`].
    pub fn history(&self, query: &HistoryQuery) -> Result<Vec<Version>, HistoryError> {
        self.reader()?.versions(&self.context(), query)
    }

    /// Returns the content of a version.
    ///
    /// # Errors
    /// [`HistoryError::Unknown`]; [`HistoryError::NoContent`] for a deletion; [`HistoryError::Redacted`];
    /// [`HistoryError::Damaged`]; [`HistoryError::Off`]; [`HistoryError::Store`].
    pub fn read_version(&self, id: HistoryId) -> Result<Vec<u8>, HistoryError> {
        self.reader()?.read_version(&self.context(), id)
    }

    /// Returns a unified diff from version `one` to version `other`. Without `other`, it shows what the change
    /// of version `one` did to the file. The diff is empty if nothing differs.
    ///
    /// # Errors
    /// Same as [`read_version`](Memory::read_version). A missing file counts as empty.
    pub fn diff(&self, one: HistoryId, other: Option<HistoryId>) -> Result<String, HistoryError> {
        self.reader()?.diff(&self.context(), one, other)
    }

    /// Writes the content of a version back, as a new version. To restore a deleted file at its path, pass the
    /// version of its deletion or an earlier one. If `id` is the id of a change, all files of that change are
    /// restored, such as those of a deleted directory.
    ///
    /// If a file has other content now, restoring it is a [conflict](HistoryError::Conflict), unless
    /// `overwrite` is set. A file where a directory is needed, or a directory where a file is needed, is always
    /// a conflict.
    ///
    /// Policies do not apply, because your own code restores a previous state. Limits that a store checks
    /// itself do apply.
    ///
    /// # Errors
    /// Same as [`read_version`](Memory::read_version); [`HistoryError::Conflict`]; [`HistoryError::ReadOnly`];
    /// [`HistoryError::Partly`] if the store failed halfway.
    pub fn restore(&self, id: HistoryId, overwrite: bool) -> Result<Restored, HistoryError> {
        let how = RestoreOptions { overwrite, dry_run: false };
        self.reverting(|recorder, context| recorder.restore(context, id, how))
    }

    /// Undoes a change: every file that it changed returns to its previous state. With the id of a version, it
    /// undoes the whole change that made the version. The [options](UndoOptions) control how later changes to
    /// the files are treated.
    ///
    /// ```
    /// use memdir::history::{HistoryQuery, UndoOptions};
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let memory = Memory::open("memory:", options)?;
    /// memory.create("/memories/tea.md", "green\nwhite\nblack\n")?;
    /// memory.str_replace("/memories/tea.md", "green", "red")?;
    /// let change = memory.history(&HistoryQuery::default())?[0].change;
    /// memory.str_replace("/memories/tea.md", "black", "blue")?;
    ///
    /// // The file was changed since.
    /// assert!(memory.undo(change, UndoOptions::default()).is_err());
    /// let mut options = UndoOptions::default();
    /// options.merge = true;
    /// memory.undo(change, options)?;
    /// assert_eq!(memory.read("/memories/tea.md")?, "green\nwhite\nblue\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`HistoryError::Conflict`] if later changes depend on this one, or another entry is in the way; nothing
    /// was changed. [`HistoryError::Trimmed`]. Otherwise the same as [`restore`](Memory::restore).
    pub fn undo(&self, id: HistoryId, options: UndoOptions) -> Result<Restored, HistoryError> {
        self.reverting(|recorder, context| recorder.undo(context, id, options))
    }

    /// Undoes all changes that were made at `since` or later, by `actor`, or by all actors if it is `None`.
    ///
    /// # Errors
    /// Same as [`undo`](Memory::undo).
    pub fn undo_since(
        &self,
        since: SystemTime,
        actor: Option<&str>,
        options: UndoOptions,
    ) -> Result<Restored, HistoryError> {
        self.reverting(|recorder, context| recorder.undo_since(context, since, actor, options))
    }

    /// Restores every file to its state at a given time, even if it was changed since. Files that the history
    /// does not know stay as they are. With `dry_run` it only returns what it would do.
    ///
    /// # Errors
    /// [`HistoryError::Trimmed`] if the history does not reach back that far. Otherwise the same as
    /// [`restore`](Memory::restore).
    pub fn restore_all(&self, at: SystemTime, dry_run: bool) -> Result<Restored, HistoryError> {
        self.reverting(|recorder, context| recorder.restore_all(context, at, dry_run))
    }

    /// Permanently removes the content of a version from the history, wherever the history stores it. With the
    /// id of a change, it removes the contents of all versions of that change. The version itself stays, with
    /// the reason. Returns the change, or `None` if there was nothing left to remove.
    ///
    /// # Errors
    /// [`HistoryError::IsCurrent`] if a file has this content now. Otherwise the same as
    /// [`read_version`](Memory::read_version).
    pub fn redact(&self, id: HistoryId, reason: &str) -> Result<Option<HistoryId>, HistoryError> {
        self.redact_all(&[id], reason)
    }

    /// Redacts several versions as one change, or none of them.
    pub(crate) fn redact_all(
        &self,
        ids: &[HistoryId],
        reason: &str,
    ) -> Result<Option<HistoryId>, HistoryError> {
        let redacted = self.changing()?.redact(&self.context(), ids, reason);
        self.forgotten(false, redacted)
    }

    /// Permanently removes every content that matches the query from the history, in all versions of all files,
    /// as [`redact`](Memory::redact) does. A text matches anywhere in the content; a regular expression matches
    /// within a line. With `dry_run` it only returns what it would do, and the files that match now.
    ///
    /// Names that match are also removed from the history and replaced by `redacted-` and eight random digits.
    /// If only the path as a whole matches, all its names are replaced. The current name of a file or directory
    /// stays, and so do the names of actors.
    ///
    /// ```
    /// use memdir::{GrepQuery, Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let memory = Memory::open("memory:", options)?;
    /// memory.create("/memories/db.md", "password: hunter2\n")?;
    /// memory.insert("/memories/db.md", 1, "host: db\n")?;
    /// memory.str_replace("/memories/db.md", "hunter2", "in the vault")?;
    ///
    /// let redacted = memory.redact_text(&GrepQuery::text("hunter2"), "a password", false)?;
    /// assert_eq!((redacted.versions.len(), redacted.names.len()), (2, 0));
    /// assert!(memory.grep_history(&GrepQuery::text("hunter2"), "/memories", 10)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The running time is proportional to the whole history, because every content is computed.
    ///
    /// # Errors
    /// [`HistoryError::AreCurrent`] if files match now, and nothing was changed; [`HistoryError::Off`];
    /// [`HistoryError::ReadOnly`]; [`HistoryError::Store`].
    pub fn redact_text(
        &self,
        query: &GrepQuery,
        reason: &str,
        dry_run: bool,
    ) -> Result<RedactedText, HistoryError> {
        let recorder = if dry_run { self.recorder()? } else { self.changing()? };
        let has_text = |content: &[u8]| query.is_in_content(content);
        let redacted = recorder.redact_matching(&self.context(), &has_text, reason, dry_run);
        self.forgotten(dry_run, redacted)
    }

    /// Like [`redact_text`](Memory::redact_text), but a match in a current file is not an error: that content
    /// stays, in the file and in the history. Use it in a front end that lets a person redact the past first;
    /// `current` of the result names these files.
    ///
    /// ```
    /// use memdir::{GrepQuery, Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let memory = Memory::open("memory:", options)?;
    /// memory.create("/memories/db.md", "password: hunter2\n")?;
    /// memory.insert("/memories/db.md", 1, "host: db\n")?;
    ///
    /// let redacted = memory.redact_past_text(&GrepQuery::text("hunter2"), "a password", false)?;
    /// assert_eq!((redacted.versions.len(), redacted.current.len()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`HistoryError::IsCurrent`] if a file gets such a content during the call; [`HistoryError::Off`];
    /// [`HistoryError::ReadOnly`]; [`HistoryError::Store`].
    pub fn redact_past_text(
        &self,
        query: &GrepQuery,
        reason: &str,
        dry_run: bool,
    ) -> Result<RedactedText, HistoryError> {
        let recorder = if dry_run { self.recorder()? } else { self.changing()? };
        let has_text = |content: &[u8]| query.is_in_content(content);
        let redacted = recorder.redact_past_matching(&self.context(), &has_text, reason, dry_run);
        self.forgotten(dry_run, redacted)
    }

    /// Removes the versions that the retention options no longer keep, and returns the number of removed change
    /// records. Changes also trigger this from time to time.
    ///
    /// # Errors
    /// [`HistoryError::Off`], [`HistoryError::ReadOnly`], [`HistoryError::Store`].
    pub fn trim_history(&self) -> Result<usize, HistoryError> {
        self.changing()?.trim(&self.context())
    }

    /// Permanently removes everything: files, directories, the whole history, and leftovers of killed
    /// processes. It works whether or not [`MemoryOptions::history`] is set, is not recorded, and cannot be
    /// undone. With `dry_run` it only counts. Read-only mounted stores are not changed.
    ///
    /// Afterwards the memory continues as an empty one, also for other processes. An encrypted store keeps its
    /// key. Policies do not apply. If the call fails or is killed, a second call removes the rest. memdir
    /// cannot remove backups, or data that a disk or a server keeps after a deletion.
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let memory = Memory::open("memory:", options)?;
    /// memory.create("/memories/tea.md", "green\n")?;
    /// memory.clear()?;
    /// assert_eq!(memory.stats()?.history.unwrap().versions, 2);
    ///
    /// let erased = memory.erase(false)?;
    /// assert_eq!((erased.files, erased.versions), (0, 2));
    /// assert_eq!(memory.stats()?.history.unwrap().versions, 0);
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Refused`] if the memory is read-only; [`Error::Store`].
    pub fn erase(&self, dry_run: bool) -> Result<Erased, Error> {
        let own;
        let recorder = match self.history.as_deref() {
            Some(recorder) => recorder,
            None => {
                own = Recorder::untrimmed(Arc::clone(&self.store), self.options().durability);
                &own
            }
        };
        let unit = self.work();
        let erased = unit.erase(recorder, dry_run);
        unit.finish();
        let erased = self.forgotten(dry_run, erased);
        erased.map_err(|error| reply::condition(&MemoryPath::root(), error))
    }

    /// Returns the files that existed at a given time, sorted by path. The history does not know a file that
    /// was not changed since it was turned on. Such a file is included in its current state if it was last
    /// written before that time.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let memory = Memory::open("memory:", options)?;
    /// memory.create("/memories/tea.md", "green\n")?;
    /// let before = SystemTime::now();
    /// memory.delete("/memories/tea.md")?;
    ///
    /// assert_eq!(memory.files_at(before)?[0].path.as_str(), "/memories/tea.md");
    /// assert_eq!(memory.read_at("/memories/tea.md", before)?.as_deref(), Some(&b"green\n"[..]));
    /// assert!(memory.files_at(SystemTime::now())?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`HistoryError::Trimmed`] if the history does not reach back that far; [`HistoryError::Off`];
    /// [`HistoryError::Store`].
    pub fn files_at(&self, at: SystemTime) -> Result<Vec<PastFile>, HistoryError> {
        self.reader()?.files_at(&self.context(), at)
    }

    /// Returns the content of a file at a given time, or `None` if there was no file.
    ///
    /// # Errors
    /// Same as [`files_at`](Memory::files_at) and [`read_version`](Memory::read_version);
    /// [`HistoryError::Path`].
    pub fn read_at(&self, path: &str, at: SystemTime) -> Result<Option<Vec<u8>>, HistoryError> {
        let parsed = MemoryPath::parse(path).map_err(|_| HistoryError::Path(path.to_owned()))?;
        self.reader()?.read_at(&self.context(), &parsed, at)
    }

    /// Returns, for each line of a file, the version that added it, with its actor and time. If a line was
    /// removed and added again, it belongs to the version that added it again, as in git. Renaming a file does
    /// not change this.
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let memory = Memory::open("memory:", options)?;
    /// memory.acting_as("Ann").create("/memories/tea.md", "- green\n")?;
    /// memory.acting_as("Ben").insert("/memories/tea.md", 1, "- black\n")?;
    ///
    /// let lines = memory.blame("/memories/tea.md")?;
    /// let told = lines.iter().map(|line| (line.actor.as_deref(), line.text.as_str()));
    /// assert!(told.eq([(Some("Ann"), "- green"), (Some("Ben"), "- black")]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`HistoryError::NoFile`] if there is no file; [`HistoryError::NotText`] if it is not UTF-8;
    /// [`HistoryError::Path`]; [`HistoryError::Off`]; [`HistoryError::Damaged`] if records contradict each
    /// other; [`HistoryError::Store`].
    pub fn blame(&self, path: &str) -> Result<Vec<BlamedLine>, HistoryError> {
        let parsed = MemoryPath::parse(path).map_err(|_| HistoryError::Path(path.to_owned()))?;
        self.reader()?.blame(&self.context(), &parsed)
    }

    /// Creates the history of a memory with these options, on its store.
    pub(super) fn new_history(store: &Arc<dyn Store>, options: &MemoryOptions) -> Arc<Recorder> {
        let retention = Retention {
            max_age: options.history_max_age,
            max_versions: options.history_max_versions,
            max_bytes: options.history_max_bytes,
        };
        Arc::new(Recorder::new(Arc::clone(store), options.durability, retention))
    }

    pub(super) fn recorder(&self) -> Result<&Recorder, HistoryError> {
        self.cancellation.check()?;
        self.history.as_deref().ok_or(HistoryError::Off)
    }

    /// Returns the reader of the history.
    pub(super) fn reader(&self) -> Result<&HistoryReader, HistoryError> {
        self.recorder().map(Recorder::reader)
    }

    /// The result of a removal, after the texts that searches hold were dropped, too. If the removal failed, a part of it may have been
    /// done.
    fn forgotten<T, E: From<StoreError>>(&self, dry_run: bool, done: Result<T, E>) -> Result<T, E> {
        self.forget_searched();
        if dry_run {
            return done;
        }
        let forgotten = self.forget_kept_texts();
        let done = done?;
        forgotten.map_err(StoreError::after_changes)?;
        Ok(done)
    }

    /// Returns the recorder, if the memory may be changed.
    fn changing(&self) -> Result<&Recorder, HistoryError> {
        if self.store.info().is_read_only { Err(HistoryError::ReadOnly) } else { self.recorder() }
    }

    /// Returns the context of an operation by this memory's actor. Only a history needs the actor.
    pub(super) fn context(&self) -> Context {
        let context = match &self.history {
            Some(_) => {
                let Session { actor, source, .. } = self.session.clone();
                Context::of(actor).taken_from(source)
            }
            None => Context::new(),
        };
        context.cancelled_by(&self.cancellation)
    }

    /// Starts a command, or one of the methods.
    pub(super) fn work(&self) -> UnitOfWork<'_> {
        UnitOfWork::new(&self.store, &self.policies, self.context())
    }

    /// Starts an operation other than a command.
    pub(crate) fn work_doing(&self, operation: Operation) -> UnitOfWork<'_> {
        UnitOfWork::new(&self.store, &self.policies, self.context().doing(operation))
    }

    /// Runs `work` as one change by this memory's actor. Returns its result, and the id of the change if one
    /// was recorded.
    pub(super) fn working<T>(
        &self,
        work: impl FnOnce(&UnitOfWork<'_>) -> T,
    ) -> (T, Option<HistoryId>) {
        let unit = self.work();
        let done = work(&unit);
        (done, unit.finish())
    }

    /// As [`working`](Self::working), as a part of a change that has begun.
    pub(crate) fn working_in<T>(
        &self,
        change: Option<HistoryId>,
        work: impl FnOnce(&UnitOfWork<'_>) -> T,
    ) -> (T, Option<HistoryId>) {
        let unit = self.work();
        if let Some(change) = change {
            unit.context().begin(change);
        }
        let done = work(&unit);
        (done, unit.finish())
    }

    /// The error with which the policies or the store would refuse a change that `change` makes; `None` if there is none. Nothing is changed.
    ///
    /// # Errors
    /// Those of the store, if it fails.
    pub(crate) fn refusal_of(
        &self,
        change: impl FnOnce(&UnitOfWork<'_>) -> Result<(), Error>,
    ) -> Result<Option<Error>, StoreError> {
        match preview_of(&self.store, &self.policies, self.context(), change).diff {
            Ok(_) => Ok(None),
            Err(Error::Store(error)) => Err(error),
            Err(refused) => Ok(Some(refused)),
        }
    }

    fn reverting(
        &self,
        work: impl FnOnce(&Recorder, &Context) -> Result<Restored, HistoryError>,
    ) -> Result<Restored, HistoryError> {
        let recorder = self.changing()?;
        let unit = self.work_doing(Operation::Restored);
        let restored = work(recorder, unit.context());
        unit.restored(&restored);
        unit.finish();
        restored
    }
}
