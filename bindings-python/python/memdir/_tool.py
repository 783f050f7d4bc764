"""The tools for the Anthropic SDK's runners; importing this imports the SDK.

The SDK accepts only instances of its own classes, and calls a tool with the input that the model
sent. So the tools are subclasses of the SDK's abstract memory tools. They pass the input directly
to the engine. The SDK would first make an unvalidated model from it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    BetaFunctionToolResultType,
    ToolError,
)

from memdir._async_memory import AsyncMemory, is_view
from memdir._errors import ConfigError, RefusedError
from memdir._loops import NoThreadError, in_thread, running_loop
from memdir._memdir import Memory, answer, answer_nowait, begin, check_names, decode, fail
from memdir._request import entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import timedelta
    from typing import Literal

    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818Param,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
    from typing_extensions import Self, Unpack

    from memdir._errors import MemdirError
    from memdir._options import AsyncMemoryOptions, MemoryOptions, Places
    from memdir._request import ToolEntry
    from memdir._results import Expired, ExpiryProgress, Synced, SyncProgress
    from memdir._syncing import AsyncMergeFunction, MergeFunction

logger = logging.getLogger("memdir")

# A mapping with the fields of a command. `Any`, so a subclass may accept only the SDK's model.
_Fields: TypeAlias = Any

_COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")


_ARGUMENTS = ["store", "cache_control", "entry"]


def _checked(given: ToolEntry | None) -> ToolEntry:
    """The argument `entry`."""
    if given is None or isinstance(given, Mapping):
        return given or {}
    raise _wrong("entry", f"must be a dict, or None, got {given!r}")


def _wrong(name: str, problem: str) -> ConfigError:
    error = ConfigError(f"{name} {problem}")
    error.option = name
    return error


def _without_options(options: Mapping[str, object]) -> None:
    if options:
        raise TypeError(f"a memory that is open has its options already: {', '.join(options)}")


class _Engine:
    """The common part of both tools: the memory, its directory, and overridden methods."""

    base_path: Path | None
    memory_root: Path | None

    def _use(self, memory: Memory, store: object) -> None:
        self._memory = memory
        directory = memory.directory
        if directory is None:
            self.base_path = self.memory_root = None
        elif isinstance(store, os.PathLike) or (
            isinstance(store, str) and not store.startswith("dir:")
        ):
            self.base_path = Path(store).expanduser()
            self.memory_root = self.base_path / "memories"
        else:
            self.memory_root = directory
            self.base_path = directory.parent if directory.name == "memories" else directory

    def __repr__(self) -> str:
        _, _, shown = repr(self._memory).partition("(")
        return f"{type(self).__name__}({shown}"

    def _answer(self, input: object, command: str | None = None) -> BetaFunctionToolResultType:
        """Executes the input. `command` is set if a method named after the command was called."""
        return self._told(*answer(self._memory, input, command))

    def _told(
        self, answered: object, is_error: bool, cause: MemdirError | None
    ) -> BetaFunctionToolResultType:
        """The answer in the SDK's form."""
        # Our image blocks are valid SDK blocks. The SDK's type allows more fields, and a type
        # checker cannot know that ours never have them.
        content = cast("BetaFunctionToolResultType", answered)
        if not is_error:
            return content
        if not isinstance(cause, RefusedError):
            logger.error("%s", cause, exc_info=cause)
        raise ToolError(content) from cause

    def _own_way(self, input: object) -> str | None:
        """The command in `input`, if a subclass overrides its method."""
        try:
            if isinstance(input, dict):
                command = dict.get(input, "command")
            else:
                command = getattr(input, "command", None)
            return command if command in _COMMANDS and self._is_replaced(command) else None
        except Exception:  # noqa: BLE001 - the engine reports an object whose fields cannot be read
            return None

    def _is_replaced(self, method: str) -> bool:
        return getattr(getattr(self, method), "__func__", None) not in _OURS


