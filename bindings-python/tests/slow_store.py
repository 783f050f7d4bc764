"""A store that waits until a test lets it continue, for the tests of `AsyncMemory`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import anyio
import pytest

from dict_store import DictStore
from effort import SECONDS

if TYPE_CHECKING:
    from memdir import Entry

on_both = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class Slow(DictStore):
    """A store of the application that waits for a gate, and records the threads that call it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)
        self.threads: set[int] = set()

    def open(self, path: str, depth: int) -> bytes | list[Entry]:
        self._wait()
        return list(super().list(path)) if path == "/memories" else super().read(path)

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        self._wait()
        super().write(path, content, overwrite)

    def _wait(self) -> None:
        self.threads.add(threading.get_ident())
        self.begun.release()
        assert self.gate.wait(SECONDS)


async def begun(store: Slow, calls: int = 1) -> None:
    for _ in range(calls):
        while not store.begun.acquire(blocking=False):
            await anyio.sleep(0.001)
