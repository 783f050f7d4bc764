"""
The native half of memdir; import `memdir`.
"""

import builtins
from _typeshed import SupportsGetItem, SupportsLenAndGetItem
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from memdir._errors import MemdirError
from memdir._hooks import BeforeWithCall
from memdir._reply import ImageBlock, Reply, ViewT_co
from memdir._results import BlamedLine, Change, Checked, Copied, CopyProgress, Entry, Erased, Event, Expired, ExpiryProgress, GrepMatch, HistoryMatch, Namespace, PastFile, RedactedText, Restored, SensitiveMatch, Stats, Version
from memdir._store import Store
from os import PathLike
from pathlib import Path
from typing import Any, Final, Generic, Literal, SupportsIndex, final, overload
from typing_extensions import Self

__all__ = ["__version__", "Cancellation", "HookCall", "Memory", "NativeStore", "PendingCall", "ReadOnly", "Watch", "after_fork_in_child", "after_fork_in_parent", "answer", "answer_nowait", "before_exit", "before_fork", "begin", "begin_command", "begin_execute", "check", "check_contract", "check_names", "context_management", "copy", "decode", "execute_failed", "execute_nowait", "fail", "image_type", "is_coroutine_function", "is_due", "key_from_file", "listed_time", "namespaces", "open_async", "open_store", "open_whole", "read_only", "rekey", "run_command_line", "submit", "takes_call", "view_nowait", "wait_seconds", "when_idle"]

__version__: Final[str]

@final
class Cancellation:
    """
    Cancels a call. A call that has not begun to write does not happen.
    """
    def __new__(cls, /) -> Cancellation: ...
    def cancel(self, /) -> None:
        """
        Cancels the call.
        """

@final
class HookCall:
    """
    What the hook `before` may know of a call, beside the command.

    Attributes:
        actor: Who acts: that of `acting_as`, or the option `actor`; `None` if there is none.
        session: The session: each memory has its own, and each that `acting_as` makes.
        tool_use_id: The `id` of the `tool_use` block; `None` if the input was not a whole block.
    """
    @property
    def actor(self, /) -> str | None:
        """
        Who acts; `None` if the memory was not told.
        """
    def diff(self, /) -> str:
        """
        What the command would change, as a unified diff of the texts as they would be stored. Empty for a view.

        An approval holds for this diff: if what it is based on has changed when the command is
        executed, nothing is changed, and the model reads that it has to view the file again. To ask
        reads the file, or lists the directory, and leaves no trace.

        Raises:
            RefusedError: The command would be refused. Pass it on, and the command is refused in the
                same words.
            StoreError: The store failed.
            HookError: The hook has returned already.
        """
    @property
    def session(self, /) -> str:
        """
        The session: each memory has its own, and each that `acting_as` makes.
        """
    @property
    def tool_use_id(self, /) -> str | None:
        """
        The `id` of the `tool_use` block; `None` if the input was not a whole block.
        """

