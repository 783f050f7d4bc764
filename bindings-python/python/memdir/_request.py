"""What a request to the Messages API carries beside the memory.

That is the tool's entry, and what happens to a long conversation. Nothing here needs the SDK.
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
"""The beta that a request with compaction needs, in addition."""


class ToolEntry(TypedDict, total=False):
    """What the memory tool's entry in `tools` may carry beside its type and name.

    `allowed_callers` is who may call it. With `defer_loading` it is loaded only when a search for
    tools finds it. `input_examples` are inputs that the model is shown. `strict` makes the API
    check the names and inputs of calls.
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
    """The tool's entry with what was given for it."""
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

    When a conversation grows, the API clears old tool results from it, but none of the memory
    tool's: what the model has noted stays in its sight. Shortly before, Claude is warned and can
    save what matters. With `compact_at`, the API also summarises the conversation.

    The request needs `betas=[CONTEXT_MANAGEMENT_BETA]`, and `COMPACTION_BETA` with `compact_at`.

    The stale guard does not know of a compaction: call `forget_views` of the memory when the
    content of a response has a block of the type `compaction`.

    Args:
        clear_at: At how many input tokens tool results are cleared. `None` clears none.
        keep: How many of the last tool uses are kept.
        clear_at_least: The fewest tokens that must be cleared, or nothing is: a cleared
            conversation is cached anew.
        exclude_tools: Further tools whose results are never cleared.
        compact_at: At how many input tokens the conversation is summarised. `None` never does.

    >>> from memdir import context_management
    >>> context_management(clear_at=50_000)["edits"][0]["exclude_tools"]
    ['memory']
    """
    config = _memdir.context_management(
        clear_at, keep, clear_at_least, list(exclude_tools), compact_at
    )
    return cast("BetaContextManagementConfigParam", config)


context_management.__module__ = "memdir"
