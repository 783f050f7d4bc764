"""`MemoryTool` and `AsyncMemoryTool`, called as the SDK's runner calls them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    BetaAsyncBuiltinFunctionTool,
    BetaBuiltinFunctionTool,
    ToolError,
)
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from dict_store import DictStore
from effort import SECONDS
from memdir import (
    AsyncMemory,
    AsyncMemoryTool,
    ConfigError,
    Memory,
    MemoryTool,
    RefusedError,
    open_store,
    search_tool,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# The six commands as the SDK's models, in an order in which all succeed, and the replies.
CONVERSATION: list[tuple[Any, str]] = [
    (
        BetaMemoryTool20250818CreateCommand(
            command="create", path="/memories/a", file_text="one\ntwo\n"
        ),
        "File created successfully at: /memories/a",
    ),
    (
        BetaMemoryTool20250818InsertCommand(
            command="insert", path="/memories/a", insert_line=2, insert_text="three\n"
        ),
        "The file /memories/a has been edited.",
    ),
    (
        BetaMemoryTool20250818StrReplaceCommand(
            command="str_replace", path="/memories/a", old_str="two", new_str="2"
        ),
        "The memory file has been edited. Here is the snippet showing the change (with line "
        "numbers):\n     1\tone\n     2\t2\n     3\tthree",
    ),
    (
        BetaMemoryTool20250818ViewCommand(command="view", path="/memories/a", view_range=[3, -1]),
        "Here's the content of /memories/a with line numbers:\n     3\tthree",
    ),
    (
        BetaMemoryTool20250818RenameCommand(
            command="rename", old_path="/memories/a", new_path="/memories/b"
        ),
        "Successfully renamed /memories/a to /memories/b",
    ),
    (
        BetaMemoryTool20250818DeleteCommand(command="delete", path="/memories/b"),
        "Successfully deleted /memories/b",
    ),
]
WAYS: list[Callable[[Any, Any], Any]] = [
    lambda tool, command: tool.call(command.model_dump()),
    lambda tool, command: tool.execute(command.model_dump()),
    lambda tool, command: tool.execute(command),
    lambda tool, command: getattr(tool, command.command)(command),
    lambda tool, command: getattr(tool, command.command)(command.model_dump()),
    # A typed dict without `command`, which the method's name already gives.
    lambda tool, command: getattr(tool, command.command)(command.model_dump(exclude={"command"})),
]
MISSING = {"command": "view", "path": "/memories/none"}
MISSING_SENTENCE = "The path /memories/none does not exist. Please provide a valid path."


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in(way: Callable[[Any, Any], Any]) -> None:
    tool = MemoryTool("memory:")
    for command, reply in CONVERSATION:
        assert way(tool, command) == reply


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_asynchronously(way: Callable[[Any, Any], Any], backend: str) -> None:
    async def run() -> None:
        tool = AsyncMemoryTool("memory:")
        for command, reply in CONVERSATION:
            assert await way(tool, command) == reply
        with pytest.raises(ToolError):
            await tool.call(MISSING)
        assert await tool.clear_all_memory() == "All memory cleared"

    anyio.run(run, backend=backend)


def test_they_are_what_the_sdk_accepts() -> None:
    tool, async_tool = MemoryTool("memory:"), AsyncMemoryTool("memory:")
    assert isinstance(tool, (BetaAbstractMemoryTool, BetaBuiltinFunctionTool))
    assert isinstance(async_tool, (BetaAsyncAbstractMemoryTool, BetaAsyncBuiltinFunctionTool))
    for each in (tool, async_tool):
        assert each.name == "memory"
        assert each.to_dict() == {"type": "memory_20250818", "name": "memory"}
    cached = MemoryTool("memory:", cache_control={"type": "ephemeral"})
    assert cached.to_dict() == {
        "type": "memory_20250818",
        "name": "memory",
        "cache_control": {"type": "ephemeral"},
    }


def test_a_mistake_is_a_tool_error_with_the_exact_text() -> None:
    tool = MemoryTool("memory:")
    for method in (tool.call, tool.execute, tool.view):
        with pytest.raises(ToolError) as raised:
            method(MISSING)
        assert raised.value.content == MISSING_SENTENCE
        assert str(raised.value) == MISSING_SENTENCE
        refused = raised.value.__cause__
        assert isinstance(refused, RefusedError)
        assert (str(refused), refused.kind) == (MISSING_SENTENCE, "not_found")


def test_the_method_counts_and_not_the_field() -> None:
    with pytest.raises(ToolError) as raised:
        MemoryTool("memory:").delete({"command": "create", "path": "/memories/none"})
    assert raised.value.content == "Error: The path /memories/none does not exist"


def test_where_the_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for tool in (MemoryTool(), AsyncMemoryTool("./memory"), MemoryTool(Path("memory"))):
        assert tool.base_path == Path("memory")
        assert tool.memory_root == Path("memory/memories")
    shared = MemoryTool(open_store(tmp_path / "shared"))
    assert shared.base_path == tmp_path / "shared"
    assert shared.memory_root == tmp_path / "shared" / "memories"
    for elsewhere in (MemoryTool("memory:"), MemoryTool(DictStore())):
        assert elsewhere.base_path is None
        assert elsewhere.memory_root is None


def test_the_files_are_as_the_sdk_s_own_tool_keeps_them(tmp_path: Path) -> None:
    tool = MemoryTool(tmp_path)
    tool.create({"path": "/memories/dir/a", "file_text": "é\r\n"})
    assert (tmp_path / "memories" / "dir" / "a").read_bytes() == "é\r\n".encode()
    (tmp_path / "memories" / "b").write_text("by hand")
    assert str(tool.view({"path": "/memories/b"})).endswith("by hand")
    tool.clear_all_memory()
    assert list(tmp_path.rglob("*")) == [tmp_path / "memories"]


def test_options_are_handed_on() -> None:
    tool = MemoryTool("memory:", on_existing="overwrite", max_file_bytes=3)
    tool.create({"path": "/memories/a", "file_text": "one"})
    tool.create({"path": "/memories/a", "file_text": "two"})
    with pytest.raises(ToolError, match="may hold 3 bytes at most"):
        tool.create({"path": "/memories/a", "file_text": "three"})
    with pytest.raises(ConfigError):
        AsyncMemoryTool("memory:", durability="none")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="nonsense"):
        MemoryTool("memory:", nonsense=1)  # type: ignore[call-arg]


# --- overridden methods ------------------------------------------------------------------------


class Greeting(MemoryTool):
    """A tool that overrides two methods."""

    seen: Any = None

    def view(self, command: Any) -> Any:
        self.seen = command
        return f"Hello!\n{super().view(command)}"

    def insert(self, command: Any) -> str:
        self.seen = command
        return f"{command.path}: {command.insert_line}, {command.insert_text}"


def test_a_method_of_one_s_own_is_used() -> None:
    tool = Greeting("memory:")
    view = {"command": "view", "path": "/memories"}
    model = BetaMemoryTool20250818ViewCommand(command="view", path="/memories")
    for reply in (tool.call(view), tool.execute(view), tool.execute(model)):
        assert str(reply).startswith("Hello!\nHere're the files")
        assert isinstance(tool.seen, BetaMemoryTool20250818ViewCommand)
    assert tool.seen is model
    assert str(tool.call({"command": "create", "path": "/memories/a", "file_text": ""})).startswith(
        "File created"
    )


def test_it_gets_a_complete_command_or_none() -> None:
    tool = Greeting("memory:")
    drifted = {"command": "insert", "path": "/memories/a", "insert_line": "2", "new_str": "x"}
    assert tool.call(drifted) == "/memories/a: 2, x"
    assert isinstance(tool.seen, BetaMemoryTool20250818InsertCommand)
    tool.seen = None
    for malformed in (
        {"command": "view"},
        {"command": "view", "path": 3},
        {"command": "insert", "path": "/memories/a", "insert_line": True, "insert_text": ""},
    ):
        with pytest.raises(ToolError, match="parameter"):
            tool.call(malformed)
    assert tool.seen is None
    with pytest.raises(ToolError, match="Missing `path`"):
        tool.call({"command": "delete"})


def test_a_view_range_that_is_wrong_is_judged_where_the_file_is_known() -> None:
    tool = Greeting("memory:")
    tool.call({"command": "create", "path": "/memories/a", "file_text": "one\n"})
    view = {"command": "view", "path": "/memories/a", "view_range": [1, "x"]}
    with pytest.raises(ToolError, match="Invalid `view_range` parameter"):
        tool.call(view)
    assert str(tool.call({**view, "path": "/memories"})).startswith("Hello!")


def test_an_execute_of_one_s_own_is_used() -> None:
    commands = []

    class Counting(MemoryTool):
        def execute(self, command: Any) -> Any:
            commands.append(command.command)
            return super().execute(command)

    tool = Counting("memory:")
    tool.call({"command": "view", "path": "/memories"})
    with pytest.raises(ToolError):
        tool.call({"command": "view"})
    with pytest.raises(ToolError):
        tool.call(None)
    assert commands == ["view"]


def test_a_method_that_is_put_in_later_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = MemoryTool("memory:")
    monkeypatch.setattr(tool, "view", lambda command: f"mine: {command.path}")
    assert tool.call({"command": "view", "path": "/memories"}) == "mine: /memories"


def test_a_method_of_one_s_own_is_used_asynchronously() -> None:
    class Waiting(AsyncMemoryTool):
        async def view(self, command: Any) -> Any:
            await anyio.sleep(0)
            return f"Hello!\n{await super().view(command)}"

    async def run() -> None:
        tool = Waiting("memory:")
        view = {"command": "view", "path": "/memories"}
        model = BetaMemoryTool20250818ViewCommand(command="view", path="/memories")
        for reply in (await tool.call(view), await tool.execute(view), await tool.execute(model)):
            assert str(reply).startswith("Hello!\nHere're")
        with pytest.raises(ToolError, match="Missing `path`"):
            await tool.call({"command": "view"})

    anyio.run(run)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_event_loop_goes_on_while_the_store_works(backend: str) -> None:
    loop_went_on = threading.Event()

    class Slow(DictStore):
        def read(self, path: str) -> bytes:
            assert loop_went_on.wait(SECONDS), "the event loop stood still"
            return super().read(path)

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(AsyncMemoryTool(Slow()).call, {"command": "view", "path": "/memories"})
            await anyio.sleep(0.01)
            loop_went_on.set()

    anyio.run(run, backend=backend)


def test_a_command_that_has_begun_is_carried_out_when_its_task_is_cancelled() -> None:
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    class Slow(DictStore):
        def write(self, path: str, content: bytes, overwrite: bool) -> None:
            begun.set()
            assert go_on.wait(SECONDS)
            super().write(path, content, overwrite)
            done.set()

    store = Slow()
    create = {"command": "create", "path": "/memories/a", "file_text": "one"}

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(AsyncMemoryTool(store).call, create)
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()
            go_on.set()

    anyio.run(run)
    assert done.wait(SECONDS)
    assert store.tree["/memories/a"] == b"one"


def test_a_tool_on_a_memory_that_is_open(tmp_path: Path) -> None:
    create = {"command": "create", "path": "/memories/a", "file_text": "one"}

    async def run() -> None:
        async with AsyncMemory(tmp_path, max_files=1) as memory:
            tool = AsyncMemoryTool(memory)
            await tool.call(create)
            assert await memory.read("/memories/a") == "one"
            with pytest.raises(ToolError, match="1 file"):
                await tool.call({**create, "path": "/memories/b"})
            assert (tool.base_path, tool.memory_root) == (tmp_path, tmp_path / "memories")
            with pytest.raises(TypeError, match="max_files"):
                AsyncMemoryTool(memory, max_files=2)
        with pytest.raises(ValueError, match="the memory is closed"):
            await tool.call({"command": "view", "path": "/memories"})

    anyio.run(run)
    with Memory(tmp_path) as memory:
        assert "one" in str(MemoryTool(memory).call({"command": "view", "path": "/memories/a"}))
        with pytest.raises(TypeError, match="max_files"):
            MemoryTool(memory, max_files=2)


def test_a_tool_has_its_memory_and_closes_it() -> None:
    with MemoryTool("memory:") as tool:
        tool.memory.write("/memories/a", "one")
        assert str(tool.call({"command": "view", "path": "/memories/a"})).endswith("\tone")
        assert repr(tool) == "MemoryTool('memory:')"
    with pytest.raises(ValueError, match="closed"):
        tool.memory.read("/memories/a")


def test_an_asynchronous_tool_has_its_memory_and_closes_it() -> None:
    async def main() -> None:
        async with AsyncMemoryTool("memory:") as tool:
            await tool.memory.write("/memories/a", "one")
            answer = await tool.call({"command": "view", "path": "/memories/a"})
            assert str(answer).endswith("\tone")
            assert repr(tool) == "AsyncMemoryTool('memory:')"
        with pytest.raises(ValueError, match="closed"):
            await tool.memory.read("/memories/a")

    anyio.run(main)


@pytest.mark.parametrize("given", ["memory:", None, MemoryTool("memory:")])
def test_a_search_tool_needs_a_memory_that_is_open(given: Any) -> None:
    name = type(given).__name__
    with pytest.raises(TypeError, match=rf"a Memory or an AsyncMemory is expected.*, not {name}$"):
        search_tool(given)
