"""The classes that replace the tools if the Anthropic SDK is not installed.

Importing memdir works without the SDK, even `from memdir import *`, and so do `help` and `hasattr`.
Constructing a tool fails with an error that names the package to install.
"""

from __future__ import annotations

from typing import NoReturn


class MemoryTool:
    """Claude's memory tool for `Anthropic`. It needs the package `anthropic` 0.84."""

    def __init__(self, *_: object, **__: object) -> None:
        _refuse(type(self).__name__)


class AsyncMemoryTool:
    """Claude's memory tool for `AsyncAnthropic`. It needs the package `anthropic` 0.84."""

    def __init__(self, *_: object, **__: object) -> None:
        _refuse(type(self).__name__)


def search_tool(*_: object, **__: object) -> NoReturn:
    """The search as a tool beside the memory tool. It needs the package `anthropic` 0.84."""
    _refuse("search_tool")


def _refuse(name: str) -> NoReturn:
    raise ImportError(
        f"memdir.{name} needs the package anthropic, 0.84 or newer: "
        'pip install "memdir[anthropic]"',
        name="anthropic",
    )


MemoryTool.__module__ = AsyncMemoryTool.__module__ = search_tool.__module__ = "memdir"
