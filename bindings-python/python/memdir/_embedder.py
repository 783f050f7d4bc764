"""Embedders: functions that turn texts into vectors, for searches by meaning."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from memdir import _memdir
from memdir._loops import await_on, running_loop

if TYPE_CHECKING:
    from memdir._loops import AsyncioLoop, TrioLoop

Vectors: TypeAlias = Sequence[Sequence[float]]
"""A vector for each text, all of the same length. An array of numpy is one, too."""


class EmbedderWithIsQuery(Protocol):
    """An embedder that is told whether the text is a question."""

    def __call__(self, texts: list[str], /, *, is_query: bool) -> Vectors:
        """Returns a vector for each text."""


class AsyncEmbedderWithIsQuery(Protocol):
    """A coroutine function as an embedder that is told whether the text is a question."""

    def __call__(self, texts: list[str], /, *, is_query: bool) -> Awaitable[Vectors]:
        """Returns a vector for each text."""


Embedder: TypeAlias = Callable[[list[str]], Vectors] | EmbedderWithIsQuery
"""The embedder of a `Memory`."""

AsyncEmbedder: TypeAlias = (
    Embedder | Callable[[list[str]], Awaitable[Vectors]] | AsyncEmbedderWithIsQuery
)
"""The embedder of an `AsyncMemory`: a function or a coroutine function."""


class AwaitedEmbedder:
    """The embedder of an `AsyncMemory`, as a function that a thread of the core calls.

    A coroutine runs on the loop of the latest search, where its clients and connections are.
    """

    def __init__(self, embedder: Callable[..., Vectors | Awaitable[Vectors]]) -> None:
        self._embedder = embedder
        self._takes_is_query = _memdir.takes_is_query(embedder)
        self._loop: AsyncioLoop | TrioLoop | None = None

    def search_begins(self) -> None:
        """Called in the task of a search."""
        self._loop = running_loop()

    def __call__(self, texts: list[str], /, *, is_query: bool) -> Vectors:
        named = {"is_query": is_query} if self._takes_is_query else {}
        vectors = self._embedder(texts, **named)
        if not inspect.isawaitable(vectors):
            return vectors
        if self._loop is None:
            if inspect.iscoroutine(vectors):
                vectors.close()
            raise RuntimeError("a coroutine function needs a search by `AsyncMemory`")
        return await_on(self._loop, vectors)
