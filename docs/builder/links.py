"""Links between pages: those that lead out of docs/ lead to the site's page, or to the file on the code host."""

import posixpath
import re

from builder.fences import outside_code

# The files besides Markdown that pages show or offer.
SHOWN = (".png", ".sql", ".svg")
LINK = re.compile(r"(\]\()([^)#\s]*)(#[^)\s]*)?(\))")


def rewritten(text, source, places, repository):
    """`text`, of the page at `source` in the repository, with links that hold in the site."""
    here = places[source]

    def link(found):
        target, heading = found[2], found[3] or ""
        if not target or re.match(r"\w+:", target):
            return found[0]
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if file in places:
            place = posixpath.relpath(places[file], posixpath.dirname(here) or ".")
        elif file.startswith("docs/") and file.endswith(SHOWN):
            place = posixpath.relpath(file.removeprefix("docs/"), posixpath.dirname(here) or ".")
        else:
            place = f"{repository}/{'tree' if target.endswith('/') else 'blob'}/main/{file}"
        return found[1] + place + heading + found[4]

    return outside_code(text, lambda part: LINK.sub(link, part))
