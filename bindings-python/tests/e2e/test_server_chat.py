"""The server of docs/guides/servers-in-python.md in a conversation, on a real PostgreSQL."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from standin import StandIn

import memdir

if TYPE_CHECKING:
    from collections.abc import Callable

    from conversation import Conversation

pytest.importorskip("fastapi")

CREATED = "File created successfully at: /memories/a.md"


def test_a_user_is_remembered(
    script: Callable[..., Conversation],
    postgres: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from fastapi.testclient import TestClient

    import server

    # Other tests use the same database.
    user = uuid.uuid4().hex
    address, _, _ = postgres().partition("?")
    create = {"command": "create", "path": "/memories/a.md", "file_text": "likes tea"}
    with StandIn(script([(create, CREATED, False)])) as standin:
        monkeypatch.setenv("MEMORIES", address)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", standin.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
        with TestClient(server.app) as client:
            answer = client.post(
                "/chat",
                json={"message": "Hello, Claude."},
                headers={"authorization": f"Bearer {user}"},
            )
        assert answer.json() == {"answer": "Done."}
        assert standin.report()["complete"]
    kept = memdir.Memory(address, namespace=f"user:{user}")
    assert kept.read("/memories/a.md") == "likes tea"
