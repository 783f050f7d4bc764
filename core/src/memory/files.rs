//! The methods of [`Memory`] for your own code. A model cannot call them: they are not commands of the tool.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use memdir_store::Error;
use memdir_store::path::{MAX_LEVELS, MemoryPath};

use super::Memory;
use crate::command::{self, Dialect};
use crate::files::{
    self, GrepMatch, GrepQuery, HistoryMatch, Project, SensitiveMatch, Stats, Watch,
};
use crate::history::{HistoryError, Recorder};
use crate::store::Entry;

/// Methods for your own code to work with files. A model cannot call them, and they do not call hooks.
///
/// ```
/// use memdir::{Error, GrepQuery, Memory, MemoryOptions};
///
/// let memory = Memory::open("memory:", MemoryOptions::default())?;
/// memory.write("/memories/tea.md", "# Tea\n- green\n", None)?;
/// let text = memory.read("/memories/tea.md")?;
/// assert_eq!(text, "# Tea\n- green\n");
///
/// // Only if the file has not changed since:
/// memory.write("/memories/tea.md", &(text.clone() + "- black\n"), Some(&text))?;
/// let late = memory.write("/memories/tea.md", "", Some(&text));
/// assert!(matches!(late, Err(Error::Refused(_))));
///
/// let found = memory.grep(&GrepQuery::text("black"), "/memories", 10)?;
/// assert_eq!((found[0].path.as_str(), found[0].line), ("/memories/tea.md", Some(3)));
/// assert_eq!(memory.index(1000)?, "/memories/tea.md\t22B\t# Tea\n");
/// # Ok::<(), Error>(())
/// ```
impl Memory {
    /// Reads the text of a file as it is stored, including text that views hide (`sensitive_on_view`). Does not
    /// count as a use of the file.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no file, or it is not text; [`Error::Store`].
    pub fn read(&self, path: &str) -> Result<String, Error> {
        let path = self.begin_at(path)?;
        files::read(&self.in_context(), &path)
    }

    /// Writes a file: creates it, with its parents, or replaces its whole content. With `if_unchanged`, the
    /// file is only replaced if it holds this text, which [`read`](Memory::read) returned earlier.
    ///
    /// The same policies as for commands apply: patterns of paths, limits, sensitive text (which may be
    /// redacted). For the stale guard this is a change that the model has not seen: the model has to view the
    /// file again.
    ///
    /// # Errors
    /// [`Error::Refused`] if a policy or the tree forbids the write, or the file does not hold `if_unchanged`;
    /// nothing was changed. [`Error::Store`].
    pub fn write(&self, path: &str, text: &str, if_unchanged: Option<&str>) -> Result<(), Error> {
        let path = self.begin_at(path)?;
        self.working(|work| files::write(work, &path, text, if_unchanged)).0
    }

    /// Lists the entries below a directory, `depth` levels deep (`None` for all), sorted by path. Hidden
    /// entries, and everything below them, are left out. For a file, it returns the file itself.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no entry at the path; [`Error::Store`].
    pub fn list(&self, path: &str, depth: Option<usize>) -> Result<Vec<Entry>, Error> {
        let path = self.begin_at(path)?;
        files::list(&self.in_context(), &path, depth.unwrap_or(MAX_LEVELS))
    }

    /// Returns whether there is a file or a directory at the path.
    ///
    /// # Errors
    /// [`Error::Refused`] for a text that is not a path; [`Error::Store`].
    pub fn exists(&self, path: &str) -> Result<bool, Error> {
        let path = self.begin_at(path)?;
        files::exists(&self.in_context(), &path)
    }

