"""`AsyncMemory` when something ends: calls, tasks, loops, memories, processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from slow_store import Slow, begun, on_both

import pool_threads
from dict_store import DictStore
from effort import SECONDS
from memdir import (
    AsyncMemory,
    Memory,
    StoreError,
    _memdir,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from pathlib import Path


def test_many_loops_in_many_threads() -> None:
    memory = AsyncMemory(DictStore())

    async def work(who: int) -> None:
        for number in range(20):
            await memory.create(f"/memories/{who}-{number}", "x")
            assert "x" in str(await memory.view(f"/memories/{who}-{number}"))

    async def all_of(who: int) -> None:
        async with anyio.create_task_group() as tasks:
            for part in range(4):
                tasks.start_soon(work, who * 4 + part)

    threads = [
        threading.Thread(
            target=lambda who=who: anyio.run(all_of, who, backend=("asyncio", "trio")[who % 2])
        )
        for who in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert str(asyncio.run(memory.view("/memories"))).count("\n") == 8 * 4 * 20 + 1


# --- errors ------------------------------------------------------------------------------------


class Broken(DictStore):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        raise self.error


@on_both
def test_an_exception_of_the_store(backend: str) -> None:
    error = RuntimeError("the disk is on fire")

    async def run() -> None:
        memory = AsyncMemory(Broken(error))
        with pytest.raises(StoreError) as raised:
            await memory.create("/memories/a", "x")
        assert raised.value.__cause__ is error
        reply = await memory.execute({"command": "create", "path": "/memories/a", "file_text": "x"})
        assert reply.is_error
        assert reply.cause is not None
        assert reply.cause.__cause__ is error

    anyio.run(run, backend=backend)


@on_both
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_exception_that_is_no_error_comes_through(
    backend: str, kind: type[BaseException]
) -> None:
    async def run() -> None:
        memory = AsyncMemory(Broken(kind("now")))
        with pytest.raises(kind):
            await memory.create("/memories/a", "x")

    anyio.run(run, backend=backend)


@on_both
def test_without_a_thread_the_store_is_out_of_reach(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> None:
        memory = AsyncMemory("memory:")
        monkeypatch.setattr(_memdir, "submit", no_thread)
        create = {"command": "create", "path": "/memories/a", "file_text": "x"}
        for given in (create, str(create).replace("'", '"')):
            reply = await memory.execute(given)
            assert "Nothing was changed" in str(reply.content)
            assert "can't start new thread" in str(reply.cause)
        with pytest.raises(StoreError, match="can't start new thread"):
            await memory.create("/memories/a", "x")
        assert "/memories" in str(await memory.view("/memories"))

    anyio.run(run, backend=backend)


def test_without_an_event_loop() -> None:
    coroutine: Coroutine[Any, Any, Any] = AsyncMemory("memory:").create("/memories/a", "x")
    with pytest.raises(RuntimeError):
        coroutine.send(None)


def test_a_loop_that_is_closed_while_calls_run() -> None:
    store = Slow()
    memory = AsyncMemory(store)
    loop = asyncio.new_event_loop()
    task = loop.create_task(memory.create("/memories/a", "x"))
    loop.run_until_complete(begun_in(store))
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
    store.gate.set()

    async def later() -> None:
        await memory.create("/memories/b", "x")
        await memory.aclose()

    asyncio.run(later())
    # The first one had begun, so it ran to its end.
    assert set(store.tree) == {"/memories", "/memories/a", "/memories/b"}


def test_a_loop_that_is_given_up_while_calls_run() -> None:
    """Closing a loop under its tasks loses the answers, but breaks nothing."""
    store = Slow()
    memory = AsyncMemory(store)
    loop = asyncio.new_event_loop()
    coroutine = memory.create("/memories/a", "x")
    task = loop.create_task(coroutine)
    loop.run_until_complete(begun_in(store))
    loop.close()
    store.gate.set()
    asyncio.run(memory.aclose())
    assert "/memories/a" in store.tree
    # The task is pending, and the loop would complain about it.
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    with pytest.raises(GeneratorExit):
        coroutine.throw(GeneratorExit)


async def begun_in(store: Slow) -> None:
    while not store.begun.acquire(blocking=False):
        await asyncio.sleep(0.001)


# --- cancellation ------------------------------------------------------------------------------


@on_both
def test_a_cancelled_call_stops_before_it_begins_or_is_carried_through(backend: str) -> None:
    store = Slow()

    async def run() -> None:
        memory = AsyncMemory(store)
        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(memory.create, f"/memories/{number}", "x")
            await begun(store, pool_threads.MOST)
            tasks.cancel_scope.cancel()
        store.gate.set()
        await memory.aclose()

    anyio.run(run, backend=backend)
    # Only the calls in the store were executed, and none that waited for a thread.
    assert len(store.tree) == 1 + pool_threads.MOST


def test_a_task_that_is_cancelled_already() -> None:
    async def run() -> None:
        memory = AsyncMemory("memory:")
        task = asyncio.ensure_future(memory.create("/memories/a", "x"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await memory.aclose()

    asyncio.run(run())


INTERRUPTED = """
import asyncio, os, signal, sys, threading
from dict_store import DictStore
from memdir import AsyncMemory, _memdir
backend, moment = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)
begun, gate = threading.Event(), threading.Event()
class Held(DictStore):
    def update(self, path, edit):
        begun.set()
        gate.wait()
        super().update(path, edit)
