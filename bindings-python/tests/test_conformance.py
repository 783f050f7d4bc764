"""Every conformance case, through each interface of the package and on a store written in Python.

The runners in Rust run the cases on memdir's other stores. `test_every_store.py` uses each of those
once from Python.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.lib.tools import ToolError

import cases
from dict_store import DictStore
from memdir import AsyncMemory, AsyncMemoryTool, Memory, MemoryTool, open_store
from redis_store import RedisStore

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator
    from pathlib import Path

    from memdir import Entry, Expired

    Run = Callable[[Coroutine[Any, Any, Any]], Any]

CASES = cases.load()
HOOKED = [case for case in CASES if "hooks" in case.data]
# These have the examples and the sentences of the tool's documentation.
DOCUMENTED = [case for case in CASES if case.file == "documentation"]


@pytest.fixture(scope="module")
def counts() -> Iterator[Counter[tuple[str, str]]]:
    """The number of cases and steps of each runner, written to a file at the end."""
    counter: Counter[tuple[str, str]] = Counter()
    yield counter
    directory = cases.PROJECT / "target" / "conformance"
    directory.mkdir(parents=True, exist_ok=True)
    for runner in {runner for runner, _ in counter}:
        ran = f"{counter[runner, 'cases']} {counter[runner, 'steps']}"
        (directory / runner).write_text(ran + "\n")
        print(f"conformance: {runner}: {ran} (cases, steps)")


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """New directories, which cost less than `tmp_path`."""
    above = tmp_path_factory.mktemp("cases")
    return (above / str(number) for number in itertools.count())


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Runs a coroutine to its end, always on the same event loop."""
    loop = asyncio.new_event_loop()
    yield loop.run_until_complete
    loop.close()


def count(counts: Counter[tuple[str, str]], runner: str, steps: int) -> None:
    counts[runner, "cases"] += 1
    counts[runner, "steps"] += steps


def relaxed(case: cases.Case) -> dict[str, Any]:
    """The case's options. Unless the case concerns durability, nothing waits for the disk."""
    return {"durability": "relaxed", **case.options}


def called(tool: MemoryTool) -> Callable[[Any], tuple[Any, bool]]:
    """Returns the tool's answer, and whether it is an error."""

    def execute(given: Any) -> tuple[Any, bool]:
        try:
            return tool.call(given), False
        except ToolError as error:
            return str(error.content), True

    return execute


def executed(memory: Memory) -> Callable[[Any], tuple[Any, bool]]:
    """Returns the memory's answer, and whether it is an error."""
    return lambda given: memory.execute(as_input(given))


def as_input(given: Any) -> Any:
    """The input for `execute`, which parses a plain text as JSON."""
    return json.dumps(given) if isinstance(given, str) else given


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tool(
    case: cases.Case, directories: Iterator[Path], counts: Counter[tuple[str, str]]
) -> None:
    place = next(directories)
    tool = MemoryTool(place, **relaxed(case))
    store = open_store(place, durability="relaxed")
    steps = cases.run(case, store, called(tool), tool.expire, secret=str(place))
    count(counts, "python-tool", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_async_tool(case: cases.Case, run: Run, counts: Counter[tuple[str, str]]) -> None:
    store = open_store("memory:")
    tool = AsyncMemoryTool(store, **case.options)

    def execute(given: Any) -> tuple[Any, bool]:
        try:
            return run(tool.call(given)), False
        except ToolError as error:
            return str(error.content), True

    def expire(older_than: float, **options: Any) -> list[Expired]:
        expired: list[Expired] = run(tool.expire(older_than, **options))
        return expired

    count(counts, "python-async-tool", cases.run(case, store, execute, expire))


@pytest.mark.parametrize("case", HOOKED, ids=str)
def test_hooks_that_are_awaited(case: cases.Case, run: Run) -> None:
    options = case.options
    plain: dict[str, Any] = {hook: options[hook] for hook in ("before", "after")}

    async def before(command: Any) -> Any:
        await asyncio.sleep(0)
        return plain["before"](command)

    async def after(event: Any) -> None:
        await asyncio.sleep(0)
        plain["after"](event)

    store = open_store("memory:")
    memory = AsyncMemory(store, **{**options, "before": before, "after": after})

    def execute(given: Any) -> tuple[Any, bool]:
        reply: tuple[Any, bool] = run(memory.execute(as_input(given)))
        return reply

    def expire(older_than: float, **named: Any) -> list[Expired]:
        expired: list[Expired] = run(memory.expire(older_than, **named))
        return expired

    assert cases.run(case, store, execute, expire) > 0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_async_memory(
    case: cases.Case, run: Run, directories: Iterator[Path], counts: Counter[tuple[str, str]]
) -> None:
    place = next(directories)
    memory = AsyncMemory(place, **relaxed(case))

    def execute(given: Any) -> tuple[Any, bool]:
        reply: tuple[Any, bool] = run(memory.execute(as_input(given)))
        return reply

    def expire(older_than: float, **options: Any) -> list[Expired]:
        expired: list[Expired] = run(memory.expire(older_than, **options))
        return expired

    store = open_store(place, durability="relaxed")
    steps = cases.run(case, store, execute, expire, secret=str(place))
    count(counts, "python-async-memory", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_python_store(case: cases.Case, counts: Counter[tuple[str, str]]) -> None:
    store = DictStore()
    memory = Memory(store, **case.options)
    count(counts, "python-store", cases.run(case, store, executed(memory), memory.expire))


# --- the documentation's cases, on more stores -------------------------------------------------


@pytest.mark.parametrize("case", DOCUMENTED, ids=str)
def test_redis_example(case: cases.Case, redis_server: str) -> None:
    store = RedisStore(redis_server, uuid.uuid4().hex)
    memory = Memory(store, **case.options)
    secret = redis_server.removeprefix("unix://")
    cases.run(case, store, executed(memory), memory.expire, secret)
    store.close()


@pytest.mark.parametrize("case", DOCUMENTED, ids=str)
def test_history_in_a_directory(case: cases.Case, directories: Iterator[Path]) -> None:
    """With a history the replies are the same."""
    place = next(directories)
    tool = MemoryTool(place, **relaxed(case), history=True)
    store = open_store(place, durability="relaxed")
    cases.run(case, store, called(tool), tool.expire, secret=str(place))


class WithoutHistory(DictStore):
    """The files of another store, without the files of its history."""

    def __init__(self, store: DictStore) -> None:
        super().__init__()
        vars(self).update(vars(store))

    def list(self, path: str) -> Iterable[Entry]:
        kept = "/memories/.memdir-history"
        return [entry for entry in super().list(path) if entry.path != kept]


@pytest.mark.parametrize("case", DOCUMENTED, ids=str)
def test_history_in_the_store_itself(case: cases.Case) -> None:
    store = DictStore()
    memory = Memory(store, **case.options, history=True)
    cases.run(case, WithoutHistory(store), executed(memory), memory.expire)


def test_there_are_cases() -> None:
    assert CASES
    assert DOCUMENTED
