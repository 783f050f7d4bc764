"""The options in Python are those of the table, `core/options.json`."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any, get_args, get_type_hints

import pytest

import cases
import memdir
from memdir import (
    AsyncMemory,
    AsyncMemoryTool,
    ConfigError,
    Memory,
    MemoryTool,
    copy,
    open_store,
)
from memdir._options import AsyncMemoryOptions, MemoryOptions

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
    assert set(get_type_hints(MemoryOptions, vars(memdir._options))) == set(TABLE)
    assert set(get_type_hints(AsyncMemoryOptions, vars(memdir._options))) == set(TABLE)
    for tool, kind in [(MemoryTool, "MemoryOptions"), (AsyncMemoryTool, "AsyncMemoryOptions")]:
        options = inspect.signature(tool).parameters["options"]
        assert options.kind is options.VAR_KEYWORD
        assert options.annotation == f"Unpack[{kind}]"
        for name in TABLE:
            value = () if default(name) == () else default(name)
            given: Any = {name: value}
            tool("memory:", **given)


def test_the_words_are_those_of_the_table() -> None:
    for name, hint in get_type_hints(MemoryOptions, vars(memdir._options)).items():
        words = [word for word in get_args(hint) if isinstance(word, str)]
        assert words == list(TABLE[name].get("words", {})), name
        for word in words:
            options: Any = {name: word}
            Memory("memory:", **options)


@pytest.mark.parametrize("entry_point", [Memory, open_store])
def test_the_docstring_explains_each(entry_point: Any) -> None:
    explained = re.findall(r"(?m)^    (\w+): ", str(entry_point.__doc__).split("Raises:")[0])
    assert explained == ["store", *keywords(entry_point)]


@pytest.mark.parametrize("entry_point", [Memory, MemoryTool, AsyncMemoryTool, open_store])
def test_a_name_that_no_option_has_is_told_with_the_one_that_is_meant(entry_point: Any) -> None:
    for wrong, meant in [("readonly", "read_only"), ("lock_timeouts", "lock_timeout")]:
        with pytest.raises(TypeError) as raised:
            entry_point("memory:", **{wrong: True})
        assert f"unexpected keyword argument '{wrong}'" in str(raised.value)
        assert str(raised.value).endswith(f". Did you mean '{meant}'?")
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'xyz'$"):
        entry_point("memory:", xyz=1)


def test_a_name_that_no_argument_has_is_told_by_the_class_that_was_called() -> None:
    for kind, wrong, meant in [
        (Memory, "store2", "store"),
        (AsyncMemory, "max_fles", "max_files"),
        (MemoryTool, "tool_cache", None),
        (MemoryTool, "cache_controll", "cache_control"),
        (AsyncMemoryTool, "entri", "entry"),
        (open_store, "stor", "store"),
    ]:
        call: Any = kind
        given = {} if wrong.startswith("stor") and kind is Memory else {"store": "memory:"}
        with pytest.raises(TypeError) as raised:
            call(**given, **{wrong: 1})
        hint = "" if meant is None else f". Did you mean '{meant}'?"
        sentence = f"{call.__name__}() got an unexpected keyword argument '{wrong}'{hint}"
        assert str(raised.value) == sentence


def test_a_huge_number_is_no_limit() -> None:
    memory = Memory("memory:", max_files=2**80, max_view_chars=2**64)
    memory.create("/memories/a", "x")
    assert len(memory.grep("x", limit=2**200)) == 1


def test_a_store_takes_no_option_of_a_memory() -> None:
    for name in TABLE.keys() - set(OPENING):
        options: Any = {name: default(name)}
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            open_store("memory:", **options)


def test_a_wrong_value_is_told_with_what_is_taken_and_what_came() -> None:
    nothing: Any = object()
    for name, value, sentence in [
        ("read_only", ["/memories/x"], 'read_only must be True or False, got ["/memories/x"]'),
        ("max_files", -1, "max_files must be a whole number from 0 on, or None, got -1"),
        ("namespace", 1, "namespace must be a str, or None, got 1"),
        ("before", 3, "before must be a function, or None, got 3"),
        (
            "never_expire",
            nothing,
            "never_expire must be a sequence of str, got a Python object of type object",
        ),
    ]:
        options: Any = {name: value}
        for entry_point in (Memory, MemoryTool, AsyncMemoryTool):
            with pytest.raises(ConfigError) as raised:
                entry_point("memory:", **options)
            assert str(raised.value) == sentence
            assert raised.value.option == name
    with pytest.raises(ConfigError, match=r"^dry_run must be True or False, got \[\]$"):
        Memory("memory:").expire(1, dry_run=[])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^overwrite must be True or False, got \[\]$"):
        copy("memory:", "memory:", overwrite=[])  # type: ignore[arg-type]
