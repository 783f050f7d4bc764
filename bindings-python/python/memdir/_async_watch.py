"""`AsyncWatch`: `Watch` for the tasks of an event loop, which waits without a thread."""

from __future__ import annotations

import math
import time
from collections import deque
from typing import TYPE_CHECKING, Protocol, TypeVar

from memdir import _memdir
from memdir._loops import running_loop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta
    from types import TracebackType

    from typing_extensions import Self

    from memdir._memdir import Watch
    from memdir._results import Change

T = TypeVar("T")

# How long it sleeps before it checks again whether it is time to poll. The check costs nothing.
_PAUSE = 0.05


class _InThread(Protocol):
    """Does work on a thread of the core."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class AsyncWatch:
    """Reports changes in a memory; `AsyncMemory.watch` makes it.

    `async for` waits for the next change, and ends when the watch is closed. The watch begins when
    the first change is awaited, or with `async with`, which closes it at its end. A watch that
    waits holds no thread.
    """

    def __init__(self, begin: Callable[[], Watch], in_thread: _InThread) -> None:
        self._begin = begin
        self._in_thread = in_thread
        self._watch: Watch | None = None
        self._closed = False
        # Changes that were found, but not yet returned to the caller.
        self._found: deque[Change] = deque()

    async def changes(self, wait: float | timedelta) -> list[Change]:
        """Returns the changes since the last call, as `Watch.changes` does.

        Args:
            wait: The longest time to wait: seconds, or a `timedelta`. With 0 it polls once.

        Raises:
            ConfigError: `wait` is negative or not a number.
            RefusedError: The path is not under `/memories`.
            StoreError: The store itself failed. The next call returns the changes this one missed.
            ValueError: The watch is closed.
        """
        await self._wait(_memdir.wait_seconds(wait))
        changes = []
        while self._found:
            changes.append(self._found.popleft())
        return changes

    async def _wait(self, seconds: float) -> None:
        """Waits until a change is found, at most `seconds`."""
        until = time.monotonic() + seconds
        watch = await self._begun()

        def look() -> None:
            # The changes are kept here, so none is lost if the task is cancelled meanwhile.
            self._found.extend(watch.changes(0))

        while not self._found:
            is_last = time.monotonic() >= until
            if is_last or _memdir.is_due(watch):
                await self._in_thread(look)
            if is_last:
                return
            if not self._found:
                await running_loop().sleep(max(0, min(_PAUSE, until - time.monotonic())))

    async def aclose(self) -> None:
        """Ends the watch. Iterations over it end, too."""
        self._closed = True
        watch = self._watch
        if watch is not None:
            # This does not wait for the store.
            watch.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        await running_loop().turn()
        try:
            # Another task may take the changes first.
            while not self._found:
                await self._wait(math.inf)
        except ValueError:
            if self._closed:
                raise StopAsyncIteration from None
            raise
        return self._found.popleft()

    async def __aenter__(self) -> Self:
        await self._begun()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _begun(self) -> Watch:
        if self._closed:
            raise ValueError("the watch is closed")
        if self._watch is None:
            watch = await self._in_thread(self._begin)
            # Another task may have been faster.
            self._watch = self._watch or watch
        return self._watch


AsyncWatch.__module__ = "memdir"
