"""Conflicts: each is a small change of both directories, and a check of the directories after the program has run.

All words about the outcome come from the check. Every conflict is tried twice, with the directories exchanged.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools import HIDDEN, Pair, Tool

Tree = dict[str, bytes]
BASE = [f"Line {number} of the notes.\n" for number in range(1, 31)]
FIRST, SECOND = "A line that was written first.", "A line that was written later."
CANARY = "A line in a file without a conflict."
STOPS = "stops, and syncs nothing"
APART = "skips the file, syncs the others"


@dataclass
class Conflict:
    """A conflict. `first` and `second` change one directory each, and `second` is newer by a minute."""

    title: str
    first: Callable[[Path], None]
    second: Callable[[Path], None]
    # The lines that must not be lost, by the words that say whose they are.
    lines: dict[str, str]
    # The outcome in words, if both directories are equal and no line is lost.
    equal: Callable[[Tree], str]


# --- changes ---


def write(directory: Path, name: str, text: str) -> None:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def edits(name: str, at: int, line: str) -> Callable[[Path], None]:
    """Replaces the line at an index, or appends the line at the end."""

    def change(directory: Path) -> None:
        lines = directory.joinpath(name).read_text("utf-8").splitlines(keepends=True)
        lines[at : at + 1] = [f"{line}\n"]
        write(directory, name, "".join(lines))

    return change


def creates(name: str, line: str) -> Callable[[Path], None]:
    return lambda directory: write(directory, name, f"{line}\n")


def deletes(name: str) -> Callable[[Path], None]:
    return lambda directory: directory.joinpath(name).unlink()


def renames(old: str, new: str) -> Callable[[Path], None]:
    return lambda directory: directory.joinpath(old).rename(directory / new) and None


def makes_directory(name: str, line: str) -> Callable[[Path], None]:
    return lambda directory: write(directory, f"{name}/inner.md", f"{line}\n")


# --- checks ---


def places(tree: Tree, line: str) -> list[str]:
    return sorted(path for path, content in tree.items() if line.encode() in content)


def merged_or_twice(tree: Tree) -> str:
    one, other = set(places(tree, FIRST)), set(places(tree, SECOND))
    together = one & other
    if any(b"<<<<<<<" in tree[path] for path in together):
        return "both kept, with conflict markers in the file"
    if together:
        return "merged"
    return "both kept, in two files"


def after_deletion(tree: Tree) -> str:
    return "the change is kept"


def after_rename(tree: Tree) -> str:
    names, at = {"plan.md", "design.md"} & tree.keys(), places(tree, SECOND)
    if names == {"plan.md"}:
        return "the change is kept, the rename is lost"
    if at == ["design.md"]:
        return "renamed, with the change" if len(names) == 1 else "two files, the change in the new name"
    return "two files, the change in the old name" if at == ["plan.md"] else "two files, the change in a copy"


def after_two_renames(tree: Tree) -> str:
    names = {"one.md", "two.md"} & tree.keys()
    return "both names" if len(names) == 2 else "one of the names"


def kept(tree: Tree) -> str:
    return "both kept"


CONFLICTS = {
    "different-lines": Conflict(
        "both change different lines of a file",
        edits("plan.md", 2, FIRST),
        edits("plan.md", 26, SECOND),
        {"the older change": FIRST, "the newer change": SECOND},
        merged_or_twice,
    ),
    "same-line": Conflict(
        "both change the same line",
        edits("plan.md", 10, FIRST),
        edits("plan.md", 10, SECOND),
        {"the older change": FIRST, "the newer change": SECOND},
        merged_or_twice,
    ),
    "append": Conflict(
        "both append a line",
        edits("plan.md", 30, FIRST),
        edits("plan.md", 30, SECOND),
        {"the older change": FIRST, "the newer change": SECOND},
        merged_or_twice,
    ),
    "create": Conflict(
        "both create a file of the same name",
        creates("new.md", FIRST),
        creates("new.md", SECOND),
        {"the older file": FIRST, "the newer file": SECOND},
        merged_or_twice,
    ),
    "edit-delete": Conflict(
        "one changes a file, one deletes it",
        deletes("plan.md"),
        edits("plan.md", 10, SECOND),
        {"the change": SECOND},
        after_deletion,
    ),
    "rename-edit": Conflict(
        "one renames a file, one changes it",
        renames("plan.md", "design.md"),
        edits("plan.md", 10, SECOND),
        {"the change": SECOND},
        after_rename,
    ),
    "rename-rename": Conflict(
        "both rename a file, to different names",
        renames("plan.md", "one.md"),
        renames("plan.md", "two.md"),
        {"the file": BASE[10].strip()},
        after_two_renames,
    ),
    "file-directory": Conflict(
        "one creates a file, one a directory of the same name",
        creates("topic", FIRST),
        makes_directory("topic", SECOND),
        {"the file": FIRST, "the directory": SECOND},
        kept,
    ),
}


def fill(pair: Pair) -> None:
    """The same files in both directories, a day old."""
    directory = pair.directory("A")
    write(directory, "plan.md", "".join(BASE))
    for number in range(20):
        write(directory, f"projects/{number:02}.md", f"Project {number}.\n" * 10)
    age(directory, {}, 86_400)
    shutil.copytree(directory, pair.directory("B"), dirs_exist_ok=True)


def age(directory: Path, known: dict[Path, int], seconds: int) -> None:
    """Gives the files that were written just now their age. A renamed file keeps its own."""
    now = time.time()
    for path, stamp in stamps(directory).items():
        if known.get(path) != stamp and stamp / 1e9 > now - 60:
            os.utime(path, (now - seconds, now - seconds))


def stamps(directory: Path) -> dict[Path, int]:
    """The time of each file that a person sees."""
    paths = [path for path in directory.rglob("*") if path.relative_to(directory).parts[0] not in HIDDEN]
    return {path: path.stat().st_mtime_ns for path in paths if path.is_file()}


def outcome(pair: Pair, before: dict[str, Tree], conflict: Conflict) -> str:
    a, b = pair.tree("A"), pair.tree("B")
    lost = [whose for whose, line in conflict.lines.items() if not places(a, line) and not places(b, line)]
    if lost:
        return f"**{' and '.join(lost)} {'are' if len(lost) > 1 else 'is'} lost**"
    if a == b:
        return conflict.equal(a)
    if {"A": a, "B": b} == before:
        return STOPS
    differing = [path for path in a.keys() | b.keys() if a.get(path) != b.get(path)]
    is_left = all(a.get(path) == before["A"].get(path) and b.get(path) == before["B"].get(path) for path in differing)
    if is_left and places(a, CANARY) == places(b, CANARY):
        return APART
    return STOPS if is_left else "both kept, but the directories differ"


def twice(pair: Pair, check: Callable[[], str]) -> str:
    """The outcome after two runs."""
    pair.sync()
    once = check()
    pair.sync()
    again = check()
    return once if once == again else f"{again}, after two runs"


def attempt(place: Path, tool: Tool, conflict: Conflict, sides: str) -> str:
    pair = Pair(place, tool)
    fill(pair)
    pair.begin()
    for side, change, seconds in zip(sides, (conflict.first, conflict.second), (120, 60), strict=True):
        directory = pair.directory(side)
        known = stamps(directory)
        change(directory)
        age(directory, known, seconds)
    edits("projects/07.md", 3, CANARY)(pair.directory("A"))
    before = {side: pair.tree(side) for side in "AB"}
    return twice(pair, lambda: outcome(pair, before, conflict))


# --- a directory that has lost files ---


def emptied(place: Path, tool: Tool, sides: str) -> str:
    """The second directory is empty, as a mount point without its disk."""
    pair = Pair(place, tool)
    fill(pair)
    pair.begin()
    full, empty = sides
    for path in pair.directory(empty).iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    files = pair.tree(full)

    def check() -> str:
        gone = len(files.keys() - pair.tree(full).keys())
        if gone:
            return f"**{gone} of {len(files)} files are deleted**"
        return "fills the empty directory" if pair.tree(empty) == files else STOPS

    return twice(pair, check)


def restored(place: Path, tool: Tool, sides: str) -> str:
    """The second directory, with everything in it, is replaced by an older copy of itself."""
    pair = Pair(place, tool)
    fill(pair)
    pair.begin()
    changed, old = sides
    backup = place / "backup"
    shutil.copytree(pair.directory(old), backup, symlinks=True)
    edits("plan.md", 10, FIRST)(pair.directory(changed))
    creates("new.md", SECOND)(pair.directory(changed))
    code, output = pair.sync()
    if code or pair.tree("A") != pair.tree("B"):
        raise SystemExit(f"{tool.title}: exit code {code}\n{output}")
    shutil.rmtree(pair.directory(old))
    backup.rename(pair.directory(old))
    lines = {"the newer change": FIRST, "the newer file": SECOND}

    def check() -> str:
        a, b = pair.tree("A"), pair.tree("B")
        lost = [whose for whose, line in lines.items() if not places(a, line) and not places(b, line)]
        if lost:
            return f"**{' and '.join(lost)} {'are' if len(lost) > 1 else 'is'} lost**"
        if a == b:
            is_twice = any(FIRST.encode() not in content and BASE[0].encode() in content for content in a.values())
            return "both kept, in two files" if is_twice else "brings it up to date"
        return STOPS

    return twice(pair, check)


DIRECTORIES = {
    "emptied": ("one directory is empty, such as an unmounted disk", emptied),
    "restored": ("one directory is restored from an older backup", restored),
}


def in_both_directions(attempt_with: Callable[[str], str]) -> str:
    """The outcome, and the other one if it depends on which directory is named first."""
    found = [attempt_with("AB"), attempt_with("BA")]
    return found[0] if found[0] == found[1] else f"{found[0]}; with the directories exchanged: {found[1]}"


def all_conflicts(place: Path, tool: Tool) -> dict[str, str]:
    words = {
        name: in_both_directions(lambda sides, conflict=conflict: attempt(place, tool, conflict, sides))
        for name, conflict in CONFLICTS.items()
    }
    for name, (_, with_sides) in DIRECTORIES.items():
        words[name] = in_both_directions(lambda sides, with_sides=with_sides: with_sides(place, tool, sides))
    return words
