"""
The native half of memdir; import `memdir`.
"""

import builtins
from _typeshed import SupportsGetItem, SupportsLenAndGetItem
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from memdir._async_memory import AsyncMemory
from memdir._errors import MemdirError
from memdir._embedder import Embedder
from memdir._hooks import BeforeWithCall
from memdir._reply import ImageBlock, Reply, ViewT_co
from memdir._results import BlamedLine, Change, Checked, Copied, CopyProgress, Entry, Erased, Event, Expired, ExpiryProgress, GrepMatch, HistoryMatch, Namespace, PastFile, RedactedText, Restored, SearchResults, SensitiveMatch, Stats, SyncMerge, SyncProgress, Synced, Version
from memdir._store import Store
from os import PathLike
from pathlib import Path
from typing import Any, Final, Generic, Literal, SupportsIndex, final, overload
from typing_extensions import Self

__all__ = ["__version__", "Cancellation", "HookCall", "Memory", "NativeStore", "PendingCall", "ReadOnly", "Watch", "after_fork_in_child", "after_fork_in_parent", "answer", "answer_nowait", "answer_search", "before_exit", "before_fork", "begin", "begin_command", "begin_execute", "check", "check_contract", "check_names", "context_management", "copy", "decode", "execute_failed", "execute_nowait", "fail", "image_type", "is_coroutine_function", "is_due", "key_from_file", "listed_time", "namespaces", "open_async", "open_store", "open_whole", "read_only", "rekey", "run_command_line", "search_failed", "submit", "takes_call", "takes_is_query", "view_nowait", "wait_seconds", "when_idle"]

__version__: Final[str]

@final
class Cancellation:
    """
    Cancels a call. A call that has not begun to write is then not executed.
    """
    def __new__(cls, /) -> Cancellation: ...
    def cancel(self, /) -> None:
        """
        Cancels the call.
        """

