"""`AsyncMemory`: `Memory` for the tasks of an event loop."""

from __future__ import annotations

import re
from contextlib import suppress
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast, overload

from memdir import _memdir
from memdir._async_hooks import Hooks
from memdir._async_watch import AsyncWatch
from memdir._embedder import AwaitedEmbedder
from memdir._errors import StoreError
from memdir._loops import NoThreadError, in_thread, running_loop, until_idle
from memdir._reply import ViewT_co
from memdir._syncing import AwaitedMerge, SyncTask

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, timedelta
    from pathlib import Path
    from types import TracebackType
    from typing import Literal

    from typing_extensions import Self, Unpack

    from memdir._memdir import Memory
    from memdir._options import AsyncMemoryOptions, AsyncTextOnly, Dialect, Places
    from memdir._reply import ImageBlock, Reply
    from memdir._results import (
        BlamedLine,
        Entry,
        Erased,
        Expired,
        ExpiryProgress,
        GrepMatch,
        HistoryMatch,
        PastFile,
        RedactedText,
        Restored,
        SearchResults,
        SensitiveMatch,
        Stats,
        Synced,
        SyncProgress,
        Version,
    )
    from memdir._syncing import AsyncMergeFunction, MergeFunction

P = ParamSpec("P")
T = TypeVar("T")

# A longer JSON text is not a view, and takes a while to decode.
_VIEW_CHARS = 4096
# A text of this length takes longer to decode than other tasks of the loop should wait.
_LONG_JSON = 65_536
_JSON_VIEW = re.compile(r'"command"\s*:\s*"view"')


def is_view(input: object, command: str | None = None) -> bool:
    """Returns whether the input seems to be a view."""
    if command is None:
        try:
            if isinstance(input, dict):
                found = dict.get(input, "command")
            elif isinstance(input, str):
                return len(input) <= _VIEW_CHARS and _JSON_VIEW.search(input) is not None
            else:
                found = getattr(input, "command", None)
        except Exception:  # noqa: BLE001 - the engine reports an object whose fields cannot be read
            return False
        command = found if isinstance(found, str) else None
    return command == "view"


