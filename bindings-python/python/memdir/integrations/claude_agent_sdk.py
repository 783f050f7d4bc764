"""The memory as a server for the Claude Agent SDK (`pip install claude-agent-sdk`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memdir.integrations._call import framework, with_await

with framework("claude-agent-sdk"):
    from claude_agent_sdk import SdkMcpTool, ToolAnnotations, create_sdk_mcp_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from claude_agent_sdk import McpSdkServerConfig

    from memdir._async_memory import AsyncMemory
    from memdir._memdir import Memory
    from memdir._reply import Reply

# The hints by which hosts decide whether to ask for confirmation, the same as in `memdir mcp`.
_READS = {"view", "search"}
_ADDS = {"create", "insert"}


def memory_server(memory: Memory | AsyncMemory, name: str = "memory") -> McpSdkServerConfig:
    """A server for `ClaudeAgentOptions(mcp_servers={"memory": ...})`, in this process.

    It has the same tools as `memdir mcp`, one for each command (`mcp__memory__view` and so on) and
    `search`. A refused command has `is_error` and the exact text. An image is returned as an image.
    """
    asynchronous = with_await(memory)
    tools = [
        _tool(definition, _execute(asynchronous, cast("str", definition["name"])))
        for definition in memory.tool_definitions()
    ]
    tools.append(_tool(memory.search_tool_definition(prefix=""), asynchronous.execute_search))
    return create_sdk_mcp_server(name, tools=tools)


def _execute(memory: AsyncMemory, command: str) -> Callable[[dict[str, object]], Awaitable[Reply]]:
    return lambda fields: memory.execute({**fields, "command": command})


def _tool(
    definition: dict[str, object], execute: Callable[[dict[str, object]], Awaitable[Reply]]
) -> SdkMcpTool[dict[str, object]]:
    name = cast("str", definition["name"])

    async def handle(input: dict[str, object]) -> dict[str, Any]:
        content, is_error = await execute(input)
        if isinstance(content, str):
            return {"content": [{"type": "text", "text": content}], "is_error": is_error}
        sources = [block["source"] for block in content]
        images = [
            {"type": "image", "data": source["data"], "mimeType": source["media_type"]}
            for source in sources
        ]
        return {"content": images}

    reads = name in _READS
    return SdkMcpTool(
        name=name,
        description=cast("str", definition["description"]),
        input_schema=cast("dict[str, Any]", definition["parameters"]),
        handler=handle,
        annotations=ToolAnnotations(
            readOnlyHint=reads,
            destructiveHint=not reads and name not in _ADDS,
            openWorldHint=False,
        ),
    )
