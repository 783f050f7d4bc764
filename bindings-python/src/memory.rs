//! [`Memory`]: the engine, for Python.
//!
//! All methods of a class have to be in one place, with the docstrings that users read, so this file is
//! long.

use std::path::PathBuf;
use std::sync::Arc;

use memdir::command::{Dialect, search_tool_definition};
use memdir::history::{BlamedLine, Erased, PastFile, RedactedText, Restored, Version};
use memdir::options::Given;
use memdir::{
    Expired, GrepMatch, HistoryMatch, Memory as Core, Project, SearchResults, SensitiveMatch,
    Stats, SyncOptions, Synced,
};
use memdir_bindings_shared::history::{Query, export, id, undo_options};
use memdir_bindings_shared::search::{TextUnit, in_unit};
use memdir_bindings_shared::sync::exclude as sync_exclude;
use memdir_bindings_shared::{grep_query, redaction_query};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyType};
use pyo3::{type_hint_identifier, type_hint_subscript, type_hint_union};

use crate::calls::{Lines, Whole, done, fields_of_view, json_text};
use crate::cancel::interruptible;
use crate::embedder::PythonEmbedder;
use crate::errors::to_python;
use crate::expiry::expire;
use crate::fields::owned_value;
use crate::hints::{self, Hinted, hint};
use crate::history;
use crate::hooks::{Awaited, PythonHooks};
use crate::interruption::pass_on;
use crate::json::json;
use crate::logging;
use crate::moment::Moment;
use crate::opened::Opened;
use crate::options::{Keywords, OrDefault, Text, callback, read};
use crate::pool::UnderWay;
use crate::read_only;
use crate::reply;
use crate::results::{self, Shown};
use crate::shutdown::released;
use crate::stores::{self, Argument};
use crate::sync;
use crate::watch::Watch;

hint!(
    /// Another memory, or the store of one.
    OtherMemory = type_hint_union!(
        type_hint_subscript!(
            <Memory as pyo3::PyTypeInfo>::TYPE_HINT,
            type_hint_identifier!("typing", "Any")
        ),
        type_hint_subscript!(
            type_hint_identifier!("memdir._async_memory", "AsyncMemory"),
            type_hint_identifier!("typing", "Any")
        ),
        read_only::Places::HINT
    )
);

/// The other memory of a sync, and a mark that it has a running call.
fn other_memory(other: &Bound<'_, PyAny>) -> PyResult<(Core, Option<UnderWay>)> {
    const KINDS: &str = "a Memory, an AsyncMemory, a str, an os.PathLike, a memdir.Store or a dict";
    static ASYNC_MEMORY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = other.py();
    let is_async =
        other.is_instance(ASYNC_MEMORY.import(py, "memdir._async_memory", "AsyncMemory")?)?;
    let within = if is_async { Some(other.getattr("_memory")?) } else { None };
    if let Ok(memory) = within.as_ref().unwrap_or(other).cast::<Memory>() {
        let opened = memory.get().opened();
        let under_way = UnderWay::begin(&opened.calls);
        return Ok((opened.get()?, Some(under_way)));
    }
    let options = Keywords::of_memory(py, None)?.options;
    let store = stores::open_as("other", KINDS, other, &options)?;
    let core = released(py, || Core::with_store(store, options).validated());
    core.map(|core| (core, None)).map_err(|error| to_python(py, &error))
}

fn read_dialect(given: OrDefault<'_, hints::Dialect>) -> PyResult<Dialect> {
    given.or("dialect", Dialect::JsonSchema, Given::word)
}