class AsyncMemory(Generic[ViewT_co]):
    """`Memory` with `await`, for asyncio and Trio.

    Every method of `Memory` that uses the store is a coroutine with the same arguments, results and
    exceptions. The event loop is never blocked. If a view's file is small and in memory, the view
    is answered at once. Everything else runs on memdir's own thread pool. Its threads start when
    there is work and end when there is none. Stores written in Python run on those threads, too.

    The hooks (`before`, `after`) may be coroutine functions, such as one that asks a person. They
    are awaited in the task of the call and hold no thread, however long they wait. Plain functions
    are called on the thread that executes the command.

    If a task is cancelled before its command begins to write, or while `before` waits, the command
    is not executed. If the command has begun to write, it runs to its end.

    One memory may be used from several event loops and threads at once.

    Opening a memory reads files, connects to a server or derives a key. The constructor blocks
    until that is done. In a task use `await AsyncMemory.open(...)`.

    Args:
        store: Where the files are: a directory, an address, a `Store`, or a dict of several, as
            for `Memory`.
        **options: The options of `Memory`; `before` and `after` may be coroutine functions.

    Raises:
        ConfigError: The address or an option is wrong.
        StoreError: The store cannot be opened.

    >>> import asyncio
    >>> from memdir import AsyncMemory
    >>> async def main():
    ...     async with AsyncMemory("memory:") as memory:
    ...         print(await memory.create("/memories/notes.md", "- likes tea"))
    ...         print(await memory.view("/memories/notes.md"))
    >>> asyncio.run(main())
    File created successfully at: /memories/notes.md
    Here's the content of /memories/notes.md with line numbers:
         1	- likes tea
    """

    # `None` if there are no hooks or if the engine calls them, as for a `Memory` that was already
    # open.
    _hooks: Hooks | None = None
    _embedder: AwaitedEmbedder | None = None

    @overload
    def __init__(
        self: AsyncMemory[str], store: Places = ..., **options: Unpack[AsyncTextOnly]
    ) -> None: ...
    @overload
    def __init__(
        self: AsyncMemory[str | builtins.list[ImageBlock]],
        store: Places = ...,
        **options: Unpack[AsyncMemoryOptions],
    ) -> None: ...
    def __init__(self, store: Places = "./memory", **options: Unpack[AsyncMemoryOptions]) -> None:
        _memdir.check_names(type(self).__name__, ["store"], options)
        embedder = options.get("embedder")
        if callable(embedder):
            self._embedder = AwaitedEmbedder(embedder)
            options = {**options, "embedder": self._embedder}
        before, after = options.get("before"), options.get("after")
        hooks = [hook for hook in (before, after) if hook is not None]
        given_options: dict[str, object] = {**options}
        if hooks and all(map(callable, hooks)):
            self._hooks = Hooks(before, after)
            given_options.update(self._hooks.of_syncs())
        self._memory = cast("Memory[ViewT_co]", _memdir.open_async(store, given_options))

    @overload
    @classmethod
    async def open(
        cls, store: Places = ..., **options: Unpack[AsyncTextOnly]
    ) -> AsyncMemory[str]: ...
    @overload
    @classmethod
    async def open(cls, store: Places = ..., **options: Unpack[AsyncMemoryOptions]) -> Self: ...
    @classmethod
    async def open(cls, store: Places = "./memory", **options: Unpack[AsyncMemoryOptions]) -> Any:
        """Opens a memory without blocking the event loop.

        Raises:
            ConfigError: The address or an option is wrong.
            StoreError: The store cannot be opened.
        """
        return await _in_thread(None, lambda: cls(store, **options), view=False)

    async def execute(self, input: Mapping[str, object] | str | object, /) -> Reply:
        """Executes one tool call.

        Args:
            input: The call's input: a dict, its JSON text, or one of the SDK's command models.

        Returns:
            The reply for the model. Nothing is raised: a model's mistake is a reply with
            `is_error`, and so is a broken store. Its `cause` has the details for you.
        """
        if self._hooks is not None:
            call = await self._begun(partial(_memdir.begin_execute, self._memory, input), input)
            return (await self._hooks.carry_out(self._memory, call)).reply()
        view = is_view(input)
        if view and (loop := running_loop()).has_turn():
            await loop.turn()
            reply = _memdir.execute_nowait(self._memory, input)
            if reply is not None:
                return reply
        try:
            return await in_thread(self._memory, lambda: self._memory.execute(input), view=view)
        except NoThreadError as error:
            return _memdir.execute_failed(self._memory, input, error.__cause__)

    async def view(
        self, path: str, view_range: tuple[int, int] | builtins.list[int] | None = None
    ) -> ViewT_co:
        """Shows a directory two levels deep, the numbered lines of a file, or an image.

        Args:
            path: The path to show.
            view_range: The first and the last line to show, counted from 1. A last line of -1 is
                the end of the file. All lines if absent.

        Returns:
            Text, or a list with an image block for the Messages API.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
        if self._hooks is not None:
            return cast(
                "ViewT_co",
                await self._hooked(self._hooks, "view", path=path, view_range=view_range),
            )
        loop = running_loop()
        if loop.has_turn():
            await loop.turn()
            shown = _memdir.view_nowait(self._memory, path, view_range)
            if shown is not None:
                return shown
        return await self._reading(self._memory.view, path, view_range)

    async def create(self, path: str, file_text: str) -> str:
        """Makes a new file and its missing parents.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
        return await self._command("create", path=path, file_text=file_text)

    async def str_replace(self, path: str, old_str: str, new_str: str | None = None) -> str:
        """Replaces the only occurrence of `old_str` in a file by `new_str`.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
        return await self._command("str_replace", path=path, old_str=old_str, new_str=new_str)

    async def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Inserts `insert_text` as whole lines after line `insert_line`; 0 is the file's start.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
        return await self._command(
            "insert", path=path, insert_line=insert_line, insert_text=insert_text
        )

    async def delete(self, path: str) -> str:
        """Deletes a file, or a directory with everything in it.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
        return await self._command("delete", path=path)

    async def rename(self, old_path: str, new_path: str) -> str:
        """Renames or moves a file or directory; never overwrites.

        Raises:
            RefusedError: The command was refused; its text is the reply for the model.
            StoreError: The store itself failed.
        """
        return await self._command("rename", old_path=old_path, new_path=new_path)

    async def read(self, path: str) -> str:
        """Reads the text of a file unchanged, even text that views redact (`sensitive_on_view`).

        Reading does not count as use of the file. The model cannot call this.

        Raises:
            RefusedError: There is no such file, or it is not text.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.read, path)

    async def read_shown(self, path: str) -> str:
        """Reads the text of a file as a model may see it. Same as `Memory.read_shown`.

        Raises:
            RefusedError: There is no such file, it is not text, or it is too large to be shown.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.read_shown, path)

    async def write(self, path: str, text: str, *, if_unchanged: str | None = None) -> None:
        """Writes a whole file: creates it with its parents, or replaces it.

        The model cannot call this, but the policies of its commands apply. With `if_unchanged`,
        pass the text that `read` returned: the file is replaced only if it still contains that
        text.

        Raises:
            RefusedError: A policy forbids it, or the file's text is not `if_unchanged`. Nothing was
                changed.
            StoreError: The store itself failed.
        """
        await self._changing(self._memory.write, path, text, if_unchanged=if_unchanged)

    async def list(self, path: str = "/memories", *, depth: int | None = 1) -> Sequence[Entry]:
        """Lists a directory, `depth` levels deep (`None`: all). Same as `Memory.list`.

        Raises:
            RefusedError: Nothing is there.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.list, path, depth=depth)

    async def exists(self, path: str) -> bool:
        """Returns whether a file or a directory exists.

        Raises:
            RefusedError: It is not a path under `/memories`.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.exists, path)

    async def grep(
        self,
        query: str,
        *,
        regex: bool = False,
        ignore_case: bool = False,
        path: str = "/memories",
        limit: int = 100,
    ) -> builtins.list[GrepMatch]:
        """Finds names of files and directories, and lines of files. Same as `Memory.grep`.

        Raises:
            ConfigError: The pattern is wrong.
            RefusedError: Nothing is at `path`.
            StoreError: The store itself failed.
        """
        return await self._reading(
            self._memory.grep,
            query,
            regex=regex,
            ignore_case=ignore_case,
            path=path,
            limit=limit,
        )

    async def search(
        self, query: str, *, path: str = "/memories", limit: int = 10
    ) -> SearchResults:
        """Finds the files that answer a question best. Same as `Memory.search`.

        Raises:
            RefusedError: Nothing is at `path`.
            StoreError: The store itself failed.
        """
        self._search_begins()
        work = partial(self._memory.search, query, path=path, limit=limit)
        return await _in_thread(self._memory, work, view=True, search=True)

    async def execute_search(self, input: Mapping[str, object] | str | object, /) -> Reply:
        """Executes one call of the search by a model. Same as `Memory.execute_search`."""
        self._search_begins()
        try:
            work = partial(self._memory.execute_search, input)
            return await in_thread(self._memory, work, view=True, search=True)
        except NoThreadError as error:
            return _memdir.search_failed(error.__cause__)

    async def find_sensitive(
        self, path: str = "/memories", *, limit: int = 100
    ) -> builtins.list[SensitiveMatch]:
        """Finds sensitive text in names and lines. Same as `Memory.find_sensitive`.

        Raises:
            RefusedError: Nothing is at `path`.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.find_sensitive, path, limit=limit)

    def watch(
        self, path: str = "/memories", *, every: float | timedelta | None = None
    ) -> AsyncWatch:
        """Watches `path` and everything below it for any changes. Same as `Memory.watch`.

        Iterate over the result with `async for`, or await its `changes`. A watch that waits holds
        no thread, so you may abandon it at any time.
        """
        begin = partial(self._memory.watch, path, every=every)
        return AsyncWatch(begin, self._reading)

    async def index(self, max_chars: int = 2000) -> str:
        """Makes a table of contents for a system prompt. Same as `Memory.index`.

        Raises:
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.index, max_chars)

    async def stats(self) -> Stats:
        """Measures how much the memory holds. Same as `Memory.stats`.

        Raises:
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.stats)

    def tool_definition(self, dialect: Dialect = "json-schema") -> dict[str, object]:
        """Declares the tool to a host other than Anthropic's. Same as `Memory.tool_definition`.

        Raises:
            ConfigError: There is no such dialect.
        """
        return self._memory.tool_definition(dialect)

    def tool_definitions(
        self, dialect: Dialect = "json-schema", *, prefix: str = ""
    ) -> Sequence[dict[str, object]]:
        """Declares one tool for each command. Same as `Memory.tool_definitions`.

        Raises:
            ConfigError: There is no such dialect, or the prefix is wrong.
        """
        return self._memory.tool_definitions(dialect, prefix=prefix)

    def search_tool_definition(
        self, dialect: Dialect = "json-schema", *, prefix: str = "memory_"
    ) -> dict[str, object]:
        """Declares the search as a tool. Same as `Memory.search_tool_definition`.

        Raises:
            ConfigError: There is no such dialect, or the prefix is wrong.
        """
        return self._memory.search_tool_definition(dialect, prefix=prefix)

    @property
    def directory(self) -> Path | None:
        """The directory on this machine that contains the files; `None` if they are elsewhere."""
        return self._memory.directory

    async def bootstrap(
        self, *, about: str, features: Sequence[str], init: str = ""
    ) -> builtins.list[str]:
        """Creates the files with which a project begins. Same as `Memory.bootstrap`.

        Raises:
            RefusedError: A policy forbids it. Files that were already created stay.
            StoreError: The store itself failed.
        """
        return await self._changing(
            self._memory.bootstrap, about=about, features=features, init=init
        )

    def forget_views(self) -> None:
        """Forgets what the model has seen. Same as `Memory.forget_views`. It does not wait."""
        self._memory.forget_views()

    async def clear(self) -> str:
        """Deletes everything below `/memories`. The model cannot call this.

        With a history, the history keeps all contents; `erase` removes the history, too.

        Raises:
            StoreError: The store itself failed.
        """
        return await self._changing(self._memory.clear)

    async def erase(self, *, dry_run: bool = False) -> Erased:
        """Removes everything for good, with the whole history. Same as `Memory.erase`.

        Raises:
            RefusedError: The memory is read-only.
            StoreError: The store itself failed.
        """
        return await self._changing(self._memory.erase, dry_run=dry_run)

    async def expire(
        self,
        older_than: float | timedelta,
        *,
        dry_run: bool = False,
        on_progress: Callable[[ExpiryProgress], object] | None = None,
    ) -> builtins.list[Expired]:
        """Removes the files that were not used for `older_than`. Same as `Memory.expire`.

        `on_progress` is called on the thread that executes the call.

        Raises:
            ConfigError: Accesses are not recorded, the store does not keep them, or it is
                read-only.
            StoreError: The store itself failed. Files that are already removed stay removed.
        """
        return await self._changing(
            self._memory.expire, older_than, dry_run=dry_run, on_progress=on_progress
        )

    async def sync(
        self,
        other: Memory[Any] | AsyncMemory[Any] | Places,
        *,
        on_conflict: Literal["keep-both", "a", "b"] | AsyncMergeFunction = "keep-both",
        one_way: bool = False,
        dry_run: bool = False,
        delete: bool = False,
        redactions: bool = False,
        exclude: Sequence[str] = (),
        max_file_bytes: int | None = None,
        names: tuple[str, str] | None = None,
        on_progress: Callable[[SyncProgress], object] | None = None,
    ) -> Synced:
        """Makes this memory and another one equal. Same as `Memory.sync`.

        The call has a thread of its own, which also calls `on_progress`. If `on_conflict` or a hook
        is a coroutine function, it is awaited on the event loop of this task. If the task is
        cancelled, so is that coroutine, and the sync stops before its next change. The changes
        before that stay.

        Raises:
            SyncError: Both memories are the same or overlap; too many files would be deleted; or a
                memory is read-only. Nothing was changed.
            StoreError: A store cannot be opened, or failed. The changes before that stay, and the
                next sync makes the others.
            HookError: A hook failed. The changes before that stay.
            ConfigError: An option or the address is wrong.
        """
        task = SyncTask()
        ends: Literal["keep-both", "a", "b"] | MergeFunction
        ends = AwaitedMerge(on_conflict, task) if callable(on_conflict) else on_conflict
        work = partial(
            self._memory.sync,
            other,
            on_conflict=ends,
            one_way=one_way,
            dry_run=dry_run,
            delete=delete,
            redactions=redactions,
            exclude=exclude,
            max_file_bytes=max_file_bytes,
            names=names,
            on_progress=on_progress,
        )
        # The thread has the context of this task.
        entered = task.enter()
        try:
            # The stores and the callbacks may wait for calls of any memory.
            return await _in_thread(self._memory, work, view=False, alone=True)
        except BaseException:
            task.cancel()
            raise
        finally:
            SyncTask.leave(entered)

    def acting_as(self, actor: str) -> Self:
        """Returns a session of the same memory with this actor. Same as `Memory.acting_as`.

        It does not wait. Close each of the two memories separately.
        """
        acting = copy(self)
        acting._memory = self._memory.acting_as(actor)
        return acting

    async def history(
        self,
        path: str | None = None,
        *,
        limit: int | None = None,
        before: str | None = None,
        actor: str | None = None,
        change: str | None = None,
        since: datetime | None = None,
    ) -> builtins.list[Version]:
        """Lists the versions that changes made, newest first. Same as `Memory.history`.

        Raises:
            HistoryError: The memory has no history, or the path or an id is not valid.
            StoreError: The store itself failed.
        """
        return await self._reading(
            self._memory.history,
            path,
            limit=limit,
            before=before,
            actor=actor,
            change=change,
            since=since,
        )

    async def resolve_id(self, part: str) -> str:
        """Resolves a part of an id to the version or the change. Same as `Memory.resolve_id`.

        Raises:
            HistoryError: Several ids match, no id matches, it cannot be part of an id, or the
                memory has no history.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.resolve_id, part)

    async def export_history(self) -> bytes:
        """Exports the history as a stream for `git fast-import`. Same as `Memory.export_history`.

        Raises:
            HistoryError: The memory has no history.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.export_history)

    async def grep_history(
        self,
        query: str,
        path: str = "/memories",
        *,
        regex: bool = False,
        ignore_case: bool = False,
        limit: int = 100,
    ) -> builtins.list[HistoryMatch]:
        """Finds text that files held in the past and no longer hold. Same as `Memory.grep_history`.

        Raises:
            ConfigError: The pattern is wrong.
            HistoryError: The memory has no history, or the path is not valid.
            StoreError: The store itself failed.
        """
        return await self._reading(
            self._memory.grep_history,
            query,
            path,
            regex=regex,
            ignore_case=ignore_case,
            limit=limit,
        )

    async def files_at(self, at: datetime) -> builtins.list[PastFile]:
        """Lists the files that existed at a time. Same as `Memory.files_at`.

        Raises:
            HistoryError: The history does not go back that far, or the memory has none.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.files_at, at)

    async def read_at(self, path: str, at: datetime) -> bytes | None:
        """Reads the content of a file at a time; `None` if the file did not exist.

        Raises:
            HistoryError: The same cases as for `files_at` and `read_version`.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.read_at, path, at)

    async def blame(self, path: str) -> builtins.list[BlamedLine]:
        """Finds the version that added each line of a file. Same as `Memory.blame`.

        Raises:
            HistoryError: The path has no text file, or the memory has no history.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.blame, path)

    async def read_version(self, id: str) -> bytes:
        """Reads the content of a version.

        Raises:
            HistoryError: There is no such version, or it has no content.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.read_version, id)

    async def diff(self, id: str, other: str | None = None) -> str:
        """Makes a unified diff from one version to another. Same as `Memory.diff`.

        Raises:
            HistoryError: The same cases as for `read_version`, but a missing file counts as empty.
            StoreError: The store itself failed.
        """
        return await self._reading(self._memory.diff, id, other)

    async def restore(self, id: str, *, overwrite: bool = False) -> Restored:
        """Writes the content of a version back to its file. Same as `Memory.restore`.

        Raises:
            HistoryError: The same cases as for `read_version`; a file with another content exists;
                the memory is read-only; or the store failed in the middle.
            StoreError: The store itself failed.
        """
        return await self._changing(self._memory.restore, id, overwrite=overwrite)

    async def undo(
        self,
        change: str | None = None,
        *,
        since: datetime | None = None,
        actor: str | None = None,
        dry_run: bool = False,
        skip_conflicts: bool = False,
        merge: bool = False,
    ) -> Restored:
        """Undoes a change, or all changes since a time. Same as `Memory.undo`.

        Raises:
            HistoryError: Later changes depend on it; the earlier content is no longer kept; or the
                same cases as for `restore`.
            ConfigError: Not exactly one of `change` and `since` is given, or `actor` is given
                without `since`.
            StoreError: The store itself failed.
        """
        return await self._changing(
            self._memory.undo,
            change,
            since=since,
            actor=actor,
            dry_run=dry_run,
            skip_conflicts=skip_conflicts,
            merge=merge,
        )

    async def restore_all(self, at: datetime, *, dry_run: bool = False) -> Restored:
        """Restores every file to its content at a time. Same as `Memory.restore_all`.

        Raises:
            HistoryError: The history does not go back that far; or the same cases as for `restore`.
            StoreError: The store itself failed.
        """
        return await self._changing(self._memory.restore_all, at, dry_run=dry_run)

    async def redact(self, id: str, reason: str) -> str | None:
        """Removes the content of a version from the history for good. Same as `Memory.redact`.

        Raises:
            HistoryError: A file has this content now; or the same cases as for `read_version`.
            StoreError: The store itself failed.
        """
        return await self._changing(self._memory.redact, id, reason)

    async def redact_text(
        self,
        query: str,
        reason: str,
        *,
        regex: bool = False,
        ignore_case: bool = False,
        dry_run: bool = False,
    ) -> RedactedText:
        """Removes each content that has a text from the history. Same as `Memory.redact_text`.

        Raises:
            ConfigError: The pattern is wrong.
            HistoryError: Files have the text now; the memory has no history, or is read-only.
            StoreError: The store itself failed.
        """
        return await self._changing(
            self._memory.redact_text,
            query,
            reason,
            regex=regex,
            ignore_case=ignore_case,
            dry_run=dry_run,
        )

    async def trim_history(self) -> int:
        """Removes the versions that the options no longer keep. Same as `Memory.trim_history`.

        Raises:
            HistoryError: The memory has no history, or is read-only.
            StoreError: The store itself failed.
        """
        return await self._changing(self._memory.trim_history)

    def __repr__(self) -> str:
        return f"Async{self._memory!r}"

    async def aclose(self) -> None:
        """Closes the memory, and waits for the running calls.

        Every later call raises a `ValueError`. It also waits for calls whose hooks wait, and for
        calls of cancelled tasks. `async with` does this at its end.
        """
        self._memory.close()
        # A hook that waited for its own call would wait forever.
        if self._hooks is None or not self._hooks.are_running():
            await until_idle(self._memory)

    async def __aenter__(self) -> Self:
        self._memory.__enter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _search_begins(self) -> None:
        if self._embedder is not None:
            self._embedder.search_begins()

    async def _command(self, name: str, **fields: Any) -> str:
        if self._hooks is not None:
            return cast("str", await self._hooked(self._hooks, name, **fields))
        method: Callable[..., str] = getattr(self._memory, name)
        return await self._changing(method, **fields)

    async def _hooked(self, hooks: Hooks, name: str, **fields: Any) -> object:
        call = _memdir.begin_command(self._memory, name, **fields)
        return (await hooks.carry_out(self._memory, call)).content()

    async def _begun(
        self, begin: Callable[[], _memdir.PendingCall], input: object
    ) -> _memdir.PendingCall:
        if isinstance(input, str) and len(input) > _LONG_JSON:
            with suppress(NoThreadError):
                return await in_thread(self._memory, begin, view=True)
        return begin()

    # Every other method except a search and a sync uses one of these two. Reads have threads that
    # writes do not take.

    async def _reading(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        return await _in_thread(self._memory, lambda: work(*given, **named), view=True)

    async def _changing(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        return await _in_thread(self._memory, lambda: work(*given, **named), view=False)


async def _in_thread(
    memory: Memory | None,
    work: Callable[[], T],
    *,
    view: bool,
    search: bool = False,
    alone: bool = False,
) -> T:
    try:
        return await in_thread(memory, work, view=view, search=search, alone=alone)
    except NoThreadError as error:
        raise StoreError(f"no thread can be had: {error.__cause__}") from error.__cause__


AsyncMemory.__module__ = "memdir"
