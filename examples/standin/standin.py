"""A stand-in for the Messages API on loopback, which plays a scripted conversation.

It is for trying a tool with a real SDK but without the hosted API. Every request is compared with
the script. The first wrong request, and every one after it, gets status 400, which SDKs do not
retry, and a text with the difference. See ``examples/README.md``.

As a program::

    python3 examples/standin/standin.py SCRIPT.json [--port 0] [--record FILE]
        [--context-management]

prints its base URL on one line when it is ready. It ends on request (``POST /standin/finish``, or
SIGTERM): with status 0 if the whole conversation was played without errors, otherwise with status 1
and the reasons on standard error.

In Python::

    with StandIn(conversation.load("script.json")) as standin:
        ...  # use standin.base_url
    standin.finish()
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import conversation
from playback import MismatchError, Playback

FINISH = ("POST", "/standin/finish")


class ConversationError(AssertionError):
    """The conversation was not played according to the script."""


class StandIn:
    """A server on 127.0.0.1 that plays one conversation once.

    Args:
        script: the conversation.
        port: the port of the server; 0 selects a free one.
        record: a file to which each request is added as one line of JSON.
        context_management: whether each request must ask for context editing.

    Use it as a context manager, or call ``start`` and ``stop``.
    """

    def __init__(
        self,
        script: conversation.Conversation,
        *,
        port: int = 0,
        record: str | Path | None = None,
        context_management: bool = False,
    ) -> None:
        self.requests: list[dict[str, Any]] = []
        """The requests: ``method``, ``path``, ``headers`` (names in lower case) and ``body``."""
        self.failures: list[str] = []
        """The errors, in order."""
        self.finished = threading.Event()
        """Set when a client has requested the end."""
        self._playback = Playback(script, context_management=context_management)
        self._record = Path(record) if record is not None else None
        if self._record is not None:
            self._record.write_bytes(b"")
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self)
        # The polling interval for a stop, in seconds: tests start and stop many servers.
        serve = partial(self._server.serve_forever, poll_interval=0.02)
        self._thread = threading.Thread(target=serve, daemon=True)

    @property
    def base_url(self) -> str:
        """The base URL for an SDK's client."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        """Serves in a separate thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stops serving; the report is kept."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> StandIn:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def report(self) -> dict[str, Any]:
        """The progress of the conversation, and its errors."""
        with self._lock:
            script, playback = self._playback.conversation, self._playback
            return {
                "complete": playback.complete,
                "next": playback.where,
                "turns_played": playback.turns_played,
                "turns": script.turns,
                "tool_results_checked": playback.results_checked,
                "tool_results": script.calls,
                "failures": list(self.failures),
            }

    def finish(self) -> dict[str, Any]:
        """The report of a conversation that was played completely, without errors.

        Raises:
            ConversationError: it was not; the message has the reason.
        """
        report = self.report()
        problems = report["failures"]
        if not problems and not report["complete"]:
            problems = [f"The conversation was left before {report['next']}."]
        if problems:
            raise ConversationError("\n\n".join(problems))
        return report

    def handle(
        self, method: str, path: str, headers: dict[str, str], raw: bytes
    ) -> tuple[int, dict[str, Any]]:
        """Answers one request with a status and a body."""
        if (method, path) == ("GET", "/standin/report"):
            return 200, self.report()
        if (method, path) == FINISH:
            return 200, self.report()
        with self._lock:
            try:
                body = json.loads(raw)
            except ValueError:
                body = None
            self._remember({"method": method, "path": path, "headers": headers, "body": body})
            if self.failures:
                return 400, _error("The conversation has failed already:\n" + self.failures[0])
            try:
                if (method, urlsplit(path).path) != ("POST", "/v1/messages"):
                    raise MismatchError("only POST /v1/messages is served here")
                if urlsplit(path).query not in ("", "beta=true"):
                    raise MismatchError("the only query that the API knows here is beta=true")
                return 200, self._playback.answer(headers, body)
            except MismatchError as mismatch:
                failure = f"{method} {path} ({self._playback.where}): {mismatch}"
                self.failures.append(failure)
                return 400, _error(failure)

    def _remember(self, request: dict[str, Any]) -> None:
        self.requests.append(request)
        if self._record is not None:
            with self._record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(request, ensure_ascii=False) + "\n")


def _error(message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], standin: StandIn) -> None:
        super().__init__(address, _Handler)
        self.standin = standin


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two small writes: the second would wait for the acknowledgement of the
    # first.
    disable_nagle_algorithm = True
    server: _Server

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, body = self.server.standin.handle(self.command, self.path, headers, raw)
        sent = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.send_header("request-id", f"req_standin_{len(self.server.standin.requests)}")
        self.end_headers()
        self.wfile.write(sent)
        # Only now: the program ends at once, and its client waits for the answer.
        if (self.command, self.path) == FINISH:
            self.server.standin.finished.set()

    # The names are those of http.server. Every request is recorded.
    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """No log: the report has everything."""


def main(arguments: list[str] | None = None) -> int:
    """The program. Returns its exit status."""
    parser = argparse.ArgumentParser(description="A loopback stand-in for the Messages API.")
    parser.add_argument("script", metavar="SCRIPT.json", help="the conversation to play")
    parser.add_argument("--port", type=int, default=0, help="where to listen (default: a free one)")
    parser.add_argument("--record", metavar="FILE", help="write each request here, a line each")
    parser.add_argument(
        "--context-management",
        action="store_true",
        help="every request must ask for context editing, which spares the memory",
    )
    options = parser.parse_args(arguments)
    try:
        script = conversation.load(options.script)
    except (OSError, conversation.ScriptError) as error:
        print(error, file=sys.stderr)
        return 2

    with StandIn(
        script,
        port=options.port,
        record=options.record,
        context_management=options.context_management,
    ) as standin:

        def stop(_signal: int, _frame: FrameType | None) -> None:
            standin.finished.set()

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        print(standin.base_url, flush=True)
        standin.finished.wait()
    try:
        standin.finish()
    except ConversationError as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
