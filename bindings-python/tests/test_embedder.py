"""The option `embedder`: searches by meaning, with an embedder that knows a few meanings."""

from __future__ import annotations

import asyncio
import gc
import itertools
import threading
import time
import weakref
from array import array
from typing import TYPE_CHECKING, Any

import pytest

from effort import SECONDS
from memdir import (
    AsyncMemory,
    AsyncMemoryTool,
    ConfigError,
    Memory,
    MemoryTool,
    search_tool,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MEANINGS = [{"car", "automobile"}, {"tea", "drink"}]


def vectors(texts: list[str]) -> list[list[float]]:
    words = [set(text.lower().replace(".", "").split()) for text in texts]
    return [[float(len(found & meaning)) for meaning in MEANINGS] for found in words]


class Embedder:
    """Counts its calls, and does something first."""

    def __init__(self, act: Callable[[list[str]], object] = vectors) -> None:
        self.act = act
        self.queries: list[str] = []
        self.passages: list[str] = []

    def __call__(self, texts: list[str], *, is_query: bool) -> Any:
        (self.queries if is_query else self.passages).extend(texts)
        return self.act(texts)


def fill(memory: Memory) -> Memory:
    memory.write("/memories/garage.md", "The car is old.\n")
    memory.write("/memories/kitchen.md", "Anna likes tea.\n")
    return memory


def filled(embedder: Any, **options: Any) -> Memory:
    return fill(Memory("memory:", embedder=embedder, embedder_name="meanings-1", **options))


def paths(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query).hits]


def test_a_search_finds_the_meaning() -> None:
    embedder = Embedder()
    memory = filled(embedder)
    assert paths(memory, "an automobile") == ["/memories/garage.md"]
    assert memory.search("drink").words_only is None
    assert embedder.queries == ["an automobile", "drink"]
    assert sorted(embedder.passages) == [
        "garage.md\nThe car is old.",
        "kitchen.md\nAnna likes tea.",
    ]
    assert memory.acting_as("someone").search("drink").hits[0].path == "/memories/kitchen.md"
    assert len(embedder.passages) == 2


def test_a_function_of_the_texts_alone_is_an_embedder() -> None:
    assert paths(filled(vectors), "an automobile") == ["/memories/garage.md"]
    assert paths(filled(lambda texts: map(tuple, vectors(texts))), "drink") == [
        "/memories/kitchen.md"
    ]


def test_arrays_are_vectors() -> None:
    memory = filled(lambda texts: [array("f", vector) for vector in vectors(texts)])
    assert paths(memory, "an automobile") == ["/memories/garage.md"]


def test_the_tools_take_it() -> None:
    tool = MemoryTool("memory:", embedder=vectors, embedder_name="meanings-1")
    fill(tool.memory)
    said = search_tool(tool.memory).call({"query": "an automobile"})
    assert said == "/memories/garage.md\n     1\tThe car is old."


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (5, "embedder must be a function, or None, got 5"),
        ("model", 'embedder must be a function, or None, got "model"'),
    ],
)
def test_it_must_be_a_function(given: Any, problem: str) -> None:
    for opened in (Memory, AsyncMemory):
        with pytest.raises(ConfigError) as raised:
            opened("memory:", embedder=given, embedder_name="a")
        assert str(raised.value) == problem


def test_it_needs_a_name() -> None:
    with pytest.raises(ConfigError, match="embedder_name is required with an embedder"):
        Memory("memory:", embedder=vectors)
    Memory("memory:", embedder=None)


def test_a_memory_takes_no_coroutine_function() -> None:
    async def embed(texts: list[str]) -> list[list[float]]:
        return vectors(texts)

    with pytest.raises(ConfigError, match="not a coroutine function"):
        Memory("memory:", embedder=embed, embedder_name="a")  # type: ignore[arg-type]


def failing(_: list[str]) -> object:
    raise OSError("the service is away")


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (failing, "OSError: the service is away"),
        (lambda _: None, "TypeError: `embedder` must return a sequence of sequences of numbers"),
        (lambda texts: [1.0 for _ in texts], "TypeError: `embedder` must return"),
        (lambda texts: ["ab" for _ in texts], "TypeError: `embedder` must return"),
        (lambda texts: [[None] for _ in texts], "TypeError: `embedder` must return"),
        (lambda texts: [b"ab" for _ in texts], "TypeError: `embedder` must return"),
        (lambda texts: [{1.0: 2.0} for _ in texts], "TypeError: `embedder` must return"),
        (lambda texts: dict.fromkeys(range(len(texts))), "TypeError: `embedder` must return"),
        (lambda texts: [itertools.count() for _ in texts], "a vector has 65537 numbers"),
        (lambda _: itertools.repeat([1.0]), "it returned 2 vectors for 1 text"),
        (lambda _: [], "it returned 0 vectors for 1 text"),
        (lambda _: [[float("inf")]], "a vector has the number inf"),
        (lambda _: [[10**400]], "OverflowError"),
    ],
)
def test_a_failure_leaves_the_words(act: Callable[[list[str]], object], reason: str) -> None:
    memory = filled(Embedder(act))
    found = memory.search("tea")
    assert [hit.path for hit in found.hits] == ["/memories/kitchen.md"]
    assert found.words_only is not None
    assert found.words_only.startswith(f"the embedder failed: {reason}")
    reply = memory.execute_search({"query": "tea"})
    assert not reply.is_error
    assert "Only the words were searched for" in str(reply.content)
    assert "away" not in str(reply.content)


