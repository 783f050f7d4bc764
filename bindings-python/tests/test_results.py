"""Results and events are plain values: dataclasses that other tools know how to handle."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import sqlite3
import typing
from contextlib import closing
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from fastapi import FastAPI
from fastapi.encoders import jsonable_encoder
from fastapi.testclient import TestClient
from pydantic import BaseModel, TypeAdapter
from typing_extensions import assert_type

import cases
import memdir
from memdir import (
    Conflict,
    Entry,
    ErrorKind,
    Event,
    HistoryError,
    ImageBlock,
    Memory,
    Operation,
    Reply,
    Stats,
    Version,
    _results,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

KNOWN = {name: known for name, known in vars(_results).items() if name in memdir.__all__}
CLASSES = {name: known for name, known in KNOWN.items() if dataclasses.is_dataclass(known)}


@pytest.fixture(scope="module")
def values(
    tmp_path_factory: pytest.TempPathFactory, postgres: Callable[[], str]
) -> dict[str, list[Any]]:
    """The results of methods and the arguments of callbacks, by the names of their classes."""
    directory = tmp_path_factory.mktemp("results")
    told: list[Any] = []
    found: list[Any] = list(_of_methods(directory, told))
    address = postgres()
    Memory(address).write("/memories/a.md", "green\n")
    found += memdir.namespaces(address.partition("?")[0])
    by_class: dict[str, list[Any]] = {name: [] for name in CLASSES}

    def add(value: Any) -> None:
        if isinstance(value, (list, tuple)):
            for each in value:
                add(each)
        elif dataclasses.is_dataclass(value):
            by_class[type(value).__name__].append(value)
            for field in dataclasses.fields(value):
                add(getattr(value, field.name))

    add([*found, *told])
    return by_class


def _of_methods(directory: Path, told: list[Any]) -> Iterator[Any]:
    memory = Memory(directory / "memory", history=True, record_access=True, after=told.append)
    with memory.watch() as watch:
        memory.create("/memories/tea.md", "green\nblack\n")
        yield watch.changes(60)
    memory.execute({"command": "nonsense"})
    memory.str_replace("/memories/tea.md", "green", "white")
    memory.rename("/memories/tea.md", "/memories/drinks/tea.md")
    memory.write("/memories/key.md", "postgres://user:hunter2@host/db\n")
    yield memory.list(depth=None)
    yield memory.grep("white")
    yield memory.find_sensitive()
    yield memory.search("white")
    yield memory.stats()
    versions = memory.history()
    yield versions
    yield memory.blame("/memories/drinks/tea.md")
    yield memory.grep_history("green")
    yield memory.files_at(datetime.now(timezone.utc))
    yield memory.redact_text("hunter2", "a key", dry_run=True)
    yield memory.undo(versions[1].change, dry_run=True)
    memory.acting_as("Ben").write("/memories/drinks/tea.md", "oolong\n")
    with pytest.raises(HistoryError) as error:
        memory.undo(versions[-2].change)
    assert error.value.conflicts
    yield error.value.conflicts
    yield memory.undo(versions[-2].change, skip_conflicts=True, dry_run=True)
    (directory / "memory" / "memories" / "link").symlink_to("/etc")
    yield memdir.check(directory / "memory")
    yield memdir.copy(
        directory / "memory", f"sqlite:{directory / 'copy.db'}", on_progress=told.append
    )
    yield memory.expire(0, dry_run=True, on_progress=told.append)
    other = Memory(directory / "other")
    other.write("/memories/drinks/tea.md", "rooibos\n")
    other.write("/memories/large.md", "a long text\n")
    memory.sync(other, dry_run=True, on_conflict=told.append)
    yield memory.sync(other, max_file_bytes=8, on_progress=told.append)
    laptop, server = Memory("memory:", history=True), Memory("memory:", history=True)
    laptop.write("/memories/drinks/tea.md", "wrong\n")
    laptop.sync(server)
    laptop.write("/memories/drinks/tea.md", "right\n")
    laptop.redact_text("wrong", "a mistake")
    yield laptop.sync(server)
    yield laptop.sync(server, redactions=True)
    yield memory.erase(dry_run=True)


@pytest.fixture(params=sorted(CLASSES))
def those(request: pytest.FixtureRequest, values: dict[str, list[Any]]) -> list[Any]:
    """The values of one class."""
    of_class = values[request.param]
    assert of_class, f"no method gave a {request.param}"
    return of_class


def test_they_are_public_by_their_names() -> None:
    table = json.loads((cases.PROJECT / "core" / "results.json").read_text("utf-8"))["types"]
    assert {*KNOWN} == {*table}
    for name, known in KNOWN.items():
        assert getattr(memdir, name) is known
        if name in CLASSES:
            assert (known.__module__, known.__qualname__) == ("memdir", name)
        else:
            assert typing.get_origin(known) is typing.Literal


def test_the_fields_hold_what_their_types_say(those: list[Any]) -> None:
    hints = typing.get_type_hints(type(those[0]))
    for value in those:
        for name, hint in hints.items():
            # Strict: no text for a number, no list for a tuple.
            TypeAdapter(hint).validate_python(getattr(value, name), strict=True)


def test_they_can_be_pickled_and_copied(those: list[Any]) -> None:
    for value in those:
        for again in (
            *(
                pickle.loads(pickle.dumps(value, protocol))
                for protocol in (2, pickle.HIGHEST_PROTOCOL)
            ),
            copy.copy(value),
            copy.deepcopy(value),
            dataclasses.replace(value),
        ):
            assert type(again) is type(value)
            assert again == value
            assert hash(again) == hash(value)
            assert repr(again) == repr(value)


def test_they_are_compared_and_immutable(those: list[Any]) -> None:
    for value in those:
        first = dataclasses.fields(value)[0].name
        other = dataclasses.replace(value, **{first: "another"})
        assert value != other
        assert len({value, other, dataclasses.replace(value)}) == 2
        with pytest.raises(AttributeError):
            setattr(value, first, "another")
        with pytest.raises((AttributeError, TypeError)):
            value.something_else = 1


def test_they_are_matched_by_position_and_shown_by_name(those: list[Any]) -> None:
    for value in those:
        names = [field.name for field in dataclasses.fields(value)]
        assert list(type(value).__match_args__) == names
        shown = [f"{field.name}=" for field in dataclasses.fields(value) if field.repr]
        assert repr(value).startswith(f"{type(value).__name__}({shown[0]}")
        assert all(name in repr(value) for name in shown)


def test_they_become_json(those: list[Any]) -> None:
    for value in those:
        as_dict = dataclasses.asdict(value)
        plain = json.loads(json.dumps(as_dict, default=str))
        assert list(plain) == [field.name for field in dataclasses.fields(value)]


def test_pydantic_knows_them(those: list[Any]) -> None:
    kind = type(those[0])
    many: TypeAdapter[Any] = TypeAdapter(list[kind])  # type: ignore[valid-type]
    assert many.validate_python(those) == those
    assert many.validate_json(many.dump_json(those)) == those
    assert many.json_schema()["items"]
    one: TypeAdapter[Any] = TypeAdapter(kind)
    assert one.validate_python(one.dump_python(those[0])) == those[0]


def test_fastapi_encodes_them(those: list[Any]) -> None:
    for value in those:
        encoded = jsonable_encoder(value)
        assert list(encoded) == [field.name for field in dataclasses.fields(value)]
        json.dumps(encoded)


def test_a_match_statement_takes_them_apart(values: dict[str, list[Any]]) -> None:
    match values["Version"][0]:
        case Version(_, change, operation, "/memories/key.md" as path):
            assert (change, operation, path) != ("", "", "")
        case other:
            pytest.fail(repr(other))


class Seen(BaseModel):
    version: Version
    entries: list[Entry]


def test_a_model_of_pydantic_has_them_as_fields() -> None:
    memory = Memory("memory:", history=True)
    memory.write("/memories/a.md", "green\n")
    seen = Seen(version=memory.history()[0], entries=list(memory.list()))
    assert Seen.model_validate_json(seen.model_dump_json()) == seen
    assert seen.model_dump(mode="json")["version"]["operation"] == "created"
    with pytest.raises(ValueError, match="operation"):
        TypeAdapter(Version).validate_python({**dataclasses.asdict(seen.version), "operation": "x"})


def test_an_endpoint_of_fastapi_returns_them() -> None:
    memory, app = Memory("memory:", history=True), FastAPI()
    memory.write("/memories/a.md", "green\n")

    @app.get("/stats")
    def stats() -> Stats:
        return memory.stats()

    @app.get("/history")
    def history() -> Any:
        return memory.history()

    @app.post("/calls")
    def call(input: dict[str, Any]) -> Reply:
        return memory.execute(input)

    client = TestClient(app)
    counted = client.get("/stats").json()
    assert counted["largest"] == {"path": "/memories/a.md", "bytes": 6}
    assert counted["history"]["versions"] == 1
    assert TypeAdapter(Stats).validate_python(counted) == memory.stats()
    [version] = client.get("/history").json()
    assert version["operation"] == "created"
    reply = client.post("/calls", json={"command": "view", "path": "/memories/b.md"}).json()
    assert reply["is_error"] is True
    assert reply["kind"] == "not_found"
    assert client.get("/openapi.json").json()["paths"]["/calls"]


def test_the_schema_of_a_reply_has_a_title_and_says_what_is_always_there() -> None:
    taken, given = (
        TypeAdapter(Reply).json_schema(mode=mode) for mode in ("validation", "serialization")
    )
    assert taken["title"] == given["title"] == "Reply"
    assert taken["required"] == ["content"]
    assert given["required"] == ["content", "is_error", "kind"]


def test_without_a_declared_type_fastapi_takes_a_reply_for_a_pair() -> None:
    reply = Memory("memory:").execute({"command": "view", "path": "/memories/b.md"})
    pair = [reply.content, True]
    assert jsonable_encoder(reply) == pair
    assert jsonable_encoder({"replies": [reply]}) == {"replies": [pair]}
    app = FastAPI()
    app.get("/pair")(lambda: reply)
    assert TestClient(app).get("/pair").json() == pair
    as_object = TypeAdapter(Reply).dump_python(reply)
    assert as_object == {"content": reply.content, "is_error": True, "kind": "not_found"}
    assert jsonable_encoder(as_object) == as_object


def test_type_checkers_know_the_fields() -> None:
    memory = Memory("memory:", history=True)
    memory.write("/memories/a.md", "green\n")
    [version] = memory.history()
    assert_type(version.operation, Operation)
    assert_type(version.time, datetime)
    assert_type(version.size, int | None)
    events: list[Event] = []
    Memory("memory:", after=events.append).view("/memories")
    # A word that no command has is a type error.
    assert events[0].command != "move"  # type: ignore[comparison-overlap]
    assert_type(memory.stats().newest, "memdir.TimedPath | None")
    assert_type(memory.undo(version.change, dry_run=True).files, "tuple[memdir.RestoredFile, ...]")
    # Comparing with a word that no operation has is a type error.
    assert version.operation != "edited"  # type: ignore[comparison-overlap]


def test_words_have_types_of_their_own(values: dict[str, list[Any]]) -> None:
    change: memdir.Change = values["Change"][0]
    event: memdir.Event = values["Event"][0]
    line: memdir.BlamedLine = values["BlamedLine"][0]
    problem: memdir.Problem = values["Problem"][0]
    progress: memdir.CopyProgress = values["CopyProgress"][0]
    assert_type(change.kind, memdir.ChangeKind)
    assert_type(event.outcome, memdir.Outcome)
    assert_type(event.repairs, "tuple[memdir.Repair, ...]")
    assert_type(line.operation, "Operation | None")
    assert_type(problem.kind, memdir.ProblemKind)
    assert_type(progress.phase, memdir.CopyPhase)
    synced: memdir.Synced = values["Synced"][0]
    left_out: memdir.SyncLeftOut = synced.left_out[0]
    of_sync: memdir.SyncProgress = values["SyncProgress"][0]
    assert_type(synced.changes[0].action, memdir.SyncAction)
    assert_type(synced.conflicts[0].side, memdir.SyncSide)
    assert_type(left_out.reason, memdir.SyncReason)
    assert_type(of_sync.phase, memdir.SyncPhase)
    merge: memdir.SyncMerge = values["SyncMerge"][0]
    assert_type(merge.base, str | None)
    assert (synced.conflicts[0].side, left_out.reason, of_sync.phase) == (
        "b",
        "too_large",
        "comparing",
    )
    words: tuple[str, ...] = (change.kind, event.outcome, problem.kind, progress.phase)
    assert words == ("written", "ok", "link", "comparing")


# --- a result's own methods --------------------------------------------------------------------


def test_what_a_program_makes_may_leave_out_what_is_optional() -> None:
    assert Entry("/memories/a") == Entry("/memories/a", None, None, None)
    assert Entry("/memories/a").is_directory
    assert not Entry("/memories/a", 0).is_directory
    assert Conflict("/memories/a") == Conflict("/memories/a", False, None, None, None)


def test_an_event_is_shown_without_its_content() -> None:
    events: list[memdir.Event] = []
    memory = Memory("memory:", after=events.append, event_content=True)
    memory.create("/memories/a", "secret")
    assert memory.view("/memories/a") == events[1].content
    assert "secret" in str(events[1].content)
    assert "secret" not in repr(events[1])
    assert dataclasses.replace(events[1], content=None) != events[1]


def test_a_time_that_no_datetime_has_becomes_the_nearest(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    ten_thousand_years = 10_000 * 366 * 24 * 60 * 60 * 1_000_000
    with Memory(f"sqlite:{database}") as memory:
        memory.write("/memories/a", "one\n")
    for micros, nearest in (
        (ten_thousand_years, datetime.max),
        (-ten_thousand_years, datetime.min),
        # The last times that a `datetime` can represent.
        (253_402_300_799_999_999, datetime.max),
        (-62_135_596_800_000_000, datetime.min),
    ):
        with closing(sqlite3.connect(database)) as db, db:
            db.execute("UPDATE node SET modified = ? WHERE size IS NOT NULL", (micros,))
        with Memory(f"sqlite:{database}") as memory:
            [entry] = memory.list()
            time = nearest.replace(tzinfo=timezone.utc)
            assert entry.modified == time
            assert memory.stats().newest == memdir.TimedPath("/memories/a", time)


# --- replies -----------------------------------------------------------------------------------

IMAGE: list[ImageBlock] = [
    {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
    }
]
REPLIES = [
    Reply("text"),
    Reply("Error: no", True, kind="not_found"),
    Reply("out of reach", True, memdir.StoreError("disk"), "unavailable"),
    Reply(IMAGE),
]


def test_replies_are_equal_if_their_content_and_kind_are() -> None:
    for number, reply in enumerate(REPLIES):
        same = Reply(copy.deepcopy(reply.content), reply.is_error, kind=reply.kind)
        assert reply == same
        assert not reply != same  # noqa: SIM202 - both operators
        assert hash(reply) == hash(same)
        assert all((reply == other) == (number == at) for at, other in enumerate(REPLIES))
    other: list[ErrorKind | None] = ["invalid", None]
    for kind in other:
        assert REPLIES[1] != Reply("Error: no", True, kind=kind)
        assert (REPLIES[1] == Reply("Error: no", True, kind=kind)) is False
    assert Reply("text") != Reply("text", True)
    assert Reply("text") == ("text", False)
    assert hash(Reply("text")) == hash(("text", False))


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: str(reply.kind))
def test_replies_can_be_pickled_and_copied(reply: Reply) -> None:
    again: Reply
    for again in (
        pickle.loads(pickle.dumps(reply)),
        copy.copy(reply),
        copy.deepcopy(reply),
        reply._replace(),
    ):
        assert again == reply
        assert (type(again), again.kind) == (Reply, reply.kind)
        assert str(again.cause) == str(reply.cause)
    assert reply._replace(content="other") == Reply("other", reply.is_error, kind=reply.kind)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: str(reply.kind))
def test_replies_are_encoded(reply: Reply) -> None:
    adapter = TypeAdapter(Reply)
    fields = {"content": reply.content, "is_error": reply.is_error, "kind": reply.kind}
    assert adapter.dump_python(reply) == fields
    assert json.loads(adapter.dump_json(reply)) == fields
    assert adapter.validate_python(reply) is reply
    assert adapter.validate_python(fields) == reply
    assert adapter.validate_json(adapter.dump_json(reply)) == reply
    # It is encoded as a pair if nothing says that it is a reply.
    assert jsonable_encoder(reply) == [reply.content, reply.is_error]
    for mode in ("validation", "serialization"):
        assert set(adapter.json_schema(mode=mode)["properties"]) == set(fields)
