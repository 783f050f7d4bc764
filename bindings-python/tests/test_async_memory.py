"""`AsyncMemory`: all of `Memory` with `await`, on asyncio and Trio, with few threads."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from slow_store import Slow, begun, on_both

import pool_threads
from dict_store import DictStore
from effort import SECONDS
from memdir import (
    AsyncMemory,
    ConfigError,
    Memory,
    RefusedError,
    StoreError,
    _memdir,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_it_has_every_public_method_of_memory() -> None:
    for name, member in vars(Memory).items():
        if name.startswith("_") or name == "close":
            continue
        ours = getattr(AsyncMemory, name)
        if not callable(member):
            assert isinstance(ours, property), name
            continue
        # Methods that do not use the store need no `await`.
        at_once = name.endswith(("tool_definition", "tool_definitions")) or name.startswith(
            ("forget_", "acting_", "watch")
        )
        assert inspect.iscoroutinefunction(ours) is not at_once, name
        assert arguments(member) == arguments(ours), name


def arguments(method: Callable[..., object]) -> list[tuple[object, ...]]:
    _, *parameters = inspect.signature(method).parameters.values()
    return [(parameter.name, parameter.kind, parameter.default) for parameter in parameters]


@pytest.mark.parametrize("backend", ["asyncio", "trio", "uvloop"])
def test_every_method(backend: str, tmp_path: Path) -> None:
    async def run() -> None:
        async with await AsyncMemory.open(tmp_path, record_access=True) as memory:
            assert memory.directory == tmp_path.resolve() / "memories"
            await memory.create("/memories/a.md", "one\n")
            await memory.insert("/memories/a.md", 1, "two")
            await memory.str_replace("/memories/a.md", "two", "three")
            await memory.rename("/memories/a.md", "/memories/b.md")
            shown = await memory.view("/memories/b.md")
            assert shown == Memory(tmp_path).view("/memories/b.md")
            assert "three" in str(shown)
            assert "three" not in str(await memory.view("/memories/b.md", [1, 1]))
            content, is_error = await memory.execute({"command": "view", "path": "/memories/c"})
            assert is_error
            assert "does not exist" in str(content)
            reply = await memory.execute('{"command": "view", "path": "/memories/b.md"}')
            assert reply.content == shown
            told: list[object] = []
            expired = await memory.expire(0, dry_run=True, on_progress=told.append)
            assert [file.path for file in expired] == ["/memories/b.md"]
            assert told
            synced = await memory.sync("memory:", one_way=True, on_progress=told.append)
            assert (synced.equal, synced.changes[0].action) == (1, "created")
            assert await memory.read("/memories/b.md") == "one\nthree\n"
            await memory.write("/memories/c/d.md", "tea\n", if_unchanged=None)
            assert await memory.exists("/memories/c")
            assert [entry.path for entry in await memory.list("/memories/c")] == [
                "/memories/c/d.md"
            ]
            assert [match.line for match in await memory.grep("TEA", ignore_case=True)] == [1]
            assert await memory.find_sensitive() == []
            results = await memory.search("teas", path="/memories/c", limit=3)
            assert [hit.path for hit in results.hits] == ["/memories/c/d.md"]
            assert (await memory.stats()).files == 2
            assert "/memories/c/d.md" in await memory.index(500)
            assert memory.tool_definition("openai") == Memory("memory:").tool_definition("openai")
            assert len(memory.tool_definitions(prefix="my_")) == 6
            await memory.delete("/memories/b.md")
            with pytest.raises(RefusedError, match="does not exist"):
                await memory.delete("/memories/b.md")
            with pytest.raises(RefusedError, match="does not exist"):
                await memory.view("/memories/b.md")
            await memory.create("/memories/d.md", "")
            await memory.clear()
            assert "d.md" not in str(await memory.view("/memories"))

    if backend == "uvloop":
        anyio.run(run, backend_options={"use_uvloop": True})
    else:
        anyio.run(run, backend=backend)


@on_both
def test_what_is_wrong_with_an_address_or_an_argument(backend: str, tmp_path: Path) -> None:
    async def run() -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(ConfigError):
            await AsyncMemory.open("memory:", max_files=-1)
        with pytest.raises(StoreError):
            await AsyncMemory.open(tmp_path / "file")
        memory = AsyncMemory("memory:")
        unusable: Any = object()
        with pytest.raises(RefusedError, match="Invalid `path` parameter"):
            await memory.view(unusable)
        with pytest.raises(RefusedError, match="Invalid `file_text` parameter"):
            await memory.create("/memories/a", unusable)
        await memory.create("/memories/a", "")
        with pytest.raises(RefusedError, match="Invalid `view_range` parameter"):
            await memory.view("/memories/a", unusable)

    anyio.run(run, backend=backend)


# --- where a call is executed ------------------------------------------------------------------


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each call that uses a thread."""
    calls: list[object] = []
    submit = _memdir.submit

    def counted(*given: Any) -> Any:
        calls.append(given)
        return submit(*given)

    monkeypatch.setattr(_memdir, "submit", counted)
    return calls


