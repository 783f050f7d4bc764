"""Blocks of code that follow each other in different languages become tabs, of which one language is chosen for all.

Between them may be empty lines and comments. Comments are for tests, and do not come into the site. An example of
Python's prompt counts as a block, though it is indented and has no fence, as doctest wants it.
"""

import re

LABELS = {
    "python": "Python",
    "pycon": "Python",
    "ts": "TypeScript",
    "kotlin": "Kotlin",
    "java": "Java",
    "swift": "Swift",
    "go": "Go",
    "c": "C",
    "rust": "Rust",
    "sh": "Command line",
}
PROMPT = r"^    >>> [^\n]*\n(?:(?:    [^\n]*)?\n)*"
BLOCK = re.compile(
    rf"^```(?P<language>\w*)\n(?P<code>.*?)^```\n|(?P<prompt>{PROMPT})",
    re.MULTILINE | re.DOTALL,
)
COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)


def joined(text):
    """`text` without comments, and with tabs."""
    made, group, at = [], [], 0
    for block in BLOCK.finditer(text + "\n"):
        between = COMMENT.sub("", text[at : block.start()])
        language = block["language"] if block["prompt"] is None else "pycon"
        code = block["code"] if block["prompt"] is None else _dedented(block["prompt"])
        label = LABELS.get(language)
        if between.strip() or label is None or label in [LABELS.get(other) for other, _ in group]:
            made.append(_written(group))
            group = []
        made.append(between if between.strip() or not group else "\n")
        group.append((language, code))
        if label is None:
            made.append(_written(group))
            group = []
        at = block.end()
    return "".join([*made, _written(group), COMMENT.sub("", text[at:])])


def _dedented(prompt):
    return re.sub(r"^    ", "", prompt.rstrip("\n"), flags=re.MULTILINE) + "\n"


def _written(group):
    if len(group) < 2:
        return "".join(f"```{language}\n{code}```\n\n" for language, code in group)
    made = []
    for language, code in group:
        block = "".join(
            f"    {line}" if line.strip() else "\n" for line in f"```{language}\n{code}```\n".splitlines(True)
        )
        made.append(f'=== "{LABELS[language]}"\n\n{block}\n')
    return "\n" + "".join(made)