/// The memory directory: executes the six commands of Claude's memory tool on a store.
///
/// It needs no SDK. `execute` takes a tool call's input as the model sent it, and never raises because
/// of anything that the model sent. The methods named after the commands take plain arguments, return
/// the text of the reply, and raise `RefusedError` if the command is refused.
///
/// Many threads may use a memory concurrently, and many processes may use one directory: the store
/// synchronises writers. Other Python threads run while the store works.
///
/// Args:
///     store: Where the files are. A directory is created if it does not exist; the files are in its
///         `memories` directory, the layout of the SDK's own tool. Other addresses are
///         `"sqlite:agent.db"` for an SQLite database, `"dir:./notes"` for the files of that very
///         directory, and `"memory:"` for a new store in this process. It may also be a `Store`, or
///         several of these as a dict from mount points (`"/memories"`, `"/memories/team"`) to the
///         mounted stores.
///     max_view_chars: The most characters (Unicode scalar values) that one view shows. A longer
///         view is cut, and its last line says how to continue. `None` removes the limit.
///     max_file_bytes: The most bytes that a file may have after a command. A larger file that
///         another program wrote can be viewed. If it has at most 16 MiB, it can be edited to
///         become smaller. `None` removes the limit.
///     max_total_bytes: The most bytes that all files together may have, including hidden ones.
///         `None` sets no limit.
///     max_files: The most files that the memory may have, including hidden ones. `None` sets no
///         limit.
///     max_image_bytes: The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an
///         image. Claude accepts at most 3,932,160. `None` turns images off.
///     on_existing: Selects how `create` treats an existing file: `"error"` refuses, `"overwrite"`
///         replaces the whole content atomically.
///     read_only: The memory can be viewed but not changed. The directory or database must exist.
///         Nothing is created in a directory.
///     read_only_paths: Patterns of paths that no command may change, such as
///         `"/memories/handbook"`, including everything below them. They take precedence over
///         `writable_paths`.
///     writable_paths: Patterns of the only paths that commands may change, including everything
///         below them. An empty list allows no changes. `None` allows changes to all paths except
///         `read_only_paths`.
///     stale_guard: Refuses an edit that is based on an outdated view. `"on"` guards `insert` into
///         files that this session of the memory has shown or written. `"strict"` also guards
///         `str_replace`, and requires a view first.
///     sensitive_text: Controls keys, tokens, passwords and payment cards in text that a command
///         would write: `"off"` does nothing, `"reject"` refuses the command, `"redact"` writes
///         `[REDACTED:rule]` instead of them.
///     sensitive_rules: Your own rules, in addition to the built-in ones: patterns in the syntax of
///         Rust's `regex-lite`, which has no look-around and no back-references. A dict: patterns
///         by their ids.
///     sensitive_on_view: Views show `[REDACTED:rule]` instead of sensitive text. The file is not
///         changed. Such a view reads the whole file into memory.
///     expire_after: Before its first command, the memory removes files that have not been used for
///         this long. Must be more than 0. The store must keep times of access. Seconds, or a
///         `timedelta`.
///     record_access: Records each view and each rename of a file as a use of the file. Each record
///         costs a write. `expire_after` turns this on. `expire()` requires it.
///     never_expire: Patterns of files that never expire, such as `"/memories/handbook"`, including
///         everything below them.
///     history: Records every change before it is made, so changes can be listed and undone.
///     history_max_age: The history removes versions that are older than this, except the last ten
///         of a file that exists. `None` keeps versions of any age. Seconds, or a `timedelta`.
///     history_max_versions: The maximum number of versions that are kept of each file; a file that
///         exists keeps at least ten. `None` sets no limit.
///     history_max_bytes: The approximate maximum size of the history in bytes; beyond it the
///         oldest versions are removed, except the last ten of a file that exists. `None` sets no
///         limit.
///     actor: The actor of this memory's changes, for its history: a session, a user, the id of a
///         tool call. Any text from your program, never from a model. `acting_as` starts a session
///         with another actor.
///     search_language: Selects the language of texts in Latin letters, whose endings `search`
///         ignores: `"auto"` detects it for each file, `"none"` ignores no endings.
///     search_max_bytes: The most bytes of memory for the index of `search`, which holds the texts
///         and takes about 1.7 times their size. If not all files fit, the first search takes the
///         newest, and each result says how many are left out. `None` sets no limit.
///     search_keep: Keeps the index of `search` in hidden files of the store, so the first search
///         of a process reads only the files that have changed. It has the texts of the files, and
///         is encrypted if the store is. A store of several mounted stores keeps none.
///     search_recency: Makes `search` prefer files that were written recently: the score of the
///         newest file is half as large again, and a file that is older by this duration gets half
///         of that bonus. Must be more than 0. `None` gives time no influence. Seconds, or a
///         `timedelta`.
///     embedder: Turns texts into vectors, so `search` also finds files by their meaning. It gets a
///         list of texts, and returns a vector for each: a sequence of numbers, all of the same
///         length. If it fails or is too slow, the answer is by words alone. A function with a
///         parameter `is_query` is also told whether the text is a question. `AsyncMemory` also
///         accepts a coroutine function.
///     embedder_name: The name of the model behind `embedder`, with its version. It is required
///         with an embedder, because a vector is kept under this name and the SHA-256 of its text.
///         A new model needs a new name.
///     embedder_timeout: The time that one search waits for `embedder`. After that the answer is by
///         words alone, and later searches embed the rest. `None` waits without limit, as a program
///         that embeds many files does. Seconds, or a `timedelta`.
///     before: Called for each command before the store is touched. It allows the command, replaces
///         its text, or denies it. The hook gets a mapping with `command` and its fields; paths are
///         validated and canonical. It returns `None` to allow the command, or a dict with the new
///         `file_text`, `new_str` or `insert_text`. It raises `Deny` with a sentence for the model
///         to deny the command. If it raises anything else, the command is not executed, and the
///         model reads only that it could not be checked. A hook with a parameter `call` also gets
///         a `HookCall`: the actor, and the change that the command would make. `AsyncMemory` also
///         accepts a coroutine function.
///     after: Called after each call with its outcome. The hook gets an `Event`. An exception that
///         it raises is logged to the logger `memdir`. Commands that a hook issues itself run
///         without hooks.
///     event_content: Includes the reply's text in the events for `after`.
///     durability: The failures that an acknowledged command survives: `"full"` a loss of power,
///         `"relaxed"` only a crash of the process. Object storage is always durable.
///     lock_timeout: The time that a change waits for other writers of the same store (local
///         directory, SQLite, PostgreSQL). After that the command is refused, and nothing is
///         changed. `None` waits without limit. Seconds, or a `timedelta`.
///     namespace: Selects one of several memories in one PostgreSQL database or one bucket. Any
///         text, such as a user's name. `None` selects the one that the address names. Pass
///         untrusted values in this option, never in an address. On every other store this option
///         is an error.
///     encryption_key: Encrypts everything that the store keeps. A store is encrypted from its
///         creation or not at all. 32 bytes; as a str, `"hex:…"` or `"base64:…"` for those, or else
///         a passphrase.
///     encrypt_names: Also encrypts the names in a store that is created with a key. An existing
///         store keeps its setting.
///
/// Raises:
///     ConfigError: The address or an option is wrong.
///     StoreError: The store cannot be opened.
///
/// >>> from memdir import Memory
/// >>> memory = Memory("memory:")
/// >>> memory.create("/memories/notes.md", "- likes tea\n")
/// 'File created successfully at: /memories/notes.md'
/// >>> print(memory.view("/memories/notes.md"))
/// Here's the content of /memories/notes.md with line numbers:
///      1	- likes tea
/// >>> content, is_error = memory.execute({"command": "view", "path": "/etc/passwd"})
/// >>> content, is_error
/// ('Path must start with /memories, got: /etc/passwd', True)
#[pyclass(module = "memdir", frozen, generic)]
pub struct Memory {
    core: Opened,
    hooks: Option<Arc<PythonHooks>>,
    embedder: Option<Arc<PythonEmbedder>>,
    /// The memory whose hooks and embedder this one calls as well. The garbage collector counts them only there.
    beside: Option<Py<Self>>,
    /// The location of the files, for `repr`.
    shown: String,
}

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands over what it has made")]
impl Memory {
    #[new]
    #[pyo3(
        signature = (store = Argument::Default, **options),
        text_signature = "(store='./memory', *, max_view_chars=16000, max_file_bytes=16777216, \
            max_total_bytes=None, max_files=None, max_image_bytes=3932160, \
            on_existing='error', read_only=False, read_only_paths=(), \
            writable_paths=None, stale_guard='off', sensitive_text='off', \
            sensitive_rules={}, sensitive_on_view=False, expire_after=None, \
            record_access=False, never_expire=(), history=False, \
            history_max_age=2592000.0, history_max_versions=None, \
            history_max_bytes=None, actor=None, search_language='auto', \
            search_max_bytes=268435456, search_keep=False, search_recency=None, \
            embedder=None, embedder_name=None, embedder_timeout=10.0, before=None, \
            after=None, event_content=False, durability='full', lock_timeout=10.0, \
            namespace=None, encryption_key=None, encrypt_names=False)",
    )]
    fn new<'py>(
        py: Python<'py>,
        store: Argument<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        Self::open(py, store, options, Awaited::No)
    }

    /// Executes one tool call.
    ///
    /// Args:
    ///     input: The call's input: a dict, its JSON text, or one of the SDK's command models.
    ///
    /// Returns:
    ///     The reply for the model. Nothing is raised: a model's mistake is a reply with `is_error`,
    ///     and so is a broken store. Its `cause` has the details for you.
    #[pyo3(signature = (input, /))]
    fn execute<'py>(&self, input: &Bound<'py, PyAny>) -> PyResult<Hinted<'py, hints::Reply>> {
        let py = input.py();
        let reply = match json_text(input) {
            Some(json) => {
                logging::refresh();
                let core = self.core.get()?;
                interruptible(py, |cancellation| core.cancelled_by(cancellation).execute(json))?
            }
            None => self.core.run(input, None)?,
        };
        pass_on()?;
        reply::to_python(py, &reply)
    }

    /// Shows a directory two levels deep, the numbered lines of a file, or an image.
    ///
    /// Args:
    ///     path: The path to show.
    ///     view_range: The first and the last line to show, counted from 1. A last line of -1 is the
    ///         end of the file. All lines if absent.
    ///
    /// Returns:
    ///     Text, or a list with an image block for the Messages API.
    ///
    /// Raises:
    ///     RefusedError: The command was refused; its text is the reply for the model.
    ///     StoreError: The store itself failed.
    #[pyo3(signature = (path, view_range = None))]
    fn view<'py>(
        &self,
        py: Python<'py>,
        path: Text<'_>,
        view_range: Option<Lines>,
    ) -> PyResult<Hinted<'py, hints::Content>> {
        let fields = fields_of_view(&path, view_range);
        reply::content(py, &self.core.command(py, "view", &fields)?)
    }

    /// Creates a new file and its missing parents.
    ///
    /// Raises:
    ///     RefusedError: The command was refused; its text is the reply for the model.
    ///     StoreError: The store itself failed.
    fn create(&self, py: Python<'_>, path: Text<'_>, file_text: Text<'_>) -> PyResult<String> {
        self.core.text(py, "create", &[("path", path.field()), ("file_text", file_text.field())])
    }

    /// Replaces the only occurrence of `old_str` in a file by `new_str`. An empty `new_str`, or `None`,
    /// deletes the occurrence.
    ///
    /// Raises:
    ///     RefusedError: The command was refused; its text is the reply for the model.
    ///     StoreError: The store itself failed.
    #[pyo3(signature = (path, old_str, new_str = None))]
    fn str_replace(
        &self,
        py: Python<'_>,
        path: Text<'_>,
        old_str: Text<'_>,
        new_str: Option<Text<'_>>,
    ) -> PyResult<String> {
        let mut fields = vec![("path", path.field()), ("old_str", old_str.field())];
        fields.extend(new_str.as_ref().map(|new_str| ("new_str", new_str.field())));
        self.core.text(py, "str_replace", &fields)
    }

    /// Inserts `insert_text` as whole lines after line `insert_line`; 0 is the file's start.
    ///
    /// Raises:
    ///     RefusedError: The command was refused; its text is the reply for the model.
    ///     StoreError: The store itself failed.
    fn insert(
        &self,
        py: Python<'_>,
        path: Text<'_>,
        insert_line: Whole<'_>,
        insert_text: Text<'_>,
    ) -> PyResult<String> {
        let Whole(insert_line) = insert_line;
        let fields = [
            ("path", path.field()),
            ("insert_line", owned_value(&insert_line)),
            ("insert_text", insert_text.field()),
        ];
        self.core.text(py, "insert", &fields)
    }

    /// Deletes a file, or a directory with everything in it.
    ///
    /// Raises:
    ///     RefusedError: The command was refused; its text is the reply for the model.
    ///     StoreError: The store itself failed.
    fn delete(&self, py: Python<'_>, path: Text<'_>) -> PyResult<String> {
        self.core.text(py, "delete", &[("path", path.field())])
    }

    /// Renames or moves a file or directory; never overwrites.
    ///
    /// Raises:
    ///     RefusedError: The command was refused; its text is the reply for the model.
    ///     StoreError: The store itself failed.
    fn rename(&self, py: Python<'_>, old_path: Text<'_>, new_path: Text<'_>) -> PyResult<String> {
        self.core.text(
            py,
            "rename",
            &[("old_path", old_path.field()), ("new_path", new_path.field())],
        )
    }

    /// Reads the text of a file unchanged, including text that views redact (`sensitive_on_view`).
    /// Reading does not count as use of the file. The model cannot call this.
    ///
    /// Raises:
    ///     RefusedError: There is no such file, or it is not text.
    ///     StoreError: The store itself failed.
    fn read(&self, py: Python<'_>, path: Text<'_>) -> PyResult<String> {
        let path = path.read("path")?;
        done(py, |core| core.read(path), &self.core)
    }

    /// Reads the text of a file as a model may see it: redacted if views are (`sensitive_on_view`), and
    /// without line numbers. Like a view, it counts as use of the file. Use it to give a file to a
    /// model by other means than `view`.
    ///
    /// Raises:
    ///     RefusedError: There is no such file, it is not text, or it is too large to be shown.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:", sensitive_on_view=True)
    /// >>> memory.write("/memories/db.md", "url: postgres://app:t7Kq-9zLw2@db/app\n")
    /// >>> memory.read_shown("/memories/db.md")
    /// 'url: postgres://app:[REDACTED:url-password]@db/app\n'
    fn read_shown(&self, py: Python<'_>, path: Text<'_>) -> PyResult<String> {
        let path = path.read("path")?;
        done(py, |core| core.read_shown(path), &self.core)
    }

    /// Writes a whole file: creates it with its parents, or replaces it. The model cannot call this,
    /// but the policies of its commands apply. Afterwards the stale guard requires the model to view
    /// the file again.
    ///
    /// Args:
    ///     path: The path of the file.
    ///     text: Its new content.
    ///     if_unchanged: The text that `read` returned. The file is replaced only if it still contains
    ///         that text. `None` replaces it in any case.
    ///
    /// Raises:
    ///     RefusedError: A policy forbids it, or the file's text is not `if_unchanged`. Nothing was
    ///         changed.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:")
    /// >>> memory.write("/memories/todo.md", "- buy tea\n")
    /// >>> text = memory.read("/memories/todo.md")
    /// >>> memory.write("/memories/todo.md", text + "- drink it\n", if_unchanged=text)
    #[pyo3(signature = (path, text, *, if_unchanged = None))]
    fn write(
        &self,
        py: Python<'_>,
        path: Text<'_>,
        text: Text<'_>,
        if_unchanged: Option<Text<'_>>,
    ) -> PyResult<()> {
        let path = path.read("path")?;
        let text = text.read("text")?;
        let if_unchanged = Text::optional(&if_unchanged, "if_unchanged")?;
        done(py, |core| core.write(path, text, if_unchanged), &self.core)
    }

    /// Lists the entries below a directory, in the order of their paths. Hidden entries are left out,
    /// with everything below them. For a file, the only entry is the file itself.
    ///
    /// Args:
    ///     path: The directory.
    ///     depth: The number of levels; `None` for all.
    ///
    /// Raises:
    ///     ConfigError: `depth` is wrong.
    ///     RefusedError: The path does not exist.
    ///     StoreError: The store itself failed.
    #[pyo3(
        signature = (path = Text::Default("/memories"), *, depth = OrDefault::Default),
        text_signature = "($self, path='/memories', *, depth=1)",
    )]
    fn list<'py>(
        &self,
        py: Python<'py>,
        path: Text<'_>,
        depth: OrDefault<'py, hints::Limit>,
    ) -> PyResult<Hinted<'py, hints::Entries>> {
        let path = path.read("path")?;
        let depth = depth.or("depth", Some(1), Given::limit)?;
        let entries = done(py, |core| core.list(path, depth), &self.core)?;
        results::to_python(py, &entries).map(Hinted::new)
    }

    /// Returns whether a file or a directory exists.
    ///
    /// Raises:
    ///     RefusedError: It is not a path under `/memories`.
    ///     StoreError: The store itself failed.
    fn exists(&self, py: Python<'_>, path: Text<'_>) -> PyResult<bool> {
        let path = path.read("path")?;
        done(py, |core| core.exists(path), &self.core)
    }

    /// Finds names of files and directories, and lines of files, in the order of the paths and lines.
    /// Hidden entries and files that are not text are left out. With `sensitive_on_view` it searches
    /// the redacted text that a view shows.
    ///
    /// Args:
    ///     query: The text to find, or a pattern.
    ///     regex: `query` is a regular expression, in the syntax of Rust's `regex-lite` (no
    ///         look-around and no back-references; linear time). `^` and `$` are the ends of a line.
    ///     ignore_case: Ignore upper and lower case; in a pattern, only for ASCII letters.
    ///     path: A directory, with everything below it, or a file.
    ///     limit: The most matches to return.
    ///
    /// Raises:
    ///     ConfigError: The pattern or `limit` is wrong.
    ///     RefusedError: `path` does not exist.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:")
    /// >>> memory.write("/memories/drinks.md", "# Drinks\n- green tea\n")
    /// >>> memory.grep("tea")
    /// [GrepMatch(path='/memories/drinks.md', line=2, text='- green tea')]
    #[pyo3(
        signature = (
            query, *, regex = OrDefault::Default, ignore_case = OrDefault::Default, path = Text::Default("/memories"), limit = OrDefault::Default
        ),
        text_signature = "($self, query, *, regex=False, ignore_case=False, path='/memories', limit=100)",
    )]
    fn grep(
        &self,
        py: Python<'_>,
        query: Text<'_>,
        regex: OrDefault<'_, hints::Flag>,
        ignore_case: OrDefault<'_, hints::Flag>,
        path: Text<'_>,
        limit: OrDefault<'_, hints::Count>,
    ) -> PyResult<Shown<Vec<GrepMatch>>> {
        let query = query.read("query")?;
        let regex = regex.or("regex", false, Given::flag)?;
        let ignore_case = ignore_case.or("ignore_case", false, Given::flag)?;
        let path = path.read("path")?;
        let limit = limit.or("limit", 100, Given::count)?;
        let query = grep_query(query, regex, ignore_case).map_err(|error| to_python(py, &error))?;
        let found = done(py, |core| core.grep(&query, path, limit), &self.core)?;
        Ok(Shown(found))
    }

    /// Finds the files that answer a question best, the best first, with their best passages. For exact
    /// lines use `grep`.
    ///
    /// A file is a hit if it has any word of the question, whatever its ending. `"green tea"`
    /// requires a phrase, `-coffee` excludes a word, `path:notes` requires a text in the path. Hidden
    /// files are left out. With `sensitive_on_view` it searches the text that a view would show.
    ///
    /// It finds every write that was acknowledged before it, by any process. The first search of a
    /// process reads all files, later ones only what has changed. The texts are held in memory, up to
    /// `search_max_bytes`.
    ///
    /// Args:
    ///     query: The question.
    ///     path: A directory, with everything below it, or a file.
    ///     limit: The most files to return; never more than 1,000.
    ///
    /// Raises:
    ///     ConfigError: `limit` is wrong.
    ///     RefusedError: `path` does not exist.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:")
    /// >>> memory.write("/memories/drinks.md", "# Drinks\n- Anna prefers green tea\n")
    /// >>> hit = memory.search("what does Anna like?").hits[0]
    /// >>> passage = hit.passages[0]
    /// >>> hit.path, passage.first_line, passage.last_line
    /// ('/memories/drinks.md', 1, 2)
    /// >>> [passage.text[match.start : match.end] for match in passage.matches]
    /// ['Anna']
    #[pyo3(
        signature = (query, *, path = Text::Default("/memories"), limit = OrDefault::Default),
        text_signature = "($self, query, *, path='/memories', limit=10)",
    )]
    fn search(
        &self,
        py: Python<'_>,
        query: Text<'_>,
        path: Text<'_>,
        limit: OrDefault<'_, hints::Count>,
    ) -> PyResult<Shown<SearchResults>> {
        let (query, path) = (query.read("query")?, path.read("path")?);
        let limit = limit.or("limit", 10, Given::count)?;
        let found = done(py, |core| core.search(query, path, limit), &self.core)?;
        Ok(Shown(in_unit(found, TextUnit::CodePoints)))
    }

    /// Executes one call of the search by a model, a tool beside the memory tool that
    /// `search_tool_definition` declares. The hooks are not called.
    ///
    /// Args:
    ///     input: The call's input: a dict, its JSON text, or an object with these attributes. `query`
    ///         is required. `path` is what to search, and `limit` the most files, 1 to 20.
    ///
    /// Returns:
    ///     The reply for the model: the paths of the best files, and their best passages with the
    ///     line numbers that a view shows. Nothing is raised, as with `execute`.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:")
    /// >>> memory.write("/memories/drinks.md", "# Drinks\nAnna likes green tea.\n")
    /// >>> print(memory.execute_search({"query": "what does Anna like?"}).content)
    /// /memories/drinks.md
    ///      1	# Drinks
    ///      2	Anna likes green tea.
    #[pyo3(signature = (input, /))]
    fn execute_search<'py>(
        &self,
        input: &Bound<'py, PyAny>,
    ) -> PyResult<Hinted<'py, hints::Reply>> {
        let reply = self.core.run_search(input)?;
        pass_on()?;
        reply::to_python(input.py(), &reply)
    }

    /// Finds sensitive text with the built-in rules and those of `sensitive_rules`, in names and lines,
    /// in the order of the paths and lines. The text itself is not returned. The option
    /// `sensitive_text` has no effect here.
    ///
    /// Args:
    ///     path: A directory, with everything below it, or a file.
    ///     limit: The most matches to return.
    ///
    /// Raises:
    ///     ConfigError: `limit` is wrong.
    ///     RefusedError: `path` does not exist.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:")
    /// >>> memory.write("/memories/db.md", "url: postgres://app:t7Kq-9zLw2@db/app\n")
    /// >>> memory.find_sensitive()
    /// [SensitiveMatch(path='/memories/db.md', line=1, rule='url-password')]
    #[pyo3(
        signature = (path = Text::Default("/memories"), *, limit = OrDefault::Default),
        text_signature = "($self, path='/memories', *, limit=100)",
    )]
    fn find_sensitive(
        &self,
        py: Python<'_>,
        path: Text<'_>,
        limit: OrDefault<'_, hints::Count>,
    ) -> PyResult<Shown<Vec<SensitiveMatch>>> {
        let path = path.read("path")?;
        let limit = limit.or("limit", 100, Given::count)?;
        let found = done(py, |core| core.find_sensitive(path, limit), &self.core)?;
        Ok(Shown(found))
    }

    /// Begins to watch the files at `path` and below it for changes by any process, including writes
    /// that bypass memdir. Iterate over the result, or call its `changes`.
    ///
    /// Changes by this process are seen at once. To find other changes it polls the store. If a poll
    /// takes long, it polls less often than `every` says. The watch keeps the store open until you
    /// close the watch.
    ///
    /// Args:
    ///     path: A directory, with everything below it, or a file. It does not have to exist yet.
    ///     every: The polling interval: seconds, or a `timedelta`. `None`: half a second, and one
    ///         second if the store is on another machine.
    ///
    /// Raises:
    ///     RefusedError: It is not a path under `/memories`.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:")
    /// >>> with memory.watch() as watch:
    /// ...     memory.write("/memories/todo.md", "- buy tea\n")
    /// ...     for change in watch:
    /// ...         print(change)
    /// ...         break
    /// Change(kind='written', path='/memories/todo.md', old_path=None)
    #[pyo3(
        signature = (path = Text::Default("/memories"), *, every = None),
        text_signature = "($self, path='/memories', *, every=None)",
    )]
    fn watch(
        &self,
        py: Python<'_>,
        path: Text<'_>,
        every: Option<Hinted<'_, hints::Span>>,
    ) -> PyResult<Watch> {
        let path = path.read("path")?;
        let every = every
            .map(|every| read("every", &every.into_inner(), Given::optional_duration))
            .transpose()?
            .flatten();
        done(py, |core| core.watch(path, every), &self.core).map(Watch::new)
    }

    /// Makes a table of contents for a system prompt: a line for each file with its path, its size and
    /// its first line. Files that match `never_expire` come first, then the most recently written ones.
    /// If not all fit, the last line says how many are left out.
    ///
    /// Args:
    ///     max_chars: The most characters of the text.
    ///
    /// Raises:
    ///     ConfigError: `max_chars` is wrong.
    ///     StoreError: The store itself failed.
    #[pyo3(
        signature = (max_chars = OrDefault::Default),
        text_signature = "($self, max_chars=2000)",
    )]
    fn index(&self, py: Python<'_>, max_chars: OrDefault<'_, hints::Count>) -> PyResult<String> {
        let max_chars = max_chars.or("max_chars", 2000, Given::count)?;
        done(py, |core| core.index(max_chars), &self.core)
    }

    /// Measures how much the memory holds: files, bytes, the largest file, the oldest one. Hidden files
    /// count, as they do for the limits.
    ///
    /// Raises:
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:")
    /// >>> memory.write("/memories/tea/green.md", "sencha\n")
    /// >>> stats = memory.stats()
    /// >>> stats.files, stats.largest
    /// (1, SizedPath(path='/memories/tea/green.md', bytes=7))
    fn stats(&self, py: Python<'_>) -> PyResult<Shown<Stats>> {
        done(py, Core::stats, &self.core).map(Shown)
    }

    /// Declares the tool to a model host that does not know Anthropic's memory tool: one tool named
    /// `memory`, whose calls `execute` executes. If the memory is read-only, its only command is
    /// `view`.
    ///
    /// Args:
    ///     dialect: `"json-schema"` (`name`, `description`, `parameters`), `"openai"` (Responses API),
    ///         `"openai-chat"` (Chat Completions API), `"anthropic-custom"`, or `"gemini"`.
    ///
    /// Raises:
    ///     ConfigError: There is no such dialect.
    #[pyo3(
        signature = (dialect = OrDefault::Default),
        text_signature = "($self, dialect='json-schema')",
    )]
    fn tool_definition<'py>(
        &self,
        py: Python<'py>,
        dialect: OrDefault<'_, hints::Dialect>,
    ) -> PyResult<Hinted<'py, hints::Fields>> {
        let dialect = read_dialect(dialect)?;
        json(py, &self.core.get()?.tool_definition(dialect)).map(Hinted::new)
    }

    /// Declares one tool for each command, named `prefix` and the command's name. To execute a call of
    /// `memory_view`, use `memory.execute({"command": "view", **arguments})`.
    ///
    /// Args:
    ///     dialect: The same values as for `tool_definition`.
    ///     prefix: At most 32 ASCII letters, digits, `_` and `-`.
    ///
    /// Raises:
    ///     ConfigError: There is no such dialect, or the prefix is wrong.
    #[pyo3(
        signature = (dialect = OrDefault::Default, *, prefix = Text::Default("")),
        text_signature = "($self, dialect='json-schema', *, prefix='')",
    )]
    fn tool_definitions<'py>(
        &self,
        py: Python<'py>,
        dialect: OrDefault<'_, hints::Dialect>,
        prefix: Text<'_>,
    ) -> PyResult<Hinted<'py, hints::Definitions>> {
        let dialect = read_dialect(dialect)?;
        let prefix = prefix.read("prefix")?;
        let definitions = self.core.get()?.tool_definitions(dialect, prefix);
        let definitions = definitions.map_err(|error| to_python(py, &error))?;
        json(py, &definitions.into()).map(Hinted::new)
    }

    /// Declares the search as a tool beside the memory tool, named `prefix` and `search`. To execute its
    /// calls, use `execute_search`.
    ///
    /// Args:
    ///     dialect: The same values as for `tool_definition`.
    ///     prefix: At most 32 ASCII letters, digits, `_` and `-`.
    ///
    /// Raises:
    ///     ConfigError: There is no such dialect, or the prefix is wrong.
    #[pyo3(
        signature = (dialect = OrDefault::Default, *, prefix = Text::Default("memory_")),
        text_signature = "($self, dialect='json-schema', *, prefix='memory_')",
    )]
    fn search_tool_definition<'py>(
        &self,
        py: Python<'py>,
        dialect: OrDefault<'_, hints::Dialect>,
        prefix: Text<'_>,
    ) -> PyResult<Hinted<'py, hints::Fields>> {
        let dialect = read_dialect(dialect)?;
        let definition = search_tool_definition(dialect, prefix.read("prefix")?);
        json(py, &definition.map_err(|error| to_python(py, &error))?).map(Hinted::new)
    }

    /// Creates the files with which a project of several sessions begins: `progress.md`, `features.md`
    /// and `init.md`. An existing file is not changed. The model cannot call this.
    ///
    /// Args:
    ///     about: The subject of the project, in a line or a paragraph.
    ///     features: The features to build, one after the other.
    ///     init: How the project is set up and started, such as a command.
    ///
    /// Returns:
    ///     The paths of the files that were created.
    ///
    /// Raises:
    ///     RefusedError: A policy forbids it. Files that were already created stay.
    ///     StoreError: The store itself failed.
    #[pyo3(
        signature = (*, about, features, init = Text::Default("")),
        text_signature = "($self, *, about, features, init='')",
    )]
    fn bootstrap(
        &self,
        py: Python<'_>,
        about: Text<'_>,
        features: Hinted<'_, hints::Texts>,
        init: Text<'_>,
    ) -> PyResult<Vec<String>> {
        let about = about.read("about")?;
        let init = init.read("init")?;
        let features = read("features", &features.into_inner(), Given::texts)?;
        let features: Vec<&str> = features.iter().map(String::as_str).collect();
        let project = Project { about, features: &features, init };
        let made = done(py, |core| core.bootstrap(&project), &self.core)?;
        Ok(made.into_iter().map(|path| path.as_str().to_owned()).collect())
    }

    /// Makes the stale guard refuse edits of every file that the model has seen, until the model views
    /// the file again. Call it when the conversation was compacted, because the guard cannot notice
    /// that. It is not needed after context editing that keeps the memory's results.
    fn forget_views(&self) -> PyResult<()> {
        self.core.get()?.forget_views();
        Ok(())
    }

    /// The directory on this machine that contains the files; `None` if they are kept elsewhere.
    #[getter]
    fn directory(&self) -> PyResult<Option<PathBuf>> {
        Ok(self.core.get()?.store().info().directory)
    }

    /// Closes the memory. Its store is closed if nothing else uses it. Every later call raises a
    /// `ValueError`, but running calls finish. A `with` statement closes the memory at its end. A
    /// memory that was not closed is closed when the garbage collector collects it.
    fn close(&self, py: Python<'_>) {
        self.core.close(py);
    }

    fn __repr__(&self) -> String {
        format!("Memory({})", self.shown)
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().core.get()?;
        Ok(slf)
    }

    #[pyo3(signature = (kind, raised, traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        raised: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) {
        let _ = (kind, raised, traceback);
        self.core.close(py);
    }

    /// Deletes everything below `/memories`. The model cannot call this. With a history, the history
    /// keeps all contents; `erase` removes the history, too.
    ///
    /// Raises:
    ///     StoreError: The store itself failed.
    fn clear(&self, py: Python<'_>) -> PyResult<String> {
        done(py, Core::clear, &self.core)
    }

    /// Removes everything for good: files, directories, the whole history, and the leftovers of killed
    /// processes. The model cannot call this.
    ///
    /// It works with and without the option `history`, is not recorded, and cannot be undone. Mounted
    /// stores that are read-only are not changed. Afterwards the memory is empty and still usable, also
    /// for other processes. If the call fails or is killed, a second call removes the rest. Data that
    /// memdir cannot reach stays: backups, and deleted data that a disk or a server still keeps.
    ///
    /// Args:
    ///     dry_run: Only count what would be removed.
    ///
    /// Returns:
    ///     The amounts that were removed, or would be.
    ///
    /// Raises:
    ///     RefusedError: The memory is read-only.
    ///     StoreError: The store itself failed.
    #[pyo3(
        signature = (*, dry_run = OrDefault::Default),
        text_signature = "($self, *, dry_run=False)",
    )]
    fn erase(
        &self,
        py: Python<'_>,
        dry_run: OrDefault<'_, hints::Flag>,
    ) -> PyResult<Shown<Erased>> {
        let dry_run = dry_run.or("dry_run", false, Given::flag)?;
        done(py, |core: &Core| core.erase(dry_run), &self.core).map(Shown)
    }

    /// Removes the files that were not used for `older_than`. The model cannot call this.
    ///
    /// Changing a file counts as use. Viewing or renaming it counts as use only through a memory with
    /// `record_access`. Some entries are never removed: directories, files that match `never_expire`,
    /// files that no command may delete, and files that are used meanwhile.
    ///
    /// Args:
    ///     older_than: The time since the last use: seconds, or a `timedelta`.
    ///     dry_run: Only return the files that would be removed.
    ///     on_progress: Called after every 1,000 files and at the end. An exception that it raises
    ///         stops the removal; files that are already removed stay removed.
    ///
    /// Returns:
    ///     The files that were removed, or would be, in the order of the paths.
    ///
    /// Raises:
    ///     ConfigError: The memory does not record accesses, or the store does not keep them, or it is
    ///         read-only.
    ///     StoreError: The store itself failed. Files that are already removed stay removed.
    #[pyo3(
        signature = (older_than, *, dry_run = OrDefault::Default, on_progress = None),
        text_signature = "($self, older_than, *, dry_run=False, on_progress=None)",
    )]
    fn expire<'py>(
        &self,
        py: Python<'py>,
        older_than: Hinted<'_, hints::Span>,
        dry_run: OrDefault<'_, hints::Flag>,
        on_progress: Option<Hinted<'py, hints::OnExpiryProgress>>,
    ) -> PyResult<Shown<Vec<Expired>>> {
        let on_progress = callback("on_progress", on_progress.map(Hinted::into_inner))?;
        let dry_run = dry_run.or("dry_run", false, Given::flag)?;
        let older_than = read("older_than", &older_than.into_inner(), Given::duration)?;
        expire(py, &self.core.get()?, older_than, dry_run, on_progress.as_ref()).map(Shown)
    }

    /// Makes this memory and another one equal, in both directions, and loses nothing. The model cannot
    /// call this.
    ///
    /// Both are compared with what they last agreed on. If one memory has changed a file, the other one
    /// follows. If both have, their changes are merged line by line. If the same lines or neighbouring
    /// ones differ, both contents are kept: that of this memory, and that of the other one in a copy
    /// whose name says where it is from. A file is deleted only if the other memory has deleted it and
    /// this one has not changed it since. Nothing is deleted at the first sync, and nothing if one of
    /// the memories was restored from a backup.
    ///
    /// The options of each memory hold for what is written to it, and its hooks are asked about each
    /// change. Its history shows the changes with the actor `sync`, as one change. Hidden files are
    /// synced, too. The history and empty directories are not.
    ///
    /// Args:
    ///     other: The other memory, or a store, which is opened as by `Memory(other)`. In the result
    ///         this memory is `"a"`, and the other one is `"b"`.
    ///     on_conflict: The content that wins if both memories changed a file in ways that cannot be
    ///         merged: `"a"` that of this memory, `"b"` that of the other one, `"keep-both"` neither.
    ///         A function gets a `SyncMerge` with both texts, and returns the text that both memories
    ///         get, or `None` to keep both. It is called for one file after another, again if one of
    ///         the texts is changed meanwhile, and with `dry_run`, too, but not for contents that are
    ///         not text: of those both are kept. An exception that it raises ends the sync.
    ///     one_way: Change only the other memory. This one may be read-only.
    ///     dry_run: Only return what would be done.
    ///     delete: Allow the sync to delete more than eight files that are more than a quarter of a
    ///         memory's files, or all of its files.
    ///     redactions: Also take redactions over: the content of a version that was redacted in one
    ///         history is redacted in the other one, if a sync brought it there. Both memories need a
    ///         history.
    ///     exclude: Patterns of paths that stay as they are in both memories, including everything below
    ///         them.
    ///     max_file_bytes: Larger files stay as they are. `None` sets no limit.
    ///     names: The names of this memory and the other one in the names of conflict copies. `None`:
    ///         the names of their directories, or `a` and `b`.
    ///     on_progress: Called before each file that is read or changed. An exception that it raises
    ///         stops the sync.
    ///
    /// Raises:
    ///     SyncError: Both memories are the same or overlap; too many files would be deleted; or a
    ///         memory is read-only. Nothing was changed.
    ///     StoreError: A store cannot be opened, or failed. The changes before that stay, and the next
    ///         sync makes the others.
    ///     HookError: A hook failed. The changes before that stay.
    ///     ConfigError: An option or the address is wrong.
    ///
    /// >>> from memdir import Memory
    /// >>> laptop, server = Memory("memory:"), Memory("memory:")
    /// >>> laptop.write("/memories/tea.md", "green\nherbal\nblack\n")
    /// >>> laptop.sync(server).equal
    /// 1
    /// >>> laptop.write("/memories/tea.md", "jasmine\nherbal\nblack\n")
    /// >>> server.write("/memories/tea.md", "green\nherbal\noolong\n")
    /// >>> [(change.side, change.action) for change in laptop.sync(server).changes]
    /// [('a', 'merged'), ('b', 'merged')]
    /// >>> server.read("/memories/tea.md")
    /// 'jasmine\nherbal\noolong\n'
    #[pyo3(
        signature = (
            other, *, on_conflict = OrDefault::Default, one_way = OrDefault::Default,
            dry_run = OrDefault::Default, delete = OrDefault::Default,
            redactions = OrDefault::Default, exclude = OrDefault::Default,
            max_file_bytes = OrDefault::Default, names = OrDefault::Default, on_progress = None
        ),
        text_signature = "($self, other, *, on_conflict='keep-both', one_way=False, dry_run=False, delete=False, redactions=False, exclude=(), max_file_bytes=None, names=None, on_progress=None)",
    )]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments")]
    fn sync<'py>(
        &self,
        other: Hinted<'py, OtherMemory>,
        on_conflict: OrDefault<'py, sync::OnConflict>,
        one_way: OrDefault<'py, hints::Flag>,
        dry_run: OrDefault<'py, hints::Flag>,
        delete: OrDefault<'py, hints::Flag>,
        redactions: OrDefault<'py, hints::Flag>,
        exclude: OrDefault<'py, hints::Texts>,
        max_file_bytes: OrDefault<'py, hints::Limit>,
        names: OrDefault<'py, hints::TwoNames>,
        on_progress: Option<Hinted<'py, sync::OnProgress>>,
    ) -> PyResult<Shown<Synced>> {
        let other = other.into_inner();
        let on_progress = callback("on_progress", on_progress.map(Hinted::into_inner))?;
        let mut options = SyncOptions::default();
        options.on_conflict = sync::on_conflict(on_conflict)?;
        options.one_way = one_way.or("one_way", false, Given::flag)?;
        options.dry_run = dry_run.or("dry_run", false, Given::flag)?;
        options.delete = delete.or("delete", false, Given::flag)?;
        options.redactions = redactions.or("redactions", false, Given::flag)?;
        let exclude = exclude.or("exclude", Vec::new(), Given::texts)?;
        options.exclude = sync_exclude(&exclude).map_err(|error| to_python(other.py(), &error))?;
        options.max_file_bytes = max_file_bytes.or("max_file_bytes", None, Given::limit)?;
        options.names = sync::names(names)?;
        let open = || other_memory(&other);
        sync::sync(other.py(), &self.core.get()?, open, &options, on_progress.as_ref()).map(Shown)
    }

    /// Returns a session of the same memory, for a conversation of its own. Its changes are recorded
    /// with this actor, such as an agent or a user. With `stale_guard`, only what this session was
    /// shown counts. Everything else is shared. Close each of the two memories separately. The actor
    /// replaces the option `actor`.
    ///
    /// Args:
    ///     actor: Any text of your application, never of a model.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:", history=True)
    /// >>> memory.acting_as("session 1").write("/memories/tea.md", "green\n")
    /// >>> [(version.operation, version.actor) for version in memory.history()]
    /// [('created', 'session 1')]
    fn acting_as(slf: &Bound<'_, Self>, actor: Text<'_>) -> PyResult<Self> {
        let actor = actor.read("actor")?;
        let memory = slf.get();
        let core = memory.core.beside(memory.core.get()?.acting_as(actor));
        let beside = memory
            .beside
            .as_ref()
            .map_or_else(|| slf.clone().unbind(), |beside| beside.clone_ref(slf.py()));
        let shown = memory.shown.clone();
        Ok(Self { core, hooks: None, embedder: None, beside: Some(beside), shown })
    }

    /// Lists the versions of files that changes made, newest first. The memory must be opened with
    /// `history=True`.
    ///
    /// Args:
    ///     path: A file or a directory, which may have been deleted. The result has the versions of
    ///         everything that is or was there, and the earlier versions of files that were moved
    ///         there. `None` for everything.
    ///     limit: The most versions to return; `None` for all.
    ///     before: The id of a version: return only older versions. Pass the last id of a page to get
    ///         the next page.
    ///     actor: Return only changes by this actor.
    ///     change: Return only the versions of this change.
    ///     since: A `datetime` with a time zone: return only changes made then or later.
    ///
    /// Raises:
    ///     ConfigError: `limit` is wrong.
    ///     HistoryError: The memory has no history, or the path or an id is not valid.
    ///     StoreError: The store itself failed.
    #[pyo3(
        signature = (
            path = None, *, limit = OrDefault::Default, before = None, actor = None, change = None, since = None
        ),
        text_signature = "($self, path=None, *, limit=None, before=None, actor=None, change=None, since=None)",
    )]
    #[expect(clippy::too_many_arguments, reason = "Python has names for them")]
    fn history(
        &self,
        py: Python<'_>,
        path: Option<Text<'_>>,
        limit: OrDefault<'_, hints::Limit>,
        before: Option<Text<'_>>,
        actor: Option<Text<'_>>,
        change: Option<Text<'_>>,
        since: Option<Moment<'_>>,
    ) -> PyResult<Shown<Vec<Version>>> {
        let path = Text::optional(&path, "path")?;
        let before = Text::optional(&before, "before")?;
        let actor = Text::optional(&actor, "actor")?;
        let change = Text::optional(&change, "change")?;
        let limit = limit.or("limit", None, Given::limit)?;
        let owned = |text: Option<&str>| text.map(ToOwned::to_owned);
        let query = Query {
            path: owned(path),
            limit,
            before: owned(before),
            actor: owned(actor),
            change: owned(change),
            since: since.map(|since| since.time("since")).transpose()?,
        };
        let versions = history::done(py, |core| core.history(&query.into_core()?), &self.core)?;
        Ok(Shown(versions))
    }

    /// Resolves a part of an id, its beginning or its end, to the id of the version or of the change.
    /// Dashes and the case of letters do not matter.
    ///
    /// Args:
    ///     part: At least 6 digits of the id, or all of it.
    ///
    /// Raises:
    ///     HistoryError: Several ids match (`kind` is `"ambiguous"`), no id matches (`"unknown"`), it
    ///         cannot be part of an id (`"no_id"`), or the memory has no history.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:", history=True)
    /// >>> memory.write("/memories/tea.md", "green\n")
    /// >>> id = memory.history()[0].id
    /// >>> memory.resolve_id(id[-12:]) == id
    /// True
    fn resolve_id(&self, py: Python<'_>, part: Text<'_>) -> PyResult<String> {
        let part = part.read("part")?;
        let id = history::done(py, |core| core.resolve_id(part), &self.core)?;
        Ok(id.to_string())
    }

    /// Exports the whole history as a stream for `git fast-import`: a commit for each change, with its
    /// actor as the author, on the branch `main`. The same history always gives the same commits. A
    /// content that was removed from the history is replaced by a text that says so.
    ///
    /// Raises:
    ///     HistoryError: The memory has no history.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:", history=True, actor="ann")
    /// >>> memory.write("/memories/tea.md", "green\n")
    /// >>> b"committer ann <>" in memory.export_history()
    /// True
    fn export_history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let stream = history::done(py, export, &self.core)?;
        Ok(PyBytes::new(py, &stream))
    }

    /// Finds names and lines that are in the history and no longer in the files, newest first. Each
    /// match names the newest version that has it. With `sensitive_on_view` it searches the redacted
    /// text that a view shows.
    ///
    /// Args:
    ///     query: The text to find, or a pattern.
    ///     path: A current or former file or directory, with everything below it.
    ///     regex: `query` is a regular expression, as for `grep`.
    ///     ignore_case: Ignore upper and lower case, as for `grep`.
    ///     limit: The most matches to return.
    ///
    /// Raises:
    ///     ConfigError: The pattern or `limit` is wrong.
    ///     HistoryError: The memory has no history, or the path is not valid.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:", history=True)
    /// >>> memory.write("/memories/tea.md", "green\n")
    /// >>> memory.write("/memories/tea.md", "black\n")
    /// >>> [(match.line, match.text) for match in memory.grep_history("green")]
    /// [(1, 'green')]
    #[pyo3(
        signature = (
            query, path = Text::Default("/memories"), *, regex = OrDefault::Default, ignore_case = OrDefault::Default, limit = OrDefault::Default
        ),
        text_signature = "($self, query, path='/memories', *, regex=False, ignore_case=False, limit=100)",
    )]
    fn grep_history(
        &self,
        py: Python<'_>,
        query: Text<'_>,
        path: Text<'_>,
        regex: OrDefault<'_, hints::Flag>,
        ignore_case: OrDefault<'_, hints::Flag>,
        limit: OrDefault<'_, hints::Count>,
    ) -> PyResult<Shown<Vec<HistoryMatch>>> {
        let query = query.read("query")?;
        let path = path.read("path")?;
        let regex = regex.or("regex", false, Given::flag)?;
        let ignore_case = ignore_case.or("ignore_case", false, Given::flag)?;
        let limit = limit.or("limit", 100, Given::count)?;
        let query = grep_query(query, regex, ignore_case).map_err(|error| to_python(py, &error))?;
        let grep = |core: &Core| core.grep_history(&query, path, limit);
        let found = history::done(py, grep, &self.core)?;
        Ok(Shown(found))
    }

    /// Lists the files that existed at a time, in the order of their paths. A file that was not changed
    /// since the history began is included with its current content, if it was last written before that
    /// time.
    ///
    /// Args:
    ///     at: A `datetime` with a time zone.
    ///
    /// Raises:
    ///     HistoryError: The history does not go back that far (`kind` is `"trimmed"`), or the memory
    ///         has none.
    ///     StoreError: The store itself failed.
    fn files_at(&self, py: Python<'_>, at: Moment<'_>) -> PyResult<Shown<Vec<PastFile>>> {
        let at = at.time("at")?;
        let files = history::done(py, |core| core.files_at(at), &self.core)?;
        Ok(Shown(files))
    }

    /// Reads the content of a file at a time; `None` if the file did not exist.
    ///
    /// Args:
    ///     path: The path of the file at that time.
    ///     at: A `datetime` with a time zone.
    ///
    /// Raises:
    ///     HistoryError: The same cases as for `files_at` and `read_version`.
    ///     StoreError: The store itself failed.
    fn read_at<'py>(
        &self,
        py: Python<'py>,
        path: Text<'_>,
        at: Moment<'_>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let path = path.read("path")?;
        let at = at.time("at")?;
        let content = history::done(py, |core| core.read_at(path, at), &self.core)?;
        Ok(content.map(|content| PyBytes::new(py, &content)))
    }

    /// Finds, for each current line of a file, the version that added it, with its actor and time. A
    /// line that was removed and added again belongs to the version that added it again. Renaming the
    /// file does not change the result.
    ///
    /// Args:
    ///     path: The path of the file.
    ///
    /// Raises:
    ///     HistoryError: The file does not exist (`kind` is `"no_file"`), it is not UTF-8
    ///         (`"not_text"`), or the memory has no history.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:", history=True)
    /// >>> memory.acting_as("Ann").write("/memories/tea.md", "green\n")
    /// >>> memory.acting_as("Ben").write("/memories/tea.md", "green\nblack\n")
    /// >>> [(line.actor, line.text) for line in memory.blame("/memories/tea.md")]
    /// [('Ann', 'green'), ('Ben', 'black')]
    fn blame(&self, py: Python<'_>, path: Text<'_>) -> PyResult<Shown<Vec<BlamedLine>>> {
        let path = path.read("path")?;
        let lines = history::done(py, |core| core.blame(path), &self.core)?;
        Ok(Shown(lines))
    }

    /// Reads the content of a version.
    ///
    /// Args:
    ///     id: The id of the version.
    ///
    /// Raises:
    ///     HistoryError: There is no such version, or it has no content: it is a deletion, was
    ///         redacted, or its records are damaged.
    ///     StoreError: The store itself failed.
    fn read_version<'py>(&self, py: Python<'py>, id: Text<'_>) -> PyResult<Bound<'py, PyBytes>> {
        let id = id.read("id")?;
        let content = history::done(py, |core| core.read_version(self::id(id)?), &self.core)?;
        Ok(PyBytes::new(py, &content))
    }

    /// Makes a unified diff from one version to another; empty if there is no difference.
    ///
    /// Args:
    ///     id: The id of a version.
    ///     other: The id of another version. If absent, the diff shows what the change of the version
    ///         did to the file.
    ///
    /// Raises:
    ///     HistoryError: The same cases as for `read_version`, but a missing file counts as empty.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:", history=True)
    /// >>> memory.write("/memories/tea.md", "green\n")
    /// >>> memory.write("/memories/tea.md", "black\n")
    /// >>> print(memory.diff(memory.history()[0].id), end="")
    /// --- /memories/tea.md
    /// +++ /memories/tea.md
    /// @@ -1 +1 @@
    /// -green
    /// +black
    #[pyo3(signature = (id, other = None))]
    fn diff(&self, py: Python<'_>, id: Text<'_>, other: Option<Text<'_>>) -> PyResult<String> {
        let id = id.read("id")?;
        let other = Text::optional(&other, "other")?;
        let diff = |core: &Core| core.diff(self::id(id)?, other.map(self::id).transpose()?);
        history::done(py, diff, &self.core)
    }

    /// Writes the content of a version back to its file, as a new version. A deleted file is created at
    /// its former path. No policy applies, because your own code restores former content.
    ///
    /// Args:
    ///     id: The id of a version. For a deleted file, use the id of the deletion or of an earlier
    ///         version. With the id of a change, all files of that change are restored, such as those
    ///         of a deleted directory.
    ///     overwrite: Also overwrite later changes.
    ///
    /// Raises:
    ///     HistoryError: The same cases as for `read_version`; a file with another content exists
    ///         (`kind` is `"conflict"`); the memory is read-only; or the store failed in the middle
    ///         (`"partly"`).
    ///     StoreError: The store itself failed.
    #[pyo3(
        signature = (id, *, overwrite = OrDefault::Default),
        text_signature = "($self, id, *, overwrite=False)",
    )]
    fn restore(
        &self,
        py: Python<'_>,
        id: Text<'_>,
        overwrite: OrDefault<'_, hints::Flag>,
    ) -> PyResult<Shown<Restored>> {
        let id = id.read("id")?;
        let overwrite = overwrite.or("overwrite", false, Given::flag)?;
        let restore = |core: &Core| core.restore(self::id(id)?, overwrite);
        history::done(py, restore, &self.core).map(Shown)
    }

    /// Undoes changes: every file gets its earlier content. If later changes of the same files depend
    /// on them, nothing is changed, unless `skip_conflicts` or `merge` is set.
    ///
    /// Args:
    ///     change: The id of one change. With the id of a version, the whole change that made it.
    ///     since: A `datetime` with a time zone, instead of `change`: undo all changes that were made
    ///         then or later.
    ///     actor: With `since`: only the changes of this actor.
    ///     dry_run: Only return what would be done.
    ///     skip_conflicts: Leave out the files that cannot be undone because of a conflict, and undo
    ///         the rest. `skipped` of the result lists them.
    ///     merge: Keep later changes of other lines. In a file that was changed since, the lines of the
    ///         undone change get their earlier text, if no later change touches them or a line beside
    ///         them.
    ///
    /// Raises:
    ///     HistoryError: Later changes depend on it (`kind` is `"conflict"`, and `conflicts` names the
    ///         files and these changes); the earlier content is no longer kept (`"trimmed"`); or the
    ///         same cases as for `restore`.
    ///     ConfigError: Not exactly one of `change` and `since` is given, or `actor` is given without
    ///         `since`.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:", history=True)
    /// >>> memory.write("/memories/tea.md", "green\n")
    /// >>> memory.write("/memories/tea.md", "black\n")
    /// >>> [(file.operation, file.path) for file in memory.undo(memory.history()[0].change).files]
    /// [('modified', '/memories/tea.md')]
    /// >>> memory.read("/memories/tea.md")
    /// 'green\n'
    #[pyo3(
        signature = (
            change = None, *, since = None, actor = None, dry_run = OrDefault::Default,
            skip_conflicts = OrDefault::Default, merge = OrDefault::Default
        ),
        text_signature = "($self, change=None, *, since=None, actor=None, dry_run=False, skip_conflicts=False, merge=False)",
    )]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments")]
    fn undo(
        &self,
        py: Python<'_>,
        change: Option<Text<'_>>,
        since: Option<Moment<'_>>,
        actor: Option<Text<'_>>,
        dry_run: OrDefault<'_, hints::Flag>,
        skip_conflicts: OrDefault<'_, hints::Flag>,
        merge: OrDefault<'_, hints::Flag>,
    ) -> PyResult<Shown<Restored>> {
        let how = undo_options(
            dry_run.or("dry_run", false, Given::flag)?,
            skip_conflicts.or("skip_conflicts", false, Given::flag)?,
            merge.or("merge", false, Given::flag)?,
        );
        let change = Text::optional(&change, "change")?.map(str::to_owned);
        let actor = Text::optional(&actor, "actor")?.map(str::to_owned);
        let undo = history::undo(py, change, since, actor)?;
        history::done(py, |core| undo.apply(core, how), &self.core).map(Shown)
    }

    /// Restores every file to its content at a time. Later changes are not a conflict. Files that are not
    /// in the history are not changed.
    ///
    /// Args:
    ///     at: A `datetime` with a time zone.
    ///     dry_run: Only return what would be done.
    ///
    /// Raises:
    ///     HistoryError: The history does not go back that far (`kind` is `"trimmed"`); or the same
    ///         cases as for `restore`.
    ///     StoreError: The store itself failed.
    #[pyo3(
        signature = (at, *, dry_run = OrDefault::Default),
        text_signature = "($self, at, *, dry_run=False)",
    )]
    fn restore_all(
        &self,
        py: Python<'_>,
        at: Moment<'_>,
        dry_run: OrDefault<'_, hints::Flag>,
    ) -> PyResult<Shown<Restored>> {
        let (at, dry_run) = (at.time("at")?, dry_run.or("dry_run", false, Given::flag)?);
        history::done(py, |core| core.restore_all(at, dry_run), &self.core).map(Shown)
    }

    /// Removes the content of a version from the history for good, in every record that has it. The
    /// version stays, with the reason.
    ///
    /// Args:
    ///     id: The id of a version. With the id of a change, the contents of all its versions.
    ///     reason: Shown to anyone who later asks for the content.
    ///
    /// Returns:
    ///     The id of the change; `None` if there was nothing to remove.
    ///
    /// Raises:
    ///     HistoryError: A file has this content now (`kind` is `"is_current"`); or the same cases as
    ///         for `read_version`.
    ///     StoreError: The store itself failed.
    fn redact(&self, py: Python<'_>, id: Text<'_>, reason: Text<'_>) -> PyResult<Option<String>> {
        let id = id.read("id")?;
        let reason = reason.read("reason")?;
        let redact = |core: &Core| core.redact(self::id(id)?, reason);
        let change = history::done(py, redact, &self.core)?;
        Ok(change.as_ref().map(ToString::to_string))
    }

    /// Removes every content that contains a text from the history for good, as `redact` does, in all
    /// versions of all files. The text may be anywhere in the content; a regular expression has to
    /// match within a line. The text is removed from names as well, unless a file or directory has such
    /// a name now. Names of actors stay. This computes every content.
    ///
    /// Args:
    ///     query: The text to remove, or a pattern.
    ///     reason: Shown to anyone who later asks for the content.
    ///     regex: `query` is a regular expression, as for `grep`.
    ///     ignore_case: Ignore upper and lower case, as for `grep`.
    ///     dry_run: Only return what would be done, and the files that have the text now.
    ///
    /// Raises:
    ///     ConfigError: The pattern is wrong.
    ///     HistoryError: Files have the text now (`kind` is `"is_current"`, and `paths` are the files);
    ///         the memory has no history, or is read-only.
    ///     StoreError: The store itself failed.
    ///
    /// >>> from memdir import Memory
    /// >>> memory = Memory("memory:", history=True)
    /// >>> memory.write("/memories/db.md", "password: hunter2\n")
    /// >>> memory.write("/memories/db.md", "password: in the vault\n")
    /// >>> redacted = memory.redact_text("hunter2", "a password")
    /// >>> len(redacted.versions), redacted.current
    /// (1, ())
    #[pyo3(
        signature = (query, reason, *, regex = OrDefault::Default, ignore_case = OrDefault::Default, dry_run = OrDefault::Default),
        text_signature = "($self, query, reason, *, regex=False, ignore_case=False, dry_run=False)",
    )]
    fn redact_text(
        &self,
        py: Python<'_>,
        query: Text<'_>,
        reason: Text<'_>,
        regex: OrDefault<'_, hints::Flag>,
        ignore_case: OrDefault<'_, hints::Flag>,
        dry_run: OrDefault<'_, hints::Flag>,
    ) -> PyResult<Shown<RedactedText>> {
        let query = query.read("query")?;
        let reason = reason.read("reason")?;
        let regex = regex.or("regex", false, Given::flag)?;
        let ignore_case = ignore_case.or("ignore_case", false, Given::flag)?;
        let dry_run = dry_run.or("dry_run", false, Given::flag)?;
        let query =
            redaction_query(query, regex, ignore_case).map_err(|error| to_python(py, &error))?;
        let redact = |core: &Core| core.redact_text(&query, reason, dry_run);
        history::done(py, redact, &self.core).map(Shown)
    }

    /// Removes the versions that the options no longer keep, and returns the number of removed records
    /// of changes. Trimming also happens from time to time after a change.
    ///
    /// Raises:
    ///     HistoryError: The memory has no history, or is read-only.
    ///     StoreError: The store itself failed.
    fn trim_history(&self, py: Python<'_>) -> PyResult<usize> {
        history::done(py, Core::trim_history, &self.core)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.beside)?;
        self.hooks.as_ref().map_or(Ok(()), |hooks| hooks.traverse(&visit))?;
        self.embedder.as_ref().map_or(Ok(()), |embedder| embedder.traverse(&visit))
    }

    fn __clear__(&self) {
        if let Some(hooks) = &self.hooks {
            hooks.clear();
        }
        if let Some(embedder) = &self.embedder {
            embedder.clear();
        }
    }
}

