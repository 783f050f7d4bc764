"""Makes a page for each older name and each former address. It redirects without a server."""

import html
import posixpath
import re

from builder.page import DOCS, ROOT, Page, plain

PLACE = "reference/older-names.md"
HEAD = """\
# Older names

This page lists the names that were replaced before the first release, each with the name that it has now.
[Operations by language](operations.md) has all names of today.
"""
REDIRECT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={to}">
<link rel="canonical" href="{to}">
<p>{title}: <a href="{to}">{to}</a></p>
</html>
"""


def renamed():
    """The renamed names in the changelog: pairs of Markdown."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    rows = []
    for table in re.findall(r"^\| old \| new \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.MULTILINE):
        rows += [re.fullmatch(r"\| (.*?) \| (.*?) \|", row).groups() for row in table.splitlines()]
    return rows


def page():
    """The page with a section for each older name."""
    sections = [f"\n## {plain(old)}\nIt is {new} now.\n" for old, new in renamed()]
    return Page(PLACE, "CHANGELOG.md#renamed", HEAD + "".join(sections))


def moved():
    """The former addresses of pages, and the present ones."""
    lines = (DOCS / "moved.txt").read_text("utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def write_redirects(to):
    for old, new in moved():
        _write(
            to / old / "index.html",
            f"{posixpath.relpath('/' + new, '/' + old)}/",
            "This page has moved",
        )
    for old, _ in renamed():
        heading = re.sub(r"[^\w\- ]", "", plain(old).lower()).replace(" ", "-")
        for name in re.findall(r"`([\w-]+)`", old):
            _write(
                to / "names" / name / "index.html",
                f"../../reference/older-names/#{heading}",
                f"{name} has another name now",
            )


def _write(file, to, title):
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        file.write_text(REDIRECT.format(title=html.escape(title), to=html.escape(to)), "utf-8")