    /// Returns the first `limit` matches at `path` and below it, ordered by path and line. It searches the
    /// names of files and directories, and the lines of files. Hidden entries and files that are not text are
    /// left out. With `sensitive_on_view` it searches the text that a view would show; files that are too large
    /// to be shown that way are left out.
    ///
    /// It reads files until it has `limit` matches. The time is linear in the bytes that it reads.
    ///
    /// # Errors
    /// Same as [`list`](Memory::list).
    pub fn grep(
        &self,
        query: &GrepQuery,
        path: &str,
        limit: usize,
    ) -> Result<Vec<GrepMatch>, Error> {
        let mut matches = Vec::new();
        if limit == 0 {
            return Ok(matches);
        }
        self.grep_each(query, path, &mut |found| {
            matches.push(found);
            if matches.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(matches)
    }

    /// Like [`grep`](Memory::grep), but calls `found` with each match as soon as it is found.
    ///
    /// # Errors
    /// Same as [`list`](Memory::list).
    pub fn grep_each(
        &self,
        query: &GrepQuery,
        path: &str,
        found: &mut dyn FnMut(GrepMatch) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let path = self.begin_at(path)?;
        files::grep(&self.in_context(), &self.policies, &path, query, found)
    }

    /// Searches the history of the files that are or were at `path` and below it. Returns the first `limit`
    /// lines and names that the file itself no longer has, newest first, each with the newest version that has
    /// it. With `sensitive_on_view` it searches the text that a view would show.
    ///
    /// ```
    /// use memdir::{GrepQuery, Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let memory = Memory::open("memory:", options)?;
    /// memory.create("/memories/tea.md", "green tea\nblack tea\n")?;
    /// memory.str_replace("/memories/tea.md", "green tea\n", "")?;
    ///
    /// let found = memory.grep_history(&GrepQuery::text("tea"), "/memories", 10)?;
    /// assert_eq!((found.len(), found[0].line, found[0].text.as_str()), (1, Some(1), "green tea"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// It computes versions until it has `limit` matches.
    ///
    /// # Errors
    /// [`HistoryError::Off`]; [`HistoryError::Path`]; [`HistoryError::Store`].
    pub fn grep_history(
        &self,
        query: &GrepQuery,
        path: &str,
        limit: usize,
    ) -> Result<Vec<HistoryMatch>, HistoryError> {
        let reader = self.reader()?;
        let path = MemoryPath::parse(path).map_err(|_| HistoryError::Path(path.to_owned()))?;
        files::grep_history(&self.context(), reader, &self.policies, &path, query, limit)
    }

    /// Returns the first `limit` places at `path` and below it where a rule for sensitive text matches. It
    /// applies the built-in rules and those of [`sensitive_rules`](crate::MemoryOptions::sensitive_rules). The
    /// text itself is not returned. The option `sensitive_text` has no effect here.
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// memory.create("/memories/a.md", "host: db\nurl: postgres://app:t7Kq-9zLw2@db/app\n")?;
    /// let found = memory.find_sensitive("/memories", 10)?;
    /// assert_eq!((found[0].line, found[0].rule.as_str()), (Some(2), "url-password"));
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`list`](Memory::list).
    pub fn find_sensitive(&self, path: &str, limit: usize) -> Result<Vec<SensitiveMatch>, Error> {
        let path = self.begin_at(path)?;
        files::find_sensitive(&self.in_context(), &self.policies, &path, limit)
    }

    /// Watches the files at `path` and below it. [`Watch::changes`] then reports changes, including those by
    /// other processes and by direct writes to the store. `every` is the polling interval. The default is half
    /// a second, or one second for a store on another machine. Polling slows down if one poll takes long.
    /// Changes by this process are reported at once.
    ///
    /// ```
    /// use std::time::Duration;
    /// use memdir::{ChangeKind, Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// let mut watch = memory.watch("/memories", None)?;
    /// memory.create("/memories/a.md", "one\n")?;
    /// let changes = watch.changes(Duration::from_secs(10))?;
    /// assert_eq!((changes[0].kind, changes[0].path.as_str()), (ChangeKind::Written, "/memories/a.md"));
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Refused`] for a text that is not a path; [`Error::Store`]. A path where nothing exists yet is
    /// not an error.
    pub fn watch(&self, path: &str, every: Option<Duration>) -> Result<Watch, Error> {
        let path = self.begin_at(path)?;
        Watch::new(&self.context(), Arc::clone(&self.store), path, every)
    }

    /// Returns a table of contents for a system prompt, in at most `max_chars` characters. It has a line for
    /// each file, with its path, its size, and its first line. Files that match
    /// [`never_expire`](crate::MemoryOptions::never_expire) come first, then the most recently written ones. If
    /// not all files fit, the last line says how many are left out. Hidden files are left out.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn index(&self, max_chars: usize) -> Result<String, Error> {
        self.expire_unless_cancelled()?;
        files::index(&self.in_context(), &self.policies, max_chars)
    }

    /// Measures the memory: files, bytes, the largest file, the oldest one. Hidden files count, as they do for
    /// the limits. The limits are in [`options`](Memory::options).
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// memory.create("/memories/tea/green.md", "sencha\n")?;
    /// memory.create("/memories/.draft", "?")?;
    ///
    /// let stats = memory.stats()?;
    /// assert_eq!((stats.files, stats.directories, stats.bytes), (2, 1, 8));
    /// let largest = stats.largest.unwrap();
    /// assert_eq!((largest.path.as_str(), largest.bytes), ("/memories/tea/green.md", 7));
    /// assert!(stats.history.is_none());
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// No content is read. It takes two listings of everything, and some times of access if the store keeps
    /// them.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn stats(&self) -> Result<Stats, Error> {
        self.expire_unless_cancelled()?;
        files::stats(
            &self.context(),
            &self.in_context(),
            self.history.as_deref().map(Recorder::reader),
        )
    }

    /// Runs the steps before every method with a path, in the same order as before a command.
    pub(super) fn begin_at(&self, path: &str) -> Result<MemoryPath, Error> {
        let path = files::valid(path)?;
        self.expire_unless_cancelled()?;
        Ok(path)
    }

    fn expire_unless_cancelled(&self) -> Result<(), Error> {
        self.cancellation.check().map_err(Error::Store)?;
        self.expire_first();
        Ok(())
    }
}

impl Memory {
    /// Creates the initial files of a project that spans several sessions: `progress.md`, `features.md` and
    /// `init.md` (the documentation's "Multi-session software development pattern"). Existing files stay as
    /// they are. Returns the paths of the files that it created.
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions, Project};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// let project = Project {
    ///     about: "A shop for tea.",
    ///     features: &["a list of teas", "a basket"],
    ///     init: "Run `make serve`.",
    /// };
    /// assert_eq!(memory.bootstrap(&project)?.len(), 3);
    /// assert!(memory.read("/memories/features.md")?.ends_with("- [ ] a list of teas\n- [ ] a basket\n"));
    /// assert!(memory.bootstrap(&project)?.is_empty());
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`write`](Memory::write). Files that are already created stay.
    pub fn bootstrap(&self, project: &Project<'_>) -> Result<Vec<MemoryPath>, Error> {
        let mut made = Vec::new();
        for (path, text) in project.files() {
            let path = self.begin_at(path)?;
            let (result, _) = self.working(|work| files::make(work, &path, &text));
            if result? {
                made.push(path);
            }
        }
        Ok(made)
    }

    /// Resets the [stale guard](crate::policy::StaleGuard): the model has to view each file again before it
    /// edits it. A file that the model has never seen keeps that status, which only
    /// [`Strict`](crate::policy::StaleGuard::Strict) guards.
    ///
    /// Call this when the conversation was compacted, or when views have left the model's context in another
    /// way, because the guard cannot detect that. Do not call it after context editing that keeps the memory's
    /// results. Context editing runs again for every request, so the model would have to view a file before
    /// each of its edits.
    pub fn forget_views(&self) {
        self.policies.views.forget_all();
    }
}

impl Memory {
    /// Returns one tool named `memory`, for a model host without Anthropic's built-in tool. If the memory is
    /// read-only, its only command is `view`. See [`tool_definition`](crate::command::tool_definition).
    #[must_use]
    pub fn tool_definition(&self, dialect: Dialect) -> serde_json::Value {
        command::tool_definition(dialect, self.is_read_only())
    }

    /// Returns one tool for each command, named `prefix` followed by the command's name. If the memory is
    /// read-only, the only tool is `view`.
    ///
    /// # Errors
    /// Same as [`tool_definitions`](crate::command::tool_definitions).
    pub fn tool_definitions(
        &self,
        dialect: Dialect,
        prefix: &str,
    ) -> Result<Vec<serde_json::Value>, Error> {
        command::tool_definitions(dialect, prefix, self.is_read_only())
    }

    /// Returns the text of a file as a model may see it: redacted if views are
    /// ([`sensitive_on_view`](crate::MemoryOptions::sensitive_on_view)), and without line numbers. It counts as
    /// a use of the file, as a view does. Use it to show a file to a model without the command `view`, such as
    /// a resource of a server.
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.sensitive_on_view = true;
    /// let memory = Memory::open("memory:", options)?;
    /// memory.create("/memories/db.md", "url: postgres://app:t7Kq-9zLw2@db/app\n")?;
    /// assert!(memory.read("/memories/db.md")?.contains("t7Kq-9zLw2"));
    /// assert!(!memory.read_shown("/memories/db.md")?.contains("t7Kq-9zLw2"));
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`read`](Memory::read). A text that is too large to be shown is refused.
    pub fn read_shown(&self, path: &str) -> Result<String, Error> {
        let path = &self.begin_at(path)?;
        let text = files::read_shown(&self.in_context(), &self.policies, path)?;
        self.policies.expiry.record(&self.in_context(), path)?;
        Ok(text)
    }

    /// Returns whether every change is refused, because of
    /// [`MemoryOptions::read_only`](crate::MemoryOptions::read_only) or because the store is read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.options().read_only || self.store.info().is_read_only
    }
}
