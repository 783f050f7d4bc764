"""Removes the theme's rules that no page can use, which are a third of its style sheets."""

import re

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|url\((?!["\'])[^)]*\)|[{};]|[^{};"\']+', re.DOTALL)
CLASS = re.compile(r"\.((?:[\w-]|\\.)+)")
# `:not(.a)` holds for elements without the class `a`.
NOT = re.compile(r":not\([^)]*\)")
COMMA = re.compile(r",(?![^(\[]*[)\]])")
GROUPS = ("@media", "@supports", "@container", "@layer")


def pruned(sheet, words):
    """`sheet` without the selectors that need a class outside of `words`."""
    made = []
    for head, body in rules(sheet):
        if body is None:
            made.append(f"{head};")
        elif head.startswith(GROUPS):
            inner = pruned(body, words)
            made.append(f"{head}{{{inner}}}" if inner else "")
        elif head.startswith("@"):
            made.append(f"{head}{{{body}}}")
        else:
            kept = [one for one in COMMA.split(head) if words.issuperset(CLASS.findall(NOT.sub("", one)))]
            made.append(f"{','.join(kept)}{{{body}}}" if kept else "")
    return "".join(made)


def rules(sheet):
    """The head and the body of each rule. A statement such as `@charset` has no body."""
    text, head, depth = "", "", 0
    for token in TOKEN.findall(sheet):
        if token == "{":
            depth += 1
            if depth == 1:
                head, text = text.strip(), ""
                continue
        elif token == "}":
            depth -= 1
            if depth == 0:
                yield head, text
                text = ""
                continue
        elif token == ";" and depth == 0:
            yield text.strip(), None
            text = ""
            continue
        text += token
