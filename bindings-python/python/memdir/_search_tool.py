"""The search as a tool for the Anthropic SDK's runners; importing this imports the SDK."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, cast, overload

from anthropic.lib.tools import (
    BetaAsyncBuiltinFunctionTool,
    BetaBuiltinFunctionTool,
    BetaFunctionToolResultType,
    ToolError,
)

from memdir._async_memory import AsyncMemory
from memdir._errors import RefusedError
from memdir._loops import NoThreadError, in_thread
from memdir._memdir import Memory, answer_search, search_failed

if TYPE_CHECKING:
    from anthropic.types.beta import BetaToolParam

    from memdir._errors import MemdirError

logger = logging.getLogger("memdir")


class SearchTool(BetaBuiltinFunctionTool):
    """The search for `Anthropic`. `search_tool` makes it."""

    def __init__(self, memory: Memory, prefix: str) -> None:
        self._memory = memory
        self._definition = _definition(memory, prefix)

    def to_dict(self) -> BetaToolParam:
        """The tool's entry in a request."""
        return self._definition

    def call(self, input: object) -> BetaFunctionToolResultType:
        """Executes one tool call, given as the input that the model sent.

        Raises:
            ToolError: The input or the path is wrong, or the store is broken.
        """
        return _told(*answer_search(self._memory, input))


class AsyncSearchTool(BetaAsyncBuiltinFunctionTool):
    """The search for `AsyncAnthropic`. `search_tool` makes it."""

    def __init__(self, memory: AsyncMemory, prefix: str) -> None:
        self._memory = memory
        self._definition = _definition(memory, prefix)

    def to_dict(self) -> BetaToolParam:
        """The tool's entry in a request."""
        return self._definition

    async def call(self, input: object) -> BetaFunctionToolResultType:
        """Executes one tool call, given as the input that the model sent.

        Raises:
            ToolError: The input or the path is wrong, or the store is broken.
        """
        memory = self._memory._memory
        self._memory._search_begins()
        try:
            work = partial(answer_search, memory, input)
            return _told(*await in_thread(memory, work, view=True, search=True))
        except NoThreadError as error:
            failed = search_failed(error.__cause__)
        return _told(failed.content, failed.is_error, failed.cause)


@overload
def search_tool(memory: Memory, *, prefix: str = "memory_") -> SearchTool: ...


@overload
def search_tool(memory: AsyncMemory, *, prefix: str = "memory_") -> AsyncSearchTool: ...


def search_tool(
    memory: Memory | AsyncMemory, *, prefix: str = "memory_"
) -> SearchTool | AsyncSearchTool:
    r"""A second tool beside the memory tool, with which Claude searches the files by their words.

    Put it into a tool runner's `tools`. Its answer has the paths of the best files, and their
    best passages with the line numbers that a view shows. The hooks are not called. A wrong input
    is a `ToolError` with a sentence for the model.

    Args:
        memory: The memory to search. An `AsyncMemory` makes a tool for `AsyncAnthropic`.
        prefix: The tool is named `prefix` and `search`. At most 32 ASCII letters, digits, `_` and
            `-`.

    Raises:
        ConfigError: The prefix is wrong.
        TypeError: The memory is neither a `Memory` nor an `AsyncMemory`.

    >>> from memdir import MemoryTool, search_tool
    >>> tool = MemoryTool("memory:")
    >>> tools = [tool, search_tool(tool.memory)]
    >>> tool.memory.write("/memories/drinks.md", "Anna likes green tea.\n")
    >>> print(tools[1].call({"query": "what does Anna like?"}))
    /memories/drinks.md
         1	Anna likes green tea.
    """
    given: object = memory
    if isinstance(given, AsyncMemory):
        return AsyncSearchTool(given, prefix)
    if isinstance(given, Memory):
        return SearchTool(given, prefix)
    # Unlike `MemoryTool`, it takes no address: its memory would not be that of the other tool.
    expected = "a Memory or an AsyncMemory is expected, such as `tool.memory`"
    raise TypeError(f"{expected}, not {type(given).__name__}")


def _definition(memory: Memory | AsyncMemory, prefix: str) -> BetaToolParam:
    definition = memory.search_tool_definition("anthropic-custom", prefix=prefix)
    return cast("BetaToolParam", definition)


def _told(content: object, is_error: bool, cause: MemdirError | None) -> BetaFunctionToolResultType:
    """The answer in the SDK's form."""
    if not is_error:
        return cast("BetaFunctionToolResultType", content)
    if not isinstance(cause, RefusedError):
        logger.error("%s", cause, exc_info=cause)
    raise ToolError(cast("str", content)) from cause


search_tool.__module__ = "memdir"
