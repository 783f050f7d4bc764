"""The figures on the pages about operations are those of the code and of the table of options."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import TYPE_CHECKING

import pytest

import cases
import memdir

if TYPE_CHECKING:
    from pathlib import Path

OPERATIONS = cases.PROJECT / "docs" / "operations"

# The cells of a row of defaults.md, and the line of the code that has the figure.
FIGURES = [
    (
        ("PostgreSQL", "connecting", "10 seconds"),
        "stores/postgres/src/address.rs",
        "CONNECT_TIMEOUT: Duration = Duration::from_secs(10)",
    ),
    (
        ("PostgreSQL", "a free connection", "60 seconds"),
        "stores/postgres/src/server.rs",
        "PATIENCE: Duration = Duration::from_secs(60)",
    ),
    (
        ("PostgreSQL", "one statement", "60 seconds"),
        "stores/postgres/src/address.rs",
        "STATEMENT_TIMEOUT: Duration = Duration::from_secs(60)",
    ),
    (
        ("PostgreSQL", "the server's answer", "10 seconds"),
        "stores/postgres/src/session.rs",
        "WAY: Duration = Duration::from_secs(10)",
    ),
    (
        ("PostgreSQL", "finding out", "30 seconds"),
        "stores/postgres/src/lost_commit.rs",
        "SEARCH: Duration = Duration::from_secs(30)",
    ),
    (
        ("PostgreSQL", "a change that broken", "4 attempts"),
        "stores/postgres/src/lib.rs",
        "ATTEMPTS: usize = 4",
    ),
    (
        ("object storage", "a request that failed", "6 attempts, none after 20 seconds"),
        "stores/object-storage/src/error.rs",
        "TRIES: u32 = 6",
    ),
    (
        ("object storage", "a request that failed", "6 attempts, none after 20 seconds"),
        "stores/object-storage/src/error.rs",
        "GIVE_UP: Duration = Duration::from_secs(20)",
    ),
    (
        ("object storage", "an edit that conflicts", "120 seconds"),
        "stores/object-storage/src/error.rs",
        "CONTENTION: Duration = Duration::from_secs(120)",
    ),
    (
        ("object storage", "creating a file where", "15 seconds"),
        "stores/object-storage/src/files.rs",
        "ABANDONED: Duration = Duration::from_secs(15)",
    ),
    (
        ("encrypted", "cleaning up a rename", "24 hours"),
        "stores/encrypted/src/renames.rs",
        "ABANDONED: Duration = Duration::from_secs(24 * 60 * 60)",
    ),
    (
        ("your own store", "a step of a cancelled call", "5 seconds"),
        "bindings-shared/src/own_store.rs",
        "PATIENCE: Duration = Duration::from_secs(5)",
    ),
    (
        ("a path", "4,096 bytes, 64 levels, 255 bytes"),
        "core/store/src/path.rs",
        "MAX_PATH_BYTES: usize = 4096",
    ),
    (
        ("a path", "4,096 bytes, 64 levels, 255 bytes"),
        "core/store/src/path.rs",
        "MAX_LEVELS: usize = 64",
    ),
    (
        ("a path", "4,096 bytes, 64 levels, 255 bytes"),
        "core/store/src/path.rs",
        "MAX_NAME_BYTES: usize = 255",
    ),
    (
        ("a namespace", "255 bytes in PostgreSQL"),
        "stores/postgres/src/address.rs",
        "MAX_NAMESPACE_BYTES: usize = 255",
    ),
    (
        ("a namespace", "together 512 bytes"),
        "stores/object-storage/src/address.rs",
        "MAX_PREFIX_BYTES: usize = 512",
    ),
    (
        ("a file in PostgreSQL", "1,000,000,000 bytes"),
        "stores/postgres/src/tree.rs",
        "MAX_CONTENT_BYTES: usize = 1_000_000_000",
    ),
    (("lines of a file", "999,999"), "core/src/text/mod.rs", "MAX_LINES: u64 = 999_999"),
    (("sides of an image", "8,000"), "core/src/image.rs", "MAX_IMAGE_SIDE: u32 = 8000"),
    (
        ("a pattern of `grep`", "4,096 bytes"),
        "core/src/files/grep.rs",
        "MAX_PATTERN_BYTES: usize = 4096",
    ),
    (
        ("a pattern of `grep`", "4,096 bytes"),
        "sensitive-text/src/custom_rules.rs",
        "MAX_PATTERN_BYTES: usize = 4096",
    ),
    (("a line that `grep`", "16 MiB"), "core/src/files/grep.rs", "else { 16 * 1024 * 1024 }"),
    (
        ("versions of an existing file", "10"),
        "history/src/retention.rs",
        "ALWAYS_KEPT: usize = 10",
    ),
    (("how often a process", "every 256"), "history/src/recorder.rs", "EVERY: u64 = 256"),
    (("a file of a directory's log", "4 MiB"), "history/src/new_segments.rs", "u64 = 4 << 20"),
    (("contents that a process", "64 MiB"), "history/src/reading.rs", "KEPT: usize = 64 << 20"),
    (
        ("changes that PostgreSQL", "64"),
        "stores/postgres/src/statements.rs",
        "REMEMBERED: usize = 64",
    ),
    (
        ("changes that PostgreSQL", "64"),
        "stores/object-storage/src/stamp.rs",
        "REMEMBERED: usize = 64",
    ),
    (
        ("`watch`", "0.5 seconds on this machine, 1 second"),
        "core/src/files/watch.rs",
        "NEARBY: Duration = Duration::from_millis(500)",
    ),
    (
        ("`memdir mcp`", "1 second; object storage 10 seconds"),
        "program/src/mcp/watch.rs",
        "DEAR: Duration = Duration::from_secs(10)",
    ),
    (("a slow poll", "10 times"), "core/src/files/watch.rs", "REST: u32 = 10"),
    (
        ("a measurement", "1 second"),
        "core/src/policy/limits/usage.rs",
        "TRUSTED_FOR: Duration = Duration::from_secs(1)",
    ),
]


def rows(page: str) -> list[list[str]]:
    lines = (OPERATIONS / page).read_text("utf-8").splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]


@pytest.mark.parametrize(("cells", "file", "code"), FIGURES, ids=lambda value: str(value)[:40])
def test_a_figure_of_the_page_about_defaults_is_that_of_the_code(
    cells: tuple[str, ...], file: str, code: str
) -> None:
    assert code in (cases.PROJECT / file).read_text("utf-8"), f"correct defaults.md, too: {cells}"
    begun = [row for row in rows("defaults.md") if all(map(str.startswith, row, cells[:-1]))]
    assert [row for row in begun if cells[-1] in " ".join(row)], cells


def test_the_defaults_of_options_are_those_of_the_table() -> None:
    sections = json.loads((cases.PROJECT / "core/options.json").read_text("utf-8"))["sections"]
    options = {option["name"]: option for section in sections for option in section["options"]}
    shown = {
        name: row[1]
        for row in rows("defaults.md")
        for name in re.findall(r"`(\w+)`", row[0])
        if name in options
    }
    assert len(shown) >= 9
    for name, text in shown.items():
        option = options[name]
        default = option.get("defaults", {}).get("python", option["default"])
        number = re.match(r"([\d,]+) (\w+)", text)
        shown_default = None
        if number:
            factor = 24 * 60 * 60 if number[2] == "days" else 1
            shown_default = int(number[1].replace(",", "")) * factor
        assert shown_default == default, name


def test_the_page_about_upgrades_names_the_present_formats(tmp_path: Path) -> None:
    page = (OPERATIONS / "upgrade.md").read_text("utf-8")
    with memdir.Memory(f"sqlite:{tmp_path}/a.db") as memory:
        memory.create("/memories/a.md", "a")
    with sqlite3.connect(tmp_path / "a.db") as db:
        [version] = db.execute("PRAGMA user_version").fetchone()
    assert f"`user_version` {version}," in page
    tables = (cases.PROJECT / "docs/stores/postgres.sql").read_text("utf-8")
    [version] = re.findall(r"SET version = (\d+)", tables)
    assert f"| {version} in the table `schema_version` |" in page
    for file, code in [
        ("stores/encrypted/src/record.rs", "const VERSION: u64 = 1;"),
        ("program/src/cli/archive/manifest.rs", "const VERSION: u32 = 1;"),
        ("history/src/log_segment.rs", 'b"MDHLOG2\\n"'),
        ("history/src/packed.rs", '*b"MDH1"'),
    ]:
        assert code in (cases.PROJECT / file).read_text("utf-8"), "correct upgrade.md, too"