@final
class Memory(Generic[ViewT_co]):
    """
    The memory directory: executes the six commands of Claude's memory tool on a store.

    It needs no SDK. `execute` takes a tool call's input as the model sent it, and never raises
    because of anything that the model sent. The methods named after the commands take plain
    arguments, return the text of the reply, and raise `RefusedError` if the command is refused.

    Many threads may use it at once, and many processes may use one directory: the store keeps
    writers apart. Other Python threads run while the store works.

    Args:
        store: Where the files are: a directory, made if it is not there (the files are in its
            `memories` directory, in the layout of the SDK's own tool); `"sqlite:agent.db"` for an
            SQLite database; `"dir:./notes"` for the files of that very directory; `"memory:"` for a
            new store in this process; a `Store`; or several of these as a dict from where each one
            is mounted (`"/memories"`, `"/memories/team"`) to what is mounted there.
        max_view_chars: The most characters (Unicode scalar values) that one view shows. A longer
            view is cut, and its last line says how to go on. `None` lifts the limit.
        max_file_bytes: The most bytes that a command may make a file hold. A larger file that
            another program wrote can be viewed. It can be edited to be smaller if it has at most 16
            MiB. `None` lifts the limit.
        max_total_bytes: The most bytes that all files together may hold, hidden ones included.
            `None` sets no limit.
        max_files: The most files that the memory may hold, hidden ones included. `None` sets no
            limit.
        max_image_bytes: The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an
            image. Claude accepts at most 3,932,160. `None` shows no images.
        on_existing: What `create` does if the file already exists: `"error"` refuses, `"overwrite"`
            replaces the whole content atomically.
        read_only: The memory can be viewed but not changed. The directory or database must exist.
            Nothing is made in a directory.
        read_only_paths: Patterns of paths that no command may change, such as
            `"/memories/handbook"`, with everything below them. They take precedence over
            `writable_paths`.
        writable_paths: Patterns of the only paths that commands may change, with everything below
            them. An empty list allows no changes. `None` sets no limit.
        stale_guard: Refuses an edit that is based on an outdated view. `"on"` guards `insert` into
            files that this session of the memory has shown or written. `"strict"` also guards
            `str_replace`, and requires a view first.
        sensitive_text: What happens to keys, tokens, passwords and payment cards in text that a
            command would write: `"off"` does nothing, `"reject"` refuses the command, `"redact"`
            writes `[REDACTED:rule]` in their place.
        sensitive_rules: Your own rules, in addition to the built-in ones: patterns in the syntax of
            Rust's `regex-lite`, without look-around and back-references. A dict: patterns by their
            ids.
        sensitive_on_view: Views show `[REDACTED:rule]` in the place of sensitive text. The file is
            not changed. Such a view reads the whole file into memory.
        expire_after: Before its first command, the memory removes files that were not used for this
            long. Must be more than 0. The store must keep times of access. Seconds, or a
            `timedelta`.
        record_access: Records each view and each rename of a file as a use of it. That costs a
            write. `expire_after` turns it on. `expire()` needs it.
        never_expire: Patterns of files that never expire, such as `"/memories/handbook"`, with
            everything below them.
        history: Records every change before it is made, so that it can be seen and taken back.
        history_max_age: Versions that are older are removed, except the last ten of a file that is
            there. `None` keeps them however old they are. Seconds, or a `timedelta`.
        history_max_versions: The most versions that are kept of a file, at least ten if it is
            there. `None` sets no limit.
        history_max_bytes: About how many bytes the history may hold: beyond it the oldest versions
            are removed, except the last ten of a file that is there. `None` sets no limit.
        actor: Who makes the changes of this memory, for its history: a session, a user, the id of a
            tool call. Any text of your program, never of a model. `acting_as` begins a session with
            another one.
        before: Called with each command before the store is touched. It allows the command,
            replaces its text, or denies it. The hook gets a mapping with `command` and its fields;
            paths are validated and canonical. It returns `None` to allow the command, or a dict
            with the new `file_text`, `new_str` or `insert_text`. It raises `Deny` with a sentence
            for the model to deny the command. If it raises anything else, the command is not
            executed, and the model reads only that it could not be checked. A hook with a parameter
            `call` also gets a `HookCall`: who acts, and what the command would change.
            `AsyncMemory` also takes a coroutine function.
        after: Called after each call with its outcome. The hook gets an `Event`. An exception that
            it raises goes to the logger `memdir`. Commands that a hook issues itself run without
            hooks.
        event_content: The events that `after` gets contain the reply's text.
        durability: What an acknowledged command survives: `"full"` a loss of power, `"relaxed"`
            only a crash of the process. Object storage is always durable.
        lock_timeout: How long a change waits for other writers of the same store (local directory,
            SQLite, PostgreSQL). After that the command is refused, and nothing was changed. `None`
            waits without limit. Seconds, or a `timedelta`.
        namespace: Selects one of several memories in one PostgreSQL database or one bucket. Any
            text, such as a user's name. `None` selects the one that the address names. Never put a
            value that is not your own into an address. On every other store it is an error.
        encryption_key: Encrypts everything that the store keeps. A store is encrypted from its
            creation or not at all. 32 bytes; as a str, `"hex:…"` or `"base64:…"` for those, or else
            a passphrase.
        encrypt_names: Also encrypts the names in a store that is made with a key. An existing store
            stays as it was made.

    Raises:
        ConfigError: The address or an option is wrong.
        StoreError: The store cannot be opened.

    >>> from memdir import Memory
    >>> memory = Memory("memory:")
    >>> memory.create("/memories/notes.md", "- likes tea\\n")
    'File created successfully at: /memories/notes.md'
    >>> print(memory.view("/memories/notes.md"))
    Here's the content of /memories/notes.md with line numbers:
         1\t- likes tea
    >>> content, is_error = memory.execute({"command": "view", "path": "/etc/passwd"})
    >>> content, is_error
    ('Path must start with /memories, got: /etc/passwd', True)
    """
    def __enter__(self, /) -> Self: ...
    def __exit__(self, kind: Any, raised: Any, traceback: Any, /) -> None: ...
    @overload
    def __new__(cls, /, store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly] = ..., *, max_view_chars: int | None = 16000, max_file_bytes: int | None = 16777216, max_total_bytes: int | None = None, max_files: int | None = None, max_image_bytes: None, on_existing: Literal["error", "overwrite"] = 'error', read_only: bool = False, read_only_paths: Sequence[str] = (), writable_paths: Sequence[str] | None = None, stale_guard: Literal["off", "on", "strict"] = 'off', sensitive_text: Literal["off", "reject", "redact"] = 'off', sensitive_rules: dict[str, str] = {}, sensitive_on_view: bool = False, expire_after: float | timedelta | None = None, record_access: bool = False, never_expire: Sequence[str] = (), history: bool = False, history_max_age: float | timedelta | None = 2592000.0, history_max_versions: int | None = None, history_max_bytes: int | None = None, actor: str | None = None, before: Callable[[Mapping[str, Any]], Mapping[str, object] | None] | BeforeWithCall | None = None, after: Callable[[Event], object] | None = None, event_content: bool = False, durability: Literal["full", "relaxed"] = 'full', lock_timeout: float | timedelta | None = 10.0, namespace: str | None = None, encryption_key: bytes | str | None = None, encrypt_names: bool = False) -> Memory[str]: ...
    @overload
    def __new__(cls, /, store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly] = ..., *, max_view_chars: int | None = 16000, max_file_bytes: int | None = 16777216, max_total_bytes: int | None = None, max_files: int | None = None, max_image_bytes: int | None = 3932160, on_existing: Literal["error", "overwrite"] = 'error', read_only: bool = False, read_only_paths: Sequence[str] = (), writable_paths: Sequence[str] | None = None, stale_guard: Literal["off", "on", "strict"] = 'off', sensitive_text: Literal["off", "reject", "redact"] = 'off', sensitive_rules: dict[str, str] = {}, sensitive_on_view: bool = False, expire_after: float | timedelta | None = None, record_access: bool = False, never_expire: Sequence[str] = (), history: bool = False, history_max_age: float | timedelta | None = 2592000.0, history_max_versions: int | None = None, history_max_bytes: int | None = None, actor: str | None = None, before: Callable[[Mapping[str, Any]], Mapping[str, object] | None] | BeforeWithCall | None = None, after: Callable[[Event], object] | None = None, event_content: bool = False, durability: Literal["full", "relaxed"] = 'full', lock_timeout: float | timedelta | None = 10.0, namespace: str | None = None, encryption_key: bytes | str | None = None, encrypt_names: bool = False) -> Memory[str | builtins.list[ImageBlock]]: ...
    def __repr__(self, /) -> str: ...
    def acting_as(self, /, actor: str) -> Self:
        """
        A session of the same memory, for a conversation of its own: its changes are recorded as
        this actor's, such as an agent or a user, and with `stale_guard` only what it was shown itself
        counts. Everything else is shared; each of the two is closed by itself. It replaces the option
        `actor`.

        Args:
            actor: Any text of your program, never of a model.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", history=True)
        >>> memory.acting_as("session 1").write("/memories/tea.md", "green\\n")
        >>> [(version.operation, version.actor) for version in memory.history()]
        [('created', 'session 1')]
        """
    def blame(self, /, path: str) -> builtins.list[BlamedLine]:
        """
        For each line of a file as it is now, the version that brought it, its actor and its time. A line
        that was removed and brought back is of the version that brought it back. It stays what it is when
        its file is renamed.

        Args:
            path: The path of the file.

        Raises:
            HistoryError: No file is there (`kind` is `"no_file"`), it is not UTF-8 (`"not_text"`), or the
                memory has no history.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", history=True)
        >>> memory.acting_as("Ann").write("/memories/tea.md", "green\\n")
        >>> memory.acting_as("Ben").write("/memories/tea.md", "green\\nblack\\n")
        >>> [(line.actor, line.text) for line in memory.blame("/memories/tea.md")]
        [('Ann', 'green'), ('Ben', 'black')]
        """
    def bootstrap(self, /, *, about: str, features: Sequence[str], init: str = "") -> builtins.list[str]:
        """
        Lays out the files with which a project of several sessions begins: `progress.md`, `features.md`
        and `init.md`. A file that is there already stays as it is. The model cannot call this.

        Args:
            about: What the project is about, in a line or a paragraph.
            features: The features to build, one after the other.
            init: How the project is set up and started, such as a command.

        Returns:
            The paths of the files that were made.

        Raises:
            RefusedError: A policy forbids it. Files that were made stay.
            StoreError: The store itself failed.
        """
    def clear(self, /) -> str:
        """
        Deletes everything below `/memories`. The model cannot call this. With a history, all contents stay
        in the history; `erase` removes it, too.

        Raises:
            StoreError: The store itself failed.
        """
    def close(self, /) -> None:
        """
        Closes the memory: what it has open is closed if nobody else uses it, and every further call raises a
        `ValueError`. Calls that are under way come to their end. A memory that is not closed is so at the latest when it
        is collected; a `with` statement closes it at its end.
        """
    def create(self, /, path: str, file_text: str) -> str:
        """
        Makes a new file and its missing parents.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
    def delete(self, /, path: str) -> str:
        """
        Deletes a file, or a directory with everything in it.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
    def diff(self, /, id: str, other: str | None = None) -> str:
        """
        A unified diff from one version to another; empty if nothing differs.

        Args:
            id: The id of a version.
            other: The id of another one. Without it: what the change of the version did to the file.

        Raises:
            HistoryError: As `read_version`; but a file that is not there counts as empty.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", history=True)
        >>> memory.write("/memories/tea.md", "green\\n")
        >>> memory.write("/memories/tea.md", "black\\n")
        >>> print(memory.diff(memory.history()[0].id), end="")
        --- /memories/tea.md
        +++ /memories/tea.md
        @@ -1 +1 @@
        -green
        +black
        """
    @property
    def directory(self, /) -> Path | None:
        """
        The directory on this machine that contains the files; `None` if they are kept elsewhere.
        """
    def erase(self, /, *, dry_run: bool = False) -> Erased:
        """
        Removes everything for good: files, directories, the whole history, and what killed processes left.
        The model cannot call this.

        It works whether or not the memory has the option `history`, is not recorded, and cannot be undone.
        Mounted stores that are read-only stay as they are. Afterwards the memory goes on as an empty one,
        also for other processes. If it fails or is killed, a second call does the rest. What memdir cannot
        reach stays: backups, and what a disk or a server keeps of deleted data.

        Args:
            dry_run: Only count what would be removed.

        Returns:
            How much was removed, or would be.

        Raises:
            RefusedError: The memory is read-only.
            StoreError: The store itself failed.
        """
    def execute(self, input: Any, /) -> Reply:
        """
        Executes one tool call.

        Args:
            input: The call's input: a dict, its JSON text, or one of the SDK's command models.

        Returns:
            The reply for the model. Never an exception: a model's mistake is a reply with
            `is_error`, and so is a broken store (its `cause` has the details for you).
        """
    def exists(self, /, path: str) -> bool:
        """
        Whether there is a file or a directory.

        Raises:
            RefusedError: It is not a path under `/memories`.
            StoreError: The store itself failed.
        """
    def expire(self, /, older_than: float | timedelta, *, dry_run: bool = False, on_progress: Callable[[ExpiryProgress], object] | None = None) -> builtins.list[Expired]:
        """
        Removes the files that nobody used for `older_than`. The model cannot call this.

        A file is used when it is changed, and when it is viewed or renamed through a memory with
        `record_access`. These stay: directories, files that match `never_expire`, files that no
        command may delete, and files that are used meanwhile.

        Args:
            older_than: For how long a file was not used: seconds, or a `timedelta`.
            dry_run: Only return the files that would be removed.
            on_progress: Called after every 1,000 files and at the end. An exception that it raises
                stops the removal; files that are already removed stay removed.

        Returns:
            The files that were removed, or would be, in the order of the paths.

        Raises:
            ConfigError: Accesses are not recorded, the store does not keep them, or it is read-only.
            StoreError: The store itself failed. Files that are already removed stay removed.
        """
    def export_history(self, /) -> bytes:
        """
        The history as a stream for `git fast-import`, as a whole: a commit for each change, with its actor
        as the author, on the branch `main`. The same history always gives the same commits. A content
        that was removed from the history is replaced by a text that says so.

        Raises:
            HistoryError: The memory has no history.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", history=True, actor="ann")
        >>> memory.write("/memories/tea.md", "green\\n")
        >>> b"committer ann <>" in memory.export_history()
        True
        """
    def files_at(self, /, at: datetime) -> builtins.list[PastFile]:
        """
        The files that there were at a time, in the order of their paths. A file that nobody changed since
        the history is kept is among them as it is now, if it was last written before that time.

        Args:
            at: A `datetime` with a time zone.

        Raises:
            HistoryError: The history does not reach back so far (`kind` is `"trimmed"`), or the memory has
                none.
            StoreError: The store itself failed.
        """
    def find_sensitive(self, /, path: str = "/memories", *, limit: SupportsIndex = 100) -> builtins.list[SensitiveMatch]:
        """
        Finds sensitive text with the built-in rules and those of `sensitive_rules`, in names and lines, in
        the order of the paths and lines. The text itself is not returned. Whether commands may write such
        text does not matter here.

        Args:
            path: A directory, with everything below it, or a file.
            limit: The most matches to return.

        Raises:
            ConfigError: `limit` is wrong.
            RefusedError: Nothing is at `path`.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:")
        >>> memory.write("/memories/db.md", "url: postgres://app:t7Kq-9zLw2@db/app\\n")
        >>> memory.find_sensitive()
        [SensitiveMatch(path='/memories/db.md', line=1, rule='url-password')]
        """
    def forget_views(self, /) -> None:
        """
        Makes the stale guard refuse edits of every file that the model has seen, until it views the file
        again. Call it when the conversation was compacted, of which the guard cannot know. Not after
        context editing that spares the memory's results.
        """
    def grep(self, /, query: str, *, regex: bool = False, ignore_case: bool = False, path: str = "/memories", limit: SupportsIndex = 100) -> builtins.list[GrepMatch]:
        """
        Finds names of files and directories, and lines of files, in the order of the paths and lines.
        Hidden entries and files that are not text are left out. With `sensitive_on_view` it searches
        what a view would show.

        Args:
            query: The text to find, or a pattern.
            regex: `query` is a regular expression, in the syntax of Rust's `regex-lite` (no
                look-around and no back-references; linear time). `^` and `$` are the ends of a line.
            ignore_case: Upper and lower case are the same; in a pattern, those of ASCII letters.
            path: A directory, with everything below it, or a file.
            limit: The most matches to return.

        Raises:
            ConfigError: The pattern or `limit` is wrong.
            RefusedError: Nothing is at `path`.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:")
        >>> memory.write("/memories/drinks.md", "# Drinks\\n- green tea\\n")
        >>> memory.grep("tea")
        [GrepMatch(path='/memories/drinks.md', line=2, text='- green tea')]
        """
    def grep_history(self, /, query: str, path: str = "/memories", *, regex: bool = False, ignore_case: bool = False, limit: SupportsIndex = 100) -> builtins.list[HistoryMatch]:
        """
        Finds names and lines that are in the history, and that the files do not have any more: newest
        first, each with the newest version that has it. With `sensitive_on_view` it searches what a view
        would show.

        Args:
            query: The text to find, or a pattern.
            path: What is or was there, and below it.
            regex: `query` is a regular expression, as for `grep`.
            ignore_case: Upper and lower case are the same, as for `grep`.
            limit: The most matches to return.

        Raises:
            ConfigError: The pattern or `limit` is wrong.
            HistoryError: The memory has no history, or the path is none.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", history=True)
        >>> memory.write("/memories/tea.md", "green\\n")
        >>> memory.write("/memories/tea.md", "black\\n")
        >>> [(match.line, match.text) for match in memory.grep_history("green")]
        [(1, 'green')]
        """
    def history(self, /, path: str | None = None, *, limit: SupportsIndex | None = None, before: str | None = None, actor: str | None = None, change: str | None = None, since: datetime | None = None) -> builtins.list[Version]:
        """
        The versions of files that changes made, newest first. The memory must be opened with
        `history=True`.

        Args:
            path: A file or a directory, also one that is not there any more: versions of what is or
                was there, and the earlier versions of files that were moved there. `None` for
                everything.
            limit: The most versions to return; `None` for all.
            before: The id of a version: only those before it. With the last one of a page this is the
                next page.
            actor: Only what this actor changed.
            change: Only the versions of this change.
            since: A `datetime` with a time zone: only what was changed then or later.

        Raises:
            ConfigError: `limit` is wrong.
            HistoryError: The memory has no history, the path is none, or an id is none.
            StoreError: The store itself failed.
        """
    def index(self, /, max_chars: SupportsIndex = 2000) -> str:
        """
        A table of contents for a system prompt: a line for each file with its path, its size and its
        first line. Files that match `never_expire` come first, then what was written last. If not all
        fit, the last line says how many are left out.

        Args:
            max_chars: The most characters of the text.

        Raises:
            ConfigError: `max_chars` is wrong.
            StoreError: The store itself failed.
        """
    def insert(self, /, path: str, insert_line: SupportsIndex, insert_text: str) -> str:
        """
        Inserts `insert_text` as whole lines after line `insert_line`; 0 is the file's start.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
    def list(self, /, path: str = "/memories", *, depth: SupportsIndex | None = 1) -> Sequence[Entry]:
        """
        The entries below a directory, in the order of their paths, without hidden ones and what is
        below them. Of a file: the file itself.

        Args:
            path: The directory.
            depth: How many levels; `None` for all.

        Raises:
            ConfigError: `depth` is wrong.
            RefusedError: Nothing is there.
            StoreError: The store itself failed.
        """
    def read(self, /, path: str) -> str:
        """
        The text of a file, as it is: also what views hide (`sensitive_on_view`). It does not count as
        a use of the file. The model cannot call this.

        Raises:
            RefusedError: There is no such file, or it is not text.
            StoreError: The store itself failed.
        """
    def read_at(self, /, path: str, at: datetime) -> bytes | None:
        """
        What a file held at a time; `None` if there was no file.

        Args:
            path: The path that the file had then.
            at: A `datetime` with a time zone.

        Raises:
            HistoryError: As `files_at` and `read_version`.
            StoreError: The store itself failed.
        """
    def read_shown(self, /, path: str) -> str:
        """
        The text of a file as a model may see it: redacted if views are (`sensitive_on_view`), and without
        line numbers. It counts as a use of the file, as a view does. For giving a file to a model other
        than by `view`.

        Raises:
            RefusedError: There is no such file, it is not text, or it is too large to be shown.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", sensitive_on_view=True)
        >>> memory.write("/memories/db.md", "url: postgres://app:t7Kq-9zLw2@db/app\\n")
        >>> memory.read_shown("/memories/db.md")
        'url: postgres://app:[REDACTED:url-password]@db/app\\n'
        """
    def read_version(self, /, id: str) -> bytes:
        """
        The content of a version.

        Args:
            id: The id of the version.

        Raises:
            HistoryError: There is no such version, or it has no content: it is a deletion, was
                redacted, or its records are damaged.
            StoreError: The store itself failed.
        """
    def redact(self, /, id: str, reason: str) -> str | None:
        """
        Removes the content of a version from the history for good, wherever the history has it. The
        version stays, with the reason.

        Args:
            id: The id of a version. With the id of a change, the contents of all its versions.
            reason: Why, for whoever asks for the content later.

        Returns:
            The id of the change; `None` if nothing was left to remove.

        Raises:
            HistoryError: A file holds this content now (`kind` is `"is_current"`); or as
                `read_version`.
            StoreError: The store itself failed.
        """
    def redact_text(self, /, query: str, reason: str, *, regex: bool = False, ignore_case: bool = False, dry_run: bool = False) -> RedactedText:
        """
        Removes every content with a text from the history for good, as `redact` does, in whatever version
        of whatever file: a text anywhere in the content, a regular expression in a line. The text goes from
        names as well, unless a file or directory has them now; names of actors stay. It computes every content.

        Args:
            query: The text to remove, or a pattern.
            reason: Why, for a reader who looks for the content later.
            regex: `query` is a regular expression, as for `grep`.
            ignore_case: Upper and lower case are the same, as for `grep`.
            dry_run: Only return what would be done, and which files have the text now.

        Raises:
            ConfigError: The pattern is wrong.
            HistoryError: Files have the text now (`kind` is `"is_current"`, and `paths` are the files); the
                memory has no history, or is read-only.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", history=True)
        >>> memory.write("/memories/db.md", "password: hunter2\\n")
        >>> memory.write("/memories/db.md", "password: in the vault\\n")
        >>> redacted = memory.redact_text("hunter2", "a password")
        >>> len(redacted.versions), redacted.current
        (1, ())
        """
    def rename(self, /, old_path: str, new_path: str) -> str:
        """
        Renames or moves a file or directory; never overwrites.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
    def resolve_id(self, /, part: str) -> str:
        """
        The id of the version or of the change that a person means by a part of it: its beginning or its
        end. Dashes and the case of letters do not matter.

        Args:
            part: At least 6 digits of the id, or all of it.

        Raises:
            HistoryError: Several have this part (`kind` is `"ambiguous"`), none has it (`"unknown"`), it is
                no part of an id (`"no_id"`), or the memory has no history.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", history=True)
        >>> memory.write("/memories/tea.md", "green\\n")
        >>> id = memory.history()[0].id
        >>> memory.resolve_id(id[-12:]) == id
        True
        """
    def restore(self, /, id: str, *, overwrite: bool = False) -> Restored:
        """
        Writes the content of a version back, as a new version. A deleted file is made again where it
        was. No policy applies: your own code brings back what was there.

        Args:
            id: The id of a version. For a deleted file that of the deletion, or an earlier one. With
                the id of a change, all files of that change are brought back, such as those of a
                deleted directory.
            overwrite: Also write over what was changed since.

        Raises:
            HistoryError: As `read_version`; a file is there with another content (`kind` is
                `"conflict"`); the memory is read-only; or the store failed in the middle (`"partly"`).
            StoreError: The store itself failed.
        """
    def restore_all(self, /, at: datetime, *, dry_run: bool = False) -> Restored:
        """
        Makes every file what it was at a time, whatever was changed since. Files of which the history
        knows nothing stay.

        Args:
            at: A `datetime` with a time zone.
            dry_run: Only return what would be done.

        Raises:
            HistoryError: The history does not reach back so far (`kind` is `"trimmed"`); or as
                `restore`.
            StoreError: The store itself failed.
        """
    def stats(self, /) -> Stats:
        """
        How much the memory holds: files, bytes, the largest file, the oldest one. Hidden files count, as
        they do for the limits.

        Raises:
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:")
        >>> memory.write("/memories/tea/green.md", "sencha\\n")
        >>> stats = memory.stats()
        >>> stats.files, stats.largest
        (1, SizedPath(path='/memories/tea/green.md', bytes=7))
        """
    def str_replace(self, /, path: str, old_str: str, new_str: str | None = None) -> str:
        """
        Replaces the only occurrence of `old_str` in a file by `new_str`; an empty one, or `None`, deletes it.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
    def tool_definition(self, /, dialect: Literal["json-schema", "openai", "openai-chat", "anthropic-custom", "gemini"] = "json-schema") -> dict[str, object]:
        """
        The tool for a model host that does not know Anthropic's: one tool named `memory`, whose calls
        `execute` carries out. If the memory is read-only, its only command is `view`.

        Args:
            dialect: `"json-schema"` (`name`, `description`, `parameters`), `"openai"` (Responses API),
                `"openai-chat"` (Chat Completions API), `"anthropic-custom"`, or `"gemini"`.

        Raises:
            ConfigError: There is no such dialect.
        """
    def tool_definitions(self, /, dialect: Literal["json-schema", "openai", "openai-chat", "anthropic-custom", "gemini"] = "json-schema", *, prefix: str = "") -> Sequence[dict[str, object]]:
        """
        A tool for each command, named `prefix` and the command's name. Carry out a call of
        `memory_view` with `memory.execute({"command": "view", **arguments})`.

        Args:
            dialect: As for `tool_definition`.
            prefix: At most 32 ASCII letters, digits, `_` and `-`.

        Raises:
            ConfigError: There is no such dialect, or the prefix is wrong.
        """
    def trim_history(self, /) -> int:
        """
        Removes the versions that the options keep no longer, and returns how many records of changes
        that were. It is also done now and then after a change.

        Raises:
            HistoryError: The memory has no history, or is read-only.
            StoreError: The store itself failed.
        """
    def undo(self, /, change: str | None = None, *, since: datetime | None = None, actor: str | None = None, dry_run: bool = False, skip_conflicts: bool = False, merge: bool = False) -> Restored:
        """
        Takes changes back: every file becomes what it was before. If later changes of the same files
        depend on them, nothing is changed, unless `skip_conflicts` or `merge` says otherwise.

        Args:
            change: The id of one change, or of a version: the whole change that made it.
            since: Or a `datetime` with a time zone: all changes that were made then or later.
            actor: With `since`: only the changes of this actor.
            dry_run: Only return what would be done.
            skip_conflicts: Leave out the files that cannot be undone because of a conflict, and undo the
                rest. `skipped` of the result lists them.
            merge: Keep later changes of other lines. Where a file was changed since, the lines of the
                undone change become what they were, if no later change touches them or a line beside them.

        Raises:
            HistoryError: Later changes depend on it (`kind` is `"conflict"`, and `conflicts` name the
                files and these changes); what was before is no longer kept (`"trimmed"`); or as `restore`.
            ConfigError: Not exactly one of `change` and `since` is given, or `actor` without `since`.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", history=True)
        >>> memory.write("/memories/tea.md", "green\\n")
        >>> memory.write("/memories/tea.md", "black\\n")
        >>> [(file.operation, file.path) for file in memory.undo(memory.history()[0].change).files]
        [('modified', '/memories/tea.md')]
        >>> memory.read("/memories/tea.md")
        'green\\n'
        """
    def view(self, /, path: str, view_range: SupportsLenAndGetItem[SupportsIndex] | None = None) -> ViewT_co:
        """
        Shows a directory two levels deep, the numbered lines of a file, or an image.

        Args:
            path: The path to show.
            view_range: The first and the last line to show, counted from 1; a last line of -1 is the
                end of the file. All lines if absent.

        Returns:
            Text, or a list with an image block for the Messages API.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
    def watch(self, /, path: str = "/memories", *, every: float | timedelta | None = None) -> Watch:
        """
        Begins to watch the files at `path` and below it, for changes by anybody: by this process, by other
        ones, and by what writes to the store directly. Iterate over the result, or call its `changes`.

        What this process changes is seen at once. For the rest it looks at the store again and again, in
        any case less often if a look takes long. The watch keeps the store open until it is closed itself.

        Args:
            path: A directory, with everything below it, or a file. Nothing needs to be there yet.
            every: How often it looks: seconds, or a `timedelta`. `None`: twice a second, and once a second
                if the store is on another machine.

        Raises:
            RefusedError: It is not a path under `/memories`.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:")
        >>> with memory.watch() as watch:
        ...     memory.write("/memories/todo.md", "- buy tea\\n")
        ...     for change in watch:
        ...         print(change)
        ...         break
        Change(kind='written', path='/memories/todo.md', old_path=None)
        """
    def write(self, /, path: str, text: str, *, if_unchanged: str | None = None) -> None:
        """
        Writes a file as a whole: it is made, with its parents, or replaced. The model cannot call
        this, but the policies are those of its commands. The stale guard then asks the model to view
        the file again.

        Args:
            path: The path of the file.
            text: Its new content.
            if_unchanged: The text that `read` returned: the file is only replaced if it still holds
                it. `None` replaces it in any case.

        Raises:
            RefusedError: A policy forbids it, or the file does not hold `if_unchanged`. Nothing was
                changed.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:")
        >>> memory.write("/memories/todo.md", "- buy tea\\n")
        >>> text = memory.read("/memories/todo.md")
        >>> memory.write("/memories/todo.md", text + "- drink it\\n", if_unchanged=text)
        """

