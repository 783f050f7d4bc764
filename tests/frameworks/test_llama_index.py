"""LlamaIndex, on the Messages API."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llama_index.llms.anthropic")

from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.llms.anthropic import Anthropic

import pages
import runs
from memdir import Memory
from memdir.integrations.llama_index import MemoryTool, SearchTool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from model_server import ModelServer

    Serve = Callable[..., ModelServer]
    Record = Callable[..., None]

NAME = ("LlamaIndex", "llama-index-core")


def test_the_example_of_the_page(serve: Serve, record: Record, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(*runs.TURNS) as server:
        pages.run("llama-index")
    assert capsys.readouterr().out == "Done.\n"
    runs.check(server, flags=False)
    [tool] = server.tools
    assert runs.declared(tool, tool["input_schema"])
    record(*NAME, errors=False, tool="declared", **{"async": True})


def test_sync(serve: Serve, record: Record) -> None:
    tool = MemoryTool(Memory("./memory"))
    with serve([("memory", {"command": "create", "path": runs.NOTE, "file_text": "tea"})]) as server:
        # One call without a second request: LlamaIndex's agents offer only `await`.
        llm = Anthropic(model="claude-sonnet-5-5")
        reply = llm.predict_and_call([tool], runs.QUESTION)
    assert len(server.requests) == 1
    assert str(reply) == f"File created successfully at: {runs.NOTE}"
    assert tool.call(command="view", path=runs.NOTE).is_error is False
    assert tool.call(command="view", path="/memories/none").is_error is True
    record(*NAME, sync="without agents")


def test_a_search(serve: Serve) -> None:
    memory = runs.memory_to_search()

    async def ask() -> None:
        llm = Anthropic(model="claude-sonnet-5-5")
        agent = FunctionAgent(tools=[MemoryTool(memory), SearchTool(memory)], llm=llm)
        await agent.run(runs.QUESTION)

    with serve(*runs.SEARCH) as server:
        asyncio.run(ask())
    runs.check_search(server, flags=False)


def test_a_memory_per_user(serve: Serve) -> None:
    def agent_of(user: str) -> Any:
        return pages.of_users("llama-index", "agent")["agent_of"](user)

    async def ask(user: str) -> None:
        await agent_of(user).run(runs.QUESTION)

    runs.check_users(serve, lambda user: asyncio.run(ask(user)))


def test_streaming(serve: Serve, record: Record) -> None:
    async def stream(agent: Any) -> str:
        handler = agent.run(runs.QUESTION)
        parts = [event.delta async for event in handler.stream_events() if isinstance(event, AgentStream)]
        await handler
        return "".join(parts)

    with serve(*runs.TURNS) as server:
        text = asyncio.run(stream(pages.prepare("llama-index", "agent")["agent"]))
    assert text.endswith("Done.")
    runs.check(server, flags=False)
    assert server.streamed == {True}
    record(*NAME, streaming=True)


def test_an_image(serve: Serve, record: Record, directory: Path) -> None:
    async def main() -> None:
        await pages.prepare("llama-index", "agent")["agent"].run(runs.QUESTION)

    with serve(*runs.IMAGE) as server:
        asyncio.run(main())
    assert runs.check_image(server, directory)
    record(*NAME, images=True)
