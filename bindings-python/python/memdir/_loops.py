"""How a call waits on an event loop, of asyncio or Trio, for a thread of the core.

Each loop has one list of results. A thread appends a result and wakes the loop up, unless a wake-up
is already pending, so many results need only one. Neither loop is imported before it runs.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
import time
import weakref
from collections import deque
from concurrent import futures
from contextlib import nullcontext
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from memdir import _memdir

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager

    from memdir._memdir import Memory

    # Submits a call that can be cancelled, and that delivers its outcome.
    Submit: TypeAlias = Callable[[_memdir.Cancellation, Callable[..., None]], None]
    # Gets a function that cancels an awaitable on a loop.
    Begun: TypeAlias = Callable[[Callable[[], object]], None]
    # Called when the task is cancelled. Returns whether the task can stop waiting for the call.
    GiveUp: TypeAlias = Callable[[], bool]

T = TypeVar("T")

# The outcome of a call: its result and its exception, one of them `None`.
Outcome: TypeAlias = tuple[Any, BaseException | None]

# The number of calls in a row that are answered on the loop's thread before the loop has a turn.
_IN_A_ROW = 32

# How often a thread that waits for a coroutine checks whether the loop still runs, in seconds.
_LOOK = 0.2

# How long it waits for a loop that does not run, because the loop may run again.
_STOPPED = 60.0


class NoThreadError(Exception):
    """No thread could be started. Nothing was done; the `__cause__` says why."""


class AsyncioLoop:
    """A loop of asyncio, for the tasks that run on it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)
        self._outcomes: deque[tuple[asyncio.Future[Outcome], Outcome]] = deque()
        self._waking = False
        self._in_a_row = 0

    def is_of(self, loop: asyncio.AbstractEventLoop) -> bool:
        return self._loop() is loop

    def has_turn(self) -> bool:
        """Returns whether a call may be answered on this thread. False after too many in a row."""
        if self._in_a_row == 0:
            loop = self._loop()
            if loop is None:
                return False
            loop.call_soon(self._begin)
        self._in_a_row += 1
        return self._in_a_row <= _IN_A_ROW

    def _begin(self) -> None:
        self._in_a_row = 0

    async def turn(self) -> None:
        """Trio requires a checkpoint in every call; asyncio does not."""

    async def sleep(self, seconds: float) -> None:
        """Lets other tasks run for `seconds`."""
        await asyncio.sleep(seconds)

    def cancellations(self) -> int:
        """The number of cancellations of this task. Python 3.10 does not count them."""
        cancelling = getattr(asyncio.current_task(), "cancelling", None)
        return 0 if cancelling is None else cancelling()

    async def raise_cancellation(self, before: int) -> None:
        """Raises a cancellation that other code caught since there were `before`."""
        if self.cancellations() > before:
            # If it was not raised yet, it is raised here.
            await asyncio.sleep(0)
            raise asyncio.CancelledError

    def shielded(self) -> AbstractContextManager[object]:
        """Lets a task that is already cancelled wait for the code within.

        asyncio cancels a task once. A cancel scope of AnyIO cancels it until the task has left the
        scope.
        """
        anyio = sys.modules.get("anyio")
        return nullcontext() if anyio is None else _shield(anyio)

    async def wait(self, submit: Submit, give_up: GiveUp | None = None) -> Outcome:
        """Waits for the outcome of the call that `submit` submits. Cancelling the task cancels it.

        If `give_up` then returns false, the cancellation is raised when the outcome is there. A
        second cancellation does not wait.
        """
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Outcome] = loop.create_future()
        cancellation = _memdir.Cancellation()
        try:
            submit(cancellation, partial(self._deliver, loop, waiter))
            return await (waiter if give_up is None else asyncio.shield(waiter))
        except BaseException as raised:
            cancellation.cancel()
            if give_up is not None and isinstance(raised, asyncio.CancelledError) and not give_up():
                with self.shielded():
                    await waiter
            raise

    def result(self, awaitable: Awaitable[T], begun: Begun | None = None) -> T:
        """Awaits on this loop, and returns the result to the thread of the core that calls this.

        `begun` gets a function that cancels it, which any thread may call.
        """
        loop, coroutine = self._loop(), _awaited(awaitable)
        try:
            if loop is None:
                raise RuntimeError("the event loop is closed")
            future = asyncio.run_coroutine_threadsafe(coroutine, loop)
            if begun is not None:
                begun(future.cancel)
            _wait_while_running(future, loop)
        except RuntimeError:
            # A coroutine that has begun belongs to the loop.
            if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
                coroutine.close()
            raise
        try:
            return future.result()
        except futures.CancelledError:
            raise RuntimeError("the event loop cancelled the call") from None

    def _deliver(
        self,
        loop: asyncio.AbstractEventLoop,
        waiter: asyncio.Future[Outcome],
        result: object,
        raised: BaseException | None,
    ) -> None:
        """Runs on a thread of the core. The first result wakes the loop, which takes all."""
        self._outcomes.append((waiter, (result, raised)))
        if not self._waking:
            self._waking = True
            try:
                loop.call_soon_threadsafe(self._hand_out)
            except RuntimeError:
                # The loop is closed, so no task waits for the results.
                self._outcomes.clear()

    def _hand_out(self) -> None:
        # Reset before the first look, so a result that arrives meanwhile is not missed.
        self._waking = False
        while self._outcomes:
            waiter, outcome = self._outcomes.popleft()
            if not waiter.done():
                waiter.set_result(outcome)


