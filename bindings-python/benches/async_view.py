"""The cost of calls on an event loop, and the time for which they block it.

The first table is one `call()` of a `view` of a 4 KiB file on asyncio: the time that a task waits
for it, and the share of the loop's thread. The second table is 1,000 concurrent calls on a store
written in Python that sleeps: the longest turn of the loop, in processor time of its thread, and
the delay of a timer of the loop. For comparison it has a loop whose 1,000 tasks only sleep, and one
whose 1,000 calls go to the threads of `asyncio.to_thread`, because a busy machine causes delays as
well.

    python benches/async_view.py [--rounds 11] [--calls 2000] [--bytes 4096]
"""

from __future__ import annotations

import argparse
import asyncio
import selectors
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memdir import AsyncMemory, AsyncMemoryTool, Entry, Memory, MemoryTool, Store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LINE = "- Remember this about the project: the tests run on every push.\n"
VIEW = {"command": "view", "path": "/memories/notes.md"}
TASKS = Path("/proc/self/task")


async def waits(call: Callable[[], Awaitable[object]], calls: int) -> tuple[float, float]:
    """The median time of a call, and the mean time on the loop's thread, in microseconds."""
    times = []
    await call()
    busy = time.thread_time_ns()
    for _ in range(calls):
        start = time.perf_counter_ns()
        await call()
        times.append(time.perf_counter_ns() - start)
    busy = time.thread_time_ns() - busy
    return statistics.median(times) / 1000, busy / calls / 1000


class Sleepy(Store):
    """Every view takes a while."""

    def open(self, path: str, depth: int) -> bytes:
        time.sleep(0.02)
        return b"one"

    def read(self, path: str) -> bytes:
        raise NotImplementedError

    def list(self, path: str) -> list[Entry]:
        raise NotImplementedError

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        raise NotImplementedError

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        raise NotImplementedError

    def delete(self, path: str) -> None:
        raise NotImplementedError

    def rename(self, old: str, new: str) -> None:
        raise NotImplementedError


def threads() -> int:
    return len(list(TASKS.iterdir())) if TASKS.is_dir() else threading.active_count()


class Turns(selectors.DefaultSelector):
    """Measures the turns of a loop: the time of its thread between two polls for ready events."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 0
        self._begun: int | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._begun is not None:
            self.longest = max(self.longest, time.thread_time_ns() - self._begun)
        ready = super().select(timeout)
        self._begun = time.thread_time_ns()
        return ready


def loop_under(
    call: Callable[[], Awaitable[object]], calls: int
) -> tuple[float, float, float, int]:
    """The longest turn; a timer's 99th percentile and largest delay, in ms; the threads."""
    turns = Turns()
    loop = asyncio.SelectorEventLoop(turns)
    try:
        late = loop.run_until_complete(lateness(call, calls))
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
    return turns.longest / 1e6, *late


async def lateness(call: Callable[[], Awaitable[object]], calls: int) -> tuple[float, float, int]:
    """A timer's 99th percentile and largest delay, in milliseconds; and the threads."""
    late: list[float] = []
    most, before, done = 0, threads(), False

    async def timer() -> None:
        nonlocal most
        while not done:
            planned = time.perf_counter() + 0.001
            await asyncio.sleep(0.001)
            late.append((time.perf_counter() - planned) * 1000)
            most = max(most, threads() - before)

    ticking = asyncio.ensure_future(timer())
    tasks = []
    for number in range(calls):
        tasks.append(asyncio.ensure_future(call()))
        # Starting all of them in one turn would block any loop.
        if number % 10 == 9:
            await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    done = True
    await ticking
    late.sort()
    return late[len(late) * 99 // 100], late[-1], most


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--calls", type=int, default=2000, help="in a round")
    parser.add_argument("--bytes", type=int, default=4096, help="in the file")
    arguments = parser.parse_args()
    in_memory = Path("/dev/shm")  # noqa: S108 - a file system in memory, if the machine has one
    root = in_memory if in_memory.is_dir() else None
    with tempfile.TemporaryDirectory(dir=root) as directory:
        text = (LINE * (arguments.bytes // len(LINE) + 1))[: arguments.bytes]
        synchronous = MemoryTool(directory)
        synchronous.create({"path": VIEW["path"], "file_text": text})
        tool, memory = AsyncMemoryTool(directory), AsyncMemory(directory)
        hooked = AsyncMemoryTool(directory, after=lambda _: None)

        async def at_once() -> object:
            return synchronous.call(VIEW)

        ways: dict[str, Callable[[], Awaitable[Any]]] = {
            "AsyncMemoryTool.call": lambda: tool.call(VIEW),
            "AsyncMemory.view": lambda: memory.view(VIEW["path"]),
            "AsyncMemoryTool.call, on a thread": lambda: hooked.call(VIEW),
            "asyncio.to_thread(MemoryTool.call)": lambda: asyncio.to_thread(synchronous.call, VIEW),
            "MemoryTool.call, synchronous": at_once,
        }
        rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, call in ways.items():
                rounds[name].append(asyncio.run(waits(call, arguments.calls)))
    print(f"view of {arguments.bytes} bytes in {root or 'the temporary directory'}, asyncio;")
    print(f"Python {sys.version.split()[0]}; median of a call, and of the loop's thread")
    for name, measured in rounds.items():
        waited, busy = (statistics.median(values) for values in zip(*measured, strict=True))
        print(f"  {name:36} {waited:8.2f} µs {busy:8.2f} µs")
    sleepy = Sleepy()
    slow, slow_memory = AsyncMemory(sleepy), Memory(sleepy)
    print("1,000 calls at once on a store that sleeps:")
    beside: dict[str, Callable[[], Awaitable[Any]]] = {
        "tasks that only sleep": lambda: asyncio.sleep(0.02),
        "AsyncMemory.view": lambda: slow.view("/memories/a"),
        "asyncio.to_thread(Memory.view)": lambda: asyncio.to_thread(
            slow_memory.view, "/memories/a"
        ),
    }
    held: dict[str, list[tuple[float, float, float, int]]] = {name: [] for name in beside}
    for _ in range(arguments.rounds):
        for name, call in beside.items():
            held[name].append(loop_under(call, 1000))
    for name, figures in held.items():
        turn, percentile, most, _ = (
            statistics.median(values) for values in zip(*figures, strict=True)
        )
        # The threads of one round still exist in the next one.
        running = max(figure[-1] for figure in figures)
        print(f"  {name:32} longest turn {turn:5.2f} ms;", end=" ")
        print(f"late 99 %: {percentile:5.2f} ms, at most {most:5.2f} ms; {running} threads")
    return 0


if __name__ == "__main__":
    sys.exit(main())
