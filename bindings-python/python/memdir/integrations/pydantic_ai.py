"""The memory tool for Pydantic AI (`pip install pydantic-ai-slim`)."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Any

from memdir.integrations._call import Call, MemoryCall, SearchCall, framework

with framework("pydantic-ai-slim"):
    from pydantic_ai import BinaryContent, Tool, ToolFailed

if TYPE_CHECKING:
    from memdir._async_memory import AsyncMemory
    from memdir._memdir import Memory


def memory_tool(memory: Memory | AsyncMemory) -> Tool[Any]:
    """A tool for `Agent(tools=[...])`, for sync, async and streamed runs.

    A refused command is a failed tool result with the exact text; it does not count as a retry. An
    image is a `BinaryContent`.

    With one of Anthropic's models, add `capabilities=[NativeTool(MemoryTool())]`. The model then
    gets its own memory tool instead of this declaration.
    """
    return _tool(MemoryCall(memory))


def search_tool(memory: Memory | AsyncMemory) -> Tool[Any]:
    """The search as a second tool, named `memory_search`, beside the one of `memory_tool`.

    The model sends a question, and gets the paths of the files that answer it best, with their best
    passages.
    """
    return _tool(SearchCall(memory))


def _tool(call: Call) -> Tool[Any]:
    async def execute(**input: object) -> str | list[BinaryContent]:
        content, is_error = await call.execute_async(input)
        if is_error:
            raise ToolFailed(str(content))
        if isinstance(content, str):
            return content
        sources = [block["source"] for block in content]
        return [
            BinaryContent(data=b64decode(source["data"]), media_type=source["media_type"])
            for source in sources
        ]

    return Tool.from_schema(execute, call.name, call.description, call.schema)
