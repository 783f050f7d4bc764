"""Tests of the programs that measure: the calls of the floor, the report, the comparison of counts.

They need strace and target/debug/memdir-bench.
"""

import contextlib
import io
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent / "target/debug/memdir-bench"
# Calls of the allocator, which differ between libraries, and a check before each `close` in debug builds of Rust.
NOT_OURS = {"brk", "mmap", "munmap", "mremap", "madvise", "fcntl", "getrandom"}
COMMANDS = {
    "view of a file": {"command": "view", "path": "/memories/a.md"},
    "view of a directory with a file": {"command": "view", "path": "/memories/d"},
    "create": {"command": "create", "path": "/memories/b.md", "file_text": "tea\n"},
    "str_replace": {
        "command": "str_replace",
        "path": "/memories/b.md",
        "old_str": "tea",
        "new_str": "mate",
    },
    "insert": {
        "command": "insert",
        "path": "/memories/b.md",
        "insert_line": 1,
        "insert_text": "milk\n",
    },
    "rename": {
        "command": "rename",
        "old_path": "/memories/b.md",
        "new_path": "/memories/c.md",
    },
    "delete": {"command": "delete", "path": "/memories/c.md"},
}


def program(name):
    loader = SourceFileLoader(name, str(HERE / name))
    module = module_from_spec(spec_from_loader(name, loader))
    with mock.patch("sys.dont_write_bytecode", True):
        loader.exec_module(module)
    return module


def a_run():
    subjects = {
        "floor": [1000, 2000],
        "core": [2000, 5000],
        "Python SDK": [40000, 40000],
    }
    commands = dict.fromkeys(program("report").FEW, subjects)
    rates = {"1": [100.0], "16": [1600.0]}
    return {
        "on": "2026-01-01",
        "effort": 2,
        "machine": {"processors": "2 × fast", "system": "Linux 6.1", "Python": "3.11"},
        "floor": {"tmpfs": commands, "disk": commands},
        "stores": {"view 4 KiB": {"in this process": [999, 999]}},
        "callers": {
            "view": {"SQLite": rates},
            "str_replace": {"SQLite": rates},
            "one file": {"SQLite": rates},
        },
        "whole": {"import": {"SQLite": [2_000_000_000]}},
        "sizes": {"view 4 KiB": {"directory, 1,000 files": [1000, 1200]}},
        "memory": {"view 4 KiB": {"core": [8], "Python SDK": [2048]}},
    }


class Floor(unittest.TestCase):
    def test_each_command_makes_exactly_the_listed_calls(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        listed = json.loads((HERE / "floor.json").read_text("utf-8"))
        del listed["about"]
        self.assertEqual(list(listed), list(COMMANDS))
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "memories/d").mkdir(parents=True)
            for file in ("a.md", "d/f"):
                (Path(directory) / "memories" / file).write_text("x\n", "utf-8")
            requests = [
                json.dumps({"callers": [[command]], "first": 1})
                for command in COMMANDS.values()
            ]
            trace = Path(directory) / "trace"
            subprocess.run(
                ["strace", "-o", trace, PROGRAM, "floor", directory],
                input="\n".join(requests) + "\n",
                text=True,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            # The calls of a command end with the answer, which is written to the output.
            calls, made = [], []
            for name, first in re.findall(
                r"^(\w+)\((\d*)", trace.read_text("utf-8"), re.MULTILINE
            ):
                if (name, first) == ("read", "0"):
                    calls = []
                elif (name, first) == ("write", "1"):
                    made.append(calls)
                    calls = []
                elif name not in NOT_OURS:
                    calls.append(name)
        expected = [[name for name, _ in calls] for calls in listed.values()]
        for name, ours, theirs in zip(COMMANDS, made, expected, strict=True):
            self.assertEqual(ours, theirs, name)
        self.assertTrue(all(reason for calls in listed.values() for _, reason in calls))


class Report(unittest.TestCase):
    def reported(self, *arguments):
        report = program("report")
        with mock.patch("sys.argv", ["report", *map(str, arguments)]):
            report.main(self.root, self.root / "results.json")

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        (self.root / "docs/reference").mkdir(parents=True)
        (self.root / "docs/pictures").mkdir()
        report = program("report")
        names = ["machine", "tmpfs", "disk", "stores", "memory"]
        names += ["callers, view", "callers, str_replace", "whole"]
        marks = [report.MARK.format(name) for name in names]
        page = "".join(f"{mark}\nold\n{mark}\n\nText.\n" for mark in marks)
        self.page = self.root / "docs/reference/performance.md"
        self.page.write_text(page, "utf-8")
        mark = report.MARK.format("readme")
        self.readme = self.root / "README.md"
        self.readme.write_text(f"Before.\n{mark}\n{mark}\nAfter.\n", "utf-8")
        run = self.root / "run.json"
        run.write_text(json.dumps(a_run()), "utf-8")
        self.reported("--take", run)

    def test_tables_have_medians_and_ratios_of_rounds(self):
        readme = self.readme.read_text("utf-8")
        self.assertIn(
            "| one call | floor, time | core | Python SDK |\n|---|---|---|---|\n",
            readme,
        )
        # 2000 / 1000 and 5000 / 2000: the ratios of each round, and not those of the medians.
        self.assertIn("| view 4 KiB | 1.5 µs | 2.2 | 30 |", readme)
        self.assertTrue(readme.startswith("Before.\n") and readme.endswith("After.\n"))
        page = self.page.read_text("utf-8")
        self.assertNotIn("old", page)
        for line in (
            "Medians of 2 rounds on 2026-01-01: 2 × fast, Linux 6.1, Python 3.11.",
            "| in this process | 999 ns |",
            "| store | 1 caller | 16 callers |",
            "| SQLite | 100 | 1,600 |",
            "| view 4 KiB | 8.0 KiB | 2.0 MiB |",
            "| import | 2.0 s |",
        ):
            self.assertIn(line, page)

    def test_a_second_report_changes_nothing(self):
        before = self.page.read_text("utf-8"), self.readme.read_text("utf-8")
        self.reported()
        after = self.page.read_text("utf-8"), self.readme.read_text("utf-8")
        self.assertEqual(before, after)

    def test_pictures_are_whole(self):
        pictures = sorted(self.root.glob("docs/pictures/*.svg"))
        self.assertEqual(len(pictures), 4)
        for picture in pictures:
            root = ElementTree.fromstring(picture.read_text("utf-8"))
            space = "{http://www.w3.org/2000/svg}"
            self.assertTrue(root.findtext(f"{space}title"))
            for bar in root.iter(f"{space}rect"):
                right = float(bar.get("x", "0")) + float(bar.get("width"))
                self.assertLessEqual(right, 680)


class Instructions(unittest.TestCase):
    def test_a_rise_of_more_than_three_percent_is_reported(self):
        compare = program("instructions").compare
        known = {"directory": {"view": 10_000, "create": 10_000, "delete": 10_000}}
        counts = {"directory": {"view": 10_300, "create": 10_301, "delete": 9_000}}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            risen = compare(known, counts)
        self.assertEqual(risen, ["create on directory: 10,000 to 10,301"])
        self.assertEqual(printed.getvalue().count("fewer than before"), 1)


if __name__ == "__main__":
    unittest.main()
