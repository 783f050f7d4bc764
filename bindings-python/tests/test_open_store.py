"""Opening stores: memdir's own stores in Python, and values that are not stores."""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, Any, cast

import pytest

from dict_store import DictStore
from memdir import (
    AsyncMemory,
    AsyncMemoryTool,
    ConfigError,
    Entry,
    Memory,
    MemoryTool,
    Store,
    StoreError,
    check,
    copy,
    image_type,
    key_from_file,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_native_store_is_a_store() -> None:
    store = open_store("memory:")
    assert isinstance(store, Store)
    store.write("/memories/dir/a", b"one\xff", overwrite=False)
    assert store.read("/memories//dir/./a") == b"one\xff"
    assert list(store.list("/memories")) == [Entry("/memories/dir")]
    opened = store.open("/memories", 2)
    assert sorted(entry.path for entry in opened) == ["/memories/dir", "/memories/dir/a"]  # type: ignore[union-attr]
    assert store.open("/memories/dir/a", 2) == b"one\xff"
    store.update("/memories/dir/a", lambda old: old + b"two")
    store.update("/memories/dir/a", lambda _: None)
    store.rename("/memories/dir", "/memories/new")
    assert store.read("/memories/new/a") == b"one\xfftwo"
    store.delete("/memories/new/a")
    assert list(store.list("/memories/new")) == []
    store.clear()
    assert list(store.list("/memories")) == []


def test_a_native_store_raises_python_s_exceptions() -> None:
    store = open_store("memory:")
    store.write("/memories/a", b"", overwrite=False)
    store.write("/memories/dir/b", b"", overwrite=False)
    with pytest.raises(FileNotFoundError) as raised:
        store.read("/memories/none")
    assert raised.value.errno == errno.ENOENT
    assert raised.value.filename == "/memories/none"
    with pytest.raises(IsADirectoryError):
        store.read("/memories/dir")
    with pytest.raises(NotADirectoryError):
        store.list("/memories/a")
    with pytest.raises(FileExistsError):
        store.write("/memories/a", b"", overwrite=False)
    with pytest.raises(OSError, match="moved into itself") as itself:
        store.rename("/memories/dir", "/memories/dir/below")
    assert itself.value.errno == errno.EINVAL
    with pytest.raises(PermissionError):
        store.delete("/memories")
    with pytest.raises(PermissionError):
        store.rename("/memories", "/memories/a/b")
    with pytest.raises(ValueError, match="would escape"):
        store.read("/memories/../etc/passwd")
    with pytest.raises(ValueError, match="does not start with"):
        store.rename("/memories/a", "b")
    with pytest.raises(ConfigError, match='content must be bytes, got "text"'):
        store.write("/memories/t", "text", overwrite=False)  # type: ignore[arg-type]


def test_what_an_edit_raises_comes_out_and_changes_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.write("/memories/a", b"one", overwrite=False)

    def fail(_: bytes) -> bytes:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        store.update("/memories/a", fail)
    with pytest.raises(TypeError):
        store.update("/memories/a", lambda _: "text")  # type: ignore[arg-type, return-value]
    assert store.read("/memories/a") == b"one"


def test_a_store_is_shared_by_memories() -> None:
    store = open_store("memory:")
    Memory(store).create("/memories/a", "one")
    assert str(Memory(store).view("/memories/a")).endswith("one")


class FsPath:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)


def test_a_path_is_a_directory_whatever_it_looks_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Memory(FsPath(tmp_path / "one"))
    Memory(str(tmp_path / "two"))
    Memory(type(tmp_path)("memory:"))
    Memory()
    assert sorted(os.listdir(tmp_path)) == ["memory", "memory:", "one", "two"]  # noqa: PTH208


@pytest.mark.parametrize("store", [None, 3, b"./memory", object(), DictStore, ["./memory"]])
def test_what_is_no_store_is_a_config_error_that_names_the_argument(store: Any) -> None:
    anything: Any = store
    calls: dict[str, list[Callable[[], object]]] = {
        "store": [lambda: Memory(store), lambda: check(store), lambda: open_store(anything)],
        "source": [lambda: copy(store, "memory:")],
        "destination": [lambda: copy("memory:", store)],
    }
    for name, ways in calls.items():
        for way in ways:
            with pytest.raises(
                ConfigError, match=rf"^{name} must be a str, an os\.PathLike"
            ) as raised:
                way()
            assert raised.value.option == name


def test_other_arguments_of_a_wrong_type_are_told_likewise() -> None:
    anything: Any = 5
    cases: list[tuple[str, str, Callable[[], object]]] = [
        ("content", 'content must be bytes, got "x"', lambda: image_type(cast("Any", "x"))),
        ("path", "path must be a str or an os.PathLike, got 5", lambda: key_from_file(anything)),
        ("on_progress", "a function, or None, got 5", lambda: copy("a", "b", on_progress=anything)),
        ("entry", "entry must be a dict, or None, got 5", lambda: MemoryTool(entry=anything)),
        ("entry", "entry must be a dict", lambda: AsyncMemoryTool("memory:", entry=anything)),
        ("store", "AsyncMemoryTool takes", lambda: MemoryTool(cast("Any", AsyncMemory("memory:")))),
        ("store", "takes an AsyncMemory", lambda: AsyncMemoryTool(cast("Any", Memory("memory:")))),
    ]
    for name, sentence, way in cases:
        with pytest.raises(ConfigError, match=re.escape(sentence)) as raised:
            way()
        assert raised.value.option == name
        assert raised.value.kind == "config"


def test_a_store_that_cannot_be_opened_has_changed_nothing(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    for way in (
        lambda: check(missing),
        lambda: check(f"sqlite:{missing}.db"),
        lambda: Memory(missing, read_only=True),
        lambda: Memory(f"sqlite:{missing}.db", read_only=True),
        lambda: copy(missing, "memory:"),
        lambda: copy(f"dir:{missing}", "memory:"),
    ):
        with pytest.raises(StoreError) as raised:
            way()
        assert raised.value.kind == "unavailable"
    with pytest.raises(ConfigError, match='"memory:" takes nothing after it'):
        Memory("memory:notes")


def test_a_wrong_address_is_a_config_error_without_its_secrets() -> None:
    for opening in (Memory, open_store, MemoryTool):
        with pytest.raises(ConfigError) as raised:
            opening("redis://user:hunter2@host/0")
        assert isinstance(raised.value, ValueError)
        assert "hunter2" not in str(raised.value)


def test_a_directory_that_cannot_be_opened_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="opening"):
        Memory(tmp_path / "file")
