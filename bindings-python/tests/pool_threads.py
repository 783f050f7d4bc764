"""Counts the threads that memdir's calls are executed on, which Python's own list does not have."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

# Of one pool: `core/src/thread_pool.rs`. A set of callers has two pools.
MOST = 64

_TASKS = Path("/proc/self/task")


def count() -> int:
    """How many there are in this process; 0 where the system does not tell."""
    found = 0
    if _TASKS.is_dir():
        for task in _TASKS.iterdir():
            # It may have ended meanwhile.
            with suppress(OSError):
                found += (task / "comm").read_text() == "memdir-call\n"
    return found
