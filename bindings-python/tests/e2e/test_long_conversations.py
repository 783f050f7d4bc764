"""The examples of the page about long conversations, through the SDK's own runner."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from standin import StandIn

import cases
import memdir

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conversation import Conversation

PAGE = cases.PROJECT / "docs" / "guides" / "long-conversations.md"
# A block after a comment is quoted from a file, which has a test of its own.
EXAMPLES = re.findall(r"(?<!-->)\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
MADE = ["/memories/progress.md", "/memories/features.md", "/memories/init.md"]


def test_the_examples_of_the_page(
    script: Callable[..., Conversation],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    editing, laying_out = EXAMPLES
    monkeypatch.chdir(tmp_path)
    exec(compile(laying_out, PAGE.name, "exec"), {})
    assert capsys.readouterr().out == f"{MADE}\n"
    features = {"command": "view", "path": "/memories/features.md"}
    shown = memdir.Memory("./memory").execute(features).content
    assert "- [ ] a basket" in shown

    talk = script([(features, shown, False)], user="Go on with the shop.")
    with StandIn(talk) as standin:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", standin.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
        names: dict[str, Any] = {}
        exec(compile(editing, PAGE.name, "exec"), names)
        names["client"].close()
    standin.finish()
    for request in standin.requests:
        assert memdir.CONTEXT_MANAGEMENT_BETA in request["headers"]["anthropic-beta"]
        clear, compact = request["body"]["context_management"]["edits"]
        assert clear["type"] == "clear_tool_uses_20250919"
        assert clear["exclude_tools"] == ["memory"]
        assert clear["trigger"] == {"type": "input_tokens", "value": 50_000}
        assert compact["trigger"] == {"type": "input_tokens", "value": 150_000}


LIST = "/memories/list.md"
VIEW = {"command": "view", "path": LIST}
CHANGED = "has changed since"
COMPACTED = "may no longer be in this conversation"


def insert(text: str) -> dict[str, Any]:
    return {"command": "insert", "path": LIST, "insert_line": 0, "insert_text": text}


@pytest.mark.parametrize("guard", ["on", "strict"])
def test_the_example_guards_each_edit_and_lets_those_through_that_are_based_on_a_view(
    guard: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Context editing is applied in every answer, and the conversation is compacted once."""
    [example, _] = EXAMPLES
    example = example.replace('stale_guard="on"', f'stale_guard="{guard}"')
    assert f'stale_guard="{guard}"' in example
    another = memdir.Memory(tmp_path / "memory")
    another.create(LIST, "milk\n")
    compaction = {"type": "compaction", "content": "A list is kept."}
    turns: list[tuple[dict[str, Any], str, list[dict[str, Any]]]] = [
        (VIEW, "milk", []),
        # Another agent writes first.
        (insert("bread"), CHANGED, []),
        (VIEW, "tea", []),
        (insert("bread"), "has been edited", []),
        (insert("salt"), COMPACTED, [compaction]),
        (VIEW, "bread", []),
        (insert("salt"), "has been edited", []),
    ]
    results: list[str] = []

    class Api(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = asked["messages"][-1]["content"]
            if isinstance(said, list):
                results.extend(str(block["content"]) for block in said)
            number = len(results)
            if number == 1:
                another.insert(LIST, 0, "tea")
            content: list[dict[str, Any]] = [{"type": "text", "text": "Done."}]
            if number < len(turns):
                call = {"type": "tool_use", "id": f"toolu_{number}", "name": "memory"}
                content = [*turns[number][2], {**call, "input": turns[number][0]}]
            applied = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1}
            answer = {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": asked["model"],
                "content": content,
                "stop_reason": "tool_use" if number < len(turns) else "end_turn",
                "usage": {"input_tokens": 1, "output_tokens": 1},
                "context_management": {
                    "applied_edits": [{**applied, "cleared_input_tokens": 60_000}]
                },
            }
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Prints nothing on standard error."""

    monkeypatch.chdir(tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
        names: dict[str, Any] = {}
        exec(compile(example, PAGE.name, "exec"), names)
        names["client"].close()
        server.shutdown()
    assert len(results) == len(turns)
    for result, (_, expected, _) in zip(results, turns, strict=True):
        assert expected in result
    assert another.read(LIST) == "salt\nbread\ntea\nmilk\n"
