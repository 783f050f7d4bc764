"""`Store`, in Python because applications extend it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

from memdir import _memdir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from memdir._results import Entry


class Store(ABC):
    r"""A place that keeps files and directories under `/memories`. Extend it to write your own.

    Paths are strings such as `/memories/notes/today.md`: always `/memories` or below it, canonical
    and safe. No method needs to validate them. A store keeps bytes, and needs to know nothing about
    commands and replies.

    A store must guarantee this contract (`memdir.testing.check_contract` checks it):

    - One tree. Directories exist independently of files, even when empty; the root always exists.
    - All or nothing. A method either succeeds completely, or raises and leaves everything as it
      was: no new parents, no empty file.
    - Acknowledged writes are never lost, and readers see whole contents. Many threads call methods
      concurrently; the store synchronises writers itself.
    - Conditions of the tree are the exceptions that Python's own file functions raise:
      `FileNotFoundError`, `FileExistsError`, `IsADirectoryError`, `NotADirectoryError`,
      `PermissionError`, and any `OSError` whose `errno` is `ENAMETOOLONG` (the name or path is too
      long for the store), `ENOSPC` (the store is full) or `EROFS` (the store is read-only). Any
      other exception means that the store is broken: the model reads that its memory cannot be
      reached, and you get a `StoreError` with the exception as its `__cause__`.

    An example that keeps one flat dictionary, without the lock and the rest of a real store:

    >>> from memdir import Entry, Memory, Store
    >>> class Notes(Store):
    ...     def __init__(self):
    ...         self.notes = {"/memories/todo.md": b"- water the plants\n"}
    ...     def read(self, path):
    ...         if path == "/memories":
    ...             raise IsADirectoryError(path)
    ...         if path not in self.notes:
    ...             raise FileNotFoundError(path)
    ...         return self.notes[path]
    ...     def list(self, path):
    ...         return [Entry(path, len(content)) for path, content in self.notes.items()]
    ...     def write(self, path, content, overwrite):
    ...         if path in self.notes and not overwrite:
    ...             raise FileExistsError(path)
    ...         self.notes[path] = content
    ...     def update(self, path, edit):
    ...         new = edit(self.read(path))
    ...         if new is not None:
    ...             self.notes[path] = new
    ...     def delete(self, path):
    ...         del self.notes[path]
    ...     def rename(self, old, new):
    ...         self.notes[new] = self.notes.pop(old)
    >>> print(Memory(Notes()).view("/memories/todo.md"))
    Here's the content of /memories/todo.md with line numbers:
         1	- water the plants
    """

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Reads the whole content of a file.

        Raises:
            FileNotFoundError: The path does not exist (also if a parent is a file).
            IsADirectoryError: It is a directory.
        """

    @abstractmethod
    def list(self, path: str) -> Iterable[Entry]:
        """Lists a directory, one level deep, in any order, with hidden entries.

        Raises:
            FileNotFoundError: The path does not exist.
            NotADirectoryError: It is a file.
        """

    @abstractmethod
    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        """Writes a whole file, and creates missing parents.

        Without `overwrite`, creation is exclusive: if two calls create the same path concurrently,
        exactly one succeeds. With `overwrite`, an existing file is replaced atomically.

        Raises:
            FileExistsError: The path is a file (unless overwriting), or a directory (always).
            NotADirectoryError: A parent is a file.
        """

    @abstractmethod
    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        """Changes a file: reads it, calls `edit` with the content, and writes the result.

        No other write may happen in between. If one did, the store calls `edit` again with the
        newer content; only the last call counts. If `edit` returns `None`, nothing is written, and
        the update succeeds. A command may call `update` several times.

        Raises:
            FileNotFoundError: The path does not exist.
            IsADirectoryError: It is a directory.
        """

    @abstractmethod
    def delete(self, path: str) -> None:
        """Deletes a file, or a directory with everything in it. Never called for the root.

        Raises:
            FileNotFoundError: The path does not exist.
        """

    @abstractmethod
    def rename(self, old: str, new: str) -> None:
        """Moves a file or directory, and creates missing parents. Never overwrites.

        Never called with the root as `old`. Check the conditions in this order. `filename` may name
        the path of the exception, as in Python's own exceptions. If it is absent, the path is
        `new`.

        Raises:
            FileNotFoundError: `old` does not exist.
            FileExistsError: `new` exists (also if both are the same).
            OSError: With `errno.EINVAL`, as `os.rename` raises it: `new` is below the directory
                `old`. With `errno.ENAMETOOLONG`: a path below `old` would have more than 64 levels
                below `/memories` or more than 4,096 bytes.
            NotADirectoryError: A parent of `new` is a file.
        """

    def open(self, path: str, depth: int) -> bytes | Iterable[Entry]:
        """Reads a file, or lists a directory's visible entries `depth` levels deep, in any order.

        Every view is one call of this method. By default it calls `read` and `list`. Override it if
        the store has a faster way, such as one round trip instead of many. Hidden entries (names
        that start with a dot, and `node_modules`) are left out, with everything below them.

        Raises:
            FileNotFoundError: The path does not exist.
        """
        return _memdir.open_whole(self, path, depth)

    def clear(self) -> None:
        """Deletes everything below the root; the root stays."""
        for entry in self.list("/memories"):
            # Another process may have deleted it.
            with suppress(FileNotFoundError):
                self.delete(entry.path)

    def modified(self, path: str) -> datetime | None:
        """When a file was last written, with a time zone; `None` if the store keeps no times.

        By default it lists the file's directory.

        Raises:
            FileNotFoundError: The path does not exist.
            IsADirectoryError: It is a directory.
        """
        return _memdir.listed_time(self, path)

    def set_modified(self, path: str, time: datetime) -> None:
        """Sets when a file was last written. A copy uses it to keep the time of the original.

        `time` has a time zone and is exact to the microsecond. A store that keeps no times, or
        cannot set them, does nothing. This is the default.

        Raises:
            FileNotFoundError: The path does not exist.
            IsADirectoryError: It is a directory.
        """
        self.modified(path)

    def tracks_access(self) -> bool:
        """Returns whether the store keeps access times, which the expiry of unused files needs.

        If it does, it implements `record_access` and `delete_unused`, and its listings have the
        `accessed` of each file. By default it does not.
        """
        return False

    def folds_case(self) -> bool:
        """Returns whether the store treats names as equal that differ only in case.

        The same holds for different compositions of the same letters, as in the file systems of
        macOS and Windows. A memory then compares paths the same way, so another spelling cannot
        bypass a policy. By default names are distinct. The memory calls this when it is opened.
        """
        return False

    def record_access(self, path: str, time: datetime) -> None:
        """Records that a file was accessed at `time`. The time moves with the file.

        This does not count as a change of the file, so its `modified` stays. A store that keeps no
        access times does nothing. This is the default.

        Raises:
            FileNotFoundError: The path does not exist.
            IsADirectoryError: It is a directory.
        """
        self.modified(path)

    def delete_unused(self, path: str, since: datetime) -> bool:
        """Deletes a file if it was neither written nor accessed at `since` or later.

        No other write may happen between the check and the deletion. By default nothing is ever
        deleted.

        Returns:
            True if the file was deleted; false also if the path does not exist or is a directory.
        """
        return False


Store.__module__ = "memdir"
# The stores that `open_store` returns have the same methods, so they count as `Store`.
Store.register(_memdir.NativeStore)
