"""The example of a store of the application, on a real Redis."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import uuid
from typing import TYPE_CHECKING

import pytest
import redis

import cases
import servers
from effort import EFFORT, SECONDS
from memdir import Memory
from memdir.testing import check_contract
from redis_store import RedisStore

if TYPE_CHECKING:
    from pathlib import Path

    from memdir import Reply, Store

# The work of one of several processes: a number of edits of one file.
EDITS = """
import sys
sys.path.insert(0, sys.argv[1])
from memdir import Memory
from redis_store import RedisStore

memory = Memory(RedisStore(sys.argv[2], sys.argv[3]), max_view_chars=None)
for number in range(int(sys.argv[5])):
    memory.insert("/memories/list.md", 0, f"{sys.argv[4]} {number}")
"""
OUT_OF_REACH = "Error: The memory directory cannot be reached at the moment."


def fresh(address: str) -> RedisStore:
    return RedisStore(address, uuid.uuid4().hex)


def test_the_contract_is_kept(redis_server: str) -> None:
    check_contract(lambda: fresh(redis_server))


def test_namespaces_are_apart_and_nothing_stays(redis_server: str) -> None:
    mine, theirs = fresh(redis_server), fresh(redis_server)
    for store in (mine, theirs):
        store.write("/memories/a/b/c", b"text", overwrite=False)
    Memory(mine).clear()
    assert list(mine.list("/memories")) == []
    assert theirs.read("/memories/a/b/c") == b"text"
    with redis.Redis.from_url(redis_server) as client:
        assert list(client.scan_iter(f"{mine._namespace}:*")) == []
        assert len(list(client.scan_iter(f"{theirs._namespace}:*"))) == 4


def test_edits_of_several_processes_are_all_there(redis_server: str) -> None:
    processes, edits, namespace = 3, 20 * EFFORT, uuid.uuid4().hex
    store = RedisStore(redis_server, namespace)
    Memory(store).create("/memories/list.md", "")
    arguments = [sys.executable, "-c", EDITS, str(cases.PROJECT / "examples" / "python")]
    arguments += [redis_server, namespace]
    running = [
        subprocess.Popen([*arguments, str(number), str(edits)]) for number in range(processes)
    ]
    assert [process.wait(timeout=SECONDS) for process in running] == [0] * processes
    lines = store.read("/memories/list.md").decode().splitlines()
    assert sorted(lines) == sorted(
        f"{process} {number}"
        for process, number in itertools.product(range(processes), range(edits))
    )


def test_a_whole_directory_moves_while_others_write_into_it(redis_server: str) -> None:
    store = fresh(redis_server)
    store.write("/memories/0/old", b"", overwrite=False)
    written: list[str] = []

    def write() -> None:
        # The directory exists now or existed a moment ago. In the latter case it is created again.
        for number in range(100):
            at = len(written) % 7
            store.write(f"/memories/{at}/new {number}", b"text", overwrite=False)
            written.append(f"new {number}")

    writer = threading.Thread(target=write)
    writer.start()
    for step in range(1, 7):
        store.rename(f"/memories/{step - 1}", f"/memories/moved {step}")
        store.write(f"/memories/{step}/old", b"", overwrite=True)
    writer.join()
    files = [
        entry
        for directory in store.list("/memories")
        for entry in store.list(directory.path)
        if not entry.path.endswith("/old")
    ]
    assert sorted(entry.path.rpartition("/")[2] for entry in files) == sorted(written)
    assert all(store.read(entry.path) == b"text" for entry in files)


def test_what_was_acknowledged_survives_the_server(tmp_path: Path) -> None:
    directory = tmp_path / "redis"
    address = servers.start("redis", directory)
    store = RedisStore(address)
    memory = Memory(store)
    with redis.Redis.from_url(address) as client:
        pid = client.info("server")["process_id"]
    acknowledged = 0
    killer = threading.Timer(0.05, os.kill, (pid, signal.SIGKILL))
    while not (reply := write_down(memory, acknowledged)).is_error:
        acknowledged += 1
        if acknowledged == 20:
            killer.start()
    assert str(reply.content).startswith(OUT_OF_REACH)
    assert str(tmp_path) not in reply.content
    killer.join()
    (directory / "socket").unlink(missing_ok=True)

    assert servers.start("redis", directory) == address
    # The running command may or may not have been executed.
    names = {entry.path for entry in store.list("/memories/dir")}
    assert acknowledged <= len(names) <= acknowledged + 1
    assert all(read(store, number) == b"text" for number in range(len(names)))
    assert not write_down(memory, len(names)).is_error
    servers.stop("redis", directory)


def write_down(memory: Memory, number: int) -> Reply:
    path = f"/memories/dir/{number}"
    return memory.execute({"command": "create", "path": path, "file_text": "text"})


def read(store: Store, number: int) -> bytes:
    return store.read(f"/memories/dir/{number}")


def test_no_server_is_one_short_sentence(tmp_path: Path) -> None:
    memory = Memory(RedisStore(f"unix://{tmp_path}/none"))
    reply = memory.execute({"command": "view", "path": "/memories"})
    assert str(reply.content).startswith(OUT_OF_REACH)
    assert str(tmp_path) not in reply.content
    assert reply.cause is not None
    assert isinstance(reply.cause.__cause__, redis.ConnectionError)
    with pytest.raises(redis.ConnectionError):
        RedisStore(f"unix://{tmp_path}/none").read("/memories/a")
