"""Threads, processes and forks on one memory: nothing is lost, and no call waits forever."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from dict_store import DictStore
from effort import EFFORT, SECONDS
from inserting import insert_many
from memdir import AsyncMemoryTool, Memory, MemoryTool, Store, open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INSERTS = 50 * EFFORT
FORKS = 5 * EFFORT


@pytest.fixture(params=["local", "sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a memory that several processes may use."""
    return address_of(request.param, request, tmp_path)


def address_of(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if kind == "postgres":
        fresh: Callable[[], str] = request.getfixturevalue("postgres")
        return fresh()
    return str(tmp_path) if kind == "local" else f"sqlite:{tmp_path}/agent.db"


# A forked process inherits the resources of its parent, which differ in each store.
@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("spawn", "local"),
        ("forkserver", "local"),
        ("fork", "local"),
        ("fork", "sqlite"),
        ("fork", "postgres"),
    ],
)
def test_two_processes_lose_nothing(
    method: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    address = address_of(kind, request, tmp_path)
    store = open_store(address)
    store.write("/memories/log", b"", overwrite=False)
    context: Any = multiprocessing.get_context(method)
    together = context.Barrier(2)
    workers = [
        context.Process(target=insert_many, args=(address, who, INSERTS, together))
        for who in ("one", "two")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(SECONDS)
        assert worker.exitcode == 0
    lines = store.read("/memories/log").decode().splitlines()
    assert sorted(lines) == sorted(f"{who} {n}" for who in ("one", "two") for n in range(INSERTS))
    for who in ("one", "two"):
        numbers = [int(line.split()[1]) for line in lines if line.startswith(who)]
        assert numbers == list(reversed(range(INSERTS))), "in the order in which they were written"


@pytest.mark.parametrize("factory", [DictStore, lambda: open_store("memory:")])
def test_threads_lose_nothing(factory: Callable[[], Store]) -> None:
    store = factory()
    store.write("/memories/log", b"", overwrite=False)
    memory, tool = Memory(store), MemoryTool(store)

    def insert(number: int) -> None:
        if number % 2:
            memory.insert("/memories/log", 0, str(number))
        else:
            tool.insert({"path": "/memories/log", "insert_line": 0, "insert_text": str(number)})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(insert, range(400)))
    lines = store.read("/memories/log").decode().splitlines()
    assert sorted(map(int, lines)) == list(range(400))


def test_of_many_creations_of_one_path_exactly_one_succeeds(tmp_path: Path) -> None:
    memory = Memory(tmp_path, durability="relaxed")
    for round_ in range(10 * EFFORT):
        barrier = threading.Barrier(8)

        def create(number: int, barrier: threading.Barrier, path: str) -> bool:
            barrier.wait(SECONDS)
            given = {"command": "create", "path": path, "file_text": str(number)}
            return not memory.execute(given).is_error

        with ThreadPoolExecutor(8) as pool:
            tasks = [
                pool.submit(create, number, barrier, f"/memories/{round_}/new")
                for number in range(8)
            ]
            winners = [number for number, task in enumerate(tasks) if task.result(SECONDS)]
        assert len(winners) == 1
        assert str(memory.view(f"/memories/{round_}/new")).endswith(f"\t{winners[0]}")


def test_other_threads_run_while_a_store_waits(tmp_path: Path) -> None:
    """If another process has locked the directory, the command waits, and the interpreter runs."""
    fcntl = pytest.importorskip("fcntl")
    memory = Memory(tmp_path)
    memory.create("/memories/a", "")
    root = os.open(tmp_path / "memories", os.O_RDONLY)
    fcntl.flock(root, fcntl.LOCK_EX)
    done = threading.Event()

    def insert() -> None:
        memory.insert("/memories/a", 0, "one")
        done.set()

    waiting = threading.Thread(target=insert)
    waiting.start()
    try:
        # This thread continues, and even reads. It could not if the writer kept the interpreter.
        for _ in range(1000):
            assert memory.view("/memories/a")
        assert not done.is_set()
    finally:
        os.close(root)
        waiting.join(SECONDS)
    assert str(memory.view("/memories/a")).endswith("\tone")


def test_a_slow_python_store_holds_up_nobody_else() -> None:
    others_done = threading.Event()

    class Slow(DictStore):
        def read(self, path: str) -> bytes:
            assert others_done.wait(SECONDS)
            return super().read(path)

    view = {"command": "view", "path": "/memories"}
    slow = threading.Thread(target=Memory(Slow()).execute, args=(view,))
    slow.start()
    quick = Memory("memory:")
    for number in range(100):
        quick.create(f"/memories/{number}", "")
    assert slow.is_alive()
    others_done.set()
    slow.join(SECONDS)
    assert not slow.is_alive()


def test_a_forked_child_uses_what_its_parent_opened(address: str) -> None:
    """The fork happens while other threads of the parent are in the middle of commands."""
    stores: list[Store] = [open_store(address), DictStore(), open_store("memory:")]
    memories = [Memory(store) for store in stores]
    tool, async_tool = MemoryTool(address), AsyncMemoryTool(address)
    assert async_tool.base_path == tool.base_path
    for memory in memories:
        memory.create("/memories/log", "")
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            memories[0].insert("/memories/log", 0, "parent")

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(FORKS):
            child = os.fork()
            if child == 0:
                # No exception may leave this block, or two test runs would continue from here.
                code = 1
                try:
                    signal.alarm(SECONDS)
                    memories[0].insert("/memories/log", 0, "child")
                    tool.call({"command": "view", "path": "/memories/log"})
                    memories[1].insert("/memories/log", 0, "child")
                    code = 0
                finally:
                    os._exit(code)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join(SECONDS)
    assert stores[0].read("/memories/log").count(b"child\n") == FORKS
