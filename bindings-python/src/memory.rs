//! [`Memory`]: the engine, for Python.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use memdir::command::{Decoded, ViewRange};
use memdir::policy::StaleGuard;
use memdir::policy::sensitive::Sensitive;
use memdir::{
    Cancellation, Command, Durability, Error, Memory as Core, OnExisting, Reply, StoreError,
};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::cancel::interruptible;
use crate::errors::to_python;
use crate::expiry::{self, Expired};
use crate::fields::{Input, owned_value};
use crate::hints::{self, Hinted};
use crate::hooks::{PythonHooks, pass_on};
use crate::logging;
use crate::options::{
    Flag, Given, Key, Limit, Maybe, Paths, Rules, Span, Text, Word, options, read,
};
use crate::reply;
use crate::stores::Argument;

/// The memory directory: executes the six commands of Claude's memory tool on a store.
///
/// It needs no SDK. `execute` takes a tool call's input as it came from the model and never raises
/// for anything that the model did; the methods named after the commands take plain arguments,
/// return the text of the reply and raise `CommandError` where the command was refused.
///
/// It may be used by many threads at once, and by many processes on one directory: the store
/// excludes writers from each other. Other Python threads run while the store works.
///
/// Args:
///     store: Where the files are: a directory, made if it is not there (the files are in its
///         `memories` directory, in the layout of the SDK's own tool); `"sqlite:agent.db"` for an
///         SQLite database; `"dir:./notes"` for the files of that very directory; `"memory:"` for a
///         new store in this process; a `Store`; or several of these as a dict from where each one
///         is mounted (`"/memories"`, `"/memories/team"`) to what is mounted there.
///     max_view_chars: The most characters that one view returns before it is cut and says how to
///         go on. `None` lifts the limit.
///     max_file_bytes: The most bytes that one file may come to hold. `None` lifts the limit.
///     max_image_bytes: The most bytes that an image (a file named `.png`, `.jpg` or `.jpeg`) may have
///         to be shown. The default is what Claude takes. `None` shows no images.
///     max_total_bytes: The most bytes that all files together may come to hold, hidden ones
///         included. `None` sets no limit.
///     max_files: The most files that there may come to be, hidden ones included. `None` sets no
///         limit.
///     on_existing: What `create` does about a file that is there: `"error"` refuses, `"overwrite"`
///         replaces it atomically.
///     durability: What an acknowledged command survives: `"full"` loss of power, `"relaxed"` a
///         crash of the process.
///     lock_timeout: How long a change waits for other writers of the same store: seconds, or a
///         `timedelta`. Then it is refused, and nothing was changed. `None` waits for as long as it
///         takes.
///     namespace: Which of several memories in one PostgreSQL database or one bucket this is: any
///         text, such as a user's name as it is. `None` is the one that the address says. Never put a
///         value that is not your own into an address.
///     encryption_key: Keeps the files encrypted: 32 bytes; as a str, `"hex:…"` or `"base64:…"` for
///         those, or else a passphrase. A store is encrypted from its beginning or never.
///     encrypt_names: Whether a store that is made with a key encrypts names, too.
///     read_only: Whether it can be viewed but not changed. A directory or database then has to be
///         there, and nothing is made in it.
///     read_only_paths: Patterns of what no command may change, such as `"/memories/handbook"`, and
///         of all that is below.
///     writable_paths: Patterns of what commands may change, and all that is below: nothing else.
///         `None` sets no such limit. `read_only_paths` wins.
///     stale_guard: Whether an edit is refused that was meant for an older content of its file:
///         `"on"` guards `insert` into files that were shown or written, `"strict"` also
///         `str_replace`, and wants every file to be viewed first; `"off"` does nothing.
///     sensitive: What is done about keys, tokens, passwords and payment cards in text that a
///         command would write: `"reject"` refuses the command, `"redact"` writes
///         `[REDACTED:rule]` in their place, `"off"` does nothing.
///     sensitive_rules: Patterns of your own by their ids, beside the built-in rules. The syntax is
///         that of Rust's `regex-lite`, without look-around and back-references.
///     sensitive_on_view: Whether views show `[REDACTED:rule]` in the place of sensitive text that
///         a file holds, which is not changed.
///     expire_after: Before the first command files are removed that nobody used for so long: seconds,
///         or a `timedelta`. The store has to keep when files were last accessed.
///     record_access: Whether a view of a file, and a rename of one, is noted as a use of it, which
///         costs a write; always with `expire_after`. `expire` needs it.
///     pins: Patterns of paths that never expire, such as `"/memories/handbook"` or
///         `"/memories/**/*.keep"`.
///     before: Called with each command before the store is touched: a mapping with `command` and
///         its fields, paths judged and canonical. It returns `None` to let the command pass, or a
///         dict with the changed `file_text`, `new_str` or `insert_text`; it raises `Deny` with a
///         sentence for the model to forbid it. If it raises anything else, nothing is done, and the
///         model reads only that the command could not be checked.
///     after: Called with an `Event` after each call. What it raises is logged to the logger
///         `memdir`. Commands that a hook issues itself run without hooks.
///     after_content: Whether events hold the reply's text.
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
#[pyclass(module = "memdir", frozen)]
pub struct Memory {
    core: Core,
    hooks: Option<Arc<PythonHooks>>,
}

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(
        signature = (
            store = Argument::Default,
            *,
            max_view_chars = Given::Default,
            max_file_bytes = Given::Default,
            max_image_bytes = Given::Default,
            max_total_bytes = Given::Default,
            max_files = Given::Default,
            on_existing = Given::Default,
            durability = Given::Default,
            lock_timeout = Given::Default,
            namespace = Given::Default,
            encryption_key = Given::Default,
            encrypt_names = Given::Default,
            read_only = Given::Default,
            read_only_paths = Given::Default,
            writable_paths = Given::Default,
            stale_guard = Given::Default,
            sensitive = Given::Default,
            sensitive_rules = Given::Default,
            sensitive_on_view = Given::Default,
            expire_after = Given::Default,
            record_access = Given::Default,
            pins = Given::Default,
            before = None,
            after = None,
            after_content = Given::Default,
        ),
        text_signature = "(store='./memory', *, max_view_chars=16000, max_file_bytes=16777216, \
                          max_image_bytes=3932160, max_total_bytes=None, max_files=None, \
                          on_existing='error', durability='full', lock_timeout=10.0, \
                          namespace=None, encryption_key=None, encrypt_names=False, read_only=False, read_only_paths=(), \
                          writable_paths=None, stale_guard='off', sensitive='off', \
                          sensitive_rules={}, sensitive_on_view=False, expire_after=None, \
                          record_access=False, pins=(), before=None, after=None, \
                          after_content=False)",
    )]
    #[allow(clippy::too_many_arguments, reason = "each is an argument in Python, too")]
    fn new(
        py: Python<'_>,
        store: Argument<'_>,
        max_view_chars: Given<'_, Limit<usize>>,
        max_file_bytes: Given<'_, Limit<u64>>,
        max_image_bytes: Given<'_, Limit<u64>>,
        max_total_bytes: Given<'_, Limit<u64>>,
        max_files: Given<'_, Limit<u64>>,
        on_existing: Given<'_, Word<OnExisting>>,
        durability: Given<'_, Word<Durability>>,
        lock_timeout: Given<'_, Maybe<Span>>,
        namespace: Given<'_, Text>,
        encryption_key: Given<'_, Maybe<Key>>,
        encrypt_names: Given<'_, Flag>,
        read_only: Given<'_, Flag>,
        read_only_paths: Given<'_, Paths>,
        writable_paths: Given<'_, Maybe<Paths>>,
        stale_guard: Given<'_, Word<StaleGuard>>,
        sensitive: Given<'_, Word<Sensitive>>,
        sensitive_rules: Given<'_, Rules>,
        sensitive_on_view: Given<'_, Flag>,
        expire_after: Given<'_, Maybe<Span>>,
        record_access: Given<'_, Flag>,
        pins: Given<'_, Paths>,
        before: Option<Hinted<'_, hints::Before>>,
        after: Option<Hinted<'_, hints::After>>,
        after_content: Given<'_, Flag>,
    ) -> PyResult<Self> {
        let options = options(
            max_view_chars,
            max_file_bytes,
            max_image_bytes,
            max_total_bytes,
            max_files,
            on_existing,
            durability,
            lock_timeout,
            namespace,
            encryption_key,
            encrypt_names,
            read_only,
            read_only_paths,
            writable_paths,
            stale_guard,
            sensitive,
            sensitive_rules,
            sensitive_on_view,
            expire_after,
            record_access,
            pins,
            after_content,
        )?;
        let (before, after) = (before.map(Hinted::into_inner), after.map(Hinted::into_inner));
        let hooks = PythonHooks::new(before.as_ref(), after.as_ref())?;
        let store = store.open(py, &options)?;
        let core = py.detach(|| Core::with_store(store, options).validated());
        let mut core = core.map_err(|error| to_python(py, &error))?;
        if let Some(hooks) = &hooks {
            core = core.with_hooks(Arc::<PythonHooks>::clone(hooks));
        }
        logging::install();
        Ok(Self { core, hooks })
    }

    /// Executes one tool call.
    ///
    /// Args:
    ///     input: The call's input: a dict, its JSON text, or one of the SDK's command models.
    ///
    /// Returns:
    ///     What goes back to the model. Never an exception: whatever the model did wrong is a reply
    ///     with `is_error`, and so is a broken store (its `cause` has the details for you).
    #[pyo3(signature = (input, /))]
    fn execute<'py>(&self, input: &Bound<'py, PyAny>) -> PyResult<Hinted<'py, hints::Reply>> {
        let py = input.py();
        let reply = match input.cast::<PyString>().ok().and_then(|text| text.to_str().ok()) {
            Some(json) => {
                logging::refresh(py);
                interruptible(py, || self.core.execute(json))?
            }
            None => self.run(input, None, None)?,
        };
        pass_on()?;
        reply::to_python(py, &reply)
    }

    /// Shows a directory two levels deep, the numbered lines of a file, or an image.
    ///
    /// Args:
    ///     path: What to show.
    ///     view_range: The first and the last line to show, counted from 1; -1 as the last is the
    ///         end of the file. All lines if absent.
    ///
    /// Returns:
    ///     Text, or the image block that the Messages API takes.
    ///
    /// Raises:
    ///     CommandError: The command was refused; its text is the answer for the model.
    ///     StoreError: The store itself failed.
    #[pyo3(signature = (path, view_range = None))]
    fn view<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        view_range: Option<[i64; 2]>,
    ) -> PyResult<Hinted<'py, hints::Content>> {
        let view_range = view_range.map(|[first, last]| ViewRange::Lines(first, last));
        let command = Command::View { path: Cow::Borrowed(path), view_range };
        let content = done(py, |core| core.run(&command), &self.core)?;
        reply::content(py, &content)
    }

    /// Makes a new file, with its parents.
    ///
    /// Raises:
    ///     CommandError: The command was refused; its text is the answer for the model.
    ///     StoreError: The store itself failed.
    fn create(&self, py: Python<'_>, path: &str, file_text: &str) -> PyResult<String> {
        done(py, |core| core.create(path, file_text), &self.core)
    }

    /// Replaces the only occurrence of `old_str` in a file by `new_str`; an empty one deletes.
    ///
    /// Raises:
    ///     CommandError: The command was refused; its text is the answer for the model.
    ///     StoreError: The store itself failed.
    #[pyo3(signature = (path, old_str, new_str = ""))]
    fn str_replace(
        &self,
        py: Python<'_>,
        path: &str,
        old_str: &str,
        new_str: &str,
    ) -> PyResult<String> {
        done(py, |core| core.str_replace(path, old_str, new_str), &self.core)
    }

    /// Inserts `insert_text` as whole lines after line `insert_line`; 0 is the file's start.
    ///
    /// Raises:
    ///     CommandError: The command was refused; its text is the answer for the model.
    ///     StoreError: The store itself failed.
    fn insert(
        &self,
        py: Python<'_>,
        path: &str,
        insert_line: i64,
        insert_text: &str,
    ) -> PyResult<String> {
        done(py, |core| core.insert(path, insert_line, insert_text), &self.core)
    }

    /// Deletes a file, or a directory and all that it holds.
    ///
    /// Raises:
    ///     CommandError: The command was refused; its text is the answer for the model.
    ///     StoreError: The store itself failed.
    fn delete(&self, py: Python<'_>, path: &str) -> PyResult<String> {
        done(py, |core| core.delete(path), &self.core)
    }

    /// Renames or moves a file or directory; never overwrites.
    ///
    /// Raises:
    ///     CommandError: The command was refused; its text is the answer for the model.
    ///     StoreError: The store itself failed.
    fn rename(&self, py: Python<'_>, old_path: &str, new_path: &str) -> PyResult<String> {
        done(py, |core| core.rename(old_path, new_path), &self.core)
    }

    /// The directory of this machine that holds the files; `None` if they are kept elsewhere.
    #[getter]
    fn directory(&self) -> Option<&Path> {
        self.core.store().directory()
    }

    /// Deletes everything below `/memories`. Not a command of the tool: for you, not the model.
    ///
    /// Raises:
    ///     StoreError: The store itself failed.
    fn clear(&self, py: Python<'_>) -> PyResult<String> {
        done(py, Core::clear, &self.core)
    }

    /// Removes the files that nobody used for so long. Not a command of the tool: for you.
    ///
    /// Used is a file that was changed, or shown by a view of that very file, through a memory with
    /// `record_access`. What fits one of the `pins` stays, and so do directories, and whatever is used
    /// meanwhile.
    ///
    /// Args:
    ///     older_than: For how long a file was not used: seconds, or a `timedelta`.
    ///     dry_run: Whether nothing is removed.
    ///     on_progress: Called now and then, and at the end; an exception that it raises ends it
    ///         there. What was removed by then is removed.
    ///
    /// Returns:
    ///     What was removed, or would be, in the order of the paths.
    ///
    /// Raises:
    ///     ConfigError: Accesses are not recorded, the store does not keep them, or it is read-only.
    ///     StoreError: The store itself failed. What was removed by then is removed.
    #[pyo3(signature = (older_than, *, dry_run = false, on_progress = None))]
    fn expire<'py>(
        &self,
        py: Python<'py>,
        older_than: Hinted<'_, hints::Span>,
        dry_run: bool,
        on_progress: Option<Hinted<'py, hints::OnExpiryProgress>>,
    ) -> PyResult<Vec<Expired>> {
        let on_progress = on_progress.map(|call| call.into_inner().unbind());
        let older_than = read::<Span>("older_than", &older_than.into_inner())?;
        expiry::expire(py, &self.core, older_than, dry_run, on_progress.as_ref())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.hooks.as_ref().map_or(Ok(()), |hooks| hooks.traverse(&visit))
    }

    fn __clear__(&self) {
        if let Some(hooks) = &self.hooks {
            hooks.clear();
        }
    }
}

