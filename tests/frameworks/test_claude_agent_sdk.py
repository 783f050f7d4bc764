"""The Claude Agent SDK: its server in this process, and the program that it includes, on the Messages API."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import StreamEvent, query
from mcp import Client

import pages
import runs
from memdir import AsyncMemory, Memory
from memdir.integrations.claude_agent_sdk import memory_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from model_server import ModelServer

    Serve = Callable[..., ModelServer]
    Record = Callable[..., None]

NAME = ("Claude Agent SDK", "claude-agent-sdk")
COMMANDS = ["view", "create", "str_replace", "insert", "delete", "rename"]


def by_command(turns: list[list[tuple[str, dict[str, Any]]]]) -> list[list[tuple[str, Any]]]:
    """The same calls, with a tool for each command."""
    return [
        [("mcp__memory__" + input["command"], {k: v for k, v in input.items() if k != "command"}) for _, input in turn]
        for turn in turns
    ]


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    """The program gets none of this machine's settings, and does nothing else."""
    for name in list(os.environ):
        if name.startswith(("CLAUDE", "ANTHROPIC")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(directory / "config"))
    for name in (
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    ):
        monkeypatch.setenv(name, "1")
    # The tools are declared at once; otherwise the model has to search for them first.
    monkeypatch.setenv("ENABLE_TOOL_SEARCH", "false")


def test_the_example_of_the_page(serve: Serve, record: Record, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(*by_command(runs.WELL_FORMED)) as server:
        pages.run("claude-agent-sdk")
    assert capsys.readouterr().out == "Done.\n"
    runs.check(server, flags=True, malformed=False)
    declared = {tool["name"]: tool for tool in server.tools if tool["name"].startswith("mcp__memory__")}
    assert sorted(declared) == sorted("mcp__memory__" + command for command in [*COMMANDS, "search"])
    assert declared["mcp__memory__create"]["input_schema"]["required"] == ["path", "file_text"]
    record(*NAME, errors=True, tool="six, over MCP", sync=False, **{"async": True})


def test_a_memory_per_user(serve: Serve) -> None:
    def options_of(user: str) -> Any:
        return pages.of_users("claude-agent-sdk", "options")["options_of"](user)

    async def ask(user: str) -> None:
        async for _ in query(prompt=runs.QUESTION, options=options_of(user)):
            pass

    runs.check_users(
        serve,
        lambda user: asyncio.run(ask(user)),
        lambda user: ("mcp__memory__create", {"path": runs.NOTE, "file_text": user}),
    )


def test_streaming(serve: Serve, record: Record) -> None:
    async def stream(options: Any) -> list[Any]:
        return [message async for message in query(prompt=runs.QUESTION, options=options)]

    with serve(*by_command(runs.WELL_FORMED)) as server:
        options = pages.prepare("claude-agent-sdk", "options")["options"]
        options.include_partial_messages = True
        messages = asyncio.run(stream(options))
    assert any(isinstance(message, StreamEvent) for message in messages)
    runs.check(server, flags=True, malformed=False)
    assert server.streamed == {True}
    record(*NAME, streaming=True)


def test_an_image(serve: Serve, record: Record, directory: Path) -> None:
    with serve(*by_command(runs.IMAGE)) as server:
        pages.run("claude-agent-sdk")
    assert runs.check_image(server, directory)
    record(*NAME, images=True)


def test_the_server_with_the_official_client() -> None:
    async def main() -> None:
        server = memory_server(Memory("./memory"), "notes")
        async with Client(server["instance"]) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == [*COMMANDS, "search"]
            hints = {tool.name: tool.annotations for tool in tools}
            assert hints["view"].read_only_hint is hints["search"].read_only_hint is True
            destructive = {name for name, hint in hints.items() if hint.destructive_hint}
            assert destructive == {"str_replace", "delete", "rename"}
            assert not any(hint.open_world_hint for hint in hints.values())
            for calls in runs.WELL_FORMED:
                for _, input in calls:
                    command = input["command"]
                    rest = {name: value for name, value in input.items() if name != "command"}
                    reply = await client.call_tool(command, rest)
                    [block] = reply.content
                    assert (block.text, reply.is_error) in runs.WELL_FORMED_REPLIES
            found = await client.call_tool("search", {"query": "today"})
            assert found.content[0].text.startswith(f"{runs.NOTE}\n     1\t# Today")
            [image] = (await client.call_tool("view", {"path": "/memories/picture.png"})).content
            assert (image.type, image.mime_type, image.data) == ("image", "image/png", runs.PICTURE)

    asyncio.run(main())
    assert "# Today" in Memory("./memory").read(runs.NOTE)


def test_a_malformed_call_is_an_error_of_the_sdk(serve: Serve) -> None:
    with serve([("mcp__memory__create", {"path": runs.NOTE})]) as server:
        pages.run("claude-agent-sdk")
    [result] = server.finish()
    assert result.is_error is True
    assert "file_text" in str(result.content)


def test_a_memory_that_is_read_only_shows_no_other_tool() -> None:
    async def main() -> list[str]:
        server = memory_server(AsyncMemory("./memory", read_only=True))
        async with Client(server["instance"]) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert asyncio.run(main()) == ["view", "search"]
