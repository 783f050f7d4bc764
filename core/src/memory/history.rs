//! The methods of [`Memory`] about its history. They are for your own code; a model cannot call them.

use std::sync::Arc;
use std::time::SystemTime;

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use super::Memory;
use crate::files::GrepQuery;
use crate::history::{
    BlamedLine, Erased, HistoryError, HistoryId, HistoryQuery, HistoryReader, HistorySnapshot,
    Operation, PastFile, Recorder, RedactedText, RestoreOptions, Restored, Retention, UndoOptions,
    Version,
};
use crate::options::MemoryOptions;
use crate::reply;
use crate::session::Session;
use crate::store::{Context, Store};
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
    /// A [`session`](Memory::session) whose changes are recorded as this actor's: an agent, a user, a conversation. It replaces
    /// [`MemoryOptions::actor`](crate::MemoryOptions::actor). Never take it from a model's input.
    #[must_use]
    pub fn acting_as(&self, actor: &str) -> Self {
        let session = Session::new(Some(Arc::from(actor)));
        Self { session, ..self.session() }
    }

    /// The history at this moment, for a caller that reads much of it.
    ///
    /// # Errors
    /// [`HistoryError::Off`]; [`HistoryError::Store`].
    pub fn history_snapshot(&self) -> Result<HistorySnapshot<'_>, HistoryError> {
        self.reader()?.history_snapshot(&self.context())
    }

    /// The id of the version or of the change that a person means by a part of it: see [`HistorySnapshot::resolve`], which takes
    /// no new snapshot for each.
    ///
    /// # Errors
    /// [`HistoryError::NoId`] if the text is neither an id nor at least [`SHORTEST_ID_PART`](crate::history::SHORTEST_ID_PART)
    /// digits of one; [`HistoryError::Unknown`]; [`HistoryError::Ambiguous`]; [`HistoryError::Off`]; [`HistoryError::Store`].
    pub fn resolve_id(&self, part: &str) -> Result<HistoryId, HistoryError> {
        self.history_snapshot()?.resolve(part).id(part)
    }

    /// The versions that the query asks for, newest first.
    ///
    /// # Errors
    /// [`HistoryError::Off`], [`HistoryError::Path`], [`HistoryError::Store`].
    pub fn history(&self, query: &HistoryQuery) -> Result<Vec<Version>, HistoryError> {
        self.reader()?.versions(&self.context(), query)
    }

    /// The content of a version.
    ///
    /// # Errors
    /// [`HistoryError::Unknown`]; [`HistoryError::NoContent`] for a deletion; [`HistoryError::Redacted`];
    /// [`HistoryError::Damaged`]; [`HistoryError::Off`]; [`HistoryError::Store`].
    pub fn read_version(&self, id: HistoryId) -> Result<Vec<u8>, HistoryError> {
        self.reader()?.read_version(&self.context(), id)
    }

    /// A unified diff from one version to another. Without another: what the change of the version did to the file. Empty
    /// if nothing differs.
    ///
    /// # Errors
    /// As [`read_version`](Memory::read_version). A file that is not there counts as empty.
    pub fn diff(&self, one: HistoryId, other: Option<HistoryId>) -> Result<String, HistoryError> {
        self.reader()?.diff(&self.context(), one, other)
    }

    /// Writes the content of a version back, as a new version. A deleted file is made again where it was: `id` is then the
    /// version of its deletion, or an earlier one. With the id of a change, all files of that change are brought back, such
    /// as those of a deleted directory.
    ///
    /// With `overwrite` also over what was changed since; otherwise a file that is there with another content is a
    /// [conflict](HistoryError::Conflict). So is, even with `overwrite`, something else in the way: a file where a directory is
    /// needed, or a directory where a file is needed.
    ///
    /// Policies do not apply: your own code brings back what was there. Limits that a store checks itself do.
    ///
    /// # Errors
    /// As [`read_version`](Memory::read_version), [`HistoryError::Conflict`], [`HistoryError::ReadOnly`], and
    /// [`HistoryError::Partly`] if the store failed in the middle.
    pub fn restore(&self, id: HistoryId, overwrite: bool) -> Result<Restored, HistoryError> {
        let how = RestoreOptions { overwrite, dry_run: false };
        self.taking_back(|recorder, context| recorder.restore(context, id, how))
    }

    /// Takes back a change: every file that it changed becomes what it was before. With the id of a version, the whole
    /// change that made it. The [options](UndoOptions) say what becomes of files that were changed since.
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
    /// [`HistoryError::Conflict`] where later changes depend on it, or where something is in the way, and then nothing was
    /// changed;
    /// [`HistoryError::Trimmed`]; as [`restore`](Memory::restore).
    pub fn undo(&self, id: HistoryId, options: UndoOptions) -> Result<Restored, HistoryError> {
        self.taking_back(|recorder, context| recorder.undo(context, id, options))
    }

    /// Takes back all changes that were made at `since` or later, by `actor` or by anybody.
    ///
    /// # Errors
    /// As [`undo`](Memory::undo).
    pub fn undo_since(
        &self,
        since: SystemTime,
        actor: Option<&str>,
        options: UndoOptions,
    ) -> Result<Restored, HistoryError> {
        self.taking_back(|recorder, context| recorder.undo_since(context, since, actor, options))
    }

    /// Makes every file what it was at a time, whatever was changed since. Files of which the history knows nothing stay.
    /// With `dry_run` it only returns what it would do.
    ///
    /// # Errors
    /// [`HistoryError::Trimmed`] if the history does not reach back so far; as [`restore`](Memory::restore).
    pub fn restore_all(&self, at: SystemTime, dry_run: bool) -> Result<Restored, HistoryError> {
        self.taking_back(|recorder, context| recorder.restore_all(context, at, dry_run))
    }

    /// Removes the content of a version from the history for good, wherever the history has it; with the id of a change,
    /// the contents of all its versions. The version stays, with the reason. Returns the change, or `None` if nothing was
    /// left to remove.
    ///
    /// # Errors
    /// [`HistoryError::IsCurrent`] if a file holds this content now; as [`read_version`](Memory::read_version).
    pub fn redact(&self, id: HistoryId, reason: &str) -> Result<Option<HistoryId>, HistoryError> {
        self.changing()?.redact(&self.context(), id, reason)
    }

    /// Removes every content with a text from the history for good, as [`redact`](Memory::redact) does, in whatever version of whatever
    /// file: a text anywhere in the content, a regular expression in a line. With `dry_run` it only returns what it would do, and which files
    /// have the text now.
    ///
    /// A name with the text goes from the history as well, or all names of a path that only has it as a whole: `redacted-` and eight
    /// random digits stand in its place. A name that a file or directory has now stays, and so does that of an actor.
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
    /// It computes every content.
    ///
    /// # Errors
    /// [`HistoryError::AreCurrent`] if files have the text now, and then nothing was changed; [`HistoryError::Off`];
    /// [`HistoryError::ReadOnly`]; [`HistoryError::Store`].
    pub fn redact_text(
        &self,
        query: &GrepQuery,
        reason: &str,
        dry_run: bool,
    ) -> Result<RedactedText, HistoryError> {
        let recorder = if dry_run { self.recorder()? } else { self.changing()? };
        let has_text = |content: &[u8]| query.is_in_content(content);
        recorder.redact_matching(&self.context(), &has_text, reason, dry_run)
    }

    /// As [`redact_text`](Memory::redact_text), but the contents that files have now stay, in the files and in the history, and are no
    /// error. For a front end in which a person removes the past first: `current` of the result names these files.
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
    /// [`HistoryError::IsCurrent`] if a file gets such a content meanwhile; [`HistoryError::Off`]; [`HistoryError::ReadOnly`];
    /// [`HistoryError::Store`].
    pub fn redact_past_text(
        &self,
        query: &GrepQuery,
        reason: &str,
        dry_run: bool,
    ) -> Result<RedactedText, HistoryError> {
        let recorder = if dry_run { self.recorder()? } else { self.changing()? };
        let has_text = |content: &[u8]| query.is_in_content(content);
        recorder.redact_past_matching(&self.context(), &has_text, reason, dry_run)
    }

    /// Removes the versions that the options keep no longer, and returns how many records of changes that were. It is also
    /// done now and then after a change.
    ///
    /// # Errors
    /// [`HistoryError::Off`], [`HistoryError::ReadOnly`], [`HistoryError::Store`].
    pub fn trim_history(&self) -> Result<usize, HistoryError> {
        self.changing()?.trim(&self.context())
    }

    /// Removes everything for good: files, directories, the whole history, and what killed processes left of them. It works whether or
    /// not [`MemoryOptions::history`] is set, is not recorded, and cannot be undone. With `dry_run` it only counts. Mounted
    /// stores that are read-only stay as they are.
    ///
    /// Afterwards the memory goes on as an empty one, also for other processes. An encrypted store keeps its key. No policy
    /// applies. If it fails or is killed, a second call does the rest. What memdir cannot reach stays: backups, and what a disk
    /// or a server keeps of deleted data.
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
        erased.map_err(|error| reply::condition(&MemoryPath::root(), error))
    }

    /// The files that there were at a time, sorted by their paths. A file that the history does not know, because nobody
    /// changed it since the history is kept, is among them as it is now, if it was last written before that time.
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
    /// [`HistoryError::Trimmed`] if the history does not reach back so far; [`HistoryError::Off`];
    /// [`HistoryError::Store`].
    pub fn files_at(&self, at: SystemTime) -> Result<Vec<PastFile>, HistoryError> {
        self.reader()?.files_at(&self.context(), at)
    }

    /// What a file held at a time. `None` if there was no file.
    ///
    /// # Errors
    /// As [`files_at`](Memory::files_at) and [`read_version`](Memory::read_version); [`HistoryError::Path`].
    pub fn read_at(&self, path: &str, at: SystemTime) -> Result<Option<Vec<u8>>, HistoryError> {
        let parsed = MemoryPath::parse(path).map_err(|_| HistoryError::Path(path.to_owned()))?;
        self.reader()?.read_at(&self.context(), &parsed, at)
    }

    /// For each line of a file as it is now, the version that brought it, its actor and its time. A line that was removed and
    /// brought back is of the version that brought it back, as in git. A line stays what it is when its file is renamed.
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
    /// [`HistoryError::NoFile`] if no file is there; [`HistoryError::NotText`] if it is not UTF-8; [`HistoryError::Path`];
    /// [`HistoryError::Off`]; [`HistoryError::Damaged`] if records contradict each other; [`HistoryError::Store`].
    pub fn blame(&self, path: &str) -> Result<Vec<BlamedLine>, HistoryError> {
        let parsed = MemoryPath::parse(path).map_err(|_| HistoryError::Path(path.to_owned()))?;
        self.reader()?.blame(&self.context(), &parsed)
    }

    /// The history of a memory with these options, on its store.
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

    /// What answers questions about the history.
    pub(super) fn reader(&self) -> Result<&HistoryReader, HistoryError> {
        self.recorder().map(Recorder::reader)
    }

    /// The recorder of a memory that may be changed.
    fn changing(&self) -> Result<&Recorder, HistoryError> {
        if self.store.info().is_read_only { Err(HistoryError::ReadOnly) } else { self.recorder() }
    }

    /// The context of an operation of this memory's actor. Only a history needs the actor.
    pub(super) fn context(&self) -> Context {
        let actor = self.history.as_ref().and_then(|_| self.session.actor.clone());
        Context::of(actor).cancelled_by(&self.cancellation)
    }

    /// A command, or one of the methods, that begins.
    pub(super) fn work(&self) -> UnitOfWork<'_> {
        UnitOfWork::new(&self.store, &self.policies, self.context())
    }

    /// What does something else than a command.
    pub(crate) fn work_doing(&self, operation: Operation) -> UnitOfWork<'_> {
        UnitOfWork::new(&self.store, &self.policies, self.context().doing(operation))
    }

    /// Does something as one change of this memory's actor. Returns its result, and the id of the change if something was
    /// recorded.
    pub(super) fn working<T>(
        &self,
        work: impl FnOnce(&UnitOfWork<'_>) -> T,
    ) -> (T, Option<HistoryId>) {
        let unit = self.work();
        let done = work(&unit);
        (done, unit.finish())
    }

    fn taking_back(
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
