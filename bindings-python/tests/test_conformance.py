"""Every case of `tests/cases`, for the two tools and every kind of store; the contract of some."""

from __future__ import annotations

import asyncio
import itertools
import json
import uuid
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from anthropic.lib.tools import ToolError

import cases
import servers
from dict_store import DictStore
from memdir import AsyncMemory, AsyncMemoryTool, Memory, MemoryTool, open_store
from memdir.testing import check_contract
from redis_store import RedisStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from memdir import Entry, Expired

CASES = cases.load()


@pytest.fixture(scope="module")
def counts() -> Iterator[Counter[tuple[str, str]]]:
    """How many cases and steps each runner ran; written down at the end."""
    counter: Counter[tuple[str, str]] = Counter()
    yield counter
    directory = cases.PROJECT / "target" / "conformance"
    directory.mkdir(parents=True, exist_ok=True)
    for runner in {runner for runner, _ in counter}:
        ran = f"{counter[runner, 'cases']} {counter[runner, 'steps']}"
        (directory / runner).write_text(ran + "\n")
        print(f"conformance: {runner}: {ran} (cases, steps)")


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of a server of S3's protocol."""
    place = tmp_path_factory.mktemp("s3")
    endpoint = servers.start("s3", place)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ACCESS_KEY_ID", "test-key-id")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "test-secret-key")
        # Reading them for each of many stores would take most of the time.
        environment.setenv("AWS_DISABLE_SYSTEM_CERTIFICATES", "true")
        yield endpoint
    servers.stop("s3", place)


def bucket(endpoint: str, prefix: str) -> str:
    return f"s3://memdir/{prefix}?endpoint={endpoint}&region=us-east-1&allow_http=true"


def test_contract_of_sqlite(tmp_path: Path) -> None:
    numbers = itertools.count()
    check_contract(lambda: open_store(f"sqlite:{tmp_path}/{next(numbers)}.db"))


def test_contract_of_postgres(postgres: Callable[[], str]) -> None:
    check_contract(lambda: open_store(postgres()))


def test_contract_of_s3(s3: str) -> None:
    check_contract(lambda: open_store(bucket(s3, uuid.uuid4().hex)))


def count(counts: Counter[tuple[str, str]], runner: str, steps: int) -> None:
    counts[runner, "cases"] += 1
    counts[runner, "steps"] += steps


def called(tool: MemoryTool) -> Callable[[Any], tuple[Any, bool]]:
    """What the tool answers, and whether it is an error."""

    def execute(given: Any) -> tuple[Any, bool]:
        try:
            return tool.call(given), False
        except ToolError as error:
            return str(error.content), True

    return execute


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tool(case: cases.Case, tmp_path: Path, counts: Counter[tuple[str, str]]) -> None:
    tool = MemoryTool(tmp_path, **case.options)
    steps = cases.run(case, open_store(tmp_path), called(tool), tool.expire, secret=str(tmp_path))
    count(counts, "python-tool", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_async_tool(case: cases.Case, tmp_path: Path, counts: Counter[tuple[str, str]]) -> None:
    tool = AsyncMemoryTool(tmp_path, **case.options)

    def execute(given: Any) -> tuple[Any, bool]:
        try:
            return anyio.run(tool.call, given), False
        except ToolError as error:
            return str(error.content), True

    def expire(older_than: float, **options: Any) -> list[Expired]:
        return anyio.run(partial(tool.expire, older_than, **options))

    steps = cases.run(case, open_store(tmp_path), execute, expire, secret=str(tmp_path))
    count(counts, "python-async-tool", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_async_memory(case: cases.Case, tmp_path: Path, counts: Counter[tuple[str, str]]) -> None:
    memory = AsyncMemory(tmp_path, **case.options)

    def execute(given: Any) -> tuple[Any, bool]:
        return asyncio.run(memory.execute(json.dumps(given) if isinstance(given, str) else given))

    def expire(older_than: float, **options: Any) -> list[Expired]:
        return asyncio.run(memory.expire(older_than, **options))

    steps = cases.run(case, open_store(tmp_path), execute, expire, secret=str(tmp_path))
    count(counts, "python-async-memory", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_sqlite(case: cases.Case, tmp_path: Path, counts: Counter[tuple[str, str]]) -> None:
    address = f"sqlite:{tmp_path}/agent.db"
    tool = MemoryTool(address, **case.options)
    steps = cases.run(case, open_store(address), called(tool), tool.expire, secret=str(tmp_path))
    count(counts, "python-sqlite", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_encrypted(case: cases.Case, tmp_path: Path, counts: Counter[tuple[str, str]]) -> None:
    key = bytes(range(32))
    tool = MemoryTool(tmp_path, encryption_key=key, **case.options)
    store = open_store(tmp_path, encryption_key=key)
    steps = cases.run(case, store, called(tool), tool.expire, secret=str(tmp_path))
    count(counts, "python-encrypted", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_postgres(
    case: cases.Case, postgres: Callable[[], str], counts: Counter[tuple[str, str]]
) -> None:
    address = postgres()
    tool = MemoryTool(address, **case.options)
    steps = cases.run(case, open_store(address), called(tool), tool.expire, secret="127.0.0.1")
    count(counts, "python-postgres", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_s3(case: cases.Case, s3: str, counts: Counter[tuple[str, str]]) -> None:
    prefix = uuid.uuid4().hex
    address = bucket(s3, prefix)
    tool = MemoryTool(address, **case.options)
    steps = cases.run(case, open_store(address), called(tool), tool.expire, secret=prefix)
    count(counts, "python-s3", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_python_store(case: cases.Case, counts: Counter[tuple[str, str]]) -> None:
    store = DictStore()
    memory = Memory(store, **case.options)

    def execute(given: Any) -> tuple[Any, bool]:
        # A bare text is JSON text to `execute`.
        return memory.execute(json.dumps(given) if isinstance(given, str) else given)

    count(counts, "python-store", cases.run(case, store, execute, memory.expire))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_history(case: cases.Case, tmp_path: Path, counts: Counter[tuple[str, str]]) -> None:
    """What the model sees is the same with a history."""
    tool = MemoryTool(tmp_path, **case.options, history=True)
    steps = cases.run(case, open_store(tmp_path), called(tool), tool.expire, secret=str(tmp_path))
    count(counts, "python-history", steps)


class WithoutHistory(DictStore):
    """The same files as another store's, without those of its history."""

    def __init__(self, store: DictStore) -> None:
        super().__init__()
        vars(self).update(vars(store))

    def list(self, path: str) -> Iterable[Entry]:
        kept = "/memories/.memdir-history"
        return [entry for entry in super().list(path) if entry.path != kept]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_history_in_the_store_itself(case: cases.Case, counts: Counter[tuple[str, str]]) -> None:
    store = DictStore()
    memory = Memory(store, **case.options, history=True)

    def execute(given: Any) -> tuple[Any, bool]:
        return memory.execute(json.dumps(given) if isinstance(given, str) else given)

    steps = cases.run(case, WithoutHistory(store), execute, memory.expire)
    count(counts, "python-history-store", steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_redis_store(case: cases.Case, redis_server: str, counts: Counter[tuple[str, str]]) -> None:
    store = RedisStore(redis_server, uuid.uuid4().hex)
    memory = Memory(store, **case.options)

    def execute(given: Any) -> tuple[Any, bool]:
        return memory.execute(json.dumps(given) if isinstance(given, str) else given)

    secret = redis_server.removeprefix("unix://")
    count(counts, "python-redis", cases.run(case, store, execute, memory.expire, secret))
    store.close()


def test_there_are_cases() -> None:
    assert CASES
