"""Stores written in Python, and the conversion of their errors."""

from __future__ import annotations

import dataclasses
import errno
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.lib.tools import ToolError

from dict_store import DictStore
from map_store import MapStore
from memdir import (
    ConfigError,
    Entry,
    MemdirError,
    Memory,
    MemoryTool,
    RefusedError,
    Store,
    StoreError,
    open_store,
)
from memdir.testing import check_contract

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

OUT_OF_REACH = "Error: The memory directory cannot be reached at the moment. Try again later."
VIEW = {"command": "view", "path": "/memories/a"}


class Handing(Store):
    """A store that forwards every call to another store, as for logging or measuring."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    def read(self, path: str) -> bytes:
        return self.inner.read(path)

    def list(self, path: str) -> Iterable[Entry]:
        return self.inner.list(path)

    def open(self, path: str, depth: int) -> bytes | Iterable[Entry]:
        return self.inner.open(path, depth)

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        self.inner.write(path, content, overwrite)

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        self.inner.update(path, edit)

    def delete(self, path: str) -> None:
        self.inner.delete(path)

    def rename(self, old: str, new: str) -> None:
        self.inner.rename(old, new)

    def clear(self) -> None:
        self.inner.clear()

    def modified(self, path: str) -> datetime | None:
        return self.inner.modified(path)

    def set_modified(self, path: str, time: datetime) -> None:
        self.inner.set_modified(path, time)


class Broken(DictStore):
    """A store whose methods all raise."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def read(self, path: str) -> bytes:
        raise self.error

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        raise self.error


class Optimistic(DictStore):
    """A store without a lock around the edit: it reads again if another writer was faster."""

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        while True:
            old = self.read(path)
            new = edit(old)
            if new is None:
                return
            with self.lock:
                if self.tree.get(path) == old:
                    self._put(path, new)
                    return


class Elsewhere(DictStore):
    """A store that works in its own thread, like one around an event loop."""

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(super().update, path, edit).result()


# The second is called from Rust and calls into Rust. memdir's own stores are checked in Rust.
@pytest.mark.parametrize(
    "factory",
    [DictStore, MapStore, lambda: Handing(open_store("memory:"))],
    ids=["dict", "example", "handing to native"],
)
def test_the_contract_is_kept(factory: Callable[[], Store]) -> None:
    check_contract(factory)


@pytest.mark.parametrize("kind", [DictStore, Optimistic, Elsewhere])
def test_a_store_may_call_the_edit_as_it_likes(kind: type[DictStore]) -> None:
    """It may call it under its lock, several times, or on another thread: no edit is lost."""
    store = kind()
    memory = Memory(store)
    memory.create("/memories/a", "")

    def insert(number: int) -> str:
        return memory.insert("/memories/a", 0, str(number))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(insert, range(100))) == {"The file /memories/a has been edited."}
    assert sorted(map(int, store.read("/memories/a").split())) == list(range(100))
    with pytest.raises(RefusedError, match="No replacement was performed"):
        memory.str_replace("/memories/a", "not there", "x")


