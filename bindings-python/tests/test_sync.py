"""Making two memories equal, with `Memory.sync` and `AsyncMemory.sync`."""

from __future__ import annotations

import asyncio
import itertools
import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from slow_store import Slow, begun, on_both
from typing_extensions import assert_type

import memdir
import pool_threads
from dict_store import DictStore
from effort import SECONDS
from memdir import (
    AsyncMemory,
    AsyncMemoryTool,
    ConfigError,
    Deny,
    HookError,
    Memory,
    MemoryTool,
    StoreError,
    SyncChange,
    Synced,
    SyncError,
    SyncMerge,
    SyncProgress,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from memdir import AsyncHookCall, Event, HookCall

    Decide = Callable[[Mapping[str, Any], HookCall], Mapping[str, object] | None]

TEA = "/memories/tea.md"


def memories() -> tuple[Memory, Memory]:
    return Memory("memory:"), Memory("memory:")


def synced_with(text: str) -> tuple[Memory, Memory]:
    """Two memories that both have this text, and know it."""
    laptop, server = memories()
    laptop.write(TEA, text)
    laptop.sync(server)
    return laptop, server


def contents(memory: Memory) -> dict[str, str]:
    files = (entry.path for entry in memory.list(depth=None) if not entry.is_directory)
    return {path: memory.read(path) for path in files}


def fill(memory: Memory, files: int) -> None:
    for number in range(files):
        memory.write(f"/memories/{number}.md", f"{number}\n")


# --- what a sync does --------------------------------------------------------------------------


def test_between_every_kind_of_store(tmp_path: Path) -> None:
    stores: list[str | Path | memdir.Store] = [
        open_store("memory:"),
        tmp_path / "directory",
        f"sqlite:{tmp_path / 'a.db'}",
        DictStore(),
        open_store(tmp_path / "other"),
    ]
    tree = {TEA: "green\n", "/memories/dir/b.md": "two\n"}
    first = Memory(stores[0])
    for path, text in tree.items():
        first.write(path, text)
    for a, b in itertools.pairwise(stores):
        synced = Memory(a).sync(b)
        assert [(change.path, change.side, change.action) for change in synced.changes] == [
            ("/memories/dir/b.md", "b", "created"),
            (TEA, "b", "created"),
        ]
        assert (synced.equal, synced.has_baseline, synced.left_out) == (2, False, ())
        assert contents(Memory(b)) == tree
        again = Memory(a).sync(b)
        assert again == Synced((), (), (), (), 2, True)


def test_the_other_memory_may_be_open_already() -> None:
    laptop, server = memories()
    laptop.write(TEA, "green\n")
    tool = MemoryTool(laptop)
    assert tool.sync(server).equal == 1
    asynchronous = AsyncMemory("memory:")
    assert laptop.sync(asynchronous).equal == 1
    mounted: dict[str, str | memdir.Store] = {"/memories": DictStore(), "/memories/team": "memory:"}
    assert laptop.sync(mounted).equal == 1


def test_changes_of_other_lines_are_merged() -> None:
    laptop, server = synced_with("green\nherbal\nblack\n")
    laptop.str_replace(TEA, "green", "jasmine")
    server.str_replace(TEA, "black", "oolong")
    synced = laptop.sync(server)
    assert_type(synced, Synced)
    assert synced.changes == (
        SyncChange(TEA, "a", "merged", None),
        SyncChange(TEA, "b", "merged", None),
    )
    assert laptop.read(TEA) == server.read(TEA) == "jasmine\nherbal\noolong\n"


def test_a_conflict_keeps_both_contents() -> None:
    laptop, server = synced_with("green\n")
    laptop.write(TEA, "jasmine\n")
    server.write(TEA, "oolong\n")
    [conflict] = laptop.sync(server, names=("laptop", "server")).conflicts
    assert (conflict.path, conflict.side) == (TEA, "b")
    assert conflict.copy_path.startswith("/memories/tea (conflict from server ")
    both = {TEA: "jasmine\n", conflict.copy_path: "oolong\n"}
    assert contents(laptop) == contents(server) == both
    moment: datetime | None = conflict.modified
    assert moment is not None


@pytest.mark.parametrize(("wins", "text"), [("a", "jasmine\n"), ("b", "oolong\n")])
def test_one_memory_can_win(wins: Any, text: str) -> None:
    laptop, server = synced_with("green\n")
    laptop.write(TEA, "jasmine\n")
    server.write(TEA, "oolong\n")
    laptop.sync(server, on_conflict=wins)
    assert contents(laptop) == contents(server) == {TEA: text}


def test_one_way_changes_only_the_other_memory() -> None:
    store = open_store("memory:")
    store.write(TEA, b"green\n", overwrite=False)
    handbook, memory = Memory(store, read_only=True), Memory("memory:")
    memory.write("/memories/own.md", "mine\n")
    with pytest.raises(SyncError, match="a is read-only") as refused:
        handbook.sync(memory)
    assert refused.value.kind == "read_only"
    synced = handbook.sync(memory, one_way=True)
    assert [(change.path, change.side) for change in synced.changes] == [(TEA, "b")]
    assert contents(handbook) == {TEA: "green\n"}
    assert contents(memory) == {TEA: "green\n", "/memories/own.md": "mine\n"}


def test_a_dry_run_changes_nothing() -> None:
    laptop, server = memories()
    laptop.write(TEA, "green\n")
    planned = laptop.sync(server, dry_run=True)
    assert contents(server) == {}
    assert laptop.sync(server).changes == planned.changes


def test_files_that_are_excluded_or_large_stay() -> None:
    laptop, server = memories()
    for path in (TEA, "/memories/private/key.md", "/memories/large.md"):
        laptop.write(path, "green\n" if path == TEA else "a long text\n")
    synced = laptop.sync(server, exclude=["/memories/private"], max_file_bytes=6)
    assert contents(server) == {TEA: "green\n"}
    [left_out] = synced.left_out
    assert (left_out.path, left_out.side, left_out.reason) == (
        "/memories/large.md",
        "b",
        "too_large",
    )
    assert laptop.sync(server, max_file_bytes=None).equal == 3


def test_the_options_of_each_memory_hold() -> None:
    laptop, server = Memory("memory:"), Memory("memory:", sensitive_text="reject", history=True)
    laptop.write(TEA, "green\n")
    laptop.write("/memories/db.md", "postgres://user:hunter2@host/db\n")
    [left_out] = laptop.sync(server).left_out
    assert (left_out.path, left_out.reason) == ("/memories/db.md", "refused")
    assert "hunter2" not in left_out.details
    (version,) = server.history()
    assert (version.actor, version.partner, version.partner_version) == ("sync", "a", None)


def test_redactions_are_taken_over() -> None:
    laptop, server = Memory("memory:", history=True), Memory("memory:", history=True)
    laptop.write(TEA, "hunter2\n")
    laptop.sync(server)
    laptop.write(TEA, "green\n")
    laptop.redact_text("hunter2", reason="a password")
    (named,) = laptop.sync(server).redactions
    assert (named.side, named.path, named.redacted) == ("b", TEA, "a password")
    assert not named.is_done
    assert named.details == "the sync does not take redactions over"
    (done,) = laptop.sync(server, redactions=True).redactions
    assert (done.version, done.is_done, done.details) == (named.version, True, None)
    assert server.history(TEA)[-1].redacted == "a password"


# --- what stops it -----------------------------------------------------------------------------


def test_many_deletions_need_to_be_allowed() -> None:
    laptop, server = memories()
    fill(laptop, 10)
    laptop.sync(server)
    for path in contents(laptop):
        laptop.delete(path)
    with pytest.raises(SyncError, match="10 of the 10 files of b would be deleted") as refused:
        laptop.sync(server)
    assert refused.value.kind == "too_many_deletions"
    assert len(contents(server)) == 10
    deleted = laptop.sync(server, delete=True).changes
    assert {change.action for change in deleted} == {"deleted"}
    assert contents(server) == {}


@pytest.mark.parametrize("store", ["memory:", "./memory", "sqlite:a.db", None])
def test_a_memory_is_not_synced_with_itself(
    store: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memory = Memory(DictStore() if store is None else store)
    others: list[Any] = [memory, memory.acting_as("Ann")]
    if store not in {"memory:", None}:
        others.append(store)
    for other in others:
        with pytest.raises(SyncError, match="the same, or one of them is within") as refused:
            memory.sync(other)
        assert refused.value.kind == "overlapping"
        assert isinstance(refused.value, memdir.MemdirError)


def test_progress_is_told_and_can_end_it() -> None:
    laptop, server = memories()
    fill(laptop, 2)
    server.write("/memories/0.md", "another\n")
    told: list[tuple[str, str, int, int]] = []

    def tell(progress: SyncProgress) -> None:
        told.append((progress.phase, progress.path, progress.files, progress.of_files))
        if (progress.phase, progress.files) == ("changing", 1):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        laptop.sync(server, on_progress=tell)
    assert [phase for phase, *_ in told] == ["comparing"] * 2 + ["changing"] * 2
    assert told[0][1:] == ("/memories/0.md", 0, 2)
    with pytest.raises(ZeroDivisionError):
        laptop.sync(server, on_progress=lambda at: at.files / 0)
    laptop.sync(server, on_progress=lambda _: None)
    assert contents(laptop) == contents(server)
    assert len(contents(laptop)) == 3


# --- conflicts ---------------------------------------------------------------------------------


def in_conflict() -> tuple[Memory, Memory]:
    laptop, server = synced_with("green\n")
    laptop.write(TEA, "white\n")
    server.write(TEA, "red\n")
    return laptop, server


def test_a_function_merges_a_conflict() -> None:
    laptop, server = in_conflict()
    asked: list[SyncMerge] = []

    def merge(file: SyncMerge) -> str:
        asked.append(file)
        # It may use both memories.
        return file.a + server.read(file.path)

    synced = laptop.sync(server, on_conflict=merge)
    assert [(change.side, change.action) for change in synced.changes] == [
        ("a", "merged"),
        ("b", "merged"),
    ]
    assert synced.conflicts == ()
    assert contents(laptop) == contents(server) == {TEA: "white\nred\n"}
    [file] = asked
    assert (file.path, file.a, file.b, file.base) == (TEA, "white\n", "red\n", "green\n")
    assert file.modified_a is not None
    assert file.modified_b is not None
    assert not laptop.sync(server, on_conflict=merge).changes


@pytest.mark.parametrize("text", ["", "ä\0\r\nno end", "x" * 2_000_000])
def test_a_function_may_return_any_text(text: str) -> None:
    laptop, server = in_conflict()
    laptop.sync(server, on_conflict=lambda _: text)
    assert server.read(TEA) == text


def test_none_keeps_both() -> None:
    laptop, server = in_conflict()
    [conflict] = laptop.sync(server, on_conflict=lambda _: None).conflicts
    assert contents(server) == {TEA: "white\n", conflict.copy_path: "red\n"}


async def returns_a_text(_: SyncMerge) -> str:
    return "never"


WRONG: list[tuple[Any, type[BaseException], str]] = [
    (lambda _: 5, TypeError, "`on_conflict` must return a str or None, got int"),
    (lambda _: b"white", TypeError, "must return a str or None, got bytes"),
    (lambda _: "\ud800", UnicodeEncodeError, "surrogates not allowed"),
    (lambda: "white", TypeError, "positional argument"),
    (returns_a_text, TypeError, "`on_conflict` returned an awaitable, and only AsyncMemory"),
]


@pytest.mark.parametrize(("function", "error", "says"), WRONG)
def test_a_wrong_result_ends_the_sync(function: Any, error: type[Exception], says: str) -> None:
    laptop, server = in_conflict()
    with pytest.raises(error, match=says):
        laptop.sync(server, on_conflict=function)
    assert (laptop.read(TEA), server.read(TEA)) == ("white\n", "red\n")


@pytest.mark.parametrize("error", [ZeroDivisionError("mine"), KeyboardInterrupt(), SystemExit(3)])
def test_the_exception_of_a_function_is_raised_as_it_is(error: BaseException) -> None:
    laptop, server = in_conflict()

    def merge(_: SyncMerge) -> str:
        raise error

    with pytest.raises(type(error)) as raised:
        laptop.sync(server, on_conflict=merge)
    assert raised.value is error
    assert laptop.sync(server, on_conflict=lambda file: file.b).equal == 1
    assert laptop.read(TEA) == "red\n"


@on_both
def test_a_coroutine_function_merges_a_conflict(backend: str) -> None:
    async def run() -> None:
        async with AsyncMemory("memory:") as laptop, AsyncMemory("memory:") as server:
            await laptop.write(TEA, "white\n")
            await server.write(TEA, "red\n")

            async def failing(_: SyncMerge) -> str:
                await anyio.sleep(0)
                raise ZeroDivisionError

            async def merge(file: SyncMerge) -> str:
                await anyio.sleep(0)
                return file.a + await server.read(file.path)

            with pytest.raises(ZeroDivisionError):
                await laptop.sync(server, on_conflict=failing)
            await laptop.sync(server, on_conflict=merge)
            assert await laptop.read(TEA) == await server.read(TEA) == "white\nred\n"
            await laptop.write(TEA, "a\n")
            await server.write(TEA, "b\n")
            # A plain function is called on the thread of the sync.
            await laptop.sync(server, on_conflict=lambda file: file.b)
            assert await laptop.read(TEA) == "b\n"

    anyio.run(run, backend=backend)


@on_both
def test_a_cancelled_task_cancels_its_function(backend: str) -> None:
    async def run() -> None:
        server = Memory("memory:")
        server.write(TEA, "red\n")
        ended: list[str] = []

        async def merge(_: SyncMerge) -> str:
            scope.cancel()
            try:
                await anyio.sleep_forever()
            finally:
                ended.append("merge")
            return "never"

        # Closing it waits for its calls.
        async with AsyncMemory("memory:") as laptop:
            await laptop.write(TEA, "white\n")
            with anyio.CancelScope() as scope:
                await laptop.sync(server, on_conflict=merge)
            assert scope.cancelled_caught
        assert ended == ["merge"]
        assert server.read(TEA) == "red\n"

    anyio.run(run, backend=backend)


class Failing(DictStore):
    """Fails when it gets its second file."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error: BaseException | None = error

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        if self.error is not None and path == "/memories/1.md":
            raise self.error
        super().write(path, content, overwrite)


def test_a_store_that_fails_is_a_store_error() -> None:
    laptop, store = Memory("memory:"), Failing(ConnectionError("no route"))
    fill(laptop, 3)
    with pytest.raises(StoreError, match="no route") as failed:
        laptop.sync(store)
    assert failed.value.__cause__ is store.error
    # The changes before that stay.
    assert "/memories/0.md" in store.tree
    store.error = None
    assert laptop.sync(store).equal == 3


def test_an_interruption_of_a_store_is_raised_as_it_is() -> None:
    laptop = Memory("memory:")
    fill(laptop, 3)
    with pytest.raises(KeyboardInterrupt):
        laptop.sync(Failing(KeyboardInterrupt()))


def test_a_closed_memory_is_not_synced() -> None:
    laptop, server = memories()
    server.close()
    for one, other in ((laptop, server), (server, laptop)):
        with pytest.raises(ValueError, match="the memory is closed"):
            one.sync(other)


def test_wrong_options_are_told_at_once(tmp_path: Path) -> None:
    memory: Any = Memory("memory:")
    missing = tmp_path / "missing"
    cases: list[tuple[dict[str, object], str]] = [
        ({"on_conflict": "c"}, 'on_conflict must be "keep-both", "a" or "b", got "c"'),
        (
            {"on_conflict": None},
            'on_conflict must be "keep-both", "a", "b" or a function, got None',
        ),
        ({"one_way": 1}, "one_way must be True or False, got 1"),
        ({"dry_run": []}, "dry_run must be True or False, got []"),
        ({"delete": None}, "delete must be True or False, got None"),
        ({"exclude": "/memories/a"}, 'exclude must be a sequence of str, got "/memories/a"'),
        ({"exclude": ["notes"]}, 'exclude: the pattern "notes" does not start with /memories'),
        (
            {"max_file_bytes": -1},
            "max_file_bytes must be a whole number from 0 on, or None, got -1",
        ),
        ({"names": ["laptop"]}, 'names must be two names, or None, got ["laptop"]'),
        ({"names": 5}, "names must be a sequence of str, got 5"),
        ({"names": ("laptop", 5)}, "names[1] must be a str, got 5"),
        ({"on_progress": 5}, "on_progress must be a function, or None, got 5"),
    ]
    for options, sentence in cases:
        with pytest.raises(ConfigError) as raised:
            memory.sync(missing, **options)
        assert str(raised.value) == sentence
        assert raised.value.option == next(iter(options))
        assert not missing.exists()
    with pytest.raises(TypeError, match="onconflict"):
        memory.sync(missing, onconflict="a")
    for other in (None, 5, b"./memory", DictStore):
        with pytest.raises(ConfigError, match=r"^other must be a Memory, an Async") as raised:
            memory.sync(other)
        assert raised.value.option == "other"
    with pytest.raises(ConfigError, match="redis"):
        memory.sync("redis://user:hunter2@host/0")


# --- on an event loop --------------------------------------------------------------------------


@on_both
def test_between_stores_of_the_application_with_a_callback(backend: str) -> None:
    async def run() -> None:
        here, there = DictStore(), DictStore()
        async with AsyncMemory(here) as laptop, AsyncMemory(there) as server:
            await laptop.write(TEA, "green\n")
            told: list[SyncProgress] = []
            synced = await laptop.sync(server, on_progress=told.append)
            assert (synced.equal, [progress.phase for progress in told]) == (1, ["changing"])
            await laptop.write(TEA, "jasmine\n")
            await server.write(TEA, "oolong\n")
            planned = await laptop.sync(Memory(there), dry_run=True)
            [conflict] = (await laptop.sync(server)).conflicts
            assert planned.conflicts[0].path == conflict.path == TEA
            assert contents(Memory(here)) == contents(Memory(there))
            assert await server.read(conflict.copy_path) == "oolong\n"
            with pytest.raises(SyncError) as refused:
                await laptop.sync(laptop)
            assert refused.value.kind == "overlapping"
            with pytest.raises(ConfigError, match=r"^delete must be True or False"):
                await laptop.sync(server, delete=1)  # type: ignore[arg-type]
            tool = AsyncMemoryTool(laptop)
            assert (await tool.sync("memory:", exclude=[TEA])).equal == 1

    anyio.run(run, backend=backend)


@on_both
def test_an_exception_of_the_callback_ends_it(backend: str) -> None:
    async def run() -> None:
        laptop, server = AsyncMemory("memory:"), AsyncMemory(DictStore())
        await laptop.write(TEA, "green\n")
        with pytest.raises(ZeroDivisionError):
            await laptop.sync(server, on_progress=lambda at: at.files / 0)
        assert not await server.exists(TEA)
        assert (await laptop.sync(server)).equal == 1

    anyio.run(run, backend=backend)


def test_many_syncs_whose_callbacks_call_the_memory_itself() -> None:
    """More of them than a pool has threads."""
    syncs = pool_threads.MOST + 8

    async def run() -> None:
        loop, all_of_them = asyncio.get_running_loop(), threading.Barrier(syncs)
        laptop = AsyncMemory("memory:")
        await laptop.write(TEA, "green\n")

        def tell(_: SyncProgress) -> None:
            all_of_them.wait(SECONDS)
            call = laptop.write("/memories/calls.md", "one more\n")
            asyncio.run_coroutine_threadsafe(call, loop).result(SECONDS)

        others = [AsyncMemory(DictStore()) for _ in range(syncs)]
        await asyncio.gather(
            *(laptop.sync(other, one_way=True, on_progress=tell) for other in others)
        )
        for other in others:
            assert await other.read(TEA) == "green\n"

    asyncio.run(run())


class Layered(DictStore):
    """A store that asks a memory before it writes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, memory: AsyncMemory[Any]) -> None:
        super().__init__()
        self.loop, self.memory = loop, memory

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        call = self.memory.write("/memories/log.md", path)
        asyncio.run_coroutine_threadsafe(call, self.loop).result(SECONDS)
        super().write(path, content, overwrite)


def test_many_syncs_with_stores_that_wait_for_the_memory() -> None:
    syncs = pool_threads.MOST + 8

    async def run() -> None:
        loop, laptop = asyncio.get_running_loop(), AsyncMemory(DictStore())
        await laptop.write(TEA, "green\n")
        others = [Layered(loop, laptop) for _ in range(syncs)]
        await asyncio.gather(
            *(laptop.sync(other, one_way=True, exclude=["/memories/log.md"]) for other in others)
        )
        assert all(TEA in other.tree for other in others)

    asyncio.run(run())


@on_both
def test_a_cancelled_task_stops_it(backend: str) -> None:
    store = Slow()

    async def run() -> None:
        laptop, server = AsyncMemory("memory:"), AsyncMemory(store)
        for number in range(5):
            await laptop.write(f"/memories/{number}.md", "x\n")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(laptop.sync, server)
            await begun(store)
            tasks.cancel_scope.cancel()
        store.gate.set()
        # Closing waits for the thread of the sync.
        await laptop.aclose()
        written = [path for path, content in store.tree.items() if content and path[-3:] == ".md"]
        assert len(written) < 5

    anyio.run(run, backend=backend)


@on_both
def test_closing_either_memory_waits_for_it(backend: str) -> None:
    store = Slow()

    async def run() -> None:
        laptop, server = AsyncMemory("memory:"), AsyncMemory(store)
        await laptop.write(TEA, "green\n")
        closed: list[bool] = []

        async def close(memory: AsyncMemory[Any]) -> None:
            await memory.aclose()
            closed.append(True)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(laptop.sync, server)
            await begun(store)
            tasks.start_soon(close, laptop)
            tasks.start_soon(close, server)
            await anyio.sleep(0.05)
            assert not closed
            store.gate.set()
        assert len(closed) == 2
        assert store.tree[TEA] == b"green\n"

    anyio.run(run, backend=backend)


def test_the_thread_of_a_sync_ends() -> None:
    async def run() -> None:
        laptop = AsyncMemory("memory:")
        await laptop.write(TEA, "green\n")
        threads = pool_threads.count()
        for _ in range(5):
            await laptop.sync(DictStore())
        while pool_threads.count() > threads:
            await asyncio.sleep(0.001)

    asyncio.run(run())


class Reviewed:
    """A memory whose hooks keep what they are asked and told."""

    def __init__(self, decide: Decide, store: str = "memory:") -> None:
        self.asked: list[str] = []
        self.told: list[str] = []
        self.decide = decide
        self.memory = Memory(store, before=self.before, after=self.after)

    def before(self, command: Mapping[str, Any], call: HookCall) -> Mapping[str, object] | None:
        self.asked.append(f"{command['command']} {command.get('path', command.get('old_path'))}")
        assert call.actor == "sync"
        return self.decide(command, call)

    def after(self, event: Event) -> None:
        self.told.append(f"{event.command} {event.path} {event.outcome}")


def test_hooks_review_what_a_sync_writes() -> None:
    laptop = Memory("memory:")
    fill(laptop, 3)

    def decide(command: Mapping[str, Any], call: HookCall) -> Mapping[str, object] | None:
        if command["path"] == "/memories/0.md":
            raise Deny("Not this one.")
        assert call.diff().startswith("--- /dev/null\n+++ /memories/")
        return {"file_text": "reviewed\n"} if command["path"] == "/memories/1.md" else None

    server = Reviewed(decide)
    synced = laptop.sync(server.memory)
    (left,) = synced.left_out
    assert (left.path, left.side, left.reason) == ("/memories/0.md", "b", "refused")
    assert left.details == "Not this one."
    assert server.memory.read("/memories/1.md") == "reviewed\n"
    assert server.memory.read("/memories/2.md") == laptop.read("/memories/2.md")
    assert server.asked == [f"create /memories/{number}.md" for number in range(3)]
    assert [told.split()[2] for told in server.told] == ["denied", "ok", "ok"]


@pytest.mark.parametrize("error", [ZeroDivisionError("mine"), KeyboardInterrupt(), SystemExit(3)])
def test_a_hook_that_raises_ends_the_sync(error: BaseException) -> None:
    laptop = Memory("memory:")
    fill(laptop, 2)

    def decide(*_: object) -> None:
        raise error

    server = Reviewed(decide)
    expected = HookError if isinstance(error, Exception) else type(error)
    with pytest.raises(expected) as raised:
        laptop.sync(server.memory)
    cause = raised.value.__cause__ if isinstance(error, Exception) else raised.value
    assert cause is error
    assert server.memory.list() == []


@on_both
def test_hooks_that_are_coroutines_review_what_a_sync_writes(backend: str) -> None:
    told: list[str] = []
    asked: list[str] = []

    async def before(
        command: Mapping[str, Any], call: AsyncHookCall
    ) -> Mapping[str, object] | None:
        await anyio.sleep(0)
        asked.append(str(command["path"]))
        # Commands of a hook have no hooks.
        await server.view("/memories")
        assert "+++ /memories/" in await call.diff()
        if command["path"] == "/memories/0.md":
            raise Deny("Not this one.")
        return {"file_text": "reviewed\n"}

    async def after(event: Event) -> None:
        await anyio.sleep(0)
        told.append(f"{event.actor} {event.path} {event.outcome}")

    async def run() -> None:
        async with AsyncMemory("memory:") as laptop:
            await laptop.write("/memories/0.md", "0\n")
            await laptop.write("/memories/1.md", "1\n")
            synced = await laptop.sync(server)
            assert [left.details for left in synced.left_out] == ["Not this one."]
            assert await server.read("/memories/1.md") == "reviewed\n"
            assert asked == ["/memories/0.md", "/memories/1.md"]
            assert told == ["sync /memories/0.md denied", "sync /memories/1.md ok"]
            # A blocking sync awaits nothing.
            other = Memory("memory:")
            other.write("/memories/new.md", "new\n")
            with pytest.raises(HookError, match="only AsyncMemory"):
                other.sync(server)

    server = AsyncMemory("memory:", before=before, after=after)
    anyio.run(run, backend=backend)


@on_both
def test_a_cancelled_task_cancels_its_hook(backend: str) -> None:
    ended: list[str] = []

    async def run() -> None:
        async def before(_: object) -> None:
            scope.cancel()
            try:
                await anyio.sleep_forever()
            finally:
                ended.append("before")

        async with AsyncMemory("memory:", before=before) as server:
            laptop = AsyncMemory("memory:")
            await laptop.write("/memories/a.md", "a\n")
            with anyio.CancelScope() as scope:
                await laptop.sync(server)
            assert scope.cancelled_caught
            await laptop.aclose()
        assert ended == ["before"]

    anyio.run(run, backend=backend)
