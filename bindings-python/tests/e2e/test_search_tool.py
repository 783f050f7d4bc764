"""The search as a second tool, in the SDK's own tool runners."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import anthropic
import conversation
import pytest
from anthropic.lib.tools import ToolError
from standin import StandIn

import memdir

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

USER = "What does Anna like?"
DRINKS = "# Drinks\n\n- Anna prefers green tea.\n- Ben drinks coffee.\n"
FOUND = (
    "/memories/drinks.md\n"
    "     1\t# Drinks\n"
    "     2\t\n"
    "     3\t- Anna prefers green tea.\n"
    "     4\t- Ben drinks coffee."
)
MISSING = "The path /memories/nothing does not exist. Please provide a valid path."
NO_QUERY = "Error: Missing `query` parameter for the `search` command: expected a string"
# The calls of the model: tool, input, result, is_error.
CALLS: Sequence[tuple[str, Any, str, bool]] = [
    ("memory_search", {"query": "What does Anna like?"}, FOUND, False),
    (
        "memory",
        {
            "command": "str_replace",
            "path": "/memories/drinks.md",
            "old_str": "Anna prefers green tea",
            "new_str": "Anna prefers water",
        },
        "The memory file has been edited. Here is the snippet showing the change "
        "(with line numbers):\n" + FOUND.partition("\n")[2].replace("green tea", "water"),
        False,
    ),
    ("memory_search", {"query": "green", "path": None}, "No file has these words.", False),
    ("memory_search", {"query": "tea", "path": "/memories/nothing"}, MISSING, True),
    ("memory_search", {}, NO_QUERY, True),
]


@pytest.fixture
def standin() -> Iterator[StandIn]:
    """A stand-in for the API, in which the model makes the calls."""
    definition = memdir.Memory("memory:").search_tool_definition("anthropic-custom")
    turns = [
        {"calls": [{"tool": tool, "input": input, "result": result, "is_error": is_error}]}
        for tool, input, result, is_error in CALLS
    ]
    session = {"user": USER, "turns": [*turns, {"text": "Done."}]}
    script = {"about": "a search", "sessions": [session], "other_tools": [definition]}
    with StandIn(conversation.parse(script)) as standin:
        yield standin
    standin.finish()


RUN: dict[str, Any] = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 1024,
    "messages": [{"role": "user", "content": USER}],
}


def test_the_model_searches_and_edits_in_one_conversation(standin: StandIn) -> None:
    tool = memdir.MemoryTool("memory:")
    tool.memory.write("/memories/drinks.md", DRINKS)
    with anthropic.Anthropic(api_key="not-a-key", base_url=standin.base_url) as client:
        tools = [tool, memdir.search_tool(tool.memory)]
        client.beta.messages.tool_runner(tools=tools, **RUN).until_done()


def test_the_model_searches_with_the_asynchronous_client(standin: StandIn) -> None:
    async def converse() -> None:
        tool = memdir.AsyncMemoryTool("memory:")
        await tool.memory.write("/memories/drinks.md", DRINKS)
        url = standin.base_url
        async with anthropic.AsyncAnthropic(api_key="not-a-key", base_url=url) as client:
            tools = [tool, memdir.search_tool(tool.memory)]
            await client.beta.messages.tool_runner(tools=tools, **RUN).until_done()

    asyncio.run(converse())


def test_every_kind_of_input_has_an_answer() -> None:
    memory = memdir.Memory("memory:")
    memory.write("/memories/drinks.md", DRINKS)
    tool = memdir.search_tool(memory, prefix="")
    assert tool.name == "search"
    block = {"type": "tool_use", "id": "1", "name": "search", "input": {"query": "Anna"}}
    for input in ({"query": "Anna"}, block, '{"query": "Anna"}'):
        assert tool.call(input) == FOUND
        assert memory.execute_search(input).content == FOUND
    for wrong, sentence in [
        ({"query": 5}, "Error: Invalid `query` parameter: expected a string, got the number 5"),
        ({"query": None}, "Error: Invalid `query` parameter: expected a string, got null"),
        (None, "Error: The input should be an object with `query`, got null"),
        ([], "Error: The input should be an object with `query`, got the list []"),
        ("{", "Error: The input is not valid JSON: EOF while parsing an object at line 1 column 1"),
        (
            {"query": "tea", "limit": 21},
            "Error: Invalid `limit` parameter: expected an integer from 1 to 20, got the number 21",
        ),
        (
            {"query": "tea", "path": ["/memories"]},
            'Error: Invalid `path` parameter: expected a string, got the list ["/memories"]',
        ),
    ]:
        reply = memory.execute_search(cast("Any", wrong))
        assert (reply.content, reply.is_error, reply.kind) == (sentence, True, "invalid")
        with pytest.raises(ToolError) as raised:
            tool.call(wrong)
        assert raised.value.content == sentence
    outside = memory.execute_search({"query": "tea", "path": "/etc"})
    assert outside.is_error
    assert "/memories" in str(outside.content)


def test_where_no_thread_can_be_had_the_store_is_out_of_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> None:
        memory = memdir.AsyncMemory("memory:")
        monkeypatch.setattr(memdir._memdir, "submit", no_thread)
        reply = await memory.execute_search({"query": "tea"})
        assert reply.is_error
        assert str(reply.content).startswith("Error: The memory directory cannot be reached")
        assert "can't start new thread" in str(reply.cause)
        with pytest.raises(ToolError) as raised:
            await memdir.search_tool(memory).call({"query": "tea"})
        assert raised.value.content == reply.content

    asyncio.run(run())


def test_a_definition_for_each_host() -> None:
    memory = memdir.Memory("memory:")
    assert memory.search_tool_definition()["name"] == "memory_search"
    openai = cast("dict[str, Any]", memory.search_tool_definition("openai", prefix="x-"))
    assert openai["name"] == "x-search"
    # Strict functions require each field, so the optional path may be null.
    assert openai["parameters"]["properties"]["path"]["type"] == ["string", "null"]
    with pytest.raises(memdir.ConfigError, match="prefix"):
        memory.search_tool_definition(prefix="a b")
    with pytest.raises(memdir.ConfigError, match="dialect"):
        memory.search_tool_definition(cast("Any", "none"))
