"""The model of docs/operations/scale.md, ``examples/scale/model.py``, compared with the store."""

from __future__ import annotations

import http.client
import re
import runpy
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

import cases
from memdir import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MODEL = cases.PROJECT / "examples" / "scale" / "model.py"
PAGE = cases.PROJECT / "docs" / "operations" / "scale.md"


@pytest.fixture(scope="module")
def model() -> dict[str, Any]:
    return runpy.run_path(str(MODEL))


class Proxy:
    """Passes requests on to a server, and counts them by their kind."""

    def __init__(self, server: str) -> None:
        self.counted: Counter[str] = Counter()
        host = urlsplit(server).netloc
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self) -> None:
                proxy.counted[kind(self.command, self.path)] += 1
                content = self.rfile.read(int(self.headers.get("content-length", 0)))
                connection = http.client.HTTPConnection(host)
                connection.request(self.command, self.path, content, dict(self.headers))
                answer = connection.getresponse()
                body = answer.read()
                connection.close()
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                        self.send_header(name, value)
                length = answer.getheader("content-length") if self.command == "HEAD" else None
                self.send_header("content-length", length or str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = pass_on  # noqa: N815

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def count(self, work: Callable[[], object]) -> Counter[str]:
        self.counted.clear()
        work()
        return self.counted.copy()


def kind(method: str, path: str) -> str:
    if method in ("GET", "HEAD"):
        return "list" if "list-type=" in path else "read"
    return "write"


@pytest.fixture(scope="module")
def bucket(s3: Callable[[], str]) -> Iterator[tuple[Proxy, str]]:
    address = s3()
    [endpoint] = re.findall(r"endpoint=([^&]+)", address)
    proxy = Proxy(endpoint)
    threading.Thread(target=proxy.server.serve_forever).start()
    yield proxy, address.replace(endpoint, proxy.address)
    proxy.server.shutdown()
    proxy.server.server_close()


def test_the_page_shows_the_table_of_the_model() -> None:
    ran = subprocess.run([sys.executable, MODEL], capture_output=True, text=True, check=True)
    [printed] = re.findall(r"<!-- printed -->\n```text\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert ran.stdout == printed


@pytest.mark.parametrize("history", [False, True])
def test_the_model_has_the_requests_of_the_store(
    model: dict[str, Any], bucket: tuple[Proxy, str], history: bool
) -> None:
    proxy, address = bucket
    address = address.replace("?", f"-{history}?")

    def opened() -> Memory:
        return Memory(address, history=history)

    before = opened()
    before.write("/memories/notes/a.md", "x\n")
    before.write("/memories/b.md", "x\n")
    counted = {"open": proxy.count(opened)}
    memory = opened()
    edit = lambda: memory.insert("/memories/notes/a.md", 0, "y")  # noqa: E731
    first = proxy.count(edit)
    counted["edit"] = proxy.count(edit)
    counted["first change"] = first - counted["edit"]
    counted["create"] = proxy.count(lambda: memory.create("/memories/notes/c.md", "x\n"))
    counted["view root"] = proxy.count(lambda: memory.view("/memories"))
    counted["view file"] = proxy.count(lambda: memory.view("/memories/b.md"))

    added = model["HISTORY"] if history else {}
    expected = {
        name: model["REQUESTS"].get(name, Counter()) + added.get(name, Counter())
        for name in counted
    }
    assert counted == expected


def test_the_price_counts_every_request_of_a_conversation(model: dict[str, Any]) -> None:
    load = model["Load"](
        openings=2, commands={"view root": 1, "view file": 3, "edit": 2, "create": 0}
    )
    requests = model["ObjectStorage"](history=False).requests(load)
    assert requests == {"read": 5, "list": 3, "write": 2}
    requests = model["ObjectStorage"]().requests(load)
    assert requests == {"read": 5, "list": 7, "write": 4}


def test_a_new_database_gets_its_share_of_the_users(model: dict[str, Any]) -> None:
    address_of = model["address_of"]
    addresses = [f"postgres://db{number}.example.com/agents" for number in range(4)]
    users = [f"user {number}" for number in range(4_000)]
    before = {user: address_of(user, addresses[:3]) for user in users}
    after = {user: address_of(user, addresses) for user in users}
    moved = [user for user in users if before[user] != after[user]]
    assert {after[user] for user in moved} == {addresses[3]}
    for number in Counter(after.values()).values():
        assert 800 < number < 1_200


def test_the_page_says_how_many_agents_share_a_file(model: dict[str, Any]) -> None:
    assert f"{model['agents_at_one_file'](1, 300)} agents" in PAGE.read_text("utf-8")
