"""`Memory`, `Reply`, `Entry`, and the exceptions, in Python."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

import pytest

import memdir
from memdir import (
    AsyncMemory,
    ConfigError,
    Entry,
    MemdirError,
    Memory,
    RefusedError,
    Reply,
    Store,
    StoreError,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def memory() -> Memory:
    return Memory("memory:")


def test_the_typed_commands(memory: Memory) -> None:
    assert memory.create("/memories/a", "one\ntwo\n") == "File created successfully at: /memories/a"
    assert memory.insert("/memories/a", 1, "middle") == "The file /memories/a has been edited."
    assert memory.str_replace("/memories/a", "two", "2").endswith("     3\t2")
    assert memory.str_replace(path="/memories/a", old_str="one").endswith("     3\t2")
    assert str(memory.view("/memories/a", (2, -1))).splitlines()[1:] == [
        "     2\tmiddle",
        "     3\t2",
    ]
    assert str(memory.view("/memories/a", view_range=[2, 2])).endswith(":\n     2\tmiddle")
    assert memory.rename("/memories/a", "/memories/b").endswith("to /memories/b")
    assert memory.delete("/memories/b") == "Successfully deleted /memories/b"
    assert memory.clear() == "All memory cleared"


def test_a_refused_command_is_a_command_error_with_the_exact_text(memory: Memory) -> None:
    with pytest.raises(RefusedError) as raised:
        memory.view("/memories/none")
    assert str(raised.value) == (
        "The path /memories/none does not exist. Please provide a valid path."
    )
    assert isinstance(raised.value, MemdirError)
    memory.create("/memories/a", "one")
    with pytest.raises(RefusedError, match="Invalid `view_range` parameter"):
        memory.view("/memories/a", (3, 1))


@pytest.mark.parametrize("kind", ["plain", "hooked"])
def test_a_boolean_is_not_a_line(kind: str) -> None:
    """As in the input of a call, though to Python a boolean is an integer."""
    store = open_store("memory:")
    store.write("/memories/a", b"one\n", overwrite=False)
    plain, hooked = Memory(store), AsyncMemory(store, before=lambda _: None)

    def insert(line: int) -> object:
        if kind == "plain":
            return plain.insert("/memories/a", line, "x")
        return asyncio.run(hooked.insert("/memories/a", line, "x"))

    def view(lines: tuple[int, int]) -> object:
        if kind == "plain":
            return plain.view("/memories/a", lines)
        return asyncio.run(hooked.view("/memories/a", lines))

    for wrong in (True, False):
        with pytest.raises(RefusedError) as raised:
            insert(wrong)
        assert raised.value.kind == "invalid"
        with pytest.raises(RefusedError) as raised:
            view((wrong, wrong))
        assert raised.value.kind == "invalid"
    assert str(view((1, 1))).endswith("one")


def test_wrong_arguments_of_the_host_are_python_s_own_errors(memory: Memory) -> None:
    anything: Any = memory
    for wrong in (
        anything.view,
        anything.execute,
        lambda: Memory("memory:", nonsense=True),  # type: ignore[call-overload]
        lambda: Memory("memory:", {}),  # type: ignore[call-overload]
    ):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (
        lambda: Memory("memory:", on_existing="replace"),  # type: ignore[call-overload]
        lambda: Memory("memory:", durability="none"),  # type: ignore[call-overload]
        lambda: open_store("memory:", durability="none"),  # type: ignore[arg-type]
        lambda: Memory(""),
        lambda: Memory("ftp://host"),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            wrong()
    memory.create("/memories/a", "")
    wrong_for_a_command: list[tuple[str, Callable[[], object]]] = [
        ("path", lambda: anything.view(3)),
        ("file_text", lambda: anything.create("/memories/a", b"bytes")),
        ("insert_line", lambda: anything.insert("/memories/a", "one", "text")),
        ("insert_line", lambda: anything.insert("/memories/a", 1.5, "text")),
        ("view_range", lambda: anything.view("/memories/a", (1, 2, 3))),
        ("view_range", lambda: anything.view("/memories/a", "x")),
    ]
    for parameter, refused in wrong_for_a_command:
        with pytest.raises(RefusedError, match=f"Invalid `{parameter}` parameter"):
            refused()
    with pytest.raises(ConfigError, match="on_existing"):
        Memory("memory:", on_existing="replace")  # type: ignore[call-overload]


def test_half_a_surrogate_pair_is_refused_as_if_the_model_had_sent_it() -> None:
    memory = Memory("memory:")
    memory.create("/memories/a", "one\n")
    half = "/memories/\ud800"
    for command, fields in (
        ("view", {"path": half}),
        ("create", {"path": "/memories/b", "file_text": half}),
        ("str_replace", {"path": "/memories/a", "old_str": half}),
        ("str_replace", {"path": "/memories/a", "old_str": "one", "new_str": half}),
        ("insert", {"path": "/memories/a", "insert_line": 0, "insert_text": half}),
        ("delete", {"path": half}),
        ("rename", {"old_path": "/memories/a", "new_path": half}),
    ):
        with pytest.raises(RefusedError, match="not valid Unicode") as raised:
            getattr(memory, command)(**fields)
        assert str(raised.value) == memory.execute({"command": command, **fields}).content


def test_a_number_that_no_command_can_hold_is_refused_as_if_the_model_had_sent_it() -> None:
    memory = Memory("memory:")
    memory.create("/memories/a", "one\n")
    for number in (10**30, -(10**30), 10**400):
        insert: dict[str, Any] = {
            "path": "/memories/a",
            "insert_line": number,
            "insert_text": "two",
        }
        with pytest.raises(RefusedError) as raised:
            memory.insert(**insert)
        assert str(raised.value) == memory.execute({"command": "insert", **insert}).content
        assert "insert_line" in str(raised.value)
        with pytest.raises(RefusedError, match="Invalid `view_range` parameter"):
            memory.view("/memories/a", (1, number))
    assert str(memory.view("/memories/a")).endswith("\tone")


def test_execute_takes_a_dict_or_its_json(memory: Memory) -> None:
    as_json = '{"command": "create", "path": "/memories/a", "file_text": "\\u00e9"}'
    assert memory.execute(as_json) == ("File created successfully at: /memories/a", False)
    assert str(memory.execute({"command": "view", "path": "/memories/a"}).content).endswith("\té")
    reply = memory.execute("{")
    assert reply.is_error
    assert str(reply.content).startswith("Error: The input is not valid JSON")


def test_a_reply() -> None:
    reply = Memory("memory:").execute({"command": "delete", "path": "/memories/none"})
    assert reply.content == "Error: The path /memories/none does not exist"
    assert reply.is_error is True
    assert reply.cause is None
    content, is_error = reply
    assert (content, is_error) == reply == Reply(reply.content, True, kind="not_found")
    assert reply != Reply(reply.content)
    assert repr(Reply("x")) == "Reply(content='x', is_error=False)"
    broken = Reply("x", True, StoreError("disk"))
    assert repr(broken) == "Reply(content='x', is_error=True, cause=StoreError('disk'))"
    for name in ("content", "is_error", "cause", "other"):
        with pytest.raises(AttributeError):
            setattr(reply, name, "y")
    again = pickle.loads(pickle.dumps(broken))
    assert again == broken
    assert isinstance(again.cause, StoreError)


def test_an_entry() -> None:
    file, directory = Entry("/memories/a", 3), Entry(path="/memories/b")
    assert (file.path, file.size, file.is_directory) == ("/memories/a", 3, False)
    assert (directory.path, directory.size, directory.is_directory) == ("/memories/b", None, True)
    assert file == Entry("/memories/a", 3)
    assert file != Entry("/memories/a", 4)
    assert len({file, Entry("/memories/a", 3), directory}) == 2
    assert repr(file) == "Entry(path='/memories/a', size=3, modified=None, accessed=None)"
    match file:
        case Entry(path, size, None):
            assert (path, size) == ("/memories/a", 3)
    with pytest.raises(AttributeError):
        file.size = 4  # type: ignore[misc]


def test_exceptions_can_be_pickled() -> None:
    for kind in (RefusedError, ConfigError, MemdirError, StoreError):
        again = pickle.loads(pickle.dumps(kind("why")))
        assert type(again) is kind
        assert str(again) == "why"


# --- options: the signature is true ------------------------------------------------------------


def default(name: str) -> Any:
    return inspect.signature(Memory).parameters[name].default


def test_the_default_of_max_view_chars(memory: Memory) -> None:
    limit = default("max_view_chars")
    header = len("Here's the content of /memories/a with line numbers:\n     1\t")
    memory.create("/memories/a", "x" * (limit - header))
    assert len(memory.view("/memories/a")) == limit
    memory.insert("/memories/a", 1, "y")
    assert "limit of characters" in memory.view("/memories/a")
    assert "limit of characters" not in Memory(
        store_of(memory, "/memories/a"), max_view_chars=None
    ).view("/memories/a")


def store_of(memory: Memory, path: str) -> memdir.Store:
    """A store with the same file, reconstructed from a view's numbered lines."""
    lines = re.findall(r"(?m)^ +\d+\t(.*)$", str(memory.view(path, (1, 1))))
    store = open_store("memory:")
    store.write(path, ("\n".join(lines) + "\ny\n").encode(), overwrite=False)
    return store