@final
class NativeStore:
    """
    A store that comes with memdir, as `open_store` opens it. Its methods are those of `Store`.
    """
    def clear(self, /) -> None:
        """
        Deletes everything below the root.
        """
    def delete(self, /, path: str) -> None:
        """
        Deletes a file, or a directory with everything in it.
        """
    def delete_unused(self, /, path: str, since: datetime) -> bool:
        """
        Deletes a file if it was neither written nor accessed at `since` or later; returns whether it did.
        """
    def folds_case(self, /) -> bool:
        """
        Whether the store takes names for the same that differ only in case or in how letters are composed.
        """
    def list(self, /, path: str) -> Sequence[Entry]:
        """
        The entries of a directory, one level deep.
        """
    def modified(self, /, path: str) -> datetime | None:
        """
        When a file was last written; `None` if the store keeps no times.
        """
    def open(self, /, path: str, depth: SupportsIndex) -> bytes | Sequence[Entry]:
        """
        A file's content, or a directory's visible entries `depth` levels deep.
        """
    def read(self, /, path: str) -> bytes:
        """
        The whole content of a file.
        """
    def record_access(self, /, path: str, time: datetime) -> None:
        """
        Records that a file was accessed at `time`.
        """
    def rename(self, /, old: str, new: str) -> None:
        """
        Moves a file or directory, and makes missing parents. Never overwrites.
        """
    def set_modified(self, /, path: str, time: datetime) -> None:
        """
        Sets when a file was last written.
        """
    def tracks_access(self, /) -> bool:
        """
        Whether the store keeps times of access.
        """
    def update(self, /, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        """
        Changes a file while no other writer can come between.
        """
    def write(self, /, path: str, content: bytes, overwrite: bool = False) -> None:
        """
        Writes a whole file, and makes missing parents.
        """

@final
class PendingCall:
    """
    A call that is decoded and validated. It is finished once, by `finish`, `cancel` or `fail`, and has its reply then. The memory
    counts it as under way until `end`.
    """
    def answer(self, /) -> tuple[str | builtins.list[ImageBlock], bool, MemdirError | None]:
        """
        The reply as content, `is_error` and cause.
        """
    def ask(self, /, before: Any, takes_call: bool) -> object | None:
        """
        What `before`, called on the thread of this call, returns; `None` if it is not asked.
        """
    def cancel(self, /) -> Event | None:
        """
        Gives the call up, unless a thread has it: nothing is changed. Returns the event for `after`, or `None`.
        """
    @property
    def command(self, /) -> Mapping[str, object] | None:
        """
        The command for `before`; `None` if it is not asked.
        """
    def content(self, /) -> str | builtins.list[ImageBlock]:
        """
        What the method of the command returns.

        Raises:
            RefusedError: The command was refused.
            StoreError: The store failed.
            HookError: The hook `before` failed.
        """
    def end(self, /) -> None:
        """
        The memory counts the call as under way no longer.
        """
    @property
    def event(self, /) -> Event | None:
        """
        The event for `after`, once the call is finished.
        """
    def fail(self, /, raised: Any) -> Event | None:
        """
        Ends the call because of an exception outside the store, such as that there is no thread. Returns the event for `after`, or
        `None`.
        """
    def finish(self, /, returned: object, raised: object) -> Event | None:
        """
        Executes the command, if `before` allows it by what it returned or raised. Returns the event for `after`; `None` if the
        call was cancelled meanwhile.
        """
    @property
    def hook_call(self, /) -> HookCall | None:
        """
        What `before` may know of the call; `None` if it is not asked.
        """
    @property
    def is_view(self, /) -> bool:
        """
        Whether it changes nothing: a view, or a call that is already refused.
        """
    def reply(self, /) -> Reply:
        """
        What `Memory.execute` returns.
        """

@final
class ReadOnly:
    """
    The result of `read_only`. Use it in the place of a store.
    """
    def __repr__(self, /) -> str: ...

@final
class Watch:
    """
    Tells what is changed in a memory; `Memory.watch` begins it.

    Iterating over it waits for the next change, and ends when the watch is closed. Ctrl-C ends the waiting. Many threads
    may use one watch: each change is told to one of them.
    """
    def __enter__(self, /) -> Watch: ...
    def __exit__(self, kind: Any, raised: Any, traceback: Any, /) -> None: ...
    def __iter__(self, /) -> Watch: ...
    def __next__(self, /) -> Change: ...
    def changes(self, /, wait: float | timedelta) -> builtins.list[Change]:
        """
        What was changed since the last call, or since the watch began, in the order of the paths. If that is nothing, it
        waits for a change.

        A rename is told as a file that is deleted and one that is written; a directory as its files. What is changed and
        changed back between two looks is not told.

        Args:
            wait: For how long it waits at most: seconds, or a `timedelta`. With 0 it looks once.

        Raises:
            StoreError: The store itself failed. The next call tells what this one could not.
            ValueError: The watch is closed.
        """
    def close(self, /) -> None:
        """
        Ends the watch. Who iterates over it comes to the end. Closing it again does nothing.
        """

def after_fork_in_child() -> None:
    """
    Prepares the child.
    """

def after_fork_in_parent() -> None:
    """
    Lets the other threads continue.
    """

def answer(memory: Memory, input: Any, command: str | None = None) -> tuple[str | builtins.list[ImageBlock], bool, MemdirError | None]:
    """
    The reply to `input` as content, `is_error` and cause. A text is not parsed as JSON. With
    `command`, the input's own `command` is ignored.
    """

def answer_nowait(memory: Memory, input: Any, command: str | None = None) -> tuple[str | builtins.list[ImageBlock], bool, MemdirError | None] | None:
    """
    As [`answer`], if it is at hand.
    """

def before_exit() -> None:
    """
    Lets no other thread from the core into Python from now on: neither to stores and hooks nor to the
    logger.
    """

def before_fork() -> None:
    """
    Waits until no other thread is in the middle of a command that a forked child could not survive.
    """

def begin(memory: Memory, input: Any, command: str | None = None) -> PendingCall:
    """
    Begins what `answer` does.
    """

def begin_command(memory: Memory, command: str, *, path: str | None = None, view_range: SupportsLenAndGetItem[SupportsIndex] | None = None, file_text: str | None = None, old_str: str | None = None, new_str: str | None = None, insert_line: SupportsIndex | None = None, insert_text: str | None = None, old_path: str | None = None, new_path: str | None = None) -> PendingCall:
    """
    Begins what the method of `Memory` with the name `command` does, with its arguments.
    """

def begin_execute(memory: Memory, input: Any) -> PendingCall:
    """
    Begins what `Memory.execute` does.
    """

def check(store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly]) -> Checked:
    """
    Checks a store and its history: inspects the store's structures, reads every file, reads every record of the
    history and computes every version. Changes nothing. Others may use the store meanwhile.

    A store that fails in the middle is a problem, too: what was found before is kept.

    Args:
        store: The store, or its address. It must exist.

    Raises:
        StoreError: The store cannot be opened, or it fails before anything was read or found.
        ConfigError: The address is wrong.

    >>> from memdir import check
    >>> check("memory:")
    Checked(directories=1, files=0, bytes=0, versions=None, problems=())
    """