class TrioLoop:
    """A run of Trio."""

    def __init__(self) -> None:
        self._trio = sys.modules["trio"]
        self._token = self._trio.lowlevel.current_trio_token()
        self._outcomes: deque[tuple[list[Any], Outcome]] = deque()
        self._waking = False

    def is_of(self, token: object) -> bool:
        return self._token is token

    def has_turn(self) -> bool:
        return True

    async def turn(self) -> None:
        """In Trio every call is a checkpoint: other tasks run, and a cancellation is raised."""
        await self._trio.lowlevel.checkpoint()

    async def sleep(self, seconds: float) -> None:
        """Lets other tasks run for `seconds`."""
        await self._trio.sleep(seconds)

    def cancellations(self) -> int:
        """Trio needs no number: a scope stays cancelled."""
        return 0

    async def raise_cancellation(self, _: int) -> None:
        """Raises a cancellation that other code caught."""
        await self._trio.lowlevel.checkpoint_if_cancelled()

    def shielded(self) -> AbstractContextManager[object]:
        """Lets a task that is already cancelled wait for the code within."""
        return _shield(self._trio)

    async def wait(self, submit: Submit, give_up: GiveUp | None = None) -> Outcome:
        """Waits for the outcome of the call that `submit` submits. Cancelling the task cancels it.

        If `give_up` then returns false, the cancellation is raised when the outcome is there.
        """
        trio = self._trio
        await trio.lowlevel.checkpoint_if_cancelled()
        # Holds the task as long as it waits.
        waiter = [trio.lowlevel.current_task()]
        cancellation = _memdir.Cancellation()

        def abort(_: object) -> Any:
            cancellation.cancel()
            if give_up is not None and not give_up():
                return trio.lowlevel.Abort.FAILED
            waiter.clear()
            return trio.lowlevel.Abort.SUCCEEDED

        try:
            submit(cancellation, partial(self._deliver, waiter))
            outcome: Outcome = await trio.lowlevel.wait_task_rescheduled(abort)
            if give_up is not None:
                await trio.lowlevel.checkpoint_if_cancelled()
        except BaseException:
            # Ctrl-C is raised wherever the task is, even before it waits.
            waiter.clear()
            cancellation.cancel()
            raise
        return outcome

    def result(self, awaitable: Awaitable[T], begun: Begun | None = None) -> T:
        """Awaits in this run, and returns the result to the thread of the core that calls this.

        `begun` gets a function that cancels it, which the thread of this run may call.
        """

        async def awaited() -> T:
            with self._trio.CancelScope() as scope:
                if begun is not None:
                    begun(scope.cancel)
                return await awaitable
            raise RuntimeError("the event loop cancelled the call")

        result: T = self._trio.from_thread.run(awaited, trio_token=self._token)
        return result

    def _deliver(self, waiter: list[Any], result: object, raised: BaseException | None) -> None:
        """Runs on a thread of the core. The first result wakes the loop, which takes all."""
        self._outcomes.append((waiter, (result, raised)))
        if not self._waking:
            self._waking = True
            try:
                self._token.run_sync_soon(self._hand_out)
            except self._trio.RunFinishedError:
                self._outcomes.clear()

    def _hand_out(self) -> None:
        # Reset before the first look, so a result that arrives meanwhile is not missed.
        self._waking = False
        while self._outcomes:
            waiter, outcome = self._outcomes.popleft()
            if waiter:
                outcomes = sys.modules["outcome"]
                self._trio.lowlevel.reschedule(waiter.pop(), outcomes.Value(outcome))


