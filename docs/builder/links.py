"""Links between pages: those that lead out of docs/ lead to the site's page, or to the file on the code host."""

import posixpath
import re

from builder.fences import outside_code

# The files besides Markdown that pages show or offer.
SHOWN = (".png", ".sql", ".svg")
LINK = re.compile(r"(\]\()([^)#\s]*)(#[^)\s]*)?(\))")


def address_of(place):
    """The address of a page or another file, below that of the site."""
    if not place.endswith(".md"):
        return place
    name = place.removesuffix(".md")
    return "" if name == "index" else name.removesuffix("/index") + "/"


def rewritten(text, source, places, repository, address=None):
    """`text`, of the page at `source` in the repository, with links that hold in the site.

    With the `address` of the site, its links are whole, so they hold anywhere.
    """
    here = places[source]

    def to(place):
        if address is None:
            return posixpath.relpath(place, posixpath.dirname(here) or ".")
        return address + address_of(place)

    def link(found):
        target, heading = found[2], found[3] or ""
        if not target or re.match(r"\w+:", target):
            return found[0]
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if file in places:
            place = to(places[file])
        elif file.startswith("docs/") and file.endswith(SHOWN):
            place = to(file.removeprefix("docs/"))
        else:
            place = f"{repository}/{'tree' if target.endswith('/') else 'blob'}/main/{file}"
        return found[1] + place + heading + found[4]

    return outside_code(text, lambda part: LINK.sub(link, part))
