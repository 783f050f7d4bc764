"""Converts the memory blocks of a Letta agent file into Markdown files for `memdir import`.

    python letta.py AGENT.af DIRECTORY

The block `human` becomes the file `human.md`, in the format of Letta's own MemFS: its description
in the front matter, then its value. The texts of the agent's folders go to `files/`. Both formats
of agent files are read. The script replaces nothing that exists.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main(source: Path, directory: Path) -> None:
    content = json.loads(source.read_text("utf-8"))
    agents: list[tuple[str, list[dict[str, Any]]]]
    if "core_memory" in content:  # the older format, with one agent
        agents = [(content["name"], content["core_memory"])]
    else:
        blocks = {block["id"]: block for block in content["blocks"]}
        agents = [
            (agent["name"], [blocks[number] for number in agent["block_ids"]])
            for agent in content["agents"]
        ]

    directory.mkdir(parents=True)
    read_only = []
    for name, its_blocks in agents:
        folder = safe(name) if len(agents) > 1 else Path()
        for block in its_blocks:
            file = folder / f"{safe(block['label'])}.md"
            write(directory / file, markdown(block))
            if block.get("read_only"):
                read_only.append(f"/memories/{file.as_posix()}")
    for file in content.get("files", []):
        if file.get("content"):
            name = file["file_name"]
            # A PDF, for example, is in the agent file as its text.
            ending = "" if (file.get("file_type") or "").startswith("text/") else ".md"
            write(directory / "files" / safe(name + ending), file["content"])
    if read_only:
        print("Letta's agent could not change these:", *read_only, sep="\n")


def markdown(block: dict[str, Any]) -> str:
    # A string of JSON is one of YAML.
    description = json.dumps(block.get("description") or block["label"], ensure_ascii=False)
    front = f"---\ndescription: {description}\n"
    if block.get("read_only"):
        front += "read_only: true\n"
    return f"{front}---\n{block['value'].rstrip()}\n"


def safe(name: str) -> Path:
    """The name as a relative path, without anything that leads elsewhere."""
    kept = "".join("-" if c in '\\%:*?"<>|' or not c.isprintable() else c for c in name)
    return Path(*[part.strip(" .") or "-" for part in kept.split("/")])


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("x", encoding="utf-8", newline="\n") as out:
        out.write(text)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(Path(sys.argv[1]), Path(sys.argv[2]))