def test_a_slow_embedder_leaves_the_words() -> None:
    gate = threading.Event()

    def slow(texts: list[str]) -> object:
        gate.wait(60)
        return vectors(texts)

    memory = filled(slow, embedder_timeout=0.05)
    found = memory.search("tea")
    assert [hit.path for hit in found.hits] == ["/memories/kitchen.md"]
    assert found.words_only == "the embedder took more than 0.05 seconds"
    gate.set()
    until(lambda: memory.search("an automobile").words_only is None)


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(3_000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def test_vectors_are_kept_for_the_next_process(tmp_path: Path) -> None:
    options: dict[str, Any] = {"embedder_name": "meanings-1", "search_keep": True}
    first = Memory(tmp_path, embedder=Embedder(), **options)
    for number in range(40):
        first.write(f"/memories/{number}.md", f"car number {number}")
    assert first.search("automobile").words_only is None
    embedder = Embedder()
    second = Memory(tmp_path, embedder=embedder, **options)
    assert second.search("automobile").words_only is None
    assert (embedder.queries, embedder.passages) == (["automobile"], [])


def test_an_embedder_that_refers_to_its_memory_is_garbage_with_it() -> None:
    class Own(Embedder):
        memory: Memory

    embedder = Own()
    embedder.memory = filled(embedder)
    assert paths(embedder.memory, "drink") == ["/memories/kitchen.md"]
    gone = weakref.ref(embedder)
    del embedder
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_coroutine_function_runs_on_the_loop_of_the_search(backend: str) -> None:
    threads = set()

    async def embed(texts: list[str], *, is_query: bool) -> list[list[float]]:
        threads.add(threading.get_ident())
        await pause()
        assert is_query is (len(texts) == 1)
        return vectors(texts)

    async def run() -> None:
        async with AsyncMemory("memory:", embedder=embed, embedder_name="m") as memory:
            fill(memory._memory)
            found = await memory.search("an automobile")
            assert ([hit.path for hit in found.hits], found.words_only) == (
                ["/memories/garage.md"],
                None,
            )
            session = memory.acting_as("someone")
            assert (await session.search("drink")).hits[0].path == "/memories/kitchen.md"
            assert not (await memory.execute_search({"query": "drink"})).is_error
            said = await search_tool(memory).call({"query": "drink"})
            assert said == "/memories/kitchen.md\n     1\tAnna likes tea."
        assert threads == {threading.get_ident()}

    async def pause() -> None:
        if backend == "asyncio":
            await asyncio.sleep(0.001)
        else:
            await trio.sleep(0.001)

    if backend == "asyncio":
        for _ in range(2):
            asyncio.run(run())
    else:
        trio = pytest.importorskip("trio")
        trio.run(run)


def test_a_plain_function_serves_an_async_memory() -> None:
    async def run() -> None:
        embedder = Embedder()
        tool = AsyncMemoryTool("memory:", embedder=embedder, embedder_name="meanings-1")
        memory = tool.memory
        fill(memory._memory)
        assert [hit.path for hit in (await memory.search("drink")).hits] == ["/memories/kitchen.md"]
        assert embedder.queries == ["drink"]

    asyncio.run(run())


def test_a_coroutine_function_without_a_loop_leaves_the_words() -> None:
    async def embed(texts: list[str]) -> list[list[float]]:
        return vectors(texts)

    memory = AsyncMemory("memory:", embedder=embed, embedder_name="m")
    found = fill(memory._memory).search("tea")
    assert found.words_only is not None
    assert "needs a search by `AsyncMemory`" in found.words_only
    assert [hit.path for hit in found.hits] == ["/memories/kitchen.md"]

    async def run() -> None:
        assert (await memory.search("drink")).words_only is None

    asyncio.run(run())
    # That loop is closed.
    found = memory._memory.search("tea")
    assert found.words_only is not None


@pytest.mark.parametrize("searches", [64, 65, 200])
@pytest.mark.parametrize("other", ["with an embedder", "without one", "itself"])
def test_a_coroutine_function_may_wait_for_a_memory(searches: int, other: str) -> None:
    """The searches of one memory have 64 threads, and all of them wait here."""
    is_indexed = False

    async def embed(texts: list[str]) -> list[list[float]]:
        if is_indexed:
            if other == "itself":
                assert "car" in await memory.read("/memories/garage.md")
            else:
                found = await inner.search("car")
                assert found.hits[0].path == "/memories/garage.md"
                assert found.words_only is None
        return vectors(texts)

    async def embed_soon(texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(0.001)
        return vectors(texts)

    async def run() -> None:
        found = await asyncio.gather(*(memory.search("an automobile") for _ in range(searches)))
        assert {each.words_only for each in found} == {None}
        assert {each.hits[0].path for each in found} == {"/memories/garage.md"}

    async def within(seconds: float) -> None:
        nonlocal is_indexed
        assert (await memory.search("automobile")).words_only is None
        is_indexed = True
        await asyncio.wait_for(run(), seconds)

    options: dict[str, Any] = {"embedder_name": "m", "embedder_timeout": None}
    memory = AsyncMemory("memory:", embedder=embed, **options)
    inner = (
        AsyncMemory("memory:", embedder=embed_soon, **options)
        if other == "with an embedder"
        else AsyncMemory("memory:")
    )
    fill(memory._memory)
    fill(inner._memory)
    asyncio.run(within(60))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_calls_on_loops_that_have_ended_do_not_stay_late(backend: str) -> None:
    """While eight calls are late, a search does not call the embedder at all."""
    waits = True

    async def embed(texts: list[str]) -> list[list[float]]:
        if waits:
            await forever()
        return vectors(texts)

    async def forever() -> None:
        await (asyncio.sleep(3600) if backend == "asyncio" else trio.sleep(3600))

    memory = AsyncMemory("memory:", embedder=embed, embedder_name="m", embedder_timeout=None)
    fill(memory._memory)

    async def abandoned() -> None:
        task = asyncio.ensure_future(memory.search("tea"))
        await asyncio.sleep(0.05)
        task.cancel()

    async def abandoned_in_trio() -> None:
        with trio.move_on_after(0.05):
            await memory.search("tea")

    async def search() -> str | None:
        return (await memory.search("an automobile")).words_only

    if backend == "trio":
        trio = pytest.importorskip("trio")
    for number in range(9):
        if backend == "trio":
            trio.run(abandoned_in_trio)
        elif number == 0:
            # Cancels the coroutine.
            asyncio.run(abandoned())
        else:
            loop = asyncio.new_event_loop()
            loop.run_until_complete(abandoned())
            loop.close()
    waits = False
    until(lambda: (asyncio.run(search()) if backend == "asyncio" else trio.run(search)) is None)


@pytest.mark.parametrize("end", ["closed", "stopped", "cancelled"])
def test_a_loop_that_ends_during_a_call_is_the_reason(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A loop that is about to be closed does not run for a moment, either.
    monkeypatch.setattr("memdir._loops._STOPPED", 0.5 if end == "stopped" else SECONDS)
    calls: list[list[str]] = []

    async def embed(texts: list[str]) -> list[list[float]]:
        calls.append(texts)
        await asyncio.sleep(3600)
        return vectors(texts)

    memory = AsyncMemory("memory:", embedder=embed, embedder_name="m", embedder_timeout=None)
    fill(memory._memory)
    reasons: list[str | None] = []
    thread = threading.Thread(
        target=lambda: reasons.append(memory._memory.search("tea").words_only), daemon=True
    )

    async def run() -> None:
        """A search of another thread calls the embedder on this loop."""
        task = asyncio.ensure_future(memory.search("tea"))
        while not calls:
            await asyncio.sleep(0.01)
        task.cancel()
        thread.start()
        while len(calls) < 2:
            await asyncio.sleep(0.01)

    if end == "cancelled":
        asyncio.run(run())
    else:
        loop = asyncio.new_event_loop()
        loop.run_until_complete(run())
        if end == "closed":
            loop.close()
    thread.join(60)
    if end == "stopped":
        loop.close()
    verb = "cancelled the call" if end == "cancelled" else f"was {end} during the call"
    assert reasons == [f"the embedder failed: RuntimeError: the event loop {verb}"]


def test_a_cancelled_search_does_not_wait_for_its_embedder() -> None:
    async def run() -> None:
        begun = asyncio.Event()

        async def embed(texts: list[str]) -> list[list[float]]:
            begun.set()
            await asyncio.sleep(60)
            return vectors(texts)

        memory = AsyncMemory("memory:", embedder=embed, embedder_name="m", embedder_timeout=None)
        fill(memory._memory)
        task = asyncio.ensure_future(memory.search("tea"))
        await asyncio.wait_for(begun.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
