"""The code on the page about stores of one's own is that of the examples, which are tested."""

from __future__ import annotations

import re

import pytest

import cases

PAGE = cases.PROJECT / "docs" / "stores.md"
QUOTED = re.compile(r"<!-- from (\S+) -->\n```\w+\n(.*?)\n```", re.DOTALL)
LINK = re.compile(r"\]\((\.\./[^)#]+)(?:#[^)]*)?\)")


def plain(code: str) -> str:
    """Without what a comment puts before each line."""
    return re.sub(r"^ \* ?", "", code, flags=re.MULTILINE)


@pytest.mark.parametrize(("file", "code"), QUOTED.findall(PAGE.read_text("utf-8")))
def test_what_is_quoted_stands_there(file: str, code: str) -> None:
    assert code in plain((cases.PROJECT / file).read_text("utf-8"))


def test_every_language_is_quoted_and_every_file_is_there() -> None:
    page = PAGE.read_text("utf-8")
    files = {file for file, _ in QUOTED.findall(page)}
    assert {file.rpartition(".")[2] for file in files} == {"py", "ts", "kt", "swift", "rs"}
    for link in LINK.findall(page):
        assert (PAGE.parent / link).exists(), link
