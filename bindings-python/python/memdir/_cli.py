"""The entry point of the package's script `memdir`. The program itself is in Rust."""

from __future__ import annotations

import signal
import sys

from memdir import _memdir


def main() -> int:
    """Runs `memdir` with this process's arguments, and returns its exit code."""
    # Python's own handler would only note the signal, and act after the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _memdir.run_command_line(["memdir", *sys.argv[1:]])
