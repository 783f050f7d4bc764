"""The end of the interpreter, while daemon threads are still at work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

# The interpreter takes a while to end, and a thread that comes back into Python then is torn out.
SLOW_END = """
import sys, time
class Slow:
    def __del__(self, sleep=time.sleep): sleep(0.6)
sys.modules["slow"] = Slow()
"""


def ends_well(script: str) -> str:
    """Runs a program to its end; returns what it printed."""
    ran = subprocess.run(
        [sys.executable, "-c", script + SLOW_END],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=HERE,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "panicked" not in ran.stderr
    return ran.stdout


def test_hooks_and_the_logger() -> None:
    ends_well("""
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
""")


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


@pytest.mark.parametrize(
    "work",
    [
        'memory.view("/memories/a")',
        'memory.insert("/memories/a", 0, "x")',
        "memory.expire(3600)",
    ],
)
def test_a_store_in_python(work: str) -> None:
    ends_well(f"{OWN_STORE}\nforever(lambda: {work})\ntime.sleep(0.05)\n")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    "store", ['"memory:", after=lambda event: None', "Slowly()"], ids=["hook", "store"]
)
def test_calls_of_an_event_loop_that_nobody_waits_for(backend: str, store: str) -> None:
    ends_well(f"""{OWN_STORE}
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
""")


def test_an_event_loop_on_a_daemon_thread() -> None:
    ends_well(f"""{OWN_STORE}
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
""")


def test_the_edit_of_a_store_that_is_used_from_python() -> None:
    ends_well("""
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
""")


def test_what_the_program_itself_does_at_its_end_is_done() -> None:
    script = """
import atexit
def save():
    memory.create("/memories/last", "words")
    print(memory.view("/memories/last"))
# Before memdir is imported, so that it runs after what memdir does at the end.
atexit.register(save)
from dict_store import DictStore
from memdir import Memory
memory = Memory(DictStore(), before=lambda command: None)
"""
    assert ends_well(script).endswith("     1\twords\n")


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
    """Also where the main interpreter has imported it."""
    ran = subprocess.run(
        [sys.executable, "-c", SUBINTERPRETER, order],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout == "refused: True\nended\n"
