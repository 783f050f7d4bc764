"""Each kind of store once from Python: opened, used, opened again, and unreachable.

The conformance cases in Rust check that each store answers every command exactly.
"""

from __future__ import annotations

import base64
import uuid
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from memdir import AsyncMemory, ConfigError, Memory, RefusedError, StoreError
from redis_store import RedisStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = bytes(range(32))
CREATED = "File created successfully at: /memories/a/b.md"
SHOWN = "Here's the content of /memories/a/b.md with line numbers:\n     1\tone\n     2\ttwo"
EXISTS = "Error: File /memories/a/b.md already exists"


@pytest.fixture(
    params=["directory", "sqlite", "encrypted", "mounts", "postgres", "s3", "redis example"]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """The arguments that open a memory: the store, and its options."""
    match request.param:
        case "directory":
            return {"store": str(tmp_path)}
        case "sqlite":
            return {"store": f"sqlite:{tmp_path}/agent.db"}
        case "encrypted":
            key = "base64:" + base64.b64encode(KEY).decode()
            return {"store": tmp_path, "encryption_key": key, "encrypt_names": True}
        case "mounts":
            stores = {"/memories": tmp_path, "/memories/a": f"sqlite:{tmp_path}/a.db"}
            return {"store": stores}
        case "redis example":
            address = request.getfixturevalue("redis_server")
            return {"store": RedisStore(address, uuid.uuid4().hex)}
        case server:
            fresh: Callable[[], str] = request.getfixturevalue(server)
            return {"store": fresh()}


def test_every_command_is_executed_and_stays(place: dict[str, Any]) -> None:
    with Memory(**place) as memory:
        assert memory.create("/memories/a/b.md", "one\n") == CREATED
        assert "has been edited" in memory.insert("/memories/a/b.md", 1, "2\n")
        assert memory.str_replace("/memories/a/b.md", "2", "two").endswith("     2\ttwo")
        with pytest.raises(RefusedError) as refused:
            memory.create("/memories/a/b.md", "")
        assert str(refused.value) == EXISTS
        memory.create("/memories/a/c.md", "")
        assert "renamed" in memory.rename("/memories/a/c.md", "/memories/a/d.md")
        assert memory.delete("/memories/a/d.md") == "Successfully deleted /memories/a/d.md"
    with Memory(**place) as memory:
        assert memory.view("/memories/a/b.md") == SHOWN
        assert [entry.path for entry in memory.list("/memories/a")] == ["/memories/a/b.md"]
        memory.clear()
        assert [entry.path for entry in memory.list(depth=None) if not entry.is_directory] == []


def test_every_command_is_executed_and_stays_with_await(place: dict[str, Any]) -> None:
    async def session() -> None:
        async with await AsyncMemory.open(**place) as memory:
            assert await memory.create("/memories/a/b.md", "one\n") == CREATED
            await memory.insert("/memories/a/b.md", 1, "2\n")
            await memory.str_replace("/memories/a/b.md", "2", "two")
            with pytest.raises(RefusedError) as refused:
                await memory.create("/memories/a/b.md", "")
            assert str(refused.value) == EXISTS
            await memory.create("/memories/a/c.md", "")
            await memory.rename("/memories/a/c.md", "/memories/a/d.md")
            await memory.delete("/memories/a/d.md")
        async with await AsyncMemory.open(**place) as memory:
            assert await memory.view("/memories/a/b.md") == SHOWN
            entries = await memory.list("/memories/a")
            assert [entry.path for entry in entries] == ["/memories/a/b.md"]

    anyio.run(session)


@pytest.fixture(params=["directory", "sqlite", "encrypted", "mounts", "postgres", "s3"])
def wrong(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[dict[str, Any], type[Exception]]:
    """Arguments that open no memory, and the expected error."""
    (tmp_path / "file").write_text("")
    match request.param:
        case "directory":
            return {"store": str(tmp_path / "file")}, StoreError
        case "sqlite":
            return {"store": f"sqlite:{tmp_path}"}, StoreError
        case "encrypted":
            Memory(tmp_path, encryption_key=KEY)
            return {"store": tmp_path, "encryption_key": bytes(32)}, ConfigError
        case "mounts":
            stores = {"/memories": tmp_path, "/memories/a": f"sqlite:{tmp_path}"}
            return {"store": stores}, StoreError
        case "postgres":
            return {"store": "postgres://none@127.0.0.1:1/none?connect_timeout=1"}, StoreError
        case _:
            fresh: Callable[[], str] = request.getfixturevalue("s3")
            return {"store": fresh().replace("s3://memdir/", "s3://no-such-bucket/")}, StoreError


def test_a_store_that_cannot_be_opened_is_an_error(
    wrong: tuple[dict[str, Any], type[Exception]],
) -> None:
    place, error = wrong
    with pytest.raises(error):
        Memory(**place)

    async def opened() -> None:
        with pytest.raises(error):
            await AsyncMemory.open(**place)

    anyio.run(opened)
