"""The page about moving from the memory of deepagents, and the function that it quotes."""

from __future__ import annotations

import re
import sys
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

PAGE = "docs/migrate/deepagents.md"


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """`deepagents_files` is in the reader's directory."""
    monkeypatch.syspath_prepend(str(pages.ROOT / "examples" / "migrate"))
    monkeypatch.delitem(sys.modules, "deepagents_files", raising=False)


def block(mark: str) -> str:
    text = (pages.ROOT / PAGE).read_text("utf-8")
    [code] = re.findall(rf"<!-- {mark} -->\n```python\n(.*?)```", text, re.DOTALL)
    return str(code)


def defined(*marks: str, **names: Any) -> dict[str, Any]:
    for mark in marks:
        exec(compile(block(mark), f"{PAGE}: {mark}", "exec"), names)
    return names


def ask(serve: Serve, names: dict[str, Any], **options: Any) -> ModelServer:
    """An agent with the backend of the page reads a file and writes another one."""
    from deepagents import create_deep_agent

    note = {"file_path": "/memories/old.md"}
    written = {"file_path": "/memories/new.md", "content": "new\n"}
    with serve([("read_file", note)], [("write_file", written)]) as server:
        agent = create_deep_agent(model="anthropic:claude-sonnet-5-5", backend=names["backend"], **options)
        agent.invoke({"messages": [{"role": "user", "content": runs.QUESTION}]})
    return server


def test_the_directory_of_a_filesystem_backend_is_used_unchanged(serve: Serve, directory: Path) -> None:
    notes = directory / "notes"
    notes.mkdir()
    (notes / "old.md").write_text("old\n")
    for mark in ("before", "after", "before"):
        (notes / "new.md").unlink(missing_ok=True)
        [read, _] = ask(serve, defined(mark)).finish()
        assert "old" in read.text
        assert (notes / "new.md").read_text() == "new\n"
    assert {path.name for path in notes.iterdir()} == {"old.md", "new.md"}


def test_a_filesystem_backend_for_all_files(directory: Path) -> None:
    from deepagents.backends import FilesystemBackend

    FilesystemBackend(root_dir="./agent", virtual_mode=True).write("/memories/tea.md", "green\n")
    assert memdir.Memory("./agent").read("/memories/tea.md") == "green\n"


def test_the_files_of_a_store_are_copied_in_both_directions(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    from deepagents.backends import CompositeBackend, StateBackend, StoreBackend
    from langgraph.store.memory import InMemoryStore

    store = InMemoryStore()
    old = StoreBackend(store=store, namespace=lambda _: ("ann", "filesystem"))
    # An agent has written the files.
    routes = {"/memories/": old}
    ask(serve, {"backend": CompositeBackend(default=StateBackend(), routes=routes)})
    old.write("/team/plan.md", "1. Begin.\n")
    old.upload_files([("/data.bin", b"\xff\x00")])
    other = StoreBackend(store=store, namespace=lambda _: ("ben", "filesystem"))
    other.write("/secret.md", "of Ben\n")

    # The page makes an empty store, where a reader has one.
    code = block("store").replace("InMemoryStore()  #", "given  #")
    names: dict[str, Any] = {"given": store}
    exec(compile(code, PAGE, "exec"), names)
    assert capsys.readouterr().out == "not copied: ['/data.bin']\n"
    memory = memdir.Memory("./memory")
    assert {entry.path for entry in memory.list(depth=None) if not entry.is_directory} == {
        "/memories/new.md",
        "/memories/picture.png",  # was there before
        "/memories/team/plan.md",
    }
    assert memory.read("/memories/team/plan.md") == "1. Begin.\n"

    memory.delete("/memories/picture.png")
    memory.str_replace("/memories/team/plan.md", "Begin", "End")
    exec(compile(block("back"), PAGE, "exec"), names)
    assert capsys.readouterr().out == "not copied: []\n"
    read = old.read("/team/plan.md").file_data
    assert read is not None
    assert read["content"] == "1. End.\n"


def test_agents_md_is_loaded_from_the_memory(serve: Serve, directory: Path) -> None:
    (directory / "notes").mkdir()
    (directory / "notes" / "AGENTS.md").write_text("Always answer in Portuguese.\n")
    (directory / "notes" / "old.md").write_text("old\n")
    names = defined("after")
    assert isinstance(names["notes"], MemoryBackend)
    server = ask(serve, names, memory=["/memories/AGENTS.md"])
    assert "Always answer in Portuguese." in str(server.requests[0])
