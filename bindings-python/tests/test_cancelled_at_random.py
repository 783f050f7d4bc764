"""Calls that are cancelled at random moments, while stores and hooks wait.

The result of a call, and the event for `after`, agree with the files and the history. Nothing
hangs, and nothing is left behind. `make cancellations` makes 10,000 calls on each event loop.
"""

from __future__ import annotations

import asyncio
import random
import signal
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from erratic import COMMANDS, OLD, Erratic, Hooks, Pauses, Tally, command, held

from effort import EFFORT, SECONDS, SEED
from memdir import AsyncMemory, Memory, Store, check, open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from memdir import Reply

AT_ONCE = 64
BACKENDS = ["asyncio", "trio"]


def store_of(kind: str, pauses: Pauses, directory: Path) -> Store:
    directory.mkdir()
    addresses = {
        "memory": "memory:",
        "directory": str(directory),
        "sqlite": f"sqlite:{directory}/a.db",
    }
    return Erratic(pauses) if kind == "own" else open_store(addresses[kind])


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("history", [False, True], ids=["without history", "with history"])
@pytest.mark.parametrize("kind", ["memory", "directory", "sqlite", "own"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_calls_that_are_cancelled_at_random_moments(
    backend: str, kind: str, history: bool, tmp_path: Path
) -> None:
    print(f"MEMDIR_SEED={SEED}")
    pauses = Pauses(random.Random(SEED))
    tally = Tally()
    reported = tally.reported
    # On a busy machine all calls of a round may be cancelled before they begin.
    for number in range(EFFORT + 20):
        if number >= EFFORT and tally.cancelled and reported["changed"] and reported["unchanged"]:
            break
        # Each round gets its own store, because queries take longer the longer a history is.
        store = store_of(kind, pauses, tmp_path / str(number))
        batch = Batch(store, pauses, tally, history=history, is_asyncio=backend == "asyncio")
        anyio.run(batch.run, backend=backend)
        batch.compare()
    assert tally.cancelled
    assert reported["changed"], reported
    assert reported["unchanged"], reported


class Batch:
    """Concurrent calls of several memories on one store."""

    def __init__(
        self,
        store: Store,
        pauses: Pauses,
        tally: Tally,
        *,
        history: bool,
        is_asyncio: bool = False,
    ) -> None:
        self.store, self.pauses, self.tally = store, pauses, tally
        self.is_asyncio = is_asyncio
        self.options: dict[str, Any] = {"history": history}

    async def run(self) -> None:
        pauses, hooks = self.pauses, Hooks(self.pauses)
        memories = [AsyncMemory(self.store, **self.options, **kind) for kind in hooks.kinds()]
        pauses.calm = True
        pauses.gate.clear()
        calls = [(COMMANDS[at % len(COMMANDS)], f"/memories/{at}") for at in range(AT_ONCE)]
        for name, path in calls:
            if name != "create":
                await memories[0].create(path, OLD)
        pauses.calm = False
        said: dict[str, tuple[str, bool]] = {}

        async def call(name: str, path: str, memory: AsyncMemory) -> None:
            reply = await memory.execute(command(name, path))
            said[path] = (str(reply.content), reply.is_error)

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for at, (name, path) in enumerate(calls):
                    memory = memories[at // len(COMMANDS) % len(memories)]
                    tasks.start_soon(self.cancelled, call, name, path, memory)
                # Now all are cancelled, and wait at most for the store and for `after`.
                await anyio.sleep(0.06)
                pauses.gate.set()
            for memory in memories:
                await memory.aclose()
        pauses.calm = True
        content = held(self.store.read)
        for name, path in calls:
            self.tally.check(name, path, said.get(path), hooks.events.get(path, []), content)

    async def cancelled(self, call: Callable[..., Awaitable[None]], *given: Any) -> None:
        """Cancels the call at a random moment, in one of the ways of its event loop."""
        draw = self.pauses.random
        delay = 0.0 if draw.random() < 0.05 else draw.random() * 0.04
        if self.is_asyncio and draw.random() < 0.5:
            task = asyncio.ensure_future(call(*given))
            asyncio.get_running_loop().call_later(delay, task.cancel)
            await asyncio.wait([task])
            if not task.cancelled():
                task.result()
            return
        with anyio.move_on_after(delay):
            await call(*given)

    def compare(self) -> None:
        """Checks that the store is intact, and that each file holds its newest version."""
        assert not check(self.store).problems
        fresh = Memory(self.store, **self.options)
        there = {entry.path for entry in fresh.list()}
        if self.options["history"]:
            soon = datetime.now(timezone.utc) + timedelta(seconds=1)
            assert {file.path for file in fresh.files_at(soon)} == there
            for path in there:
                [newest] = fresh.history(path, limit=1)
                assert fresh.read_version(newest.id).decode() == fresh.read(path), path
        fresh.close()


class Interrupted(BaseException):
    """The exception of the signal's handler."""


# Python cannot raise an interrupt in a destructor, or in the log of a failure.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer of signals")
@pytest.mark.parametrize("history", [False, True], ids=["without history", "with history"])
@pytest.mark.parametrize("kind", ["memory", "directory", "sqlite", "own"])
def test_calls_that_a_signal_interrupts_at_random_moments(
    kind: str, history: bool, tmp_path: Path
) -> None:
    print(f"MEMDIR_SEED={SEED}")
    pauses = Pauses(random.Random(SEED))
    # A store that waits forever would block this test.
    pauses.gate.set()
    tally = Tally()
    for number in range(EFFORT):
        store = store_of(kind, pauses, tmp_path / str(number))
        interrupt_calls(store, pauses, tally, history=history)
        Batch(store, pauses, tally, history=history).compare()
    assert tally.reported["changed"], tally


def interrupt_calls(store: Store, pauses: Pauses, tally: Tally, *, history: bool) -> None:
    # If the log of a failed `after` is interrupted, the failure is reported as unraisable.
    hooks = Hooks(pauses, after_fails=False)
    plain = Memory(store, history=history)
    memories = [plain, Memory(store, history=history, **hooks.kinds()[2])]
    is_armed = False

    def interrupt(*_: object) -> None:
        nonlocal is_armed
        if pauses.busy:
            signal.setitimer(signal.ITIMER_REAL, 1e-4)
        elif is_armed:
            is_armed = False
            raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(AT_ONCE):
            name, path = COMMANDS[number % len(COMMANDS)], f"/memories/{number}"
            if name != "create":
                plain.create(path, OLD)
            pauses.calm = False
            reply: Reply | None = None
            try:
                is_armed = True
                # Some are not interrupted. On a busy machine no other one may end in time.
                delay = 1e-6 + pauses.random.random() * 0.03 if number % 8 else SECONDS
                signal.setitimer(signal.ITIMER_REAL, delay)
                reply = memories[number // len(COMMANDS) % 2].execute(command(name, path))
                is_armed = False
            except Interrupted:
                pass
            signal.setitimer(signal.ITIMER_REAL, 0)
            is_armed, pauses.calm = False, True
            said = reply and (str(reply.content), reply.is_error)
            tally.check(name, path, said, hooks.events.get(path, []), held(store.read))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