def test_times_are_exact_and_older_than_any_computer() -> None:
    store = open_store("memory:")
    path = "/memories/a"
    store.write(path, b"", overwrite=False)
    written = store.modified(path)
    assert written is not None
    assert abs(datetime.now(timezone.utc) - written) < timedelta(hours=1)
    for time in (
        datetime(2026, 5, 17, 8, 30, 0, 123456, tzinfo=timezone.utc),
        datetime(1970, 1, 1, tzinfo=timezone.utc),
        datetime(1869, 10, 2, 12, 0, 0, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    ):
        store.set_modified(path, time)
        assert store.modified(path) == time
        [entry] = store.list("/memories")
        assert entry == Entry(path, 0, time)
        assert hash(entry) == hash(Entry(path, 0, time))
        assert entry.modified == time
        assert entry.modified.tzinfo is timezone.utc
        assert repr(time.astimezone(timezone.utc)) in repr(entry)
    assert Entry(path, 0, time) != Entry(path, 0)
    with pytest.raises(TypeError, match="offset-naive"):
        store.set_modified(path, datetime(2026, 5, 17))
    with pytest.raises(IsADirectoryError):
        store.modified("/memories")
    with pytest.raises(FileNotFoundError):
        store.set_modified("/memories/none", time)


class Timeless(DictStore):
    """Keeps no times, which is optional."""

    def list(self, path: str) -> Iterable[Entry]:
        return [Entry(entry.path, entry.size) for entry in super().list(path)]

    set_modified = Store.set_modified
    tracks_access = Store.tracks_access
    record_access = Store.record_access
    delete_unused = Store.delete_unused


def test_a_store_that_keeps_no_times_says_so() -> None:
    store = Timeless()
    store.write("/memories/a/b", b"", overwrite=False)
    assert store.modified("/memories/a/b") is None
    store.set_modified("/memories/a/b", datetime.now(timezone.utc))
    assert store.modified("/memories/a/b") is None
    for missing in ("/memories/c", "/memories/c/d", "/memories/a/b/c"):
        with pytest.raises(FileNotFoundError):
            store.modified(missing)
    with pytest.raises(IsADirectoryError):
        store.set_modified("/memories/a", datetime.now(timezone.utc))
    assert not store.tracks_access()
    assert not store.delete_unused("/memories/a/b", datetime.now(timezone.utc))
    assert store.read("/memories/a/b") == b""
    check_contract(Timeless)
    for options in ({"record_access": True}, {"expire_after": 1}):
        with pytest.raises(ConfigError, match="tracks_access, record_access and delete_unused"):
            Memory(store, **options)


class FoldingStore(Store):
    """Finds names in any case, and keeps the case of their creation. It keeps no times."""

    def __init__(self) -> None:
        self.inner = DictStore()

    def kept(self, path: str) -> str:
        kept = "/memories"
        for name in path.split("/")[2:]:
            with suppress(FileNotFoundError, NotADirectoryError):
                for entry in self.inner.list(kept):
                    last = entry.path.rpartition("/")[2]
                    name = last if last.upper() == name.upper() else name  # noqa: PLW2901
            kept += "/" + name
        return kept

    def folds_case(self) -> bool:
        return True

    def read(self, path: str) -> bytes:
        return self.inner.read(self.kept(path))

    def list(self, path: str) -> Iterable[Entry]:
        for entry in self.inner.list(self.kept(path)):
            name = entry.path.rpartition("/")[2]
            yield Entry(f"{path}/{name}", entry.size)

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        self.inner.write(self.kept(path), content, overwrite)

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        self.inner.update(self.kept(path), edit)

    def delete(self, path: str) -> None:
        self.inner.delete(self.kept(path))

    def rename(self, old: str, new: str) -> None:
        self.inner.rename(self.kept(old), self.kept(new))


def test_a_store_that_ignores_case_says_so() -> None:
    store = FoldingStore()
    store.write("/memories/Handbook/rules.md", b"one\n", overwrite=False)
    other = {"command": "insert", "path": "/memories/HANDBOOK/Rules.md", "insert_line": 0}
    for place in (store, {"/memories": store}, open_store(store)):
        memory = Memory(place, read_only_paths=["/memories/handbook"])
        content, is_error = memory.execute({**other, "insert_text": "two"})
        assert (is_error, "is read-only" in str(content)) == (True, True)
    assert store.read("/memories/handbook/RULES.md") == b"one\n"
    # A view by one spelling counts for all spellings.
    memory = Memory(store, stale_guard="strict")
    memory.view("/memories/handbook/rules.md")
    store.write("/memories/Handbook/rules.md", b"new\n", overwrite=True)
    assert memory.execute({**other, "insert_text": "two"}).is_error
    assert not DictStore().folds_case()
    assert not open_store("memory:").folds_case()


def test_a_store_that_cannot_say_whether_it_ignores_case_is_taken_for_one_that_does() -> None:
    class Unsure(DictStore):
        def folds_case(self) -> bool:
            raise RuntimeError("who knows")

    memory = Memory(Unsure(), read_only_paths=["/memories/handbook"])
    assert memory.execute(
        {"command": "create", "path": "/memories/HANDBOOK/a", "file_text": ""}
    ).is_error


class Forgetful(DictStore):
    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        super().write(path, content[:100], overwrite)


class Racy(DictStore):
    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        old = self.read(path)
        threading.Event().wait(0.001)
        new = edit(old)
        if new is not None:
            self._put(path, new)


class Overwriting(DictStore):
    def rename(self, old: str, new: str) -> None:
        with self.lock:
            self.tree.pop(new, None)
            super().rename(old, new)


@pytest.mark.parametrize(
    ("factory", "rule"),
    [
        (Forgetful, "a content comes back as it was written"),
        (Racy, "concurrent updates all count"),
        (Overwriting, "renaming never overwrites"),
    ],
)
def test_the_contract_check_finds_a_fault(factory: Callable[[], Store], rule: str) -> None:
    with pytest.raises(AssertionError, match=rule):
        check_contract(factory)


def test_the_contract_check_says_when_there_is_no_store() -> None:
    def none() -> Store:
        raise RuntimeError("no store today")

    with pytest.raises(RuntimeError, match="no store today"):
        check_contract(none)
    with pytest.raises(ConfigError, match=r"store must be a memdir\.Store, got 3"):
        check_contract(lambda: 3)  # type: ignore[arg-type, return-value]


# --- exceptions of a store ---------------------------------------------------------------------


def test_a_broken_store_is_a_short_reply_with_the_details_apart() -> None:
    boom = RuntimeError("connection to db.internal refused")
    reply = Memory(Broken(boom)).execute(VIEW)
    assert tuple(reply) == (OUT_OF_REACH, True)
    assert isinstance(reply.cause, StoreError)
    assert reply.cause.__cause__ is boom
    assert "db.internal" in str(reply.cause)
    assert "/memories/a" in str(reply.cause)


def test_a_broken_store_is_an_exception_of_the_typed_methods() -> None:
    boom = ValueError("no")
    with pytest.raises(StoreError) as raised:
        Memory(Broken(boom)).create("/memories/a", "")
    assert raised.value.__cause__ is boom
    assert isinstance(raised.value, MemdirError)


def test_a_broken_store_is_a_tool_error_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    boom = RuntimeError("connection to db.internal refused")
    tool = MemoryTool(Broken(boom))
    with caplog.at_level(logging.ERROR, "memdir"), pytest.raises(ToolError) as raised:
        tool.call(VIEW)
    assert raised.value.content == OUT_OF_REACH
    assert isinstance(raised.value.__cause__, StoreError)
    assert "db.internal" in caplog.text


def test_an_interruption_is_nobodys_answer() -> None:
    for interruption in (KeyboardInterrupt(), SystemExit(3), GeneratorExit()):
        memory = Memory(Broken(interruption))
        with pytest.raises(type(interruption)):
            memory.execute(VIEW)
        with pytest.raises(type(interruption)):
            memory.view("/memories/a")
        with pytest.raises(type(interruption)):
            MemoryTool(Broken(interruption)).call(VIEW)


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (FileNotFoundError(), "The path /memories/a does not exist. Please provide a valid path."),
        (
            PermissionError("/srv/secret"),
            "Error: Permission denied: the memory store does not allow this for /memories/a",
        ),
        (OSError(errno.ENOSPC, "/srv/secret"), "Error: The memory store is full."),
        (OSError(errno.ENAMETOOLONG, "x"), "Error: The path /memories/a is too long"),
        (OSError(errno.ELOOP, "/srv/secret"), OUT_OF_REACH),
        (OSError(errno.EIO, "/srv/secret"), OUT_OF_REACH),
        (OSError("/srv/secret"), OUT_OF_REACH),
        (UnicodeDecodeError("utf-8", b"/srv", 0, 1, "secret"), OUT_OF_REACH),
    ],
)
def test_conditions_have_the_core_s_sentences(error: Exception, answer: str) -> None:
    reply = Memory(Broken(error)).execute(VIEW)
    assert str(reply.content).startswith(answer)
    assert reply.is_error
    assert "secret" not in reply.content
    assert (reply.cause is not None) is (answer == OUT_OF_REACH)


