"""Hooks that wait, for the tests of `AsyncMemory`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import anyio

from memdir import Deny

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from memdir import Event


class Person:
    """A person who approves after a while. Records the questions."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.given_up: list[BaseException] = []
        self.says = anyio.Event()

    async def approve(self, command: Mapping[str, Any]) -> None:
        self.asked.append(command)
        try:
            await self.says.wait()
        except BaseException as error:
            self.given_up.append(error)
            raise

    async def is_asked(self, times: int = 1) -> None:
        while len(self.asked) < times:
            await anyio.sleep(0.001)


class Log:
    """The events that `after` got, after it has waited a moment."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def note(self, event: Event) -> None:
        await anyio.sleep(0)
        self.events.append(event)

    def plainly(self, event: Event) -> None:
        self.events.append(event)

    @property
    def outcomes(self) -> list[str]:
        return [event.outcome for event in self.events]


async def forbid(command: Mapping[str, Any]) -> NoReturn:
    await anyio.sleep(0)
    raise Deny(f"Not {command['command']}.")


async def fail(_: object) -> NoReturn:
    await anyio.sleep(0)
    raise ZeroDivisionError("of rules.internal")


async def allow(_: object) -> None:
    await anyio.sleep(0)


def kinds_of(function: Callable[[Any], Awaitable[Any]]) -> list[Callable[[Any], Any]]:
    """Every kind of callable that returns an awaitable."""

    class Called:
        async def __call__(self, given: Any) -> Any:
            return await function(given)

    def plain(given: Any) -> Any:
        return function(given)

    return [function, Called(), partial(function), plain]
