"""`watch`: changes by any process are reported, and every wait can be stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import pytest
from slow_store import on_both

from dict_store import DictStore
from effort import SECONDS
from memdir import AsyncMemory, Change, ConfigError, Memory, RefusedError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memdir import Entry

OTHER = """
import sys
from memdir import Memory
memory = Memory(sys.argv[1])
memory.create("/memories/other.md", "from elsewhere\\n")
"""


def told(changes: Iterable[Change]) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in changes]


def test_what_this_process_changes_is_told_at_once() -> None:
    memory = Memory("memory:")
    with memory.watch("/memories/team", every=3600) as watch:
        assert watch.changes(0) == []
        memory.write("/memories/a.md", "one\n")
        memory.write("/memories/team/a.md", "one\n")
        changes = watch.changes(timedelta(seconds=SECONDS))
        assert told(changes) == [("written", "/memories/team/a.md")]
        assert changes[0] == Change("written", "/memories/team/a.md", None)
        match changes[0]:
            case Change(kind, path):
                assert (kind, path) == ("written", "/memories/team/a.md")
        memory.rename("/memories/team", "/memories/group")
        assert told(watch.changes(SECONDS)) == [("deleted", "/memories/team/a.md")]


@pytest.mark.parametrize("address", ["{}", "dir:{}", "sqlite:{}/agent.db"])
def test_what_another_process_changes_is_told(address: str, tmp_path: Path) -> None:
    address = address.format(tmp_path / "store" if "sqlite" not in address else tmp_path)
    memory = Memory(address)
    watch = memory.watch()
    subprocess.run([sys.executable, "-c", OTHER, address], check=True)
    assert told(watch.changes(SECONDS)) == [("written", "/memories/other.md")]
    assert watch.changes(0) == []


def test_a_plain_write_into_the_directory_is_told(tmp_path: Path) -> None:
    memory = Memory(f"dir:{tmp_path}")
    watch = memory.watch(every=timedelta(milliseconds=20))
    (tmp_path / "plain.md").write_text("one\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "plain.md").write_text("two\n")
    found: list[Change] = []
    for change in watch:
        found.append(change)
        if len(found) == 2:
            break
    assert sorted(told(found)) == [
        ("written", "/memories/more/plain.md"),
        ("written", "/memories/plain.md"),
    ]
    (tmp_path / "plain.md").unlink()
    assert told(watch.changes(SECONDS)) == [("deleted", "/memories/plain.md")]


def test_other_threads_run_while_one_waits_and_closing_ends_it() -> None:
    memory = Memory("memory:")
    watch = memory.watch(every=3600)
    found: list[Change] = []

    def iterate() -> None:
        found.extend(watch)

    thread = threading.Thread(target=iterate)
    thread.start()
    memory.write("/memories/a.md", "one\n")
    deadline = time.monotonic() + SECONDS
    while not found and time.monotonic() < deadline:
        time.sleep(0.001)
    assert told(found) == [("written", "/memories/a.md")]
    watch.close()
    thread.join(SECONDS)
    assert not thread.is_alive()
    watch.close()
    assert list(watch) == []
    with pytest.raises(ValueError, match="the watch is closed"):
        watch.changes(0)


@pytest.mark.skipif(os.name == "nt", reason="signals are Unix's")
def test_ctrl_c_ends_the_waiting_and_loses_nothing() -> None:
    memory = Memory("memory:")
    watch = memory.watch()
    # In the background of a shell the signal would be ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))

    def wait() -> None:
        timer.start()
        next(watch)

    try:
        with pytest.raises(KeyboardInterrupt):
            wait()
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()
    memory.write("/memories/a.md", "one\n")
    assert told([next(watch)]) == [("written", "/memories/a.md")]


def test_what_is_wrong_is_said() -> None:
    memory = Memory("memory:")
    with pytest.raises(RefusedError, match="must start with /memories"):
        memory.watch("elsewhere")
    with pytest.raises(ConfigError, match="every must be 0 seconds or more, or a timedelta"):
        memory.watch(every=-1)
    with pytest.raises(ConfigError, match="wait must be 0 seconds or more, or a timedelta"):
        memory.watch().changes("soon")  # type: ignore[arg-type]
    memory.close()
    with pytest.raises(ValueError, match="the memory is closed"):
        memory.watch()


class Broken(DictStore):
    """A store of the application that cannot be listed for a while."""

    failing = False

    def list(self, path: str) -> Iterable[Entry]:
        if self.failing:
            raise OSError("the disk is gone")
        return super().list(path)


def test_a_failure_of_the_store_is_raised_and_the_watch_goes_on() -> None:
    store = Broken()
    memory = Memory(store)
    memory.write("/memories/a.md", "one\n")
    watch = memory.watch()
    store.failing = True
    memory.write("/memories/b.md", "two\n")
    with pytest.raises(StoreError, match="the disk is gone"):
        watch.changes(SECONDS)
    store.failing = False
    assert told(watch.changes(SECONDS)) == [("written", "/memories/b.md")]


@on_both
def test_with_await(backend: str, tmp_path: Path) -> None:
    async def run() -> None:
        async with await AsyncMemory.open(tmp_path) as memory, memory.watch() as watch:
            assert await watch.changes(0) == []
            await memory.write("/memories/a.md", "one\n")
            async for change in watch:
                assert (change.kind, change.path) == ("written", "/memories/a.md")
                break
            subprocess.run([sys.executable, "-c", OTHER, str(tmp_path)], check=True)
            changes = await watch.changes(timedelta(seconds=SECONDS))
            assert told(changes) == [("written", "/memories/other.md")]
            await watch.aclose()
            assert [change async for change in watch] == []
            with pytest.raises(ValueError, match="the watch is closed"):
                await watch.changes(0)
            with pytest.raises(RefusedError):
                await memory.watch("elsewhere").changes(0)

    anyio.run(run, backend=backend)


@on_both
def test_who_awaits_changes_can_be_cancelled_and_holds_no_thread(backend: str) -> None:
    async def run() -> None:
        async with AsyncMemory("memory:") as memory:
            before = threading.active_count()
            watches = [memory.watch() for _ in range(200)]
            for watch in watches:
                # The watch begins with this call.
                assert await watch.changes(0) == []
            async with anyio.create_task_group() as tasks:
                for watch in watches:
                    tasks.start_soon(watch.changes, SECONDS)
                await anyio.sleep(0.3)
                # Views are answered meanwhile.
                assert await memory.list() == []
                tasks.cancel_scope.cancel()
            assert threading.active_count() <= before + 64
            await memory.write("/memories/a.md", "one\n")
            for watch in watches:
                assert told(await watch.changes(SECONDS)) == [("written", "/memories/a.md")]

    anyio.run(run, backend=backend)


@on_both
def test_closing_ends_an_iteration_that_waits(backend: str) -> None:
    async def run() -> None:
        memory = AsyncMemory("memory:")
        watch = memory.watch()
        found: list[Change] = []

        async def iterate() -> None:
            async for change in watch:
                found.append(change)

        # The watch begins with this call.
        assert await watch.changes(0) == []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(iterate)
            await memory.write("/memories/a.md", "one\n")
            with anyio.fail_after(SECONDS):
                while not found:
                    await anyio.sleep(0.01)
            await watch.aclose()
        assert told(found) == [("written", "/memories/a.md")]
        await memory.aclose()

    anyio.run(run, backend=backend)
