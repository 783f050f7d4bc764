"""A store and hooks that answer late, or fail, and the commands that are cancelled meanwhile."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from dict_store import DictStore
from effort import SECONDS
from memdir import Deny, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from random import Random

    from memdir import Entry, Event

T = TypeVar("T")

OLD = "old\n"


class Pauses:
    """The delays of hooks and stores: a moment, or until `gate` is open. Sometimes they fail.

    While `calm` is true, there is no delay and no failure.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.calm = True
        # True while a store is in the middle of its work, which nothing may interrupt.
        self.busy = False
        self.gate = threading.Event()

    def is_one_in(self, count: int) -> bool:
        return not self.calm and self.random.random() * count < 1

    def moment(self) -> float:
        return self.random.random() * 0.002

    def block(self) -> None:
        if self.calm:
            return
        if self.is_one_in(60):
            assert self.gate.wait(SECONDS)
        else:
            time.sleep(self.moment())
        self.fail()

    async def wait(self, *, is_endless: bool = False) -> None:
        """Like `block`, but sometimes waits forever."""
        if self.calm:
            return
        await anyio.sleep(SECONDS if is_endless and self.is_one_in(20) else self.moment())
        self.fail()

    def fail(self) -> None:
        if self.is_one_in(100):
            raise ArithmeticError("erratic")


class Erratic(DictStore):
    """Answers late, or fails, either before it has done its work or after."""

    def __init__(self, pauses: Pauses) -> None:
        super().__init__()
        self.pauses = pauses

    def _slowly(self, work: Callable[[], T]) -> T:
        self.pauses.block()
        self.pauses.busy = True
        try:
            done = work()
        finally:
            self.pauses.busy = False
        self.pauses.block()
        return done

    def read(self, path: str) -> bytes:
        return self._slowly(lambda: DictStore.read(self, path))

    def list(self, path: str) -> Iterable[Entry]:
        return self._slowly(lambda: DictStore.list(self, path))

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        self._slowly(lambda: DictStore.write(self, path, content, overwrite))

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        def update() -> None:
            with self.lock:
                new = edit(DictStore.read(self, path))
                if new is not None:
                    self._put(path, new)

        self._slowly(update)

    def delete(self, path: str) -> None:
        self._slowly(lambda: DictStore.delete(self, path))

    def rename(self, old: str, new: str) -> None:
        self._slowly(lambda: DictStore.rename(self, old, new))


class Hooks:
    """Hooks of both kinds, and the events that `after` got for each path."""

    def __init__(self, pauses: Pauses, *, after_fails: bool = True) -> None:
        self.pauses, self.after_fails = pauses, after_fails
        self.events: dict[str, list[Event]] = {}

    def _decide(self) -> None:
        if self.pauses.is_one_in(50):
            raise Deny("Not today. Nothing was changed.")

    def _note(self, event: Event) -> None:
        if not self.pauses.calm:
            self.events.setdefault(event.path or "", []).append(event)
            if self.after_fails:
                self.pauses.fail()

    async def before(self, _: Mapping[str, Any]) -> None:
        if self.pauses.is_one_in(2):
            await self.pauses.wait(is_endless=True)
        self._decide()

    async def after(self, event: Event) -> None:
        # This wait cannot be cancelled, and the call waits for it.
        await self.pauses.wait()
        self._note(event)

    def before_plainly(self, _: Mapping[str, Any]) -> None:
        if self.pauses.is_one_in(2):
            self.pauses.block()
        self._decide()

    def after_plainly(self, event: Event) -> None:
        self._note(event)

    def kinds(self) -> list[dict[str, Any]]:
        return [
            {},
            {"before": self.before, "after": self.after},
            {"before": self.before_plainly, "after": self.after_plainly},
            {"before": self.before, "after": self.after_plainly},
        ]


COMMANDS = ("view", "create", "insert", "delete", "rename")


def command(name: str, path: str) -> dict[str, Any]:
    fields: dict[str, dict[str, Any]] = {
        "view": {"path": path},
        "create": {"path": path, "file_text": "new"},
        "insert": {"path": path, "insert_line": 0, "insert_text": "new"},
        "delete": {"path": path},
        "rename": {"old_path": path, "new_path": f"{path}-moved"},
    }
    return {"command": name, **fields[name]}


def is_done(name: str, path: str, content: Callable[[str], str | None]) -> bool:
    """Returns whether a command has done all of its work on a file. It must not do only a part."""
    found = content(path)
    before = None if name == "create" else OLD
    if name == "rename":
        moved = content(f"{path}-moved")
        assert sorted([found or "", moved or ""]) == ["", OLD], (found, moved)
        return moved == OLD
    after = {"create": "new", "insert": "new\nold\n", "delete": None, "view": OLD}[name]
    assert found in {before, after}, found
    return name != "view" and found == after


@dataclass
class Tally:
    """The reported outcomes of the calls, and the moments of their cancellation."""

    reported: dict[str, int] = field(
        default_factory=lambda: {"changed": 0, "unchanged": 0, "unknown": 0}
    )
    cancelled: int = 0

    def check(
        self,
        name: str,
        path: str,
        said: tuple[str, bool] | None,
        events: list[Event],
        content: Callable[[str], str | None],
    ) -> None:
        """Compares the outcome of a call, and the event for `after`, with the files' contents."""
        assert len(events) <= 1, (name, path, events)
        told = _outcome(events[0].outcome) if events else "unknown"
        reported = told if said is None else _effect(name, *said)
        self.cancelled += said is None
        self.reported[reported] += 1
        done = is_done(name, path, content)
        context = (name, path, said, events, content(path))
        assert reported == "unknown" or (reported == "changed") == done or name == "view", context
        if said is not None and events:
            assert (events[0].outcome == "ok") == (not said[1]), context


def _effect(name: str, text: str, is_error: bool) -> str:
    if not is_error:
        return "unchanged" if name == "view" else "changed"
    if re.search("may or may not have been saved", text):
        return "unknown"
    if re.search("Nothing was changed", text) or (name == "view" and "Try again later" in text):
        return "unchanged"
    raise AssertionError(f"{name}: {text}")


def _outcome(outcome: str) -> str:
    unchanged = {"cancelled", "denied", "refused"}
    return "changed" if outcome == "ok" else "unchanged" if outcome in unchanged else "unknown"


def held(read: Callable[[str], bytes]) -> Callable[[str], str | None]:
    """Reads the content of a file in a store."""

    def content(path: str) -> str | None:
        try:
            return read(path).decode()
        except FileNotFoundError:
            return None
        except StoreError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise

    return content