class MemoryTool(_Engine, BetaAbstractMemoryTool):
    """Claude's memory tool for `Anthropic`: put it into a tool runner's `tools`.

    A refused command is a `ToolError` with the exact sentence for the model; the runner sends it
    back with `is_error`. A broken store or hook is a `ToolError`, too, with one short sentence
    without details; the details go to the logger `memdir`. The error's `__cause__` is a
    `RefusedError`, a `StoreError` or a `HookError`, each with its `kind`.

    A subclass may override `view`, `create` and so on: `call` and `execute` use the override. It
    gets a command of the SDK with all fields, of the right types.

    Several threads may call it at once, and several tools may share one store. Hooks (`before`,
    `after`) run on the calling thread.

    Args:
        store: Where the files are. A directory is created if it does not exist; the files are in
            its `memories` directory, the layout of the SDK's own tool. `"memory:"` is a new store
            in this process. Anything else that `Memory` accepts works, too, and so does an open
            `Memory`, without further options, such as `memory.acting_as("session 1")`.
        cache_control: The `cache_control` of the tool in each request.
        entry: Further fields of the tool's entry in each request, as a dict: `allowed_callers`,
            `defer_loading`, `input_examples`, `strict`.
        **options: The options of `Memory`.

    Attributes:
        base_path: The directory that was given; `None` if the files are kept elsewhere.
        memory_root: The directory in it that contains the files; `None` likewise.
        memory: The memory that the tool works on, for your own code. `close()`, or a `with`
            statement, closes it.

    Raises:
        ConfigError: The address or an option is wrong.
        StoreError: The store cannot be opened.

    >>> from memdir import MemoryTool
    >>> tool = MemoryTool("memory:")
    >>> tool.call({"command": "create", "path": "/memories/a", "file_text": "one"})
    'File created successfully at: /memories/a'
    >>> tool.memory.read("/memories/a")
    'one'
    >>> tool.call({"command": "delete", "path": "/memories/b"})
    Traceback (most recent call last):
    ...
    anthropic.lib.tools._beta_functions.ToolError: Error: The path /memories/b does not exist
    """

    def __init__(
        self,
        store: Places | Memory = "./memory",
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
        entry: ToolEntry | None = None,
        **options: Unpack[MemoryOptions],
    ) -> None:
        super().__init__(cache_control=cache_control)
        check_names(type(self).__name__, _ARGUMENTS, options)
        self._entry: ToolEntry = _checked(entry)
        if isinstance(store, AsyncMemory):
            raise _wrong("store", "must not be an AsyncMemory, which an AsyncMemoryTool takes")
        if isinstance(store, Memory):
            _without_options(options)
            self._use(store, store)
        else:
            self._use(Memory(store, **options), store)

    @property
    def memory(self) -> Memory:
        """The memory that the tool works on, for your own code."""
        return self._memory

    def close(self) -> None:
        """Closes the memory, even one that you passed in. Later calls raise a `ValueError`."""
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def to_dict(self) -> BetaMemoryTool20250818Param:
        """The tool's entry in a request."""
        return entry(super().to_dict(), self._entry)

    def call(self, input: object) -> BetaFunctionToolResultType:
        """Executes one tool call, given as the input that the model sent.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        if self._is_replaced("execute") or self._own_way(input):
            return self._call_own(input)
        return self._answer(input)

    def _call_own(self, input: object) -> BetaFunctionToolResultType:
        try:
            decoded = decode(input)
        except RefusedError:
            # The engine reports it like any other call, so the hooks run.
            return self._answer(input)
        # Makes the SDK's command from it, and calls `execute`.
        return super().call(decoded)

    def execute(
        self, command: BetaMemoryTool20250818Command | _Fields
    ) -> BetaFunctionToolResultType:
        """Executes one command: one of the SDK's models, or a mapping with the same fields.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        own = self._own_way(command)
        if own is None:
            return self._answer(command)
        if isinstance(command, Mapping):
            return self._call_own(command)
        result: BetaFunctionToolResultType = getattr(self, own)(command)
        return result

    def view(
        self, command: BetaMemoryTool20250818ViewCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Shows a directory two levels deep, the numbered lines of a file, or an image.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return self._answer(command, "view")

    def create(
        self, command: BetaMemoryTool20250818CreateCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Creates a new file and its missing parents.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return self._answer(command, "create")

    def str_replace(
        self, command: BetaMemoryTool20250818StrReplaceCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Replaces the only occurrence of a text in a file.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return self._answer(command, "str_replace")

    def insert(
        self, command: BetaMemoryTool20250818InsertCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Inserts whole lines into a file.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return self._answer(command, "insert")

    def delete(
        self, command: BetaMemoryTool20250818DeleteCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Deletes a file, or a directory with everything in it.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return self._answer(command, "delete")

    def rename(
        self, command: BetaMemoryTool20250818RenameCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Renames or moves a file or directory; never overwrites.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return self._answer(command, "rename")

    def clear_all_memory(self) -> BetaFunctionToolResultType:
        """Deletes everything below `/memories`. The model cannot call this.

        Raises:
            MemdirError: The store does not allow it, or is broken.
        """
        return self._memory.clear()

    def expire(
        self,
        older_than: float | timedelta,
        *,
        dry_run: bool = False,
        on_progress: Callable[[ExpiryProgress], object] | None = None,
    ) -> list[Expired]:
        """Removes the files that were not used for `older_than`. Same as `Memory.expire`.

        Raises:
            ConfigError: The memory or its store does not record accesses, or it is read-only.
            StoreError: The store is broken.
        """
        return self._memory.expire(older_than, dry_run=dry_run, on_progress=on_progress)

    def sync(
        self,
        other: Memory[Any] | AsyncMemory[Any] | Places,
        *,
        on_conflict: Literal["keep-both", "a", "b"] | MergeFunction = "keep-both",
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

        Raises:
            SyncError: Both memories are the same or overlap; too many files would be deleted; or a
                memory is read-only. Nothing was changed.
            StoreError: A store is broken. The changes before that stay, and the next sync makes the
                others.
            ConfigError: An option or the address is wrong.
        """
        return self._memory.sync(
            other,
            on_conflict=on_conflict,
            one_way=one_way,
            dry_run=dry_run,
            delete=delete,
            redactions=redactions,
            exclude=exclude,
            max_file_bytes=max_file_bytes,
            names=names,
            on_progress=on_progress,
        )


class AsyncMemoryTool(_Engine, BetaAsyncAbstractMemoryTool):
    """Claude's memory tool for `AsyncAnthropic`: put it into a tool runner's `tools`.

    A refused command is a `ToolError` with the exact sentence for the model; the runner sends it
    back with `is_error`. A broken store or hook is a `ToolError`, too, with one short sentence
    without details; the details go to the logger `memdir`. The error's `__cause__` is a
    `RefusedError`, a `StoreError` or a `HookError`, each with its `kind`.

    A subclass may override `view`, `create` and so on: `call` and `execute` use the override. It
    gets a command of the SDK with all fields, of the right types.

    It works like `AsyncMemory`, on asyncio and Trio, and never blocks the event loop. If a view's
    file is small and in memory, the view is answered at once. Everything else runs on memdir's own
    thread pool. If a task is cancelled before its command begins to write, the command is not
    executed. If the command has begun to write, it runs to its end. The hooks (`before`, `after`)
    may be coroutine functions, which are awaited in the task of the call. Plain functions run on
    the threads of the pool. Views and changes have at most 64 threads each.

    Args:
        store: Where the files are. A directory is created if it does not exist; the files are in
            its `memories` directory, the layout of the SDK's own tool. `"memory:"` is a new store
            in this process. Anything else that `Memory` accepts works, too, and so does an open
            `AsyncMemory`, without further options, such as `memory.acting_as("session 1")`.
        cache_control: The `cache_control` of the tool in each request.
        entry: Further fields of the tool's entry in each request, as a dict: `allowed_callers`,
            `defer_loading`, `input_examples`, `strict`.
        **options: The options of `AsyncMemory`.

    Attributes:
        base_path: The directory that was given; `None` if the files are kept elsewhere.
        memory_root: The directory in it that contains the files; `None` likewise.
        memory: The memory that the tool works on, for your own code. `await aclose()`, or an
            `async with` statement, closes it.

    Raises:
        ConfigError: The address or an option is wrong.
        StoreError: The store cannot be opened.

    >>> import asyncio
    >>> from memdir import AsyncMemoryTool
    >>> tool = AsyncMemoryTool("memory:")
    >>> asyncio.run(tool.call({"command": "create", "path": "/memories/a", "file_text": "one"}))
    'File created successfully at: /memories/a'
    """

    def __init__(
        self,
        store: Places | AsyncMemory = "./memory",
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
        entry: ToolEntry | None = None,
        **options: Unpack[AsyncMemoryOptions],
    ) -> None:
        super().__init__(cache_control=cache_control)
        check_names(type(self).__name__, _ARGUMENTS, options)
        self._entry: ToolEntry = _checked(entry)
        if isinstance(store, Memory):
            raise _wrong("store", "must not be a Memory: an AsyncMemoryTool takes an AsyncMemory")
        if isinstance(store, AsyncMemory):
            _without_options(options)
            self._async = store
        else:
            self._async = AsyncMemory(store, **options)
        self._use(self._async._memory, store)

    @property
    def memory(self) -> AsyncMemory:
        """The memory that the tool works on, for your own code."""
        return self._async

    async def aclose(self) -> None:
        """Closes the memory, even one that you passed in. Later calls raise a `ValueError`."""
        await self._async.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    async def _answer_async(
        self, input: object, command: str | None = None
    ) -> BetaFunctionToolResultType:
        """Same as `_answer`: at once if the file is in memory, otherwise on a thread."""
        if (hooks := self._async._hooks) is not None:
            call = await hooks.carry_out(self._memory, begin(self._memory, input, command))
            return self._told(*call.answer())
        view = is_view(input, command)
        if view and (loop := running_loop()).has_turn():
            await loop.turn()
            answered = answer_nowait(self._memory, input, command)
            if answered is not None:
                return self._told(*answered)
        try:
            work = partial(self._answer, input, command)
            return await in_thread(self._memory, work, view=view)
        except NoThreadError as error:
            raised = error.__cause__
        return self._told(*fail(self._memory, input, command, raised))

    def to_dict(self) -> BetaMemoryTool20250818Param:
        """The tool's entry in a request."""
        return entry(super().to_dict(), self._entry)

    async def call(self, input: object) -> BetaFunctionToolResultType:
        """Executes one tool call, given as the input that the model sent.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        if self._is_replaced("execute") or self._own_way(input):
            return await self._call_own(input)
        return await self._answer_async(input)

    async def _call_own(self, input: object) -> BetaFunctionToolResultType:
        try:
            decoded = decode(input)
        except RefusedError:
            # The engine reports it like any other call, so the hooks run.
            return await self._answer_async(input)
        # Makes the SDK's command from it, and calls `execute`.
        return await super().call(decoded)

    async def execute(
        self, command: BetaMemoryTool20250818Command | _Fields
    ) -> BetaFunctionToolResultType:
        """Executes one command: one of the SDK's models, or a mapping with the same fields.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        own = self._own_way(command)
        if own is None:
            return await self._answer_async(command)
        if isinstance(command, Mapping):
            return await self._call_own(command)
        result: BetaFunctionToolResultType = await getattr(self, own)(command)
        return result

    async def view(
        self, command: BetaMemoryTool20250818ViewCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Shows a directory two levels deep, the numbered lines of a file, or an image.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return await self._answer_async(command, "view")

    async def create(
        self, command: BetaMemoryTool20250818CreateCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Creates a new file and its missing parents.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return await self._answer_async(command, "create")

    async def str_replace(
        self, command: BetaMemoryTool20250818StrReplaceCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Replaces the only occurrence of a text in a file.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return await self._answer_async(command, "str_replace")

    async def insert(
        self, command: BetaMemoryTool20250818InsertCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Inserts whole lines into a file.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return await self._answer_async(command, "insert")

    async def delete(
        self, command: BetaMemoryTool20250818DeleteCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Deletes a file, or a directory with everything in it.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return await self._answer_async(command, "delete")

    async def rename(
        self, command: BetaMemoryTool20250818RenameCommand | _Fields
    ) -> BetaFunctionToolResultType:
        """Renames or moves a file or directory; never overwrites.

        Raises:
            ToolError: The command was refused, or the store is broken.
        """
        return await self._answer_async(command, "rename")

    async def clear_all_memory(self) -> BetaFunctionToolResultType:
        """Deletes everything below `/memories`. The model cannot call this.

        Raises:
            MemdirError: The store does not allow it, or is broken.
        """
        return await self._async.clear()

    async def expire(
        self,
        older_than: float | timedelta,
        *,
        dry_run: bool = False,
        on_progress: Callable[[ExpiryProgress], object] | None = None,
    ) -> list[Expired]:
        """Removes the files that were not used for `older_than`. Same as `Memory.expire`.

        `on_progress` is called on the thread that executes the call.

        Raises:
            ConfigError: The memory or its store does not record accesses, or it is read-only.
            StoreError: The store is broken.
        """
        return await self._async.expire(older_than, dry_run=dry_run, on_progress=on_progress)

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
        """Makes this memory and another one equal. Same as `AsyncMemory.sync`.

        Raises:
            SyncError: Both memories are the same or overlap; too many files would be deleted; or a
                memory is read-only. Nothing was changed.
            StoreError: A store is broken. The changes before that stay, and the next sync makes the
                others.
            ConfigError: An option or the address is wrong.
        """
        return await self._async.sync(
            other,
            on_conflict=on_conflict,
            one_way=one_way,
            dry_run=dry_run,
            delete=delete,
            redactions=redactions,
            exclude=exclude,
            max_file_bytes=max_file_bytes,
            names=names,
            on_progress=on_progress,
        )


# Our own methods, to detect which ones a subclass overrides.
_OURS = frozenset(
    getattr(tool, method)
    for tool in (MemoryTool, AsyncMemoryTool)
    for method in (*_COMMANDS, "execute")
)

for _class in (MemoryTool, AsyncMemoryTool):
    _class.__module__ = "memdir"
