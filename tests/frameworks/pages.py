"""The examples of docs/integrations/frameworks-python.md, verbatim."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "integrations" / "frameworks-python.md"
EXAMPLE = re.compile(r"<!-- example: ([^>]+) -->\n```python\n(.*?)```", re.DOTALL)


def example(framework: str) -> str:
    """The code of the whole program."""
    [code] = [code for name, code in EXAMPLE.findall(PAGE.read_text("utf-8")) if name == framework]
    return str(code)


def run(framework: str) -> None:
    """Runs the example as a reader does."""
    exec(compile(example(framework), f"{PAGE.name}: {framework}", "exec"), {"__name__": "__main__"})


def prepare(framework: str, until: str) -> dict[str, Any]:
    """The definitions of the example without its actions: up to the statement that binds the name
    `until`."""
    tree = ast.parse(example(framework))
    bound = [at for at, node in enumerate(tree.body) if _binds(node, until)]
    tree.body = tree.body[: bound[0] + 1]
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(tree, f"{PAGE.name}: {framework}", "exec"), names)
    return names


def of_users(framework: str, until: str) -> dict[str, Any]:
    """The page's code for a memory per user, after the imports of the framework's example."""
    names = prepare(framework, until)
    for name in ("users", f"{framework} users"):
        exec(compile(example(name), f"{PAGE.name}: {name}", "exec"), names)
    return names


def _binds(node: ast.stmt, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)