def test_the_default_of_max_file_bytes(memory: Memory) -> None:
    limit = default("max_file_bytes")
    memory.create("/memories/a", "x" * limit)
    with pytest.raises(RefusedError, match="would hold"):
        memory.create("/memories/b", "x" * (limit + 1))
    Memory("memory:", max_file_bytes=None).create("/memories/b", "x" * (limit + 1))


def test_the_default_of_on_existing(memory: Memory) -> None:
    assert default("on_existing") == "error"
    overwriting = Memory("memory:", on_existing="overwrite")
    for each in (memory, overwriting):
        each.create("/memories/a", "one")
    overwriting.create("/memories/a", "two")
    assert str(overwriting.view("/memories/a")).endswith("two")
    with pytest.raises(RefusedError, match="already exists"):
        memory.create("/memories/a", "two")


def test_the_default_of_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    memory = Memory(durability="relaxed")
    assert default("store") == "./memory"
    assert memory.directory == Path("memory/memories").resolve()
    assert Memory("memory:").directory is None


def test_everything_public_is_documented() -> None:
    for name in memdir.__all__:
        thing = getattr(memdir, name)
        if isinstance(thing, str) or get_origin(thing) is not None:
            # The texts of constants and aliases are at their declarations.
            continue
        assert thing.__doc__, name
        # The hints of typed dicts are resolved in the module of their declaration.
        modules = ("memdir", "memdir._memdir", "memdir._options", "memdir._request")
        assert thing.__module__ in modules, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{member}"


