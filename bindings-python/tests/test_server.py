"""The server of docs/guides/servers-in-python.md, on a real PostgreSQL."""

from __future__ import annotations

import asyncio
import base64
import threading
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from fastapi import Request
from fastapi.testclient import TestClient

import server
import servers
from memdir import Memory, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "base64:" + base64.b64encode(bytes(range(32))).decode()


@pytest.fixture(params=["plain", "encrypted"])
def memory_of(
    request: pytest.FixtureRequest,
    postgres: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], Memory]:
    """A function that opens a user's memory, as the server does."""
    address, _, _ = postgres().partition("?")
    key = KEY if request.param == "encrypted" else None
    # Other tests use the same database, and a store is encrypted from its creation or not at all.
    prefix = uuid.uuid4().hex
    monkeypatch.setattr(server, "open_memory", of(prefix, server.open_memory))
    monkeypatch.setenv("MEMORIES", address)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    if key is None:
        monkeypatch.delenv("MEMORY_KEY", raising=False)
    else:
        monkeypatch.setenv("MEMORY_KEY", key)
    return lambda user: Memory(address, namespace=f"{prefix} user:{user}", encryption_key=key)


def of(prefix: str, open_memory: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda namespace: open_memory(f"{prefix} {namespace}")


def test_every_user_has_a_memory(memory_of: Callable[[str], Memory]) -> None:
    create = {"command": "create", "path": "/memories/a.md", "file_text": ""}
    view = {"command": "view", "path": "/memories/a.md"}

    def use(client: TestClient, user: str) -> None:
        headers = {"authorization": f"Bearer {user}"}
        called = client.post("/tool", json={**create, "file_text": user}, headers=headers)
        assert called.json()["is_error"] is False
        for _ in range(5):
            shown = client.post("/tool", json=view, headers=headers).json()
            assert shown["content"].endswith(f"\t{user}")

    with TestClient(server.app) as client:
        users = [f"user {number}" for number in range(4)]
        threads = [threading.Thread(target=use, args=(client, user)) for user in users]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        headers = {"authorization": "Bearer user 3"}
        for path, status in (
            ("/memories/a.md", 200),
            ("/memories/b.md", 404),
            ("/memories", 409),
            ("/etc/passwd", 400),
        ):
            read = client.get("/file", params={"path": path}, headers=headers)
            assert read.status_code == status
            assert read.json().keys() == ({"text"} if status == 200 else {"detail"})
        erased = client.delete("/memory", headers=headers).json()
        assert erased["files"] == 1
        gone = client.post("/tool", json=view, headers=headers).json()
        assert gone["is_error"]
        assert client.post("/tool", json=view).status_code == 422
        wrong = client.post("/tool", json=view, headers={"authorization": "user 3"})
        assert wrong.status_code == 401
    assert str(memory_of("user 2").view("/memories/a.md")).endswith("user 2")


def test_it_answers_503_while_the_database_is_down(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = {"command": "create", "path": "/memories/a.md", "file_text": "tea"}
    view = {"command": "view", "path": "/memories/a.md"}
    headers = {"authorization": "Bearer ann"}
    directory = tmp_path_factory.mktemp("stopped")
    # The database does not run as root, and needs access to the directory.
    for above in (directory, *list(directory.parents)[:2]):
        above.chmod(0o755)
    place = directory / "server"

    def down(client: TestClient) -> None:
        # With a key, opening a memory connects to the database; without one, the first call does.
        for key in (KEY, ""):
            monkeypatch.setenv("MEMORY_KEY", key)
            for answer in (
                client.post("/tool", json=view, headers={"authorization": "Bearer new"}),
                client.post("/tool", json=create, headers=headers),
                client.delete("/memory", headers=headers),
            ):
                unavailable = {"detail": "The memory cannot be used now."}
                assert (answer.status_code, answer.json()) == (503, unavailable)
                assert answer.headers["retry-after"] == "5"

    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("MEMORIES", servers.start("postgres", place))
    servers.stop("postgres", place)
    # It also fails if nothing was opened before.
    with TestClient(server.app) as client:
        down(client)
        servers.start("postgres", place)
        try:
            made = client.post("/tool", json=create, headers=headers).json()
            assert made["is_error"] is False
        finally:
            servers.stop("postgres", place)
        down(client)
        servers.start("postgres", place)
        try:
            shown = client.post("/tool", json=view, headers=headers).json()
            assert shown["content"].endswith("\ttea")
        finally:
            servers.stop("postgres", place)


def test_it_does_not_ask_for_another_try_when_the_outcome_is_unknown() -> None:
    for kind, status in (("busy", 503), ("unavailable", 503), ("outcome_unknown", 500)):
        error = StoreError("the connection was lost")
        error.kind = kind  # type: ignore[assignment]
        request = Request({"type": "http", "method": "POST", "path": "/tool", "headers": []})
        answer = asyncio.run(server.unavailable(request, error))
        assert answer.status_code == status
        assert ("retry-after" in answer.headers) is (status == 503)
