"""deepagents, whose own file tools use a memory."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("deepagents")

import memdir
import pages
import runs
from memdir.integrations.deepagents import MemoryBackend

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from model_server import ModelServer

    Serve = Callable[..., ModelServer]
    Record = Callable[..., None]

NAME = ("deepagents", "deepagents")
ASKED = {"messages": [{"role": "user", "content": runs.QUESTION}]}
NOTE = {"file_path": runs.NOTE}
TURNS: list[list[tuple[str, dict[str, Any]]]] = [
    [("read_file", NOTE), ("write_file", {**NOTE, "content": "one\ntwo\none\n"})],
    [("read_file", NOTE), ("edit_file", {**NOTE, "old_string": "two", "new_string": "2"})],
    [("edit_file", {**NOTE, "old_string": "one", "new_string": "1"})],
    [("edit_file", {**NOTE, "old_string": "one", "new_string": "1", "replace_all": True})],
    [("ls", {"path": "/memories"}), ("glob", {"pattern": "*.md"})],
    [("grep", {"pattern": "2", "output_mode": "content"})],
    [("write_file", {"file_path": "/memories/old/a.md", "content": "old"})],
    [("delete", {"file_path": "/memories/old"}), ("delete", {"file_path": "/memories/none"})],
    [("write_file", {"file_path": "/scratch.md", "content": "for this conversation"})],
]
REPLIES = [
    (f"Error: The path {runs.NOTE} does not exist. Please provide a valid path.", True),
    (f"Updated file {runs.NOTE}", False),
    ("@@ lines 1-3 of 3 @@\none\ntwo\none", False),
    (f"Successfully replaced 1 instance(s) of the string in '{runs.NOTE}'", False),
    ("Error: String 'one' appears 2 times in file. ", True),
    (f"Successfully replaced 2 instance(s) of the string in '{runs.NOTE}'", False),
    (f"['/memories/picture.png', '{runs.NOTE}']", False),
    (f"['{runs.NOTE}']", False),
    (f"{runs.NOTE}:\n  2: 2", False),
    ("Updated file /memories/old/a.md", False),
    ("", False),
    ("", True),
    ("Updated file /scratch.md", False),
]


def check(server: ModelServer, directory: Path) -> None:
    results = server.finish()
    for result, (text, is_error) in zip(results, REPLIES, strict=True):
        assert (text in result.text, result.is_error) == (True, is_error), result
    files = [file for file in (directory / "memory").rglob("*") if file.is_file()]
    assert {file.name for file in files} == {"picture.png", "today.md"}
    assert (directory / "memory/memories/today.md").read_text() == "1\n2\n1\n"


def test_the_example_of_the_page(serve: Serve, record: Record, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(*TURNS) as server:
        pages.run("deepagents")
    assert capsys.readouterr().out == "Done.\n"
    check(server, directory)
    record(*NAME, sync=True, errors=True, tool="its file tools")


def test_a_memory_per_user(serve: Serve) -> None:
    def agent_of(user: str) -> Any:
        return pages.of_users("deepagents", "agent")["agent_of"](user)

    runs.check_users(
        serve,
        lambda user: agent_of(user).invoke(ASKED),
        lambda user: ("write_file", {**NOTE, "content": user}),
        f"Updated file {runs.NOTE}",
    )


def test_async(serve: Serve, record: Record, directory: Path) -> None:
    with serve(*TURNS) as server:
        reply = asyncio.run(pages.prepare("deepagents", "agent")["agent"].ainvoke(ASKED))
    assert reply["messages"][-1].text == "Done."
    check(server, directory)
    record(*NAME, **{"async": True})


def test_streaming(serve: Serve, record: Record, directory: Path) -> None:
    with serve(*TURNS) as server:
        agent = pages.prepare("deepagents", "agent")["agent"]
        parts: list[Any] = list(agent.stream(ASKED, stream_mode="messages"))
    assert sum(message.type == "tool" for message, _ in parts) == len(REPLIES)
    check(server, directory)
    assert server.streamed == {True}
    record(*NAME, streaming=True)


def test_an_image(serve: Serve, record: Record, directory: Path) -> None:
    with serve([("read_file", {"file_path": "/memories/picture.png"})]) as server:
        pages.prepare("deepagents", "agent")["agent"].invoke(ASKED)
    assert runs.check_image(server, directory)
    record(*NAME, images=True)


# --- the backend itself ---------------------------------------------------------------------------


@pytest.fixture
def backend() -> MemoryBackend:
    return MemoryBackend(memdir.Memory("memory:"))


def test_it_has_the_interface_of_the_other_backends(backend: MemoryBackend) -> None:
    assert backend.write("/a/note.md", "one\n").path == "/a/note.md"
    assert backend.write("/a/note.md", "two\n").error is None
    read = backend.read("/a/note.md")
    assert read.file_data is not None
    assert (read.file_data["content"], read.file_data["encoding"]) == ("two\n", "utf-8")
    assert (read.start_line, read.end_line, read.total_lines) == (1, 1, 1)
    listed = backend.ls("/")
    assert listed.entries is not None
    assert [(entry["path"], entry["is_dir"]) for entry in listed.entries] == [("/a/", True)]
    assert backend.edit("/a/note.md", "two", "2").occurrences == 1
    assert backend.upload_files([("/b.md", b"b"), ("/c.bin", b"\xff")])[0].error is None
    assert backend.upload_files([("/c.bin", b"\xff")])[0].error == "Error: /c.bin is not a text"
    [there, missing] = backend.download_files(["/a/note.md", "/none"])
    assert (there.content, missing.content) == (b"2\n", None)
    assert missing.error is not None
    assert backend.delete("/a").path == "/a"
    assert backend.read("/a/note.md").error is not None


def test_a_memory_with_await_is_the_same() -> None:
    memory = memdir.AsyncMemory("memory:")
    assert asyncio.run(MemoryBackend(memory).awrite("/a.md", "a\n")).path == "/a.md"
    assert "a.md" in str(asyncio.run(memory.view("/memories")))


def test_windows_of_lines(backend: MemoryBackend) -> None:
    backend.write("/a.md", "".join(f"{n}\n" for n in range(10)))
    window = backend.read("/a.md", offset=3, limit=2)
    assert window.file_data is not None
    assert (window.file_data["content"], window.next_offset) == ("3\n4\n", 5)
    assert backend.read("/a.md", offset=-1, limit=0).no_lines_requested
    assert backend.read("/a.md", offset=99).error is not None


def test_grep_and_glob(backend: MemoryBackend) -> None:
    for path in ("/a.md", "/b/c.md", "/b/d.txt", "/needle.md"):
        backend.write(path, "hay\nneedle.*\nneedle\n")
    found = backend.grep("needle.*")
    assert found.matches is not None
    assert [(match["path"], match["line"]) for match in found.matches] == [
        ("/a.md", 2),
        ("/b/c.md", 2),
        ("/b/d.txt", 2),
        ("/needle.md", 2),
    ]
    some = backend.grep("needle", path="/b", glob="*.md", max_count=1)
    assert some.matches is not None
    assert ([match["path"] for match in some.matches], some.truncated) == (["/b/c.md"], True)
    for pattern, root, wanted in [
        ("*.md", None, ["/a.md", "/b/c.md", "/needle.md"]),
        ("/*.md", "/", ["/a.md", "/needle.md"]),
        ("b/**/*.txt", "/", ["/b/d.txt"]),
        ("*", "/b", ["/b/c.md", "/b/d.txt"]),
        ("/*.md", "/b/", ["/b/c.md"]),
    ]:
        matched = backend.glob(pattern, root).matches
        assert matched is not None
        assert sorted(entry["path"] for entry in matched) == wanted
    assert backend.glob("../*").error is not None
    assert backend.grep("x", glob="../*").error is not None


@pytest.mark.parametrize("path", ["/../x", "/a/../../../etc/passwd", "/..", "/%2e%2e/x", "/a\0b"])
def test_no_path_leads_out(backend: MemoryBackend, path: str) -> None:
    assert backend.read(path).error is not None
    assert backend.write(path, "x").error is not None
    assert backend.edit(path, "a", "b").error is not None
    assert backend.delete(path).error is not None
    assert backend.ls(path).error is not None


def test_the_whole_memory_cannot_be_deleted(backend: MemoryBackend) -> None:
    backend.write("/a.md", "a")
    assert backend.delete("/").error == "Cannot delete the /memories directory itself"
    assert backend.read("/a.md").error is None


def test_policies_hold() -> None:
    memory = memdir.Memory("memory:", read_only=True)
    refused = MemoryBackend(memory).write("/a.md", "x")
    assert refused.error is not None
    assert "read-only" in refused.error


def test_no_edit_is_lost(backend: MemoryBackend) -> None:
    backend.write("/list.md", "".join(f"<{n}>\n" for n in range(8)))

    def edit(n: int) -> int | None:
        return backend.edit("/list.md", f"<{n}>", f"done {n}").occurrences

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(edit, range(8))) == [1] * 8
    read = backend.read("/list.md").file_data
    assert read is not None
    assert read["content"] == "".join(f"done {n}\n" for n in range(8))


def test_a_broken_store_reveals_nothing(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    class Broken(memdir.Store):
        def _fail(self, *_: Any, **__: Any) -> Any:
            raise OSError("/srv/secret")

        read = write = list = update = rename = delete = clear = _fail

    backend = MemoryBackend(memdir.Memory(Broken()))
    out_of_reach = "Error: The memory directory cannot be reached at the moment. "
    assert backend.read("/a.md").error == out_of_reach + "Try again later."
    unknown = "The change may or may not have been saved: view the path before trying again."
    assert backend.write("/a.md", "x").error == out_of_reach + unknown
    assert "/srv/secret" in caplog.text
