"""The conversation of the model with every framework that has the tool itself, and the expected result."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conftest import PNG
from memdir import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_server import ModelServer

NOTE = "/memories/today.md"
PICTURE = b64encode(PNG).decode()
QUESTION = "What did we plan for today?"
NATIVE = {"type": "memory_20250818", "name": "memory"}

# An error and a success side by side, text that careless code would change, some lines of a file.
TEXT = "- tea\r\n\t- \u2028grün & <b>\"'\\n\n"
WELL_FORMED = [
    [
        ("memory", {"command": "view", "path": "/memories/none"}),
        ("memory", {"command": "create", "path": NOTE, "file_text": TEXT}),
    ],
    [("memory", {"command": "insert", "path": NOTE, "insert_line": 0, "insert_text": "# Today"})],
    [("memory", {"command": "view", "path": NOTE, "view_range": [1, 1]})],
    [("memory", {"command": "view", "path": "/memories/../../etc/passwd"})],
]
# The framework must leave these to memdir, which repairs the first call, and has messages for the others.
MALFORMED = [
    [
        ("memory", {"command": "insert", "path": NOTE, "insert_line": "1", "insert_text": "today"}),
        ("memory", {"command": "create", "path": "/memories/none"}),
        ("memory", {"command": "fly"}),
    ]
]
TURNS = WELL_FORMED + MALFORMED
WELL_FORMED_REPLIES = [
    ("The path /memories/none does not exist. Please provide a valid path.", True),
    (f"File created successfully at: {NOTE}", False),
    (f"The file {NOTE} has been edited.", False),
    (f"Here's the content of {NOTE} with line numbers:\n     1\t# Today", False),
    ("Path /memories/../../etc/passwd would escape /memories directory", True),
]
REPLIES = [
    *WELL_FORMED_REPLIES,
    (f"The file {NOTE} has been edited.", False),
    ("Error: Missing `file_text` parameter for the `create` command: expected a string", True),
    (
        "Error: Invalid `command` parameter: expected view, create, str_replace, insert, delete or rename, "
        'got the string "fly"',
        True,
    ),
]
IMAGE = [[("memory", {"command": "view", "path": "/memories/picture.png"})]]


def check(server: ModelServer, *, flags: bool | None, malformed: bool = True) -> None:
    """Checks that every reply was sent verbatim, that errors are flagged correctly, and that the
    file exists."""
    replies = REPLIES if malformed else WELL_FORMED_REPLIES
    wanted = [(text, None if flags is None else is_error and flags) for text, is_error in replies]
    assert [(result.text, result.is_error) for result in server.finish()] == wanted
    text = "# Today\n" + "today\n" * malformed + TEXT
    assert Path("memory/memories/today.md").read_bytes().decode() == text


def check_image(server: ModelServer, directory: Path) -> bool:
    """Whether the model saw the image, in whatever form its interface has for it."""
    [result] = server.finish()
    assert directory.joinpath("memory/memories/picture.png").read_bytes() == PNG
    return has_image(result.content)


# The search as a second tool.
SEARCH = [[("memory_search", {"query": "What is planned?"}), ("memory_search", {})]]


def memory_to_search() -> Memory:
    """A memory with a file that the search finds."""
    memory = Memory("./memory")
    memory.write(NOTE, "# Today\n- plan the garden\n")
    return memory


def check_search(server: ModelServer, *, flags: bool | None) -> None:
    """Checks the answers to the two calls, and that both tools were declared."""
    replies = [
        (f"{NOTE}\n     1\t# Today\n     2\t- plan the garden", False),
        ("Error: Missing `query` parameter for the `search` command: expected a string", True),
    ]
    wanted = [(text, None if flags is None else is_error and flags) for text, is_error in replies]
    assert [(result.text, result.is_error) for result in server.finish()] == wanted
    assert [tool["name"] for tool in server.tools] == ["memory", "memory_search"]


# The names of users, each of whom sees nothing of the others.
USERS = ["ann", "Ann", "../ann", "/etc", ""]


def check_users(
    serve: Callable[..., ModelServer],
    ask: Callable[[str], object],
    call: Callable[[str], tuple[str, dict[str, Any]]] | None = None,
    reply: str = f"File created successfully at: {NOTE}",
) -> None:
    """Each user's agent, called with `ask`, creates the same file in that user's own memory."""
    for user in USERS:
        made = call(user) if call else ("memory", {"command": "create", "path": NOTE, "file_text": user})
        with serve([made]) as server:
            ask(user)
        [result] = server.finish()
        assert (result.text, result.is_error or False) == (reply, False)
    files = [file for file in Path().rglob("today.md") if file.is_file()]
    assert sorted(file.read_text("utf-8") for file in files) == sorted(USERS)
    assert {file.parts[0] for file in files} == {"memories"}


def has_image(content: Any) -> bool:
    """Whether a tool result contains the image."""
    url = f"data:image/png;base64,{PICTURE}"
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    for block in content if isinstance(content, list) else []:
        if block["type"] == "image" and block["source"] == source:
            return True
        if block["type"] == "input_image" and block["image_url"] == url:
            return True
    return False


def declared(tool: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Whether a declaration shows the model every command and every field."""
    properties = schema["properties"]
    commands = ["view", "create", "str_replace", "insert", "delete", "rename"]
    fields = {"command", "path", "file_text", "old_str", "new_str", "insert_line", "insert_text"}
    return (
        tool["name"] == "memory"
        and properties["command"]["enum"] == commands
        and fields | {"old_path", "new_path", "view_range"} == set(properties)
        and schema["required"] == ["command"]
        and str(tool["description"]).startswith("The memory is a directory")
    )
