"""The hostile tables (`tests/hostile`): always a reply or the declared exception."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from anthropic.lib.tools import ToolError

import cases
from memdir import AsyncMemory, AsyncMemoryTool, ConfigError, Memory, MemoryTool, open_store

TABLES = cases.PROJECT / "tests" / "hostile"
INPUTS: list[dict[str, Any]] = json.loads((TABLES / "inputs.json").read_text(encoding="utf-8"))
OPTIONS: list[dict[str, Any]] = json.loads((TABLES / "options.json").read_text(encoding="utf-8"))
ARGUMENTS: list[dict[str, Any]] = json.loads(
    (TABLES / "arguments.json").read_text(encoding="utf-8")
)
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


def call(memory: Any, name: str, argument: str, value: Any) -> Any:
    """Calls a method with what it needs, and this argument."""
    if name == "changes":
        return memory.watch().changes(**{argument: value})
    needed = {"grep": ("tea",), "grep_history": ("tea",)}.get(name, ())
    return getattr(memory, name)(*needed, **{argument: value})


@pytest.mark.parametrize(
    "row", ARGUMENTS, ids=lambda row: f"{row['call']}.{row['argument']}={row['value']!r}"
)
def test_a_wrong_argument_is_a_config_error_that_names_it(row: dict[str, Any]) -> None:
    name, argument, value = row["call"], row["argument"], put(row["value"])

    async def later() -> None:
        called = call(
            AsyncMemory("memory:", history=True, record_access=True), name, argument, value
        )
        if name != "watch":
            await called
        else:
            async with called:
                pass

    def now() -> None:
        call(Memory("memory:", history=True, record_access=True), name, argument, value)

    for way in (now, lambda: asyncio.run(later())):
        if row.get("fits"):
            way()
            continue
        with pytest.raises(ConfigError, match=f"^{argument} must be ") as raised:
            way()
        assert raised.value.option == argument