impl Memory {
    /// Opens a memory on this store. If the caller awaits its hooks, they may be coroutine functions.
    pub(crate) fn open<'py>(
        py: Python<'py>,
        store: Argument<'py>,
        options: Option<&Bound<'py, PyDict>>,
        awaited: Awaited,
    ) -> PyResult<Self> {
        let Keywords { options, before, after, embedder } = Keywords::of_memory(py, options)?;
        let embedder = PythonEmbedder::new(embedder.as_ref())?;
        let hooks = PythonHooks::new(before.as_ref(), after.as_ref(), awaited)?;
        let has_python_store = store.is_python()?;
        let shown = store.shown()?;
        let store = store.open(py, &options)?;
        let core = released(py, || Core::with_store(store, options).validated());
        let mut core = core.map_err(|error| to_python(py, &error))?;
        if let Some(hooks) = &hooks {
            core = core.with_hooks(Arc::<PythonHooks>::clone(hooks));
        }
        if let Some(embedder) = &embedder {
            let core_with = core.with_embedder(Arc::<PythonEmbedder>::clone(embedder));
            core = core_with.map_err(|error| to_python(py, &error))?;
        }
        logging::install();
        let core = Opened::new(core, has_python_store, embedder.is_some());
        Ok(Self { core, hooks, embedder, beside: None, shown })
    }

    pub(crate) fn opened(&self) -> &Opened {
        &self.core
    }
}