store = Held()
store.write("/memories/a", b"", False)
memory = AsyncMemory(store)
def interrupt():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)
if moment == "waiting":
    threading.Thread(target=interrupt).start()
else:
    submit = _memdir.submit
    def submit_and_interrupt(*given):
        submit(*given)
        interrupt()
    _memdir.submit = submit_and_interrupt
try:
    if backend == "trio":
        import trio
        trio.run(memory.insert, "/memories/a", 0, "late")
    else:
        asyncio.run(memory.insert("/memories/a", 0, "late"))
except KeyboardInterrupt:
    print("interrupted")
gate.set()
asyncio.run(memory.aclose())
print(store.tree["/memories/a"])
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are Unix's")
@pytest.mark.parametrize("moment", ["submitting", "waiting"])
@on_both
def test_ctrl_c_does_not_wait_for_the_store(backend: str, moment: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, backend, moment],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
        cwd=os.path.dirname(__file__),  # noqa: PTH120
    )
    # The edit had not begun to write.
    assert ran.stdout == "interrupted\nb''\n"


# --- closing -----------------------------------------------------------------------------------


def test_a_closed_memory() -> None:
    with Memory("memory:") as memory:
        memory.create("/memories/a", "x")
    memory.close()
    view = {"command": "view", "path": "/memories"}
    for call in (
        lambda: memory.view("/memories"),
        lambda: memory.execute(view),
        memory.clear,
        lambda: memory.directory,
        lambda: memory.expire(1),
        lambda: memory.sync("memory:"),
        memory.__enter__,
    ):
        with pytest.raises(ValueError, match="the memory is closed"):
            call()


def test_closing_closes_what_is_open(tmp_path: Path) -> None:
    with Memory(f"sqlite:{tmp_path}/agent.db") as memory:
        memory.create("/memories/a", "x")
    # SQLite removes it when the last connection is closed.
    assert not (tmp_path / "agent.db-wal").exists()


@on_both
def test_closing_waits_for_calls_and_refuses_more(backend: str) -> None:
    store = Slow()

    async def run() -> None:
        memory = AsyncMemory(store)
        closed: list[bool] = []

        async def close() -> None:
            await memory.aclose()
            closed.append(True)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.create, "/memories/a", "x")
            await begun(store)
            tasks.start_soon(close)
            await anyio.sleep(0.05)
            assert not closed
            calls: list[Callable[[], Awaitable[object]]] = [
                lambda: memory.view("/memories"),
                lambda: memory.execute({"command": "view", "path": "/memories"}),
                lambda: memory.create("/memories/b", "x"),
                memory.__aenter__,
            ]
            for call in calls:
                with pytest.raises(ValueError, match="the memory is closed"):
                    await call()
            store.gate.set()
        assert closed
        assert set(store.tree) == {"/memories", "/memories/a"}

    anyio.run(run, backend=backend)


# --- forks -------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@on_both
def test_a_forked_child_has_threads_of_its_own(backend: str) -> None:
    store = Slow()
    memory, other = AsyncMemory(store), AsyncMemory(open_store("memory:"))

    async def in_child() -> None:
        store.gate.set()
        await memory.create("/memories/b", "x")
        await other.create("/memories/b", "x")
        await memory.aclose()

    async def run() -> None:
        await other.create("/memories/a", "x")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.create, "/memories/a", "x")
            await begun(store)
            code = await anyio.to_thread.run_sync(forked)
            assert code == 0
            store.gate.set()

    def forked() -> int:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(SECONDS)
                store.gate = threading.Event()
                # Trio refuses to run in the child of a process that runs it.
                asyncio.run(in_child())
                code = 0
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    anyio.run(run, backend=backend)
