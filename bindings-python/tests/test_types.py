"""The types of a view: mypy checks this file, and the tests also run it."""

from __future__ import annotations

import asyncio
import typing
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import pytest
from typing_extensions import assert_type

from memdir import (
    AsyncMemory,
    AsyncMemoryOptions,
    AsyncMemoryTool,
    ConfigError,
    Deny,
    Event,
    ImageBlock,
    Memory,
    MemoryOptions,
    MemoryTool,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        BetaFunctionToolResultType,
    )
    from anthropic.types.beta import (
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

Shown: TypeAlias = str | list[ImageBlock]


def test_a_view_without_images_is_a_str() -> None:
    memory = Memory("memory:", max_files=1, max_image_bytes=None)
    assert_type(memory, Memory[str])
    assert_type(memory.view("/memories"), str)
    assert_type(memory.acting_as("somebody"), Memory[str])
    with memory as same:
        assert_type(same.view("/memories"), str)


def test_a_view_with_images_is_either() -> None:
    options: MemoryOptions = {"max_files": 1}
    limit: int | None = None if options else 1
    for memory in [
        Memory("memory:"),
        Memory("memory:", max_image_bytes=1),
        Memory("memory:", **options),
        Memory("memory:", max_image_bytes=limit),
    ]:
        assert_type(memory, Memory)
        assert_type(memory.view("/memories"), Shown)


def test_so_it_is_with_await(tmp_path: Path) -> None:
    class Mine(AsyncMemory):
        pass

    class OnlyText(AsyncMemory[str]):
        pass

    async def run() -> None:
        options: MemoryOptions = {"max_image_bytes": None}
        assert_type(AsyncMemory("memory:"), AsyncMemory)
        assert_type(AsyncMemory("memory:", **options), AsyncMemory)
        assert_type(AsyncMemory("memory:", max_image_bytes=None), AsyncMemory[str])
        assert_type(await AsyncMemory.open("memory:"), AsyncMemory)
        assert_type(await Mine.open("memory:", max_files=1), Mine)
        assert_type(OnlyText("memory:", max_image_bytes=None), OnlyText)
        async with await AsyncMemory.open(tmp_path, max_image_bytes=None) as memory:
            assert_type(memory, AsyncMemory[str])
            assert_type(await memory.view("/memories"), str)
            assert_type(memory.acting_as("somebody"), AsyncMemory[str])
        async with await Mine.open(tmp_path) as mine:
            assert_type(await mine.view("/memories"), Shown)
            assert_type(mine.acting_as("somebody"), Mine)

    asyncio.run(run())


def headings(memory: Memory[str]) -> list[str]:
    return memory.view("/memories").splitlines()


def any_memory(memory: Memory) -> Shown:
    return memory.view("/memories")


@pytest.mark.parametrize("class_", [Memory, AsyncMemory])
def test_the_parameter_is_understood_at_run_time(class_: type) -> None:
    hint = class_[str]  # type: ignore[index]
    assert typing.get_origin(hint) is class_
    assert typing.get_args(hint) == (str,)
    assert typing.get_type_hints(headings)["memory"] == Memory[str]
    # A memory that shows only text is still a memory.
    only_text = Memory("memory:", max_image_bytes=None)
    assert headings(only_text) == str(any_memory(only_text)).splitlines()


def test_a_type_checker_objects_to_a_promise_that_is_not_kept() -> None:
    # mypy reports an unnecessary `ignore`.
    memory: Memory[str] = Memory("memory:")  # type: ignore[assignment]
    other: AsyncMemory[str] = AsyncMemory("memory:")  # type: ignore[assignment]
    assert headings(memory)
    del other


class Announcing(MemoryTool):
    """Overrides each method with the model that the SDK's own class names."""

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        return f"{command.path}: {super().view(command)!s}"

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> BetaFunctionToolResultType:
        return f"{command.path}: {super().create(command)!s}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return f"{command.path}: {super().str_replace(command)!s}"

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return f"{command.path}: {super().insert(command)!s}"

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return f"{command.path}: {super().delete(command)!s}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return f"{command.old_path}: {super().rename(command)!s}"

    def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        return super().execute(command)


class AnnouncingLater(AsyncMemoryTool):
    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        return f"{command.path}: {await super().view(command)!s}"

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return f"{command.path}: {await super().create(command)!s}"

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return f"{command.path}: {await super().str_replace(command)!s}"

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return f"{command.path}: {await super().insert(command)!s}"

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return f"{command.path}: {await super().delete(command)!s}"

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return f"{command.old_path}: {await super().rename(command)!s}"


CALLS: list[dict[str, Any]] = [
    {"command": "create", "path": "/memories/a.md", "file_text": "one\n"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "two"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "three\n"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"},
    {"command": "delete", "path": "/memories/b.md"},
]


def test_a_tool_can_be_extended_as_the_sdks_own() -> None:
    async def run() -> list[str]:
        later: BetaAsyncAbstractMemoryTool = AnnouncingLater("memory:")
        return [str(await later.call(call)) for call in CALLS]

    tool: BetaAbstractMemoryTool = Announcing("memory:")
    replies = [str(tool.call(call)) for call in CALLS]
    assert asyncio.run(run()) == replies
    for call, reply in zip(CALLS, replies, strict=True):
        assert reply.startswith(f"{call.get('path', '/memories/a.md')}: ")


def test_what_is_awaited_takes_both_kinds_of_hooks() -> None:
    def plain(command: Mapping[str, object]) -> Mapping[str, object] | None:
        return command

    async def asynchronous(command: Mapping[str, object]) -> Mapping[str, object] | None:
        return command

    async def denying(command: Mapping[str, object]) -> NoReturn:
        raise Deny

    async def after(event: Event) -> None: ...

    Memory("memory:", before=plain, after=print)
    for before in (plain, asynchronous, denying):
        AsyncMemory("memory:", before=before, after=after)
    AsyncMemory("memory:", before=lambda command: asynchronous({**command}))
    AsyncMemory("memory:", before=None, after=None, max_image_bytes=None)
    AsyncMemoryTool("memory:", before=asynchronous, after=after)
    options: AsyncMemoryOptions = {"before": asynchronous, "after": after}
    AsyncMemory("memory:", **options)
    with pytest.raises(ConfigError):
        Memory("memory:", before=asynchronous)  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        MemoryTool("memory:", before=asynchronous)  # type: ignore[arg-type]