@pytest.mark.parametrize("name", ["EAGAIN", "ECANCELED", "EBUSY", "ELOOP", "ENXIO", "ETIMEDOUT"])
def test_a_number_that_says_nothing_about_the_memory_leaves_the_outcome_open(name: str) -> None:
    class Late(DictStore):
        def write(self, path: str, content: bytes, overwrite: bool) -> None:
            super().write(path, content, overwrite)
            raise failure

    failure = OSError(getattr(errno, name), "the connection")
    memory = Memory(Late())
    reply = memory.execute({"command": "create", "path": "/memories/a", "file_text": "x"})
    assert reply.kind == "outcome_unknown"
    assert reply.cause is not None
    assert reply.cause.__cause__ is failure
    assert memory.exists("/memories/a")


def test_a_condition_of_a_store_of_memdir_may_be_passed_on(tmp_path: Path) -> None:
    inner = open_store(tmp_path)
    (tmp_path / "memories" / "link").symlink_to("/etc")

    class Around(DictStore):
        def read(self, path: str) -> bytes:
            return inner.read(path)

        def open(self, path: str, depth: int) -> bytes | list[Entry]:
            return inner.read(path)

    command = {"command": "view", "path": "/memories/link"}
    expected = Memory(inner).execute(command)
    assert expected.kind == "invalid"
    assert Memory(Around()).execute(command) == expected


