"""Asynchronous hooks: awaited in the task of the call, on both loops, without a thread."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import threading
import time
import warnings
import weakref
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
import pytest
from anthropic.lib.tools import ToolError
from slow_store import on_both
from waiting_hooks import Log, Person, allow, fail, forbid, kinds_of

import pool_threads
from dict_store import DictStore
from effort import SECONDS
from memdir import (
    AsyncHookCall,
    AsyncMemory,
    AsyncMemoryTool,
    ConfigError,
    Deny,
    Event,
    HookError,
    Memory,
    MemoryTool,
    RefusedError,
    _memdir,
)
from memdir.integrations import _call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

CREATE = {"command": "create", "path": "/memories/a", "file_text": "one"}
VIEW = {"command": "view", "path": "/memories"}
UNCHECKED = (
    "Error: The command was not carried out, because the program that runs this memory could not "
    "check it. Nothing was changed; try again later."
)
APPROVALS = 200

# --- decisions ---------------------------------------------------------------------------------


@on_both
def test_a_veto_is_an_answer_everywhere(backend: str) -> None:
    async def run() -> None:
        for hook in kinds_of(forbid):
            log = Log()
            memory = AsyncMemory("memory:", before=hook, after=log.note)
            assert await memory.execute(CREATE) == ("Not create.", True)
            assert (await memory.execute(CREATE)).cause is None
            text = '{"command": "delete", "path": "/memories/a"}'
            assert await memory.execute(text) == ("Not delete.", True)
            calls: list[Awaitable[object]] = [
                memory.view("/memories"),
                memory.create("/memories/a", "x"),
                memory.str_replace("/memories/a", "x"),
                memory.insert("/memories/a", 0, "x"),
                memory.delete("/memories/a"),
                memory.rename("/memories/a", "/memories/b"),
            ]
            for call in calls:
                with pytest.raises(RefusedError, match=r"^Not \w+\.$"):
                    await call
            tool = AsyncMemoryTool(memory)
            for answer in (tool.call(CREATE), tool.execute(CREATE), tool.create(CREATE)):
                with pytest.raises(ToolError, match="Not create"):
                    await answer
            assert log.outcomes == ["denied"] * 12
            # `clear` is for the developer, and is not a command.
            assert await memory.clear() == "All memory cleared"

    anyio.run(run, backend=backend)


@on_both
def test_what_is_allowed_is_executed_and_shown(backend: str) -> None:
    async def run() -> None:
        for hook in kinds_of(allow):
            for after in kinds_of(allow):
                memory = AsyncMemory("memory:", before=hook, after=after)
                ordinary = Memory("memory:")
                assert await memory.create("/memories/a", "one\n") == ordinary.create(
                    "/memories/a", "one\n"
                )
                assert await memory.insert("/memories/a", 1, "two") == ordinary.insert(
                    "/memories/a", 1, "two"
                )
                assert await memory.str_replace("/memories/a", "two") == ordinary.str_replace(
                    "/memories/a", "two"
                )
                assert await memory.rename("/memories/a", "/memories/b") == ordinary.rename(
                    "/memories/a", "/memories/b"
                )
                assert await memory.view("/memories/b", [1, 1]) == ordinary.view(
                    "/memories/b", (1, 1)
                )
                assert await memory.execute(VIEW) == ordinary.execute(VIEW)
                assert await memory.delete("/memories/b") == ordinary.delete("/memories/b")
                with pytest.raises(RefusedError, match="does not exist"):
                    await memory.view("/memories/b")

    anyio.run(run, backend=backend)


@on_both
def test_a_dict_that_is_returned_changes_the_text_and_nothing_else(backend: str) -> None:
    async def giving(returned: Any, _: object) -> Any:
        await anyio.sleep(0)
        return returned

    async def run() -> None:
        for changed in ({"file_text": "two"}, {**CREATE, "file_text": "two"}):
            memory = AsyncMemory("memory:", before=partial(giving, changed))
            await memory.create("/memories/a", "one")
            assert await memory.read("/memories/a") == "two"
        wrong: list[Any] = [{}, "two", True, {"file_text": "two", "path": "/memories/b"}]
        for returned in wrong:
            with pytest.raises(HookError):
                await AsyncMemory("memory:", before=partial(giving, returned)).create(
                    "/memories/a", "one"
                )

    anyio.run(run, backend=backend)


def test_what_before_is_given_is_the_command_and_cannot_be_changed_in_place() -> None:
    seen: list[Mapping[str, Any]] = []

    async def before(command: Mapping[str, Any]) -> None:
        seen.append(command)
        command["path"] = "/memories/b"  # type: ignore[index]

    async def run() -> None:
        memory = AsyncMemory("memory:", before=before)
        with pytest.raises(HookError) as raised:
            await memory.create("/memories//a", "one")
        assert isinstance(raised.value.__cause__, TypeError)
        for call in (
            memory.view("/memories/a", [2, -1]),
            memory.insert("/memories/a", 1, "x"),
            memory.rename("/memories/a", "/memories/b"),
        ):
            with pytest.raises(HookError):
                await call
        # The call is refused before the hook is called.
        with pytest.raises(RefusedError, match="must start with /memories"):
            await memory.view("/etc/passwd")
        unusable: Any = object()
        with pytest.raises(RefusedError, match="Invalid `file_text` parameter"):
            await memory.create("/memories/a", unusable)

    asyncio.run(run())
    assert [dict(command) for command in seen] == [
        {"command": "create", "path": "/memories/a", "file_text": "one"},
        {"command": "view", "path": "/memories/a", "view_range": [2, -1]},
        {
            "command": "insert",
            "path": "/memories/a",
            "insert_line": 1,
            "insert_text": "x",
        },
        {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"},
    ]


@on_both
def test_an_exception_in_before_is_the_cause(
    backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        for hook in kinds_of(fail):
            caplog.clear()
            memory = AsyncMemory("memory:", before=hook)
            reply = await memory.execute(CREATE)
            assert (reply.content, reply.is_error) == (UNCHECKED, True)
            assert isinstance(reply.cause, HookError)
            assert isinstance(reply.cause.__cause__, ZeroDivisionError)
            with pytest.raises(HookError) as raised:
                await memory.create("/memories/a", "x")
            assert isinstance(raised.value.__cause__, ZeroDivisionError)
            with pytest.raises(ToolError) as told:
                await AsyncMemoryTool(memory).call(CREATE)
            assert told.value.content == UNCHECKED
            assert isinstance(told.value.__cause__, HookError)
            records = [record for record in caplog.records if record.levelno == logging.ERROR]
            assert [record.name for record in records] == ["memdir"]
            assert not await memory.exists("/memories/a")

    anyio.run(run, backend=backend)


@on_both
def test_after_is_told_of_every_call_and_its_time(backend: str) -> None:
    async def run() -> None:
        log = Log()
        took: list[float] = []

        async def slowly(_: object) -> None:
            begun_at = time.monotonic()
            await anyio.sleep(0.01)
            took.append(time.monotonic() - begun_at)

        memory = AsyncMemory("memory:", before=slowly, after=log.note, event_content=True)
        await memory.create("/memories//a", "one")
        assert (await memory.execute({"command": "view"})).is_error
        with pytest.raises(RefusedError):
            await memory.delete("/memories/b")
        assert log.outcomes == ["ok", "refused", "refused"]
        first = log.events[0]
        assert (first.command, first.path, first.bytes) == ("create", "/memories/a", 3)
        assert str(first.content).startswith("File created")
        # The duration includes the time of `before`.
        assert first.duration >= took[0]

    anyio.run(run, backend=backend)


@on_both
def test_an_exception_in_after_is_logged_and_what_is_done_is_done(
    backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        for hook in kinds_of(fail):
            caplog.clear()
            memory = AsyncMemory("memory:", after=hook)
            assert (await memory.create("/memories/a", "one")).startswith("File created")
            [record] = caplog.records
            assert (record.name, record.levelname) == ("memdir", "ERROR")
            assert record.getMessage() == "the hook `after` failed"
            assert record.exc_info is not None
            assert record.exc_info[0] is ZeroDivisionError
            assert await memory.exists("/memories/a")

    anyio.run(run, backend=backend)


@pytest.mark.parametrize("hook", ["before", "after"])
@on_both
def test_an_interruption_passes_as_itself(backend: str, hook: str) -> None:
    async def interrupt(_: object) -> NoReturn:
        raise KeyboardInterrupt

    async def run() -> None:
        options: Any = {hook: interrupt}
        with pytest.raises(KeyboardInterrupt):
            await AsyncMemory("memory:", **options).create("/memories/a", "x")

    anyio.run(run, backend=backend)


# --- where they run ----------------------------------------------------------------------------


@on_both
def test_both_kinds_may_be_mixed(backend: str) -> None:
    called: dict[str, int] = {}

    def plain(given: object) -> None:
        called["plain"] = threading.get_ident()

    async def awaited(given: object) -> None:
        called["awaited"] = threading.get_ident()

    async def run() -> None:
        for before, after in [(plain, awaited), (awaited, plain)]:
            called.clear()
            hooks: Any = {"before": before, "after": after}
            await AsyncMemory("memory:", **hooks).create("/memories/a", "x")
            assert called["awaited"] == threading.get_ident()
            assert called["plain"] != threading.get_ident()

    anyio.run(run, backend=backend)


@pytest.mark.parametrize("hook", ["before", "after"])
def test_a_plain_hook_takes_no_further_thread(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    submit = _memdir.submit

    def counted(*given: Any) -> Any:
        calls.append(given)
        return submit(*given)

    monkeypatch.setattr(_memdir, "submit", counted)

    async def run() -> None:
        options: Any = {hook: lambda _: None}
        memory = AsyncMemory("memory:", **options)
        tool = AsyncMemoryTool(memory)
        for call in (memory.create("/memories/a", "x"), memory.execute(VIEW), tool.call(VIEW)):
            calls.clear()
            await call
            assert len(calls) == 1

    asyncio.run(run())


@on_both
def test_hooks_are_part_of_the_task(backend: str) -> None:
    user: ContextVar[str] = ContextVar("user")
    tasks: list[object] = []

    async def hook(_: object) -> None:
        tasks.append((user.get(), anyio.get_current_task().id))

    async def run() -> None:
        user.set("Ann")
        await AsyncMemory("memory:", before=hook, after=hook).create("/memories/a", "x")
        assert tasks == [("Ann", anyio.get_current_task().id)] * 2

    anyio.run(run, backend=backend)


@pytest.mark.parametrize("kind", range(4))
@on_both
def test_approvals_that_wait_hold_no_thread(backend: str, kind: int) -> None:
    """They do not delay other calls either, on another memory or on the same one."""

    async def run() -> None:
        person = Person()

        async def some(command: Mapping[str, Any]) -> None:
            if command["command"] == "create":
                await person.approve(command)

        memory = AsyncMemory("memory:", before=kinds_of(some)[kind])
        # Threads of other tests may still exist.
        threads_before = pool_threads.count()
        async with anyio.create_task_group() as tasks:
            for number in range(APPROVALS):
                tasks.start_soon(memory.create, f"/memories/{number}", "x")
            await person.is_asked(APPROVALS)
            with anyio.fail_after(SECONDS):
                other = AsyncMemory(DictStore(), before=allow)
                await other.create("/memories/a", "x")
                assert "/memories/a" in str(await other.view("/memories"))
                assert await memory.exists("/memories")
                for _ in range(20):
                    with pytest.raises(RefusedError, match="does not exist"):
                        await memory.delete("/memories/none")
            assert (await memory.stats()).files == 0
            if kind < 3:
                # A hook that waits never used a thread. Plain functions were called on one.
                assert pool_threads.count() - threads_before < 8
            person.says.set()
        assert (await memory.stats()).files == APPROVALS

    anyio.run(run, backend=backend)


# --- their own commands ------------------------------------------------------------------------


@on_both
def test_a_hook_may_use_its_own_memory(backend: str) -> None:
    log: list[str] = []

    async def before(command: Mapping[str, Any]) -> None:
        log.append(str(await memory.view("/memories")))
        if command["command"] == "delete":
            # The hook also runs commands in tasks of its own, and in sessions of the same memory.
            async with anyio.create_task_group() as tasks:
                archive = memory.acting_as("hook").rename
                tasks.start_soon(archive, command["path"], "/memories/archived")
            raise Deny("It was archived.")

    async def after(event: Event) -> None:
        await memory.execute({**CREATE, "path": f"/memories/log-{len(log)}"})
        log.append(event.outcome)

    memory = AsyncMemory("memory:", before=before, after=after, history=True)

    async def run() -> None:
        await memory.create("/memories/a", "one")
        assert (await AsyncMemoryTool(memory).call(VIEW)) != ""
        assert (await memory.execute({"command": "delete", "path": "/memories/a"})).is_error
        assert [line for line in log if "\n" not in line] == ["ok", "ok", "denied"]
        assert await memory.read("/memories/archived") == "one"
        assert "/memories/log-1" in str(await memory.view("/memories"))

    anyio.run(run, backend=backend)


@on_both
def test_hooks_of_two_memories_may_watch_each_other(backend: str) -> None:
    asked: list[str] = []

    async def of_one(_: object) -> None:
        asked.append("one")
        await two.view("/memories")

    async def of_two(_: object) -> None:
        asked.append("two")
        await one.view("/memories")

    one, two = AsyncMemory("memory:", before=of_one), AsyncMemory("memory:", before=of_two)

    async def run() -> None:
        await one.view("/memories")
        assert asked == ["one", "two"]
        asked.clear()
        # The mark is removed when the hook has ended.
        await two.view("/memories")
        assert asked == ["two", "one"]

    anyio.run(run, backend=backend)


def test_a_memory_that_its_own_hook_knows_is_collected() -> None:
    class Owner:
        def __init__(self) -> None:
            self.memory = AsyncMemory("memory:", before=self.before)

        async def before(self, _: object) -> None:
            await self.memory.view("/memories")

    owner = Owner()
    asyncio.run(owner.memory.create("/memories/a", "x"))
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


# --- the tool ----------------------------------------------------------------------------------


@on_both
def test_a_tool_whose_methods_are_overridden(backend: str) -> None:
    log = Log()

    class Mine(AsyncMemoryTool):
        async def delete(self, command: Any) -> Any:
            moved = {"command": "rename", "old_path": command.path, "new_path": "/memories/bin"}
            return await self.rename(moved)

    async def run() -> None:
        memory = AsyncMemory("memory:", before=forbid, after=log.note)
        tool = Mine(memory)
        with pytest.raises(ToolError, match=r"^Not rename\.$"):
            await tool.call({"command": "delete", "path": "/memories/a"})
        # The call is refused before the method is called, and `after` gets the event.
        with pytest.raises(ToolError, match="Missing `path` parameter"):
            await tool.call({"command": "delete"})
        assert log.outcomes == ["denied", "refused"]

    anyio.run(run, backend=backend)


def test_where_no_thread_can_be_had_the_store_is_out_of_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> None:
        for after in ("note", "plainly"):
            log = Log()
            memory = AsyncMemory("memory:", before=allow, after=getattr(log, after))
            with monkeypatch.context() as patched:
                patched.setattr(_memdir, "submit", no_thread)
                reply = await memory.execute(CREATE)
                assert "Nothing was changed" in str(reply.content)
                assert reply.cause is not None
                assert "can't start new thread" in str(reply.cause)
                assert (await memory.execute({"command": "view"})).cause is None
            assert log.outcomes == ["failed", "refused"]
            assert not await memory.exists("/memories/a")

    asyncio.run(run())


def test_a_long_json_text() -> None:
    async def run() -> None:
        memory = AsyncMemory("memory:", before=allow)
        text = "x" * 200_000
        json = f'{{"command": "create", "path": "/memories/a", "file_text": "{text}"}}'
        assert not (await memory.execute(json)).is_error
        assert await memory.read("/memories/a") == text

    asyncio.run(run())


# --- without await -----------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["before", "after"])
@pytest.mark.parametrize("kind", [Memory, MemoryTool])
def test_what_has_no_await_refuses_coroutine_functions(kind: Any, option: str) -> None:
    for hook in kinds_of(allow)[:3]:
        with pytest.raises(ConfigError, match="AsyncMemory") as raised:
            kind("memory:", **{option: hook})
        assert str(raised.value).startswith(f"{option} must be a function that is called at once")
        assert raised.value.option == option
    for hook in kinds_of(allow)[3:]:
        kind("memory:", **{option: hook})


def test_an_awaitable_that_is_not_awaited_allows_nothing(caplog: pytest.LogCaptureFixture) -> None:
    coroutines: list[Any] = []

    def before(command: object) -> Any:
        coroutines.append(allow(command))
        return coroutines[-1]

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        memory = Memory("memory:", before=before)
        reply = memory.execute(CREATE)
        assert (reply.content, reply.is_error) == (UNCHECKED, True)
        assert isinstance(reply.cause, HookError)
        assert isinstance(reply.cause.__cause__, TypeError)
        assert "AsyncMemory" in str(reply.cause)
        assert not memory.exists("/memories/a")
        assert inspect.getcoroutinestate(coroutines[0]) == inspect.CORO_CLOSED

        memory = Memory("memory:", after=before)
        assert not memory.execute(CREATE).is_error
        [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert record.exc_info is not None
        assert record.exc_info[0] is TypeError
        assert inspect.getcoroutinestate(coroutines[1]) == inspect.CORO_CLOSED
        coroutines.clear()
        gc.collect()
    # Python does not warn that a coroutine was never awaited either.
    assert warned == []


def test_what_a_framework_calls_without_await_fails_closed() -> None:
    asked: list[object] = []

    async def before(command: object) -> None:
        asked.append(command)

    async def run() -> None:
        memory = AsyncMemory("memory:", before=before)
        call = _call.MemoryCall(memory)
        assert (await call.execute_async(CREATE)).is_error is False
        assert len(asked) == 1
        assert isinstance(call.execute({**CREATE, "path": "/memories/b"}).cause, HookError)
        assert [entry.path for entry in await memory.list()] == ["/memories/a"]

    asyncio.run(run())


@on_both
def test_a_coroutine_function_awaits_the_diff(backend: str) -> None:
    seen: list[str] = []

    async def before(command: Mapping[str, Any], call: AsyncHookCall) -> None:
        seen.append(f"{call.actor} {call.tool_use_id} {await call.diff()}")
        assert call.session

    def after(event: Event) -> None:
        seen.append(f"{event.outcome} {event.actor} {event.tool_use_id}")

    async def run() -> None:
        async with AsyncMemory("memory:", actor="ann", before=before, after=after) as memory:
            block = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": CREATE}
            assert not (await memory.execute(block)).is_error
            assert seen == [
                "ann toolu_1 --- /dev/null\n+++ /memories/a\n@@ -0,0 +1 @@\n+one\n"
                "\\ No newline at end of file\n",
                "ok ann toolu_1",
            ]
            with pytest.raises(RefusedError) as refused:
                await memory.delete("/memories/none")
            assert refused.value.kind == "not_found"
            assert seen[-1] == "refused ann None"

    anyio.run(run, backend=backend)


@pytest.mark.parametrize("given", ["./memory", None, Memory])
def test_an_integration_needs_a_memory_that_is_open(given: Any) -> None:
    for make in (_call.MemoryCall, _call.SearchCall, _call.with_await, _call.without_await):
        with pytest.raises(TypeError, match=r"a Memory or an AsyncMemory is expected, such as"):
            make(given)
