"""The conformance cases, read, and what a runner checks. `tests/README.md` has the format."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from memdir import Store

PROJECT = Path(__file__).resolve().parents[2]

# A tree: path to content; `None` is an empty directory.
Tree = dict[str, bytes | None]


@dataclass(frozen=True)
class Case:
    """One case, with the name of its file."""

    file: str
    data: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.file}: {self.data['name']}"

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.data.get("options", {}))


def load() -> list[Case]:
    files = sorted((PROJECT / "tests" / "cases").glob("*.json"))
    return [
        Case(file.stem, case)
        for file in files
        for case in json.loads(file.read_text(encoding="utf-8"))["cases"]
    ]


def expanded(value: Any) -> Any:
    """The value with every text form in it made a text."""
    match value:
        case {"$text": pieces}:
            return "".join(expanded(piece) for piece in pieces)
        case {"$repeat": text, "$times": times}:
            return text * times
        case {"$count": [first, last], "$each": text}:
            return "".join(
                text.replace("{n}", str(n)).replace("{n:6}", f"{n:6}")
                for n in range(first, last + 1)
            )
        case dict():
            return {name: expanded(item) for name, item in value.items()}
        case list():
            return [expanded(item) for item in value]
        case _:
            return value


def shown(value: Any) -> Any:
    """What a reply shows: a text, or an image's block."""
    match value:
        case {"$image": media_type, "$base64": data}:
            source = {"type": "base64", "media_type": media_type, "data": data}
            return [{"type": "image", "source": source}]
        case _:
            return expanded(value)


def tree_of(value: dict[str, Any]) -> Tree:
    def content(value: Any) -> bytes | None:
        match value:
            case None:
                return None
            case {"$base64": text}:
                return base64.b64decode(text)
            case _:
                text = expanded(value)
                assert isinstance(text, str)
                return text.encode()

    return {path: content(value) for path, value in value.items()}


def fill(store: Store, given: Tree) -> None:
    """Writes a tree through the store, which makes a directory only for a file: that goes again."""
    for path, content in given.items():
        if content is None:
            store.write(f"{path}/file", b"", overwrite=False)
            store.delete(f"{path}/file")
        else:
            store.write(path, content, overwrite=False)


def tree_in(store: Store) -> Tree:
    """The complete tree of a store; a directory is in it only if it is empty."""
    tree: Tree = {}
    directories = ["/memories"]
    while directories:
        directory = directories.pop()
        entries = list(store.list(directory))
        if not entries and directory != "/memories":
            tree[directory] = None
        for entry in entries:
            if entry.is_directory:
                directories.append(entry.path)
            else:
                tree[entry.path] = store.read(entry.path)
    return tree


def run(
    case: Case, store: Store, execute: Callable[[Any], tuple[Any, bool]], secret: str | None = None
) -> int:
    """Runs a case on a fresh store and returns how many steps it had.

    `secret` is a path of the host that no reply may hold.
    """
    fill(store, tree_of(case.data.get("given", {})))
    for number, step in enumerate(case.data["steps"], 1):
        what = f"{case}, step {number}"
        before = tree_in(store)
        given = expanded(step["input"])
        content, is_error = execute(given)
        assert content == shown(step["content"]), what
        assert is_error is step["is_error"], what
        assert secret is None or secret not in content, what
        if is_error or (isinstance(given, dict) and given.get("command") == "view"):
            assert tree_in(store) == before, f"{what}: the tree changed"
    if "then" in case.data:
        assert tree_in(store) == tree_of(case.data["then"]), f"{case}: the tree at the end"
    return len(case.data["steps"])
