"""One `call()` of a `view` of a 4 KiB file: `MemoryTool` against the SDK's own file tool.

Both work on a file system in memory, in one run, in alternating rounds, so that other load on the
machine affects both equally. It prints the median over the rounds.

    python benches/view.py [--rounds 41] [--calls 2000] [--bytes 4096]
"""

from __future__ import annotations

import argparse
import importlib.metadata
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anthropic.lib.tools import _beta_builtin_memory_tool as sdk

from memdir import Memory, MemoryTool

if TYPE_CHECKING:
    from collections.abc import Callable

LINE = "- Remember this about the project: the tests run on every push.\n"
VIEW = {"command": "view", "path": "/memories/notes.md"}


def microseconds_per_call(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return (time.perf_counter_ns() - start) / calls / 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--calls", type=int, default=2000, help="of memdir in a round")
    parser.add_argument("--bytes", type=int, default=4096, help="in the file")
    arguments = parser.parse_args()
    in_memory = Path("/dev/shm")  # noqa: S108 - a file system in memory, if the machine has one
    root = in_memory if in_memory.is_dir() else None
    with tempfile.TemporaryDirectory(dir=root) as directory:
        tool = MemoryTool(directory)
        text = (LINE * (arguments.bytes // len(LINE) + 1))[: arguments.bytes]
        tool.create({"path": VIEW["path"], "file_text": text})
        # Every SDK newer than 0.84 has it.
        theirs: Any = sdk.BetaLocalFilesystemMemoryTool(directory)
        memory = Memory(directory)
        shown = len(str(tool.call(VIEW)).splitlines()), len(str(theirs.call(VIEW)).splitlines())
        # The SDK shows one more line if a file ends with a newline.
        assert shown[1] - shown[0] in {0, 1}, shown
        ways: dict[str, tuple[Callable[[], object], int]] = {
            "memdir MemoryTool.call": (lambda: tool.call(VIEW), arguments.calls),
            "memdir Memory.view": (lambda: memory.view(VIEW["path"]), arguments.calls),
            "SDK file tool, call": (lambda: theirs.call(VIEW), max(arguments.calls // 10, 1)),
        }
        rounds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, (call, calls) in ways.items():
                rounds[name].append(microseconds_per_call(call, calls))
    medians = {name: statistics.median(times) for name, times in rounds.items()}
    print(f"view of {arguments.bytes} bytes in {root or 'the temporary directory'};")
    print(f"anthropic {importlib.metadata.version('anthropic')}, Python {sys.version.split()[0]}")
    for name, median in medians.items():
        print(f"  {name:24} {median:8.2f} µs (best {min(rounds[name]):.2f})")
    ratio = medians["memdir MemoryTool.call"] / medians["SDK file tool, call"]
    print(f"  ratio {ratio:.3f} (1/{1 / ratio:.1f}); the aim is below 0.100")
    return 0


if __name__ == "__main__":
    sys.exit(main())
