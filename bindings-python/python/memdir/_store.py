"""`Store`, in Python because it is there to be extended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

from memdir import _memdir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from memdir._memdir import Entry


class Store(ABC):
    r"""A place that keeps files and directories under `/memories`. Extend it for one of your own.

    Paths are texts such as `/memories/notes/today.md`: always below `/memories`, canonical and
    safe; no method needs to validate them. A store keeps bytes and knows no sentence of the tool.

    What it must guarantee (`memdir.testing.check_contract` checks it):

    - One tree. Directories exist by themselves, also when empty; the root always exists.
    - All or nothing. A method does the whole of what it says, or raises and leaves everything as
      it was: no new parents, no empty file.
    - Nothing acknowledged is lost, and readers see whole contents. Methods are called by many
      threads at once: writers exclude each other, by whatever means the store has.
    - Conditions of the tree are the exceptions that Python's own file functions raise:
      `FileNotFoundError`, `FileExistsError`, `IsADirectoryError`, `NotADirectoryError`,
      `PermissionError`, and any `OSError` whose `errno` is `ENAMETOOLONG` (the store cannot keep a
      name or path so long) or `ENOSPC` (it is full). Any other exception means that the store is
      broken: the model is told that its memory is out of reach, and you get a `StoreError` whose
      `__cause__` it is.

    A store of one flat dictionary, without the lock and the rest that a real one needs:

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
        """The whole content of a file.

        Raises:
            FileNotFoundError: Nothing is there (also where a parent is a file).
            IsADirectoryError: It is a directory.
        """

    @abstractmethod
    def list(self, path: str) -> Iterable[Entry]:
        """The entries of a directory, one level deep, in any order, hidden ones included.

        Raises:
            FileNotFoundError: Nothing is there.
            NotADirectoryError: It is a file.
        """

    @abstractmethod
    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        """Writes a whole file, making missing parents.

        Without `overwrite`, creation is exclusive: of two at once exactly one succeeds. With it, a
        file that is there is replaced atomically.

        Raises:
            FileExistsError: A file is there (unless overwriting), or a directory (always).
            NotADirectoryError: A parent is a file.
        """

    @abstractmethod
    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        """Changes a file: reads it, asks `edit`, and writes what that returns.

        No other writer may come between. Where the store finds that one did, it calls `edit` again
        with the newer content; the last call counts. When `edit` returns `None`, nothing is
        written, and that is a success. A command may call `update` several times.

        Raises:
            FileNotFoundError: Nothing is there.
            IsADirectoryError: It is a directory.
        """

    @abstractmethod
    def delete(self, path: str) -> None:
        """Deletes a file, or a directory and all that it holds. Never called for the root.

        Raises:
            FileNotFoundError: Nothing is there.
        """

    @abstractmethod
    def rename(self, old: str, new: str) -> None:
        """Moves a file or directory, making missing parents, never overwriting.

        Never called for the root as `old`. The conditions are checked in this order. As with
        Python's own exceptions, `filename` may say which of the two paths it is about; without it,
        that is `new`.

        Raises:
            FileNotFoundError: `old` is not there.
            FileExistsError: `new` is there (also when both are the same).
            OSError: With `errno.EINVAL`, as `os.rename` raises it: `new` lies below the directory
                `old`. With `errno.ENAMETOOLONG`: something below `old` would come to have a path
                of more than 64 levels below `/memories` or 4,096 bytes.
            NotADirectoryError: A parent of `new` is a file.
        """

    def open(self, path: str, depth: int) -> bytes | Iterable[Entry]:
        """A file's content, or a directory's visible entries `depth` levels deep, in any order.

        Every view is one call of this. It is made of `read` and `list` unless a store has a better
        way, such as one round trip instead of many. What is hidden (a name that starts with a dot,
        and `node_modules`) is left out, with all below it.

        Raises:
            FileNotFoundError: Nothing is there.
        """
        return _memdir.open_whole(self, path, depth)

    def clear(self) -> None:
        """Deletes everything below the root; the root stays."""
        for entry in self.list("/memories"):
            # Somebody else may be faster.
            with suppress(FileNotFoundError):
                self.delete(entry.path)

    def modified(self, path: str) -> datetime | None:
        """When a file was last written, with a time zone; `None` if the store does not keep that.

        It is the `modified` of the file's `Entry` unless a store has a better way.

        Raises:
            FileNotFoundError: Nothing is there.
            IsADirectoryError: It is a directory.
        """
        return _memdir.listed_time(self, path)

    def set_modified(self, path: str, time: datetime) -> None:
        """Says that a file was last written at `time`, for a copy that keeps its original's time.

        `time` has a time zone and counts microseconds. A store that keeps no times, or cannot set
        them, does nothing, as here.

        Raises:
            FileNotFoundError: Nothing is there.
            IsADirectoryError: It is a directory.
        """
        self.modified(path)

    def tracks_access(self) -> bool:
        """Whether the store keeps when files were last accessed, so that unused ones can expire.

        A store that does has `record_access` and `delete_unused`, and says `accessed` in the
        entries that it lists. By default it does not.
        """
        return False

    def record_access(self, path: str, time: datetime) -> None:
        """Says that a file was accessed at `time`, which goes along when it is renamed.

        That is no change of the file: its `modified` stays. A store that does not keep it does
        nothing, as here.

        Raises:
            FileNotFoundError: Nothing is there.
            IsADirectoryError: It is a directory.
        """
        self.modified(path)

    def delete_unused(self, path: str, since: datetime) -> bool:
        """Deletes a file if it was neither written nor accessed at `since` or later.

        No writer may come between the look and the deletion. By default nothing is ever deleted.

        Returns:
            Whether it was deleted; `False` also where nothing is, or a directory.
        """
        return False


Store.__module__ = "memdir"
# What `open_store` returns has the same methods, and is one.
Store.register(_memdir.NativeStore)
