"""The hooks of an `AsyncMemory`: called around each command, and awaited where they can be.

The engine decodes a call and later executes its command; in between nothing waits (`PendingCall`).
So a hook that is a coroutine function is awaited here, in the task of the call, and holds no
thread. A plain function is called on the thread that executes the command, as part of the same
work. If it returns an awaitable, the thread hands that over to the task.
"""

from __future__ import annotations

import inspect
import logging
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memdir import _memdir
from memdir._errors import StoreError
from memdir._loops import NoThreadError, in_thread, running_loop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from memdir._memdir import HookCall, Memory, PendingCall
    from memdir._results import Event

logger = logging.getLogger("memdir")


class _Answer(NamedTuple):
    """How the hook `before` ended."""

    returned: object = None
    raised: BaseException | None = None


class _Asked(NamedTuple):
    """What `before` returned on a thread, and only the task can await."""

    awaitable: Awaitable[object]


class _Told(NamedTuple):
    """What `after` returned on a thread, and only the task can await."""

    awaitable: Awaitable[object]


class AsyncHookCall:
    """What a coroutine function as the hook `before` may know of a call, beside the command.

    Attributes:
        actor: Who acts: that of `acting_as`, or the option `actor`; `None` if there is none.
        session: The session: each memory has its own, and each that `acting_as` makes.
        tool_use_id: The `id` of the `tool_use` block; `None` if the input was not a whole block.
    """

    __slots__ = ("_call", "_memory", "actor", "session", "tool_use_id")

    def __init__(self, memory: Memory, call: HookCall) -> None:
        self._memory = memory
        self._call = call
        self.actor = call.actor
        self.session = call.session
        self.tool_use_id = call.tool_use_id

    async def diff(self) -> str:
        """As `HookCall.diff`."""
        try:
            return await in_thread(self._memory, self._call.diff, view=True)
        except NoThreadError as error:
            raise StoreError(f"no thread can be had: {error.__cause__}") from error.__cause__


AsyncHookCall.__module__ = "memdir"