def check_contract(factory: Callable[[], Store]) -> str | None:
    """
    The first rule of the contract that the stores of `factory` break; `None` if they keep all.
    """

def context_management(clear_at: SupportsIndex | None, keep: SupportsIndex, clear_at_least: SupportsIndex | None, exclude_tools: Sequence[str], compact_at: SupportsIndex | None) -> dict[str, object]:
    """
    What `memdir.context_management` returns.
    """

def check_names(function: str, others: Sequence[str], options: Mapping[str, object]) -> None:
    """
    Fails for a name in `options` that is not an option of `Memory`, in the name of `function`, which has the parameters
    `others` as well.
    """

def copy(source: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly], destination: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly], *, overwrite: bool = False, durability: Literal["full", "relaxed"] = "full", on_progress: Callable[[CopyProgress], object] | None = None) -> Copied:
    """
    Copies everything from one store into another: contents, times, hidden files, empty directories.

    Nothing is ever deleted. Both stores are compared first. A file that is there already with the same
    content only gets its time. If one is there with another content, nothing is copied at all, unless
    `overwrite` is true. What is written is read back and compared. After an interruption, the same call
    does the rest.

    Args:
        source: The store to copy from, or its address; it has to be there, and is only read.
        destination: The store to copy to, or its address; a directory or database is made.
        overwrite: Whether files that have another content are replaced.
        durability: What a copied file survives: `"full"` loss of power, `"relaxed"` a crash of the
            process, which is faster for many small files.
        on_progress: Called before each file; an exception that it raises ends the copy there.

    Raises:
        CopyError: The destination holds something else.
        StoreError: A store cannot be opened, or failed. What was copied before stays.
        ConfigError: An address is wrong.

    >>> from memdir import copy, open_store
    >>> old, new = open_store("memory:"), open_store("memory:")
    >>> old.write("/memories/notes.md", b"- likes tea\\n")
    >>> copy(old, new)
    Copied(files=1, bytes=12, equal=0, directories=0, left_out=())
    >>> copy(old, new)
    Copied(files=0, bytes=0, equal=1, directories=0, left_out=())
    """

