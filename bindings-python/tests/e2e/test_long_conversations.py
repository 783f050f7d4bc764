"""The examples of the page about long conversations, through the SDK's own runner."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from standin import StandIn

import cases
import memdir

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from conversation import Conversation

PAGE = cases.PROJECT / "docs" / "long-conversations.md"
MADE = ["/memories/progress.md", "/memories/features.md", "/memories/init.md"]


def test_the_examples_of_the_page(
    script: Callable[..., Conversation],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    editing, laying_out = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
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
        (edit,) = request["body"]["context_management"]["edits"]
        assert edit["type"] == "clear_tool_uses_20250919"
        assert edit["exclude_tools"] == ["memory"]
        assert edit["trigger"] == {"type": "input_tokens", "value": 50_000}
