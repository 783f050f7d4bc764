"""The history of a memory, from Python: every method, on every kind of store."""

from __future__ import annotations

import gc
import itertools
import pickle
import time
import weakref
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from slow_store import on_both

from dict_store import DictStore
from memdir import (
    AsyncMemory,
    AsyncMemoryTool,
    ConfigError,
    Conflict,
    Event,
    HistoryError,
    MemdirError,
    Memory,
    MemoryTool,
    RedactedText,
    RefusedError,
    Restored,
    RestoredFile,
    Store,
    StoreError,
    Version,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from memdir import Entry

    Open = Callable[..., Memory]

NOBODY = "01990a3c-7c00-7123-8456-789abc000001"


class Six(Store):
    """A store with only the six required methods."""

    def __init__(self) -> None:
        self.files = DictStore()
        self.failure: BaseException | None = None
        # The number of writes that succeed before the failure.
        self.writes = 0

    def read(self, path: str) -> bytes:
        return self.files.read(path)

    def list(self, path: str) -> Iterable[Entry]:
        return self.files.list(path)

    def write(self, path: str, content: bytes, overwrite: bool) -> None:
        self._perhaps_fail()
        self.files.write(path, content, overwrite)

    def update(self, path: str, edit: Callable[[bytes], bytes | None]) -> None:
        self._perhaps_fail()
        self.files.update(path, edit)

    def delete(self, path: str) -> None:
        self._perhaps_fail()
        self.files.delete(path)

    def rename(self, old: str, new: str) -> None:
        self._perhaps_fail()
        self.files.rename(old, new)

    def _perhaps_fail(self) -> None:
        self.writes -= 1
        if self.failure is not None and self.writes < 0:
            raise self.failure


def opener(kind: str, tmp_path: Path) -> Open:
    """Returns a function that opens a memory with history, always on the same store."""
    places: dict[str, tuple[Any, dict[str, Any]]] = {
        "directory": (tmp_path, {"durability": "relaxed"}),
        "sqlite": (f"sqlite:{tmp_path}/agent.db", {}),
        "memory": (open_store("memory:"), {}),
        "encrypted": (tmp_path, {"encryption_key": bytes(range(32))}),
        "own": (Six(), {}),
    }
    place, given = places[kind]

    def opened(**options: Any) -> Memory:
        return Memory(place, **{"history": True, **given, **options})

    return opened


@pytest.fixture(params=["directory", "own"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """One of memdir's stores, and one written in Python."""
    return opener(request.param, tmp_path)


@pytest.fixture
def memory(reopen: Open) -> Memory:
    return reopen()


def told(versions: Iterable[Version]) -> list[str]:
    def words(version: Version) -> Iterator[str]:
        yield version.operation
        yield version.path.removeprefix("/memories/")
        if version.old_path is not None:
            yield "from " + version.old_path.removeprefix("/memories/")
        if version.size is not None:
            yield str(version.size)
        if version.is_current:
            yield "current"

    return [" ".join(words(version)) for version in versions]


def now() -> datetime:
    """A time between the previous and the next change."""
    time.sleep(0.001)
    moment = datetime.now(timezone.utc)
    time.sleep(0.001)
    return moment


def refused(kind: str, work: Callable[[], object]) -> HistoryError:
    with pytest.raises(HistoryError) as raised:
        work()
    assert raised.value.kind == kind
    return raised.value


# --- queries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["directory", "sqlite", "memory", "encrypted", "own"])
def test_every_command_makes_a_version_with_its_content(kind: str, tmp_path: Path) -> None:
    memory = opener(kind, tmp_path)()
    begun = now()
    acting = memory.acting_as("session 1")
    acting.create("/memories/a.md", "one\n")
    acting.str_replace("/memories/a.md", "one", "two")
    acting.insert("/memories/a.md", 1, "three\n")
    acting.rename("/memories/a.md", "/memories/b/c.md")
    versions = memory.history()
    assert told(versions) == [
        "renamed b/c.md from a.md 10 current",
        "modified a.md 10",
        "modified a.md 4",
        "created a.md 4",
    ]
    newest, *_, oldest = versions
    assert [memory.read_version(version.id) for version in versions] == [
        b"two\nthree\n",
        b"two\nthree\n",
        b"two\n",
        b"one\n",
    ]
    assert {version.actor for version in versions} == {"session 1"}
    assert sorted(version.id for version in versions) == [version.id for version in versions[::-1]]
    assert begun <= oldest.time <= newest.time <= now()
    assert newest.time.tzinfo is timezone.utc
    # It is `sha256sum` of the line.
    assert oldest.sha256 == "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"
    assert memory.diff(versions[2].id) == (
        "--- /memories/a.md\n+++ /memories/a.md\n@@ -1 +1 @@\n-one\n+two\n"
    )
    whole = memory.diff(oldest.id, newest.id)
    assert whole.splitlines()[2:] == ["@@ -1 +1,2 @@", "-one", "+two", "+three"]
    # A renamed file has another path, and the same lines.
    assert memory.diff(newest.id) == "--- /memories/a.md\n+++ /memories/b/c.md\n"
    assert memory.diff(versions[1].id, versions[1].id) == ""

    memory.delete("/memories/b")
    assert told(memory.history(limit=1)) == ["deleted b/c.md"]
    assert memory.history(limit=1)[0].actor is None
    # A memory that is opened later has the whole history.
    assert [version.id for version in memory.history()[1:]] == [version.id for version in versions]


def test_values_are_compared_and_shown(memory: Memory) -> None:
    memory.write("/memories/a", "one")
    [version] = memory.history()
    [again] = memory.history()
    assert version == again
    assert len({version, again}) == 1
    assert repr(version).startswith(f"Version(id='{version.id}', change='{version.change}', ")
    memory.write("/memories/a", "two")
    # It is no longer the newest version.
    assert memory.history()[-1] != version
    undone = memory.undo(memory.history()[0].change)
    [file] = undone.files
    assert file == RestoredFile("modified", "/memories/a", None, None)
    assert undone == Restored(undone.change, (file,), ())
    assert repr(undone) == f"Restored(change='{undone.change}', files=({file!r},), skipped=())"
    match undone:
        case Restored(_, [RestoredFile(operation, path, None)]):
            assert (operation, path) == ("modified", "/memories/a")
        case _:
            pytest.fail(repr(undone))
    memory.rename("/memories/a", "/memories/b")
    would = memory.undo(memory.history()[0].id, dry_run=True)
    renamed = RestoredFile("renamed", "/memories/a", "/memories/b", None)
    assert would == Restored(None, (renamed,), ())
    unset: Any = version
    with pytest.raises(AttributeError):
        unset.path = "/memories/b"


def test_a_query_selects_versions_and_pages_through_them(memory: Memory) -> None:
    for number in range(10):
        actor = memory.acting_as("even" if number % 2 == 0 else "odd")
        actor.write("/memories/a", str(number))
    since = now()
    memory.write("/memories/d/b", "b")
    memory.write("/memories/d/c", "c")
    everything = memory.history()
    assert len(everything) == 12

    pages: list[list[Version]] = []
    before = None
    while page := memory.history(limit=5, before=before):
        pages.append(page)
        before = page[-1].id
    assert [len(page) for page in pages] == [5, 5, 2]
    assert list(itertools.chain(*pages)) == everything

    assert memory.history("/memories/a") == everything[2:]
    assert memory.history("/memories/d") == everything[:2]
    assert memory.history("/memories/none") == []
    assert memory.history(since=since) == everything[:2]
    assert memory.history(since=everything[1].time) == everything[:2]
    assert memory.history(change=everything[3].change) == [everything[3]]
    of_odd = memory.history(actor="odd", limit=2, before=everything[4].id)
    assert [memory.read_version(version.id) for version in of_odd] == [b"5", b"3"]
    assert memory.history(limit=0) == []


# --- restoring and undoing ----------------------------------------------------------------------


def test_a_deleted_directory_is_brought_back(memory: Memory) -> None:
    for name in "abc":
        memory.write(f"/memories/d/{name}", name)
    memory.delete("/memories/d")
    change = memory.history(limit=1)[0].change
    assert len(memory.history(change=change)) == 3
    restored = memory.restore(change)
    assert [(file.operation, file.path) for file in restored.files] == [
        ("created", f"/memories/d/{name}") for name in "abc"
    ]
    assert memory.read("/memories/d/b") == "b"
    assert [version.operation for version in memory.history(change=restored.change)] == [
        "restored"
    ] * 3


def test_an_earlier_version_replaces_a_later_one_only_if_it_may(memory: Memory) -> None:
    memory.write("/memories/a", "one")
    memory.write("/memories/a", "two")
    first = memory.history()[-1].id
    error = refused("conflict", lambda: memory.restore(first))
    assert error.paths == ["/memories/a"]
    changed = "changed since, so nothing was restored: /memories/a by an unknown actor at "
    assert str(error).startswith(changed)
    assert memory.read("/memories/a") == "two"
    restored = memory.restore(first, overwrite=True)
    assert restored.change is not None
    assert memory.read("/memories/a") == "one"
    # Nothing is left to do.
    assert memory.restore(first) == memory.restore(first, overwrite=True)
    assert memory.restore(first).change is None


def test_a_change_is_undone_unless_another_stands_on_it(memory: Memory) -> None:
    memory.write("/memories/a", "one")
    memory.write("/memories/a", "two")
    memory.write("/memories/b", "b")
    newest, second, _ = memory.history()
    would = memory.undo(second.change, dry_run=True)
    assert would.change is None
    assert memory.read("/memories/a") == "two"
    # The id of a version stands for the change that made it.
    done = memory.undo(second.id)
    assert done.files == would.files
    assert memory.read("/memories/a") == "one"
    assert done.change is not None
    memory.undo(done.change)
    assert memory.read("/memories/a") == "two"

    memory.write("/memories/b", "more")
    error = refused("conflict", lambda: memory.undo(newest.change))
    assert error.paths == ["/memories/b"]


def test_what_an_actor_did_since_a_time_is_undone(memory: Memory) -> None:
    me, other = memory.acting_as("me"), memory.acting_as("other")
    other.write("/memories/shared", "a\nb\n")
    begun = now()
    me.str_replace("/memories/shared", "b", "B")
    me.write("/memories/mine", "mine")
    other.write("/memories/theirs", "theirs")
    would = memory.undo(since=begun, actor="me", dry_run=True)
    assert [(file.operation, file.path) for file in would.files] == [
        ("deleted", "/memories/mine"),
        ("modified", "/memories/shared"),
    ]
    assert memory.undo(since=begun, actor="me").files == would.files
    assert memory.read("/memories/shared") == "a\nb\n"
    assert not memory.exists("/memories/mine")
    assert memory.read("/memories/theirs") == "theirs"
    memory.undo(since=begun, actor="other")
    assert not memory.exists("/memories/theirs")
    assert memory.undo(since=now()).files == ()


def test_undo_takes_a_change_or_a_time(memory: Memory) -> None:
    undo: Any = memory.undo
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("change or since must be given", {}),
        ("change or since must be given", {"actor": "me"}),
        (
            "since must not be given together with change",
            {"change": NOBODY, "since": now()},
        ),
        ("actor must be given together with since", {"change": NOBODY, "actor": "me"}),
        ("dry_run must be True or False, got 1", {"change": NOBODY, "dry_run": 1}),
    ]
    for sentence, arguments in wrong:
        with pytest.raises(ConfigError) as raised:
            undo(**arguments)
        assert str(raised.value) == sentence
        assert raised.value.option == sentence.split()[0]
    naive = datetime(2026, 1, 1)
    at_a_time: dict[str, Callable[[], object]] = {
        "since": lambda: undo(since=naive),
        "since ": lambda: memory.history(since=naive),
        "at": lambda: memory.files_at(naive),
        "at ": lambda: memory.read_at("/memories/a", naive),
        "at  ": lambda: memory.restore_all(naive),
    }
    for name, call in at_a_time.items():
        with pytest.raises(ConfigError) as without_zone:
            call()
        assert isinstance(without_zone.value, ValueError)
        assert str(without_zone.value) == (
            f"{name.strip()} must be a datetime with a time zone, got {naive!r}"
        )
        assert without_zone.value.option == name.strip()


def test_everything_becomes_what_it_was_at_a_time(memory: Memory) -> None:
    memory.write("/memories/a", "one")
    [created] = memory.history()
    time.sleep(0.001)
    memory.write("/memories/d/b", "b")
    then = now()
    memory.write("/memories/a", "two")
    memory.delete("/memories/d")
    memory.write("/memories/new", "new")
    would = memory.restore_all(then, dry_run=True)
    assert (would.change, len(would.files)) == (None, 3)
    done = memory.restore_all(then)
    assert done.files == would.files
    texts = {entry.path: entry.size for entry in memory.list(depth=None) if not entry.is_directory}
    assert texts == {"/memories/a": 3, "/memories/d/b": 1}
    assert memory.read("/memories/a") == "one"
    # The same time in another time zone.
    memory.write("/memories/new", "again")
    there = then.astimezone(timezone(timedelta(hours=9)))
    assert memory.restore_all(there).change is not None
    assert not memory.exists("/memories/new")
    # The time of a version includes the version.
    memory.restore_all(created.time)
    assert memory.read("/memories/a") == "one"
    assert not memory.exists("/memories/d/b")


def test_content_is_redacted_for_good(memory: Memory) -> None:
    memory.write("/memories/a", "secret-4711\n")
    secret = memory.history()[0]
    error = refused("is_current", lambda: memory.redact(secret.id, "a password"))
    assert error.paths == ["/memories/a"]
    memory.write("/memories/a", "end\n")
    assert isinstance(memory.redact(secret.id, "a password"), str)
    assert memory.redact(secret.id, "again") is None
    redaction, last, first = memory.history()
    assert redaction.operation == "redacted"
    assert (first.redacted, first.size, first.sha256) == ("a password", None, None)
    assert last.redacted is None
    error = refused("redacted", lambda: memory.read_version(secret.id))
    assert str(error) == "the content was redacted: a password"
    assert memory.read_version(last.id) == b"end\n"


def test_the_history_is_trimmed(reopen: Open) -> None:
    memory = reopen(history_max_age=0.000_001)
    begun = now()
    for number in range(20):
        memory.write("/memories/a", str(number))
    memory.write("/memories/b", "b")
    memory.delete("/memories/b")
    assert memory.trim_history() >= 0
    versions = memory.history()
    assert [memory.read_version(version.id) for version in versions] == [
        str(number).encode() for number in range(19, 9, -1)
    ]
    assert memory.trim_history() == 0
    error = refused("trimmed", lambda: memory.restore_all(begun))
    assert error.paths == ["/memories/a"]
    # If nothing is too old, nothing is removed.
    assert reopen(history_max_age=None).trim_history() == 0


def test_a_text_is_redacted_in_all_versions(reopen: Open) -> None:
    memory = reopen()
    memory.write("/memories/a", "key: hunter2\n")
    memory.write("/memories/a", "key: Hunter2\n")
    dry = memory.redact_text("hunter2", "a key", ignore_case=True, dry_run=True)
    assert (dry.change, len(dry.versions), dry.current) == (None, 2, ("/memories/a",))
    error = refused("is_current", lambda: memory.redact_text("(?i)HUNTER2", "a key", regex=True))
    assert error.paths == ["/memories/a"]
    memory.delete("/memories/a")
    redacted = memory.redact_text("hunter2", "a key", ignore_case=True)
    assert [one.id for one in redacted.versions] == [one.id for one in dry.versions]
    assert redacted.change == memory.history()[0].change
    assert memory.history()[-1].redacted == "a key"
    assert memory.grep_history("unter2") == []
    assert memory.redact_text("hunter2", "a key").versions == ()
    for regex in (False, True):
        with pytest.raises(ConfigError, match="query must not be empty") as raised:
            memory.redact_text("", "a key", regex=regex)
        assert raised.value.option == "query"
    memory.write("/memories/acme/deal", "one\n")
    memory.delete("/memories/acme")
    memory.write("/memories/b-acme", "two\n")
    named = memory.redact_text("acme", "a client")
    assert named == RedactedText(
        named.change, (), (), names=("/memories/acme/deal",), kept_names=("/memories/b-acme",)
    )
    assert all("acme/" not in one.path for one in memory.history())
    with pytest.raises(ConfigError, match="regex"):
        memory.redact_text("(", "a key", regex=True)


def test_erase_removes_the_files_and_the_history(reopen: Open) -> None:
    memory = reopen()
    memory.write("/memories/a", "one\n")
    memory.write("/memories/a", "two\n")
    memory.clear()
    assert len(memory.history()) == 3
    memory.write("/memories/b", "three\n")
    counted = memory.erase(dry_run=True)
    assert (counted.files, counted.bytes, counted.versions) == (1, 6, 4)
    assert counted.history_bytes > 100
    assert repr(counted).startswith("Erased(files=1, bytes=6, versions=4, history_bytes=")
    # It also works without the option.
    assert reopen(history=False).erase() == counted
    assert memory.history() == []
    assert not memory.exists("/memories/b")
    memory.write("/memories/a", "new\n")
    assert len(memory.history()) == 1
    with pytest.raises(RefusedError):
        reopen(read_only=True).erase()
    with pytest.raises(ConfigError, match="dry_run"):
        memory.erase(dry_run="no")  # type: ignore[arg-type]


# --- errors -------------------------------------------------------------------------------------


def every_method(memory: Memory, id: str) -> list[Callable[[], object]]:
    """All methods that take an id."""
    return [
        lambda: memory.read_version(id),
        lambda: memory.diff(id),
        lambda: memory.diff(NOBODY, id),
        lambda: memory.restore(id),
        lambda: memory.undo(id),
        lambda: memory.redact(id, ""),
    ]


def test_an_id_that_is_none_or_another_memorys_is_refused(memory: Memory) -> None:
    memory.write("/memories/a", "one")
    for method in every_method(memory, NOBODY):
        error = refused("unknown", method)
        assert str(error) == f"there is no version or change {NOBODY} in this history"
        assert error.paths == []
    for method in every_method(memory, "yesterday"):
        error = refused("no_id", method)
        assert str(error) == '"yesterday" is not the id of a version or a change'
    refused("no_id", lambda: memory.history(before="yesterday"))
    refused("no_id", lambda: memory.history(change=""))
    refused("path", lambda: memory.history("/etc"))
    memory.delete("/memories/a")
    refused("no_content", lambda: memory.read_version(memory.history()[0].id))
    assert memory.history(change=NOBODY) == []


def test_without_history_and_without_the_right_to_change() -> None:
    store = open_store("memory:")
    Memory(store, history=True).write("/memories/a", "one")
    calls: list[Callable[[Memory], object]] = [
        lambda memory: memory.restore(NOBODY),
        lambda memory: memory.undo(NOBODY),
        lambda memory: memory.undo(since=now()),
        lambda memory: memory.restore_all(now()),
        lambda memory: memory.redact(NOBODY, ""),
        lambda memory: memory.trim_history(),
    ]
    off = Memory(store)
    for call in [*calls, lambda memory: memory.history(), lambda memory: memory.diff(NOBODY)]:
        error = refused("off", lambda call=call: call(off))  # type: ignore[misc]
        assert str(error) == "this memory has no history: open it with the option `history`"
    reading = Memory(store, history=True, read_only=True)
    assert reading.read_version(reading.history()[0].id) == b"one"
    for call in calls:
        refused("read_only", lambda call=call: call(reading))  # type: ignore[misc]


def test_an_error_is_one_of_ours_and_can_be_pickled() -> None:
    error = refused("off", Memory("memory:").history)
    assert isinstance(error, MemdirError)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.kind, again.paths) == (
        HistoryError,
        str(error),
        "off",
        [],
    )
    assert HistoryError.__module__ == "memdir"


def test_a_store_of_ones_own_fails() -> None:
    store = Six()
    memory = Memory(store, history=True)
    for name in "abc":
        memory.write(f"/memories/d/{name}", name)
    memory.delete("/memories/d")
    deletion = memory.history(limit=1)[0].change
    store.failure = RuntimeError("gone")
    with pytest.raises(StoreError) as raised:
        memory.restore(deletion)
    assert raised.value.__cause__ is store.failure

    # The failure comes after three records and one file. That part is a change of its own, and is
    # undone.
    store.writes = 4
    error = refused("partly", lambda: memory.restore(deletion))
    assert error.__cause__ is store.failure
    assert str(error).startswith("the change was made in part, as ")
    store.failure = None
    assert [entry.path for entry in memory.list("/memories/d")] == ["/memories/d/a"]
    memory.undo(memory.history(limit=1)[0].change)
    assert not memory.exists("/memories/d/a")

    # An exception that is not an error of the store is raised unchanged.
    store.failure = KeyboardInterrupt()
    for store.writes in (0, 3):
        with pytest.raises(KeyboardInterrupt):
            memory.restore(deletion)


# --- actors -------------------------------------------------------------------------------------


def test_a_memory_acts_as_its_option_says_until_another_is_given(reopen: Open) -> None:
    memory = reopen(actor="the option")
    memory.write("/memories/a", "one")
    other = memory.acting_as("ä session")
    other.write("/memories/a", "two")
    other.acting_as("a third").write("/memories/a", "three")
    memory.write("/memories/a", "four")
    assert [version.actor for version in memory.history()] == [
        "the option",
        "a third",
        "ä session",
        "the option",
    ]
    assert repr(other) == repr(memory)
    # Each of them is closed separately.
    memory.close()
    assert other.read("/memories/a") == "four"
    with pytest.raises(ValueError, match="is closed"):
        memory.acting_as("nobody")
    other.close()
    with pytest.raises(ValueError, match="is closed"):
        other.history()


def test_an_event_has_the_change_and_actors_share_hooks(reopen: Open) -> None:
    events: list[Event] = []
    memory = reopen(after=events.append)
    acting = memory.acting_as("me")
    memory.create("/memories/a", "one")
    acting.create("/memories/b", "two")
    acting.view("/memories/b")
    newest, oldest = memory.history()
    assert [event.change for event in events] == [oldest.change, newest.change, None]
    events.clear()
    plain = Memory("memory:", after=events.append)
    plain.create("/memories/a", "one")
    assert events[0].change is None


class Owner:
    """An object that has a hook and the memory."""

    def __init__(self) -> None:
        self.calls = 0
        self.memory = Memory("memory:", history=True, before=self.before)
        self.acting = self.memory.acting_as("one").acting_as("two")

    def before(self, _: object) -> None:
        self.calls += 1


def test_a_hook_stays_as_long_as_an_actor_and_is_then_collected() -> None:
    owner = Owner()
    acting = owner.acting
    gone = weakref.ref(owner)
    del owner
    for _ in range(3):
        gc.collect()
    # Only the actor refers to the hook.
    acting.create("/memories/a", "one")
    found = gone()
    assert found is not None
    assert found.calls == 1
    del acting, found
    gc.collect()
    assert gone() is None


# --- with await ---------------------------------------------------------------------------------


@on_both
def test_every_method_with_await(backend: str, tmp_path: Path) -> None:
    async def run() -> None:
        async with await AsyncMemory.open(tmp_path, history=True) as memory:
            begun = now()
            acting = memory.acting_as("me")
            assert isinstance(acting, AsyncMemory)
            await acting.create("/memories/a", "one\n")
            await memory.write("/memories/a", "two\n")
            newest, oldest = await memory.history("/memories/a")
            assert (newest.actor, oldest.actor) == (None, "me")
            assert await memory.history(limit=1, before=newest.id) == [oldest]
            assert await memory.history(actor="me", since=begun) == [oldest]
            assert await memory.history(change=newest.change) == [newest]
            assert await memory.read_version(oldest.id) == b"one\n"
            assert "+two" in await memory.diff(newest.id)
            assert "+one" in await memory.diff(newest.id, oldest.id)
            would = await memory.undo(newest.change, dry_run=True)
            assert await memory.read("/memories/a") == "two\n"
            assert (await memory.undo(newest.change)).files == would.files
            await memory.restore(newest.id, overwrite=True)
            assert await memory.read("/memories/a") == "two\n"
            with pytest.raises(HistoryError, match="changed since") as raised:
                await memory.restore(oldest.id)
            assert (raised.value.kind, raised.value.paths) == ("conflict", ["/memories/a"])
            assert await memory.redact(oldest.id, "a test") is not None
            assert (await memory.restore_all(now(), dry_run=True)).files == ()
            assert await memory.trim_history() == 0
            assert (await memory.redact_text("none of it", "a test")).versions == ()
            assert (await memory.erase(dry_run=True)).files == 1
            with pytest.raises(ConfigError, match="change or since"):
                await memory.undo()
            await acting.undo(since=begun)
            assert not await memory.exists("/memories/a")
            # It is closed separately.
            await acting.aclose()
            assert await memory.history(limit=1, actor="me")

    anyio.run(run, backend=backend)


@on_both
def test_a_store_of_ones_own_with_await(backend: str) -> None:
    async def run() -> None:
        memory = AsyncMemory(Six(), history=True, actor="me")

        async def session(number: int) -> None:
            acting = memory.acting_as(f"session {number}")
            for version in range(5):
                await acting.write(f"/memories/{number}", str(version))

        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(session, number)
        assert len(await memory.history()) == 40
        for number in range(8):
            versions = await memory.history(actor=f"session {number}")
            assert {version.path for version in versions} == {f"/memories/{number}"}
            assert await memory.read_version(versions[0].id) == b"4"

    anyio.run(run, backend=backend)


# --- the tools ----------------------------------------------------------------------------------

CREATE = {"command": "create", "path": "/memories/a", "file_text": "one\n"}


def test_a_tool_acts_as_its_memory_or_its_option_says() -> None:
    store = open_store("memory:")
    memory = Memory(store, history=True)
    MemoryTool(memory.acting_as("session 1")).call(CREATE)
    MemoryTool(store, history=True, actor="session 2").call(CREATE | {"path": "/memories/b"})
    asynchronous = AsyncMemory(store, history=True)
    for tool in (
        AsyncMemoryTool(asynchronous.acting_as("session 3")),
        AsyncMemoryTool(store, history=True, actor="session 4"),
    ):
        anyio.run(tool.call, CREATE | {"path": f"/memories/{id(tool)}"})
    assert [version.actor for version in memory.history()] == [
        f"session {number}" for number in (4, 3, 2, 1)
    ]
    # Only this process decides who acts.
    with pytest.raises(TypeError, match="has its options already: actor"):
        MemoryTool(memory, actor="session 5")
    answered = MemoryTool(memory).call(CREATE | {"path": "/memories/c", "actor": "somebody"})
    assert "created" in str(answered)
    assert memory.history(limit=1)[0].actor is None


def test_an_undo_names_leaves_out_or_merges_what_was_changed_since() -> None:
    memory = Memory("memory:", history=True)
    ann, ben = memory.acting_as("Ann"), memory.acting_as("Ben")
    memory.write("/memories/a", "1\n2\n3\n")
    ann.str_replace("/memories/a", "1", "one")
    change = memory.history(limit=1)[0].change
    ben.str_replace("/memories/a", "3", "three")
    later = memory.history(limit=1)[0]
    with pytest.raises(HistoryError) as error:
        memory.undo(change)
    (conflict,) = error.value.conflicts
    assert isinstance(conflict, Conflict)
    assert conflict == Conflict("/memories/a", False, later.change, "Ben", later.time)
    assert "by Ben at " in str(error.value)
    again = pickle.loads(pickle.dumps(error.value))
    assert (again.kind, again.conflicts) == ("conflict", [conflict])

    skipped = memory.undo(change, skip_conflicts=True)
    assert (skipped.change, skipped.files, skipped.skipped) == (None, (), (conflict,))
    would = memory.undo(change, merge=True, dry_run=True)
    assert would.files[0].merged == "1\n2\nthree\n"
    assert memory.read("/memories/a") == "one\n2\nthree\n"
    done = memory.undo(change, merge=True)
    assert (done.files, done.skipped) == (would.files, ())
    assert memory.read("/memories/a") == "1\n2\nthree\n"


@on_both
def test_an_undo_merges_with_await(backend: str) -> None:
    async def run() -> None:
        async with AsyncMemory("memory:", history=True) as memory:
            await memory.write("/memories/a", "1\n2\n3\n")
            await memory.write("/memories/a", "one\n2\n3\n")
            change = (await memory.history(limit=1))[0].change
            await memory.write("/memories/a", "one\n2\nthree\n")
            skipped = await memory.undo(change, skip_conflicts=True)
            assert [conflict.path for conflict in skipped.skipped] == ["/memories/a"]
            await memory.undo(change, merge=True)
            assert await memory.read("/memories/a") == "1\n2\nthree\n"

    anyio.run(run, backend=backend)
