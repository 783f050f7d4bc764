"""LangChain, with Claude's own memory tool and with a declared one."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langchain_anthropic")

import pages
import runs
from memdir import AsyncMemory, Memory
from memdir.integrations.langchain import memory_tool, search_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from model_server import ModelServer

    Serve = Callable[..., ModelServer]
    Record = Callable[..., None]

NAME = ("LangChain", "langchain")
ASKED = {"messages": [{"role": "user", "content": runs.QUESTION}]}


def test_the_example_of_the_page(serve: Serve, record: Record, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(*runs.TURNS) as server:
        pages.run("langchain")
    assert capsys.readouterr().out == "Done.\n"
    runs.check(server, flags=True)
    assert server.tools == [runs.NATIVE]
    record(*NAME, sync=True, errors=True, tool="Claude's own")


def test_a_memory_per_user(serve: Serve) -> None:
    def agent_of(user: str) -> Any:
        return pages.of_users("langchain", "agent")["agent_of"](user)

    runs.check_users(serve, lambda user: agent_of(user).invoke(ASKED))


def test_async(serve: Serve, record: Record) -> None:
    with serve(*runs.TURNS) as server:
        reply = asyncio.run(pages.prepare("langchain", "agent")["agent"].ainvoke(ASKED))
    assert reply["messages"][-1].text == "Done."
    statuses = [message.status for message in reply["messages"] if message.type == "tool"]
    assert statuses == ["error" if is_error else "success" for _, is_error in runs.REPLIES]
    runs.check(server, flags=True)
    record(*NAME, **{"async": True})


def test_streaming(serve: Serve, record: Record) -> None:
    with serve(*runs.TURNS) as server:
        agent = pages.prepare("langchain", "agent")["agent"]
        parts: list[Any] = list(agent.stream(ASKED, stream_mode="messages"))
    assert sum(message.type == "tool" for message, _ in parts) == len(runs.REPLIES)
    runs.check(server, flags=True)
    assert server.streamed == {True}
    record(*NAME, streaming=True)


def test_an_image(serve: Serve, record: Record, directory: Path) -> None:
    with serve(*runs.IMAGE) as server:
        pages.prepare("langchain", "agent")["agent"].invoke(ASKED)
    assert runs.check_image(server, directory)
    record(*NAME, images=True)


def test_a_search(serve: Serve) -> None:
    from langchain.agents import create_agent

    memory = runs.memory_to_search()
    tools = [memory_tool(memory), search_tool(memory)]
    with serve(*runs.SEARCH) as server:
        create_agent("anthropic:claude-sonnet-5-5", tools=tools).invoke(ASKED)
    runs.check_search(server, flags=True)


def test_a_declared_tool() -> None:
    # In the form for models of other companies.
    from langchain_core.utils.function_calling import convert_to_openai_tool

    declared = convert_to_openai_tool(memory_tool(Memory("./memory")))["function"]
    assert runs.declared(declared, declared["parameters"])


def test_a_call_of_its_own() -> None:
    tool = memory_tool(AsyncMemory("./memory"))
    call = {"command": "create", "path": runs.NOTE, "file_text": "tea"}
    assert tool.invoke(call) == f"File created successfully at: {runs.NOTE}"
    message = tool.invoke({"type": "tool_call", "id": "1", "name": "memory", "args": call})
    assert (message.status, message.content) == ("error", f"Error: File {runs.NOTE} already exists")


def test_two_frameworks_on_one_memory(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    # The programs of docs/guides/other-frameworks.md.
    guide = (pages.ROOT / "docs/guides/other-frameworks.md").read_text("utf-8")

    def block(mark: str, language: str) -> str:
        found = re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", guide, re.DOTALL)
        assert found
        return found[1]

    def played(agent: str, *inputs: dict[str, Any]) -> list[str]:
        with serve(*([("memory", given)] for given in inputs)) as server:
            exec(compile(block(f"python-{agent}", "python"), agent, "exec"), {})
        assert capsys.readouterr().out == "Done.\n"
        results = server.finish()
        assert not any(result.is_error for result in results)
        return [result.text for result in results]

    launch, invitation = "/memories/launch.md", "/memories/invitation.md"
    played("planner", {"command": "create", "path": launch, "file_text": "- on Friday\n"})
    [shown, _] = played(
        "writer",
        {"command": "view", "path": launch},
        {"command": "create", "path": invitation, "file_text": "Come on Friday.\n"},
    )
    assert shown.endswith("\t- on Friday")

    log = [sys.executable, "-m", "memdir", "log", "./memory"]
    printed = subprocess.run(log, capture_output=True, text=True, check=True).stdout
    changing = re.compile(r"^\S+  \S+", re.MULTILINE)
    assert changing.sub("", printed) == changing.sub("", block("log", "text"))