def _wait_while_running(future: futures.Future[T], loop: asyncio.AbstractEventLoop) -> None:
    """Waits for a result from this loop.

    Raises:
        RuntimeError: The loop has ended, so there will be no result.
    """
    ran = time.monotonic()
    while not futures.wait([future], _LOOK).done:
        # The result may have come since the last look.
        if loop.is_closed() and not future.done():
            raise RuntimeError("the event loop was closed during the call")
        now = time.monotonic()
        if loop.is_running():
            ran = now
        elif now - ran > _STOPPED:
            future.cancel()
            raise RuntimeError("the event loop was stopped during the call")


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _shield(library: Any) -> AbstractContextManager[object]:
    scope: AbstractContextManager[object] = library.CancelScope(shield=True)
    return scope


def await_on(
    loop: AsyncioLoop | TrioLoop, awaitable: Awaitable[T], begun: Begun | None = None
) -> T:
    """Awaits on a loop, and returns the result to the thread of the core that calls this."""
    try:
        return loop.result(awaitable, begun)
    finally:
        # Otherwise Python prints a warning about a coroutine that no loop has begun.
        created = inspect.CORO_CREATED
        if inspect.iscoroutine(awaitable) and inspect.getcoroutinestate(awaitable) == created:
            awaitable.close()


class _Here(threading.local):
    """The loop that this thread ran last."""

    def __init__(self) -> None:
        self.of_asyncio: AsyncioLoop | None = None
        self.of_trio: TrioLoop | None = None


_here = _Here()


def running_loop() -> AsyncioLoop | TrioLoop:
    """The loop that runs this task."""
    try:
        # It is not enough that an asyncio loop runs: Trio can be a guest on it.
        is_task = asyncio.current_task() is not None
    except RuntimeError:
        is_task = False
    if is_task:
        loop = asyncio.get_running_loop()
        known = _here.of_asyncio
        if known is None or not known.is_of(loop):
            known = AsyncioLoop(loop)
            _here.of_asyncio = known
        return known
    if "trio" not in sys.modules:
        raise RuntimeError("no event loop is running: await this in a task of asyncio or Trio")
    run = _here.of_trio
    if run is None or not run.is_of(sys.modules["trio"].lowlevel.current_trio_token()):
        run = TrioLoop()
        _here.of_trio = run
    return run


async def in_thread(
    memory: Memory | None,
    work: Callable[[], T],
    *,
    view: bool,
    search: bool = False,
    alone: bool = False,
    give_up: GiveUp | None = None,
) -> T:
    """Does `work` on a thread of the core, in the context of this task.

    A view and a change have different threads. A search has others if the memory has an embedder.
    Work that is `alone` has a new thread.

    If the task is cancelled before `work` begins, `work` is not done. If the task is cancelled
    later, it does not wait for `work`, unless `give_up` returns false. The command that `work`
    executes is cancelled, unless it has begun to write.

    Raises:
        NoThreadError: The system cannot start a thread.
    """
    work = _in_context(work)

    def submit(cancellation: _memdir.Cancellation, deliver: Callable[..., None]) -> None:
        _submit(cancellation, memory, work, deliver, view=view, search=search, alone=alone)

    result, raised = await running_loop().wait(submit, give_up)
    if raised is None:
        done: T = result
        return done
    try:
        raise raised
    finally:
        # The exception refers to this frame, which would keep the exception alive.
        del raised


def do_in_thread(memory: Memory, work: Callable[[], object]) -> None:
    """Does `work` on a thread of the core, in the context of this task. Nothing waits for it.

    Raises:
        NoThreadError: The system cannot start a thread.
    """
    _submit(_memdir.Cancellation(), memory, _in_context(work), _ignore, view=False)


def _ignore(result: object, raised: BaseException | None) -> None:
    if raised is not None:
        raise raised


def _submit(
    cancellation: _memdir.Cancellation,
    memory: Memory | None,
    work: Callable[[], object],
    deliver: Callable[..., None],
    *,
    view: bool,
    search: bool = False,
    alone: bool = False,
) -> None:
    try:
        _memdir.submit(cancellation, memory, work, deliver, view, search, alone)
    except RuntimeError as error:
        raise NoThreadError from error


def _in_context(work: Callable[[], T]) -> Callable[[], T]:
    """The same, in the context of this task."""
    context = copy_context()
    sniffio = sys.modules.get("sniffio")
    if sniffio is not None:
        # That thread has no event loop.
        context.run(sniffio.current_async_library_cvar.set, None)
    return partial(context.run, work)


async def until_idle(memory: Memory) -> None:
    """Waits until no call of `memory` runs on a thread."""

    def submit(_: _memdir.Cancellation, deliver: Callable[..., None]) -> None:
        told = partial(deliver, None, None)
        if not _memdir.when_idle(memory, told):
            told()

    await running_loop().wait(submit)
