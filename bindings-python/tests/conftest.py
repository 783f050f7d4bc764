"""What several test modules share: servers, each for as long as a module needs it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

import servers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Redis."""
    directory = tmp_path_factory.mktemp("redis")
    yield servers.start("redis", directory)
    servers.stop("redis", directory)


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """A function that gives the address of a memory in PostgreSQL that nobody else has."""
    directory = tmp_path_factory.mktemp("postgres")
    # The server does not run as root, and has to get in.
    for above in (directory, *list(directory.parents)[:2]):
        above.chmod(0o755)
    address = servers.start("postgres", directory / "server")
    numbers = itertools.count()
    yield lambda: f"{address}?namespace=python-{next(numbers)}"
    servers.stop("postgres", directory / "server")
