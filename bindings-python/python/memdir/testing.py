"""Help for the tests of your own `Store`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memdir import _memdir

if TYPE_CHECKING:
    from collections.abc import Callable

    from memdir._store import Store

__all__ = ["check_contract"]


def check_contract(factory: Callable[[], Store]) -> None:
    """Checks that a store keeps the contract of `Store`. Each rule gets a fresh store.

    Some rules concern concurrent reads and writes. A violation of such a rule may appear only after
    several runs.

    Args:
        factory: Makes a new, empty store each time it is called.

    Raises:
        AssertionError: The first rule that the store breaks, with the expected and actual result.

    >>> from memdir import open_store
    >>> check_contract(lambda: open_store("memory:"))
    """
    violation = _memdir.check_contract(factory)
    if violation is not None:
        raise AssertionError(violation)
