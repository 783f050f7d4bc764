"""The shutdown of the interpreter, while daemon threads still run."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from effort import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    Ended = subprocess.CompletedProcess[str]

HERE = Path(__file__).parent

# The interpreter takes a while to end. A thread that returns to Python then is unwound.
SLOW_END = """
import sys, time
class Slow:
    def __del__(self, sleep=time.sleep): sleep(0.6)
sys.modules["slow"] = Slow()
"""
OWN_STORE = """
import sys, threading, time
from dict_store import DictStore
from memdir import Memory
class Slowly(DictStore):
    def open(self, path, depth):
        time.sleep(0.2)
        return super().open(path, depth)
    def update(self, path, edit):
        time.sleep(0.2)
        super().update(path, edit)
    def list(self, path):
        time.sleep(0.2)
        return super().list(path)
memory = Memory(Slowly(), record_access=True)
memory.create("/memories/a", "x")
def forever(work):
    def loop():
        while True:
            work()
    threading.Thread(target=loop, daemon=True).start()
"""


def store_in_python(work: str) -> str:
    return f"{OWN_STORE}\nforever(lambda: {work})\ntime.sleep(0.05)\n"


def calls_of_an_event_loop(backend: str, store: str) -> str:
    """The process ends without waiting for the calls."""
    return f"""{OWN_STORE}
import anyio
from memdir import AsyncMemory
memory = AsyncMemory({store})
async def run():
    await memory.create("/memories/b", "x")
    with anyio.move_on_after(0.05):
        async with anyio.create_task_group() as tasks:
            for _ in range(100):
                tasks.start_soon(memory.insert, "/memories/b", 0, "x")
                tasks.start_soon(memory.view, "/memories/b")
anyio.run(run, backend="{backend}")
"""


# Python code that still runs when the interpreter has waited for it long enough.
ENDLESS = """
import threading, time
from dict_store import DictStore
from memdir import AsyncMemory, Memory, open_store
def endless(*_):
    while True:
        time.sleep(0.01)
class Endless(DictStore):
    list = open = endless
class Lazily(DictStore):
    def open(self, path, depth):
        return (endless() for _ in range(1))
def on_thread(work, *given):
    threading.Thread(target=work, args=given, daemon=True).start()
    time.sleep(0.1)
"""


def embedder_given_up(embedder: str) -> str:
    return f"""{ENDLESS}
memory = Memory("memory:", embedder={embedder}, embedder_name="m", embedder_timeout=0.1)
assert memory.search("tea").words_only == "the embedder took more than 0.1 seconds"
"""


def cancelled(backend: str, memory: str) -> str:
    return f"""{ENDLESS}
import anyio
async def run():
    with anyio.move_on_after(0.1):
        await {memory}.view("/memories")
anyio.run(run, backend="{backend}")
"""


def cancelled_sync(backend: str) -> str:
    return f"""{ENDLESS}
import anyio
async def run():
    with anyio.move_on_after(0.1):
        await AsyncMemory("memory:").sync(Endless())
anyio.run(run, backend="{backend}")
"""


HOOK = '"memory:", after=lambda event: None'
PROGRAMS = {
    "hooks and the logger": """
import atexit, logging, threading
logging.basicConfig(level=logging.DEBUG)
from memdir import Memory
memory = Memory("memory:", after=lambda event: None)
memory.create("/memories/a", "")
def work():
    while True:
        memory.insert("/memories/a", 0, "x")
        memory.delete("/memories/a")
        memory.create("/memories/a", "")
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
atexit.register(memory.view, "/memories")
class Late:
    def __del__(self): memory.view("/memories")
late = Late()
""",
    "commands of daemon threads that nothing in Python takes part in": """
import threading, time
from memdir import Memory
memory = Memory("memory:")
memory.create("/memories/a", "")
call = '{"command": "view", "path": "/memories/a"}'
def work():
    while True:
        memory.execute(call)
for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
""",
    "a view of a store in Python": store_in_python('memory.view("/memories/a")'),
    "an edit of a store in Python": store_in_python('memory.insert("/memories/a", 0, "x")'),
    "expiry of a store in Python": store_in_python("memory.expire(3600)"),
    "a sync of stores in Python": store_in_python(
        "memory.sync(Slowly(), on_progress=lambda at: at.files)"
    ),
    "calls of asyncio with a hook": calls_of_an_event_loop("asyncio", HOOK),
    "calls of asyncio on a store": calls_of_an_event_loop("asyncio", "Slowly()"),
    "calls of Trio with a hook": calls_of_an_event_loop("trio", HOOK),
    "calls of Trio on a store": calls_of_an_event_loop("trio", "Slowly()"),
    "an event loop on a daemon thread": f"""{OWN_STORE}
