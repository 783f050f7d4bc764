"""The agent of docs/start/python.md, through the SDK's own runner."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import conversation
from standin import StandIn

import cases
import memdir

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = cases.PROJECT / "docs/start/python.md"


def test_the_agent_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGE.read_text("utf-8")
    agent = re.search(r"<!-- agent -->\n```python\n(.*?)```", page, re.DOTALL)
    printed = re.search(r"<!-- agent-printed -->\n```text\n(.*?)```", page, re.DOTALL)
    assert agent
    assert printed
    path = "/memories/allergies.md"
    note = {"command": "create", "path": path, "file_text": "- nuts\n"}
    result = f"File created successfully at: {path}"
    turns = [
        {"calls": [{"input": note, "result": result, "is_error": False}]},
        {"text": printed[1].rstrip("\n")},
    ]
    session = {"user": "Remember that I am allergic to nuts.", "turns": turns}
    talk = conversation.parse({"about": "a start", "sessions": [session]})
    monkeypatch.chdir(tmp_path)
    with StandIn(talk) as standin:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", standin.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
        names: dict[str, Any] = {}
        exec(compile(agent[1], PAGE.name, "exec"), names)
        names["client"].close()
    standin.finish()
    assert capsys.readouterr().out == printed[1]
    assert memdir.Memory("./memory").read(path) == "- nuts\n"
