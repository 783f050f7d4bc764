"""Pydantic AI, with its own memory tool and without it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.toolsets import FunctionToolset

import pages
import runs
from memdir import Memory
from memdir.integrations.pydantic_ai import memory_tool, search_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from model_server import ModelServer

    Serve = Callable[..., ModelServer]
    Record = Callable[..., None]

NAME = ("Pydantic AI", "pydantic-ai-slim")


def test_the_example_of_the_page(serve: Serve, record: Record, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(*runs.TURNS) as server:
        pages.run("pydantic-ai")
    assert capsys.readouterr().out == "Done.\n"
    runs.check(server, flags=True)
    assert server.tools == [runs.NATIVE]
    record(*NAME, sync=True, errors=True, tool="Claude's own")


def test_a_search(serve: Serve) -> None:
    memory = runs.memory_to_search()
    with serve(*runs.SEARCH) as server:
        agent = Agent("anthropic:claude-sonnet-5-5", tools=[memory_tool(memory), search_tool(memory)])
        agent.run_sync(runs.QUESTION)
    runs.check_search(server, flags=True)


def test_a_memory_per_user(serve: Serve) -> None:
    def ask(user: str) -> None:
        pages.of_users("pydantic-ai", "agent")["agent_of"](user).run_sync(runs.QUESTION)

    runs.check_users(serve, ask)


def test_one_agent_for_all_users(serve: Serve) -> None:
    def ask(user: str) -> None:
        names = pages.of_users("pydantic-ai", "agent")
        agent = Agent("anthropic:claude-sonnet-5-5")
        tools = FunctionToolset([names["memory_tool"](names["memory_of"](user))])
        agent.run_sync(runs.QUESTION, toolsets=[tools])

    runs.check_users(serve, ask)


def test_async(serve: Serve, record: Record) -> None:
    with serve(*runs.TURNS) as server:
        agent = pages.prepare("pydantic-ai", "agent")["agent"]
        assert asyncio.run(agent.run(runs.QUESTION)).output == "Done."
    runs.check(server, flags=True)
    record(*NAME, **{"async": True})


def test_streaming(serve: Serve, record: Record) -> None:
    async def stream(agent: Agent) -> list[str]:
        async with agent.run_stream_events(runs.QUESTION) as events:
            return [type(event).__name__ async for event in events]

    with serve(*runs.TURNS) as server:
        events = asyncio.run(stream(pages.prepare("pydantic-ai", "agent")["agent"]))
    assert events.count("FunctionToolResultEvent") == len(runs.REPLIES)
    runs.check(server, flags=True)
    assert server.streamed == {True}
    record(*NAME, streaming=True)


def test_an_image(serve: Serve, record: Record, directory: Path) -> None:
    with serve(*runs.IMAGE) as server:
        pages.prepare("pydantic-ai", "agent")["agent"].run_sync(runs.QUESTION)
    assert runs.check_image(server, directory)
    record(*NAME, images=True)


@pytest.mark.parametrize("model", ["anthropic:claude-sonnet-5-5", "openai-responses:gpt-5.2"])
def test_a_declared_tool(serve: Serve, model: str) -> None:
    with serve(*runs.TURNS) as server:
        agent = Agent(model, tools=[memory_tool(Memory("./memory"))])
        assert agent.run_sync(runs.QUESTION).output == "Done."
    [tool] = server.tools
    assert runs.declared(tool, tool.get("input_schema") or tool["parameters"])
    if model.startswith("anthropic"):
        runs.check(server, flags=True)
    else:
        # Without a flag, Pydantic AI marks an error in this way.
        wanted = [_error(reply) if is_error else reply for reply, is_error in runs.REPLIES]
        assert [result.text for result in server.finish()] == wanted


def _error(text: str) -> str:
    return json.dumps({"error": text}, separators=(",", ":"))


def test_a_refused_command_does_not_use_up_retries(serve: Serve) -> None:
    refused: list[Any] = [[("memory", {"command": "delete", "path": "/memories"})]] * 5
    with serve(*refused) as server:
        agent = pages.prepare("pydantic-ai", "agent")["agent"]
        assert agent.run_sync(runs.QUESTION).output == "Done."
    results = server.finish()
    assert {result.text for result in results} == {"Cannot delete the /memories directory itself"}