@on_both
def test_a_view_that_need_not_wait_uses_no_thread(backend: str, used: list[object]) -> None:
    async def run() -> None:
        memory = AsyncMemory("memory:")
        await memory.create("/memories/a.md", "one")
        await memory.create("/memories/large.md", "x" * 65_537)
        used.clear()
        for view in (
            memory.view("/memories/a.md"),
            memory.view("/memories"),
            memory.execute({"command": "view", "path": "/memories/a.md"}),
            memory.execute('{"command": "view", "path": "/memories/a.md"}'),
            memory.execute({"command": "view"}),
        ):
            await view
        assert used == []
        await memory.view("/memories/large.md")
        assert len(used) == 1

    anyio.run(run, backend=backend)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system call is Linux's")
@on_both
def test_a_cached_file_of_a_directory_uses_no_thread(
    backend: str, used: list[object], tmp_path: Path
) -> None:
    async def run() -> None:
        memory = AsyncMemory(tmp_path)
        await memory.create("/memories/a/b.md", "one")
        # This call checks the type of the file system.
        await memory.view("/memories/a/b.md")
        used.clear()
        shown = await memory.view("/memories/a/b.md")
        if used:
            pytest.skip("this file system or this kernel cannot tell")
        assert shown == Memory(tmp_path).view("/memories/a/b.md")
        (tmp_path / "memories" / "a" / "b.md").write_text("two")
        assert "two" in str(await memory.view("/memories/a/b.md"))
        assert used == []
        # These are answered in the ordinary way.
        (tmp_path / "memories" / "link.md").symlink_to("a/b.md")
        os.mkfifo(tmp_path / "memories" / "fifo")
        ordinary = Memory(tmp_path)
        for path in ("link.md", "fifo", "none.md", "a", "a/b.md/c"):
            view = {"command": "view", "path": f"/memories/{path}"}
            assert await memory.execute(view) == ordinary.execute(view), path
        assert len(used) == 5

    anyio.run(run, backend=backend)


@pytest.mark.parametrize(
    "options",
    [
        {"before": lambda command: None},
        {"after": lambda event: None},
        {"record_access": True},
        {"expire_after": 3600},
        {"sensitive_on_view": True},
    ],
    ids=lambda options: next(iter(options)),
)
def test_what_takes_long_or_calls_you_is_done_on_a_thread(
    options: dict[str, Any], used: list[object]
) -> None:
    async def run() -> None:
        memory = AsyncMemory("memory:", **options)
        await memory.create("/memories/a.md", "one")
        used.clear()
        await memory.view("/memories/a.md")
        assert len(used) == 1

    asyncio.run(run())


@on_both
def test_python_code_never_runs_on_the_threads_of_the_loop(backend: str) -> None:
    called: list[int] = []

    def hook(_: object) -> None:
        called.append(threading.get_ident())

    async def run() -> None:
        store = Slow()
        store.gate.set()
        memory = AsyncMemory(store, before=hook, after=hook)
        await memory.create("/memories/a", "one")
        await memory.view("/memories/a")
        await memory.execute({"command": "view"})
        assert called
        assert threading.get_ident() not in {*store.threads, *called}

    anyio.run(run, backend=backend)


def test_calls_that_need_no_thread_let_others_have_a_turn() -> None:
    async def run() -> None:
        memory = AsyncMemory("memory:")
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.ensure_future(other())
        for _ in range(200):
            await memory.view("/memories")
        assert turns >= 4
        task.cancel()

    asyncio.run(run())


@on_both
def test_a_thousand_calls_on_a_slow_store_use_few_threads(backend: str) -> None:
    store = Slow()
    before = pool_threads.count()

    async def run() -> None:
        memory = AsyncMemory(store)
        async with anyio.create_task_group() as tasks:
            for number in range(1000):
                tasks.start_soon(memory.create, f"/memories/{number}", "x")
            await begun(store, pool_threads.MOST)
            assert pool_threads.count() - before <= 2 * pool_threads.MOST
            store.gate.set()

    anyio.run(run, backend=backend)
    assert len(store.threads) <= pool_threads.MOST
    assert len(store.tree) == 1001


@on_both
def test_a_store_may_wait_for_another_memory(backend: str) -> None:
    """Its threads are not the ones for which it waits."""
    inner = AsyncMemory("memory:")

    class Outer(DictStore):
        def write(self, path: str, content: bytes, overwrite: bool) -> None:
            anyio.run(inner.create, path, content.decode(), backend="asyncio")
            super().write(path, content, overwrite)

    async def run() -> None:
        outer = AsyncMemory(Outer())
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for number in range(200):
                    tasks.start_soon(outer.create, f"/memories/{number}", "x")

    anyio.run(run, backend=backend)


def test_what_a_store_keeps_for_a_thread_is_there_at_the_next_call() -> None:
    kept = threading.local()
    made = []

    class Connecting(DictStore):
        def write(self, path: str, content: bytes, overwrite: bool) -> None:
            if not hasattr(kept, "connection"):
                kept.connection = object()
                made.append(kept.connection)
            super().write(path, content, overwrite)

    async def run() -> None:
        memory = AsyncMemory(Connecting())
        for number in range(50):
            await memory.create(f"/memories/{number}", "x")

    asyncio.run(run())
    assert len(made) < 10


@on_both
def test_a_call_runs_in_the_context_of_its_task(backend: str) -> None:
    request: ContextVar[str] = ContextVar("request")
    seen: list[str] = []

    async def run() -> None:
        memory = AsyncMemory("memory:", before=lambda _: seen.append(request.get()))
        request.set("42")
        await memory.create("/memories/a", "x")

    anyio.run(run, backend=backend)
    assert seen == ["42"]