def decode(input: Any) -> dict[str, object]:
    """
    The command in `input`, repaired, as a dict with the field names of the documentation. Nothing is executed, and no hook is called.

    Raises:
        RefusedError: The input is no command.
    """

def execute_failed(memory: Memory, input: Any, raised: Any) -> Reply:
    """
    What `Memory.execute` returns if the call cannot be executed because of an exception.
    """

def execute_nowait(memory: Memory, input: Any) -> Reply | None:
    """
    What `Memory.execute` returns, if it is at hand.
    """

def fail(memory: Memory, input: Any, command: str | None, raised: Any) -> tuple[str | builtins.list[ImageBlock], bool, MemdirError | None]:
    """
    The reply to `input` if it cannot be executed because of an exception.
    """

def image_type(content: bytes) -> str | None:
    """
    The media type of a whole PNG or JPEG image: `"image/png"` or `"image/jpeg"`. `None` for anything
    else, also for an image that is cut off, which Anthropic's API refuses. A view shows a file as an
    image if this names one.

    Args:
        content: The content of a file. Pixels are not decoded.

    >>> from memdir import image_type
    >>> image_type(b"a text") is None
    True
    """

def is_coroutine_function(function: Any) -> bool:
    """
    Whether calling it gives a coroutine: an `async def`, or an object that is called by one.
    """

