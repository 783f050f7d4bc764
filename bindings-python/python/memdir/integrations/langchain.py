"""The memory tool for LangChain and LangGraph (`pip install langchain-core`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memdir.integrations._call import Call, MemoryCall, SearchCall, framework

with framework("langchain-core"):
    from langchain_core.tools import StructuredTool, ToolException

if TYPE_CHECKING:
    from memdir._async_memory import AsyncMemory
    from memdir._memdir import Memory
    from memdir._reply import Reply


def memory_tool(memory: Memory | AsyncMemory) -> StructuredTool:
    """A tool for `create_agent(tools=[...])` and `bind_tools`, with and without `await`.

    `ChatAnthropic` sends Anthropic's own memory tool; other models get a declaration of it. The
    message of a refused command has `status="error"` and the exact text.
    """
    call = MemoryCall(memory)
    native = {"type": "memory_20250818", "name": call.name}
    return _tool(call, extras={"provider_tool_definition": native})


def search_tool(memory: Memory | AsyncMemory) -> StructuredTool:
    """The search as a second tool, named `memory_search`, beside the one of `memory_tool`.

    The model sends a question, and gets the paths of the files that answer it best, with their best
    passages.
    """
    return _tool(SearchCall(memory))


def _tool(call: Call, **more: Any) -> StructuredTool:
    def execute(**input: object) -> str | list[dict[str, Any]]:
        return _content(call.execute(input))

    async def execute_async(**input: object) -> str | list[dict[str, Any]]:
        return _content(await call.execute_async(input))

    return StructuredTool(
        name=call.name,
        description=call.description,
        args_schema=call.schema,
        func=execute,
        coroutine=execute_async,
        handle_tool_error=True,
        **more,
    )


def _content(reply: Reply) -> str | list[dict[str, Any]]:
    """The content of the tool's message. An image is a block that all models of LangChain know."""
    if reply.is_error:
        raise ToolException(str(reply.content))
    if isinstance(reply.content, str):
        return reply.content
    sources = [block["source"] for block in reply.content]
    return [
        {"type": "image", "base64": source["data"], "mime_type": source["media_type"]}
        for source in sources
    ]
