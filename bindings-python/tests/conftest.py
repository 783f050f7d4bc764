"""The fixtures of several test modules: servers, each started once for all tests."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

import servers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Redis, on which each test uses keys of its own."""
    with servers.shared("redis", tmp_path_factory.mktemp("redis")) as address:
        yield address


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """A function that returns the address of a memory in PostgreSQL that no other test has."""
    directory = tmp_path_factory.mktemp("postgres")
    # The server does not run as root, and needs access to the directory.
    for above in (directory, *list(directory.parents)[:2]):
        above.chmod(0o755)
    with servers.shared("postgres", directory / "server") as address:
        yield lambda: f"{address}?namespace=python-{uuid.uuid4().hex}"


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """A function that returns the address of a memory in S3 that no other test has."""
    with (
        servers.shared("s3", tmp_path_factory.mktemp("s3")) as endpoint,
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("AWS_ACCESS_KEY_ID", "test-key-id")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "test-secret-key")
        # Reading the certificates for each of many stores would take most of the time.
        environment.setenv("AWS_DISABLE_SYSTEM_CERTIFICATES", "true")
        options = f"endpoint={endpoint}&region=us-east-1&allow_http=true"
        yield lambda: f"s3://memdir/python-{uuid.uuid4().hex}?{options}"