def is_due(watch: Watch) -> bool:
    """
    Whether `changes` of the watch would look at the store at once, for event loops that wait without a thread.
    """

def key_from_file(path: str | PathLike[str]) -> bytes:
    """
    The key in a file: 32 bytes for `encryption_key`. If nothing is at `path`, a random key is generated,
    and the file is made for it, which only its owner may read.

    If several threads or processes make the first call at the same time, all get the same key. The file
    is never overwritten. Do not lose it: without it the memory cannot be read.

    Args:
        path: The file. Its directory must exist. `~` as its first component is the home directory.

    Raises:
        ConfigError: The file does not have exactly 32 bytes, or cannot be read or made.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from memdir import Memory, key_from_file
    >>> place = Path(tempfile.mkdtemp())
    >>> memory = Memory(place / "memory", encryption_key=key_from_file(place / "memory.key"))
    >>> key_from_file(place / "memory.key") == key_from_file(place / "memory.key")
    True
    """

def listed_time(store: Store, path: str) -> datetime | None:
    """
    The default of `Store.modified`: lists the file's directory.
    """

def namespaces(address: str) -> builtins.list[Namespace]:
    """
    The memories in a PostgreSQL database, or below a prefix of object storage: those that hold something,
    sorted by their names. Each opens with its name as the option `namespace`.

    In PostgreSQL row-level security limits them to those that the user may see. In object storage a directory
    of a memory that is at the prefix itself looks like a namespace. Of an encrypted memory with encrypted
    names, the history counts among the files.

    Args:
        address: The address of the database or the prefix.

    Raises:
        ConfigError: The address is wrong, or that of another store, which is one memory.
        StoreError: The store cannot be reached, or failed.
    """

