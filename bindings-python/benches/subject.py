"""Executes commands for `tests/bench/run`, which measures them.

    python benches/subject.py sync|async|sdk DIRECTORY

`sync` and `async` are memdir's tools, `sdk` is the SDK's own file tool.
`tests/bench/src/protocol.rs` describes the requests.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Command = dict[str, Any]
Times = list[list[int]]


def repeated(call: Callable[[Command], object], commands: list[Command], seconds: float) -> Times:
    times: Times = [[] for _ in commands]
    until = time.perf_counter() + seconds
    while True:
        for command, measured in zip(commands, times, strict=True):
            begun = time.perf_counter_ns()
            call(command)
            measured.append(time.perf_counter_ns() - begun)
        if time.perf_counter() >= until:
            return times


async def awaited(call: Callable[[Command], Any], commands: list[Command], seconds: float) -> Times:
    times: Times = [[] for _ in commands]
    until = time.perf_counter() + seconds
    while True:
        for command, measured in zip(commands, times, strict=True):
            begun = time.perf_counter_ns()
            await call(command)
            measured.append(time.perf_counter_ns() - begun)
        if time.perf_counter() >= until:
            return times


async def all_awaited(
    call: Callable[[Command], Any], callers: list[list[Command]], seconds: float
) -> list[Times]:
    return await asyncio.gather(*(awaited(call, commands, seconds) for commands in callers))


def refusal(call: Callable[[Command], Any]) -> Callable[[Command], None]:
    def refused(command: Command) -> None:
        try:
            call(command)
        except Exception:  # noqa: BLE001 Each tool has its own.
            return
        raise AssertionError(command)

    return refused


def awaited_refusal(call: Callable[[Command], Any]) -> Callable[[Command], Any]:
    async def refused(command: Command) -> None:
        try:
            await call(command)
        except Exception:  # noqa: BLE001 Each tool has its own.
            return
        raise AssertionError(command)

    return refused


def main() -> int:
    kind, directory = sys.argv[1:]
    loop = asyncio.new_event_loop()
    if kind == "sdk":
        from anthropic.tools import BetaLocalFilesystemMemoryTool  # noqa: PLC0415

        tool: Callable[[Command], Any] = BetaLocalFilesystemMemoryTool(directory).call
    else:
        from memdir import AsyncMemoryTool, MemoryTool  # noqa: PLC0415

        tool = AsyncMemoryTool(directory).call if kind == "async" else MemoryTool(directory).call
    for line in sys.stdin:
        request = json.loads(line)
        callers, seconds = request["callers"], request["seconds"]
        call = tool
        if request.get("fails"):
            call = awaited_refusal(tool) if kind == "async" else refusal(tool)
        begun = time.perf_counter()
        if kind == "async":
            times = loop.run_until_complete(all_awaited(call, callers, seconds))
        elif len(callers) <= 1:
            times = [repeated(call, commands, seconds) for commands in callers]
        else:
            with ThreadPoolExecutor(len(callers)) as threads:
                running = [
                    threads.submit(repeated, call, commands, seconds) for commands in callers
                ]
                times = [thread.result() for thread in running]
        elapsed = time.perf_counter() - begun
        of_command = [list(chain(*lists)) for lists in zip(*times, strict=True)]
        answer = {
            "calls": sum(len(measured) for measured in of_command),
            "seconds": elapsed,
            "medians": [round(statistics.median(measured)) for measured in of_command],
        }
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
