"""Functions that merge the conflicts of a sync."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from memdir._loops import await_on, running_loop
from memdir._results import SyncMerge

MergeFunction: TypeAlias = Callable[[SyncMerge], str | None]
"""Returns the text that both memories get, or `None` to keep both contents."""

AsyncMergeFunction: TypeAlias = MergeFunction | Callable[[SyncMerge], Awaitable[str | None]]
"""A merge function of `AsyncMemory`: a function or a coroutine function."""


def awaited_here(merge: AsyncMergeFunction) -> MergeFunction:
    """The same as a function that a thread of the core calls.

    A coroutine runs on the loop of this task.
    """
    loop = running_loop()

    def merged(file: SyncMerge) -> str | None:
        text = merge(file)
        return await_on(loop, text) if inspect.isawaitable(text) else text

    return merged
