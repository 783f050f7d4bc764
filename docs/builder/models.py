"""The editions for models: llms.txt, an index with a sentence a page, and llms-full.txt, all pages in one file."""

import re

from builder import links

SUMMARY = (
    "memdir executes the commands of Claude's memory tool, on the store that you choose, with the same answers in "
    "every language."
)
# Pages about work on memdir itself: the whole edition names them, without their text.
ABOUT_ITSELF = ("contributing/",)


def write(site, to):
    (to / "llms.txt").write_text(index(site), "utf-8")
    (to / "llms-full.txt").write_text(index(site) + "".join(whole(site, page) for page in site.pages), "utf-8")


def index(site):
    lines, section = [f"# memdir\n\n> {SUMMARY}\n\n"], ""
    for page in site.pages:
        if site.sections[page.place] != section:
            section = site.sections[page.place]
            lines.append(f"\n## {section or 'More'}\n")
        lines.append(f"- [{page.title}]({site.address}{page.address}): {page.description}\n")
    return "".join(lines)


def whole(site, page):
    if page.place.startswith(ABOUT_ITSELF):
        return ""
    text = links.rewritten(page.text, page.source, site.places, site.repository, site.address)
    text = re.sub(r"^<!--.*?-->\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return f"\n---\nPage: {site.address}{page.address}\n\n{text.strip()}\n"
