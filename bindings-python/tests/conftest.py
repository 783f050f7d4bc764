"""What several test modules share: servers, each for as long as a module needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import servers

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Redis."""
    directory = tmp_path_factory.mktemp("redis")
    yield servers.start("redis", directory)
    servers.stop("redis", directory)