def open_async(store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly], options: Mapping[str, object]) -> Memory:
    """
    A `Memory` whose hooks may be coroutine functions: `AsyncMemory` awaits them. Calls of its own fail with such a hook.

    Raises:
        ConfigError: The address or an option is wrong.
        StoreError: The store cannot be opened.
    """

def open_store(store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly], *, read_only: bool = False, durability: Literal["full", "relaxed"] = 'full', lock_timeout: float | timedelta | None = 10.0, namespace: str | None = None, encryption_key: bytes | str | None = None, encrypt_names: bool = False) -> Store:
    """
    Opens a store by its address, to be used directly or shared by several memories.

    Args:
        store: A directory, made if it is not there, `"sqlite:agent.db"` for an SQLite database,
            `"memory:"` for a new store in this process, or whatever else `Memory` takes.
        read_only: The memory can be viewed but not changed. The directory or database must exist.
            Nothing is made in a directory.
        durability: What an acknowledged command survives: `"full"` a loss of power, `"relaxed"`
            only a crash of the process. Object storage is always durable.
        lock_timeout: How long a change waits for other writers of the same store (local directory,
            SQLite, PostgreSQL). After that the command is refused, and nothing was changed. `None`
            waits without limit. Seconds, or a `timedelta`.
        namespace: Selects one of several memories in one PostgreSQL database or one bucket. Any
            text, such as a user's name. `None` selects the one that the address names. Never put a
            value that is not your own into an address. On every other store it is an error.
        encryption_key: Encrypts everything that the store keeps. A store is encrypted from its
            creation or not at all. 32 bytes; as a str, `"hex:…"` or `"base64:…"` for those, or else
            a passphrase.
        encrypt_names: Also encrypts the names in a store that is made with a key. An existing store
            stays as it was made.

    Raises:
        ConfigError: The address or an option is wrong.
        StoreError: The store cannot be opened.

    >>> from memdir import Memory, open_store
    >>> store = open_store("memory:")
    >>> Memory(store).create("/memories/a.md", "one")
    'File created successfully at: /memories/a.md'
    >>> store.read("/memories/a.md")
    b'one'
    """

