"""A program that writes during a sync, and a sync that is killed.

Half of the files of directory A are changed. As soon as the first of them has arrived in directory B, every process of the sync
is stopped. So the moment is the same for each program: it has compared both directories, and is applying the changes.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from conflicts import STOPS
from tools import Pair, Tool

FILES = 4_000
# The files that a program writes, while the sync has not reached them.
WRITTEN = 20
# A fast program may be done before it is stopped.
ATTEMPTS = 12
# Locks of a killed process may expire. rclone's shortest time for them is two minutes.
PATIENCE = 125
OLD, NEW = "A line that the sync replaces.", "A line that the sync brings."
APPENDED = "A line that a program appends."


def name(number: int) -> str:
    return f"{number % 40:02}/{number:04}.md"


def content(number: int, line: str) -> str:
    inner = "".join(f"Line {at} of file {number}.\n" for at in range(40))
    return f"{line}\n{inner}"


def changed_pair(place: Path, tool: Tool) -> Pair:
    """Two directories that were in sync, and then half of the files of A were changed."""
    pair = Pair(place, tool)
    top = pair.directory("A")
    yesterday = time.time() - 86_400
    for number in range(FILES):
        path = top / name(number)
        path.parent.mkdir(exist_ok=True)
        path.write_text(content(number, OLD), "utf-8")
        os.utime(path, (yesterday, yesterday))
    shutil.copytree(top, pair.directory("B"), dirs_exist_ok=True)
    pair.begin()
    for number in range(0, FILES, 2):
        top.joinpath(name(number)).write_text(content(number, NEW), "utf-8")
    return pair


def stop_in_the_middle(pair: Pair) -> tuple[subprocess.Popen[bytes], list[int]] | None:
    """Starts a sync and stops it. Returns its process and the changed files that have not arrived, unless it is too late."""
    top = pair.directory("B")
    watched = [top / name(number) for number in range(0, FILES, 2)][:: FILES // 40]
    stamps = {path: path.stat().st_mtime_ns for path in watched}
    process = pair.start(pair.tool.run)

    def has_arrived(path: Path) -> bool:
        try:
            return path.stat().st_mtime_ns != stamps[path]
        except FileNotFoundError:
            return True

    while process.poll() is None and not any(map(has_arrived, watched)):
        pass
    if process.poll() is not None:
        return None
    os.killpg(process.pid, signal.SIGSTOP)
    time.sleep(0.1)
    files = pair.tree("B")
    waiting = [number for number in range(0, FILES, 2) if files.get(name(number)) == content(number, OLD).encode()]
    if len(waiting) < 2 * WRITTEN:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
    return process, waiting


def with_attempts(place: Path, tool: Tool, check: Callable[[Pair, subprocess.Popen[bytes], list[int]], str]) -> str:
    for _ in range(ATTEMPTS):
        pair = changed_pair(place, tool)
        if stopped := stop_in_the_middle(pair):
            return check(pair, *stopped)
    return "not tested: too fast to stop"


# --- a program writes ---


def written(place: Path, tool: Tool) -> str:
    """A program appends a line to files of directory B that the sync is about to replace."""

    def check(pair: Pair, process: subprocess.Popen[bytes], waiting: list[int]) -> str:
        chosen = random.Random(1).sample(waiting, WRITTEN)
        for number in chosen:
            with pair.directory("B").joinpath(name(number)).open("a", encoding="utf-8") as file:
                file.write(f"{APPENDED}\n")
        os.killpg(process.pid, signal.SIGCONT)
        process.wait()
        once = after_writing(pair, chosen)
        pair.sync()
        again = after_writing(pair, chosen)
        return once if once == again else f"{again}, after two runs"

    return with_attempts(place, tool, check)


def after_writing(pair: Pair, chosen: list[int]) -> str:
    trees = [pair.tree(side) for side in "AB"]
    holding = [{path: data for path, data in tree.items() if APPENDED.encode() in data} for tree in trees]
    kept = [number for number in chosen if any(path.startswith(name(number)[:7]) for held in holding for path in held)]
    if len(kept) < len(chosen):
        return f"**{len(chosen) - len(kept)} of {len(chosen)} lines are lost**"
    if trees[0] != trees[1]:
        return "nothing is lost; the file is skipped"
    is_merged = all(
        NEW.encode() in trees[0].get(name(number), b"") and APPENDED.encode() in trees[0][name(number)] for number in chosen
    )
    return "merged" if is_merged else "both kept, in two files"


# --- a sync is killed ---


def killed(place: Path, tool: Tool) -> str:
    """The sync is killed, and the same command runs again: at once, and then after the time in which locks expire."""

    def check(pair: Pair, process: subprocess.Popen[bytes], waiting: list[int]) -> str:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        pair.sync()
        words = after_kill(pair)
        if words == STOPS:
            time.sleep(PATIENCE)
            for _ in range(2):
                pair.sync()
            later = after_kill(pair)
            words = STOPS if later == STOPS else f"stops; {later} after two minutes"
        return words

    return with_attempts(place, tool, check)


def after_kill(pair: Pair) -> str:
    a, b = pair.tree("A"), pair.tree("B")
    expected = {name(number): content(number, OLD if number % 2 else NEW).encode() for number in range(FILES)}
    lost = sum(path not in a or (NEW.encode() in data and NEW.encode() not in a[path]) for path, data in expected.items())
    if lost:
        return f"**{lost} changes are lost**"
    more = {path for path in a.keys() | b.keys() if path not in expected and path != "RCLONE_TEST"}
    if a != b:
        return STOPS
    return f"completes it, and leaves {len(more)} more files" if more else "completes it"


INTERRUPTIONS = {
    "written": ("a program writes a file during the sync", written),
    "killed": ("the sync is killed, and runs again", killed),
}
