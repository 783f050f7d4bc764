"""Lists the pages of the site: all below docs/, some from elsewhere in the repository, and one that is generated."""

import re
from dataclasses import dataclass, field

from builder import links, names
from builder.page import DOCS, ROOT, Page

CONFIGURATION = DOCS / "mkdocs.yml"

# Pages that have to stand where the code host or a package registry looks for them, and their places in the site.
ELSEWHERE = {
    "CONTRIBUTING.md": "contributing/index.md",
    "ARCHITECTURE.md": "contributing/architecture.md",
    "SECURITY.md": "contributing/security.md",
}
# README is the landing page of the code host, as index.md is that of the site.
README = ("README.md", "index.md")
# The records are read beside the code: the site has their index, which leads to the code host.
RECORD = re.compile(r"contributing/decisions/\d")


@dataclass
class Site:
    """All pages, those of the navigation first, in its order. `sections` has the label above each page there."""

    address: str
    repository: str
    pages: list
    sections: dict
    problems: list = field(default_factory=list)

    @property
    def places(self):
        """Where in the site the pages of the repository stand."""
        return {
            **{page.source: page.place for page in self.pages},
            README[0]: README[1],
        }


def other_files():
    """The files of the site that are not pages."""
    return [*(DOCS / "assets").iterdir(), *(file for file in DOCS.rglob("*") if file.name.endswith(links.SHOWN))]


def read():
    configuration = CONFIGURATION.read_text("utf-8")
    address = re.search(r"^site_url: (\S+)$", configuration, re.MULTILINE)[1]
    repository = re.search(r'^repository = "(.*)"$', (ROOT / "Cargo.toml").read_text("utf-8"), re.MULTILINE)[1]
    sections = navigation(configuration)

    found = {file.relative_to(DOCS).as_posix(): file for file in DOCS.rglob("*.md")}
    found = {place: file for place, file in found.items() if not RECORD.match(place)}
    found |= {place: ROOT / source for source, place in ELSEWHERE.items()}
    pages = [Page(place, file.relative_to(ROOT).as_posix(), file.read_text("utf-8")) for place, file in found.items()]
    pages.append(names.page())
    order = list(sections)
    pages.sort(
        key=lambda page: (
            order.index(page.place) if page.place in sections else len(order),
            page.place,
        )
    )
    return Site(address, repository, pages, sections, problems(pages, sections))


def navigation(configuration):
    """The pages that mkdocs.yml lists, each with the section that it is in."""
    sections, section = {}, ""
    for line in re.search(r"^nav:\n((?:  .*\n)+)", configuration, re.MULTILINE)[1].splitlines():
        label, _, place = re.match(r" *- (?:([^:]+):)?( *)(.*)$", line).groups()
        # A list within a section belongs to the section.
        if not line.startswith("      "):
            section = "" if place else label
        if place:
            sections[place] = section
    return sections


def problems(pages, sections):
    places = {page.place for page in pages}
    wrong = [f"docs/mkdocs.yml: there is no {place}" for place in sections if place not in places]
    for page in pages:
        if page.place not in sections:
            wrong.append(f"{page.source}: not in the navigation of docs/mkdocs.yml")
        if page.description.endswith("?") or len(page.description) < 10:
            wrong.append(
                f"{page.source}: the first sentence is its description, and says what the page is: {page.description!r}"
            )
    return wrong
