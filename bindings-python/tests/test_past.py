"""The past of a memory: searching the history, and the files at a time."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import anyio
import pytest
from slow_store import on_both

from memdir import (
    AsyncMemory,
    BlamedLine,
    ConfigError,
    HistoryError,
    HistoryMatch,
    Memory,
    PastFile,
)

if TYPE_CHECKING:
    from pathlib import Path


def now() -> datetime:
    # Ensures that no change is at the same microsecond.
    time.sleep(0.002)
    at = datetime.now(timezone.utc)
    time.sleep(0.002)
    return at


def test_the_history_is_searched_for_what_is_there_no_more() -> None:
    memory = Memory("memory:", history=True)
    memory.write("/memories/tea.md", "green tea\nblack tea\nwater\n")
    memory.str_replace("/memories/tea.md", "green tea\n", "")
    memory.write("/memories/gone/pot.md", "a Teapot\n")
    memory.delete("/memories/gone")

    found = memory.grep_history("tea", ignore_case=True)
    assert [(m.version.path, m.version.operation, m.line, m.text) for m in found] == [
        ("/memories/gone/pot.md", "created", 1, "a Teapot"),
        ("/memories/tea.md", "created", 1, "green tea"),
    ]
    version = found[1].version
    assert version == memory.history("/memories/tea.md")[1]
    assert found[1] == HistoryMatch(version, 1, "green tea")
    match found[1]:
        case HistoryMatch(_, line, text):
            assert (line, text) == (1, "green tea")
    assert memory.grep_history("tea", ignore_case=True, limit=1) == found[:1]
    assert memory.grep_history("^g", regex=True) == found[1:]
    assert memory.grep_history("tea", "/memories/tea.md") == found[1:]
    assert memory.grep_history("tea", path="/memories/none") == []
    with pytest.raises(ConfigError, match="regex: "):
        memory.grep_history("(", regex=True)
    with pytest.raises(HistoryError) as wrong:
        memory.grep_history("tea", "elsewhere")
    assert wrong.value.kind == "path"
    with pytest.raises(HistoryError) as off:
        Memory("memory:").grep_history("tea")
    assert off.value.kind == "off"


def test_the_files_of_a_time() -> None:
    memory = Memory("memory:", history=True)
    memory.write("/memories/tea.md", "green\n")
    before = now()
    memory.write("/memories/tea.md", "black tea\n")
    memory.delete("/memories/tea.md")

    (file,) = memory.files_at(before)
    assert isinstance(file, PastFile)
    assert (file.path, file.size) == ("/memories/tea.md", 6)
    assert file.version == memory.history()[-1].id
    assert file.modified is not None
    assert file.modified <= before
    assert repr(file).startswith("PastFile(path='/memories/tea.md', size=6, modified=")
    assert memory.files_at(now()) == []
    assert memory.read_at("/memories/tea.md", before) == b"green\n"
    assert memory.read_at("/memories/tea.md", now()) is None
    assert memory.read_at("/memories/other.md", before) is None
    with pytest.raises(HistoryError):
        memory.read_at("elsewhere", before)
    with pytest.raises(HistoryError) as off:
        Memory("memory:").files_at(before)
    assert off.value.kind == "off"
    with pytest.raises(ConfigError) as without_zone:
        memory.files_at(datetime.now())
    assert without_zone.value.option == "at"


def test_each_line_has_the_version_that_brought_it() -> None:
    memory = Memory("memory:", history=True)
    memory.acting_as("Ann").write("/memories/tea.md", "green\nblack\r\n")
    memory.acting_as("Ben").str_replace("/memories/tea.md", "green", "white")
    ben, ann = memory.history()
    white, black = memory.blame("/memories/tea.md")
    assert isinstance(white, BlamedLine)
    for line, version in ((white, ben), (black, ann)):
        assert (line.version, line.change) == (version.id, version.change)
        assert (line.operation, line.actor) == (version.operation, version.actor)
        assert line.time == version.time
        assert not line.may_be_older
    assert [(line.line, line.text) for line in (white, black)] == [(1, "white"), (2, "black\r")]
    assert repr(white).startswith("BlamedLine(line=1, text='white', version=")
    with pytest.raises(HistoryError) as error:
        memory.blame("/memories/none")
    assert (error.value.kind, error.value.paths) == ("no_file", ["/memories/none"])
    with pytest.raises(HistoryError):
        Memory("memory:").blame("/memories/tea.md")


def test_a_line_that_was_not_recorded_has_no_version(tmp_path: Path) -> None:
    memory = Memory(tmp_path, history=True)
    (tmp_path / "memories" / "tea.md").write_text("green\n")
    (line,) = memory.blame("/memories/tea.md")
    assert (line.version, line.change, line.operation, line.actor, line.time) == (None,) * 5
    assert line.may_be_older
    (tmp_path / "memories" / "tea.md").write_bytes(b"\xff")
    with pytest.raises(HistoryError) as error:
        memory.blame("/memories/tea.md")
    assert error.value.kind == "not_text"


@on_both
def test_with_await(backend: str) -> None:
    async def run() -> None:
        async with AsyncMemory("memory:", history=True) as memory:
            await memory.write("/memories/tea.md", "green\n")
            before = now()
            await memory.write("/memories/tea.md", "black\n")
            found = await memory.grep_history("green", "/memories", ignore_case=True, limit=5)
            assert [match.line for match in found] == [1]
            assert [file.path for file in await memory.files_at(before)] == ["/memories/tea.md"]
            assert await memory.read_at("/memories/tea.md", before) == b"green\n"
            assert [line.text for line in await memory.blame("/memories/tea.md")] == ["black"]
            history = (await memory.stats()).history
            assert history is not None
            assert history.versions == 2

    anyio.run(run, backend=backend)


def test_a_part_of_an_id_is_resolved() -> None:
    memory = Memory("memory:", history=True)
    memory.write("/memories/tea.md", "green\n")
    memory.write("/memories/tea.md", "black\n")
    version = memory.history()[0]
    assert memory.resolve_id(version.id) == version.id
    assert memory.resolve_id(version.id[-12:].upper()) == version.id
    for part, kind in [
        (version.id[:6], "ambiguous"),
        ("01990a3c-7c00-7123-8456-789abc000000", "unknown"),
        ("tea", "no_id"),
    ]:
        with pytest.raises(HistoryError) as wrong:
            memory.resolve_id(part)
        assert wrong.value.kind == kind
    with pytest.raises(HistoryError) as off:
        Memory("memory:").resolve_id(version.id)
    assert off.value.kind == "off"


def test_the_history_is_exported_for_git() -> None:
    memory = Memory("memory:", history=True, actor="ann")
    memory.write("/memories/tea.md", "green\n")
    stream = memory.export_history()
    assert stream.startswith(b"feature done\n")
    assert stream.endswith(b"done\n")
    assert b"committer ann <>" in stream
    assert stream == memory.export_history()
    with pytest.raises(HistoryError) as off:
        Memory("memory:").export_history()
    assert off.value.kind == "off"


def test_an_event_loop_asks_for_the_same() -> None:
    async def ask() -> None:
        async with AsyncMemory("memory:", history=True, sensitive_on_view=True) as memory:
            await memory.write("/memories/tea.md", "green\n")
            (version,) = await memory.history()
            assert await memory.resolve_id(version.id[:13]) == version.id
            assert b"green\n" in await memory.export_history()
            assert await memory.read_shown("/memories/tea.md") == "green\n"

    anyio.run(ask)