import asyncio
from memdir import AsyncMemory
native, own = AsyncMemory("memory:"), AsyncMemory(Slowly())
async def forever(memory):
    await memory.create("/memories/a", "")
    while True:
        await memory.insert("/memories/a", 0, "x")
        await memory.view("/memories/a")
async def all_of_them():
    await asyncio.gather(*map(forever, [native, own]))
threading.Thread(target=lambda: asyncio.run(all_of_them()), daemon=True).start()
time.sleep(0.3)
""",
    "the edit of a store that is used from Python": """
import threading, time
from memdir import open_store
store = open_store("memory:")
store.write("/memories/a", b"x")
def edit(content):
    time.sleep(0.2)
    return content
def work():
    while True:
        store.update("/memories/a", edit)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
""",
    "an embedder that a search has given up": embedder_given_up("endless"),
    "the generator of such an embedder": embedder_given_up("lambda _: (endless() for _ in [0])"),
    "a hook of a cancelled task": cancelled("asyncio", 'AsyncMemory("memory:", after=endless)'),
    "a hook of a cancelled task of Trio": cancelled(
        "trio", 'AsyncMemory("memory:", before=endless)'
    ),
    "a store of a cancelled task": cancelled("asyncio", "AsyncMemory(Endless())"),
    "a sync of a cancelled task": cancelled_sync("asyncio"),
    "a sync of a cancelled task of Trio": cancelled_sync("trio"),
    "a coroutine function on the loop of a daemon thread": f"""{ENDLESS}
import asyncio
async def embed(texts):
    await asyncio.sleep(3600)
memory = AsyncMemory("memory:", embedder=embed, embedder_name="m")
on_thread(lambda: asyncio.run(memory.search("tea")))
""",
    "a hook of a daemon thread": f"""{ENDLESS}
on_thread(Memory("memory:", before=endless).view, "/memories")
""",
    "a store of a daemon thread": f"{ENDLESS}\non_thread(Memory(Endless()).view, '/memories')\n",
    "the generator of a store": f"{ENDLESS}\non_thread(Memory(Lazily()).view, '/memories')\n",
    "the edit of a daemon thread": f"""{ENDLESS}
store = open_store("memory:")
store.write("/memories/a", b"x")
on_thread(store.update, "/memories/a", endless)
""",
    "the logger of a daemon thread": f"""{ENDLESS}
import logging
logger = logging.getLogger("memdir")
logger.setLevel(logging.DEBUG)
logger.addFilter(endless)
on_thread(Memory("memory:").view, "/memories")
""",
    "what the program itself does at its end": """
import atexit
def save():
    memory.create("/memories/last", "words")
    print(memory.view("/memories/last"))
# Before memdir is imported, so that it runs after what memdir does at the end.
atexit.register(save)
from dict_store import DictStore
from memdir import Memory
memory = Memory(DictStore(), before=lambda command: None)
""",
}
LAST_WORDS = {
    "what the program itself does at its end": "Here's the content of /memories/last with line "
    "numbers:\n     1\twords\n"
}


@pytest.fixture(scope="module")
def running(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Ended]]]:
    """The processes of the chosen tests, several at a time, because they mostly sleep."""

    def run(name: str) -> Ended:
        return subprocess.run(
            [sys.executable, "-c", PROGRAMS[name] + SLOW_END],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            cwd=HERE,
        )

    chosen = [
        str(item.callspec.params["name"])
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.function is test_the_interpreter_ends_well
    ]
    with ThreadPoolExecutor(4) as pool:
        yield {name: pool.submit(run, name) for name in chosen}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interpreter_ends_well(name: str, running: dict[str, Future[Ended]]) -> None:
    ended = running[name].result()
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "panicked" not in ended.stderr
    assert ended.stdout == LAST_WORDS.get(name, "")


SUBINTERPRETER = """
import os, sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
if sys.argv[1] == "after":
    import memdir
it = interpreters.create()
script = '''
try:
    import memdir
except ImportError as error:
    print("refused:", "subinterpreters" in str(error), flush=True)
'''
interpreters.run_string(it, script)
interpreters.destroy(it)
print("ended", flush=True)
"""


@pytest.mark.parametrize("order", ["alone", "after"])
def test_a_subinterpreter_is_refused(order: str) -> None:
    """It is refused even if the main interpreter has imported it."""
    ran = subprocess.run(
        [sys.executable, "-c", SUBINTERPRETER, order],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert ran.stdout == "refused: True\nended\n"


def test_daemon_threads_that_return_to_python_at_the_end_do_not_crash_it() -> None:
    """Without a slow end, each returns at any moment of it: one of ten runs would crash."""
    program = PROGRAMS["commands of daemon threads that nothing in Python takes part in"]

    def run(_: int) -> Ended:
        return subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            cwd=HERE,
        )

    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(run, range(40)))
    assert [one.returncode for one in ended] == [0] * 40, [one.stderr for one in ended]
