"""Asynchronous hooks that wait while something ends: a task, a memory, a loop."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from slow_store import Slow, begun, on_both
from waiting_hooks import Log, Person, allow, kinds_of

import pool_threads
from dict_store import DictStore
from effort import SECONDS
from memdir import (
    AsyncHookCall,
    AsyncMemory,
    Event,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

CREATE = {"command": "create", "path": "/memories/a", "file_text": "one"}
VIEW = {"command": "view", "path": "/memories"}

# --- cancelling --------------------------------------------------------------------------------


@pytest.mark.parametrize("after", ["awaited", "plain"])
@on_both
def test_a_call_that_is_cancelled_while_before_waits_is_not_executed(
    backend: str, after: str
) -> None:
    async def run() -> None:
        for kind in range(4):
            person, log = Person(), Log()
            told: Any = log.note if after == "awaited" else log.plainly
            memory = AsyncMemory("memory:", before=kinds_of(person.approve)[kind], after=told)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(memory.create, "/memories/a", "x")
                await person.is_asked()
                tasks.cancel_scope.cancel()
            [error] = person.given_up
            assert isinstance(error, anyio.get_cancelled_exc_class())
            assert not await memory.exists("/memories/a")
            assert log.outcomes == ["cancelled"]

    anyio.run(run, backend=backend)


def test_a_cancellation_comes_to_the_caller() -> None:
    async def run() -> None:
        person, log = Person(), Log()
        memory = AsyncMemory("memory:", before=person.approve, after=log.note)
        task = asyncio.ensure_future(memory.create("/memories/a", "x"))
        await person.is_asked()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert log.outcomes == ["cancelled"]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(memory.execute(CREATE), 0.01)
        assert not await memory.exists("/memories/a")

    asyncio.run(run())


@on_both
def test_a_before_that_catches_its_cancellation_does_not_allow_the_command(backend: str) -> None:
    if backend == "asyncio" and sys.version_info < (3, 11):
        pytest.skip("a task does not know that it was cancelled")

    async def run() -> None:
        for raises in (False, True):
            log, asked = Log(), anyio.Event()

            async def before(
                _: object,
                raises: bool = raises,
                asked: anyio.Event = asked,
            ) -> None:
                asked.set()
                try:
                    await anyio.sleep_forever()
                except BaseException as error:
                    if raises:
                        raise ValueError("no answer") from error

            memory = AsyncMemory("memory:", before=before, after=log.note)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(memory.create, "/memories/a", "x")
                await asked.wait()
                tasks.cancel_scope.cancel()
            assert not await memory.exists("/memories/a")
            assert log.outcomes == ["cancelled"]

    anyio.run(run, backend=backend)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a task does not know that it was cancelled")
def test_a_before_that_cancels_its_own_task_does_not_allow_the_command() -> None:
    async def run() -> None:
        log = Log()

        async def before(_: object) -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

        memory = AsyncMemory("memory:", before=before, after=log.note)
        for number in range(50):
            task = asyncio.ensure_future(memory.create(f"/memories/{number}", "x"))
            with pytest.raises(asyncio.CancelledError):
                await task
            assert task.cancelled()
        assert [entry.path for entry in await memory.list()] == []
        assert log.outcomes == ["cancelled"] * 50

        async def patient(_: object) -> None:
            """A time limit of the hook's own is not a cancellation of the call."""
            with anyio.move_on_after(0):
                await anyio.sleep_forever()

        memory = AsyncMemory("memory:", before=patient)
        await memory.create("/memories/a", "x")

    asyncio.run(run())


