"""Hooks in Python: their decisions, and their exceptions."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from anthropic.lib.tools import ToolError

from memdir import (
    AsyncMemoryTool,
    ConfigError,
    Deny,
    Event,
    HookCall,
    HookError,
    Memory,
    MemoryTool,
    RefusedError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CREATE = {"command": "create", "path": "/memories/a", "file_text": "one\n"}
UNCHECKED = (
    "Error: The command was not carried out, because the program that runs this memory could not "
    "check it. Nothing was changed; try again later."
)


def text(memory: Memory, path: str) -> str:
    """The text of a view that is not an image."""
    shown = memory.view(path)
    assert isinstance(shown, str)
    return shown


def forbid(command: Mapping[str, Any]) -> NoReturn:
    raise Deny(f"Not {command['command']}.")


def fail(_: object) -> NoReturn:
    raise ZeroDivisionError("of rules.internal")


def interrupt(_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_a_veto_is_an_answer_everywhere() -> None:
    memory = Memory("memory:", before=forbid)
    assert memory.execute(CREATE) == ("Not create.", True)
    assert memory.execute(json.dumps(CREATE)) == ("Not create.", True)
    assert memory.execute(CREATE).cause is None
    calls: list[Callable[[], object]] = [
        lambda: memory.view("/memories"),
        lambda: memory.create("/memories/a", "x"),
        lambda: memory.str_replace("/memories/a", "x"),
        lambda: memory.insert("/memories/a", 0, "x"),
        lambda: memory.delete("/memories/a"),
        lambda: memory.rename("/memories/a", "/memories/b"),
    ]
    for call in calls:
        with pytest.raises(RefusedError, match=r"^Not \w+\.$"):
            call()
    with pytest.raises(ToolError, match="Not create"):
        MemoryTool("memory:", before=forbid).call(CREATE)
    with pytest.raises(ToolError, match="Not create"):
        asyncio.run(AsyncMemoryTool("memory:", before=forbid).call(CREATE))
    # `clear` is for the developer, and is not a command.
    assert memory.clear() == "All memory cleared"


def test_what_before_is_given_is_the_command_and_cannot_be_changed_in_place() -> None:
    seen: list[Mapping[str, Any]] = []

    def before(command: Mapping[str, Any]) -> None:
        seen.append(command)
        command["path"] = "/memories/b"  # type: ignore[index]

    memory = Memory("memory:", before=before)
    with pytest.raises(HookError) as raised:
        memory.create("/memories//a", "one")
    assert isinstance(raised.value.__cause__, TypeError)
    with pytest.raises(HookError):
        memory.view("/memories/a", [2, -1])
    assert [dict(command) for command in seen] == [
        {"command": "create", "path": "/memories/a", "file_text": "one"},
        {"command": "view", "path": "/memories/a", "view_range": [2, -1]},
    ]


def test_a_dict_that_is_returned_changes_the_text_and_nothing_else() -> None:
    def giving(returned: Any, _: object) -> Any:
        return returned

    def returning(returned: Any) -> Memory:
        return Memory("memory:", before=partial(giving, returned))

    for changed in ({"file_text": "two"}, {**CREATE, "file_text": "two"}):
        events: list[Event] = []
        memory = Memory("memory:", before=partial(giving, changed), after=events.append)
        memory.create("/memories/a", "one and more")
        assert events[0].bytes == len(changed["file_text"])
    wrong: list[Any] = [
        {},
        {"file_text": None},
        {"filetext": "two"},
        {"file_text": "two", "path": "/memories/b"},
        "two",
        True,
        ["two"],
    ]
    for returned in wrong:
        with pytest.raises(HookError):
            returning(returned).create("/memories/a", "one")
    assert text(returning({"path": "/memories"}), "/memories").count("\n") == 1


def test_an_exception_in_before_is_the_cause() -> None:
    memory = Memory("memory:", before=fail)
    reply = memory.execute(CREATE)
    assert (reply.content, reply.is_error) == (UNCHECKED, True)
    assert isinstance(reply.cause, HookError)
    assert isinstance(reply.cause.__cause__, ZeroDivisionError)
    assert "rules.internal" in str(reply.cause)
    with pytest.raises(HookError) as raised:
        memory.create("/memories/a", "x")
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert memory.execute({"command": "delete"}).cause is None


def test_an_exception_in_before_is_logged_by_the_tools(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ToolError) as raised:
        MemoryTool("memory:", before=fail).call(CREATE)
    assert raised.value.content == UNCHECKED
    assert isinstance(raised.value.__cause__, HookError)
    assert isinstance(raised.value.__cause__.__cause__, ZeroDivisionError)
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.name == "memdir"


def test_an_exception_in_after_is_logged_and_what_is_done_is_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    memory = Memory("memory:", after=fail)
    assert memory.create("/memories/a", "one").startswith("File created")
    [record] = caplog.records
    assert (record.name, record.levelname) == ("memdir", "ERROR")
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError
    assert text(memory, "/memories/a").endswith("\tone")


@pytest.mark.parametrize("hook", ["before", "after"])
def test_an_interruption_passes_as_itself(hook: str) -> None:
    options: Any = {hook: interrupt}
    memory = Memory("memory:", **options)
    calls: list[Callable[[], object]] = [
        lambda: memory.execute(CREATE),
        lambda: memory.execute(json.dumps(CREATE)),
        lambda: memory.view("/memories"),
        lambda: memory.create("/memories/b", ""),
        lambda: MemoryTool("memory:", **options).call(CREATE),
        lambda: asyncio.run(AsyncMemoryTool("memory:", **options).call(CREATE)),
    ]
    if hook == "after":
        # A number that a command cannot hold is refused before `before` is called.
        calls.append(lambda: memory.insert("/memories/b", 10**30, ""))
    for call in calls:
        with pytest.raises(KeyboardInterrupt):
            call()
    # `after` gets one event.
    Memory("memory:").view("/memories")


def test_a_hook_may_use_its_own_memory() -> None:
    log: list[str] = []

    def before(command: Mapping[str, Any]) -> None:
        log.append(text(memory, "/memories"))
        if command["command"] == "delete":
            memory.rename(command["path"], "/memories/archived")
            raise Deny("It was archived.")

    def after(event: Event) -> None:
        memory.execute({**CREATE, "path": f"/memories/log-{len(log)}"})
        log.append(event.outcome)

    memory = Memory("memory:", before=before, after=after)
    memory.create("/memories/a", "one")
    assert memory.execute({"command": "delete", "path": "/memories/a"}).is_error
    assert [line for line in log if "\n" not in line] == ["ok", "denied"]
    assert text(memory, "/memories/archived").endswith("\tone")
    assert "/memories/log-1" in memory.view("/memories")


def test_hooks_under_many_threads() -> None:
    threads: set[int] = set()
    outcomes: list[str] = []

    def before(command: Mapping[str, Any]) -> Mapping[str, object] | None:
        threads.add(threading.get_ident())
        memory.view("/memories")
        return {"insert_text": "y"} if command["command"] == "insert" else None

    memory = Memory("memory:", before=before, after=lambda event: outcomes.append(event.outcome))
    memory.create("/memories/a", "")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: memory.insert("/memories/a", 0, "x"), range(400)))
    assert len(threads) > 1
    assert outcomes == ["ok"] * 401
    assert text(memory, "/memories/a").count("\ty") == 400


def test_many_asynchronous_calls_whose_hooks_use_the_memory() -> None:
    inner = Memory("memory:")

    def before(_: Mapping[str, Any]) -> None:
        inner.view("/memories")

    tool = AsyncMemoryTool("memory:", before=before)

    async def run() -> None:
        await tool.call({**CREATE, "file_text": ""})
        insert = {"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "x"}
        await asyncio.gather(*(tool.call(insert) for _ in range(200)))

    asyncio.run(run())
    assert str(asyncio.run(tool.call({"command": "view", "path": "/memories/a"}))).count("x") == 200


def test_what_is_no_function_is_told_at_once() -> None:
    async def asynchronous(_: object) -> None: ...

    for option in ("before", "after"):
        number: Any = {option: 3}
        coroutine: Any = {option: asynchronous}
        for kind, options in [(Memory, coroutine), (Memory, number), (AsyncMemoryTool, number)]:
            with pytest.raises(ConfigError, match=f"^{option} must be a function") as raised:
                kind("memory:", **options)
            assert raised.value.option == option


def test_a_memory_that_its_own_hook_knows_is_collected() -> None:
    class Owner:
        def __init__(self) -> None:
            self.memory = Memory("memory:", before=self.before)

        def before(self, _: object) -> None:
            self.memory.view("/memories")

    owner = Owner()
    owner.memory.view("/memories")
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_a_hook_with_a_parameter_call_learns_who_acts_and_what_would_change() -> None:
    seen: list[tuple[str | None, str | None, str]] = []
    meanwhile: list[Callable[[], object]] = []

    def before(command: Mapping[str, Any], call: HookCall) -> None:
        seen.append((call.actor, call.tool_use_id, call.diff()))
        assert call.session
        for change in meanwhile:
            change()

    memory = Memory("memory:", before=before)
    ann = memory.acting_as("ann")
    block = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": CREATE}
    assert not ann.execute(block).is_error
    assert seen == [("ann", "toolu_1", "--- /dev/null\n+++ /memories/a\n@@ -0,0 +1 @@\n+one\n")]
    # An approval applies only to the diff that was shown.
    meanwhile.append(lambda: memory.write("/memories/a", "two\n"))
    assert ann.execute({"command": "delete", "path": "/memories/a"}).kind == "changed"
    meanwhile.clear()
    with pytest.raises(RefusedError) as refused:
        ann.delete("/memories/none")
    assert refused.value.kind == "not_found"
    assert memory.read("/memories/a") == "two\n"


def test_only_a_parameter_of_that_name_takes_the_call() -> None:
    taken: list[object] = []

    def by_name(command: Mapping[str, Any], *, call: HookCall) -> None:
        taken.append(call)

    class Method:
        def __call__(self, command: Mapping[str, Any], call: HookCall) -> None:
            taken.append(call)

    def other(command: Mapping[str, Any], log: object = taken) -> None:
        assert log is taken

    for before in (by_name, Method(), partial(by_name), other, dict):
        Memory("memory:", before=before).execute(CREATE)  # type: ignore[arg-type]
    assert [type(call) for call in taken] == [HookCall] * 3
