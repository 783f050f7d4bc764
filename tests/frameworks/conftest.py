"""Helpers for the tests of all frameworks: a separate directory and settings, and a record of the results."""

from __future__ import annotations

import datetime
import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from model_server import ModelServer
from pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cf500f0003030101"
    "e221bc330000000049454e44ae426082"
)
# The only directory that the tests may write to; `tests/frameworks/table` reads it.
RESULTS = ROOT / "target" / "frameworks" / "python"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory in which the example runs, with a memory that contains an image."""
    (tmp_path / "memory" / "memories").mkdir(parents=True)
    (tmp_path / "memory" / "memories" / "picture.png").write_bytes(PNG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    # No data is sent to other services.
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "OPENAI_AGENTS_DISABLE_TRACING"):
        monkeypatch.setenv(name, "true" if name.startswith("OPENAI") else "false")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    return tmp_path


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModelServer]:
    """Makes a server for the clients of all frameworks."""

    def make(*turns: Any) -> ModelServer:
        server = ModelServer(*turns)
        for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"):
            monkeypatch.setenv(name, server.base_url)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url + "/v1")
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
            monkeypatch.setenv(name, "not-a-key")
        monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
        return server

    return make


@pytest.fixture
def record() -> Callable[..., None]:
    """Records a capability of a framework, for the table in docs/integrations/index.md."""

    def note(title: str, package: str, **what: bool | str) -> None:
        RESULTS.mkdir(parents=True, exist_ok=True)
        file = RESULTS / f"{package}.json"
        known = json.loads(file.read_text("utf-8")) if file.exists() else {}
        today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        known |= {
            "title": title,
            "package": package,
            "version": version(package),
            "on": today,
            **what,
        }
        file.write_text(json.dumps(known, indent=2) + "\n", "utf-8")

    return note
