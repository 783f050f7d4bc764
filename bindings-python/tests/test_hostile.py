"""The hostile tables (`tests/hostile`): always a reply or the declared exception."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from anthropic.lib.tools import ToolError

import cases
from memdir import AsyncMemoryTool, ConfigError, Memory, MemoryTool, open_store

TABLES = cases.PROJECT / "tests" / "hostile"
INPUTS: list[dict[str, Any]] = json.loads((TABLES / "inputs.json").read_text(encoding="utf-8"))
OPTIONS: list[dict[str, Any]] = json.loads((TABLES / "options.json").read_text(encoding="utf-8"))
PUT = {
    "@half@": "\ud800",
    "@long@": "x" * 1_000_000,
    "@deep@": "[" * 100_000,
    "@digits@": "9" * 5000,
}
NUMBERS = {"@nan@": float("nan"), "@inf@": float("inf"), "@-inf@": float("-inf")}
OPENING = {
    "durability",
    "lock_timeout",
    "namespace",
    "encryption_key",
    "encrypt_names",
    "read_only",
}
VIEW = {"command": "view", "path": "/memories"}


def put(value: Any) -> Any:
    if isinstance(value, str):
        if value in NUMBERS:
            return NUMBERS[value]
        for sign, text in PUT.items():
            value = value.replace(sign, text)
    elif isinstance(value, list):
        return [put(item) for item in value]
    elif isinstance(value, dict):
        return {put(name): put(item) for name, item in value.items()}
    return value


@pytest.mark.parametrize("row", INPUTS, ids=lambda row: row["name"])
def test_input_that_nobody_should_send_is_answered(row: dict[str, Any]) -> None:
    memory, tool = Memory("memory:"), MemoryTool("memory:")
    given = put(row["json"])
    inputs = [given]
    with suppress(ValueError, RecursionError):
        # What Python's own reader makes of it, which takes more than JSON is.
        inputs.append(json.loads(given))
    for each in inputs:
        reply = memory.execute(each)
        # The last of two fields of one name counts to Python, too.
        assert reply.is_error, each
        assert 0 < len(str(reply.content)) < 50_000
        assert reply.cause is None
        with pytest.raises(ToolError):
            tool.call(each)
    assert str(memory.view("/memories")).endswith("4.0K\t/memories")


@pytest.mark.parametrize("row", OPTIONS, ids=lambda row: f"{row['option']}={row['value']!r}")
def test_a_wrong_option_is_a_config_error_that_names_it(row: dict[str, Any]) -> None:
    name, value = row["option"], put(row["value"])
    options: Any = {name: value}
    if row.get("fits"):
        assert not Memory("memory:", **options).execute(VIEW).is_error
        return
    ways: list[Any] = [Memory, MemoryTool, AsyncMemoryTool]
    for kind in [*ways, open_store] if name in OPENING else ways:
        with pytest.raises(ConfigError) as raised:
            kind("memory:", **options)
        assert name in str(raised.value) or name in ("sensitive_rules", "encryption_key")
