"""A model on loopback that calls a tool, for the frameworks' own clients: Anthropic's and OpenAI's interface.

It plays a list of turns, each a list of tool calls, and says "Done." at the end. It checks the form of each request: every call
is answered once and by its id, in any order within a turn. The tests check the content of the answers.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    Call = tuple[str, dict[str, Any]]

SAID = "Done."


@dataclass(frozen=True)
class Result:
    """The answer of a tool, as it was sent. OpenAI's interface has no flag: `is_error` is None."""

    content: Any
    is_error: bool | None

    @property
    def text(self) -> str:
        """The content, if it consists of text."""
        if isinstance(self.content, str):
            return self.content
        assert [block["type"] for block in self.content] in (["text"], ["input_text"]), self.content
        return str(self.content[0]["text"])


class ModelServer:
    """Plays one conversation. A context manager; `base_url` is for the framework's client."""

    def __init__(self, *turns: list[Call]) -> None:
        self.turns = turns
        self.requests: list[dict[str, Any]] = []
        self.failures: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True)
        self._lock = threading.Lock()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools declared in the first request."""
        found: list[dict[str, Any]] = self.requests[0]["tools"]
        return found

    @property
    def streamed(self) -> set[bool]:
        """Whether the requests asked for a stream."""
        return {request.get("stream", False) for request in self.requests}

    def finish(self) -> list[Result]:
        """The results of all calls, in order, if the whole conversation was played."""
        assert self.failures == []
        assert len(self.requests) == len(self.turns) + 1
        return [result for _, result in sorted(_results(self.requests[-1]), key=lambda found: found[0])]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, str, str]:
        """Answers one request with a status, a content type and the content."""
        with self._lock:
            self.requests.append(body)
            at = len(self.requests) - 1
            try:
                assert path in ("/v1/messages", "/v1/responses"), path
                wanted = [self._id(turn, n) for turn in range(at) for n in range(len(self.turns[turn]))]
                assert sorted(result_id for result_id, _ in _results(body)) == wanted
            except (AssertionError, IndexError, KeyError, TypeError) as error:
                self.failures.append(f"request {at + 1}: {error!r}")
                return 400, "application/json", json.dumps({"error": {"message": repr(error)}})
        calls = self.turns[at] if at < len(self.turns) else []
        ids = [self._id(at, n) for n in range(len(calls))]
        make = _message if path == "/v1/messages" else _response
        message = make(body, list(zip(ids, calls, strict=True)))
        if not body.get("stream"):
            return 200, "application/json", json.dumps(message)
        events = _message_events(message) if path == "/v1/messages" else _response_events(message)
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        return 200, "text/event-stream", "".join(lines)

    @staticmethod
    def _id(turn: int, call: int) -> str:
        return f"toolu_{turn + 1}_{call + 1}"


def _results(body: dict[str, Any]) -> Iterator[tuple[str, Result]]:
    """The tool results in a request of either interface."""
    for item in body.get("input", []):
        if item.get("type") == "function_call_output":
            yield item["call_id"], Result(item["output"], None)
    for message in body.get("messages", []):
        blocks = message["content"] if isinstance(message["content"], list) else []
        for block in blocks:
            if block["type"] == "tool_result":
                assert message["role"] == "user"
                yield (
                    block["tool_use_id"],
                    Result(block.get("content"), block.get("is_error", False)),
                )


# --- Anthropic's Messages API -----------------------------------------------------------------------------------------------


def _message(body: dict[str, Any], calls: list[tuple[str, Call]]) -> dict[str, Any]:
    text = {"type": "text", "text": "I use my memory." if calls else SAID}
    uses = [{"type": "tool_use", "id": id, "name": name, "input": input} for id, (name, input) in calls]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [text, *uses],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _message_events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


# --- OpenAI's Responses API -------------------------------------------------------------------------------------------------


def _response(body: dict[str, Any], calls: list[tuple[str, Call]]) -> dict[str, Any]:
    text = {"type": "output_text", "text": SAID, "annotations": []}
    said = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    uses = [
        {
            "type": "function_call",
            "id": f"fc_{id}",
            "call_id": id,
            "name": name,
            "arguments": json.dumps(input),
            "status": "completed",
        }
        for id, (name, input) in calls
    ]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": body["model"],
        "output": uses or [said],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }


def _response_events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    started = {**response, "output": [], "status": "in_progress"}
    number = 0
    yield {"type": "response.created", "response": started, "sequence_number": number}
    for index, item in enumerate(response["output"]):
        for event in ("response.output_item.added", "response.output_item.done"):
            number += 1
            yield {"type": event, "output_index": index, "item": item, "sequence_number": number}
    yield {"type": "response.completed", "response": response, "sequence_number": number + 1}


# --- HTTP -------------------------------------------------------------------------------------------------------------------


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, kind, sent = server.answer(urlsplit(self.path).path, body)
            raw = sent.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
