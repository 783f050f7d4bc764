"""The hooks of an `AsyncMemory`: called around each command, and awaited if they are coroutines.

The engine decodes a call and executes its command in two separate steps (`PendingCall`). A hook
that is a coroutine function is awaited between them, in the task of the call, and holds no thread.
A plain function is called on the thread that executes the command, as part of the same work. If it
returns an awaitable, the thread passes the awaitable to the task. In a sync, the thread of the sync
calls the hooks, and waits for their awaitables.
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
from memdir._loops import NoThreadError, do_in_thread, in_thread, running_loop
from memdir._syncing import sync_task

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
    """An awaitable that `before` returned on a thread. Only the task can await it."""

    awaitable: Awaitable[object]


class _Told(NamedTuple):
    """An awaitable that `after` returned on a thread. Only the task can await it."""

    awaitable: Awaitable[object]


class AsyncHookCall:
    """Describes a call, beyond its command, to a `before` hook that is a coroutine function.

    Attributes:
        actor: The actor of `acting_as`, or else the option `actor`; `None` if neither is set.
        session: The session. Each memory has its own, and so has each result of `acting_as`.
        tool_use_id: The `id` of the `tool_use` block; `None` if the input was not a whole block.
    """

    __slots__ = ("_call", "_memory", "actor", "session", "tool_use_id")

    def __init__(self, memory: Memory | None, call: HookCall) -> None:
        self._memory = memory
        self._call = call
        self.actor = call.actor
        self.session = call.session
        self.tool_use_id = call.tool_use_id

    async def diff(self) -> str:
        """Same as `HookCall.diff`."""
        try:
            return await in_thread(self._memory, self._call.diff, view=True)
        except NoThreadError as error:
            raise StoreError(f"no thread can be had: {error.__cause__}") from error.__cause__


AsyncHookCall.__module__ = "memdir"


class Hooks:
    """The hooks of a memory, shared by all of its sessions."""

    def __init__(
        self, before: Callable[..., object] | None, after: Callable[..., object] | None
    ) -> None:
        self._before = before
        self._after = after
        self._before_waits = before is not None and _memdir.is_coroutine_function(before)
        self._takes_call = before is not None and _memdir.takes_call(before)
        self._after_waits = after is not None and _memdir.is_coroutine_function(after)

    def of_syncs(self) -> dict[str, Callable[..., object]]:
        """The same hooks, as the core calls them about a change of a sync: on its thread."""
        hooks: dict[str, Callable[..., object]] = {}
        if self._before is not None:
            hooks["before"] = self._before_in_sync
        if self._after is not None:
            hooks["after"] = self._after_in_sync
        return hooks

    def are_running(self) -> bool:
        """Returns whether a hook runs in this task, or in a task that started this one."""
        return self in _running.get()

    async def carry_out(self, memory: Memory, call: PendingCall) -> PendingCall:
        """Executes the rest of a call. Afterwards the call has its reply.

        If the task is cancelled while a hook waits, the hook receives the cancellation. The command
        is not executed if that hook was `before`, or if the command has not begun to write.
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
        # Otherwise one thread runs the whole call, and calls `after` once it has begun.
        is_ours = self._before_waits or self._after_waits

        def unless_begun() -> bool:
            return call.cancel() is not None

        # A coroutine `after` needs the outcome, so the task stops waiting only for an unbegun
        # command.
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
        except BaseException as raised:
            if not is_ours:
                self._leave(memory, call)
            elif not isinstance(raised, GeneratorExit):
                # After one, the event loop no longer runs this task, so the task cannot wait.
                await self._give_up(memory, call)
            raise
        if self._after_waits and call.event is not None:
            await self._tell(memory, call.event)
        elif told is not None:
            await self._logging(lambda: told.awaitable)

    async def _give_up(self, memory: Memory, call: PendingCall) -> None:
        """Calls `after` for a call whose task was cancelled."""
        event = call.cancel()
        if event is None and self._after_waits:
            # The cancellation came too late: the command was executed.
            event = call.event
        if event is not None:
            with running_loop().shielded():
                await self._tell(memory, event)

    def _leave(self, memory: Memory, call: PendingCall) -> None:
        """Has a thread tell a plain `after` of a call whose task is cancelled.

        The caller does not wait for that: all threads may be busy.
        """
        event = call.cancel()
        # Otherwise a thread executes it, and tells `after` itself.
        if event is not None:
            try:
                do_in_thread(memory, lambda: self._told(event))
            except NoThreadError:
                self._told(event)

    async def _answer(self, question: Callable[[], object]) -> _Answer:
        loop = running_loop()
        before = loop.cancellations()
        try:
            with self._marked():
                answer = _Answer(returned=await _awaitable(question()))
        except Exception as raised:  # noqa: BLE001 - the engine turns it into a reply
            answer = _Answer(raised=raised)
        await loop.raise_cancellation(before)
        return answer

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
        except Exception as raised:  # noqa: BLE001 - the command is already done
            _log(raised)

    # These methods run on the thread of the sync.

    def _before_in_sync(self, command: object, call: HookCall) -> object:
        before = self._before
        if before is None or self.are_running():
            return None
        known = AsyncHookCall(None, call) if self._before_waits else call
        with self._marked():
            return _in_task(before(command, **({"call": known} if self._takes_call else {})))

    def _after_in_sync(self, event: Event) -> object:
        after = self._after
        if after is None or self.are_running():
            return None
        with self._marked():
            return _in_task(after(event))

    # These methods run on the thread of the call.

    def _asked(self, call: PendingCall) -> _Asked | _Told | None:
        if self._before is None:
            return self._finished(call, _Answer())
        try:
            with self._marked():
                returned = call.ask(self._before, self._takes_call)
        except BaseException as raised:  # noqa: BLE001 - the engine turns it into a reply
            return self._finished(call, _Answer(raised=raised))
        if returned is not None and inspect.isawaitable(returned):
            return _Asked(returned)
        return self._finished(call, _Answer(returned=returned))

    def _finished(self, call: PendingCall, answer: _Answer) -> _Told | None:
        return self._told(call.finish(*answer))

    def _told(self, event: Event | None) -> _Told | None:
        """Calls a plain `after`."""
        if event is None or self._after is None or self._after_waits:
            return None
        try:
            with self._marked():
                returned = self._after(event)
        except Exception as raised:  # noqa: BLE001 - the command is already done
            _log(raised)
            return None
        if returned is not None and inspect.isawaitable(returned):
            return _Told(returned)
        return None

    @contextmanager
    def _marked(self) -> Iterator[None]:
        """Marks that a hook runs, so commands that the hook executes call no hooks."""
        token = _running.set(_running.get() | {self})
        try:
            yield
        finally:
            # An abandoned task is closed in a different context.
            with suppress(ValueError):
                _running.reset(token)


_running: ContextVar[frozenset[Hooks]] = ContextVar("memdir_running_hooks", default=frozenset())


def _in_task(returned: object) -> object:
    """The result of a hook. Without a task that awaits the sync, an awaitable stays one."""
    task = sync_task()
    return returned if task is None else task.result(returned)


def _awaitable(returned: object) -> Awaitable[object]:
    """Narrows the type: a hook that is not a coroutine function may return anything."""
    if inspect.isawaitable(returned):
        return returned
    raise TypeError(f"an awaitable is expected, not {type(returned).__name__}")


def _log(raised: Exception) -> None:
    logger.error("the hook `after` failed", exc_info=raised)
