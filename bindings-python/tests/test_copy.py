"""Copying from store to store."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

import memdir
from dict_store import DictStore
from memdir import CopyError, CopyProgress, StoreError, copy, open_store

if TYPE_CHECKING:
    from pathlib import Path

TREE = {"/memories/a.md": b"one\n", "/memories/dir/.hidden": bytes(range(256))}


def fill(store: memdir.Store) -> memdir.Store:
    for path, content in TREE.items():
        store.write(path, content, False)
    return store


def test_between_every_kind_of_store(tmp_path: Path) -> None:
    stores: list[str | Path | memdir.Store] = [
        fill(open_store("memory:")),
        tmp_path / "directory",
        f"sqlite:{tmp_path / 'a.db'}",
        DictStore(),
        open_store(tmp_path / "other"),
    ]
    for source, destination in itertools.pairwise(stores):
        copied = copy(source, destination, durability="relaxed")
        assert (copied.files, copied.bytes, copied.equal) == (2, 260, 0)
    last = stores[-1]
    assert isinstance(last, memdir.Store)
    assert {path: last.read(path) for path in TREE} == TREE
    assert copy(last, stores[1]).equal == 2
    files = [
        list(open_store(tmp_path / name).list("/memories/dir")) for name in ("directory", "other")
    ]
    times = [entries[0].modified for entries in files]
    assert times[0] is not None
    assert times[0] == times[1]


def test_the_history_is_copied(tmp_path: Path) -> None:
    source, destination = tmp_path / "source", f"sqlite:{tmp_path / 'a.db'}"
    memory = memdir.Memory(source, history=True)
    memory.create("/memories/a.md", "one\n")
    memory.str_replace("/memories/a.md", "one", "two")
    assert copy(source, destination).changes == 2
    copied = memdir.Memory(destination, history=True)
    assert copied.history() == memory.history()
    assert copy(source, destination).changes == 0
    copied.create("/memories/b.md", "three\n")
    memory.delete("/memories/a.md")
    with pytest.raises(CopyError, match="a history of its own") as refused:
        copy(source, destination)
    assert refused.value.paths == []
    assert copy(source, destination, without_history=True).changes is None


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for source in (tmp_path / "none", f"sqlite:{tmp_path / 'none.db'}"):
        with pytest.raises(StoreError, match="none"):
            copy(source, tmp_path / "to")
    assert list(tmp_path.iterdir()) == []


def test_what_is_in_the_way_is_named() -> None:
    source, destination = fill(open_store("memory:")), open_store("memory:")
    destination.write("/memories/a.md", b"other", False)
    with pytest.raises(CopyError, match=r"something else at /memories/a\.md") as refused:
        copy(source, destination)
    assert refused.value.paths == ["/memories/a.md"]
    assert [entry.path for entry in destination.list("/memories")] == ["/memories/a.md"]
    assert copy(source, destination, overwrite=True).files == 2


def test_progress_is_told_and_can_end_it() -> None:
    source, destination = fill(open_store("memory:")), open_store("memory:")
    told: list[tuple[str, str, int, int]] = []

    def tell(progress: CopyProgress) -> None:
        told.append((progress.phase, progress.path, progress.files, progress.of_bytes))
        if (progress.phase, progress.files) == ("copying", 1):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(source, destination, on_progress=tell)
    assert told == [
        ("comparing", "/memories/a.md", 0, 4),
        ("comparing", "/memories/dir/.hidden", 1, 260),
        ("copying", "/memories/a.md", 0, 260),
        ("copying", "/memories/dir/.hidden", 1, 260),
    ]
    copied = copy(source, destination, on_progress=lambda _: None)
    assert (copied.files, copied.equal, copied.left_out) == (1, 1, ())
