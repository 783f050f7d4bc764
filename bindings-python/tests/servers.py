"""Real servers that stores are tested against (`tests/servers`)."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import cases

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a script of `tests/servers` ends with where its server is not installed.
NOT_INSTALLED = 69


@contextmanager
def s3() -> Iterator[str]:
    """Start a server of S3's protocol with the bucket "memdir", and give its endpoint."""
    script = cases.PROJECT / "tests" / "servers" / "s3"
    with tempfile.TemporaryDirectory() as place:
        started = subprocess.run(
            [script, "start", place], capture_output=True, text=True, check=False
        )
        if started.returncode == NOT_INSTALLED and os.environ.get("CI") != "true":
            pytest.skip("LEFT OUT: object storage: make servers")
        assert started.returncode == 0, started.stderr
        try:
            yield started.stdout.strip()
        finally:
            subprocess.run([script, "stop", place], check=True)
