"""A store written in Python: one dictionary and a lock. The tests' example of an own store.

It keeps the whole contract of `memdir.Store`, and `test_store.py` checks that.
"""

from __future__ import annotations

import errno
import threading
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from memdir import Entry, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROOT = "/memories"
MAX_LEVELS = 64
MAX_PATH_BYTES = 4096


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]


class DictStore(Store):
    """Path to content; a directory's content is `None`."""

    def __init__(self) -> None:
        self.tree: dict[str, bytes | None] = {ROOT: None}
        self.modified_at: dict[str, datetime] = {}
        self.accessed_at: dict[str, datetime] = {}
        self.lock = threading.RLock()

    def read(self, path: str) -> bytes:
        with self.lock:
            if path not in self.tree:
                raise FileNotFoundError(path)
            content = self.tree[path]
            if content is None:
                raise IsADirectoryError(path)
            return content

    def list(self, path: str) -> Iterable[Entry]:
        with self.lock:
            if path not in self.tree:
                raise FileNotFoundError(path)
            if self.tree[path] is not None:
                raise NotADirectoryError(path)
            return [
                Entry(below)
                if content is None
                else Entry(
                    below, len(content), self.modified_at[below], self.accessed_at.get(below)
                )
                for below, content in self.tree.items()
                if parent_of(below) == path
            ]

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        with self.lock:
            if path in self.tree and (self.tree[path] is None or not overwrite):
                raise FileExistsError(path)
            self._make_parents(path)
            self._put(path, content)

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        with self.lock:
            new = edit(self.read(path))
            if new is not None:
                self._put(path, new)

    def delete(self, path: str) -> None:
        with self.lock:
            if path not in self.tree:
                raise FileNotFoundError(path)
            for below in self._with_all_below(path):
                self._remove(below)

    def rename(self, old: str, new: str) -> None:
        with self.lock:
            if old not in self.tree:
                raise FileNotFoundError(old)
            if new in self.tree:
                raise FileExistsError(new)
            moved = {below: new + below[len(old) :] for below in self._with_all_below(old)}
            if self.tree[old] is None and new.startswith(old + "/"):
                raise OSError(
                    errno.EINVAL, "a directory cannot be moved below itself", old, None, new
                )
            for path in moved.values():
                if path.count("/") - 1 > MAX_LEVELS or len(path.encode()) > MAX_PATH_BYTES:
                    raise OSError(errno.ENAMETOOLONG, "a path below would be too long", new)
            self._make_parents(new)
            for before, after in moved.items():
                self.tree[after] = self.tree.pop(before)
                for times in (self.modified_at, self.accessed_at):
                    if before in times:
                        times[after] = times.pop(before)

    def set_modified(self, path: str, time: datetime) -> None:
        with self.lock:
            self.read(path)
            self.modified_at[path] = time

    def tracks_access(self) -> bool:
        return True

    def record_access(self, path: str, time: datetime) -> None:
        with self.lock:
            self.read(path)
            self.accessed_at[path] = time

    def delete_unused(self, path: str, since: datetime) -> bool:
        with self.lock:
            if self.tree.get(path) is None:
                return False
            times = [self.modified_at[path], self.accessed_at.get(path, self.modified_at[path])]
            unused = max(times) < since
            if unused:
                self._remove(path)
            return unused

    def _put(self, path: str, content: bytes) -> None:
        self.tree[path] = content
        self.modified_at[path] = datetime.now(timezone.utc)

    def _remove(self, path: str) -> None:
        del self.tree[path]
        self.modified_at.pop(path, None)
        self.accessed_at.pop(path, None)

    def _with_all_below(self, path: str) -> Sequence[str]:
        return [below for below in self.tree if below == path or below.startswith(path + "/")]

    def _make_parents(self, path: str) -> None:
        missing = []
        parent = parent_of(path)
        while parent not in self.tree:
            missing.append(parent)
            parent = parent_of(parent)
        if self.tree[parent] is not None:
            raise NotADirectoryError(path)
        self.tree.update(dict.fromkeys(missing))
