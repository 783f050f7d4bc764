"""Encrypted stores in Python: keys, refusals, a changed key, a store of the application."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dict_store import DictStore
from memdir import AsyncMemoryTool, ConfigError, Memory, MemoryTool, open_store, rekey

if TYPE_CHECKING:
    from pathlib import Path

KEY = bytes(range(32))
SECRET = "where the treasure lies"


def on_disk(directory: Path) -> bytes:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return b"".join(str(path).encode() + path.read_bytes() for path in files)


def test_the_files_are_encrypted_and_names_if_asked_for(tmp_path: Path) -> None:
    for encrypt_names in (False, True):
        directory = tmp_path / str(encrypt_names)
        tool = MemoryTool(directory, encryption_key=KEY, encrypt_names=encrypt_names)
        tool.call({"command": "create", "path": "/memories/a map.md", "file_text": SECRET})
        assert SECRET in str(tool.call({"command": "view", "path": "/memories/a map.md"}))
        seen = on_disk(directory)
        assert len(seen) > 200
        assert SECRET.encode() not in seen
        assert (b"a map" in seen) is not encrypt_names
        assert tool.base_path is None
        assert tool.memory_root is None
        # The creation of the store decided whether names are encrypted.
        assert SECRET in Memory(str(directory), encryption_key=KEY).view("/memories/a map.md")


def test_the_asynchronous_tool(tmp_path: Path) -> None:
    tool = AsyncMemoryTool(tmp_path, encryption_key=KEY)
    command = {"command": "create", "path": "/memories/a", "file_text": SECRET}
    assert "created" in str(anyio.run(tool.call, command))
    assert SECRET.encode() not in on_disk(tmp_path)


@pytest.mark.parametrize(
    "text", ["hex:" + KEY.hex(), "base64:" + base64.b64encode(KEY).decode()], ids=["hex", "base64"]
)
def test_a_key_as_text(tmp_path: Path, text: str) -> None:
    Memory(tmp_path, encryption_key=KEY).create("/memories/a", SECRET)
    assert SECRET in Memory(tmp_path, encryption_key=text).view("/memories/a")


def test_a_passphrase(tmp_path: Path) -> None:
    Memory(tmp_path, encryption_key="correct horse").create("/memories/a", SECRET)
    assert SECRET in Memory(tmp_path, encryption_key="correct horse").view("/memories/a")
    with pytest.raises(ConfigError, match="another key or passphrase"):
        Memory(tmp_path, encryption_key="correct horse ")


@pytest.mark.parametrize("wrong", [b"", b"short", bytes(33), "", "hex:12", "base64:!"])
def test_what_is_no_key(wrong: bytes | str) -> None:
    with pytest.raises(ConfigError, match="encryption_key") as raised:
        Memory("memory:", encryption_key=wrong)
    assert "short" not in str(raised.value)


@pytest.mark.parametrize("wrong", [1, [1], bytearray(32)])
def test_a_key_of_another_type(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="encryption_key must be bytes or a str"):
        Memory("memory:", encryption_key=wrong)


def test_plain_and_encrypted_are_never_mixed(tmp_path: Path) -> None:
    plain, encrypted = tmp_path / "plain", tmp_path / "encrypted"
    Memory(plain).create("/memories/a", "x")
    Memory(encrypted, encryption_key=KEY).create("/memories/a", "x")
    for directory, key in [(plain, KEY), (encrypted, None), (encrypted, bytes(32))]:
        for store in (directory, str(directory)):
            with pytest.raises(ConfigError):
                Memory(store, encryption_key=key)


def test_a_store_of_ones_own() -> None:
    store = DictStore()
    memory = Memory(store, encryption_key=KEY, encrypt_names=True)
    memory.create("/memories/a map.md", SECRET)
    memory.rename("/memories/a map.md", "/memories/b/the map.md")
    paths = [entry.path for entry in store.list("/memories")]
    assert len(paths) == 2
    assert "map" not in "".join(paths)
    assert SECRET in Memory(store, encryption_key=KEY).view("/memories/b/the map.md")
    assert rekey(store, KEY, "correct horse") == 1
    assert SECRET in Memory(store, encryption_key="correct horse").view("/memories/b/the map.md")


def test_a_changed_key(tmp_path: Path) -> None:
    address = f"sqlite:{tmp_path}/agent.db"
    for store in (address, tmp_path, str(tmp_path / "other")):
        old = Memory(store, encryption_key=KEY)
        for number in range(5):
            old.create(f"/memories/{number}", SECRET)
        new_key = bytes(32)
        assert rekey(store, KEY, new_key) == 5
        with pytest.raises(ConfigError):
            open_store(store, encryption_key=KEY)
        content = open_store(store, encryption_key=new_key).read("/memories/3")
        assert content.decode() == SECRET
        reply = old.execute({"command": "create", "path": "/memories/x", "file_text": "x"})
        assert reply.is_error
        assert "key" not in reply.content
        assert "key was changed" in str(reply.cause)
    with pytest.raises(ConfigError, match="another key"):
        rekey(address, KEY, b"\1" * 32)