def open_whole(store: Store, path: str, depth: SupportsIndex) -> bytes | Sequence[Entry]:
    """
    The default of `Store.open`: reads the whole content, or walks through the listings.
    """

def read_only(store: str | PathLike[str] | Store | ReadOnly) -> ReadOnly:
    """
    Makes a store read-only.

    Use the result in the place of a store, usually as one of several mounted stores. A directory or
    a database must exist; nothing is made or changed in it.

    Args:
        store: A directory, an address, or a `Store`.

    >>> from memdir import Memory, read_only
    >>> memory = Memory({"/memories": "memory:", "/memories/handbook": read_only("memory:")})
    >>> memory.create("/memories/handbook/a.md", "one")
    Traceback (most recent call last):
    memdir.RefusedError: Error: /memories/handbook/a.md is read-only: it can be viewed but not changed
    """

def rekey(store: str | PathLike[str] | Store | ReadOnly, old_key: bytes | str, new_key: bytes | str) -> int:
    """
    Changes the key of an encrypted store: encrypts every file again, and then removes the old key.

    The store can be in use meanwhile: both keys open it until the end. If the change is interrupted,
    both keys still open the store; call this again to continue.

    Args:
        store: The store's address, or the `Store` that keeps the encrypted files, as it was opened
            without a key.
        old_key: The key that it has.
        new_key: The key that it gets.

    Returns:
        How many files were encrypted.

    Raises:
        ConfigError: The store is not encrypted, or the old key is wrong.
        StoreError: The store itself failed, or a file in it is damaged.

    >>> import secrets, tempfile
    >>> from memdir import Memory, rekey
    >>> directory, old, new = tempfile.mkdtemp(), secrets.token_bytes(32), secrets.token_bytes(32)
    >>> _ = Memory(directory, encryption_key=old).create("/memories/a.md", "one")
    >>> rekey(directory, old, new)
    1
    >>> print(Memory(directory, encryption_key=new).view("/memories/a.md"))
    Here's the content of /memories/a.md with line numbers:
         1\tone
    """

def run_command_line(arguments: SupportsGetItem[int, str]) -> int:
    """
    Runs one command, with the program's name as the first argument, on the standard streams of
    this process; its exit code.
    """

def submit(cancellation: Cancellation, memory: Memory | None, work: Any, deliver: Any, view: bool) -> None:
    """
    Calls `work` on a thread of those of the memory, and then `deliver` with its result and the exception that it raised; one of them is `None`.
    If the call is cancelled before it begins, both are. Nothing is waited for.

    The caller makes the cancellation before the call: an exception may be raised in it at any time, such as a `KeyboardInterrupt`,
    and then it can cancel what it does not know to be submitted.

    Raises:
        RuntimeError: The system cannot start a thread. Nothing was done.
    """

def takes_call(before: Any) -> bool:
    """
    Whether the hook `before` takes the call, too: if it has a parameter `call`.
    """

def view_nowait(memory: Memory[ViewT_co], path: str, view_range: SupportsLenAndGetItem[SupportsIndex] | None = None) -> ViewT_co | None:
    """
    What `Memory.view` returns, if it is at hand.
    """

def wait_seconds(wait: float | timedelta) -> float:
    """
    The seconds for which `AsyncWatch.changes` waits, validated as those of `Watch.changes`.
    """

def when_idle(memory: Memory, callback: Any) -> bool:
    """
    Calls `callback` once no call of the memory is under way on a thread; returns `False` if none is now, and then does not.
    """
