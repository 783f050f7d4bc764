"""Input of any shape gets a clear sentence with `is_error`, and changes nothing."""

from __future__ import annotations

import enum
import math
from collections import ChainMap, OrderedDict, UserDict, defaultdict
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.lib.tools import ToolError

import cases
from memdir import Memory, MemoryTool, RefusedError, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VIEW = {"command": "view", "path": "/memories/a"}
ODD_KEYS: dict[Any, Any] = {**VIEW, 3: 4, None: None, b"path": b"x"}
SHOWN = "Here's the content of /memories/a with line numbers:\n     1\tone"


class Text(str):
    __slots__ = ()


class Integer(int):
    pass


class Items(list[Any]):
    pass


class Name(str, enum.Enum):
    VIEW = "view"


class Raising:
    command = "view"

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no attributes today")


class Hollow:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("nothing at all")


class Untrue:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not comparable")

    def __hash__(self) -> int:
        return hash("path")


def cyclic(times: int) -> list[Any]:
    items: list[Any] = []
    items.extend([items] * times)
    return items


def deep() -> list[Any]:
    items: list[Any] = []
    for _ in range(100_000):
        items = [items]
    return items


@pytest.fixture
def tool(tmp_path: Path) -> MemoryTool:
    open_store(tmp_path).write("/memories/a", b"one\n", overwrite=False)
    return MemoryTool(tmp_path)


@pytest.mark.parametrize(
    "same",
    [
        OrderedDict(VIEW),
        defaultdict(str, VIEW),
        MappingProxyType(VIEW),
        UserDict(VIEW),
        ChainMap({}, VIEW),
        SimpleNamespace(**VIEW),
        {Text("command"): Text("view"), "path": Text("/memories/a")},
        {"command": Name.VIEW, "path": "/memories/a"},
        {**VIEW, "view_range": (1, 1)},
        {**VIEW, "view_range": Items([Integer(1), 1.0])},
        {**VIEW, "view_range": ["1", "-1"]},
        {**VIEW, "extra": cyclic(1), "more": Hollow()},
        ODD_KEYS,
    ],
    ids=lambda same: type(same).__name__,
)
def test_whatever_holds_the_fields_is_a_command(tool: MemoryTool, same: Any) -> None:
    assert tool.call(same) == SHOWN
    assert tool.execute(same) == SHOWN
    assert tool.view(same) == SHOWN


def test_a_dict_is_not_asked_to_make_up_fields() -> None:
    class Eager(dict[str, Any]):
        def __missing__(self, key: str) -> str:
            return "made up"

        def __getitem__(self, key: str) -> str:
            return "made up"

    content, is_error = Memory("memory:").execute(Eager(command="view"))
    assert (content, is_error) == (
        "Error: Missing `path` parameter for the `view` command: expected a string",
        True,
    )
    empty: defaultdict[str, str] = defaultdict(str)
    Memory("memory:").execute(empty)
    assert not empty


def malformed() -> Iterator[tuple[Any, str]]:
    """Input, and the expected words of its sentence."""
    for nothing, words in (
        (None, "null"),
        (True, "true"),
        (3, "the number 3"),
        (10**400, "a number that is too large"),
        (math.nan, "the number NaN"),
        ([], "the list []"),
        ((VIEW,), "the list [an object]"),
        (b"bytes", "bytes"),
        (object(), "object"),
        ({1, 2}, "set"),
        (MemoryTool, "type"),
        (cyclic(1), "the list [[["),
        (cyclic(1000), "the list [[["),
        (deep(), "the list [[["),
    ):
        yield nothing, words
        yield {"command": nothing}, "`command`"
    yield Hollow(), "something that cannot be read"
    yield {}, "Missing `command` parameter"
    yield {"command": "View", "path": "/memories"}, '"View"'
    yield {"command": "view\x00"}, "`command`"
    for value in (None, True, 3, b"/memories/a", ["/memories/a"], {}, object(), Hollow()):
        yield {"command": "view", "path": value}, "Invalid `path` parameter: expected a string"
    surrogate = "text that is not valid Unicode"
    yield {"command": "\ud800"}, surrogate
    yield {"command": "view", "path": "/memories/\ud800"}, surrogate
    yield {"command": "view", "path": Text("/memories/\udfff")}, surrogate
    yield {"command": "create", "path": "/memories/b", "file_text": "a\udc80b"}, surrogate
    yield {**VIEW, "view_range": ["\ud800", 1]}, surrogate
    yield {"command": "insert", "path": "/memories/a", "insert_line": "\ud800"}, surrogate
    for line, words in (
        (True, "the boolean true"),
        (1.5, "the number 1.5"),
        (math.inf, "the number inf"),
        (10**30, "the number 1e30"),
        (-(10**400), "a number that is too large"),
        ("one", 'the string "one"'),
        (Hollow(), "Hollow"),
        (None, "null"),
    ):
        given = {"command": "insert", "path": "/memories/a", "insert_line": line}
        yield {**given, "insert_text": "x"}, words
    ranges: tuple[Any, ...] = (
        3,
        "1,2",
        [],
        [1],
        [1, 2, 3],
        [1, None],
        [True, 1],
        {},
        cyclic(2),
        deep(),
        [0, 1],
    )
    for lines in ranges:
        yield {**VIEW, "view_range": lines}, "Invalid `view_range` parameter"
    yield {"command": "view", "path": Raising()}, "`path`"
    yield Raising(), "something that cannot be read"
    yield {"command": "view", Untrue(): "/memories/a"}, "something that cannot be read"
    yield {"command": "view", "path": "/memories/" + "x" * 10_000_000}, "too long"
    yield {"command": "x" * 10_000_000}, "`command`"


# Not parametrized, because the test runner itself fails with such objects.
def test_malformed_input_is_a_sentence(tool: MemoryTool, tmp_path: Path) -> None:
    before = cases.tree_in(open_store(tmp_path))
    memory = Memory(tmp_path)
    for given, words in malformed():
        content = refusal(tool.call, given)
        assert words in content
        assert 0 < len(content) < 1000
        assert str(tmp_path) not in content
        assert refusal(tool.execute, given) == content
        assert memory.execute(given) == (content, True)
    assert cases.tree_in(open_store(tmp_path)) == before


def refusal(method: Any, given: Any) -> str:
    with pytest.raises(ToolError) as raised:
        method(given)
    assert isinstance(raised.value.__cause__, RefusedError)
    return str(raised.value.content)


def test_json_that_python_would_take_is_refused_as_json() -> None:
    memory = Memory("memory:")
    for text in ("", "{", "NaN", '{"command": "view", "path": NaN}', "\ud800", "[" * 100_000):
        content, is_error = memory.execute(text)
        assert is_error
        assert 0 < len(content) < 1000


def test_a_dict_that_changes_while_the_store_works_harms_nobody() -> None:
    from dict_store import DictStore

    given: dict[str, Any] = {"command": "create", "path": "/memories/é", "file_text": "é" * 5000}

    class Emptying(DictStore):
        def write(self, path: str, content: bytes, overwrite: bool) -> None:
            given.clear()
            bytearray(100_000)
            super().write(path, content, overwrite)

    store = Emptying()
    given["path"] = "".join(["/memories/", "é"])
    given["file_text"] = "".join(["é"] * 5000)
    assert Memory(store).execute(given) == ("File created successfully at: /memories/é", False)
    assert store.tree["/memories/é"] == ("é" * 5000).encode()
