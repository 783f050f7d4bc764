"""Converts the graph of MCP's memory server into Markdown files for `memdir import`, and back.

    python mcp_memory.py to-files memory.jsonl DIRECTORY
    python mcp_memory.py to-graph DIRECTORY memory.jsonl

An entity becomes the file `TYPE/NAME.md`: its name as the title, its type, a list of its
observations, and under "Relations" the relations that start at it. On the way back, every other
line of a file is an observation, too. Neither direction replaces anything that exists.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

RELATIONS = "## Relations"


def to_files(graph: Path, directory: Path) -> None:
    entities: dict[str, dict[str, Any]] = {}
    relations: list[dict[str, Any]] = []
    for number, line in enumerate(graph.read_bytes().decode().split("\n"), start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError as error:
            sys.exit(f"{graph}, line {number}: {error}")
        if item["type"] == "entity":
            entities[item["name"]] = item
        elif item["type"] == "relation":
            relations.append(item)
    for relation in relations:  # the server does not check that an entity exists
        name = relation["from"]
        entities.setdefault(name, {"name": name, "entityType": "unknown", "observations": []})

    directory.mkdir(parents=True)
    taken: set[str] = set()
    for entity in entities.values():
        lines = [f"# {one_line(entity['name'])}", "", f"Type: {one_line(entity['entityType'])}"]
        if entity["observations"]:
            lines += ["", *(bullet(text) for text in entity["observations"])]
        leaving = [relation for relation in relations if relation["from"] == entity["name"]]
        if leaving:
            lines += ["", RELATIONS]
            lines += [bullet(f"{one['relationType']}: {one['to']}") for one in leaving]
        file = directory / file_name(entity["entityType"]) / f"{file_name(entity['name'])}.md"
        file = free(file, taken)
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
    print(f"{len(entities)} entities, {len(relations)} relations")


def to_graph(directory: Path, graph: Path) -> None:
    entities: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    for file in sorted(directory.rglob("*.md")):
        name, kind = file.stem, file.parent.name
        observations: list[str] = []
        leaving: list[str] = []
        items = observations
        for number, line in enumerate(file.read_bytes().decode().split("\n")):
            if number == 0 and line.startswith("# "):
                name = line[2:]
            elif line.startswith("Type: ") and not observations:
                kind = line[6:]
            elif line == RELATIONS:
                items = leaving
            elif line.startswith("  ") and items:
                items[-1] += "\n" + line[2:]
            elif line.strip():
                items.append(line.removeprefix("- "))
        entities.append(
            {"type": "entity", "name": name, "entityType": kind, "observations": observations}
        )
        for item in leaving:
            relation, _, to = item.partition(": ")
            relations.append({"type": "relation", "from": name, "to": to, "relationType": relation})
    with graph.open("x", encoding="utf-8", newline="\n") as out:
        lines = (json.dumps(item, ensure_ascii=False) for item in [*entities, *relations])
        out.write("\n".join(lines))
    print(f"{len(entities)} entities, {len(relations)} relations")


def bullet(text: str) -> str:
    return "- " + text.replace("\n", "\n  ")


def one_line(text: str) -> str:
    return " ".join(text.split("\n"))


def file_name(text: str) -> str:
    """A name that every file system accepts, and that a view of the memory shows."""
    name = "".join("-" if c in '/\\%:*?"<>|' or not c.isprintable() else c for c in text)
    return name.encode()[:150].decode(errors="ignore").strip(" .-") or "unnamed"


def free(file: Path, taken: set[str]) -> Path:
    """The file, or one with a number, if a file system might see two names as the same."""
    stem, number = file.stem, 1
    while (key := unicodedata.normalize("NFC", str(file)).casefold()) in taken:
        number += 1
        file = file.with_name(f"{stem} {number}.md")
    taken.add(key)
    return file


match sys.argv[1:]:
    case ["to-files", graph, directory]:
        to_files(Path(graph), Path(directory))
    case ["to-graph", directory, graph]:
        to_graph(Path(directory), Path(graph))
    case _:
        sys.exit(__doc__)
