"""Edits of one file by one of several processes. Each process imports this module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from effort import SECONDS
from memdir import Memory

if TYPE_CHECKING:
    from multiprocessing.synchronize import Barrier


def insert_many(address: str, who: str, times: int, together: Barrier) -> None:
    memory = Memory(address, durability="relaxed")
    together.wait(SECONDS)
    for number in range(times):
        memory.insert("/memories/log", 0, f"{who} {number}")
