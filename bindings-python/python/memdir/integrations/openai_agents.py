"""The memory tool for the OpenAI Agents SDK (`pip install openai-agents`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memdir.integrations._call import Call, MemoryCall, SearchCall, framework

with framework("openai-agents"):
    from agents import FunctionTool, ToolOutputImage

if TYPE_CHECKING:
    from agents.tool_context import ToolContext

    from memdir._async_memory import AsyncMemory
    from memdir._memdir import Memory


def memory_tool(memory: Memory | AsyncMemory) -> FunctionTool:
    """A tool for `Agent(tools=[...])`, for `run`, `run_sync` and `run_streamed`.

    The model gets the text of a refused command like any other text: OpenAI's interfaces have no
    flag for errors. An image is a `ToolOutputImage`.
    """
    return _tool(MemoryCall(memory))


def search_tool(memory: Memory | AsyncMemory) -> FunctionTool:
    """The search as a second tool, named `memory_search`, beside the one of `memory_tool`.

    The model sends a question, and gets the paths of the files that answer it best, with their best
    passages.
    """
    return _tool(SearchCall(memory))


def _tool(call: Call) -> FunctionTool:
    async def invoke(_context: ToolContext[Any], input: str) -> str | list[ToolOutputImage]:
        content, _ = await call.execute_async(input)
        if isinstance(content, str):
            return content
        sources = [block["source"] for block in content]
        return [
            ToolOutputImage(image_url=f"data:{source['media_type']};base64,{source['data']}")
            for source in sources
        ]

    return FunctionTool(
        name=call.name,
        description=call.description,
        params_json_schema=call.schema,
        on_invoke_tool=invoke,
        # A strict schema must require every field, but each call needs only some of them.
        strict_json_schema=False,
    )
