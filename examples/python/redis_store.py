"""A memory in Redis: a complete custom store, to use unchanged or to learn from.

    pip install memdir redis

    from memdir import Memory
    from redis_store import RedisStore

    memory = Memory(RedisStore("redis://localhost:6379/0", "agent-42"))

A directory is a hash of its entries' names and kinds, a file a hash of its content and its times:

    agent-42:dir:/memories             notes → d, todo.md → f
    agent-42:dir:/memories/notes       today.md → f
    agent-42:file:/memories/todo.md    content → …, modified → 1795270000000000

Every change is one optimistic transaction of Redis: it watches each key that it reads, and starts
again if another client changed one of them before it was done. So any number of programs, on any
number of machines, can use one memory, and readers never wait. Redis executes and persists a
transaction as a whole or not at all. Acknowledged changes survive a crash only with
`appendonly yes` and `appendfsync always` in Redis's configuration. Keep `noeviction`, which is the
default, so Redis does not drop data when it is full.
"""

from __future__ import annotations

import errno
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import redis

from memdir import Entry, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis.client import Pipeline

ROOT = "/memories"
DIRECTORY, FILE = b"d", b"f"
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def now() -> int:
    return (datetime.now(timezone.utc) - EPOCH) // MICROSECOND


def time_of(micros: Any) -> datetime | None:
    return None if micros is None else EPOCH + int(micros) * MICROSECOND


