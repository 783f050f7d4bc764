"""The functions of a sync that may be coroutine functions: merge functions, and hooks."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from memdir._loops import await_on, running_loop
from memdir._results import SyncMerge

if TYPE_CHECKING:
    from contextvars import Token

MergeFunction: TypeAlias = Callable[[SyncMerge], str | None]
"""Returns the text that both memories get, or `None` to keep both contents."""

AsyncMergeFunction: TypeAlias = MergeFunction | Callable[[SyncMerge], Awaitable[str | None]]
"""A merge function of `AsyncMemory`: a function or a coroutine function."""


class SyncTask:
    """The task that awaits a sync, for the thread of the core that does it."""

    def __init__(self) -> None:
        self._loop = running_loop()
        self._mutex = threading.Lock()
        self._cancel: Callable[[], object] | None = None
        self._is_cancelled = False

    def result(self, returned: Any) -> Any:
        """Awaits what a function returned, if it is an awaitable, on the loop of the task.

        The thread of the sync calls this.
        """
        if not inspect.isawaitable(returned):
            return returned
        return await_on(self._loop, returned, self._begun)

    def cancel(self) -> None:
        """Cancels the awaitable. Called in the task, after which no other one begins."""
        with self._mutex:
            self._is_cancelled = True
            cancel = self._cancel
        if cancel is not None:
            cancel()

    def _begun(self, cancel: Callable[[], object]) -> None:
        with self._mutex:
            self._cancel = cancel
            is_cancelled = self._is_cancelled
        if is_cancelled:
            cancel()

    def enter(self) -> Token[SyncTask | None]:
        """Makes this the task of the syncs that begin in this context."""
        return _syncing.set(self)

    @staticmethod
    def leave(token: Token[SyncTask | None]) -> None:
        """Ends `enter`."""
        _syncing.reset(token)


def sync_task() -> SyncTask | None:
    """Returns the task of the sync on this thread; `None` if no task awaits it."""
    return _syncing.get()


_syncing: ContextVar[SyncTask | None] = ContextVar("memdir_sync_task", default=None)


class AwaitedMerge:
    """A merge function of `AsyncMemory`, as one that a thread of the core calls."""

    def __init__(self, merge: AsyncMergeFunction, task: SyncTask) -> None:
        self._merge = merge
        self._task = task

    def __call__(self, file: SyncMerge) -> str | None:
        text: str | None = self._task.result(self._merge(file))
        return text
