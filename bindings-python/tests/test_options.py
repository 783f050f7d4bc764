"""The options are those of the table, `core/options.json`, wherever Python names them."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any, get_args, get_type_hints

import pytest

import cases
import memdir
from memdir import AsyncMemoryTool, Memory, MemoryTool, open_store
from memdir._options import Options

SECTIONS = json.loads((cases.PROJECT / "core" / "options.json").read_text("utf-8"))["sections"]
TABLE: dict[str, dict[str, Any]] = {
    option["name"]: option
    for section in SECTIONS
    for option in section["options"]
    if "python" in option["languages"]
}
OPENING = [name for name, option in TABLE.items() if "open_store" in option["entry_points"]]


def default(name: str) -> Any:
    option = TABLE[name]
    value = option.get("defaults", {}).get("python", option["default"])
    return () if option["type"] == "patterns" and value == [] else value


def keywords(entry_point: Any) -> dict[str, Any]:
    parameters = inspect.signature(entry_point).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}


def test_the_signatures_have_the_names_and_defaults() -> None:
    assert keywords(Memory) == {name: default(name) for name in TABLE}
    assert keywords(open_store) == {name: default(name) for name in OPENING}


def test_the_tools_take_the_same() -> None:
    assert set(get_type_hints(Options, vars(memdir._options))) == set(TABLE)
    for tool in (MemoryTool, AsyncMemoryTool):
        options = inspect.signature(tool).parameters["options"]
        assert options.kind is options.VAR_KEYWORD
        assert options.annotation == "Unpack[Options]"
        for name in TABLE:
            value = () if default(name) == () else default(name)
            given: Any = {name: value}
            tool("memory:", **given)


def test_the_words_are_those_of_the_table() -> None:
    for name, hint in get_type_hints(Options, vars(memdir._options)).items():
        words = [word for word in get_args(hint) if isinstance(word, str)]
        assert words == TABLE[name].get("words", []), name
        for word in words:
            options: Any = {name: word}
            Memory("memory:", **options)


@pytest.mark.parametrize("entry_point", [Memory, open_store])
def test_the_docstring_explains_each(entry_point: Any) -> None:
    explained = re.findall(r"(?m)^    (\w+): ", str(entry_point.__doc__).split("Raises:")[0])
    assert explained == ["store", *keywords(entry_point)]
