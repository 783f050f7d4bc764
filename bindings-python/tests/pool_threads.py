"""Counts the threads that execute memdir's calls, which Python's own list does not have."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

# The limit of one pool, from `bindings-shared/src/thread_pool.rs`. A set of callers has two pools.
MOST = 64

_TASKS = Path("/proc/self/task")


def count() -> int:
    """The number of threads in this process; 0 if the system does not provide it."""
    found = 0
    if _TASKS.is_dir():
        for task in _TASKS.iterdir():
            # The thread may have ended meanwhile.
            with suppress(OSError):
                found += (task / "comm").read_text() == "memdir-call\n"
    return found
