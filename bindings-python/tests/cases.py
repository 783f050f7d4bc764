"""Reads the conformance cases, and runs and checks them. `tests/README.md` has the format."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memdir import ConfigError, Deny, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memdir import Event, Expired, Store

PROJECT = Path(__file__).resolve().parents[2]

# A tree: path to content; `None` is an empty directory.
Tree = dict[str, bytes | None]


@dataclass(frozen=True)
class Case:
    """One case, with the name of its file."""

    file: str
    data: dict[str, Any]
    events: list[Event] = field(default_factory=list, compare=False)

    def __str__(self) -> str:
        return f"{self.file}: {self.data['name']}"

    @property
    def options(self) -> dict[str, Any]:
        """The options for this case's memory, including its hooks."""
        options = dict(self.data.get("options", {}))
        if "hooks" in self.data:
            options |= {"before": self._before, "after": self.events.append}
        return options

    def _before(self, command: Mapping[str, Any]) -> Mapping[str, object] | None:
        for rule in self.data["hooks"]["before"]:
            if expanded(rule["when"]).items() <= {**command}.items():
                break
        else:
            return None
        match {name: expanded(value) for name, value in rule.items()}:
            case {"deny": sentence}:
                raise Deny(sentence)
            case {"fail": problem}:
                raise LookupError(problem)
            case {"replace": [old, new]}:
                [name] = command.keys() & {"file_text", "new_str", "insert_text"}
                return {**command, name: command[name].replace(old, new)}
        raise AssertionError(f"{self}: {rule}")


def load() -> list[Case]:
    files = sorted((PROJECT / "tests" / "cases").glob("*.json"))
    return [
        Case(file.stem, case)
        for file in files
        for case in json.loads(file.read_text(encoding="utf-8"))["cases"]
    ]


def expanded(value: Any) -> Any:
    """Replaces the descriptions of texts in the value by the texts."""
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
    """The content of a reply: a text, or an image's block."""
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


def fill(store: Store, given: Tree, *, overwrite: bool = False) -> None:
    """Writes a tree through the store. For an empty directory, writes and deletes a file in it."""
    for path, content in given.items():
        if content is None:
            store.write(f"{path}/file", b"", overwrite=overwrite)
            store.delete(f"{path}/file")
        else:
            store.write(path, content, overwrite=overwrite)


def tree_in(store: Store) -> Tree:
    """The complete tree of a store. It has only those directories that are empty."""
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


def upkeep(step: dict[str, Any], store: Store, expire: Callable[..., list[Expired]]) -> bool:
    """Executes a step that is not a tool call. Returns whether it was one."""
    if "age" in step:
        for path, seconds in step["age"].items():
            time = datetime.now(timezone.utc) - timedelta(seconds=seconds)
            store.set_modified(path, time)
            store.record_access(path, time)
        return True
    if "expire" not in step:
        return False
    if "refused" in step:
        with pytest.raises(ConfigError):
            expire(**step["expire"])
    else:
        removed = expire(**step["expire"])
        assert [file.path for file in removed] == step["removed"], step
    return True


def event_of(event: Event) -> dict[str, Any]:
    """The fields of an event without its duration and without empty fields."""
    assert event.duration >= 0
    names = ("command", "path", "new_path", "outcome", "bytes", "lines", "repairs", "content")
    fields = {name: getattr(event, name) for name in names}
    return event_in({**fields, "repairs": [*event.repairs]})


def event_in(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: expanded(value) for name, value in fields.items() if value}


def run(
    case: Case,
    store: Store,
    execute: Callable[[Any], tuple[Any, bool]],
    expire: Callable[..., list[Expired]],
    secret: str | None = None,
) -> int:
    """Runs a case on a fresh store and returns its number of steps.

    `secret` is a path of the host that no reply may contain.
    """
    case.events.clear()
    fill(store, tree_of(case.data.get("given", {})))
    for number, step in enumerate(case.data["steps"], 1):
        if "meanwhile" in step:
            fill(store, tree_of(step["meanwhile"]), overwrite=True)
            continue
        what = f"{case}, step {number}"
        if upkeep(step, store, expire):
            continue
        before = tree_in(store)
        given = expanded(step["input"])
        answered = execute(given)
        content, is_error = answered
        assert content == shown(step["content"]), what
        assert is_error is step["is_error"], what
        if isinstance(answered, Reply):
            assert (answered.kind is not None) is is_error, what
            assert step.get("kind", answered.kind) == answered.kind, what
        assert secret is None or secret not in content, what
        told = [event_of(event) for event in case.events]
        assert told == ([event_in(step["event"])] if "event" in step else []), what
        case.events.clear()
        is_view = isinstance(given, dict) and given.get("command") == "view"
        if (is_error or is_view) and "expires" not in step:
            assert tree_in(store) == before, f"{what}: the tree changed"
    if "then" in case.data:
        assert tree_in(store) == tree_of(case.data["then"]), f"{case}: the tree at the end"
    return len(case.data["steps"])