def test_an_error_says_of_what_kind_it_is() -> None:
    memory = Memory("memory:")
    with pytest.raises(RefusedError) as missing:
        memory.view("/memories/a")
    assert missing.value.kind == "not_found"
    assert pickle.loads(pickle.dumps(missing.value)).kind == "not_found"
    reply = memory.execute({"command": "view", "path": "/memories/a"})
    assert reply.kind == "not_found"
    assert "kind='not_found'" in repr(reply)
    assert memory.execute({"command": "view", "path": "/memories"}).kind is None
    memory.create("/memories/d/a", "one")
    with pytest.raises(RefusedError) as changed:
        memory.write("/memories/d/a", "two", if_unchanged="zero")
    assert changed.value.kind == "changed"
    with pytest.raises(RefusedError) as directory:
        memory.read("/memories/d")
    assert directory.value.kind == "is_a_directory"


class Broken(Store):
    """A store whose methods fail, as if it had lost its disk."""

    def fail(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no disk")

    read = list = write = update = delete = rename = fail


def test_a_failure_says_whether_something_may_have_been_changed() -> None:
    memory = Memory(Broken())
    with pytest.raises(StoreError) as read:
        memory.read("/memories/a")
    assert read.value.kind == "unavailable"
    with pytest.raises(StoreError) as written:
        memory.delete("/memories/a")
    assert written.value.kind == "outcome_unknown"
    reply = memory.execute({"command": "delete", "path": "/memories/a"})
    assert reply.kind == "outcome_unknown"
    assert isinstance(reply.cause, StoreError)
    assert reply.cause.kind == "outcome_unknown"
