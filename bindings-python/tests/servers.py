"""The real servers for tests of stores, started by `tests/servers`."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cases

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVERS = cases.PROJECT / "tests" / "servers"
NOT_INSTALLED = 3


@contextmanager
def shared(name: str, directory: Path) -> Iterator[str]:
    """The address of a server that many tests use: the run's own, or one started in `directory`.

    The servers of `tests/servers/run` are shared by all tests of a run, so each test uses its own
    namespace, prefix or keys.
    """
    of_the_run = os.environ.get("MEMDIR_TEST_SERVERS")
    if of_the_run is None:
        address = start(name, directory)
        try:
            yield address
        finally:
            stop(name, directory)
        return
    file = Path(of_the_run, name, "address")
    if not file.exists():
        left_out(f"tests/servers/run did not start {name}")
    yield file.read_text(encoding="utf-8").strip()


def start(name: str, directory: Path) -> str:
    """Starts a server and returns its address. If it is not installed, the test is skipped."""
    started = subprocess.run(
        [SERVERS / name, "start", directory], capture_output=True, text=True, check=False
    )
    if started.returncode == NOT_INSTALLED:
        left_out(started.stderr.strip())
    assert started.returncode == 0, started.stderr
    return started.stdout.strip()


def stop(name: str, directory: Path) -> None:
    subprocess.run([SERVERS / name, "stop", directory], check=True)


def left_out(reason: str) -> None:
    """Skips a test, because a server is missing. In CI that is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
