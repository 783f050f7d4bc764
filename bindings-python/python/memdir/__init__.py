"""The memory directory for agents that use Claude's memory tool.

Claude sends the commands `view`, `create`, `str_replace`, `insert`, `delete` and `rename` for files
under `/memories`. memdir executes them on a local directory, a database, a bucket or your own
store. It answers in the exact words of the tool's documentation and refuses unsafe paths.

With the Anthropic SDK (`pip install "memdir[anthropic]"`), put a tool into the runner's `tools`:

    from anthropic import Anthropic
    from memdir import MemoryTool

    client = Anthropic()
    runner = client.beta.messages.tool_runner(
        model="claude-sonnet-5-5",
        max_tokens=2048,
        messages=[{"role": "user", "content": "What did we plan for today?"}],
        tools=[MemoryTool("./memory")],
    )
    print(runner.until_done())

With any other framework, or without one, pass a tool call's input to a `Memory`:

>>> from memdir import Memory
>>> memory = Memory("memory:")
>>> reply = memory.execute({"command": "view", "path": "/memories"})
>>> print(reply.content)
Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:
4.0K	/memories
>>> reply.is_error
False
"""  # noqa: E501

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING

# The order matters: `_main_interpreter` has to run before the native module is loaded.
from memdir import _main_interpreter, _memdir
from memdir._async_hooks import AsyncHookCall
from memdir._async_memory import AsyncMemory
from memdir._async_watch import AsyncWatch
from memdir._errors import (
    ConfigError,
    CopyError,
    Deny,
    HistoryError,
    HookError,
    MemdirError,
    RefusedError,
    StoreError,
    SyncError,
)
from memdir._memdir import (
    HookCall,
    Memory,
    ReadOnly,
    Watch,
    __version__,
    check,
    copy,
    image_type,
    key_from_file,
    namespaces,
    open_store,
    read_only,
    rekey,
)
from memdir._options import AsyncMemoryOptions, MemoryOptions, Places
from memdir._reply import ImageBlock, Reply
from memdir._request import (
    COMPACTION_BETA,
    CONTEXT_MANAGEMENT_BETA,
    ToolEntry,
    context_management,
)
from memdir._results import (
    BlamedLine,
    Change,
    ChangeKind,
    Checked,
    Conflict,
    Copied,
    CopyPhase,
    CopyProgress,
    Entry,
    Erased,
    ErrorKind,
    Event,
    Expired,
    ExpiryProgress,
    GrepMatch,
    HistoryErrorKind,
    HistoryMatch,
    HistorySize,
    Namespace,
    Operation,
    Outcome,
    PastFile,
    Problem,
    ProblemKind,
    RedactedText,
    Repair,
    Restored,
    RestoredFile,
    SearchHit,
    SearchMatch,
    SearchPassage,
    SearchResults,
    SensitiveMatch,
    SizedPath,
    Stats,
    SyncAction,
    SyncChange,
    SyncConflict,
    Synced,
    SyncErrorKind,
    SyncLeftOut,
    SyncMerge,
    SyncPhase,
    SyncProgress,
    SyncReason,
    SyncRedaction,
    SyncSide,
    TimedPath,
    Version,
)
from memdir._store import Store

if TYPE_CHECKING:
    from memdir._search_tool import search_tool
    from memdir._tool import AsyncMemoryTool, MemoryTool

__all__ = [
    "COMPACTION_BETA",
    "CONTEXT_MANAGEMENT_BETA",
    "AsyncHookCall",
    "AsyncMemory",
    "AsyncMemoryOptions",
    "AsyncMemoryTool",
    "AsyncWatch",
    "BlamedLine",
    "Change",
    "ChangeKind",
    "Checked",
    "ConfigError",
    "Conflict",
    "Copied",
    "CopyError",
    "CopyPhase",
    "CopyProgress",
    "Deny",
    "Entry",
    "Erased",
    "ErrorKind",
    "Event",
    "Expired",
    "ExpiryProgress",
    "GrepMatch",
    "HistoryError",
    "HistoryErrorKind",
    "HistoryMatch",
    "HistorySize",
    "HookCall",
    "HookError",
    "ImageBlock",
    "MemdirError",
    "Memory",
    "MemoryOptions",
    "MemoryTool",
    "Namespace",
    "Operation",
    "Outcome",
    "PastFile",
    "Places",
    "Problem",
    "ProblemKind",
    "ReadOnly",
    "RedactedText",
    "RefusedError",
    "Repair",
    "Reply",
    "Restored",
    "RestoredFile",
    "SearchHit",
    "SearchMatch",
    "SearchPassage",
    "SearchResults",
    "SensitiveMatch",
    "SizedPath",
    "Stats",
    "Store",
    "StoreError",
    "SyncAction",
    "SyncChange",
    "SyncConflict",
    "SyncError",
    "SyncErrorKind",
    "SyncLeftOut",
    "SyncMerge",
    "SyncPhase",
    "SyncProgress",
    "SyncReason",
    "SyncRedaction",
    "SyncSide",
    "Synced",
    "TimedPath",
    "ToolEntry",
    "Version",
    "Watch",
    "__version__",
    "check",
    "context_management",
    "copy",
    "image_type",
    "key_from_file",
    "namespaces",
    "open_store",
    "read_only",
    "rekey",
    "search_tool",
]

del _main_interpreter

# Python runs exit functions in reverse order, so those of the application run before this one.
atexit.register(_memdir.before_exit)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_memdir.before_fork,
        after_in_parent=_memdir.after_fork_in_parent,
        after_in_child=_memdir.after_fork_in_child,
    )


def __getattr__(name: str) -> object:
    # The tools extend classes of the SDK, so the SDK is imported only when a tool is used.
    if name not in {"MemoryTool", "AsyncMemoryTool", "search_tool"}:
        raise AttributeError(f"module 'memdir' has no attribute {name!r}")
    try:
        from memdir import _search_tool, _tool  # noqa: PLC0415
    except ImportError as error:
        if not (error.name or "").startswith("anthropic"):
            raise
        from memdir import _without_sdk  # noqa: PLC0415

        return getattr(_without_sdk, name)
    return getattr(_search_tool if name == "search_tool" else _tool, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
