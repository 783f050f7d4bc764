"""A chat of several turns, ``examples/python/chat.py``, against a stand-in for the API."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import anthropic
import pytest

import chat
from memdir import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

TEA = "/memories/tea.md"
COMMANDS: list[Any] = [
    {"command": "create", "path": TEA, "file_text": "- green\n"},
    {"command": "view", "path": TEA},
    {"command": "str_replace", "path": TEA, "old_str": "green", "new_str": "black"},
]


class StandIn:
    """Answers with these contents, one after the other, and keeps the requests."""

    def __init__(self) -> None:
        self.contents: list[Any] = []
        self.requests: list[Any] = []


@pytest.fixture
def api() -> Iterator[tuple[StandIn, anthropic.Anthropic]]:
    standin = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            standin.requests.append(json.loads(body))
            if not standin.contents:
                return self.answer(400, {"type": "error", "error": {"message": "out of order"}})
            content = standin.contents.pop(0)
            reason = "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
            message = {"type": "message", "role": "assistant", "content": content}
            return self.answer(200, {**message, "stop_reason": reason, "usage": {}})

        def answer(self, status: int, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        address = f"http://127.0.0.1:{server.server_port}"
        with anthropic.Anthropic(base_url=address, api_key="none") as client:
            yield standin, client
        server.shutdown()


def call(number: int) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": "memory"}
    return {**block, "input": COMMANDS[number]}


def roles(request: Any) -> list[str]:
    return [message["role"] for message in request["messages"]]


def test_a_chat_keeps_its_messages_between_turns(
    api: tuple[StandIn, anthropic.Anthropic],
) -> None:
    standin, client = api
    memory = Memory("memory:", history=True)
    conversation = chat.Chat(client, memory)
    standin.contents += [[call(0)], [{"type": "text", "text": "Noted."}]]
    assert conversation.say("I like green tea.") == "Noted."
    # A request of the API fails in the middle of the second turn.
    standin.contents += [[call(1)]]
    with pytest.raises(anthropic.APIStatusError):
        conversation.say("I like black tea better.")
    standin.requests.clear()
    standin.contents += [[call(1), call(2)], [{"type": "text", "text": "Changed."}]]
    assert conversation.say("I like black tea better.") == "Changed."
    assert memory.read(TEA) == "- black\n"
    assert [version.operation for version in memory.history()] == ["modified", "created"]

    # The first request of a turn has all messages of the earlier ones, and not of the failed turn.
    first, last = standin.requests
    assert roles(first) == ["user", "assistant", "user", "assistant", "user"]
    assert first["messages"][2]["content"][0]["tool_use_id"] == "toolu_0"
    results = last["messages"][-1]["content"]
    assert [result["tool_use_id"] for result in results] == ["toolu_1", "toolu_2"]
    standin.contents += [[{"type": "text", "text": "You like black tea."}]]
    assert conversation.say("Which tea do I like?") == "You like black tea."
    assert roles(standin.requests[-1]) == ["user", "assistant"] * 4 + ["user"]
