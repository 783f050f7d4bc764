"""The threads that execute an asynchronous tool's commands.

They are AnyIO's, but we count them: changes may have to wait for another writer, so views have
their own threads, and so has the rest of the program. A thread whose task was cancelled counts
until it ends; its command is cancelled, unless it has begun to write.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync

from memdir._memdir import Cancellation

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# As many as AnyIO gives by default.
_MOST = 40
_FOR_VIEWS: RunVar[CapacityLimiter] = RunVar("memdir: threads for views")
_FOR_CHANGES: RunVar[CapacityLimiter] = RunVar("memdir: threads for changes")


class NoThreadError(Exception):
    """No thread could be started. Nothing was done; the `__cause__` says why."""


async def in_thread(work: Callable[[Cancellation], T], *, view: bool) -> T:
    """Runs `work` in a thread. If the task is cancelled, `work` can see it and is not awaited.

    Raises:
        NoThreadError: The system cannot start a thread.
    """
    limiter = _limiter(_FOR_VIEWS if view else _FOR_CHANGES)
    cancellation = Cancellation()
    begun = False

    def begin() -> T:
        nonlocal begun
        begun = True
        return work(cancellation)

    try:
        if not _is_asyncio():
            return await run_sync(begin, abandon_on_cancel=True, limiter=limiter)
        # A task of its own: it holds its place among the threads until the thread ends.
        task = asyncio.ensure_future(run_sync(begin, limiter=limiter))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not begun:
                task.cancel()
            raise
    except RuntimeError as error:
        if begun:
            raise
        raise NoThreadError from error
    finally:
        # Of no consequence to what has come to its end.
        cancellation.cancel()


def _limiter(variable: RunVar[CapacityLimiter]) -> CapacityLimiter:
    """The one of this event loop."""
    limiter = variable.get(None)
    if limiter is None:
        limiter = CapacityLimiter(_MOST)
        variable.set(limiter)
    return limiter


def _is_asyncio() -> bool:
    """Whether this is a task of asyncio's, and not of Trio's."""
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False
