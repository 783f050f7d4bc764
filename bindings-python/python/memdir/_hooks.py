"""The types of hooks that also take the call."""

from __future__ import annotations

# Code that resolves the type hints at run time needs all of these.
from collections.abc import Awaitable, Mapping  # noqa: TC003
from typing import Any, Protocol

from memdir._async_hooks import AsyncHookCall  # noqa: TC001
from memdir._memdir import HookCall  # noqa: TC001


class BeforeWithCall(Protocol):
    """A function as the hook `before` that has a parameter `call`."""

    def __call__(
        self, command: Mapping[str, Any], /, call: HookCall
    ) -> Mapping[str, object] | None:
        """Decides about the command."""


class AsyncBeforeWithCall(Protocol):
    """A coroutine function as the hook `before` that has a parameter `call`."""

    def __call__(
        self, command: Mapping[str, Any], /, call: AsyncHookCall
    ) -> Awaitable[Mapping[str, object] | None]:
        """Decides about the command."""
