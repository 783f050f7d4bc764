"""`AsyncMemory`: all of `Memory` with `await`, on asyncio and Trio, with few threads."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import anyio
import pytest

import pool_threads
from dict_store import DictStore
from memdir import (
    AsyncMemory,
    ConfigError,
    Memory,
    RefusedError,
    StoreError,
    _memdir,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from pathlib import Path

    from memdir import Entry

# Generous: it is reached only where somebody waits for ever.
SECONDS = 60
on_both = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class Slow(DictStore):
    """A store of one's own that waits for something, and notes the threads that it is called on."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)
        self.threads: set[int] = set()

    def open(self, path: str, depth: int) -> bytes | list[Entry]:
        self._wait()
        return list(super().list(path)) if path == "/memories" else super().read(path)

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        self._wait()
        super().write(path, content, overwrite)

    def _wait(self) -> None:
        self.threads.add(threading.get_ident())
        self.begun.release()
        assert self.gate.wait(SECONDS)


async def begun(store: Slow, calls: int = 1) -> None:
    for _ in range(calls):
        while not store.begun.acquire(blocking=False):
            await anyio.sleep(0.001)


def test_it_has_every_public_method_of_memory() -> None:
    for name, member in vars(Memory).items():
        if name.startswith("_") or name == "close":
            continue
        ours = getattr(AsyncMemory, name)
        if not callable(member):
            assert isinstance(ours, property), name
            continue
        # What does not use the store needs no `await`.
        assert inspect.iscoroutinefunction(ours) is not name.startswith(("tool_", "forget_")), name
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
            assert await memory.read("/memories/b.md") == "one\nthree\n"
            await memory.write("/memories/c/d.md", "tea\n", if_unchanged=None)
            assert await memory.exists("/memories/c")
            assert [entry.path for entry in await memory.list("/memories/c")] == [
                "/memories/c/d.md"
            ]
            assert [match.line for match in await memory.search("TEA", ignore_case=True)] == [1]
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
        with pytest.raises(TypeError):
            await memory.view(unusable)
        with pytest.raises(TypeError):
            await memory.create("/memories/a", unusable)
        with pytest.raises(TypeError):
            await memory.view("/memories", unusable)

    anyio.run(run, backend=backend)


# --- where a call is executed ------------------------------------------------------------------


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each call that a thread is used for."""
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
        # Asks what file system it is.
        await memory.view("/memories/a/b.md")
        used.clear()
        shown = await memory.view("/memories/a/b.md")
        if used:
            pytest.skip("this file system or this kernel cannot tell")
        assert shown == Memory(tmp_path).view("/memories/a/b.md")
        (tmp_path / "memories" / "a" / "b.md").write_text("two")
        assert "two" in str(await memory.view("/memories/a/b.md"))
        assert used == []
        # These are answered by the ordinary way.
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
    """Its threads are not those that it waits for."""
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


# --- what goes wrong ---------------------------------------------------------------------------


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
    # The first had begun, and was carried through.
    assert set(store.tree) == {"/memories", "/memories/a", "/memories/b"}


def test_a_loop_that_is_given_up_while_calls_run() -> None:
    """Whoever closes a loop under its tasks gets no answers, and nothing breaks."""
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
    # It is pending, which the loop would complain about.
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
    # Those that the store had, and none of those that waited for a thread.
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
from memdir import AsyncMemory
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
threading.Thread(target=interrupt).start()
try:
    if sys.argv[1] == "trio":
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
@on_both
def test_ctrl_c_does_not_wait_for_the_store(backend: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, backend],
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
