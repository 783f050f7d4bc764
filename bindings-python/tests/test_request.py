"""The other parts of a request: the tool's entry, context editing, compaction."""

from __future__ import annotations

from typing import Any, cast

import pytest
from anthropic.types import anthropic_beta_param
from anthropic.types.beta import (
    BetaContextManagementConfigParam,
    BetaMemoryTool20250818Param,
)
from pydantic import TypeAdapter

from memdir import (
    COMPACTION_BETA,
    CONTEXT_MANAGEMENT_BETA,
    AsyncMemoryTool,
    ConfigError,
    MemoryTool,
    ToolEntry,
    context_management,
)

ENTRY: ToolEntry = {
    "allowed_callers": ("direct", "code_execution_20260521"),
    "defer_loading": True,
    "input_examples": [{"command": "view", "path": "/memories"}],
    "strict": True,
}


@pytest.mark.parametrize("tool", [MemoryTool, AsyncMemoryTool])
def test_the_entry_carries_all_that_the_api_takes(
    tool: type[MemoryTool] | type[AsyncMemoryTool],
) -> None:
    assert tool("memory:").to_dict() == {"type": "memory_20250818", "name": "memory"}
    entry = tool("memory:", cache_control={"type": "ephemeral"}, entry=ENTRY).to_dict()
    assert entry == {
        "type": "memory_20250818",
        "name": "memory",
        "cache_control": {"type": "ephemeral"},
        "allowed_callers": ["direct", "code_execution_20260521"],
        "defer_loading": True,
        "input_examples": [{"command": "view", "path": "/memories"}],
        "strict": True,
    }
    # Every field that the SDK knows is accepted.
    own = {"type", "name", "cache_control"}
    assert set(BetaMemoryTool20250818Param.__annotations__) - own == set(ToolEntry.__annotations__)
    TypeAdapter(BetaMemoryTool20250818Param).validate_python(entry)


def test_context_editing_spares_the_memory() -> None:
    config = context_management(clear_at=50_000, clear_at_least=5_000, exclude_tools=["search"])
    assert config == {
        "edits": [
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "input_tokens", "value": 50_000},
                "keep": {"type": "tool_uses", "value": 3},
                "exclude_tools": ["memory", "search"],
                "clear_at_least": {"type": "input_tokens", "value": 5_000},
            }
        ]
    }
    both = context_management(compact_at=150_000)
    assert [edit["type"] for edit in both["edits"]] == [
        "clear_tool_uses_20250919",
        "compact_20260112",
    ]
    assert context_management(clear_at=None) == {"edits": []}
    for wrong in (-1, 1.5, float("nan"), True, "3"):
        for name in ("clear_at", "keep", "clear_at_least", "compact_at"):
            with pytest.raises(ConfigError, match=f"^{name} must be a whole number from 0 on"):
                context_management(**cast("Any", {name: wrong}))
    for made in (config, both):
        TypeAdapter(BetaContextManagementConfigParam).validate_python(made)
    known = repr(anthropic_beta_param.AnthropicBetaParam)
    assert CONTEXT_MANAGEMENT_BETA in known
    assert COMPACTION_BETA in known