class Hooks:
    """The hooks of a memory, and of all sessions of it."""

    def __init__(
        self, before: Callable[..., object] | None, after: Callable[..., object] | None
    ) -> None:
        self._before = before
        self._after = after
        self._before_waits = before is not None and _memdir.is_coroutine_function(before)
        self._takes_call = before is not None and _memdir.takes_call(before)
        self._after_waits = after is not None and _memdir.is_coroutine_function(after)

    def are_running(self) -> bool:
        """Whether one of them runs in this task, or in a task that started this one."""
        return self in _running.get()

    async def carry_out(self, memory: Memory, call: PendingCall) -> PendingCall:
        """Executes the rest of a call, which has its reply then.

        If the task is cancelled while a hook waits, the hook gets the cancellation. Nothing is
        executed if that was `before`, or if the command has not begun to write.
        """
        try:
            if self.are_running():
                await self._without_hooks(memory, call)
            else:
                await self._with_hooks(memory, call)
        finally:
            call.end()
        return call

    async def _without_hooks(self, memory: Memory, call: PendingCall) -> None:
        try:
            await in_thread(memory, partial(call.finish, None, None), view=call.is_view)
        except NoThreadError as error:
            call.fail(error.__cause__)

    async def _with_hooks(self, memory: Memory, call: PendingCall) -> None:
        before, view = self._before, call.is_view
        command = call.command if self._before_waits else None
        # Else a thread has all of the call, and tells `after` whatever becomes of the task.
        is_ours = self._before_waits or self._after_waits

        def unless_begun() -> bool:
            return call.cancel() is not None

        # Where `after` waits, its task has to see how the command ended.
        give_up = unless_begun if self._after_waits else None

        on_thread = partial(in_thread, memory, view=view, give_up=give_up)
        told: _Asked | _Told | None
        try:
            if before is not None and command is not None:
                known = call.hook_call if self._takes_call else None
                named = {} if known is None else {"call": AsyncHookCall(memory, known)}
                answer = await self._answer(lambda: before(command, **named))
                told = await on_thread(partial(self._finished, call, answer))
            else:
                told = await on_thread(partial(self._asked, call))
                if isinstance(told, _Asked):
                    is_ours, question = True, told.awaitable
                    answer = await self._answer(lambda: question)
                    told = await on_thread(partial(self._finished, call, answer))
        except NoThreadError as error:
            told = self._told(call.fail(error.__cause__))
        except GeneratorExit:
            # The event loop runs this task no longer, so it cannot wait.
            raise
        except BaseException:
            if is_ours:
                await self._give_up(memory, call)
            raise
        if self._after_waits and call.event is not None:
            await self._tell(memory, call.event)
        elif told is not None:
            await self._logging(lambda: told.awaitable)

    async def _give_up(self, memory: Memory, call: PendingCall) -> None:
        """Tells `after` of a call whose task is cancelled."""
        event = call.cancel()
        if event is None and self._after_waits:
            # It was too late.
            event = call.event
        if event is not None:
            with running_loop().shielded():
                await self._tell(memory, event)

    async def _answer(self, question: Callable[[], object]) -> _Answer:
        try:
            with self._marked():
                return _Answer(returned=await _awaitable(question()))
        except Exception as raised:  # noqa: BLE001 - the engine says what it means
            return _Answer(raised=raised)

    async def _tell(self, memory: Memory, event: Event) -> None:
        after = self._after
        if after is None:
            return
        if self._after_waits:
            await self._logging(lambda: after(event))
            return
        try:
            told = await in_thread(memory, lambda: self._told(event), view=False)
        except NoThreadError:
            told = self._told(event)
        if told is not None:
            await self._logging(lambda: told.awaitable)

    async def _logging(self, telling: Callable[[], object]) -> None:
        try:
            with self._marked():
                await _awaitable(telling())
        except Exception as raised:  # noqa: BLE001 - what is done is done
            _log(raised)

    # What is done on the thread of the call.

    def _asked(self, call: PendingCall) -> _Asked | _Told | None:
        if self._before is None:
            return self._finished(call, _Answer())
        try:
            with self._marked():
                returned = call.ask(self._before, self._takes_call)
        except BaseException as raised:  # noqa: BLE001 - the engine says what it means
            return self._finished(call, _Answer(raised=raised))
        if returned is not None and inspect.isawaitable(returned):
            return _Asked(returned)
        return self._finished(call, _Answer(returned=returned))

    def _finished(self, call: PendingCall, answer: _Answer) -> _Told | None:
        return self._told(call.finish(*answer))

    def _told(self, event: Event | None) -> _Told | None:
        """Tells a plain `after`."""
        if event is None or self._after is None or self._after_waits:
            return None
        try:
            with self._marked():
                returned = self._after(event)
        except Exception as raised:  # noqa: BLE001 - what is done is done
            _log(raised)
            return None
        if returned is not None and inspect.isawaitable(returned):
            return _Told(returned)
        return None

    @contextmanager
    def _marked(self) -> Iterator[None]:
        """Marks that one of them runs: its own commands go without hooks."""
        token = _running.set(_running.get() | {self})
        try:
            yield
        finally:
            # An abandoned task is closed in another context.
            with suppress(ValueError):
                _running.reset(token)


_running: ContextVar[frozenset[Hooks]] = ContextVar("memdir_running_hooks", default=frozenset())


def _awaitable(returned: object) -> Awaitable[object]:
    """For a type checker: a hook that is no coroutine function may return anything."""
    if inspect.isawaitable(returned):
        return returned
    raise TypeError(f"an awaitable is expected, not {type(returned).__name__}")


def _log(raised: Exception) -> None:
    logger.error("the hook `after` failed", exc_info=raised)
