"""The records of the logger `memdir`, which cost nothing if the logger is not enabled."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, NoReturn

import pytest

from dict_store import DictStore
from memdir import AsyncMemory, Deny, Memory, open_store

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "what nobody shall read"


def forbid(_: object) -> NoReturn:
    raise Deny("No.")


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    records = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert all(record.name == "memdir" for record in caplog.records)
    caplog.clear()
    return records


def test_each_command_is_a_record_of_level_debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "memdir")
    memory = Memory("memory:")
    memory.create("/memories//a", SECRET)
    memory.execute({"command": "insert", "path": "/memories/a", "insert_line": "0", "new_str": "x"})
    memory.rename("/memories/a", "/memories/b")
    memory.execute({"command": "view", "path": "/etc"})
    memory.execute("{}")
    Memory("memory:", before=forbid).execute({"command": "delete", "path": "/memories/100%"})
    repairs = 'repairs="integer_from_text insert_text_from_new_str"'
    assert told(caplog) == [
        ("DEBUG", "command=create path=/memories/a outcome=ok bytes=22 lines=1"),
        ("DEBUG", f"command=insert path=/memories/a outcome=ok bytes=1 lines=1 {repairs}"),
        (
            "DEBUG",
            "command=rename path=/memories/a new_path=/memories/b outcome=ok bytes=0 lines=0",
        ),
        ("DEBUG", "command=view outcome=refused bytes=0 lines=0"),
        ("DEBUG", "outcome=refused bytes=0 lines=0"),
        ("DEBUG", "command=delete path=/memories/100% outcome=denied bytes=0 lines=0"),
    ]


def test_a_name_forges_no_field(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "memdir")
    memory = Memory("memory:")
    for name, shown in [
        ("a outcome=ok", '"/memories/a outcome=ok"'),
        ('a"b', '"/memories/a\\"b"'),
        ("a=b", '"/memories/a=b"'),
        ("a\u2028b", '"/memories/a\\u{2028}b"'),
        ("été-猫.md", "/memories/été-猫.md"),
    ]:
        memory.execute({"command": "delete", "path": f"/memories/{name}"})
        line = f"command=delete path={shown} outcome=refused bytes=0 lines=0"
        assert told(caplog) == [("DEBUG", line)]


def test_a_secret_in_a_path_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "memdir")
    token = "ghp_" + "8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2u"
    memory = Memory("memory:", sensitive_text="reject")
    memory.execute({"command": "create", "path": f"/memories/{token}.md", "file_text": ""})
    path = "/memories/[REDACTED:github-token].md"
    line = f"command=create path={path} outcome=refused bytes=0 lines=0"
    assert told(caplog) == [("DEBUG", line)]


def test_a_level_that_is_changed_later_counts(caplog: pytest.LogCaptureFixture) -> None:
    memory = Memory("memory:")
    memory.view("/memories")
    assert told(caplog) == []
    with caplog.at_level(logging.DEBUG, "memdir"):
        memory.view("/memories")
        assert len(told(caplog)) == 1
    memory.view("/memories")
    assert told(caplog) == []


class Broken(DictStore):
    def read(self, path: str) -> bytes:
        raise RuntimeError("db.internal is gone")


def test_a_store_that_failed_is_a_warning_without_details(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Memory(Broken()).execute({"command": "view", "path": "/memories/a"})
    warning = "command=view path=/memories/a outcome=failed cause=store bytes=0 lines=0"
    assert told(caplog) == [("WARNING", warning)]


def test_the_details_of_a_failure_are_for_debugging(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "memdir")
    Memory(Broken()).execute({"command": "view", "path": "/memories/a"})
    [(level, text), (details_level, details)] = told(caplog)
    assert (level, details_level) == ("WARNING", "DEBUG")
    assert "db.internal" not in text
    assert details.startswith("command=view path=/memories/a details=")
    assert "db.internal is gone" in details


def test_a_cancelled_call_is_no_warning(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.DEBUG, "memdir")
    begun = threading.Event()
    memory = AsyncMemory(tmp_path, lock_timeout=None, before=lambda *_: begun.set())
    cancelled = ("DEBUG", "command=create path=/memories/a outcome=cancelled bytes=0 lines=0")

    async def run() -> list[tuple[str, str]]:
        # Locks the directory like another process that writes to it.
        root = os.open(tmp_path / "memories", os.O_RDONLY)
        fcntl.flock(root, fcntl.LOCK_EX)
        try:
            call = asyncio.ensure_future(memory.create("/memories/a", "late"))
            # A call that has not begun leaves no record.
            while not begun.is_set():
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            # The call ends on another thread.
            records: list[tuple[str, str]] = []
            for _ in range(6000):
                records += told(caplog)
                if records:
                    break
                await asyncio.sleep(0.01)
            return records
        finally:
            os.close(root)

    assert asyncio.run(run()) == [cancelled]


def test_what_expires_is_told(caplog: pytest.LogCaptureFixture) -> None:
    store = open_store("memory:")
    store.write("/memories/old", b"12345", False)
    store.set_modified("/memories/old", datetime(2020, 1, 1, tzinfo=timezone.utc))
    caplog.set_level(logging.DEBUG, "memdir")
    Memory(store, record_access=True).expire(timedelta(hours=1), dry_run=True)
    assert told(caplog) == []
    Memory(store, record_access=True).expire(timedelta(hours=1))
    assert told(caplog) == [("DEBUG", "expired=/memories/old bytes=5")]


def test_a_handler_that_uses_a_memory_and_many_threads(caplog: pytest.LogCaptureFixture) -> None:
    inner = Memory("memory:")

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("command=insert"):
                inner.view("/memories")

    caplog.set_level(logging.DEBUG, "memdir")
    logger = logging.getLogger("memdir")
    handler = Handler()
    logger.addHandler(handler)
    try:
        memory = Memory("memory:")
        memory.create("/memories/a", "")
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: memory.insert("/memories/a", 0, "x"), range(200)))
    finally:
        logger.removeHandler(handler)
    assert sum(text.startswith("command=insert") for _, text in told(caplog)) == 200
