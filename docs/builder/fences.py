"""Finds the blocks of code of a page, which the other modules do not change."""

import re

FENCED = re.compile(r"^```.*?^```$\n?", re.MULTILINE | re.DOTALL)


def outside_code(text, change):
    """`text` with what `change` makes of each part that is no block of code."""
    made, at = [], 0
    for block in FENCED.finditer(text):
        made += [change(text[at : block.start()]), block[0]]
        at = block.end()
    return "".join([*made, change(text[at:])])
