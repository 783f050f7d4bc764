"""A call that is cancelled before it begins to write changes nothing and blocks no other call."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from anthropic.lib.tools import ToolError

import pool_threads
from dict_store import DictStore
from effort import SECONDS
from memdir import AsyncMemoryTool, Memory, MemoryTool, StoreError, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

fcntl = pytest.importorskip("fcntl")

VIEW = {"command": "view", "path": "/memories/log"}
NO_THREAD = (
    "Error: The memory directory cannot be reached at the moment. "
    "Nothing was changed; try again later."
)


def insert(text: object) -> dict[str, Any]:
    return {
        "command": "insert",
        "path": "/memories/log",
        "insert_line": 0,
        "insert_text": str(text),
    }


class Held(DictStore):
    """A store of the application whose writers wait as long as another writer holds its lock."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = threading.Lock()
        self.waiting = threading.Semaphore(0)

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        self.waiting.release()
        with self.turn:
            super().update(path, edit)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Holds the lock of another process that writes to the directory."""
    root = os.open(directory / "memories", os.O_RDONLY)
    fcntl.flock(root, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(root)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_edits_that_were_given_up_behind_a_lock_are_not_applied(
    backend: str, tmp_path: Path
) -> None:
    """Of a hundred calls, some wait for the lock, and the others for a thread."""
    Memory(tmp_path).create("/memories/log", "")
    tool = AsyncMemoryTool(tmp_path, lock_timeout=None)

    async def run() -> None:
        given_up = 0
        with locked(tmp_path):
            async with anyio.create_task_group() as tasks:

                async def give_up(number: int) -> None:
                    nonlocal given_up
                    with anyio.move_on_after(0.02):
                        await tool.call(insert(f"given up {number}"))
                        return
                    given_up += 1

                for number in range(100):
                    tasks.start_soon(give_up, number)
            assert given_up == 100
        await tool.call(insert("kept"))

    anyio.run(run, backend=backend)
    assert (tmp_path / "memories" / "log").read_bytes() == b"kept\n"


def test_wait_for_does_not_leave_edits_behind(tmp_path: Path) -> None:
    Memory(tmp_path).create("/memories/log", "")
    tool = AsyncMemoryTool(tmp_path, lock_timeout=None)

    async def run() -> None:
        with locked(tmp_path):
            calls = [
                asyncio.wait_for(tool.call(insert(f"given up {number}")), 0.02)
                for number in range(100)
            ]
            ends = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(end) for end in ends} == {asyncio.TimeoutError}
            kept = asyncio.ensure_future(tool.call(insert("kept")))
            await asyncio.sleep(0)
        assert "edited" in str(await kept)

    asyncio.run(run())
    assert (tmp_path / "memories" / "log").read_bytes() == b"kept\n"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_store_of_ones_own_that_waits(backend: str) -> None:
    store = Held()
    store.write("/memories/log", b"", False)
    tool = AsyncMemoryTool(store)

    async def run() -> None:
        with store.turn:
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(tool.call, insert("given up"))
                for _ in range(3):
                    await anyio.to_thread.run_sync(store.waiting.acquire)
                tasks.cancel_scope.cancel()
        await tool.call(insert("kept"))

    anyio.run(run, backend=backend)
    assert store.tree["/memories/log"] == b"kept\n"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_views_are_shown_while_any_number_of_writers_wait(backend: str) -> None:
    store = Held()
    store.write("/memories/log", b"", False)
    tool = AsyncMemoryTool(store)
    before = pool_threads.count()

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            with store.turn:
                for number in range(200):
                    tasks.start_soon(tool.call, insert(number))
                for _ in range(40):
                    await anyio.to_thread.run_sync(store.waiting.acquire)
                with anyio.fail_after(SECONDS):
                    for _ in range(100):
                        assert "log" in str(await tool.call(VIEW))
                assert pool_threads.count() - before <= 2 * pool_threads.MOST

    anyio.run(run, backend=backend)
    # All calls that were not cancelled are executed.
    lines = (store.tree["/memories/log"] or b"").decode().split()
    assert sorted(map(int, lines)) == list(range(200))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_writers_that_were_given_up_leave_no_threads_behind(backend: str) -> None:
    store = Held()
    store.write("/memories/log", b"", False)
    tool = AsyncMemoryTool(store)
    before = pool_threads.count()

    async def run() -> None:
        with store.turn:
            for _ in range(200):
                with anyio.move_on_after(0.001):
                    await tool.call(insert("given up"))
            # The store still blocks each thread; the other calls waited for one of them.
            assert pool_threads.count() - before <= 2 * pool_threads.MOST
        await tool.call(insert("kept"))

    anyio.run(run, backend=backend)
    assert store.tree["/memories/log"] == b"kept\n"


@pytest.mark.parametrize("way", ["execute", "insert", "tool", "sync"])
def test_ctrl_c_while_waiting_for_a_lock_changes_nothing(way: str, tmp_path: Path) -> None:
    memory = Memory(tmp_path, lock_timeout=None)
    tool = MemoryTool(tmp_path, lock_timeout=None)
    memory.create("/memories/log", "")
    other = Memory("memory:")
    other.write("/memories/late", "late")
    calls: dict[str, Callable[[], object]] = {
        "execute": lambda: memory.execute(insert("late")),
        "insert": lambda: memory.insert("/memories/log", 0, "late"),
        "tool": lambda: tool.call(insert("late")),
        "sync": lambda: other.sync(memory),
    }
    ended = threading.Event()

    def interrupt() -> None:
        with locked(tmp_path):
            held.set()
            entered.wait(SECONDS)
            # Soon the call waits for the lock.
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGINT)
            ended.wait(SECONDS)

    def call() -> None:
        entered.set()
        calls[way]()

    held, entered = threading.Event(), threading.Event()
    thread = threading.Thread(target=interrupt)
    # A shell that starts tests in the background makes them ignore this signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        assert held.wait(SECONDS)
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        signal.signal(signal.SIGINT, before)
        ended.set()
        thread.join()
    memory.insert("/memories/log", 0, "next")
    assert (tmp_path / "memories" / "log").read_bytes() == b"next\n"
    assert not memory.exists("/memories/late")


# --- no threads --------------------------------------------------------------------------------


def no_thread(*_: object, **__: object) -> None:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_where_no_thread_can_be_had_the_store_is_out_of_reach(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    store = open_store("memory:")
    store.write("/memories/log", b"", False)
    tool = AsyncMemoryTool(store, after=lambda event: events.append(event.outcome))

    async def run() -> None:
        monkeypatch.setattr("memdir._memdir.submit", no_thread)
        for call in (tool.call(insert("x")), tool.insert(insert("x"))):
            with pytest.raises(ToolError) as raised:
                await call
            assert raised.value.content == NO_THREAD
            assert isinstance(raised.value.__cause__, StoreError)
            assert isinstance(raised.value.__cause__.__cause__, RuntimeError)
            assert "can't start new thread" in str(raised.value.__cause__)
        # An error of the input is still reported.
        with pytest.raises(ToolError, match="Missing `path` parameter"):
            await tool.call({"command": "view"})
        with pytest.raises(StoreError, match="can't start new thread"):
            await tool.clear_all_memory()

    anyio.run(run, backend=backend)
    assert events == ["failed", "failed", "refused"]
    assert store.read("/memories/log") == b""


WITHOUT_THREADS = """
import asyncio, os, resource, sys
from memdir import AsyncMemory
memory = AsyncMemory("memory:")
async def create(path):
    reply = await memory.execute({"command": "create", "path": path, "file_text": "x"})
    print(reply.is_error, reply.content)
# Imports what is needed, and needs no thread.
print(asyncio.run(memory.view("/memories")).splitlines()[-1])
if os.geteuid() == 0:
    # Limits are not for root.
    os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
asyncio.run(create("/memories/b"))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")
def test_a_user_who_may_have_no_threads() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREADS],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert ran.stdout == f"4.0K\t/memories\nTrue {NO_THREAD}\n"


def test_a_sync_tool_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    tool = MemoryTool("memory:")
    assert "created" in str(
        tool.call({"command": "create", "path": "/memories/a", "file_text": ""})
    )
