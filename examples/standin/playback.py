"""Plays a conversation and checks the requests.

This is the Messages API as far as a tool runner can see it: whose turn it is, which tool result
answers which tool use, and which messages the server remembers when the client uses message
threads. It is independent of HTTP.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from typing import Any

from conversation import Call, Conversation, Session, Turn

MEMORY_TOOL = {"type": "memory_20250818", "name": "memory"}
THREADS_BETA = "message-threads-2026-08-12"
EDITS = {
    "clear_tool_uses_20250919": "context-management-2025-06-27",
    "compact_20260112": "compact-2026-01-12",
}
"""The edits of a long conversation that a client may request, and the beta for each."""


class MismatchError(Exception):
    """A request differs from the script; the message shows the complete difference."""


class Playback:
    """One run through a conversation. Not thread-safe.

    With ``context_management`` every request must ask for context editing.
    """

    def __init__(self, conversation: Conversation, *, context_management: bool = False) -> None:
        self.conversation = conversation
        self.context_management = context_management
        self.turns_played = 0
        self.results_checked = 0
        self._session = 0
        self._turn = 0
        self._threaded = False

    @property
    def complete(self) -> bool:
        """Whether the last turn of the last session has been sent."""
        return self._session == len(self.conversation.sessions)

    @property
    def where(self) -> str:
        """The name of the next turn."""
        if self.complete:
            return "after the last session"
        turns = len(self.conversation.sessions[self._session].turns)
        return f"session {self._session + 1}, turn {self._turn + 1} of {turns}"

    def answer(self, headers: Mapping[str, str], body: Any) -> dict[str, Any]:
        """Checks one request and returns Claude's next message.

        Raises:
            MismatchError: the request is wrong. The state is unchanged.
        """
        if self.complete:
            raise MismatchError("the conversation is over, and here is another request")
        check_headers(headers)
        if not isinstance(body, dict):
            raise MismatchError(f"the body should be an object, got {_json(body)}")
        self._check_settings(headers, body)
        new_results = self._check_messages(body)

        session = self.conversation.sessions[self._session]
        message = self._message(session.turns[self._turn], body["model"])
        if "context_management" in body:
            # No script is long enough for an edit.
            message["context_management"] = {"applied_edits": []}
        self._threaded = "thread" in body
        self.results_checked += new_results
        self.turns_played += 1
        self._turn += 1
        if self._turn == len(session.turns):
            self._session, self._turn = self._session + 1, 0
        return message

    # --- checks of requests -------------------------------------------------------------------

    def _check_settings(self, headers: Mapping[str, str], body: dict[str, Any]) -> None:
        if body.get("stream", False) is not False:
            raise MismatchError(
                "`stream: true` is not supported by the stand-in: use a plain request"
            )
        if not isinstance(body.get("model"), str) or not body["model"]:
            raise MismatchError(f"`model` should be a name, got {_json(body.get('model'))}")
        if type(body.get("max_tokens")) is not int or body["max_tokens"] < 1:
            raise MismatchError(
                f"`max_tokens` should be positive, got {_json(body.get('max_tokens'))}"
            )

        if self.context_management or "context_management" in body:
            check_context_management(headers, body.get("context_management"))
        if not self._continues_thread(headers, body):
            first = self.conversation.tool or {**MEMORY_TOOL, **self.conversation.tool_extras}
            wanted = [first, *self.conversation.other_tools]
            if body.get("tools") != wanted:
                raise MismatchError(
                    "`tools` is not what the script expects\n"
                    + _difference(_pretty(wanted), _pretty(body.get("tools")))
                )

    def _continues_thread(self, headers: Mapping[str, str], body: dict[str, Any]) -> bool:
        """Whether the request continues the messages that the server remembers."""
        if "thread" not in body:
            return False
        if THREADS_BETA not in headers.get("anthropic-beta", ""):
            raise MismatchError(f"`thread` needs `anthropic-beta: {THREADS_BETA}`")
        thread = body["thread"]
        if thread == {"type": "create"}:
            return False
        if self._turn == 0 or not self._threaded:
            raise MismatchError(f"there is no thread to continue, got {_json(thread)}")
        wanted = {"type": "continue", "previous_message_id": self._message_id(self._turn - 1)}
        if thread != wanted:
            raise MismatchError(
                "`thread` is wrong\n" + _difference(_pretty(wanted), _pretty(thread))
            )
        for name in ("tools", "system"):
            if name in body:
                raise MismatchError(f"`{name}` must be left out where a thread is continued")
        return True

    def _check_messages(self, body: dict[str, Any]) -> int:
        """Checks the history. Returns the number of new tool results in it."""
        session = self.conversation.sessions[self._session]
        wanted = self._history(session)
        if isinstance(body.get("thread"), dict) and body["thread"].get("type") == "continue":
            wanted = wanted[-1:]
        messages = body.get("messages")
        if not isinstance(messages, list):
            raise MismatchError(f"`messages` should be a list, got {_json(messages)}")
        for number, (want, got) in enumerate(zip(wanted, messages, strict=False), start=1):
            where = f"message {number} of {len(messages)}"
            if not isinstance(got, dict) or got.get("role") != want["role"]:
                raise MismatchError(f"{where} should be the {want['role']}'s, got {_json(got)}")
            if want["role"] == "assistant":
                _check_assistant(want["content"], got.get("content"), where)
            elif "calls" in want:
                _check_results(want["calls"], want["ids"], got.get("content"), where)
            else:
                _check_text("the user's text", want["content"], got.get("content"), where)
        if len(messages) != len(wanted):
            raise MismatchError(
                f"{len(wanted)} messages should have been sent, got {len(messages)}"
                + ("; the session before was not finished" if len(messages) == 1 else "")
            )
        return len(session.turns[self._turn - 1].calls) if self._turn else 0

    def _history(self, session: Session) -> list[dict[str, Any]]:
        """The client's messages before the next turn. A call represents its tool result."""
        history: list[dict[str, Any]] = [{"role": "user", "content": session.user}]
        for number, turn in enumerate(session.turns[: self._turn]):
            ids = [self._call_id(number, at) for at in range(len(turn.calls))]
            history.append({"role": "assistant", "content": self._content(turn, number)})
            history.append({"role": "user", "calls": turn.calls, "ids": ids})
        return history

    # --- the messages sent --------------------------------------------------------------------

    def _message(self, turn: Turn, model: str) -> dict[str, Any]:
        return {
            "id": self._message_id(self._turn),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": self._content(turn, self._turn),
            "stop_reason": "tool_use" if turn.calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def _content(self, turn: Turn, number: int) -> list[dict[str, Any]]:
        content: list[dict[str, Any]] = []
        if turn.text is not None:
            content.append({"type": "text", "text": turn.text})
        for at, call in enumerate(turn.calls):
            content.append(
                {
                    "type": "tool_use",
                    "id": self._call_id(number, at),
                    "name": call.tool,
                    "input": call.input,
                }
            )
        return content

    def _message_id(self, turn: int) -> str:
        return f"msg_standin_{self._session + 1}_{turn + 1}"

    def _call_id(self, turn: int, call: int) -> str:
        return f"toolu_standin_{self._session + 1}_{turn + 1}_{call + 1}"


def check_headers(headers: Mapping[str, str]) -> None:
    """The headers that the API requires; names in lower case."""
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    if not key.strip():
        raise MismatchError("neither `x-api-key` nor `authorization: Bearer …` was sent")
    version = headers.get("anthropic-version", "")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", version):
        raise MismatchError(f"`anthropic-version` should be a date, got {_json(version)}")
    kind = headers.get("content-type", "")
    if kind.split(";")[0].strip() != "application/json":
        raise MismatchError(f"`content-type` should be application/json, got {_json(kind)}")


def check_context_management(headers: Mapping[str, str], config: Any) -> None:
    """The edits of a long conversation that the API supports, and that spare the memory."""
    edits = config.get("edits") if isinstance(config, dict) else None
    if not isinstance(edits, list) or not edits:
        raise MismatchError(f"`context_management` should have edits, got {_json(config)}")
    for edit in edits:
        kind = edit.get("type") if isinstance(edit, dict) else None
        if kind not in EDITS:
            raise MismatchError(f"an edit of `context_management` is unknown: {_json(edit)}")
        if EDITS[kind] not in headers.get("anthropic-beta", ""):
            raise MismatchError(f"`{kind}` needs `anthropic-beta: {EDITS[kind]}`")
        tokens = edit.get("trigger", {}).get("value")
        if type(tokens) is not int or tokens < 1:
            raise MismatchError(f"the trigger of `{kind}` should be tokens, got {_json(edit)}")
        if kind.startswith("clear_") and MEMORY_TOOL["name"] not in edit.get("exclude_tools", []):
            raise MismatchError(f"`{kind}` does not spare the memory: {_json(edit)}")


def _check_assistant(want: list[dict[str, Any]], got: Any, where: str) -> None:
    """Claude's own messages must be returned unchanged; SDKs may add fields to a block."""
    blocks = got if isinstance(got, list) else []
    shown = [
        {name: block.get(name) for name in wanted} if isinstance(block, dict) else block
        for wanted, block in zip(want, blocks, strict=False)
    ]
    if shown != want or len(blocks) != len(want):
        raise MismatchError(
            f"{where} should be Claude's, as it was sent\n"
            + _difference(_pretty(want), _pretty(got))
        )


def _check_results(calls: tuple[Call, ...], ids: list[str], got: Any, where: str) -> None:
    """One tool result for each tool use, in order, and nothing else."""
    blocks = got if isinstance(got, list) else [got]
    got_ids = [
        block.get("tool_use_id")
        if isinstance(block, dict) and block.get("type") == "tool_result"
        else _json(block)
        for block in blocks
    ]
    if got_ids != ids:
        raise MismatchError(
            f"{where} should answer each tool use with its tool result, in order\n"
            + _difference(_pretty(ids), _pretty(got_ids))
        )
    for number, (call, block) in enumerate(zip(calls, blocks, strict=True), start=1):
        which = f"{where}, tool result {number} of {len(calls)}, for {_json(call.input)}"
        is_error = block.get("is_error", False)
        wrong_flag = is_error is not call.is_error
        if wrong_flag:
            which += f"\n`is_error` should be {_json(call.is_error)}, got {_json(is_error)}"
        content = block.get("content")
        if isinstance(call.result, str):
            _check_text("the content", call.result, content, which, wrong_flag)
        elif content != call.result or wrong_flag:
            difference = _difference(_pretty(call.result), _pretty(content))
            raise MismatchError(f"{which}\nthe content:\n{difference}")


def _check_text(what: str, want: str, got: Any, where: str, wrong: bool = False) -> None:
    """The text must match exactly, either plain or as one text block."""
    text = got
    if isinstance(got, list) and len(got) == 1 and isinstance(got[0], dict):
        text = got[0].get("text") if got[0].get("type") == "text" else got
    if text == want and not wrong:
        return
    if not isinstance(text, str):
        raise MismatchError(f"{where}\n{what} should be text, got {_json(got)}")
    difference = _difference(_lines(want), _lines(text)) if text != want else "  the same"
    raise MismatchError(f"{where}\n{what}:\n{difference}")


def _lines(text: str) -> list[str]:
    """The lines in JSON's notation, so every space, tab or missing line ending is visible."""
    return [_json(line) for line in text.splitlines(keepends=True)]


def _pretty(value: Any) -> list[str]:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True).splitlines()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _difference(want: list[str], got: list[str]) -> str:
    lines = difflib.unified_diff(want, got, "expected", "got", lineterm="", n=2)
    return "\n".join(f"  {line}" for line in lines)
