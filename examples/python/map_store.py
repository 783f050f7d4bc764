"""A whole store: the six methods over a dictionary. docs/stores/write-a-store.md quotes it."""

from __future__ import annotations

import errno
import threading
from typing import TYPE_CHECKING

from memdir import Entry, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROOT = "/memories"


class MapStore(Store):
    """Files and directories by path. The content of a directory is `None`."""

    def __init__(self) -> None:
        self.tree: dict[str, bytes | None] = {ROOT: None}
        # Many threads call a store at once. Reentrant, because `update` calls `read`.
        self.lock = threading.RLock()

    def read(self, path: str) -> bytes:
        with self.lock:
            content = self._content(path)
            if content is None:
                raise IsADirectoryError(path)
            return content

    def list(self, path: str) -> Iterable[Entry]:
        with self.lock:
            if self._content(path) is not None:
                raise NotADirectoryError(path)
            return [
                Entry(below) if content is None else Entry(below, len(content))
                for below, content in self.tree.items()
                if parent_of(below) == path
            ]

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        with self.lock:
            if path in self.tree and (self.tree[path] is None or not overwrite):
                raise FileExistsError(path)
            self._make_parents(path)
            self.tree[path] = content

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        with self.lock:
            new = edit(self.read(path))
            if new is not None:
                self.tree[path] = new

    def delete(self, path: str) -> None:
        with self.lock:
            self._content(path)
            for below in self._with_all_below(path):
                del self.tree[below]

    def rename(self, old: str, new: str) -> None:
        with self.lock:
            content = self._content(old)
            if new in self.tree:
                raise FileExistsError(new)
            if content is None and new.startswith(f"{old}/"):
                raise OSError(errno.EINVAL, "a directory cannot be moved below itself")
            moved = {below: new + below[len(old) :] for below in self._with_all_below(old)}
            if any(path.count("/") > 65 or len(path.encode()) > 4096 for path in moved.values()):
                raise OSError(errno.ENAMETOOLONG, "a path below would be too long")
            self._make_parents(new)
            for before, after in moved.items():
                self.tree[after] = self.tree.pop(before)

    def _content(self, path: str) -> bytes | None:
        if path not in self.tree:
            raise FileNotFoundError(path)
        return self.tree[path]

    def _with_all_below(self, path: str) -> Sequence[str]:
        return [below for below in self.tree if below == path or below.startswith(f"{path}/")]

    def _make_parents(self, path: str) -> None:
        """Adds the missing directories above a path, or none of them if one is a file."""
        missing = []
        above = parent_of(path)
        while above not in self.tree:
            missing.append(above)
            above = parent_of(above)
        if self.tree[above] is not None:
            raise NotADirectoryError(path)
        self.tree.update(dict.fromkeys(missing))


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]