def test_a_second_cancellation_ends_what_the_first_one_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It also works if AnyIO, whose scopes shield, was never imported."""

    async def run(hook: str) -> None:
        waits: list[str] = []

        async def before(_: object) -> None:
            if hook == "before":
                waits.append("before")
                await asyncio.get_running_loop().create_future()

        async def after(event: Event) -> None:
            waits.append(event.outcome)
            await asyncio.get_running_loop().create_future()

        store = Slow()
        memory = AsyncMemory(store, before=before, after=after)
        task = asyncio.ensure_future(memory.create("/memories/a", "x"))
        while not waits and not store.begun.acquire(blocking=False):
            await asyncio.sleep(0)
        task.cancel()
        store.gate.set()
        while waits[-1:] not in (["ok"], ["cancelled"]):
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert waits == (["before", "cancelled"] if hook == "before" else ["ok"])

    for without in (False, True):
        if without:
            monkeypatch.delitem(sys.modules, "anyio")
        for hook in ("before", "after"):
            asyncio.run(run(hook))


@on_both
def test_after_is_told_of_a_call_that_was_made_though_its_task_is_cancelled(backend: str) -> None:
    store = Slow()

    async def run() -> None:
        log = Log()
        for before in (None, allow, lambda _: None):
            store.gate.clear()
            memory = AsyncMemory(store, before=before, after=log.note)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(memory.create, f"/memories/{len(log.events)}", "x")
                await begun(store)
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(0.01)
                    store.gate.set()
        assert log.outcomes == ["ok"] * 3
        assert set(store.tree) == {"/memories", "/memories/0", "/memories/1", "/memories/2"}

    anyio.run(run, backend=backend)


@on_both
def test_after_gets_the_cancellation_while_it_waits(backend: str) -> None:
    async def run() -> None:
        person = Person()
        after: Any = person.approve
        memory = AsyncMemory("memory:", after=after)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.create, "/memories/a", "x")
            await person.is_asked()
            tasks.cancel_scope.cancel()
        # `after` gets one event.
        assert len(person.asked) == len(person.given_up) == 1
        assert isinstance(person.given_up[0], anyio.get_cancelled_exc_class())
        assert await memory.exists("/memories/a")

    anyio.run(run, backend=backend)


@on_both
def test_calls_that_wait_for_a_thread_when_they_are_cancelled(backend: str) -> None:
    """All threads are busy, so `before` has allowed calls that have not begun."""
    store = Slow()

    async def run() -> None:
        log = Log()
        memory = AsyncMemory(store, before=allow, after=log.note)
        async with anyio.create_task_group() as tasks:
            for number in range(pool_threads.MOST):
                tasks.start_soon(memory.write, f"/memories/{number}", "x")
            await begun(store, pool_threads.MOST)
            async with anyio.create_task_group() as late:
                for _ in range(10):
                    late.start_soon(memory.create, "/memories/late", "x")
                await anyio.sleep(0.01)
                late.cancel_scope.cancel()
            # They do not wait for a thread either.
            assert log.outcomes == ["cancelled"] * 10
            store.gate.set()
        assert "/memories/late" not in store.tree

    anyio.run(run, backend=backend)


@on_both
def test_a_plain_after_is_told_of_a_call_that_no_thread_has_taken(backend: str) -> None:
    store = Slow()
    asked: list[object] = []

    async def run() -> None:
        for before in (None, asked.append):
            store.gate.clear()
            log = Log()
            memory = AsyncMemory(store, before=before, after=log.plainly)
            async with anyio.create_task_group() as tasks:
                for number in range(pool_threads.MOST):
                    tasks.start_soon(memory.write, f"/memories/{number}", "x")
                await begun(store, pool_threads.MOST)
                async with anyio.create_task_group() as late:
                    for _ in range(10):
                        late.start_soon(memory.create, "/memories/late", "x")
                    await anyio.sleep(0.01)
                    late.cancel_scope.cancel()
                # They did not wait for a thread, and `after` does.
                assert log.events == []
                store.gate.set()
            await memory.aclose()
            assert log.outcomes == ["cancelled"] * 10
        assert asked == []
        assert "/memories/late" not in store.tree

    anyio.run(run, backend=backend)


@on_both
def test_a_plain_after_is_told_once_of_a_call_that_a_task_leaves(backend: str) -> None:
    """The task is cancelled before the call, while a plain `before` runs, and later."""
    store = Slow()

    async def run() -> None:
        for held in ("never", "before", "store"):
            store.gate.clear()
            log = Log()

            def before(_: object) -> None:
                if held == "before":  # noqa: B023 - it ends within this turn
                    store.write("/memories/asked", b"", overwrite=True)

            memory = AsyncMemory(store, before=before, after=log.plainly)
            async with anyio.create_task_group() as tasks:
                if held == "never":
                    tasks.cancel_scope.cancel()
                    with pytest.raises(anyio.get_cancelled_exc_class()):
                        await memory.create("/memories/never", "x")
                else:
                    tasks.start_soon(memory.create, f"/memories/{held}", "x")
                    await begun(store)
                    tasks.cancel_scope.cancel()
            store.gate.set()
            await memory.aclose()
            made = f"/memories/{held}" in store.tree
            assert log.outcomes == ["ok" if made else "cancelled"]
            assert made or held != "store"
            assert not made or held != "before"

    anyio.run(run, backend=backend)


def test_an_abandoned_task() -> None:
    """A coroutine that is closed while its hook waits cannot await anything."""
    given_up: list[BaseException] = []

    async def forever(_: object) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        except BaseException as error:
            given_up.append(error)
            raise

    log = Log()
    memory = AsyncMemory("memory:", before=forever, after=log.note)

    async def run() -> None:
        call = memory.create("/memories/a", "x")
        # Run one step, as a loop would do.
        call.send(None)
        call.close()

    asyncio.run(run())
    assert [type(error) for error in given_up] == [GeneratorExit]
    assert log.events == []
    asyncio.run(memory.aclose())


def test_a_loop_that_ends_while_hooks_wait() -> None:
    """`asyncio.run` cancels the remaining tasks, and leaves none behind."""
    log = Log()

    async def run() -> None:
        person = Person()
        memory = AsyncMemory("memory:", before=person.approve, after=log.note)
        calls = [asyncio.ensure_future(memory.create("/memories/a", "x")) for _ in range(50)]
        await person.is_asked(len(calls))

    asyncio.run(run())
    assert log.outcomes == ["cancelled"] * 50


# --- closing -----------------------------------------------------------------------------------


@on_both
def test_closing_waits_for_hooks_and_refuses_more(backend: str) -> None:
    async def run() -> None:
        for hook in ("before", "after"):
            person, store = Person(), DictStore()
            options: Any = {hook: person.approve}
            memory = AsyncMemory(store, **options)
            closed: list[bool] = []

            async def close() -> None:
                await memory.aclose()  # noqa: B023 - it ends within this turn
                closed.append(True)  # noqa: B023

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(memory.create, "/memories/a", "x")
                await person.is_asked()
                tasks.start_soon(close)
                await anyio.sleep(0.05)
                assert not closed
                for call in (memory.view("/memories"), memory.execute(VIEW)):
                    with pytest.raises(ValueError, match="the memory is closed"):
                        await call
                person.says.set()
            assert closed
            assert "/memories/a" in store.tree

    anyio.run(run, backend=backend)


@on_both
def test_closing_waits_no_longer_for_what_was_given_up(backend: str) -> None:
    async def run() -> None:
        person = Person()
        memory = AsyncMemory("memory:", before=person.approve)
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(memory.create, "/memories/a", "x")
            await person.is_asked(10)
            tasks.cancel_scope.cancel()
        await memory.aclose()

    anyio.run(run, backend=backend)


@on_both
def test_a_hook_that_closes_its_memory_does_not_wait_for_itself(backend: str) -> None:
    async def before(_: object) -> None:
        await memory.aclose()

    store = DictStore()
    memory = AsyncMemory(store, before=before)

    async def run() -> None:
        with anyio.fail_after(SECONDS):
            await memory.create("/memories/a", "x")
        with pytest.raises(ValueError, match="the memory is closed"):
            await memory.view("/memories")
        assert "/memories/a" in store.tree

    anyio.run(run, backend=backend)


@on_both
def test_a_call_that_is_cancelled_while_its_diff_is_computed(backend: str) -> None:
    store = Slow()
    events: list[Event] = []

    async def before(command: Mapping[str, Any], call: AsyncHookCall) -> None:
        await call.diff()

    async def run() -> None:
        memory = AsyncMemory(store, before=before, after=events.append)
        async with anyio.create_task_group() as group:
            group.start_soon(memory.execute, CREATE)
            await begun(store)
            group.cancel_scope.cancel()
        # The store has not answered yet, and the event loop does not wait for it.
        assert [event.outcome for event in events] == ["cancelled"]
        store.gate.set()
        await memory.aclose()
        assert not await AsyncMemory(store).exists("/memories/a")

    anyio.run(run, backend=backend)
