"""The tool in the SDK's own tool runner: the requests carry exactly the memory's answers.

The stand-in checks each result against its script. These tests also check the recorded requests, so
they do not depend on the stand-in alone.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import anthropic
import conversation
import pytest
from standin import StandIn

import memdir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from conversation import Conversation

    Converse = Callable[..., None]

OUT_OF_REACH = "Error: The memory directory cannot be reached at the moment. "
# The consequence for the command.
READ = OUT_OF_REACH + "Try again later."
UNCHANGED = OUT_OF_REACH + "Nothing was changed; try again later."
UNKNOWN = OUT_OF_REACH + (
    "The change may or may not have been saved: view the path before trying again."
)
SIX = "view, create, str_replace, insert, delete or rename"


def results(standin: StandIn) -> list[dict[str, Any]]:
    """The tool results that were sent, each from the request in which it was new."""
    blocks: list[dict[str, Any]] = []
    for request in standin.requests[1:]:
        blocks += request["body"]["messages"][-1]["content"]
    return blocks


def tree(base: Path) -> dict[str, str]:
    """The files of a memory on disk: path → content."""
    return {
        "/" + file.relative_to(base).as_posix(): file.read_bytes().decode()
        for file in (base / "memories").rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize("cache_control", [None, {"type": "ephemeral", "ttl": "1h"}])
def test_the_tool_entry(
    converse: Converse,
    script: Callable[..., Conversation],
    tmp_path: Path,
    cache_control: dict[str, str] | None,
) -> None:
    extras = {} if cache_control is None else {"cache_control": cache_control}
    with StandIn(script(tool_extras=extras)) as standin:
        converse(standin.base_url, tmp_path, cache_control=cache_control)
    standin.finish()
    [request] = standin.requests
    assert request["body"]["tools"] == [{"type": "memory_20250818", "name": "memory", **extras}]
    assert "context-management" not in request["headers"].get("anthropic-beta", "")


def test_every_result_goes_out_to_the_letter(
    converse: Converse,
    history: dict[str, Any],
    script: Callable[..., Conversation],
    tmp_path: Path,
) -> None:
    note = "/memories/note.md"
    odd = 'ünï\u2028çödé 🫖 "quoted" \\back\\ </tool_result>\r\n\tone $& \\1\n'
    listing = (
        "Here're the files and directories up to 2 levels deep in /memories, "
        "excluding hidden items and node_modules:\n4.0K\t/memories"
    )
    edited = (
        "The memory file has been edited. Here is the snippet showing the change "
        "(with line numbers):\n"
    )
    turns: list[list[tuple[dict[str, Any], str, bool]]] = [
        [({"command": "view", "path": "/memories"}, listing, False)],
        [
            (
                {"command": "create", "path": note, "file_text": odd},
                f"File created successfully at: {note}",
                False,
            )
        ],
        [
            (
                {"command": "view", "path": note},
                f"Here's the content of {note} with line numbers:\n"
                '     1\tünï\u2028çödé 🫖 "quoted" \\back\\ </tool_result>\r\n'
                "     2\t\tone $& \\1",
                False,
            ),
            (
                {"command": "create", "path": note, "file_text": ""},
                f"Error: File {note} already exists",
                True,
            ),
            (
                {"command": "str_replace", "path": note, "old_str": "o", "new_str": "0"},
                "No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2. "
                "Please ensure it is unique",
                True,
            ),
            (
                {"command": "str_replace", "path": note, "old_str": "one", "new_str": "two"},
                edited + '     1\tünï\u2028çödé 🫖 "quoted" \\back\\ </tool_result>\r\n'
                "     2\t\ttwo $& \\1",
                False,
            ),
            (
                {"command": "insert", "path": note, "insert_line": 3, "insert_text": "x"},
                "Error: Invalid `insert_line` parameter: 3. It should be within the range of lines "
                "of the file: [0, 2]",
                True,
            ),
            (
                {"command": "insert", "path": note, "insert_line": 0, "insert_text": "# Note"},
                f"The file {note} has been edited.",
                False,
            ),
        ],
        [
            (
                {"command": "rename", "old_path": note, "new_path": "/memories/old/note.md"},
                f"Successfully renamed {note} to /memories/old/note.md",
                False,
            )
        ],
        [
            (
                {"command": "delete", "path": note},
                f"Error: The path {note} does not exist",
                True,
            ),
            (
                {"command": "view", "path": "/memories/../../etc/passwd"},
                "Path /memories/../../etc/passwd would escape /memories directory",
                True,
            ),
            (
                {"command": "view", "path": "/etc/passwd"},
                "Path must start with /memories, got: /etc/passwd",
                True,
            ),
        ],
    ]
    with StandIn(script(*turns)) as standin:
        converse(standin.base_url, tmp_path, **history)
    standin.finish()

    wanted = [
        {
            "type": "tool_result",
            "tool_use_id": f"toolu_standin_1_{turn}_{call}",
            "content": result,
            **({"is_error": True} if is_error else {}),
        }
        for turn, calls in enumerate(turns, start=1)
        for call, (_, result, is_error) in enumerate(calls, start=1)
    ]
    assert results(standin) == wanted
    assert tree(tmp_path) == {"/memories/old/note.md": "# Note\n" + odd.replace("one", "two")}


def test_a_hook_s_word_is_the_result(
    converse: Converse, script: Callable[..., Conversation], tmp_path: Path
) -> None:
    events: list[str] = []

    def before(command: Mapping[str, Any]) -> Mapping[str, object] | None:
        match command:
            case {"command": "delete"}:
                raise memdir.Deny("Nothing is deleted here: move it to /memories/archive.")
            case {"command": "create", "file_text": text}:
                return {**command, "file_text": text.replace("Anna", "A.")}
            case {"command": "rename"}:
                raise RuntimeError("no route to rules.internal")
        return None

    note = "/memories/note.md"
    denied = "Nothing is deleted here: move it to /memories/archive."
    failed = (
        "Error: The command was not carried out, because the program that runs this memory could "
        "not check it. Nothing was changed; try again later."
    )
    turn = [
        (
            {"command": "create", "path": note, "file_text": "Anna likes tea.\n"},
            f"File created successfully at: {note}\n[The program that runs this memory changed the "
            "text before it was written. View the file to see it.]",
            False,
        ),
        ({"command": "delete", "path": note}, denied, True),
        ({"command": "rename", "old_path": note, "new_path": "/memories/b"}, failed, True),
    ]
    options: dict[str, Any] = {
        "before": before,
        "after": lambda event: events.append(event.outcome),
    }
    with StandIn(script(turn)) as standin:
        converse(standin.base_url, tmp_path, options=options)
    standin.finish()
    sent = [(block["content"], block.get("is_error", False)) for block in results(standin)]
    assert sent == [(content, is_error) for _, content, is_error in turn]
    assert events == ["ok", "denied", "failed"]
    assert tree(tmp_path) == {note: "A. likes tea.\n"}
    assert "rules.internal" not in repr(standin.requests)


def test_a_person_approves_what_the_async_runner_executes(
    script: Callable[..., Conversation], tmp_path: Path
) -> None:
    asked: list[Mapping[str, Any]] = []
    events: list[str] = []

    async def before(command: Mapping[str, Any]) -> None:
        if command["command"] == "view":
            return
        asked.append(command)
        # A person is asked elsewhere, and answers after a while.
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(answer.set_result, command["command"] != "delete")
        if not await answer:
            raise memdir.Deny("Error: The user does not want this to be deleted.")

    async def after(event: memdir.Event) -> None:
        await asyncio.sleep(0)
        events.append(event.outcome)

    note = "/memories/note.md"
    turns: list[list[tuple[Any, str, bool]]] = [
        [
            (
                {"command": "create", "path": note, "file_text": "tea\n"},
                f"File created successfully at: {note}",
                False,
            )
        ],
        [
            (
                {"command": "delete", "path": note},
                "Error: The user does not want this to be deleted.",
                True,
            ),
            (
                {"command": "view", "path": note},
                f"Here's the content of {note} with line numbers:\n     1\ttea",
                False,
            ),
        ],
    ]

    async def converse(base_url: str) -> None:
        tool = memdir.AsyncMemoryTool(tmp_path, before=before, after=after)
        async with anthropic.AsyncAnthropic(api_key="not-a-key", base_url=base_url) as client:
            await client.beta.messages.tool_runner(
                model="claude-sonnet-5-5",
                max_tokens=1024,
                tools=[tool],
                messages=[{"role": "user", "content": "Hello, Claude."}],
            ).until_done()

    with StandIn(script(*turns)) as standin:
        asyncio.run(converse(standin.base_url))
    standin.finish()
    assert [command["command"] for command in asked] == ["create", "delete"]
    assert sorted(events) == ["denied", "ok", "ok"]
    assert tree(tmp_path) == {note: "tea\n"}


PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAD0lEQVR4XmNg"
    "QAb/O0AkAAi2AYjsV++JAAAAAElFTkSuQmCC"
)


def test_an_image_goes_out_as_a_block(
    converse: Converse,
    history: dict[str, Any],
    script: Callable[..., Conversation],
    tmp_path: Path,
) -> None:
    memdir.Memory(tmp_path).create("/memories/b.jpg", "not really")
    (tmp_path / "memories" / "a.png").write_bytes(b64decode(PNG))
    no_image = (
        "Error: The file /memories/b.jpg is named like an image, but holds no whole PNG or JPEG "
        "image, so it cannot be shown. If it is text, rename it to a name that ends in .txt "
        "or .md, and view that."
    )
    turn = [
        (
            {"command": "view", "path": "/memories/a.png"},
            {"$image": "image/png", "$base64": PNG},
            False,
        ),
        ({"command": "view", "path": "/memories/b.jpg"}, no_image, True),
    ]
    with StandIn(script(turn)) as standin:
        converse(standin.base_url, tmp_path, **history)
    standin.finish()
    image, refused = results(standin)
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert image["content"] == [{"type": "image", "source": source}]
    assert not image.get("is_error")
    assert refused["is_error"] is True


@pytest.mark.parametrize("name", ["release-notes", "parallel"])
def test_the_conversations_of_the_examples(
    converse: Converse, history: dict[str, Any], examples: Path, tmp_path: Path, name: str
) -> None:
    played = conversation.load(examples / "conversations" / f"{name}.json")
    with StandIn(played) as standin:
        for session in played.sessions:
            converse(standin.base_url, tmp_path, user=session.user, **history)
    report = standin.finish()
    assert report["tool_results_checked"] == played.calls > 0
    assert tree(tmp_path) == played.then


def test_the_sdk_sends_the_history_both_ways(
    converse: Converse,
    history: dict[str, Any],
    script: Callable[..., Conversation],
    tmp_path: Path,
) -> None:
    gone = {"command": "delete", "path": "/memories/a"}
    turn = [(gone, "Error: The path /memories/a does not exist", True)]
    with StandIn(script(turn, turn)) as standin:
        converse(standin.base_url, tmp_path, **history)
    standin.finish()
    threaded = ["thread" in request["body"] for request in standin.requests]
    lengths = [len(request["body"]["messages"]) for request in standin.requests]
    assert (threaded, lengths) in [([True] * 3, [1, 1, 1]), ([False] * 3, [1, 3, 5])]
    assert not (history and any(threaded))


def test_many_conversations_at_once_lose_nothing(
    converse: Converse, script: Callable[..., Conversation], tmp_path: Path
) -> None:
    log = "/memories/log.md"
    conversations, turns, calls = 4, 3, 3
    memdir.Memory(tmp_path).create(log, "")

    def speak(who: int) -> None:
        # The insert is at the start of the file, a line that exists whatever the others do.
        done = f"The file {log} has been edited."
        scripted = [
            [
                (
                    {
                        "command": "insert",
                        "path": log,
                        "insert_line": 0,
                        "insert_text": f"{who}.{turn}.{call}",
                    },
                    done,
                    False,
                )
                for call in range(calls)
            ]
            for turn in range(turns)
        ]
        with StandIn(script(*scripted)) as standin:
            converse(standin.base_url, tmp_path)
        standin.finish()

    with ThreadPoolExecutor(conversations) as pool:
        list(pool.map(speak, range(conversations)))

    lines = tree(tmp_path)[log].splitlines()
    wanted = [
        f"{who}.{turn}.{call}"
        for who in range(conversations)
        for turn in range(turns)
        for call in range(calls)
    ]
    assert sorted(lines) == sorted(wanted)
    for who in range(conversations):
        # These runners execute the calls of one turn in order, so the newest line is on top.
        own = [line for line in lines if line.startswith(f"{who}.")]
        assert own == sorted(own, reverse=True)


class BrokenStore(memdir.Store):
    """Fails like a remote store, with details that the model must not read."""

    SECRETS = ("db.internal", "hunter2", "/srv/agents", "RuntimeError", "Traceback")

    def _fail(self, *_: Any) -> Any:
        raise RuntimeError("postgres://agent:hunter2@db.internal/agents: /srv/agents is gone")

    read = list = open = write = update = delete = rename = clear = _fail  # type: ignore[assignment]


def test_a_broken_store_says_so_and_no_more(
    converse: Converse, script: Callable[..., Conversation]
) -> None:
    path = "/memories/a.md"
    commands: list[tuple[dict[str, Any], str]] = [
        ({"command": "view", "path": path}, READ),
        ({"command": "create", "path": path, "file_text": "x"}, UNKNOWN),
        # A command that reads first has not begun to write.
        ({"command": "str_replace", "path": path, "old_str": "x", "new_str": "y"}, UNCHANGED),
        ({"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}, UNCHANGED),
        ({"command": "delete", "path": path}, UNKNOWN),
        ({"command": "rename", "old_path": path, "new_path": "/memories/b.md"}, UNKNOWN),
    ]
    turns = [[(command, sentence, True)] for command, sentence in commands]
    with StandIn(script(*turns)) as standin:
        converse(standin.base_url, BrokenStore())
    standin.finish()
    sent = results(standin)
    assert [block["content"] for block in sent] == [sentence for _, sentence in commands]
    assert all(block["is_error"] for block in sent)
    everything = repr(standin.requests)
    assert not [secret for secret in BrokenStore.SECRETS if secret in everything]


def test_a_broken_directory_leaks_no_path(
    converse: Converse, script: Callable[..., Conversation], tmp_path: Path
) -> None:
    base = tmp_path / "the-host-s-own-name"
    memdir.Memory(base).create("/memories/a.md", "x")
    outside = tmp_path / "elsewhere"
    outside.write_text("not yours\n")
    (base / "memories" / "link.md").symlink_to(outside)
    link = "/memories/link.md"
    escape = f"Path {link} would escape /memories directory via symlink"
    turn = [
        ({"command": "view", "path": link}, escape, True),
        ({"command": "insert", "path": link, "insert_line": 0, "insert_text": "x"}, escape, True),
    ]
    with StandIn(script(turn)) as standin:
        converse(standin.base_url, base)
    standin.finish()
    assert outside.read_text() == "not yours\n"
    everything = repr([request["body"] for request in standin.requests])
    assert not [name for name in (base.name, str(tmp_path), "not yours") if name in everything]


@pytest.mark.parametrize(
    ("input", "content"),
    [
        (
            {"command": "undo_edit", "path": "/memories/a"},
            f'Error: Invalid `command` parameter: expected {SIX}, got the string "undo_edit"',
        ),
        ({}, f"Error: Missing `command` parameter: expected {SIX}"),
        (
            {"command": None},
            f"Error: Invalid `command` parameter: expected {SIX}, got null",
        ),
        (
            {"command": "create", "path": "/memories/a"},
            "Error: Missing `file_text` parameter for the `create` command: expected a string",
        ),
        (
            {"command": "view", "path": 7},
            "Error: Invalid `path` parameter: expected a string, got the number 7",
        ),
        (
            {
                "command": "insert",
                "path": "/memories/a",
                "insert_line": True,
                "insert_text": "x",
            },
            "Error: Invalid `insert_line` parameter: expected an integer, got the boolean true",
        ),
    ],
)
def test_malformed_input_is_answered_with_a_sentence(
    converse: Converse,
    script: Callable[..., Conversation],
    tmp_path: Path,
    input: dict[str, Any],
    content: str,
) -> None:
    with StandIn(script([(input, content, True)])) as standin:
        converse(standin.base_url, tmp_path)
    standin.finish()
    assert [(block["content"], block["is_error"]) for block in results(standin)] == [
        (content, True)
    ]
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("given", ["the option", "the memory"])
def test_what_the_model_changes_is_recorded_as_the_actor_s_and_undone(
    converse: Converse, script: Callable[..., Conversation], tmp_path: Path, given: str
) -> None:
    memory = memdir.Memory(tmp_path, history=True)
    memory.create("/memories/mine", "mine\n")
    a, b = "/memories/a", "/memories/b"
    turns: list[list[tuple[Any, Any, bool]]] = [
        [
            (
                {"command": "create", "path": a, "file_text": "one\n"},
                f"File created successfully at: {a}",
                False,
            )
        ],
        [
            (
                {"command": "rename", "old_path": a, "new_path": b},
                f"Successfully renamed {a} to {b}",
                False,
            ),
            (
                {"command": "delete", "path": "/memories/mine"},
                "Successfully deleted /memories/mine",
                False,
            ),
        ],
    ]
    place: Any = tmp_path
    options: dict[str, Any] = {"history": True, "actor": "session 1"}
    if given == "the memory":
        kind = memdir.Memory if converse.__name__ == "converse_sync" else memdir.AsyncMemory
        place, options = kind(tmp_path, history=True).acting_as("session 1"), {}
    with StandIn(script(*turns)) as standin:
        converse(standin.base_url, place, options=options)
    standin.finish()
    versions = memory.history(actor="session 1")
    # The runner may execute the calls of one turn in any order.
    assert sorted((version.operation, version.path) for version in versions) == [
        ("created", a),
        ("deleted", "/memories/mine"),
        ("renamed", b),
    ]
    assert tree(tmp_path) == {"/memories/b": "one\n"}
    memory.undo(since=versions[-1].time, actor="session 1")
    assert tree(tmp_path) == {"/memories/mine": "mine\n"}
