"""The output of the demo: a conversation as it happens, and a directory as a tree.

Plain ``print`` and a few escape sequences. Colours only on a terminal, and only if ``NO_COLOR`` is
not set (https://no-color.org).
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

# Replacements for characters that the terminal's encoding lacks.
PLAIN = str.maketrans("▸✓✗│├└─→·…", ">+x||`->-.")

MAX_LINES = 24
"""The maximum number of lines shown of one text."""


class Screen:
    """Prints a conversation.

    Args:
        pace: seconds to wait before each of Claude's messages and each tool call.
    """

    def __init__(self, pace: float = 0.0) -> None:
        self._pace = pace
        self._terminal = sys.stdout.isatty()
        self._colours = self._terminal and not os.environ.get("NO_COLOR")
        self._width = min(shutil.get_terminal_size((100, 24)).columns, 100)
        encoding = sys.stdout.encoding or "ascii"
        try:
            "▸✓✗│├└─→·…".encode(encoding)
            self._plain = False
        except UnicodeEncodeError:
            self._plain = True

    def line(self, text: str = "", *styles: str) -> None:
        """One line, in the given styles."""
        print(self._dressed(text, *styles), flush=True)

    def heading(self, text: str) -> None:
        """A line across the screen."""
        self.line()
        self.line(f"── {text} ".ljust(self._width, "─"), "bold", "yellow")

    def says(self, who: str, text: str, style: str) -> None:
        """A message, wrapped."""
        time.sleep(self._pace)
        self.line()
        self.line(who, "bold", style)
        for paragraph in text.splitlines():
            for line in textwrap.wrap(paragraph, self._width - 2) or [""]:
                self.line(f"  {line}".rstrip())

    def call(self, command: Mapping[str, Any], result: str, is_error: bool) -> None:
        """One tool call, with its arguments, and its reply."""
        time.sleep(self._pace)
        self.line()
        name = self._dressed(str(command.get("command")), "bold", "cyan")
        lead = self._dressed("  ▸ ", "cyan")
        print(f"{lead}{name} {self._dressed(_target(command))}", flush=True)
        for mark, text, style in _arguments(command):
            self._block(f"      {mark} ", text, style)
        if is_error:
            self._block("    ✗ ", result, "red")
        else:
            self._block("    ✓ ", result, "dim", "green")

    def tree(self, root: Path) -> None:
        """A directory with all its contents."""
        self.line(str(root), "bold")
        for stem, name, size in _walk(root):
            print(
                self._dressed(stem, "dim")
                + self._dressed(name, *([] if size else ["bold"]))
                + self._dressed(f"  {size}" if size else "", "dim"),
                flush=True,
            )

    def _block(self, lead: str, text: str, style: str, lead_style: str | None = None) -> None:
        """A text of several lines after a mark, or below one."""
        lines = [part for line in text.split("\n") for part in self._fitted(line, len(lead))]
        shown = lines[:MAX_LINES]
        if len(lines) > MAX_LINES:
            shown.append(f"… {len(lines) - MAX_LINES} more lines")
        below = lead if lead.strip() in "│+-" else " " * len(lead)
        for number, line in enumerate(shown):
            start = lead if number == 0 else below
            if not line:
                start = start.rstrip()
            start = self._dressed(start, lead_style or style)
            print(start + self._dressed(line, style), flush=True)

    def _fitted(self, line: str, lead: int) -> list[str]:
        """The line, wrapped for a terminal; a file gets it unchanged."""
        line = _printable(line)
        if not self._terminal:
            return [line]
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        return textwrap.wrap(line, max(self._width - lead, 40), subsequent_indent=indent) or [""]

    def _dressed(self, text: str, *styles: str) -> str:
        if self._plain:
            text = text.translate(PLAIN).encode("ascii", "replace").decode()
        if not self._colours or not styles or not text:
            return text
        codes = ";".join(STYLES[style] for style in styles)
        return f"\x1b[{codes}m{text}\x1b[0m"


def _target(command: Mapping[str, Any]) -> str:
    """The target of a command, in one line."""
    if "old_path" in command:
        return _printable(f"{command['old_path']} → {command.get('new_path')}")
    target = str(command.get("path", ""))
    if command.get("view_range") is not None:
        target += f" · lines {command['view_range']}"
    if "insert_line" in command:
        target += f" · after line {command['insert_line']}"
    return _printable(target)


def _arguments(command: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The texts in a command: mark, text, style."""
    marks = {
        "file_text": ("│", "dim"),
        "old_str": ("-", "red"),
        "new_str": ("+", "green"),
        "insert_text": ("+", "green"),
    }
    for name, (mark, style) in marks.items():
        if name in command:
            yield mark, str(command[name]).removesuffix("\n"), style


def _printable(text: str) -> str:
    """The text without sequences that could control the terminal, because a model wrote it."""
    return "".join(c if c.isprintable() else "  " if c == "\t" else "�" for c in text)


def _walk(directory: Path, stem: str = "") -> Iterator[tuple[str, str, str]]:
    """The lines of a tree: the branches before the name, the name, the size (of a file)."""
    entries = sorted(directory.iterdir(), key=lambda entry: entry.name)
    for entry in entries:
        last = entry is entries[-1]
        branch = stem + ("└─ " if last else "├─ ")
        if entry.is_dir() and not entry.is_symlink():
            yield branch, entry.name, ""
            yield from _walk(entry, stem + ("   " if last else "│  "))
        else:
            yield branch, entry.name, f"{entry.lstat().st_size} bytes"