@pytest.mark.parametrize("command", ["create", "view", "delete", "rename", "insert", "list"])
def test_a_store_whose_methods_are_coroutine_functions_has_failed(command: str) -> None:
    async def later(*_: object) -> None: ...

    async def one_by_one(*_: object) -> Any:
        yield

    class Later(DictStore):
        read = write = update = delete = rename = open = later  # type: ignore[assignment]
        list = one_by_one  # type: ignore[assignment]

    memory = Memory(Later())
    calls: dict[str, Callable[[], object]] = {
        "create": lambda: memory.create("/memories/a", "x"),
        "view": lambda: memory.view("/memories/a"),
        "delete": lambda: memory.delete("/memories/a"),
        "rename": lambda: memory.rename("/memories/a", "/memories/b"),
        "insert": lambda: memory.insert("/memories/a", 0, "x"),
        "list": memory.list,
    }
    with pytest.raises(StoreError) as raised:
        calls[command]()
    assert "must not be coroutine functions" in str(raised.value.__cause__)


@pytest.mark.parametrize("result", [None, "text", 3, [1], object()])
def test_what_is_not_a_content_is_a_broken_store(result: Any) -> None:
    class Wrong(DictStore):
        def read(self, path: str) -> bytes:
            return result  # type: ignore[no-any-return]

    reply = Memory(Wrong()).execute(VIEW)
    assert tuple(reply) == (OUT_OF_REACH, True)
    assert reply.cause is not None
    assert isinstance(reply.cause.__cause__, TypeError)


NAIVE: Any = datetime(2026, 5, 17)