impl Memory {
    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// Decodes while attached, because the input is Python's, and runs detached.
    pub(crate) fn run(
        &self,
        input: &Bound<'_, PyAny>,
        command: Option<&str>,
        cancellation: Option<&Cancellation>,
    ) -> PyResult<Reply> {
        let py = input.py();
        decoded(input, command, |decoded| {
            logging::refresh(py);
            let work = || self.core.execute_decoded(decoded);
            match cancellation {
                // Of a thread that is not the main one, and so has nothing to do with signals.
                Some(cancellation) => Ok(py.detach(|| cancellation.within(work))),
                None => interruptible(py, work),
            }
        })
    }

    /// The answer to a call that cannot be carried out because of `error`.
    pub(crate) fn fail(
        &self,
        input: &Bound<'_, PyAny>,
        command: Option<&str>,
        error: StoreError,
    ) -> Reply {
        let py = input.py();
        decoded(input, command, |decoded| {
            logging::refresh(py);
            py.detach(|| self.core.fail(decoded, error))
        })
    }
}

/// What `work` makes of the input, decoded as the command that is named, or else the one in it.
fn decoded<T>(
    input: &Bound<'_, PyAny>,
    command: Option<&str>,
    work: impl FnOnce(Decoded<'_>) -> T,
) -> T {
    let found = match command {
        None => Input::of_call(input),
        Some(_) => Input::new(input),
    };
    work(match (&found, command) {
        (None, _) => Decoded::not_an_object(&owned_value(input)),
        (Some(fields), None) => Decoded::of(fields),
        (Some(fields), Some(name)) => Decoded::named(name, fields),
    })
}

/// Runs a typed command detached.
fn done<T: Send>(
    py: Python<'_>,
    command: impl FnOnce(&Core) -> Result<T, Error> + Send,
    core: &Core,
) -> PyResult<T> {
    logging::refresh(py);
    let done = interruptible(py, || command(core))?.map_err(|error| to_python(py, &error));
    pass_on()?;
    done
}
