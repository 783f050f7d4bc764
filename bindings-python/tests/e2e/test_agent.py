"""Tests of an agent, as docs/guides/testing.md explains them. The page quotes this file."""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from anthropic import Anthropic

from memdir import Memory, MemoryTool, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

TEA = "/memories/tea.md"


# Blocks of a real conversation, as the API sent them.
LOOK = {
    "type": "tool_use",
    "id": "toolu_1",
    "name": "memory",
    "input": {"command": "view", "path": TEA},
}
EDIT = {
    "type": "tool_use",
    "id": "toolu_2",
    "name": "memory",
    "input": {"command": "str_replace", "path": TEA, "old_str": "green", "new_str": "black"},
}


@pytest.fixture
def memory() -> Memory:
    """A new memory with one file."""
    memory = Memory("memory:", history=True)
    memory.write(TEA, "- green\n")
    return memory


def test_a_preference_is_corrected(memory: Memory) -> None:
    for block in (LOOK, EDIT):
        reply = memory.execute(block)
        assert not reply.is_error, reply.content

    assert memory.read(TEA) == "- black\n"
    versions = [(version.operation, version.path) for version in memory.history()]
    assert versions == [("modified", TEA), ("created", TEA)]


def test_an_existing_file_is_not_replaced(memory: Memory) -> None:
    reply = memory.execute({"command": "create", "path": TEA, "file_text": "- none\n"})
    assert reply.kind == "exists"
    assert memory.read(TEA) == "- green\n"


def test_nothing_is_saved_while_the_reviewer_is_away() -> None:
    def before(command: Any) -> None:
        raise TimeoutError("the reviewer does not answer")

    memory = Memory("memory:", before=before)
    reply = memory.execute({"command": "create", "path": TEA, "file_text": "- green\n"})
    assert reply.kind == "hook_failed"
    assert not memory.exists(TEA)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """A stand-in for the API. It answers with the contents in this list, one after the other."""
    contents: list[Any] = []

    class StandIn(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            message = {"type": "message", "role": "assistant", "content": contents.pop(0)}
            reason = "tool_use" if contents else "end_turn"
            body = json.dumps({**message, "stop_reason": reason, "usage": {}}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), StandIn) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        yield contents
        server.shutdown()


def agent(memory: Memory, message: str) -> str:
    """Stands for the agent of your program."""
    with Anthropic() as client:
        runner = client.beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=2048,
            messages=[{"role": "user", "content": message}],
            tools=[MemoryTool(memory)],
        )
        return "".join(block.text for block in runner.until_done().content if block.type == "text")


def test_a_whole_conversation(memory: Memory, answers: list[Any]) -> None:
    answers += [[LOOK], [EDIT], [{"type": "text", "text": "Noted."}]]
    assert agent(memory, "I like black tea better.") == "Noted."
    assert memory.read(TEA) == "- black\n"


def test_an_unused_note_expires() -> None:
    store = open_store("memory:")
    memory = Memory(store, record_access=True)
    memory.write(TEA, "- green\n")
    store.set_modified(TEA, datetime.now(timezone.utc) - timedelta(days=100))
    assert [file.path for file in memory.expire(timedelta(days=90))] == [TEA]
