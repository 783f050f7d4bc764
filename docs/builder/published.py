"""The site as it is published: it asks no other host for anything, and has few bytes."""

import json
import re

# The theme loads some programs from other hosts when a page has what needs them. None of ours has.
FOREIGN = re.compile(
    r"https://(?:unpkg\.com|cdn\.jsdelivr\.net|api\.github\.com)[^\"'`]*"
)
# Where spaces count, and what looks like a tag may be none.
VERBATIM = re.compile(r"(<(pre|script|style|textarea)\b.*?</\2>)", re.DOTALL)
# Marks of code whose colour is that of text, or nearly so.
COLOURLESS = re.compile(r'<span class="(?:w|p|n|o|nx)">([^<]*)</span>')
ICON = re.compile(r' xmlns="http://www.w3.org/2000/svg"| class="lucide [^"]*"')
QUOTED = re.compile(r'(?<=\s)([\w-]+)="([\w./#:-]+)"(?=[^<>]*(?<!/)>)')


def finish(site):
    for script in site.rglob("*.js"):
        script.write_text(FOREIGN.sub("data:,", script.read_text("utf-8")), "utf-8")
    for page in site.rglob("*.html"):
        page.write_text(smaller(page.read_text("utf-8")), "utf-8")
    # Looks that mkdocs.yml does not choose.
    for style in site.glob("assets/stylesheets/classic/*"):
        style.unlink()
    (site / "assets/stylesheets/classic").rmdir()
    found = site / "search.json"
    found.write_text(
        json.dumps(
            searched(json.loads(found.read_text("utf-8"))),
            ensure_ascii=False,
            separators=(",", ":"),
        ),
        "utf-8",
    )


def smaller(page):
    """The same page with fewer bytes."""
    parts = VERBATIM.split(page)
    # Of three parts that `split` makes, the second is verbatim, and the third the name of its tag.
    plain = [
        QUOTED.sub(r"\1=\2", ICON.sub("", re.sub(r"\s+", " ", part)))
        for part in parts[::3]
    ]
    verbatim = [COLOURLESS.sub(r"\1", part) for part in parts[1::3]]
    return "".join(part for pair in zip(plain, [*verbatim, ""]) for part in pair)


def searched(index):
    """What the search looks through: text without tags, and only pages that help to use memdir."""
    index["items"] = [
        item
        for item in index["items"]
        if not item["location"].startswith(("contributing/", "changelog/"))
    ]
    for item in index["items"]:
        item["text"] = " ".join(
            re.sub(
                r"</?(?:p|li|ul|ol|pre)\b[^>]*>",
                " ",
                re.sub(r"</?(?:code|strong|em|a)\b[^>]*>", "", item["text"]),
            ).split()
        )
    return index
