"""`memdir mcp` and the official client of the Model Context Protocol, over both transports."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.types import BlobResourceContents, Implementation, TextResourceContents

from effort import EFFORT, SECONDS, SEED
from memdir import Memory, open_store

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = [sys.executable, "-m", "memdir", "mcp"]
NAMES = ["view", "create", "str_replace", "insert", "delete", "rename", "search"]
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cf500f0003030101"
    "e221bc330000000049454e44ae426082"
)

Session = Callable[[Client], Awaitable[None]]


@contextmanager
def served(store: Path | str, *arguments: str) -> Iterator[str]:
    """Serves the store over HTTP, and returns the address."""
    command = [*PROGRAM, str(store), "--http=127.0.0.1:0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        assert line.startswith("memdir: serving http://127.0.0.1:"), line
        try:
            yield line.split()[-1]
        finally:
            server.kill()


def stdio(store: Path | str, *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(command=PROGRAM[0], args=[*PROGRAM[1:], str(store), *arguments])


def run(server: StdioServerParameters | str, session: Session, mode: str = "auto") -> None:
    async def main() -> None:
        async with Client(server, mode=mode, cache=None) as client:
            await session(client)

    asyncio.run(asyncio.wait_for(main(), SECONDS))


def text(result: Any) -> str:
    (block,) = result.content
    return str(block.text)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize(("flags", "actor"), [([], "an editor"), (["--actor=me"], "me")])
def test_the_history_says_which_client_it_was(
    tmp_path: Path, flags: list[str], actor: str, mode: str
) -> None:
    async def main() -> None:
        server, name = (
            stdio(tmp_path, "--history", *flags),
            Implementation(name="an editor", version="1"),
        )
        async with Client(server, mode=mode, cache=None, client_info=name) as client:
            await client.call_tool("create", {"path": "/memories/a", "file_text": "one"})

    asyncio.run(asyncio.wait_for(main(), SECONDS))
    (version,) = Memory(tmp_path, history=True).history()
    assert version.actor == actor


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_session(tmp_path: Path, transport: str, mode: str) -> None:
    async def session(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == NAMES
        view = tools["view"].annotations
        assert view is not None
        assert (view.read_only_hint, view.open_world_hint) == (True, False)
        delete = tools["delete"].annotations
        assert delete is not None
        assert (delete.read_only_hint, delete.destructive_hint) == (False, True)
        assert tools["rename"].input_schema["required"] == ["old_path", "new_path"]

        async def call(name: str, **arguments: object) -> tuple[str, bool]:
            result = await client.call_tool(name, arguments)
            return text(result), bool(result.is_error)

        path = "/memories/notes.md"
        created = f"File created successfully at: {path}"
        assert await call("create", path=path, file_text="one\ntwo\n") == (created, False)
        assert (await call("insert", path=path, insert_line=2, insert_text="three"))[1] is False
        assert (await call("str_replace", path=path, old_str="one", new_str="1"))[1] is False
        shown = f"Here's the content of {path} with line numbers:\n     2\ttwo\n     3\tthree"
        assert await call("view", path=path, view_range=[2, 3]) == (shown, False)
        assert await call("view", path="/etc/passwd") == (
            "Path must start with /memories, got: /etc/passwd",
            True,
        )
        assert (await call("insert", path=path))[1] is True

        (tmp_path / "memories" / "dot.png").write_bytes(PNG)
        image = await client.call_tool("view", {"path": "/memories/dot.png"})
        (block,) = image.content
        assert block.type == "image"
        assert (block.mime_type, b64decode(block.data)) == ("image/png", PNG)

        listed = (await client.list_resources()).resources
        assert [(str(file.uri), file.mime_type, file.size) for file in listed] == [
            ("memdir:///memories/dot.png", "image/png", len(PNG)),
            ("memdir:///memories/notes.md", "text/markdown", 12),
        ]
        (content,) = (await client.read_resource("memdir:///memories/notes.md")).contents
        assert isinstance(content, TextResourceContents)
        assert content.text == "1\ntwo\nthree\n"
        (picture,) = (await client.read_resource("memdir:///memories/dot.png")).contents
        assert isinstance(picture, BlobResourceContents)
        assert b64decode(picture.blob) == PNG
        for wrong in ["memdir:///memories/none.md", "file:///etc/passwd", "memdir:///etc/passwd"]:
            with pytest.raises(MCPError):
                await client.read_resource(wrong)
        with pytest.raises(MCPError):
            await client.call_tool("undo", {})

        renamed = f"Successfully renamed {path} to /memories/n.md"
        assert await call("rename", old_path=path, new_path="/memories/n.md") == (renamed, False)
        assert (await call("delete", path="/memories/n.md"))[1] is False

    if transport == "stdio":
        run(stdio(tmp_path), session, mode)
    else:
        with served(tmp_path) as url:
            run(url, session, mode)


def test_instructions_and_names_have_the_prefix() -> None:
    async def session(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [f"memory_{name}" for name in NAMES]
        assert "memory_view with the path /memories" in (client.instructions or "")
        result = await client.call_tool("memory_view", {"path": "/memories"})
        assert text(result).startswith("Here're the files")

    run(stdio("memory:", "--prefix", "memory_"), session, "legacy")


def test_the_search_is_a_tool_unless_it_is_left_out(tmp_path: Path) -> None:
    async def session(client: Client) -> None:
        note = {"path": "/memories/anna.md", "file_text": "# Anna\n\n- prefers green tea\n"}
        await client.call_tool("create", note)
        found = await client.call_tool("search", {"query": "which tea?"})
        assert text(found).startswith("/memories/anna.md\n")
        assert text(found).endswith("     3\t- prefers green tea")
        nothing = await client.call_tool("search", {"query": "coffee", "path": "/memories/anna.md"})
        assert text(nothing) == "No file has these words."
        missing = await client.call_tool("search", {"query": "tea", "path": "/memories/x"})
        assert missing.is_error

    run(stdio(tmp_path), session)

    async def without(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == NAMES[:-1]
        with pytest.raises(MCPError):
            await client.call_tool("search", {"query": "tea"})

    run(stdio(tmp_path, "--no-search"), without)


def test_policies_are_flags(tmp_path: Path) -> None:
    async def session(client: Client) -> None:
        allowed = await client.call_tool("create", {"path": "/memories/a", "file_text": "12345"})
        assert not allowed.is_error
        full = await client.call_tool("create", {"path": "/memories/b", "file_text": ""})
        assert full.is_error
        assert "the memory would hold" in text(full)
        fixed = await client.call_tool("create", {"path": "/memories/book/b", "file_text": ""})
        assert "is read-only" in text(fixed)

    flags = ["--max-files", "1", "--read-only-paths", "/memories/book"]
    run(stdio(tmp_path, *flags), session)

    async def only_view(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["view", "search"]
        with pytest.raises(MCPError):
            await client.call_tool("delete", {"path": "/memories/a"})

    run(stdio(tmp_path, "--read-only"), only_view)
    wrong = subprocess.run(
        [*PROGRAM, str(tmp_path), "--max-files", "many"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "'--max-files <NUMBER>': use a whole number" in wrong.stderr
    open_to_all = subprocess.run(
        [*PROGRAM, str(tmp_path), "--http=0.0.0.0:0"], capture_output=True, text=True, check=False
    )
    assert open_to_all.returncode == 2
    assert "not a loopback address" in open_to_all.stderr


def test_a_client_that_leaves_or_speaks_something_else_is_no_accident(tmp_path: Path) -> None:
    def answer(said: str, *arguments: str) -> tuple[int, str]:
        command = [*PROGRAM, str(tmp_path), *arguments]
        ran = subprocess.run(command, input=said, capture_output=True, text=True, check=False)
        return ran.returncode, ran.stderr

    assert answer("") == (0, "")
    code, said = answer('{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n')
    assert code in (0, 1)
    assert code == 0 or said.startswith("memdir: the client does not speak MCP: ")
    with served(tmp_path) as url:
        code, said = answer("", f"--http=127.0.0.1:{url.split(':')[2].split('/')[0]}")
        assert code == 3
        assert said.startswith("memdir: nothing can be served: ")


def test_a_resource_that_is_read_is_used(tmp_path: Path) -> None:
    def accessed() -> bool:
        (entry,) = open_store(tmp_path).list("/memories")
        return entry.accessed is not None

    async def session(client: Client) -> None:
        await client.call_tool("create", {"path": "/memories/a.md", "file_text": "one"})
        await client.list_resources()
        assert not accessed()
        await client.read_resource("memdir:///memories/a.md")
        assert accessed()

    run(stdio(tmp_path, "--record-access"), session)


def test_changes_are_told_whoever_made_them(tmp_path: Path) -> None:
    uri = "memdir:///memories/a.md"

    async def session(client: Client) -> None:
        await client.call_tool("create", {"path": "/memories/a.md", "file_text": "one"})
        listening = client.listen(resources_list_changed=True, resource_subscriptions=[uri])
        async with listening as events:
            told = aiter(events)
            # The first events say that anything may have changed: the server has not polled yet.
            kinds = {type(await anext(told)) for _ in range(2)}
            assert kinds == {ResourcesListChanged, ResourceUpdated}
            await client.call_tool(
                "str_replace", {"path": "/memories/a.md", "old_str": "one", "new_str": "two"}
            )
            kinds = {type(await anext(told)) for _ in range(2)}
            assert kinds == {ResourcesListChanged, ResourceUpdated}
            # Another process writes to the same directory.
            (tmp_path / "memories" / "a.md").write_text("three")
            event = await anext(told)
            assert isinstance(event, ResourceUpdated)
            assert str(event.uri) == uri

    run(stdio(tmp_path), session, "2026-07-28")


def test_changes_are_told_to_older_clients(tmp_path: Path) -> None:
    told: list[str] = []

    async def session(_: object) -> None:
        async def heard(message: Any) -> None:
            told.append(str(getattr(message, "method", "")))

        server = stdio(tmp_path)
        async with Client(server, mode="legacy", cache=None, message_handler=heard) as client:
            await client.call_tool("create", {"path": "/memories/a.md", "file_text": "one"})
            with pytest.warns(match="subscri"):
                await client.subscribe_resource("memdir:///memories/a.md")
            (tmp_path / "memories" / "a.md").write_text("two")
            while "notifications/resources/updated" not in told:
                await asyncio.sleep(0.05)
            assert "notifications/resources/list_changed" in told

    asyncio.run(asyncio.wait_for(session(None), SECONDS))


def test_pages_of_a_website_are_refused(tmp_path: Path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "page", "version": "1"},
        },
    }
    usual = {"Accept": "application/json, text/event-stream"}
    with served(tmp_path) as url:

        def status(**headers: str) -> int:
            return httpx2.post(url, json=hello, headers={**usual, **headers}).status_code

        assert status() == 200
        assert status(Origin="https://evil.example") == 403
        assert status(Origin="null") == 403
        assert status(Host="evil.example") == 403


def hostile(rng: random.Random) -> object:
    """Arguments of any kind, often with the names of fields."""
    scalars: list[object] = [
        None, True, 0, -1, 2**70, 1.5, "", "/memories", "/memories/../x", "/memories/a", "\x00",
        "\ud7ff", "%2e%2e", "x" * 5000, [], {}, [1, 2], [1], ["a", None], {"a": {"b": []}},
    ]  # fmt: skip
    fields = ["path", "file_text", "old_str", "new_str", "insert_line", "insert_text", "old_path"]
    fields += ["new_path", "view_range", "command", "__proto__", ""]
    if rng.random() < 0.1:
        return rng.choice(scalars)
    return {name: rng.choice(scalars) for name in rng.sample(fields, rng.randrange(len(fields)))}


def test_every_hostile_call_has_one_answer(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    batch = 500
    calls = 2 * batch * EFFORT
    server = subprocess.Popen(
        [*PROGRAM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert server.stdin is not None
    assert server.stdout is not None

    def send(message: object) -> None:
        assert server.stdin is not None
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()

    def answers(until: int) -> Iterator[int]:
        seen = 0
        for line in server.stdout or []:
            answer = json.loads(line)
            if "id" in answer:
                assert ("result" in answer) != ("error" in answer), line
                seen += 1
                yield answer["id"]
                if seen == until:
                    return

    client = {"name": "hostile", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
    assert list(answers(1)) == [0]
    send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    for first in range(1, calls + 1, batch):
        ids = list(range(first, first + batch))
        for number in ids:
            method = "tools/call"
            params: object = {"name": rng.choice([*NAMES, "x"]), "arguments": hostile(rng)}
            if rng.random() < 0.2:
                method = rng.choice(
                    ["resources/read", "resources/subscribe", "resources/list", "no"]
                )
                params = {"uri": rng.choice(["memdir:///memories/a", "memdir://%", "", "\x00"])}
                if method == "resources/list":
                    params = {"cursor": rng.choice(["", "memdir:///memories/b", "x"])}
            send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert sorted(answers(batch)) == ids, f"MEMDIR_SEED={SEED}"
    with server:
        server.stdin.close()
        assert server.wait(SECONDS) == 0
