"""A page of the site."""

import re
from dataclasses import dataclass
from pathlib import Path

from builder import links, lists, tabs

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"


@dataclass
class Page:
    """A page: `place` is its path in the site, `source` its path in the repository."""

    place: str
    source: str
    text: str

    @property
    def title(self):
        return plain(re.search(r"^# (.*)$", self.text, re.MULTILINE)[1])

    @property
    def description(self):
        """The description of the page: the first sentence below the title."""
        body = re.sub(r"<!--.*?-->", "", self.text.partition("\n")[2], flags=re.DOTALL)
        paragraph = " ".join(body.strip().partition("\n\n")[0].split())
        return plain(re.match(r".*?[.?!](?= (?:[A-Z`“([]|memdir )|$)|.*", paragraph)[0].rstrip(":"))

    @property
    def address(self):
        """Below the address of the site."""
        return links.address_of(self.place)

    def prepared(self, site):
        """The Markdown from which the site is made."""
        text = links.rewritten(self.text, self.source, site.places, site.repository)
        text = tabs.joined(lists.indented(text))
        quoted = self.description.replace("\\", "\\\\").replace('"', '\\"')
        return f'---\ndescription: "{quoted}"\n---\n{text}'


def plain(markdown):
    """Text without links and marks."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"\*\*|`", "", text).strip()