@final
class HookCall:
    """
    Describes a call, beyond its command, to the hook `before`.

    Attributes:
        actor: The actor of `acting_as`, or else the option `actor`; `None` if neither is set.
        session: The session. Each memory has its own, and so has each result of `acting_as`.
        tool_use_id: The `id` of the `tool_use` block; `None` if the input was not a whole block.
    """
    @property
    def actor(self, /) -> str | None:
        """
        The actor of `acting_as`, or else the option `actor`; `None` if neither is set.
        """
    def diff(self, /) -> str:
        """
        Shows what the command would change, as a unified diff of the texts as they would be stored.
        Empty for a view.

        An approval applies to this diff. If its basis has changed when the command is executed, nothing
        is changed, and the model reads that it has to view the file again. Calling this reads the file,
        or lists the directory, and is not recorded as a view or as use.

        Raises:
            RefusedError: The command would be refused. If you let it pass, the command is refused with
                the same sentence.
            StoreError: The store failed.
            HookError: The hook has already returned.
        """
    @property
    def session(self, /) -> str:
        """
        The session. Each memory has its own, and so has each result of `acting_as`.
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

    It needs no SDK. `execute` takes a tool call's input as the model sent it, and never raises because
    of anything that the model sent. The methods named after the commands take plain arguments, return
    the text of the reply, and raise `RefusedError` if the command is refused.

    Many threads may use a memory concurrently, and many processes may use one directory: the store
    synchronises writers. Other Python threads run while the store works.

    Args:
        store: Where the files are. A directory is created if it does not exist; the files are in its
            `memories` directory, the layout of the SDK's own tool. Other addresses are
            `"sqlite:agent.db"` for an SQLite database, `"dir:./notes"` for the files of that very
            directory, and `"memory:"` for a new store in this process. It may also be a `Store`, or
            several of these as a dict from mount points (`"/memories"`, `"/memories/team"`) to the
            mounted stores.
        max_view_chars: The most characters (Unicode scalar values) that one view shows. A longer
            view is cut, and its last line says how to continue. `None` removes the limit.
        max_file_bytes: The most bytes that a file may have after a command. A larger file that
            another program wrote can be viewed. If it has at most 16 MiB, it can be edited to
            become smaller. `None` removes the limit.
        max_total_bytes: The most bytes that all files together may have, including hidden ones.
            `None` sets no limit.
        max_files: The most files that the memory may have, including hidden ones. `None` sets no
            limit.
        max_image_bytes: The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an
            image. Claude accepts at most 3,932,160. `None` turns images off.
        on_existing: Selects how `create` treats an existing file: `"error"` refuses, `"overwrite"`
            replaces the whole content atomically.
        read_only: The memory can be viewed but not changed. The directory or database must exist.
            Nothing is created in a directory.
        read_only_paths: Patterns of paths that no command may change, such as
            `"/memories/handbook"`, including everything below them. They take precedence over
            `writable_paths`.
        writable_paths: Patterns of the only paths that commands may change, including everything
            below them. An empty list allows no changes. `None` allows changes to all paths except
            `read_only_paths`.
        stale_guard: Refuses an edit that is based on an outdated view. `"on"` guards `insert` into
            files that this session of the memory has shown or written. `"strict"` also guards
            `str_replace`, and requires a view first.
        sensitive_text: Controls keys, tokens, passwords and payment cards in text that a command
            would write: `"off"` does nothing, `"reject"` refuses the command, `"redact"` writes
            `[REDACTED:rule]` instead of them.
        sensitive_rules: Your own rules, in addition to the built-in ones: patterns in the syntax of
            Rust's `regex-lite`, which has no look-around and no back-references. A dict: patterns
            by their ids.
        sensitive_on_view: Views show `[REDACTED:rule]` instead of sensitive text. The file is not
            changed. Such a view reads the whole file into memory.
        expire_after: Before its first command, the memory removes files that have not been used for
            this long. Must be more than 0. The store must keep times of access. Seconds, or a
            `timedelta`.
        record_access: Records each view and each rename of a file as a use of the file. Each record
            costs a write. `expire_after` turns this on. `expire()` requires it.
        never_expire: Patterns of files that never expire, such as `"/memories/handbook"`, including
            everything below them.
        history: Records every change before it is made, so changes can be listed and undone.
        history_max_age: The history removes versions that are older than this, except the last ten
            of a file that exists. `None` keeps versions of any age. Seconds, or a `timedelta`.
        history_max_versions: The maximum number of versions that are kept of each file; a file that
            exists keeps at least ten. `None` sets no limit.
        history_max_bytes: The approximate maximum size of the history in bytes; beyond it the
            oldest versions are removed, except the last ten of a file that exists. `None` sets no
            limit.
        actor: The actor of this memory's changes, for its history: a session, a user, the id of a
            tool call. Any text from your program, never from a model. `acting_as` starts a session
            with another actor.
        search_language: Selects the language of texts in Latin letters, whose endings `search`
            ignores: `"auto"` detects it for each file, `"none"` ignores no endings.
        search_max_bytes: The most bytes of memory for the index of `search`, which holds the texts
            and takes about 1.7 times their size. If not all files fit, the first search takes the
            newest, and each result says how many are left out. `None` sets no limit.
        search_keep: Keeps the index of `search` in hidden files of the store, so the first search
            of a process reads only the files that have changed. It has the texts of the files, and
            is encrypted if the store is. A store of several mounted stores keeps none.
        search_recency: Makes `search` prefer files that were written recently: the score of the
            newest file is half as large again, and a file that is older by this duration gets half
            of that bonus. Must be more than 0. `None` gives time no influence. Seconds, or a
            `timedelta`.
        embedder: Turns texts into vectors, so `search` also finds files by their meaning. It gets a
            list of texts, and returns a vector for each: a sequence of numbers, all of the same
            length. If it fails or is too slow, the answer is by words alone. A function with a
            parameter `is_query` is also told whether the text is a question. `AsyncMemory` also
            accepts a coroutine function.
        embedder_name: The name of the model behind `embedder`, with its version. It is required
            with an embedder, because a vector is kept under this name and the SHA-256 of its text.
            A new model needs a new name.
        embedder_timeout: The time that one search waits for `embedder`. After that the answer is by
            words alone, and later searches embed the rest. `None` waits without limit, as a program
            that embeds many files does. Seconds, or a `timedelta`.
        before: Called for each command before the store is touched. It allows the command, replaces
            its text, or denies it. The hook gets a mapping with `command` and its fields; paths are
            validated and canonical. It returns `None` to allow the command, or a dict with the new
            `file_text`, `new_str` or `insert_text`. It raises `Deny` with a sentence for the model
            to deny the command. If it raises anything else, the command is not executed, and the
            model reads only that it could not be checked. A hook with a parameter `call` also gets
            a `HookCall`: the actor, and the change that the command would make. `AsyncMemory` also
            accepts a coroutine function.
        after: Called after each call with its outcome. The hook gets an `Event`. An exception that
            it raises is logged to the logger `memdir`. Commands that a hook issues itself run
            without hooks.
        event_content: Includes the reply's text in the events for `after`.
        durability: The failures that an acknowledged command survives: `"full"` a loss of power,
            `"relaxed"` only a crash of the process. Object storage is always durable.
        lock_timeout: The time that a change waits for other writers of the same store (local
            directory, SQLite, PostgreSQL). After that the command is refused, and nothing is
            changed. `None` waits without limit. Seconds, or a `timedelta`.
        namespace: Selects one of several memories in one PostgreSQL database or one bucket. Any
            text, such as a user's name. `None` selects the one that the address names. Pass
            untrusted values in this option, never in an address. On every other store this option
            is an error.
        encryption_key: Encrypts everything that the store keeps. A store is encrypted from its
            creation or not at all. 32 bytes; as a str, `"hex:…"` or `"base64:…"` for those, or else
            a passphrase.
        encrypt_names: Also encrypts the names in a store that is created with a key. An existing
            store keeps its setting.

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
    def __new__(cls, /, store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly] = ..., *, max_view_chars: int | None = 16000, max_file_bytes: int | None = 16777216, max_total_bytes: int | None = None, max_files: int | None = None, max_image_bytes: None, on_existing: Literal["error", "overwrite"] = 'error', read_only: bool = False, read_only_paths: Sequence[str] = (), writable_paths: Sequence[str] | None = None, stale_guard: Literal["off", "on", "strict"] = 'off', sensitive_text: Literal["off", "reject", "redact"] = 'off', sensitive_rules: dict[str, str] = {}, sensitive_on_view: bool = False, expire_after: float | timedelta | None = None, record_access: bool = False, never_expire: Sequence[str] = (), history: bool = False, history_max_age: float | timedelta | None = 2592000.0, history_max_versions: int | None = None, history_max_bytes: int | None = None, actor: str | None = None, search_language: Literal["auto", "none", "danish", "dutch", "english", "finnish", "french", "german", "italian", "norwegian", "polish", "portuguese", "spanish", "swedish", "turkish"] = 'auto', search_max_bytes: int | None = 268435456, search_keep: bool = False, search_recency: float | timedelta | None = None, embedder: Embedder | None = None, embedder_name: str | None = None, embedder_timeout: float | timedelta | None = 10.0, before: Callable[[Mapping[str, Any]], Mapping[str, object] | None] | BeforeWithCall | None = None, after: Callable[[Event], object] | None = None, event_content: bool = False, durability: Literal["full", "relaxed"] = 'full', lock_timeout: float | timedelta | None = 10.0, namespace: str | None = None, encryption_key: bytes | str | None = None, encrypt_names: bool = False) -> Memory[str]: ...
    @overload
    def __new__(cls, /, store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly] = ..., *, max_view_chars: int | None = 16000, max_file_bytes: int | None = 16777216, max_total_bytes: int | None = None, max_files: int | None = None, max_image_bytes: int | None = 3932160, on_existing: Literal["error", "overwrite"] = 'error', read_only: bool = False, read_only_paths: Sequence[str] = (), writable_paths: Sequence[str] | None = None, stale_guard: Literal["off", "on", "strict"] = 'off', sensitive_text: Literal["off", "reject", "redact"] = 'off', sensitive_rules: dict[str, str] = {}, sensitive_on_view: bool = False, expire_after: float | timedelta | None = None, record_access: bool = False, never_expire: Sequence[str] = (), history: bool = False, history_max_age: float | timedelta | None = 2592000.0, history_max_versions: int | None = None, history_max_bytes: int | None = None, actor: str | None = None, search_language: Literal["auto", "none", "danish", "dutch", "english", "finnish", "french", "german", "italian", "norwegian", "polish", "portuguese", "spanish", "swedish", "turkish"] = 'auto', search_max_bytes: int | None = 268435456, search_keep: bool = False, search_recency: float | timedelta | None = None, embedder: Embedder | None = None, embedder_name: str | None = None, embedder_timeout: float | timedelta | None = 10.0, before: Callable[[Mapping[str, Any]], Mapping[str, object] | None] | BeforeWithCall | None = None, after: Callable[[Event], object] | None = None, event_content: bool = False, durability: Literal["full", "relaxed"] = 'full', lock_timeout: float | timedelta | None = 10.0, namespace: str | None = None, encryption_key: bytes | str | None = None, encrypt_names: bool = False) -> Memory[str | builtins.list[ImageBlock]]: ...
    def __repr__(self, /) -> str: ...
    def acting_as(self, /, actor: str) -> Self:
        """
        Returns a session of the same memory, for a conversation of its own. Its changes are recorded
        with this actor, such as an agent or a user. With `stale_guard`, only what this session was
        shown counts. Everything else is shared. Close each of the two memories separately. The actor
        replaces the option `actor`.

        Args:
            actor: Any text of your application, never of a model.

        >>> from memdir import Memory
        >>> memory = Memory("memory:", history=True)
        >>> memory.acting_as("session 1").write("/memories/tea.md", "green\\n")
        >>> [(version.operation, version.actor) for version in memory.history()]
        [('created', 'session 1')]
        """
    def blame(self, /, path: str) -> builtins.list[BlamedLine]:
        """
        Finds, for each current line of a file, the version that added it, with its actor and time. A
        line that was removed and added again belongs to the version that added it again. Renaming the
        file does not change the result.

        Args:
            path: The path of the file.

        Raises:
            HistoryError: The file does not exist (`kind` is `"no_file"`), it is not UTF-8
                (`"not_text"`), or the memory has no history.
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
        Creates the files with which a project of several sessions begins: `progress.md`, `features.md`
        and `init.md`. An existing file is not changed. The model cannot call this.

        Args:
            about: The subject of the project, in a line or a paragraph.
            features: The features to build, one after the other.
            init: How the project is set up and started, such as a command.

        Returns:
            The paths of the files that were created.

        Raises:
            RefusedError: A policy forbids it. Files that were already created stay.
            StoreError: The store itself failed.
        """
    def clear(self, /) -> str:
        """
        Deletes everything below `/memories`. The model cannot call this. With a history, the history
        keeps all contents; `erase` removes the history, too.

        Raises:
            StoreError: The store itself failed.
        """
    def close(self, /) -> None:
        """
        Closes the memory. Its store is closed if nothing else uses it. Every later call raises a
        `ValueError`, but running calls finish. A `with` statement closes the memory at its end. A
        memory that was not closed is closed when the garbage collector collects it.
        """
    def create(self, /, path: str, file_text: str) -> str:
        """
        Creates a new file and its missing parents.

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
        Makes a unified diff from one version to another; empty if there is no difference.

        Args:
            id: The id of a version.
            other: The id of another version. If absent, the diff shows what the change of the version
                did to the file.

        Raises:
            HistoryError: The same cases as for `read_version`, but a missing file counts as empty.
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
        Removes everything for good: files, directories, the whole history, and the leftovers of killed
        processes. The model cannot call this.

        It works with and without the option `history`, is not recorded, and cannot be undone. Mounted
        stores that are read-only are not changed. Afterwards the memory is empty and still usable, also
        for other processes. If the call fails or is killed, a second call removes the rest. Data that
        memdir cannot reach stays: backups, and deleted data that a disk or a server still keeps.

        Args:
            dry_run: Only count what would be removed.

        Returns:
            The amounts that were removed, or would be.

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
            The reply for the model. Nothing is raised: a model's mistake is a reply with `is_error`,
            and so is a broken store. Its `cause` has the details for you.
        """
    def execute_search(self, input: Any, /) -> Reply:
        """
        Executes one call of the search by a model, a tool beside the memory tool that
        `search_tool_definition` declares. The hooks are not called.

        Args:
            input: The call's input: a dict, its JSON text, or an object with these attributes. `query`
                is required. `path` is what to search, and `limit` the most files, 1 to 20.

        Returns:
            The reply for the model: the paths of the best files, and their best passages with the
            line numbers that a view shows. Nothing is raised, as with `execute`.

        >>> from memdir import Memory
        >>> memory = Memory("memory:")
        >>> memory.write("/memories/drinks.md", "# Drinks\\nAnna likes green tea.\\n")
        >>> print(memory.execute_search({"query": "what does Anna like?"}).content)
        /memories/drinks.md
             1\t# Drinks
             2\tAnna likes green tea.
        """
    def exists(self, /, path: str) -> bool:
        """
        Returns whether a file or a directory exists.

        Raises:
            RefusedError: It is not a path under `/memories`.
            StoreError: The store itself failed.
        """
    def expire(self, /, older_than: float | timedelta, *, dry_run: bool = False, on_progress: Callable[[ExpiryProgress], object] | None = None) -> builtins.list[Expired]:
        """
        Removes the files that were not used for `older_than`. The model cannot call this.

        Changing a file counts as use. Viewing or renaming it counts as use only through a memory with
        `record_access`. Some entries are never removed: directories, files that match `never_expire`,
        files that no command may delete, and files that are used meanwhile.

        Args:
            older_than: The time since the last use: seconds, or a `timedelta`.
            dry_run: Only return the files that would be removed.
            on_progress: Called after every 1,000 files and at the end. An exception that it raises
                stops the removal; files that are already removed stay removed.

        Returns:
            The files that were removed, or would be, in the order of the paths.

        Raises:
            ConfigError: The memory does not record accesses, or the store does not keep them, or it is
                read-only.
            StoreError: The store itself failed. Files that are already removed stay removed.
        """
    def export_history(self, /) -> bytes:
        """
        Exports the whole history as a stream for `git fast-import`: a commit for each change, with its
        actor as the author, on the branch `main`. The same history always gives the same commits. A
        content that was removed from the history is replaced by a text that says so.

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
        Lists the files that existed at a time, in the order of their paths. A file that was not changed
        since the history began is included with its current content, if it was last written before that
        time.

        Args:
            at: A `datetime` with a time zone.

        Raises:
            HistoryError: The history does not go back that far (`kind` is `"trimmed"`), or the memory
                has none.
            StoreError: The store itself failed.
        """
    def find_sensitive(self, /, path: str = "/memories", *, limit: SupportsIndex = 100) -> builtins.list[SensitiveMatch]:
        """
        Finds sensitive text with the built-in rules and those of `sensitive_rules`, in names and lines,
        in the order of the paths and lines. The text itself is not returned. The option
        `sensitive_text` has no effect here.

        Args:
            path: A directory, with everything below it, or a file.
            limit: The most matches to return.

        Raises:
            ConfigError: `limit` is wrong.
            RefusedError: `path` does not exist.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:")
        >>> memory.write("/memories/db.md", "url: postgres://app:t7Kq-9zLw2@db/app\\n")
        >>> memory.find_sensitive()
        [SensitiveMatch(path='/memories/db.md', line=1, rule='url-password')]
        """
    def forget_views(self, /) -> None:
        """
        Makes the stale guard refuse edits of every file that the model has seen, until the model views
        the file again. Call it when the conversation was compacted, because the guard cannot notice
        that. It is not needed after context editing that keeps the memory's results.
        """
    def grep(self, /, query: str, *, regex: bool = False, ignore_case: bool = False, path: str = "/memories", limit: SupportsIndex = 100) -> builtins.list[GrepMatch]:
        """
        Finds names of files and directories, and lines of files, in the order of the paths and lines.
        Hidden entries and files that are not text are left out. With `sensitive_on_view` it searches
        the redacted text that a view shows.

        Args:
            query: The text to find, or a pattern.
            regex: `query` is a regular expression, in the syntax of Rust's `regex-lite` (no
                look-around and no back-references; linear time). `^` and `$` are the ends of a line.
            ignore_case: Ignore upper and lower case; in a pattern, only for ASCII letters.
            path: A directory, with everything below it, or a file.
            limit: The most matches to return.

        Raises:
            ConfigError: The pattern or `limit` is wrong.
            RefusedError: `path` does not exist.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:")
        >>> memory.write("/memories/drinks.md", "# Drinks\\n- green tea\\n")
        >>> memory.grep("tea")
        [GrepMatch(path='/memories/drinks.md', line=2, text='- green tea')]
        """
    def grep_history(self, /, query: str, path: str = "/memories", *, regex: bool = False, ignore_case: bool = False, limit: SupportsIndex = 100) -> builtins.list[HistoryMatch]:
        """
        Finds names and lines that are in the history and no longer in the files, newest first. Each
        match names the newest version that has it. With `sensitive_on_view` it searches the redacted
        text that a view shows.

        Args:
            query: The text to find, or a pattern.
            path: A current or former file or directory, with everything below it.
            regex: `query` is a regular expression, as for `grep`.
            ignore_case: Ignore upper and lower case, as for `grep`.
            limit: The most matches to return.

        Raises:
            ConfigError: The pattern or `limit` is wrong.
            HistoryError: The memory has no history, or the path is not valid.
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
        Lists the versions of files that changes made, newest first. The memory must be opened with
        `history=True`.

        Args:
            path: A file or a directory, which may have been deleted. The result has the versions of
                everything that is or was there, and the earlier versions of files that were moved
                there. `None` for everything.
            limit: The most versions to return; `None` for all.
            before: The id of a version: return only older versions. Pass the last id of a page to get
                the next page.
            actor: Return only changes by this actor.
            change: Return only the versions of this change.
            since: A `datetime` with a time zone: return only changes made then or later.

        Raises:
            ConfigError: `limit` is wrong.
            HistoryError: The memory has no history, or the path or an id is not valid.
            StoreError: The store itself failed.
        """
    def index(self, /, max_chars: SupportsIndex = 2000) -> str:
        """
        Makes a table of contents for a system prompt: a line for each file with its path, its size and
        its first line. Files that match `never_expire` come first, then the most recently written ones.
        If not all fit, the last line says how many are left out.

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
        Lists the entries below a directory, in the order of their paths. Hidden entries are left out,
        with everything below them. For a file, the only entry is the file itself.

        Args:
            path: The directory.
            depth: The number of levels; `None` for all.

        Raises:
            ConfigError: `depth` is wrong.
            RefusedError: The path does not exist.
            StoreError: The store itself failed.
        """
    def read(self, /, path: str) -> str:
        """
        Reads the text of a file unchanged, including text that views redact (`sensitive_on_view`).
        Reading does not count as use of the file. The model cannot call this.

        Raises:
            RefusedError: There is no such file, or it is not text.
            StoreError: The store itself failed.
        """
    def read_at(self, /, path: str, at: datetime) -> bytes | None:
        """
        Reads the content of a file at a time; `None` if the file did not exist.

        Args:
            path: The path of the file at that time.
            at: A `datetime` with a time zone.

        Raises:
            HistoryError: The same cases as for `files_at` and `read_version`.
            StoreError: The store itself failed.
        """
    def read_shown(self, /, path: str) -> str:
        """
        Reads the text of a file as a model may see it: redacted if views are (`sensitive_on_view`), and
        without line numbers. Like a view, it counts as use of the file. Use it to give a file to a
        model by other means than `view`.

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
        Reads the content of a version.

        Args:
            id: The id of the version.

        Raises:
            HistoryError: There is no such version, or it has no content: it is a deletion, was
                redacted, or its records are damaged.
            StoreError: The store itself failed.
        """
    def redact(self, /, id: str, reason: str) -> str | None:
        """
        Removes the content of a version from the history for good, in every record that has it. The
        version stays, with the reason.

        Args:
            id: The id of a version. With the id of a change, the contents of all its versions.
            reason: Shown to anyone who later asks for the content.

        Returns:
            The id of the change; `None` if there was nothing to remove.

        Raises:
            HistoryError: A file has this content now (`kind` is `"is_current"`); or the same cases as
                for `read_version`.
            StoreError: The store itself failed.
        """
    def redact_text(self, /, query: str, reason: str, *, regex: bool = False, ignore_case: bool = False, dry_run: bool = False) -> RedactedText:
        """
        Removes every content that contains a text from the history for good, as `redact` does, in all
        versions of all files. The text may be anywhere in the content; a regular expression has to
        match within a line. The text is removed from names as well, unless a file or directory has such
        a name now. Names of actors stay. This computes every content.

        Args:
            query: The text to remove, or a pattern.
            reason: Shown to anyone who later asks for the content.
            regex: `query` is a regular expression, as for `grep`.
            ignore_case: Ignore upper and lower case, as for `grep`.
            dry_run: Only return what would be done, and the files that have the text now.

        Raises:
            ConfigError: The pattern is wrong.
            HistoryError: Files have the text now (`kind` is `"is_current"`, and `paths` are the files);
                the memory has no history, or is read-only.
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
        Resolves a part of an id, its beginning or its end, to the id of the version or of the change.
        Dashes and the case of letters do not matter.

        Args:
            part: At least 6 digits of the id, or all of it.

        Raises:
            HistoryError: Several ids match (`kind` is `"ambiguous"`), no id matches (`"unknown"`), it
                cannot be part of an id (`"no_id"`), or the memory has no history.
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
        Writes the content of a version back to its file, as a new version. A deleted file is created at
        its former path. No policy applies, because your own code restores former content.

        Args:
            id: The id of a version. For a deleted file, use the id of the deletion or of an earlier
                version. With the id of a change, all files of that change are restored, such as those
                of a deleted directory.
            overwrite: Also overwrite later changes.

        Raises:
            HistoryError: The same cases as for `read_version`; a file with another content exists
                (`kind` is `"conflict"`); the memory is read-only; or the store failed in the middle
                (`"partly"`).
            StoreError: The store itself failed.
        """
    def restore_all(self, /, at: datetime, *, dry_run: bool = False) -> Restored:
        """
        Restores every file to its content at a time. Later changes are not a conflict. Files that are not
        in the history are not changed.

        Args:
            at: A `datetime` with a time zone.
            dry_run: Only return what would be done.

        Raises:
            HistoryError: The history does not go back that far (`kind` is `"trimmed"`); or the same
                cases as for `restore`.
            StoreError: The store itself failed.
        """
    def search(self, /, query: str, *, path: str = "/memories", limit: SupportsIndex = 10) -> SearchResults:
        """
        Finds the files that answer a question best, the best first, with their best passages. For exact
        lines use `grep`.

        A file is a hit if it has any word of the question, whatever its ending. `"green tea"`
        requires a phrase, `-coffee` excludes a word, `path:notes` requires a text in the path. Hidden
        files are left out. With `sensitive_on_view` it searches the text that a view would show.

        It finds every write that was acknowledged before it, by any process. The first search of a
        process reads all files, later ones only what has changed. The texts are held in memory, up to
        `search_max_bytes`.

        Args:
            query: The question.
            path: A directory, with everything below it, or a file.
            limit: The most files to return; never more than 1,000.

        Raises:
            ConfigError: `limit` is wrong.
            RefusedError: `path` does not exist.
            StoreError: The store itself failed.

        >>> from memdir import Memory
        >>> memory = Memory("memory:")
        >>> memory.write("/memories/drinks.md", "# Drinks\\n- Anna prefers green tea\\n")
        >>> hit = memory.search("what does Anna like?").hits[0]
        >>> passage = hit.passages[0]
        >>> hit.path, passage.first_line, passage.last_line
        ('/memories/drinks.md', 1, 2)
        >>> [passage.text[match.start : match.end] for match in passage.matches]
        ['Anna']
        """
    def search_tool_definition(self, /, dialect: Literal["json-schema", "openai", "openai-chat", "anthropic-custom", "gemini"] = "json-schema", *, prefix: str = "memory_") -> dict[str, object]:
        """
        Declares the search as a tool beside the memory tool, named `prefix` and `search`. To execute its
        calls, use `execute_search`.

        Args:
            dialect: The same values as for `tool_definition`.
            prefix: At most 32 ASCII letters, digits, `_` and `-`.

        Raises:
            ConfigError: There is no such dialect, or the prefix is wrong.
        """
    def stats(self, /) -> Stats:
        """
        Measures how much the memory holds: files, bytes, the largest file, the oldest one. Hidden files
        count, as they do for the limits.

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
        Replaces the only occurrence of `old_str` in a file by `new_str`. An empty `new_str`, or `None`,
        deletes the occurrence.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
    def sync(self, /, other: Memory[Any] | AsyncMemory[Any] | str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly], *, on_conflict: Literal["keep-both", "a", "b"] | Callable[[SyncMerge], str | None] = "keep-both", one_way: bool = False, dry_run: bool = False, delete: bool = False, redactions: bool = False, exclude: Sequence[str] = (), max_file_bytes: SupportsIndex | None = None, names: tuple[str, str] | None = None, on_progress: Callable[[SyncProgress], object] | None = None) -> Synced:
        """
        Makes this memory and another one equal, in both directions, and loses nothing. The model cannot
        call this.

        Both are compared with what they last agreed on. If one memory has changed a file, the other one
        follows. If both have, their changes are merged line by line. If the same lines or neighbouring
        ones differ, both contents are kept: that of this memory, and that of the other one in a copy
        whose name says where it is from. A file is deleted only if the other memory has deleted it and
        this one has not changed it since. Nothing is deleted at the first sync, and nothing if one of
        the memories was restored from a backup.

        The options of each memory hold for what is written to it, and its hooks are asked about each
        change. Its history shows the changes with the actor `sync`, as one change. Hidden files are
        synced, too. The history and empty directories are not.

        Args:
            other: The other memory, or a store, which is opened as by `Memory(other)`. In the result
                this memory is `"a"`, and the other one is `"b"`.
            on_conflict: The content that wins if both memories changed a file in ways that cannot be
                merged: `"a"` that of this memory, `"b"` that of the other one, `"keep-both"` neither.
                A function gets a `SyncMerge` with both texts, and returns the text that both memories
                get, or `None` to keep both. It is called for one file after another, again if one of
                the texts is changed meanwhile, and with `dry_run`, too, but not for contents that are
                not text: of those both are kept. An exception that it raises ends the sync.
            one_way: Change only the other memory. This one may be read-only.
            dry_run: Only return what would be done.
            delete: Allow the sync to delete more than eight files that are more than a quarter of a
                memory's files, or all of its files.
            redactions: Also take redactions over: the content of a version that was redacted in one
                history is redacted in the other one, if a sync brought it there. Both memories need a
                history.
            exclude: Patterns of paths that stay as they are in both memories, including everything below
                them.
            max_file_bytes: Larger files stay as they are. `None` sets no limit.
            names: The names of this memory and the other one in the names of conflict copies. `None`:
                the names of their directories, or `a` and `b`.
            on_progress: Called before each file that is read or changed. An exception that it raises
                stops the sync.

        Raises:
            SyncError: Both memories are the same or overlap; too many files would be deleted; or a
                memory is read-only. Nothing was changed.
            StoreError: A store cannot be opened, or failed. The changes before that stay, and the next
                sync makes the others.
            HookError: A hook failed. The changes before that stay.
            ConfigError: An option or the address is wrong.

        >>> from memdir import Memory
        >>> laptop, server = Memory("memory:"), Memory("memory:")
        >>> laptop.write("/memories/tea.md", "green\\nherbal\\nblack\\n")
        >>> laptop.sync(server).equal
        1
        >>> laptop.write("/memories/tea.md", "jasmine\\nherbal\\nblack\\n")
        >>> server.write("/memories/tea.md", "green\\nherbal\\noolong\\n")
        >>> [(change.side, change.action) for change in laptop.sync(server).changes]
        [('a', 'merged'), ('b', 'merged')]
        >>> server.read("/memories/tea.md")
        'jasmine\\nherbal\\noolong\\n'
        """
    def tool_definition(self, /, dialect: Literal["json-schema", "openai", "openai-chat", "anthropic-custom", "gemini"] = "json-schema") -> dict[str, object]:
        """
        Declares the tool to a model host that does not know Anthropic's memory tool: one tool named
        `memory`, whose calls `execute` executes. If the memory is read-only, its only command is
        `view`.

        Args:
            dialect: `"json-schema"` (`name`, `description`, `parameters`), `"openai"` (Responses API),
                `"openai-chat"` (Chat Completions API), `"anthropic-custom"`, or `"gemini"`.

        Raises:
            ConfigError: There is no such dialect.
        """
    def tool_definitions(self, /, dialect: Literal["json-schema", "openai", "openai-chat", "anthropic-custom", "gemini"] = "json-schema", *, prefix: str = "") -> Sequence[dict[str, object]]:
        """
        Declares one tool for each command, named `prefix` and the command's name. To execute a call of
        `memory_view`, use `memory.execute({"command": "view", **arguments})`.

        Args:
            dialect: The same values as for `tool_definition`.
            prefix: At most 32 ASCII letters, digits, `_` and `-`.

        Raises:
            ConfigError: There is no such dialect, or the prefix is wrong.
        """
    def trim_history(self, /) -> int:
        """
        Removes the versions that the options no longer keep, and returns the number of removed records
        of changes. Trimming also happens from time to time after a change.

        Raises:
            HistoryError: The memory has no history, or is read-only.
            StoreError: The store itself failed.
        """
    def undo(self, /, change: str | None = None, *, since: datetime | None = None, actor: str | None = None, dry_run: bool = False, skip_conflicts: bool = False, merge: bool = False) -> Restored:
        """
        Undoes changes: every file gets its earlier content. If later changes of the same files depend
        on them, nothing is changed, unless `skip_conflicts` or `merge` is set.

        Args:
            change: The id of one change. With the id of a version, the whole change that made it.
            since: A `datetime` with a time zone, instead of `change`: undo all changes that were made
                then or later.
            actor: With `since`: only the changes of this actor.
            dry_run: Only return what would be done.
            skip_conflicts: Leave out the files that cannot be undone because of a conflict, and undo
                the rest. `skipped` of the result lists them.
            merge: Keep later changes of other lines. In a file that was changed since, the lines of the
                undone change get their earlier text, if no later change touches them or a line beside
                them.

        Raises:
            HistoryError: Later changes depend on it (`kind` is `"conflict"`, and `conflicts` names the
                files and these changes); the earlier content is no longer kept (`"trimmed"`); or the
                same cases as for `restore`.
            ConfigError: Not exactly one of `change` and `since` is given, or `actor` is given without
                `since`.
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
            view_range: The first and the last line to show, counted from 1. A last line of -1 is the
                end of the file. All lines if absent.

        Returns:
            Text, or a list with an image block for the Messages API.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
    def watch(self, /, path: str = "/memories", *, every: float | timedelta | None = None) -> Watch:
        """
        Begins to watch the files at `path` and below it for changes by any process, including writes
        that bypass memdir. Iterate over the result, or call its `changes`.

        Changes by this process are seen at once. To find other changes it polls the store. If a poll
        takes long, it polls less often than `every` says. The watch keeps the store open until you
        close the watch.

        Args:
            path: A directory, with everything below it, or a file. It does not have to exist yet.
            every: The polling interval: seconds, or a `timedelta`. `None`: half a second, and one
                second if the store is on another machine.

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
        Writes a whole file: creates it with its parents, or replaces it. The model cannot call this,
        but the policies of its commands apply. Afterwards the stale guard requires the model to view
        the file again.

        Args:
            path: The path of the file.
            text: Its new content.
            if_unchanged: The text that `read` returned. The file is replaced only if it still contains
                that text. `None` replaces it in any case.

        Raises:
            RefusedError: A policy forbids it, or the file's text is not `if_unchanged`. Nothing was
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
        Deletes a file if it was neither written nor accessed at `since` or later. Returns whether it was
        deleted.
        """
    def folds_case(self, /) -> bool:
        """
        Returns whether the store treats names as equal that differ only in case or in how letters are
        composed.
        """
    def list(self, /, path: str) -> Sequence[Entry]:
        """
        Lists a directory, one level deep.
        """
    def modified(self, /, path: str) -> datetime | None:
        """
        Returns when a file was last written; `None` if the store keeps no times.
        """
    def open(self, /, path: str, depth: SupportsIndex) -> bytes | Sequence[Entry]:
        """
        Reads a file, or lists a directory's visible entries `depth` levels deep.
        """
    def read(self, /, path: str) -> bytes:
        """
        Reads the whole content of a file.
        """
    def record_access(self, /, path: str, time: datetime) -> None:
        """
        Records that a file was accessed at `time`.
        """
    def rename(self, /, old: str, new: str) -> None:
        """
        Moves a file or directory, and creates missing parents. Never overwrites.
        """
    def set_modified(self, /, path: str, time: datetime) -> None:
        """
        Sets when a file was last written.
        """
    def tracks_access(self, /) -> bool:
        """
        Returns whether the store keeps access times.
        """
    def update(self, /, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        """
        Changes a file. No other write can happen in between.
        """
    def write(self, /, path: str, content: bytes, overwrite: bool = False) -> None:
        """
        Writes a whole file, and creates missing parents.
        """

@final
class PendingCall:
    """
    A call that is decoded and validated. It is finished once, by `finish`, `cancel` or `fail`, and then has its reply. The memory
    counts it as running until `end`.
    """
    def answer(self, /) -> tuple[str | builtins.list[ImageBlock], bool, MemdirError | None]:
        """
        The reply as content, `is_error` and cause.
        """
    def ask(self, /, before: Any, takes_call: bool) -> object | None:
        """
        The result of `before`, called on the thread of this call; `None` if `before` is not called.
        """
    def cancel(self, /) -> Event | None:
        """
        Gives the call up, unless a thread executes it: nothing is changed. Returns the event for `after`, or `None`.
        """
    @property
    def command(self, /) -> Mapping[str, object] | None:
        """
        The command for `before`; `None` if `before` is not called.
        """
    def content(self, /) -> str | builtins.list[ImageBlock]:
        """
        The return value of the command's method.

        Raises:
            RefusedError: The command was refused.
            StoreError: The store failed.
            HookError: The hook `before` failed.
        """
    def end(self, /) -> None:
        """
        Ends the call: the memory no longer counts it as running.
        """
    @property
    def event(self, /) -> Event | None:
        """
        The event for `after`, once the call is finished.
        """
    def fail(self, /, raised: Any) -> Event | None:
        """
        Ends the call because of an exception outside the store, for example because no thread could be started. Returns the event
        for `after`, or `None`.
        """
    def finish(self, /, returned: object, raised: object) -> Event | None:
        """
        Executes the command, if the result or the exception of `before` allows it. Returns the event for `after`; `None` if the
        call was cancelled meanwhile.
        """
    @property
    def hook_call(self, /) -> HookCall | None:
        """
        The description of the call for `before`; `None` if `before` is not called.
        """
    @property
    def is_view(self, /) -> bool:
        """
        Returns whether the call changes nothing: it is a view, or is already refused.
        """
    def reply(self, /) -> Reply:
        """
        The return value of `Memory.execute`.
        """

@final
class ReadOnly:
    """
    The result of `read_only`. Use it instead of a store.
    """
    def __repr__(self, /) -> str: ...

@final
class Watch:
    """
    Reports changes in a memory; `Memory.watch` begins it.

    Iterating over it waits for the next change, and ends when the watch is closed. Ctrl-C ends the
    waiting. Many threads may use one watch: each change is returned to one of them.
    """
    def __enter__(self, /) -> Watch: ...
    def __exit__(self, kind: Any, raised: Any, traceback: Any, /) -> None: ...
    def __iter__(self, /) -> Watch: ...
    def __next__(self, /) -> Change: ...
    def changes(self, /, wait: float | timedelta) -> builtins.list[Change]:
        """
        Returns the changes since the last call, or since the watch began, in the order of the paths. If
        there are none, it waits for a change.

        A rename is reported as a deleted file and a written file, and a directory as its files. Changes
        undone between two polls are not reported.

        Args:
            wait: The longest time to wait: seconds, or a `timedelta`. With 0 it polls once.

        Raises:
            StoreError: The store itself failed. The next call returns the changes that this one missed.
            ValueError: The watch is closed.
        """
    def close(self, /) -> None:
        """
        Ends the watch. Iterations over it end, too. Closing it again does nothing.
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
    Same as [`answer`], if the file is in memory.
    """

def answer_search(memory: Memory, input: Any) -> tuple[str | builtins.list[ImageBlock], bool, MemdirError | None]:
    """
    The reply to a call of the search as content, `is_error` and cause.
    """

def before_exit() -> None:
    """
    From now on, lets no other thread of the core into Python: neither to stores and hooks nor to the logger.
    """

def before_fork() -> None:
    """
    Waits until no other thread is in the middle of a command that would break in a forked child.
    """

def begin(memory: Memory, input: Any, command: str | None = None) -> PendingCall:
    """
    Begins a call of `answer`.
    """

def begin_command(memory: Memory, command: str, *, path: str | None = None, view_range: SupportsLenAndGetItem[SupportsIndex] | None = None, file_text: str | None = None, old_str: str | None = None, new_str: str | None = None, insert_line: SupportsIndex | None = None, insert_text: str | None = None, old_path: str | None = None, new_path: str | None = None) -> PendingCall:
    """
    Begins a call of the method of `Memory` with the name `command`, with its arguments.
    """

def begin_execute(memory: Memory, input: Any) -> PendingCall:
    """
    Begins a call of `Memory.execute`.
    """

def check(store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly]) -> Checked:
    """
    Checks a store and its history: inspects the store's structures, reads every file, reads every
    record of the history and computes every version. Changes nothing. Other processes may use the
    store meanwhile.

    If the store fails in the middle, the failure is reported as a problem, beside the problems
    found before.

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
    Returns the first rule of the contract that a store of `factory` breaks; `None` if no rule is
    broken.
    """

def check_names(function: str, others: SupportsGetItem[int, str], options: Mapping[str, object]) -> None:
    """
    Fails for a name in `options` that is not an option of `Memory`, in the name of `function`, which has the parameters
    `others` as well.
    """

def context_management(clear_at: SupportsIndex | None, keep: SupportsIndex, clear_at_least: SupportsIndex | None, exclude_tools: Sequence[str], compact_at: SupportsIndex | None) -> dict[str, object]:
    """
    Makes the value that `memdir.context_management` returns.
    """

def copy(source: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly], destination: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly], *, overwrite: bool = False, without_history: bool = False, durability: Literal["full", "relaxed"] = "full", on_progress: Callable[[CopyProgress], object] | None = None) -> Copied:
    """
    Copies everything from one store into another: contents, times, hidden files, empty directories,
    the history.

    Nothing is ever deleted. Both stores are compared first. If a file with the same content already
    exists, only its time is set. If a file with another content exists, nothing is copied at all,
    unless `overwrite` is true. Everything that is written is read back and compared. After an
    interruption, the same call copies the rest.

    If the history of the destination has changes that the source does not have, or the history of the
    source is damaged, nothing is copied at all, unless `without_history` is true.

    Args:
        source: The store to copy from, or its address. It must exist, and is only read.
        destination: The store to copy to, or its address. A directory or database is created.
        overwrite: Replace files that have another content.
        without_history: Copy only the files, and not the history.
        durability: The failure that a copied file survives: `"full"` a loss of power, `"relaxed"` a
            crash of the process, which is faster for many small files.
        on_progress: Called before each file. An exception that it raises stops the copy.

    Raises:
        CopyError: The destination holds something else, or the history cannot be copied.
        StoreError: A store cannot be opened, or failed. Files that are already copied stay.
        ConfigError: An address is wrong.

    >>> from memdir import copy, open_store
    >>> old, new = open_store("memory:"), open_store("memory:")
    >>> old.write("/memories/notes.md", b"- likes tea\\n")
    >>> copy(old, new)
    Copied(files=1, bytes=12, equal=0, directories=0, left_out=(), changes=None)
    >>> copy(old, new)
    Copied(files=0, bytes=0, equal=1, directories=0, left_out=(), changes=None)
    """

def decode(input: Any) -> dict[str, object]:
    """
    Decodes the command in `input`, repaired, as a dict with the field names of the documentation. Nothing is
    executed, and no hook is called.

    Raises:
        RefusedError: The input is not a command.
    """

def execute_failed(memory: Memory, input: Any, raised: Any) -> Reply:
    """
    The return value of `Memory.execute` if the call cannot be executed because of an exception.
    """

def execute_nowait(memory: Memory, input: Any) -> Reply | None:
    """
    The return value of `Memory.execute`, if the file is in memory.
    """

def fail(memory: Memory, input: Any, command: str | None, raised: Any) -> tuple[str | builtins.list[ImageBlock], bool, MemdirError | None]:
    """
    The reply to `input` if it cannot be executed because of an exception.
    """

def image_type(content: bytes) -> str | None:
    """
    Returns the media type of a complete PNG or JPEG image: `"image/png"` or `"image/jpeg"`. Returns
    `None` for anything else, including a truncated image, which Anthropic's API refuses. A view
    shows a file as an image if this returns a type.

    Args:
        content: The content of a file. Pixels are not decoded.

    >>> from memdir import image_type
    >>> image_type(b"a text") is None
    True
    """

def is_coroutine_function(function: Any) -> bool:
    """
    Returns whether a call of the function gives a coroutine: it is an `async def`, or an object whose
    `__call__` is one.
    """

def is_due(watch: Watch) -> bool:
    """
    Returns whether `changes` of the watch would poll the store now, for event loops that wait without a
    thread.
    """

def key_from_file(path: str | PathLike[str]) -> bytes:
    """
    Reads the key in a file: 32 bytes for `encryption_key`. If `path` does not exist, a random key is
    generated and written to a new file, which only its owner may read.

    If several threads or processes make the first call concurrently, all get the same key. The file is
    never overwritten. Do not lose it: without it the memory cannot be read.

    Args:
        path: The file. Its directory must exist. `~` as its first component is the home directory.

    Raises:
        ConfigError: The file does not have exactly 32 bytes, or cannot be read or created.

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
    Lists the memories in a PostgreSQL database, or below a prefix of object storage, that contain something,
    sorted by name. Each opens with its name as the option `namespace`.

    In PostgreSQL, row-level security limits the list to those that the user may see. In object storage, a
    directory of a memory at the prefix itself looks like a namespace. If a memory is encrypted with encrypted
    names, the history is counted among its files.

    Args:
        address: The address of the database or the prefix.

    Raises:
        ConfigError: The address is wrong, or it is the address of a store with only one memory.
        StoreError: The store cannot be reached, or failed.
    """

def open_async(store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly], options: Mapping[str, object]) -> Memory:
    """
    A `Memory` whose hooks may be coroutine functions, because `AsyncMemory` awaits them. Calls on this `Memory` itself fail with
    such a hook.

    Raises:
        ConfigError: The address or an option is wrong.
        StoreError: The store cannot be opened.
    """

def open_store(store: str | PathLike[str] | Store | ReadOnly | Mapping[str, str | PathLike[str] | Store | ReadOnly], *, read_only: bool = False, durability: Literal["full", "relaxed"] = 'full', lock_timeout: float | timedelta | None = 10.0, namespace: str | None = None, encryption_key: bytes | str | None = None, encrypt_names: bool = False) -> Store:
    """
    Opens a store by its address, for direct use or to share it among several memories.

    Args:
        store: A directory, created if it does not exist, `"sqlite:agent.db"` for an SQLite database,
            `"memory:"` for a new store in this process, or anything else that `Memory` accepts.
        read_only: The memory can be viewed but not changed. The directory or database must exist.
            Nothing is created in a directory.
        durability: The failures that an acknowledged command survives: `"full"` a loss of power,
            `"relaxed"` only a crash of the process. Object storage is always durable.
        lock_timeout: The time that a change waits for other writers of the same store (local
            directory, SQLite, PostgreSQL). After that the command is refused, and nothing is
            changed. `None` waits without limit. Seconds, or a `timedelta`.
        namespace: Selects one of several memories in one PostgreSQL database or one bucket. Any
            text, such as a user's name. `None` selects the one that the address names. Pass
            untrusted values in this option, never in an address. On every other store this option
            is an error.
        encryption_key: Encrypts everything that the store keeps. A store is encrypted from its
            creation or not at all. 32 bytes; as a str, `"hex:…"` or `"base64:…"` for those, or else
            a passphrase.
        encrypt_names: Also encrypts the names in a store that is created with a key. An existing
            store keeps its setting.

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

    Use the result instead of a store, usually as one of several mounted stores. A directory or a
    database must exist; nothing is created or changed in it.

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

    The store can be used meanwhile: both keys open it until the end. If the change is interrupted, both
    keys still open the store. Call this again to continue.

    Args:
        store: The store's address, or the `Store` that keeps the encrypted files, opened without a key.
        old_key: The current key.
        new_key: The new key.

    Returns:
        The number of files that were encrypted.

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
    Runs one command on the standard streams of this process, and returns its exit code. The first
    argument is the program's name.
    """

def search_failed(raised: Any) -> Reply:
    """
    The return value of `Memory.execute_search` if the call cannot be executed because of an exception.
    """

def submit(cancellation: Cancellation, memory: Memory | None, work: Any, deliver: Any, view: bool, search: bool, alone: bool) -> None:
    """
    Calls `work` on a thread of the memory's pools, or on a new thread if `alone`, and then `deliver` with its result and its exception, one of them `None`. If the call is
    cancelled before it begins, both are `None`. This function does not wait.

    The caller makes the cancellation before the call. An exception such as a `KeyboardInterrupt` may be raised in the caller at any time;
    it can then cancel a call without knowing whether it was submitted.

    Raises:
        RuntimeError: The system cannot start a thread. Nothing was done.
    """

def takes_call(before: Any) -> bool:
    """
    Returns whether the hook `before` also takes the call, which it does if it has a parameter `call`.
    """

def takes_is_query(embedder: Any) -> bool:
    """
    Returns whether the embedder is told if a text is a question, which it is if it has a parameter `is_query`.
    """

def view_nowait(memory: Memory[ViewT_co], path: str, view_range: SupportsLenAndGetItem[SupportsIndex] | None = None) -> ViewT_co | None:
    """
    The return value of `Memory.view`, if the file is in memory.
    """

def wait_seconds(wait: float | timedelta) -> float:
    """
    The seconds that `AsyncWatch.changes` waits, validated like those of `Watch.changes`.
    """

def when_idle(memory: Memory, callback: Any) -> bool:
    """
    Calls `callback` once no call of the memory runs on a thread. Returns `False`, and does not call it, if none runs now.
    """
