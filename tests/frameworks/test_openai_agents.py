"""The OpenAI Agents SDK, on the Responses API."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents")

from agents import Agent, Runner

import pages
import runs
from memdir.integrations.openai_agents import memory_tool, search_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from model_server import ModelServer

    Serve = Callable[..., ModelServer]
    Record = Callable[..., None]

NAME = ("OpenAI Agents SDK", "openai-agents")


def test_the_example_of_the_page(serve: Serve, record: Record, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(*runs.TURNS) as server:
        pages.run("openai-agents")
    assert capsys.readouterr().out == "Done.\n"
    runs.check(server, flags=None)
    [tool] = server.tools
    assert runs.declared(tool, tool["parameters"])
    assert (tool["type"], tool["strict"]) == ("function", False)
    record(*NAME, sync=True, errors=False, tool="declared")


def test_a_search(serve: Serve) -> None:
    memory = runs.memory_to_search()
    with serve(*runs.SEARCH) as server:
        agent = Agent(name="Assistant", tools=[memory_tool(memory), search_tool(memory)])
        Runner.run_sync(agent, runs.QUESTION)
    runs.check_search(server, flags=None)


def test_a_memory_per_user(serve: Serve) -> None:
    def agent_of(user: str) -> Any:
        return pages.of_users("openai-agents", "agent")["agent_of"](user)

    runs.check_users(serve, lambda user: Runner.run_sync(agent_of(user), runs.QUESTION))


def test_async(serve: Serve, record: Record) -> None:
    with serve(*runs.TURNS) as server:
        agent = pages.prepare("openai-agents", "agent")["agent"]
        assert asyncio.run(Runner.run(agent, runs.QUESTION)).final_output == "Done."
    runs.check(server, flags=None)
    record(*NAME, **{"async": True})


def test_streaming(serve: Serve, record: Record) -> None:
    async def stream(agent: Agent) -> list[str]:
        result = Runner.run_streamed(agent, runs.QUESTION)
        return [event.name async for event in result.stream_events() if event.type == "run_item_stream_event"]

    with serve(*runs.TURNS) as server:
        events = asyncio.run(stream(pages.prepare("openai-agents", "agent")["agent"]))
    assert events.count("tool_output") == len(runs.REPLIES)
    runs.check(server, flags=None)
    assert server.streamed == {True}
    record(*NAME, streaming=True)


def test_an_image(serve: Serve, record: Record, directory: Path) -> None:
    with serve(*runs.IMAGE) as server:
        Runner.run_sync(pages.prepare("openai-agents", "agent")["agent"], runs.QUESTION)
    assert runs.check_image(server, directory)
    record(*NAME, images=True)


def test_a_call_that_is_not_json(serve: Serve) -> None:
    from memdir import Memory

    tool = memory_tool(Memory("./memory"))
    text = asyncio.run(tool.on_invoke_tool(None, "{"))
    assert isinstance(text, str)
    assert text
