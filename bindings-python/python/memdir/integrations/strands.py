"""The memory tool for Strands Agents (`pip install strands-agents`)."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Any

from memdir.integrations._call import Call, MemoryCall, SearchCall, framework

with framework("strands-agents"):
    from strands.tools import PythonAgentTool

if TYPE_CHECKING:
    from strands.types.tools import ToolResult, ToolResultContent, ToolUse

    from memdir._async_memory import AsyncMemory
    from memdir._memdir import Memory


def memory_tool(memory: Memory | AsyncMemory) -> PythonAgentTool:
    """A tool for `Agent(tools=[...])`, with and without `await`.

    The result of a refused command has the status `error` and the exact text.
    """
    return _tool(MemoryCall(memory))


def search_tool(memory: Memory | AsyncMemory) -> PythonAgentTool:
    """The search as a second tool, named `memory_search`, beside the one of `memory_tool`.

    The model sends a question, and gets the paths of the files that answer it best, with their best
    passages.
    """
    return _tool(SearchCall(memory))


def _tool(call: Call) -> PythonAgentTool:
    async def execute(tool_use: ToolUse, **_: Any) -> ToolResult:
        content, is_error = await call.execute_async(tool_use["input"])
        blocks: list[ToolResultContent]
        if isinstance(content, str):
            blocks = [{"text": content}]
        else:
            sources = [block["source"] for block in content]
            blocks = [
                {
                    "image": {
                        "format": "png" if source["media_type"] == "image/png" else "jpeg",
                        "source": {"bytes": b64decode(source["data"])},
                    }
                }
                for source in sources
            ]
        return {
            "toolUseId": tool_use["toolUseId"],
            "status": "error" if is_error else "success",
            "content": blocks,
        }

    return PythonAgentTool(
        call.name,
        {
            "name": call.name,
            "description": call.description,
            "inputSchema": {"json": call.schema},
        },
        execute,
    )
