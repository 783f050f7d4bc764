"""The parts of a request to the Messages API that an agent with a memory needs.

These are the tool's entry, and the context management of a long conversation. Nothing here needs
the SDK.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, cast

from memdir import _memdir

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anthropic.types.beta import (
        BetaContextManagementConfigParam,
        BetaMemoryTool20250818Param,
    )

CONTEXT_MANAGEMENT_BETA = "context-management-2025-06-27"
"""The beta that a request with `context_management` needs."""

COMPACTION_BETA = "compact-2026-01-12"
"""The beta that a request with compaction needs, too."""


class ToolEntry(TypedDict, total=False):
    """The fields that the memory tool's entry in `tools` may have beside its type and name.

    `allowed_callers` lists the callers that may use the tool. With `defer_loading` the tool is
    loaded only when a search for tools finds it. `input_examples` are example inputs for the model.
    `strict` makes the API validate the names and inputs of calls.
    """

    allowed_callers: Sequence[
        Literal[
            "direct",
            "code_execution_20250825",
            "code_execution_20260120",
            "code_execution_20260521",
        ]
    ]
    defer_loading: bool
    input_examples: Iterable[dict[str, object]]
    strict: bool


def entry(own: BetaMemoryTool20250818Param, more: ToolEntry) -> BetaMemoryTool20250818Param:
    """The tool's entry, extended by the given fields."""
    given = {name: value for name, value in more.items() if value is not None}
    for name in ("allowed_callers", "input_examples"):
        if name in given:
            given[name] = list(cast("Iterable[object]", given[name]))
    return cast("BetaMemoryTool20250818Param", {**own, **given})


def context_management(
    *,
    clear_at: int | None = 100_000,
    keep: int = 3,
    clear_at_least: int | None = None,
    exclude_tools: Sequence[str] = (),
    compact_at: int | None = None,
) -> BetaContextManagementConfigParam:
    """The `context_management` of a request, for an agent with a memory.

    When a conversation grows, the API removes old tool results from it, but not those of the memory
    tool, so the model still sees its notes. Claude gets a warning before that, and can save what
    matters. With `compact_at`, the API also summarises the conversation.

    The request needs `betas=[CONTEXT_MANAGEMENT_BETA]`, and also `COMPACTION_BETA` with
    `compact_at`.

    The stale guard does not notice a compaction. Call the memory's `forget_views` when the content
    of a response has a block of the type `compaction`.

    Args:
        clear_at: The number of input tokens at which tool results are removed. `None`: never.
        keep: The number of most recent tool uses to keep.
        clear_at_least: The smallest number of tokens to remove. If fewer can be removed, none is,
            because removing invalidates the prompt cache.
        exclude_tools: Further tools whose results are never removed.
        compact_at: The number of input tokens at which the conversation is summarised. `None`:
            never.

    >>> from memdir import context_management
    >>> context_management(clear_at=50_000)["edits"][0]["exclude_tools"]
    ['memory']
    """
    config = _memdir.context_management(
        clear_at, keep, clear_at_least, list(exclude_tools), compact_at
    )
    return cast("BetaContextManagementConfigParam", config)


context_management.__module__ = "memdir"
