"""The real servers that tests of stores run against, as `tests/servers` starts them."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

import cases

if TYPE_CHECKING:
    from pathlib import Path

SERVERS = cases.PROJECT / "tests" / "servers"
NOT_INSTALLED = 3


def start(name: str, directory: Path) -> str:
    """Starts a server and returns its address; where it is not installed the test is left out."""
    started = subprocess.run(
        [SERVERS / name, "start", directory], capture_output=True, text=True, check=False
    )
    if started.returncode == NOT_INSTALLED and os.environ.get("CI") != "true":
        pytest.skip(started.stderr.strip())
    assert started.returncode == 0, started.stderr
    return started.stdout.strip()


def stop(name: str, directory: Path) -> None:
    subprocess.run([SERVERS / name, "stop", directory], check=True)
