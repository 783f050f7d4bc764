"""The hostile tables (`tests/hostile`): always a reply or the declared exception."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.lib.tools import ToolError

import cases
from memdir import (
    AsyncMemory,
    AsyncMemoryTool,
    ConfigError,
    HistoryError,
    Memory,
    MemoryTool,
    RefusedError,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES = cases.PROJECT / "tests" / "hostile"
INPUTS: list[dict[str, Any]] = json.loads((TABLES / "inputs.json").read_text(encoding="utf-8"))
VALUES: dict[str, Any] = json.loads((TABLES / "values.json").read_text(encoding="utf-8"))
WORDS: dict[str, str] = VALUES["words"]["python"]
SECTIONS = json.loads((cases.PROJECT / "core/options.json").read_text(encoding="utf-8"))["sections"]
OPTIONS: list[dict[str, Any]] = [
    option for section in SECTIONS for option in section["options"] if option["type"] != "hook"
]
CALLS: list[dict[str, Any]] = json.loads((TABLES / "arguments.json").read_text(encoding="utf-8"))
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
    if value == "@time@":
        return datetime(2026, 3, 14, tzinfo=timezone.utc)
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
        # The result of Python's own parser, which accepts more than JSON.
        inputs.append(json.loads(given))
    for each in inputs:
        reply = memory.execute(each)
        # If a field occurs twice, Python also uses the last one.
        assert reply.is_error, each
        assert 0 < len(str(reply.content)) < 50_000
        assert reply.cause is None
        with pytest.raises(ToolError):
            tool.call(each)
    assert str(memory.view("/memories")).endswith("4.0K\t/memories")


def said(row: dict[str, Any], name: str, none: bool, option: dict[str, Any]) -> str:
    """The pattern of the sentence for a wrong value."""
    words = [f'"{word}"' for word in option.get("words", [])]
    filled = row["says"].format(
        name=name,
        or_none=f", or {WORDS['none']}" if none else "",
        words=f"{', '.join(words[:-1])} or {words[-1]}" if words else "",
        **WORDS,
    )
    # The table has the words of JSON.
    for word in ("null", "true", "NaN", "an object"):
        filled = re.sub(f"(got \\[?){word}\\b", rf"\1{WORDS[word]}", filled)
    return ".*".join(map(re.escape, filled.split("…")))


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: str(option["name"]))
def test_a_wrong_option_is_a_config_error_that_names_it(option: dict[str, Any]) -> None:
    name = option["name"]
    for row in VALUES["types"][option["type"]]:
        options: Any = {name: put(row["value"])}
        if row.get("fits"):
            assert not Memory("memory:", **options).execute(VIEW).is_error
            continue
        ways: list[Any] = [Memory, MemoryTool, AsyncMemoryTool]
        for kind in [*ways, open_store] if name in OPENING else ways:
            with pytest.raises(ConfigError) as raised:
                kind("memory:", **options)
            assert re.fullmatch(said(row, name, option["none"], option), str(raised.value)), row
            assert raised.value.option == name


def option_that_is_wrong(way: Callable[[], None]) -> str | None:
    try:
        way()
    except ConfigError as error:
        return error.option
    return None


def call(memory: Any, name: str, arguments: dict[str, Any]) -> Any:
    if name == "changes":
        return memory.watch().changes(**arguments)
    return getattr(memory, name)(**arguments)


@pytest.mark.parametrize(
    ("call_of", "argument"),
    [(row, argument) for row in CALLS for argument in row["arguments"]],
    ids=lambda part: part if isinstance(part, str) else str(part["call"]),
)
def test_a_wrong_argument_is_a_config_error_that_names_it(
    call_of: dict[str, Any], argument: str
) -> None:
    name, (kind, _, none) = call_of["call"], call_of["arguments"][argument].partition(" or ")
    for row in VALUES["types"][kind]:
        if row.get("fits") and call_of.get("waits"):
            continue
        given = {each: put(value) for each, value in call_of.get("needs", {}).items()}
        given[argument] = put(row["value"])

        async def later(given: dict[str, Any] = given) -> None:
            memory = AsyncMemory("memory:", history=True, record_access=True)
            called = call(memory, name, given)
            if name == "watch":
                async with called:
                    pass
            elif name != "acting_as":
                await called

        def now(given: dict[str, Any] = given) -> None:
            call(Memory("memory:", history=True, record_access=True), name, given)

        ways: list[Callable[[], None]] = [now, lambda: asyncio.run(later())]
        for way in ways:
            if row.get("fits"):
                with suppress(RefusedError, HistoryError):
                    assert option_that_is_wrong(way) != argument, row
                continue
            with pytest.raises(ConfigError) as raised:
                way()
            assert re.fullmatch(said(row, argument, bool(none), {}), str(raised.value)), row
            assert raised.value.option == argument
