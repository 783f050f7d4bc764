"""Lists: on the code host an item is indented as deep as the text of the item above it, here by four spaces a level.

There a list also needs no empty line before it.
"""

import re

from builder.fences import outside_code

ITEM = re.compile(r"( *)([-*]|\d+\.)( +)(.*)")


def indented(text):
    return outside_code(text, _indented)


def _indented(text):
    made = []
    # The columns at which the text of each open item begins.
    columns = []
    after_empty, is_paragraph, is_code = True, False, False
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        item = ITEM.fullmatch(line)
        if not line.strip():
            made.append(line)
            after_empty = True
            continue
        # Code without fences, such as a session of Python, which may print lines that look like items.
        is_code = not columns and indent >= 4 and (after_empty or is_code)
        if is_code:
            made.append(line)
        elif item:
            if (is_paragraph or not columns) and not after_empty:
                made.append("")
            is_paragraph = False
            while columns and indent < columns[-1]:
                columns.pop()
            made.append(" " * 4 * len(columns) + f"{item[2]} {item[4]}")
            columns.append(indent + len(item[2]) + len(item[3]))
        else:
            is_paragraph = is_paragraph or after_empty
            depth = sum(column <= indent for column in columns)
            if after_empty or line.startswith("#"):
                columns = columns[:depth]
                rest = indent - (columns[-1] if columns else 0)
                made.append(" " * (4 * depth + rest) + line.lstrip(" "))
            else:
                made.append(" " * 4 * len(columns) + line.lstrip(" ") if columns else line)
        after_empty = False
    return "\n".join(made)
