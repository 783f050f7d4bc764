"""The stand-in reports every wrong request. Otherwise the tests that use it prove nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import anthropic
import conversation
import pytest
from standin import ConversationError, StandIn

import memdir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conversation import Conversation

    Converse = Callable[..., None]

HEADERS = {
    "content-type": "application/json",
    "x-api-key": "not-a-key",
    "anthropic-version": "2023-06-01",
}
TOOL = {"type": "memory_20250818", "name": "memory"}
VIEW = {"command": "view", "path": "/memories/a"}
DELETE = {"command": "delete", "path": "/memories/a"}
MISSING = "The path /memories/a does not exist. Please provide a valid path."
NOT_DELETED = "Error: The path /memories/a does not exist"
TURN = [(VIEW, MISSING, True), (DELETE, NOT_DELETED, True)]


def send(
    standin: StandIn,
    body: Any,
    *,
    path: str = "/v1/messages",
    headers: dict[str, str] | None = None,
    method: str = "POST",
) -> tuple[int, dict[str, Any]]:
    """Sends one request without an SDK, and returns the status and the body of the answer."""
    request = urllib.request.Request(  # noqa: S310
        standin.base_url + path,
        data=None if body is None else json.dumps(body).encode(),
        headers=HEADERS if headers is None else headers,
        method=method,
    )
    try:
        with urllib.request.urlopen(request) as response:  # noqa: S310
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def first(**changes: Any) -> dict[str, Any]:
    """The first request of a conversation: a correct one with the given changes."""
    messages = [{"role": "user", "content": "Hello, Claude."}]
    return {"model": "m", "max_tokens": 1, "tools": [TOOL], "messages": messages, **changes}


def result(number: int, text: Any, is_error: bool | None = True) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_standin_1_1_{number}", "content": text}
    return block if is_error is None else {**block, "is_error": is_error}


def second(answer: dict[str, Any], *results: Any, **changes: Any) -> dict[str, Any]:
    """The second request: the conversation so far, and the tool results."""
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Hello, Claude."}]},
        {"role": "assistant", "content": answer["content"]},
        {"role": "user", "content": list(results)},
    ]
    return first(messages=messages, **changes)


@pytest.fixture
def standin(script: Callable[..., Conversation]) -> Iterator[StandIn]:
    with StandIn(script(TURN)) as running:
        yield running


def test_it_plays_a_conversation_that_is_right(standin: StandIn) -> None:
    status, answer = send(standin, first(), path="/v1/messages?beta=true")
    assert (status, answer["stop_reason"], answer["role"]) == (200, "tool_use", "assistant")
    assert [block["input"] for block in answer["content"]] == [VIEW, DELETE]
    with pytest.raises(ConversationError, match="left before session 1, turn 2 of 2"):
        standin.finish()
    # Text may be a string or a block.
    blocks = [{"type": "text", "text": NOT_DELETED}]
    status, answer = send(standin, second(answer, result(1, MISSING), result(2, blocks)))
    assert (status, answer["stop_reason"]) == (200, "end_turn")
    assert standin.finish() == {
        "complete": True,
        "next": "after the last session",
        "turns_played": 2,
        "turns": 2,
        "tool_results_checked": 2,
        "tool_results": 2,
        "failures": [],
    }
    assert send(standin, None, path="/standin/report", method="GET") == (200, standin.report())
    status, answer = send(standin, first())
    assert status == 400
    assert "the conversation is over" in answer["error"]["message"]


def test_a_script_may_have_a_custom_tool(script: Callable[..., Conversation]) -> None:
    custom = {"name": "memory", "description": "d", "input_schema": {"type": "object"}}
    with StandIn(script(tool=custom)) as standin:
        status, _ = send(standin, first(tools=[custom]))
        assert status == 200
    standin.finish()
    with StandIn(script(tool=custom)) as standin:
        _, answer = send(standin, first())
        assert "`tools`" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"headers": {**HEADERS, "x-api-key": ""}}, "`x-api-key`"),
        ({"headers": {**HEADERS, "anthropic-version": "newest"}}, "`anthropic-version`"),
        ({"headers": {**HEADERS, "content-type": "text/plain"}}, "`content-type`"),
        ({"path": "/v1/complete"}, "only POST /v1/messages"),
        ({"path": "/v1/messages?beta=yes"}, "beta=true"),
        ({"body": None, "method": "GET"}, "only POST /v1/messages"),
        ({"body": []}, "the body should be an object"),
        ({"body": first(stream=True)}, "`stream: true` is not supported"),
        ({"body": first(model=None)}, "`model`"),
        ({"body": first(max_tokens=0)}, "`max_tokens`"),
        ({"body": first(tools=[])}, "`tools`"),
        ({"body": first(tools=[TOOL, TOOL])}, "`tools`"),
        ({"body": first(tools=[{**TOOL, "cache_control": {"type": "ephemeral"}}])}, "`tools`"),
        ({"body": first(tools=[{**TOOL, "name": "remember"}])}, "`tools`"),
        ({"body": first(messages="Hello, Claude.")}, "`messages` should be a list"),
        ({"body": first(messages=[])}, "1 messages should have been sent, got 0"),
        ({"body": first(messages=[{"role": "user", "content": "Hello?"}])}, "the user's text"),
        (
            {"body": first(messages=[{"role": "assistant", "content": "Hello, Claude."}])},
            "should be the user's",
        ),
        ({"body": first(thread={"type": "create"})}, "message-threads-2026-08-12"),
        ({"body": first(context_management={})}, "`context_management` should have edits"),
        (
            {"body": first(context_management=memdir.context_management())},
            "needs `anthropic-beta: context-management-2025-06-27`",
        ),
    ],
)
def test_it_refuses_a_first_request_that_is_wrong(
    standin: StandIn, changes: dict[str, Any], complaint: str
) -> None:
    status, answer = send(standin, **{"body": first(), **changes})
    assert (status, answer["type"]) == (400, "error")
    assert answer["error"]["type"] == "invalid_request_error"
    assert complaint in answer["error"]["message"]
    # The complaint stays, even if all later requests are correct.
    status, answer = send(standin, first())
    assert status == 400
    assert "has failed already" in answer["error"]["message"]
    with pytest.raises(ConversationError):
        standin.finish()


EDITING = {**HEADERS, "anthropic-beta": "context-management-2025-06-27,compact-2026-01-12"}


def test_context_editing_must_spare_the_memory(script: Callable[..., Conversation]) -> None:
    made: Any = memdir.context_management()
    [clear] = made["edits"]
    for edit, complaint in [
        ({**clear, "exclude_tools": ["web_search"]}, "does not spare the memory"),
        ({"type": clear["type"], "trigger": clear["trigger"]}, "does not spare the memory"),
        ({**clear, "trigger": {"type": "input_tokens", "value": 0}}, "the trigger"),
        ({"type": "clear_everything"}, "is unknown"),
    ]:
        with StandIn(script()) as standin:
            body = first(context_management={"edits": [edit]})
            status, answer = send(standin, body, headers=EDITING)
        assert status == 400
        assert complaint in answer["error"]["message"]
    with StandIn(script(), context_management=True) as standin:
        body = first(context_management=memdir.context_management(compact_at=150_000))
        status, answer = send(standin, body, headers=EDITING)
        assert (status, answer["context_management"]) == (200, {"applied_edits": []})
    # This stand-in expects context management in every request.
    with StandIn(script(), context_management=True) as standin:
        status, answer = send(standin, first(), headers=EDITING)
    assert status == 400
    assert "`context_management` should have edits, got null" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("results", "complaint"),
    [
        ([result(1, MISSING + " "), result(2, NOT_DELETED)], 'valid path. "'),
        ([result(1, MISSING, False), result(2, NOT_DELETED)], "`is_error` should be true"),
        ([result(1, MISSING, None), result(2, NOT_DELETED)], "`is_error` should be true"),
        ([result(1, MISSING, "true"), result(2, NOT_DELETED)], "`is_error` should be true"),  # type: ignore[arg-type]
        ([result(2, NOT_DELETED), result(1, MISSING)], "in order"),
        ([result(1, MISSING)], "in order"),
        ([result(1, MISSING), result(2, NOT_DELETED), result(2, NOT_DELETED)], "in order"),
        ([result(1, MISSING), {"type": "text", "text": NOT_DELETED}], "in order"),
        ([result(1, MISSING), result(2, None)], "should be text"),
        ([result(1, MISSING), result(2, [{"type": "image"}])], "should be text"),
        ([result(1, [{"type": "text", "text": text} for text in MISSING])], "in order"),
        ([], "in order"),
    ],
)
def test_it_refuses_results_that_are_wrong(
    standin: StandIn, results: list[Any], complaint: str
) -> None:
    _, answer = send(standin, first())
    status, answer = send(standin, second(answer, *results))
    assert status == 400
    assert complaint in answer["error"]["message"]
    assert standin.report()["turns_played"] == 1
    with pytest.raises(ConversationError):
        standin.finish()


def test_it_refuses_a_history_that_is_not_what_was_said(standin: StandIn) -> None:
    _, answer = send(standin, first())
    answer["content"][0]["input"] = DELETE
    status, answer = send(standin, second(answer, result(1, MISSING), result(2, NOT_DELETED)))
    assert status == 400
    assert "as it was sent" in answer["error"]["message"]


def test_it_refuses_a_session_that_begins_before_the_last_one_is_over(standin: StandIn) -> None:
    send(standin, first())
    status, answer = send(standin, first())
    assert status == 400
    assert "the session before was not finished" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({}, None),
        ({"tools": [TOOL]}, "`tools` must be left out"),
        ({"system": "Be kind."}, "`system` must be left out"),
        ({"thread": {"type": "continue", "previous_message_id": "msg_other"}}, "`thread` is wrong"),
    ],
)
def test_it_keeps_a_message_thread(
    standin: StandIn, changes: dict[str, Any], complaint: str | None
) -> None:
    headers = {**HEADERS, "anthropic-beta": "message-threads-2026-08-12"}
    _, answer = send(standin, first(thread={"type": "create"}), headers=headers)
    thread = {"type": "continue", "previous_message_id": answer["id"]}
    results = [result(1, MISSING), result(2, NOT_DELETED)]
    body: dict[str, Any] = {
        "model": "m",
        "max_tokens": 1,
        "thread": thread,
        "messages": [{"role": "user", "content": results}],
        **changes,
    }
    status, answer = send(standin, body, headers=headers)
    if complaint is None:
        assert status == 200
        standin.finish()
    else:
        assert status == 400
        assert complaint in answer["error"]["message"]


def test_a_thread_that_was_never_created_cannot_be_continued(standin: StandIn) -> None:
    headers = {**HEADERS, "anthropic-beta": "message-threads-2026-08-12"}
    _, answer = send(standin, first())
    thread = {"type": "continue", "previous_message_id": answer["id"]}
    status, answer = send(standin, first(thread=thread), headers=headers)
    assert status == 400
    assert "no thread to continue" in answer["error"]["message"]


class Careless(memdir.MemoryTool):
    """A tool whose answers are almost right."""

    def call(self, input: object) -> Any:
        try:
            return super().call(input)
        except Exception as error:  # noqa: BLE001
            return str(error)


class Chatty(memdir.MemoryTool):
    """A tool that adds text of its own."""

    def call(self, input: object) -> Any:
        try:
            return super().call(input)
        except Exception as error:
            raise type(error)(f"{error} Sorry.") from None


@pytest.mark.parametrize(
    ("tool", "complaint"), [(Careless, "`is_error` should be true"), (Chatty, "Sorry.")]
)
def test_a_tool_that_answers_wrongly_fails_in_the_sdk(
    script: Callable[..., Conversation],
    tmp_path: Path,
    tool: type[memdir.MemoryTool],
    complaint: str,
) -> None:
    with (
        StandIn(script(TURN)) as standin,
        anthropic.Anthropic(api_key="not-a-key", base_url=standin.base_url) as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="m",
            max_tokens=1,
            tools=[tool(tmp_path)],
            messages=[{"role": "user", "content": "Hello, Claude."}],
        )
        with pytest.raises(anthropic.BadRequestError) as failure:
            runner.until_done()
    assert complaint in str(failure.value)
    # The SDK did not retry.
    assert len(standin.requests) == 2
    with pytest.raises(ConversationError):
        standin.finish()


# --- as a program ---------------------------------------------------------------------------------


class Program:
    """The stand-in in its own process."""

    def __init__(self, examples: Path, *arguments: str | Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, examples / "standin" / "standin.py", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.base_url = self.process.stdout.readline().strip()

    def ended(self) -> tuple[int, str]:
        """The exit status and the text on standard error."""
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@pytest.fixture
def program(examples: Path) -> Iterator[Callable[..., Program]]:
    started: list[Program] = []

    def start(*arguments: str | Path) -> Program:
        started.append(Program(examples, *arguments))
        return started[-1]

    yield start
    for one in started:
        with one.process:
            if one.process.poll() is None:
                one.process.kill()


def finish(base_url: str) -> Any:
    with urllib.request.urlopen(base_url + "/standin/finish", data=b"") as response:  # noqa: S310
        return json.load(response)


def test_the_program_plays_records_and_ends(
    converse: Converse, program: Callable[..., Program], examples: Path, tmp_path: Path
) -> None:
    path = examples / "conversations" / "parallel.json"
    played = conversation.load(path)
    record = tmp_path / "requests.jsonl"
    running = program(path, "--record", record)
    assert running.base_url.startswith("http://127.0.0.1:")
    converse(running.base_url, tmp_path, user=played.sessions[0].user)
    report = finish(running.base_url)
    assert (report["complete"], report["tool_results_checked"]) == (True, played.calls)
    assert running.ended() == (0, "")
    requests = [json.loads(line) for line in record.read_text().split("\n")[:-1]]
    assert len(requests) == played.turns
    assert requests[0]["body"]["tools"] == [TOOL]


def test_the_program_ends_with_the_reasons_of_a_failure(
    converse: Converse, program: Callable[..., Program], examples: Path, tmp_path: Path
) -> None:
    running = program(examples / "conversations" / "parallel.json")
    with pytest.raises(anthropic.BadRequestError):
        converse(running.base_url, tmp_path, user="Something else.")
    assert finish(running.base_url)["failures"]
    status, said = running.ended()
    assert status == 1
    assert "Something else." in said


def test_the_program_fails_if_it_is_stopped_early(
    program: Callable[..., Program], examples: Path
) -> None:
    running = program(examples / "conversations" / "parallel.json")
    running.process.send_signal(signal.SIGTERM)
    status, said = running.ended()
    assert status == 1
    assert "left before session 1, turn 1" in said


def test_the_program_refuses_a_script_that_is_wrong(
    program: Callable[..., Program], tmp_path: Path
) -> None:
    path = tmp_path / "script.json"
    path.write_text('{"about": "nothing", "sessions": []}')
    running = program(path)
    assert running.base_url == ""
    status, said = running.ended()
    assert (status, said) == (2, f"{path}: the script has no session\n")


LAST = {"text": "Done."}
CALL = {"input": VIEW, "result": MISSING, "is_error": True}


@pytest.mark.parametrize(
    ("sessions", "complaint"),
    [
        ([], "no session"),
        ([{"user": "Hello."}], 'session 1 lacks "turns"'),
        ([{"user": 1, "turns": [LAST]}], '"user" of session 1 has the wrong type'),
        ([{"user": "Hello.", "turns": []}], "must end with a turn that has no calls"),
        ([{"user": "Hello.", "turns": [{"calls": [CALL]}]}], "must end with a turn"),
        ([{"user": "Hello.", "turns": [LAST, LAST]}], "turn 1 has no calls"),
        ([{"user": "Hello.", "turns": [{}]}], "neither text nor calls"),
        ([{"user": "Hello.", "turns": [{"say": "x"}]}], 'an unknown field "say"'),
        ([{"user": "Hello.", "turns": [{"calls": [{}]}, LAST]}], 'call 1 lacks "input"'),
        (
            [{"user": "Hello.", "turns": [{"calls": [{**CALL, "is_error": None}]}, LAST]}],
            '"is_error" of session 1, turn 1, call 1',
        ),
        (
            [{"user": "Hello.", "turns": [{"calls": [{**CALL, "result": {}}]}, LAST]}],
            "result must be a string or",
        ),
        (
            [{"user": "Hello.", "turns": [{"calls": [{**CALL, "result": {"$text": [1]}}]}, LAST]}],
            '"$text" must hold strings only',
        ),
    ],
)
def test_a_wrong_script_says_where(sessions: list[Any], complaint: str) -> None:
    with pytest.raises(conversation.ScriptError) as error:
        conversation.parse({"about": "a test", "sessions": sessions})
    assert complaint in str(error.value)