@pytest.mark.parametrize(
    ("listed", "sentence"),
    [
        (None, "'NoneType' object is not iterable"),
        ("text", "expected entries, got a str"),
        (3, "'int' object is not iterable"),
        (["/memories/a"], "expected an Entry, got str"),
        ([None], "expected an Entry, got NoneType"),
        ([Path("/memories/a")], "expected an Entry, got PosixPath"),
        ([Entry("a.md", 3)], '"a.md": '),
        ([Entry(3)], "path must be a str, got 3"),  # type: ignore[arg-type]
        ([Entry("/memories/a", -1)], "size must be 0 or more, got -1"),
        ([Entry("/memories/a", "3")], "size must be an int below 2**63, or None, got '3'"),  # type: ignore[arg-type]
        ([Entry("/memories/a", 2**64)], f"size must be an int below 2**63, or None, got {2**64}"),
        (
            [Entry("/memories/a", 3, NAIVE)],
            "modified must be a datetime with a time zone, or None, got datetime.datetime(2026",
        ),
        (
            [Entry("/memories/a", 3, None, 5)],  # type: ignore[arg-type]
            "accessed must be a datetime with a time zone, or None, got 5",
        ),
    ],
)
def test_what_are_not_entries_is_a_broken_store(listed: Any, sentence: str) -> None:
    class Wrong(DictStore):
        def list(self, path: str) -> list[Entry]:
            return listed  # type: ignore[no-any-return]

    reply = Memory(Wrong()).execute({"command": "view", "path": "/memories"})
    assert tuple(reply) == (OUT_OF_REACH, True)
    assert reply.cause is not None
    assert str(reply.cause.__cause__).startswith(sentence)


def test_an_entry_is_what_has_its_attributes() -> None:
    @dataclasses.dataclass
    class Row:
        path: str
        size: int | None
        modified: datetime | None = None
        accessed: datetime | None = None

    class Own(DictStore):
        def list(self, path: str) -> list[Entry]:
            rows: Any = [
                Row("/memories/a", 3, datetime.now(timezone.utc)),
                Row("/memories/b", None),
            ]
            return rows  # type: ignore[no-any-return]

    file, directory = Memory(Own()).list(depth=1)
    assert (type(file), file.path, file.size) == (Entry, "/memories/a", 3)
    assert directory == Entry("/memories/b")


def test_names_that_no_path_can_hold_are_left_out_of_a_listing() -> None:
    class Odd(DictStore):
        def list(self, path: str) -> list[Entry]:
            return [
                Entry("/memories/good", 1),
                Entry("/memories/bad\nname", 1),
                Entry("/memories/../etc", 1),
            ]

    listing = Memory(Odd()).view("/memories")
    assert str(listing).splitlines()[1:] == ["4.0K\t/memories", "1B\t/memories/good"]


def test_an_update_that_never_asks_is_a_broken_store() -> None:
    class Lazy(DictStore):
        def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
            pass

    memory = Memory(Lazy())
    memory.create("/memories/a", "one\n")
    with pytest.raises(StoreError, match=r"did not apply the edit"):
        memory.insert("/memories/a", 0, "zero")


def test_an_edit_that_is_called_late_or_wrongly_harms_nobody() -> None:
    kept: list[Callable[[bytes], bytes | None]] = []

    class Keeping(DictStore):
        def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
            kept.append(edit)
            with pytest.raises(TypeError):
                edit("text")  # type: ignore[arg-type]
            assert edit(b"something else") is None
            super().update(path, edit)

    memory = Memory(Keeping())
    memory.create("/memories/a", "one\n")
    memory.insert("/memories/a", 1, "two")
    assert kept[0](b"one\n") == b"one\ntwo\n"
    assert kept[0](b"other") is None


def test_a_store_can_use_a_memory_of_its_own() -> None:
    class Nested(Handing):
        def read(self, path: str) -> bytes:
            Memory("memory:").execute(VIEW)
            return super().read(path)

    memory = Memory(Nested(DictStore()))
    memory.create("/memories/a", "one\n")
    assert memory.str_replace("/memories/a", "one", "two").startswith("The memory file")


def test_which_path_a_rename_was_refused_for_is_said() -> None:
    class Refusing(DictStore):
        about = ""

        def rename(self, old: str, new: str) -> None:
            raise PermissionError(errno.EACCES, "no", self.about)

    store = Refusing()
    for store.about in ("/memories/old", "/memories/new"):
        content, _ = Memory(store).execute(
            {"command": "rename", "old_path": "/memories/old", "new_path": "/memories/new"}
        )
        assert str(content).endswith(store.about)