class RedisStore(Store):
    """Keeps a memory on the Redis at `url`, separate from those of other namespaces."""

    def __init__(self, url: str, namespace: str = "memdir") -> None:
        self._redis = redis.Redis.from_url(url, decode_responses=False)
        self._namespace = namespace

    def close(self) -> None:
        """Closes the connections."""
        self._redis.close()

    # --- reading: values that belong together are read in one transaction -----------------------

    def read(self, path: str) -> bytes:
        content = self._field(path, "content")
        assert isinstance(content, bytes)
        return content

    def list(self, path: str) -> Sequence[Entry]:
        with self._redis.pipeline() as pipe:
            self._ask_kind(pipe, path)
            pipe.hgetall(self._directory(path))
            kind, listed = pipe.execute()
        if kind is None:
            raise FileNotFoundError(path)
        if kind == FILE:
            raise NotADirectoryError(path)
        below = {f"{path}/{name.decode()}": kind for name, kind in listed.items()}
        files = [child for child, kind in below.items() if kind == FILE]
        with self._redis.pipeline() as pipe:
            for file in files:
                pipe.hstrlen(self._file(file), "content")
                pipe.hmget(self._file(file), "modified", "accessed")
            answers = pipe.execute()
        return [Entry(child) for child, kind in below.items() if kind == DIRECTORY] + [
            Entry(file, size, time_of(times[0]), time_of(times[1]))
            for file, size, times in zip(files, answers[::2], answers[1::2], strict=True)
            # Without a time, the file was deleted after its directory was read.
            if times[0] is not None
        ]

    def modified(self, path: str) -> datetime:
        modified = time_of(self._field(path, "modified"))
        assert modified is not None
        return modified

    # --- changing -----------------------------------------------------------------------------

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        def change(pipe: Pipeline) -> None:
            kind = self._kind(pipe, path)
            if kind == DIRECTORY or (kind == FILE and not overwrite):
                raise FileExistsError(path)
            missing = self._missing_parents(pipe, path)
            pipe.multi()
            self._link(pipe, path, FILE, missing)
            pipe.hset(self._file(path), mapping={"content": content, "modified": now()})

        self._redis.transaction(change)

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        def change(pipe: Pipeline) -> None:
            self._watch(pipe, self._file(path))
            new = edit(self.read(path))
            pipe.multi()
            if new is not None:
                pipe.hset(self._file(path), mapping={"content": new, "modified": now()})

        self._redis.transaction(change)

    def set_modified(self, path: str, time: datetime) -> None:
        self._set_time(path, "modified", time)

    def tracks_access(self) -> bool:
        return True

    def record_access(self, path: str, time: datetime) -> None:
        self._set_time(path, "accessed", time)

    def _set_time(self, path: str, field: str, time: datetime) -> None:
        def change(pipe: Pipeline) -> None:
            self._watch(pipe, self._file(path))
            self.modified(path)
            pipe.multi()
            pipe.hset(self._file(path), field, (time - EPOCH) // MICROSECOND)

        self._redis.transaction(change)

    def delete_unused(self, path: str, since: datetime) -> bool:
        deleted = False

        def change(pipe: Pipeline) -> None:
            nonlocal deleted
            deleted = False
            kind = self._kind(pipe, path)
            self._watch(pipe, self._file(path))
            times: Any = pipe.hmget(self._file(path), "modified", "accessed")
            pipe.multi()
            last = max(time_of(time) or EPOCH for time in times)
            if kind == FILE and last < since:
                deleted = True
                pipe.hdel(self._directory(parent_of(path)), name_of(path))
                pipe.delete(self._file(path))

        self._redis.transaction(change)
        return deleted

    def delete(self, path: str) -> None:
        def change(pipe: Pipeline) -> None:
            tree = self._tree(pipe, path)
            pipe.multi()
            pipe.hdel(self._directory(parent_of(path)), name_of(path))
            for gone, kind in tree.items():
                pipe.delete(self._key(gone, kind))

        self._redis.transaction(change)

    def rename(self, old: str, new: str) -> None:
        def change(pipe: Pipeline) -> None:
            tree = self._tree(pipe, old)
            if self._kind(pipe, new) is not None:
                raise FileExistsError(new)
            if tree[old] == DIRECTORY and new.startswith(f"{old}/"):
                raise OSError(errno.EINVAL, "a directory cannot be moved into itself", new)
            missing = self._missing_parents(pipe, new)
            for path in tree:
                moved = new + path[len(old) :]
                if moved.count("/") > 65 or len(moved.encode()) > 4096:
                    raise OSError(errno.ENAMETOOLONG, "a path below would be too long", new)
            # Redis keeps no empty hash, so an empty directory has no key to rename.
            full = {parent_of(path) for path in tree if path != old}
            pipe.multi()
            pipe.hdel(self._directory(parent_of(old)), name_of(old))
            self._link(pipe, new, tree[old], missing)
            for path, kind in tree.items():
                if kind == FILE or path in full:
                    moved = new + path[len(old) :]
                    pipe.rename(self._key(path, kind), self._key(moved, kind))

        self._redis.transaction(change)

    # --- keys and their values ------------------------------------------------------------------

    def _file(self, path: str) -> str:
        return f"{self._namespace}:file:{path}"

    def _directory(self, path: str) -> str:
        return f"{self._namespace}:dir:{path}"

    def _key(self, path: str, kind: bytes) -> str:
        return self._file(path) if kind == FILE else self._directory(path)

    def _field(self, path: str, field: str) -> Any:
        """A field of a file, or an exception with the reason why there is none."""
        with self._redis.pipeline() as pipe:
            self._ask_kind(pipe, path)
            pipe.hget(self._file(path), field)
            kind, value = pipe.execute()
        if kind is None:
            raise FileNotFoundError(path)
        if kind == DIRECTORY:
            raise IsADirectoryError(path)
        return value

    def _watch(self, pipe: Pipeline, key: str) -> None:
        """Makes the transaction fail and start again, if the key changes before its end."""
        pipe.watch(key)  # type: ignore[no-untyped-call]

    def _ask_kind(self, pipe: Pipeline, path: str) -> None:
        """Requests the kind of entry at a path. The root always exists."""
        if path == ROOT:
            pipe.echo(DIRECTORY)
        else:
            pipe.hget(self._directory(parent_of(path)), name_of(path))

    def _kind(self, pipe: Pipeline, path: str) -> Any:
        """The kind of entry at a path, valid for the transaction; `None` if there is none."""
        if path == ROOT:
            return DIRECTORY
        self._watch(pipe, self._directory(parent_of(path)))
        return pipe.hget(self._directory(parent_of(path)), name_of(path))

    def _missing_parents(self, pipe: Pipeline, path: str) -> Sequence[str]:
        missing = []
        above = parent_of(path)
        while (kind := self._kind(pipe, above)) is None:
            missing.append(above)
            above = parent_of(above)
        if kind == FILE:
            raise NotADirectoryError(path)
        return missing

    def _link(self, pipe: Pipeline, path: str, kind: bytes, missing: Sequence[str]) -> None:
        """Adds a path to its directory, and creates missing parents."""
        pipe.hset(self._directory(parent_of(path)), name_of(path), kind)
        for directory in missing:
            pipe.hset(self._directory(parent_of(directory)), name_of(directory), DIRECTORY)

    def _tree(self, pipe: Pipeline, path: str) -> dict[str, bytes]:
        """A path and everything below it, with their kinds, valid for the transaction."""
        kind = self._kind(pipe, path)
        if kind is None:
            raise FileNotFoundError(path)
        tree = {path: kind}
        directories = [path] if kind == DIRECTORY else []
        while directories:
            directory = directories.pop()
            self._watch(pipe, self._directory(directory))
            listed: Any = pipe.hgetall(self._directory(directory))
            for name, kind in listed.items():
                below = f"{directory}/{name.decode()}"
                tree[below] = kind
                if kind == DIRECTORY:
                    directories.append(below)
        return tree
