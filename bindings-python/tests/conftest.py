"""A real PostgreSQL server, for the tests that ask for one."""

from __future__ import annotations

import itertools
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

import cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What the script answers where no server is installed.
MISSING = 69


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """A function that gives the address of a memory that nobody else has."""
    place = tmp_path_factory.mktemp("postgres")
    # The server does not run as root, and has to get in.
    for directory in (place, place.parent, place.parent.parent):
        directory.chmod(0o755)
    script = cases.PROJECT / "tests" / "servers" / "postgres"
    # It stops when its input ends, whatever becomes of this process.
    with subprocess.Popen(
        [script, "serve", place / "server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if not address:
            assert server.wait() == MISSING, "the PostgreSQL server did not start"
            assert os.environ.get("CI") != "true", "PostgreSQL is not installed"
            pytest.skip("PostgreSQL is not installed")
        numbers = itertools.count()
        yield lambda: f"{address}?namespace=python-{next(numbers)}"
