"""Strands Agents, on the Messages API."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("strands")


from strands import Agent

import pages
import runs
from memdir.integrations.strands import memory_tool, search_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from model_server import ModelServer

    Serve = Callable[..., ModelServer]
    Record = Callable[..., None]

NAME = ("Strands Agents", "strands-agents")


def test_the_example_of_the_page(serve: Serve, record: Record, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(*runs.TURNS) as server:
        pages.run("strands")
    assert capsys.readouterr().out == "Done.\n\n"
    runs.check(server, flags=True)
    [tool] = server.tools
    assert runs.declared(tool, tool["input_schema"])
    record(*NAME, sync=True, errors=True, tool="declared")


def test_a_search(serve: Serve) -> None:
    memory = runs.memory_to_search()
    with serve(*runs.SEARCH) as server:
        model = pages.prepare("strands", "agent")["agent"].model
        Agent(model=model, tools=[memory_tool(memory), search_tool(memory)])(runs.QUESTION)
    runs.check_search(server, flags=True)


def test_a_memory_per_user(serve: Serve) -> None:
    def agent_of(user: str) -> Any:
        return pages.of_users("strands", "agent")["agent_of"](user)

    runs.check_users(serve, lambda user: agent_of(user)(runs.QUESTION))


def test_async(serve: Serve, record: Record) -> None:
    with serve(*runs.TURNS) as server:
        agent = pages.prepare("strands", "agent")["agent"]
        assert str(asyncio.run(agent.invoke_async(runs.QUESTION))).strip() == "Done."
    runs.check(server, flags=True)
    record(*NAME, **{"async": True})


def test_streaming(serve: Serve, record: Record) -> None:
    async def stream(agent: Agent) -> str:
        return "".join([event.get("data", "") async for event in agent.stream_async(runs.QUESTION)])

    with serve(*runs.TURNS) as server:
        text = asyncio.run(stream(pages.prepare("strands", "agent")["agent"]))
    assert text.endswith("Done.")
    runs.check(server, flags=True)
    assert server.streamed == {True}
    record(*NAME, streaming=True)


def test_an_image(serve: Serve, record: Record, directory: Path) -> None:
    with serve(*runs.IMAGE) as server:
        pages.prepare("strands", "agent")["agent"](runs.QUESTION)
    assert runs.check_image(server, directory)
    record(*NAME, images=True)
