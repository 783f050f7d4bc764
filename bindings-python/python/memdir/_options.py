"""The types of a memory's arguments, for signatures that pass them on."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta  # noqa: TC003 - code that resolves the hints at run time needs it
from typing import Any, Literal, TypeAlias, TypedDict

from memdir._embedder import AsyncEmbedder, Embedder  # noqa: TC001 - as above
from memdir._hooks import AsyncBeforeWithCall, BeforeWithCall
from memdir._memdir import ReadOnly
from memdir._results import Event  # noqa: TC001 - as above
from memdir._store import Store

Place: TypeAlias = str | os.PathLike[str] | Store | ReadOnly
"""A store, or the address of one."""

Places: TypeAlias = Place | Mapping[str, Place]
"""A store, or several stores by their mount points."""

Dialect: TypeAlias = Literal["json-schema", "openai", "openai-chat", "anthropic-custom", "gemini"]
"""The dialects of `tool_definition`."""

Answer: TypeAlias = Mapping[str, object] | None
"""The decision of the hook `before`: `None`, or a command with a different text."""

AsyncBefore: TypeAlias = (
    Callable[[Mapping[str, Any]], Answer | Awaitable[Answer]] | BeforeWithCall | AsyncBeforeWithCall
)
"""The hook `before` of an `AsyncMemory`: a function or a coroutine function."""


class _Common(TypedDict, total=False):
    max_view_chars: int | None
    max_file_bytes: int | None
    max_total_bytes: int | None
    max_files: int | None
    on_existing: Literal["error", "overwrite"]
    read_only: bool
    read_only_paths: Sequence[str]
    writable_paths: Sequence[str] | None
    stale_guard: Literal["off", "on", "strict"]
    sensitive_text: Literal["off", "reject", "redact"]
    sensitive_rules: dict[str, str]
    sensitive_on_view: bool
    expire_after: float | timedelta | None
    record_access: bool
    never_expire: Sequence[str]
    history: bool
    history_max_age: float | timedelta | None
    history_max_versions: int | None
    history_max_bytes: int | None
    actor: str | None
    search_language: Literal[
        "auto",
        "none",
        "danish",
        "dutch",
        "english",
        "finnish",
        "french",
        "german",
        "italian",
        "norwegian",
        "polish",
        "portuguese",
        "spanish",
        "swedish",
        "turkish",
    ]
    search_max_bytes: int | None
    search_keep: bool
    search_recency: float | timedelta | None
    embedder_name: str | None
    embedder_timeout: float | timedelta | None
    event_content: bool
    durability: Literal["full", "relaxed"]
    lock_timeout: float | timedelta | None
    namespace: str | None
    encryption_key: bytes | str | None
    encrypt_names: bool


class _Hooks(TypedDict, total=False):
    embedder: Embedder | None
    before: Callable[[Mapping[str, Any]], Mapping[str, object] | None] | BeforeWithCall | None
    after: Callable[[Event], object] | None


class _AsyncHooks(TypedDict, total=False):
    embedder: AsyncEmbedder | None
    before: AsyncBefore | None
    after: Callable[[Event], object] | None


class MemoryOptions(_Common, _Hooks, total=False):
    """The options of a `Memory`; `Memory` documents each one."""

    max_image_bytes: int | None


class TextOnly(_Common, _Hooks):
    """Options with which views return only text."""

    max_image_bytes: None


class AsyncMemoryOptions(_Common, _AsyncHooks, total=False):
    """The options of an `AsyncMemory`; `Memory` documents each one."""

    max_image_bytes: int | None


class AsyncTextOnly(_Common, _AsyncHooks):
    """Options of an `AsyncMemory` with which views return only text."""

    max_image_bytes: None
