"""Scripted conversations: the messages that the stand-in plays, and the requests that it expects.

``examples/README.md`` describes the format. A script is validated completely when it is loaded. So
an error in it is reported as such, and not as a failure of the program under test.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class ScriptError(ValueError):
    """The script itself is invalid; the message says where."""


@dataclass(frozen=True)
class Call:
    """One tool use by Claude, and the expected result."""

    input: Any
    result: str | list[dict[str, Any]]
    is_error: bool
    tool: str = "memory"
    """The name of the tool."""


@dataclass(frozen=True)
class Turn:
    """One message of Claude's: text, tool uses, or both."""

    text: str | None
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Session:
    """One conversation from the user's message to Claude's last message."""

    user: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Search:
    """A question about the files of the memory, and the path of the file that answers it best."""

    question: str
    path: str


@dataclass(frozen=True)
class Conversation:
    """A whole script: consecutive sessions on the same memory."""

    about: str
    sessions: tuple[Session, ...]
    tool_extras: dict[str, Any] = field(default_factory=dict)
    """Fields that the memory tool's entry must have besides ``type`` and ``name``."""
    tool: dict[str, Any] | None = None
    """The whole entry of the tool, if it is a custom tool instead of Anthropic's."""
    other_tools: tuple[dict[str, Any], ...] = ()
    """The entries of the tools that come after it."""
    beside: dict[str, str] = field(default_factory=dict)
    """Files next to the ``memories`` directory that must not change: path → content."""
    then: dict[str, str | None] | None = None
    """The complete memory at the end: path → content; ``None`` is an empty directory."""
    search: Search | None = None
    """A search in the memory at the end."""

    @property
    def turns(self) -> int:
        """The total number of Claude's messages."""
        return sum(len(session.turns) for session in self.sessions)

    @property
    def calls(self) -> int:
        """The total number of tool uses."""
        return sum(len(turn.calls) for session in self.sessions for turn in session.turns)


def load(path: str | Path) -> Conversation:
    """Reads a script.

    Raises:
        OSError: the file cannot be read.
        ScriptError: the file is not a script.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ScriptError(f"{path} is not JSON: {error}") from error
    try:
        return parse(data)
    except ScriptError as error:
        raise ScriptError(f"{path}: {error}") from None


def parse(data: Any) -> Conversation:
    """The conversation in a script that was parsed from JSON.

    Raises:
        ScriptError: the value is not a script.
    """
    script = _fields(
        data,
        "the script",
        required={"about": str, "sessions": list},
        optional={
            "tool_extras": dict,
            "tool": dict,
            "other_tools": list,
            "beside": dict,
            "then": dict,
            "search": dict,
        },
    )
    if not script["sessions"]:
        raise ScriptError("the script has no session")
    sessions = tuple(
        _session(session, f"session {number}")
        for number, session in enumerate(script["sessions"], start=1)
    )
    beside = {name: _text(text, f"beside {name}") for name, text in script["beside"].items()}
    then = None
    if "then" in data:
        then = {
            path: None if text is None else _text(text, f"then {path}")
            for path, text in script["then"].items()
        }
    search = None
    if "search" in data:
        search = Search(
            **_fields(script["search"], "search", required={"question": str, "path": str})
        )
    tool = script["tool"] or None
    return Conversation(
        about=script["about"],
        sessions=sessions,
        tool_extras=script["tool_extras"],
        tool=tool,
        other_tools=tuple(script["other_tools"]),
        beside=beside,
        then=then,
        search=search,
    )


def _session(data: Any, where: str) -> Session:
    session = _fields(data, where, required={"user": str, "turns": list})
    turns = tuple(
        _turn(turn, f"{where}, turn {number}")
        for number, turn in enumerate(session["turns"], start=1)
    )
    if not turns or turns[-1].calls:
        raise ScriptError(f"{where} must end with a turn that has no calls: nobody would answer it")
    for number, turn in enumerate(turns[:-1], start=1):
        if not turn.calls:
            raise ScriptError(f"{where}, turn {number} has no calls, so that it would be the last")
    return Session(session["user"], turns)


def _turn(data: Any, where: str) -> Turn:
    turn = _fields(data, where, optional={"text": str, "calls": list})
    calls = tuple(
        _call(call, f"{where}, call {number}") for number, call in enumerate(turn["calls"], start=1)
    )
    if not turn["text"] and not calls:
        raise ScriptError(f"{where} has neither text nor calls")
    return Turn(turn["text"] or None, calls)


def _call(data: Any, where: str) -> Call:
    call = _fields(
        data,
        where,
        required={"input": dict, "result": (str, dict), "is_error": bool},
        optional={"tool": str},
    )
    return Call(
        input=_expanded(call["input"], f"{where}, input"),
        result=_result(call["result"], f"{where}, result"),
        is_error=call["is_error"],
        tool=call["tool"] or "memory",
    )


def _result(data: Any, where: str) -> str | list[dict[str, Any]]:
    """A text, or the block of an image."""
    match data:
        case {"$image": str(media_type), "$base64": str(content)} if len(data) == 2:
            source = {"type": "base64", "media_type": media_type, "data": content}
            return [{"type": "image", "source": source}]
        case _:
            return _text(data, where)


def _text(data: Any, where: str) -> str:
    text = _expanded(data, where)
    if not isinstance(text, str):
        raise ScriptError(f'{where} must be a string or {{"$text": [strings]}}')
    return text


def _expanded(value: Any, where: str) -> Any:
    """The value with every ``{"$text": [piece, …]}`` joined."""
    if isinstance(value, list):
        return [_expanded(item, where) for item in value]
    if not isinstance(value, dict):
        return value
    if "$text" not in value:
        return {name: _expanded(item, where) for name, item in value.items()}
    pieces = value["$text"]
    if len(value) > 1 or not isinstance(pieces, list):
        raise ScriptError(f'{where}: "$text" must stand alone and hold a list of strings')
    if not all(isinstance(piece, str) for piece in pieces):
        raise ScriptError(f'{where}: "$text" must hold strings only')
    return "".join(pieces)


def _fields(
    data: Any,
    where: str,
    *,
    required: dict[str, type | tuple[type, ...]] | None = None,
    optional: dict[str, type] | None = None,
) -> dict[str, Any]:
    """The fields of an object, with the right types; missing optional ones are empty."""
    required, optional = required or {}, optional or {}
    if not isinstance(data, dict):
        raise ScriptError(f"{where} must be an object")
    for name in data:
        if name not in required and name not in optional:
            raise ScriptError(f'{where} has an unknown field "{name}"')
    fields: dict[str, Any] = {name: kind() for name, kind in optional.items()}
    for name, kind in {**required, **optional}.items():
        if name not in data:
            if name in required:
                raise ScriptError(f'{where} lacks "{name}"')
            continue
        if not isinstance(data[name], kind):
            raise ScriptError(f'"{name}" of {where} has the wrong type')
        fields[name] = data[name]
    return fields
