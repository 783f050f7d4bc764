"""Functions that merge the conflicts of a sync."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from memdir._loops import await_on, running_loop
from memdir._results import SyncMerge

MergeFunction: TypeAlias = Callable[[SyncMerge], str | None]
"""Returns the text that both memories get, or `None` to keep both contents."""

AsyncMergeFunction: TypeAlias = MergeFunction | Callable[[SyncMerge], Awaitable[str | None]]
"""A merge function of `AsyncMemory`: a function or a coroutine function."""


class AwaitedMerge:
    """A merge function of `AsyncMemory`, as one that a thread of the core calls.

    A coroutine runs on the loop of the task that made this.
    """

    def __init__(self, merge: AsyncMergeFunction) -> None:
        self._merge = merge
        self._loop = running_loop()
        self._mutex = threading.Lock()
        self._cancel: Callable[[], object] | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        """Cancels the coroutine. Called in the task, after which no other one begins."""
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

    def __call__(self, file: SyncMerge) -> str | None:
        text = self._merge(file)
        return await_on(self._loop, text, self._begun) if inspect.isawaitable(text) else text
