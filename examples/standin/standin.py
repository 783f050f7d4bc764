"""A stand-in for the Messages API on loopback: plays a scripted conversation, and nothing else.

For trying a tool against a real SDK without the hosted API. Every request is checked against the
script; the first one that is wrong is answered with status 400, which no SDK repeats, and a text
that shows the difference, and so is every request after it. See ``examples/README.md``.

As a program::

    python3 examples/standin/standin.py SCRIPT.json [--port 0] [--record FILE]
        [--context-management]

prints its base URL on one line when it is ready, and ends when it is told to (``POST
/standin/finish``, or SIGTERM): with status 0 if the whole conversation was played and nothing was
wrong, else with status 1 and the reasons on standard error.

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
    """The conversation was not played as the script has it."""


class StandIn:
    """A server on 127.0.0.1 that plays one conversation once.

    Args:
        script: what to play.
        port: where to listen; 0 takes a free port.
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
        """What was sent: ``method``, ``path``, ``headers`` (names in lower case) and ``body``."""
        self.failures: list[str] = []
        """What was wrong, in the order it was seen."""
        self.finished = threading.Event()
        """Set when a client has asked for the end."""
        self._playback = Playback(script, context_management=context_management)
        self._record = Path(record) if record is not None else None
        if self._record is not None:
            self._record.write_bytes(b"")
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self)
        # How often it looks whether to stop, in seconds: tests start and stop many.
        serve = partial(self._server.serve_forever, poll_interval=0.02)
        self._thread = threading.Thread(target=serve, daemon=True)

    @property
    def base_url(self) -> str:
        """To be given to an SDK's client."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        """Serves in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Stops serving; the report stays."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> StandIn:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def report(self) -> dict[str, Any]:
        """How far the conversation came, and what was wrong."""
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
        """The report of a conversation that was played to its end, with nothing wrong.

        Raises:
            ConversationError: it was not; says why.
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
    # Head and body are two small writes: the second would wait for the first one's receipt.
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

    # The names are http.server's. Whatever is asked, it is recorded.
    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what matters is in the report."""


def main(arguments: list[str] | None = None) -> int:
    """The program; returns its exit status."""
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
