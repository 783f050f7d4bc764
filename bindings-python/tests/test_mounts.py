"""Several stores mounted into one tree, and stores that are read-only."""

from __future__ import annotations

import doctest
import errno
import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.lib.tools import ToolError

import cases
from dict_store import DictStore
from memdir import (
    AsyncMemoryTool,
    ConfigError,
    Memory,
    MemoryTool,
    RefusedError,
    StoreError,
    open_store,
    read_only,
)

if TYPE_CHECKING:
    from memdir._options import Place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a handbook in `docs`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "style.md").write_text("Be brief.\n", encoding="utf-8")
    return tmp_path


def on_disk(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*")}


@pytest.mark.usefixtures("place")
def test_the_page() -> None:
    page = (cases.PROJECT / "docs" / "stores" / "mounts.md").read_text(encoding="utf-8")
    example = doctest.DocTestParser().get_doctest(page, {}, "mounts.md", None, 0)
    assert len(example.examples) > 5
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(example, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_stores_of_every_kind(place: Path) -> None:
    own = DictStore()
    shared = open_store("memory:")
    tool = MemoryTool(
        {
            "/memories": "./memory",
            "/memories/db": "sqlite:a.db",
            "/memories/docs": place / "docs",
            "/memories/docs/own": own,
            "/memories/shared": read_only(shared),
        }
    )
    assert tool.base_path is None
    assert tool.memory_root is None
    shared.write("/memories/s.md", b"s", overwrite=False)
    for path in ["a.md", "db/b.md", "docs/c.md", "docs/own/d.md"]:
        tool.call({"command": "create", "path": f"/memories/{path}", "file_text": path})
    assert (place / "memory" / "memories" / "a.md").read_text(encoding="utf-8") == "a.md"
    assert (place / "docs" / "c.md").read_text(encoding="utf-8") == "docs/c.md"
    assert own.read("/memories/d.md") == b"docs/own/d.md"
    tool.call(
        {"command": "rename", "old_path": "/memories/docs/own/d.md", "new_path": "/memories/db/d"}
    )
    assert str(tool.call({"command": "view", "path": "/memories"})).splitlines()[1:] == [
        "4.0K\t/memories",
        "4B\t/memories/a.md",
        "4.0K\t/memories/db",
        "7B\t/memories/db/b.md",
        "13B\t/memories/db/d",
        "4.0K\t/memories/docs",
        "9B\t/memories/docs/c.md",
        "4.0K\t/memories/docs/own",
        "10B\t/memories/docs/style.md",
        "4.0K\t/memories/shared",
        "1B\t/memories/shared/s.md",
    ]
    for command in [
        {"command": "delete", "path": "/memories/shared/s.md"},
        {"command": "delete", "path": "/memories/docs"},
    ]:
        with pytest.raises(ToolError, match=r"read-only|fixed directory"):
            tool.call(command)
    tool.clear_all_memory()
    assert shared.read("/memories/s.md") == b"s"
    assert on_disk(place / "docs") == set()


def test_conditions_of_mounts_are_those_of_a_file_system() -> None:
    store = open_store({"/memories": "memory:", "/memories/a/b": read_only("memory:")})
    for path, number in [("/memories/a", errno.EBUSY), ("/memories/a/b/c", errno.EROFS)]:
        with pytest.raises(OSError, match=path) as raised:
            store.delete(path)
        assert raised.value.errno == number
    with pytest.raises(IsADirectoryError):
        store.read("/memories/a")
    assert [entry.path for entry in store.list("/memories")] == ["/memories/a"]

    class Refusing(DictStore):
        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

        def delete(self, path: str) -> None:
            raise OSError(self.number, "no", path)

    with pytest.raises(RefusedError, match=r"^Error: /memories/a is read-only"):
        Memory(Refusing(errno.EROFS)).delete("/memories/a")
    # Only a store of memdir says by this number that the path is a mount point.
    with pytest.raises(StoreError):
        Memory(Refusing(errno.EBUSY)).delete("/memories/a")


def test_what_cannot_be_mounted() -> None:
    for mounts, problem in [
        ({}, 'no store is mounted at "/memories"'),
        ({"/memories/a": "memory:"}, 'no store is mounted at "/memories"'),
        ({"/memories": "memory:", "/memories/": "memory:"}, "two stores are to be mounted"),
        ({"/memories": "memory:", "/tmp/a": "memory:"}, "a store cannot be mounted at"),
        ({"/memories": "nowhere:a"}, '"nowhere:" is not known'),
    ]:
        with pytest.raises(ConfigError, match=problem):
            Memory(mounts)
    for wrong, sentence in [
        ({"/memories": {}}, "a str, an os.PathLike or a memdir.Store, got a dict"),
        ({1: "memory:"}, "store: a mount point must be a str, got 1"),
        (1, "store must be a str, an os.PathLike, a memdir.Store or a dict, got 1"),
    ]:
        anything: Any = wrong
        with pytest.raises(ConfigError, match=re.escape(sentence)) as raised:
            Memory(anything)
        assert raised.value.option == "store"


def test_any_mapping_will_do() -> None:
    memory = Memory(MappingProxyType({"/memories": "memory:", "/memories/a": "memory:"}))
    assert str(memory.view("/memories")).endswith("\n4.0K\t/memories/a")


def test_read_only_changes_nothing(place: Path) -> None:
    before = on_disk(place)
    for missing in ["./none", "dir:./none", "sqlite:none.db"]:
        with pytest.raises(StoreError):
            Memory(missing, read_only=True)
        with pytest.raises(StoreError):
            Memory(read_only(missing))
        with pytest.raises(StoreError):
            open_store(missing, read_only=True)
    stores: list[Place] = ["dir:./docs", read_only("dir:./docs"), open_store("dir:./docs")]
    for store in stores:
        memory = Memory(store, read_only=True)
        with pytest.raises(RefusedError, match="is read-only"):
            memory.create("/memories/a.md", "a")
        assert str(memory.view("/memories")).endswith("\n10B\t/memories/style.md")
    assert on_disk(place) == before


def test_where_the_files_are(place: Path) -> None:
    for tool, base, root in [
        (MemoryTool("memory"), Path("memory"), Path("memory/memories")),
        (MemoryTool("dir:docs"), place / "docs", place / "docs"),
        (MemoryTool(open_store("dir:docs")), place / "docs", place / "docs"),
        (MemoryTool(read_only("memory")), place / "memory", place / "memory" / "memories"),
        (AsyncMemoryTool("dir:docs", read_only=True), place / "docs", place / "docs"),
    ]:
        assert tool.base_path == base
        assert tool.memory_root == root


def test_a_tilde_is_the_home_directory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place))
    for tool in [MemoryTool("~/memory"), MemoryTool(Path("~/memory"))]:
        assert tool.base_path == place / "memory"
        assert tool.memory_root == place / "memory" / "memories"
        assert tool.memory_root.is_dir()
    assert not Path("~").exists()


def test_an_address_is_not_repeated() -> None:
    assert "secret" not in repr(read_only("postgres://user:secret@host/db"))


def test_each_store_keeps_the_history_of_its_own_files(place: Path) -> None:
    tree = Memory({"/memories": "memory", "/memories/team": "sqlite:team.db"}, history=True)
    tree.create("/memories/a.md", "one")
    tree.create("/memories/team/b.md", "two")
    tree.rename("/memories/team/b.md", "/memories/c.md")
    assert [version.path for version in tree.history()][-2:] == [
        "/memories/team/b.md",
        "/memories/a.md",
    ]
    team = Memory("sqlite:team.db", history=True)
    told = [(version.operation, version.path) for version in team.history()]
    assert told == [("deleted", "/memories/b.md"), ("created", "/memories/b.md")]
    moved = tree.history(limit=1)[0].change
    assert {version.path for version in tree.history(change=moved)} == {
        "/memories/team/b.md",
        "/memories/c.md",
    }
    tree.undo(moved)
    assert team.read("/memories/b.md") == "two"
    assert not (place / "memory/memories/.memdir-history").exists()
