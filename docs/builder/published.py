"""Finishes the built site: it makes no request to another host, and has few bytes."""

import hashlib
import json
import re
import shutil
from pathlib import Path

from builder import styles

# The theme loads some programs from other hosts, for features that no page of ours uses.
FOREIGN = re.compile(r"https://(?:unpkg\.com|cdn\.jsdelivr\.net|api\.github\.com)[^\"'`]*")
# Elements in which spaces count.
VERBATIM = re.compile(r"(<(pre|script|style|textarea)\b.*?</\2>)", re.DOTALL)
# Marks of code whose colour is that of text, or nearly so.
COLOURLESS = re.compile(r'<span class="(?:w|p|n|o|nx)">([^<]*)</span>')
INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# The attributes that site.css sets for all icons.
ICON = re.compile(r' xmlns="http://www.w3.org/2000/svg" fill="none"[^>]* class="lucide [^"]*"')
# Spaces beside these tags are invisible.
BLOCK = re.compile(
    r"\s*(</?(?:html|head|meta|link|title|body|header|nav|main|footer|article|div|ul|ol|li|p|h\d|table|thead|tbody|tr|th|td)\b[^>]*>)\s*"
)
CODE = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
QUOTED = re.compile(r'(?<=\s)([\w-]+)="([\w./#:-]+)"(?=[^<>]*(?<!/)>)')


def finish(site):
    for script in site.rglob("*.js"):
        script.write_text(FOREIGN.sub("data:,", script.read_text("utf-8")), "utf-8")
    # The host shows the 404 page at any address, so it keeps its scripts.
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8") if page.name == "404.html" else shared(page, site)
        page.write_text(smaller(text), "utf-8")
    # The theme's other variant.
    for style in site.glob("assets/stylesheets/classic/*"):
        style.unlink()
    (site / "assets/stylesheets/classic").rmdir()
    prune_styles(site)
    (worker,) = site.glob("assets/javascripts/workers/search.*.js")
    shutil.copyfile(Path(__file__).parent / "search.js", worker)
    found = site / "search.json"
    found.write_text(
        json.dumps(
            searched(json.loads(found.read_text("utf-8"))),
            ensure_ascii=False,
            separators=(",", ":"),
        ),
        "utf-8",
    )


def prune_styles(site):
    used = [*site.rglob("*.html"), *site.glob("assets/javascripts/*.js")]
    words = {word for file in used for word in re.findall(r"[\w-]+", file.read_text("utf-8"))}
    for sheet in site.glob("assets/stylesheets/modern/*.css"):
        sheet.write_text(styles.pruned(sheet.read_text("utf-8"), words), "utf-8")


def shared(page, site):
    """The page, with scripts that many pages have in files of their own. They still run where they stand."""
    up = "../" * len(page.relative_to(site).parent.parts)

    def file(script):
        name = f"assets/javascripts/{hashlib.sha256(script[1].encode()).hexdigest()[:8]}.js"
        (site / name).write_text(script[1], "utf-8")
        return f'<script src="{up}{name}"></script>'

    return INLINE.sub(file, page.read_text("utf-8"))


def smaller(page):
    """The same page with fewer bytes."""
    parts = VERBATIM.split(page)
    # Of three parts that `split` makes, the second is verbatim, and the third the name of its tag.
    plain = [without_spaces(part) for part in parts[::3]]
    verbatim = [COLOURLESS.sub(r"\1", part) for part in parts[1::3]]
    return "".join(part for pair in zip(plain, [*verbatim, ""], strict=True) for part in pair)


def without_spaces(html):
    html = BLOCK.sub(r"\1", re.sub(r"\s+", " ", html))
    return QUOTED.sub(r"\1=\2", ICON.sub(' class="lucide"', html))


def searched(index):
    """The index of the search: the text of pages that help to use memdir, with short blocks of code."""
    # The last ones are tables of system calls.
    left_out = re.compile(r"contributing/|.*#where-to-go-on$|reference/performance/#(each-command|reasons)$")
    index["items"] = [item for item in index["items"] if not left_out.match(item["location"])]
    for item in index["items"]:
        text = CODE.sub(lambda block: f" {block[1]} " if block[1].count("\n") < 4 else " ", item["text"])
        text = re.sub(r"</?(?:p|li|ul|ol)\b[^>]*>", " ", re.sub(r"</?(?:code|strong|em|a)\b[^>]*>", "", text))
        item["text"] = " ".join(text.split())
    return index
