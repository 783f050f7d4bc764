"""The shared part of the integrations: one call of a tool, with and without `await`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from memdir._async_memory import AsyncMemory
from memdir._memdir import Memory

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from memdir._reply import Reply


@contextmanager
def framework(package: str) -> Iterator[None]:
    """Says which package to install if an import fails."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"this integration needs {package}: pip install {package}") from error


class Call:
    """Executes calls of a tool, and has the tool's declaration."""

    execute: Callable[[Any], Reply]
    execute_async: Callable[[Any], Awaitable[Reply]]

    def __init__(self, definition: dict[str, object]) -> None:
        self.name = cast("str", definition["name"])
        self.description = cast("str", definition["description"])
        self.schema = cast("dict[str, Any]", definition["parameters"])


class MemoryCall(Call):
    """Of the memory tool."""

    def __init__(self, memory: Memory | AsyncMemory) -> None:
        itself = without_await(memory)
        super().__init__(itself.tool_definition())
        self.execute = itself.execute
        self.execute_async = with_await(memory).execute


class SearchCall(Call):
    """Of the search."""

    def __init__(self, memory: Memory | AsyncMemory) -> None:
        itself = without_await(memory)
        super().__init__(itself.search_tool_definition())
        self.execute = itself.execute_search
        self.execute_async = with_await(memory).execute_search


def without_await(memory: Memory | AsyncMemory) -> Memory:
    """The memory itself, for callers without `await`, where a coroutine hook fails."""
    return with_await(memory)._memory  # noqa: SLF001


def with_await(memory: Memory | AsyncMemory) -> AsyncMemory:
    """The same memory for the tasks of an event loop."""
    given: object = memory
    if isinstance(given, AsyncMemory):
        return given
    # Like `search_tool`, an integration takes no address: two tools of it would have two memories.
    if not isinstance(given, Memory):
        expected = "a Memory or an AsyncMemory is expected, such as `tool.memory`"
        raise TypeError(f"{expected}, not {type(given).__name__}")
    found = AsyncMemory.__new__(AsyncMemory)
    found._memory = given  # noqa: SLF001
    return found
