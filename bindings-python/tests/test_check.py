"""`check`: verifies a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dict_store import DictStore
from memdir import Memory, StoreError, check, open_store

if TYPE_CHECKING:
    from pathlib import Path


def test_check_reads_every_file_and_names_what_is_wrong(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.create("/memories/a/b.md", "tea")
    checked = check(tmp_path)
    assert (checked.directories, checked.files, checked.bytes, checked.problems) == (2, 1, 3, ())
    (tmp_path / "memories" / "link").symlink_to("/etc")
    (problem,) = check(open_store(tmp_path)).problems
    assert (problem.kind, problem.path, problem.is_beside) == ("link", "/memories/link", True)
    assert str(problem) == problem.description
    assert problem.description == "/memories/link is a symbolic link, which is never followed"


def test_check_of_a_store_in_python_and_of_none(tmp_path: Path) -> None:
    assert check(DictStore()).files == 0
    with pytest.raises(StoreError):
        check(tmp_path / "none")
