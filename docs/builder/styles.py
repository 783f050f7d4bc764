"""The theme's rules for what no page has, which are half of them, are left out of its style sheets."""

import re

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|url\((?!["\'])[^)]*\)|[{};]|[^{};"\']+', re.DOTALL)
CLASS = re.compile(r"\.((?:[\w-]|\\.)+)")
# Of `:not(.a)` nothing need have the class `a`.
NOT = re.compile(r":not\([^)]*\)")
COMMA = re.compile(r",(?![^(\[]*[)\]])")
GROUPS = ("@media", "@supports", "@container", "@layer")


def pruned(sheet, words):
    """`sheet` without the selectors that ask for a class that is none of `words`."""
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
    """What stands before the braces of each rule and within them; a statement has no braces."""
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
