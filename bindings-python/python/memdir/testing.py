"""Help for the tests of those who write a `Store` of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memdir import _memdir

if TYPE_CHECKING:
    from collections.abc import Callable

    from memdir._store import Store

__all__ = ["check_contract"]


def check_contract(factory: Callable[[], Store]) -> None:
    """Checks that a store keeps what `Store` promises: on each rule, a fresh store.

    The rules are about single calls as well as about threads that read and write at once, so that
    a fault of the second kind may need more than one run to show.

    Args:
        factory: Makes a new, empty store each time it is called.

    Raises:
        AssertionError: With the first rule that is not kept, what was expected and what came.

    >>> from memdir import open_store
    >>> check_contract(lambda: open_store("memory:"))
    """
    violation = _memdir.check_contract(factory)
    if violation is not None:
        raise AssertionError(violation)
