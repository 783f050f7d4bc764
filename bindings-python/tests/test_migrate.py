"""The pages of docs/migrate/: their commands and code run on samples of what a reader has."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

import cases
import memdir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Sessions = Callable[[str], str]

PAGES = cases.PROJECT / "docs" / "migrate"
SCRIPTS = cases.PROJECT / "examples" / "migrate"
CHANGE = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")

# A reader's files, below the home directory. The formats are those of Letta Code, of
# Letta's server (0.16), of Claude Code, and of basic-memory.
MEMFS = {
    "exported/.git/HEAD": "ref: refs/heads/main\n",
    "exported/system/human.md": "---\ndescription: The person I work for\n---\nName: Ann\n",
    "exported/reference/shop.md": "---\ndescription: The shop\n---\nIt opens in May.\n",
}
CLAUDE_CODE = {
    ".claude/projects/-home-ann-shop/memory/MEMORY.md": "# Shop\n- debugging.md: errors of CORS\n",
    ".claude/projects/-home-ann-shop/memory/debugging.md": "CORS errors come from the proxy.\n",
    "shop/CLAUDE.md": "# The shop\n@docs/style.md\n",
}
BASIC_MEMORY = {
    "basic-memory/.obsidian/app.json": "{}\n",
    "basic-memory/kitchen/Pour Over.md": (
        "---\ntitle: Pour Over\ntype: note\npermalink: main/kitchen/pour-over\n---\n\n"
        "# Pour Over\n\n"
        "## Observations\n- [method] Gives more clarity than a press #brewing (tried twice)\n\n"
        "## Relations\n- requires [[Burr Grinder]]\n"
    ),
    "basic-memory/kitchen/Burr Grinder.md": "---\ntitle: Burr Grinder\ntype: note\n---\n",
}
BLOCKS: list[dict[str, Any]] = [
    {
        "id": "block-0",
        "label": "persona",
        "value": 'I am "Tea", a clerk.',
        "description": 'What I am: "Tea"\nand how I speak',
        "limit": 5000,
        "read_only": True,
    },
    {
        "id": "block-1",
        "label": "system/human",
        "value": "Name: Ann\n",
        "description": None,
        "limit": 5000,
        "read_only": False,
    },
]
FILES = [
    {"file_name": "manuals/kettle.pdf", "file_type": "application/pdf", "content": "Boil.\n"},
    {"file_name": "manuals/tea.txt", "file_type": "text/plain", "content": "Steep.\n"},
    {"file_name": "manuals/empty.txt", "file_type": "text/plain", "content": None},
]
AGENT: dict[str, Any] = {
    "agents": [{"id": "agent-0", "name": "clerk", "block_ids": ["block-0", "block-1"]}],
    "blocks": BLOCKS,
    "files": FILES,
    "groups": [],
    "sources": [{"id": "source-0", "name": "manuals"}],
    "tools": [],
    "mcp_servers": [],
    "metadata": {"revision_id": "297e8217e952"},
    "created_at": "2026-08-01T10:00:00+00:00",
}


def block(page: str, mark: str, language: str = "sh") -> str:
    text = (cases.PROJECT / page).read_text("utf-8")
    found = re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", text, re.DOTALL)
    assert found, (page, mark, language)
    return found[1]


def create(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, "utf-8")


def run(page: str, mark: str) -> None:
    """Runs the commands as a reader does, and compares what they print with the page."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    ran = subprocess.run(
        ["sh", "-e", "-c", block(page, mark)],
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    if f"<!-- {mark}-printed -->" in (cases.PROJECT / page).read_text("utf-8"):
        said = block(page, f"{mark}-printed", "text")
        assert CHANGE.sub("ID", ran.stdout) == CHANGE.sub("ID", said)


def script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def texts(directory: str) -> dict[str, str]:
    files = sorted(path for path in Path(directory).rglob("*") if path.is_file())
    return {file.relative_to(directory).as_posix(): file.read_bytes().decode() for file in files}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's home directory, which is the working directory, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for name in ("mcp_memory.py", "letta.py"):
        shutil.copy(SCRIPTS / name, tmp_path)
    return tmp_path


def test_every_command_of_the_pages_is_run() -> None:
    """A block without a mark would be run by no test."""
    not_run = {
        "docs/migrate/letta.md": "letta memory export",
        "docs/migrate/mcp-memory.md": "find ~/.npm/_npx",
    }
    tests = Path(__file__).read_text("utf-8")
    for file in sorted(PAGES.glob("*.md")):
        page = f"docs/migrate/{file.name}"
        blocks = re.findall(
            r"(?:<!-- (\S+) -->\n)?```sh\n(.*?)```", file.read_text("utf-8"), re.DOTALL
        )
        for mark, code in blocks:
            if mark:
                assert f'run("{page}", "{mark}")' in tests, (page, mark)
            else:
                assert code.startswith(not_run[page]), (page, code)


def test_the_sdk_s_directory_is_used_unchanged_in_both_directions() -> None:
    before: dict[str, Any] = {}
    exec(block("docs/migrate/sdk-tools.md", "before", "python"), before)
    note = {"command": "create", "path": "/memories/team/plan.md", "file_text": "1. Begin.\n"}
    before["tool"].call(note)

    after: dict[str, Any] = {}
    exec(block("docs/migrate/sdk-tools.md", "after", "python"), after)
    shown = after["tool"].call({"command": "view", "path": note["path"]})
    assert shown.endswith("     1\t1. Begin.")
    added = {"path": note["path"], "insert_line": 1, "insert_text": "2. End.\n"}
    after["tool"].call({"command": "insert", **added})
    run("docs/migrate/sdk-tools.md", "look")

    memdir.Memory("./memory", history=True).create("/memories/tea.md", "- green\n")
    assert Path("memory/history").is_dir()
    listed = before["tool"].call({"command": "view", "path": "/memories"})
    assert "history" not in listed
    assert "tea.md" in listed
    assert texts("memory/memories")["team/plan.md"] == "1. Begin.\n2. End.\n"


def test_files_of_another_storage() -> None:
    exec(block("docs/migrate/sdk-tools.md", "rows", "python"), {})
    run("docs/migrate/sdk-tools.md", "back")
    assert texts("copied") == {
        "memories/tea.md": "- green\n",
        "memories/team/plan.md": "1. Begin.\n",
    }


def test_the_differences_that_the_page_lists() -> None:
    """The table of sdk-tools.md, row by row."""
    Path("sdk").mkdir()
    tools = [BetaLocalFilesystemMemoryTool("sdk"), memdir.MemoryTool("mem")]

    def both(**call: object) -> list[str]:
        replies = []
        for tool in tools:
            try:
                replies.append(str(tool.call(call)))
            except ToolError as error:
                replies.append(f"refused: {error}")
            except Exception as error:  # noqa: BLE001 - the SDK's tool fails in many ways
                replies.append(type(error).__name__)
        return replies

    note, big = "/memories/team/a.md", "/memories/big.md"
    assert len(set(both(command="create", path=note, file_text="one\n2\n"))) == 1
    assert len(set(both(command="create", path=big, file_text="x" * 1024))) == 1
    for root in ("sdk", "mem"):
        Path(root, "memories/node_modules").mkdir()
        Path(root, "memories/a.png").write_bytes(PNG)

    old, new = both(command="view", path="/memories")
    assert "1K\t/memories/big.md" in old.splitlines()
    assert "/memories/team/\n" in old
    assert "/memories/node_modules/" in old
    assert {"1.0K\t/memories/big.md", "4.0K\t/memories/team"} < set(new.splitlines())
    assert "/memories/node_modules" not in new
    old, new = both(command="view", path=note)
    assert old == new + "\n     3\t"
    old, new = both(command="view", path=note, view_range=[5, 6])
    assert old == f"Here's the content of {note} with line numbers:\n"
    assert new.startswith("refused: Error: Invalid `view_range`")
    old, new = both(command="view", path="/memories/a.png")
    assert old == "UnicodeDecodeError"
    assert "image/png" in new

    both(command="insert", path=big, insert_line=1, insert_text="y")
    assert Path("sdk/memories/big.md").read_text("utf-8").endswith("\ny\n")
    assert Path("mem/memories/big.md").read_text("utf-8").endswith("\ny")
    old, new = both(command="insert", path=note, insert_line=2, new_str="three")
    assert (old, new) == ("AttributeError", f"The file {note} has been edited.")
    old, new = both(command="str_replace", path=note, old_str="2")
    assert old == "TypeError"
    assert new.startswith("The memory file has been edited.")
    old, new = both(command="view")
    assert (old, new.startswith("refused: Error: Missing `path`")) == ("AttributeError", True)


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf"
    "500f0003030101e221bc330000000049454e44ae426082"
)


def test_the_graph_of_the_mcp_server_there_and_back() -> None:
    page = (PAGES / "mcp-memory.md").read_text("utf-8")
    [graph] = re.findall(r'```json\n(\{"type":"entity".*?)\n```', page, re.DOTALL)
    Path("memory.jsonl").write_text(graph, "utf-8")
    run("docs/migrate/mcp-memory.md", "session")
    run("docs/migrate/mcp-memory.md", "grep")
    run("docs/migrate/mcp-memory.md", "back")
    lines = [json.loads(line) for line in Path("new.jsonl").read_text("utf-8").splitlines()]
    assert lines == [json.loads(line) for line in graph.splitlines()]

    [change] = {version.change for version in memdir.Memory("./memory", history=True).history()}
    memdir.Memory("./memory", history=True).undo(change)
    assert texts("memory/memories") == {}


def test_a_graph_with_unusual_names() -> None:
    entities = [
        {"name": "Ann", "entityType": "person", "observations": ["two\n\nlines", "- dash", ""]},
        {"name": "ANN", "entityType": "Person", "observations": ["Type: x", "## Relations"]},
        {"name": "../../etc/passwd", "entityType": "..", "observations": []},
        {"name": ".hidden", "entityType": "名前", "observations": ["ü"]},
        {"name": "x" * 300, "entityType": "long", "observations": []},
    ]
    relations = [
        {"from": "Ann", "to": "../../etc/passwd", "relationType": "reads"},
        {"from": "Zoe", "to": "Ann", "relationType": "knows"},
    ]
    graph = [{"type": "entity", **entity} for entity in entities]
    graph += [{"type": "relation", **relation} for relation in relations]
    text = "\n".join(json.dumps(line) for line in graph)
    Path("memory.jsonl").write_text(text + "\n", "utf-8")
    assert script("mcp_memory.py", "to-files", "memory.jsonl", "graph").returncode == 0
    files = set(texts("graph"))
    assert {
        "person/Ann.md",
        "unnamed/etc-passwd.md",
        "名前/hidden.md",
        "unknown/Zoe.md",
    } < files
    assert len({file.casefold() for file in files}) == len(entities) + 1
    assert set(Path().iterdir()) >= {Path("graph"), Path("memory.jsonl")}

    # All of them can be files of a memory.
    memdir.copy("dir:graph", "./memory")
    assert script("mcp_memory.py", "to-graph", "memory/memories", "new.jsonl").returncode == 0
    back = [json.loads(line) for line in Path("new.jsonl").read_text("utf-8").splitlines()]
    unknown = {"type": "entity", "name": "Zoe", "entityType": "unknown", "observations": []}
    key = json.dumps
    assert sorted(back, key=key) == sorted([*graph, unknown], key=key)

    assert script("mcp_memory.py", "to-files", "memory.jsonl", "graph").returncode != 0
    assert script("mcp_memory.py", "to-graph", "graph", "new.jsonl").returncode != 0
    Path("broken.jsonl").write_text(text + "\n{", "utf-8")
    broken = script("mcp_memory.py", "to-files", "broken.jsonl", "other")
    assert broken.stderr.startswith("broken.jsonl, line 8: ")
    assert not Path("other").exists()


def test_what_the_model_added_goes_back_into_the_graph() -> None:
    create({"files/person/ben.md": "# Ben\n\nType: friend\n\nLikes tea.\n\n## Plans\n- a trip\n"})
    create({"files/person/new.md": "Only prose.\n"})
    assert script("mcp_memory.py", "to-graph", "files", "new.jsonl").returncode == 0
    ben, new = [json.loads(line) for line in Path("new.jsonl").read_text("utf-8").splitlines()]
    assert (ben["name"], ben["entityType"]) == ("Ben", "friend")
    assert ben["observations"] == ["Likes tea.", "## Plans", "a trip"]
    assert (new["name"], new["entityType"]) == ("new", "person")
    assert new["observations"] == ["Only prose."]


def test_letta_s_memfs_and_back() -> None:
    create(MEMFS)
    run("docs/migrate/letta.md", "memfs")
    assert texts("memory/memories") == {
        name.removeprefix("exported/"): text for name, text in MEMFS.items() if ".git" not in name
    }
    names: dict[str, Any] = {}
    exec(block("docs/migrate/letta.md", "prompt", "python"), names)
    assert names["system"] == f"/memories/system/human.md\n{MEMFS['exported/system/human.md']}"

    memdir.Memory("./memory").str_replace("/memories/system/human.md", "Ann", "Ben")
    origin = Path(".letta/agents/agent-123/memory")
    shutil.copytree("exported", origin)
    shutil.rmtree(origin / ".git")
    git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@localhost"]
    subprocess.run([*git, "init", "--quiet", origin], check=True)
    subprocess.run(["git", "-C", origin, "config", "user.name", "Ann"], check=True)
    subprocess.run(["git", "-C", origin, "config", "user.email", "ann@localhost"], check=True)
    run("docs/migrate/letta.md", "back")
    assert "Name: Ben" in (origin / "system/human.md").read_text("utf-8")


def test_letta_s_agent_file() -> None:
    Path("agent.af").write_text(json.dumps(AGENT), "utf-8")
    run("docs/migrate/letta.md", "af")
    assert texts("memory/memories") == {
        "persona.md": '---\ndescription: "What I am: \\"Tea\\"\\nand how I speak"\n'
        'read_only: true\n---\nI am "Tea", a clerk.\n',
        "system/human.md": '---\ndescription: "system/human"\n---\nName: Ann\n',
        "files/manuals/kettle.pdf.md": "Boil.\n",
        "files/manuals/tea.txt": "Steep.\n",
    }
    assert script("letta.py", "agent.af", "exported").returncode != 0  # nothing is replaced


def test_letta_s_older_format_and_several_agents() -> None:
    Path("old.af").write_text(json.dumps({"name": "clerk", "core_memory": BLOCKS}), "utf-8")
    assert script("letta.py", "old.af", "old").returncode == 0
    assert set(texts("old")) == {"persona.md", "system/human.md"}

    agents = [
        {"id": "agent-0", "name": "clerk", "block_ids": ["block-0", "block-1"]},
        {"id": "agent-1", "name": "../cook", "block_ids": ["block-1"]},
    ]
    Path("two.af").write_text(json.dumps({**AGENT, "agents": agents, "files": []}), "utf-8")
    assert script("letta.py", "two.af", "two").returncode == 0
    assert set(texts("two")) == {
        "clerk/persona.md",
        "clerk/system/human.md",
        "-/cook/system/human.md",
    }


def test_claude_code_s_memory_and_back() -> None:
    create(CLAUDE_CODE)
    run("docs/migrate/claude-code.md", "session")
    names: dict[str, Any] = {}
    exec(block("docs/migrate/claude-code.md", "prompt", "python"), names)
    assert names["system"] == "# Shop\n- debugging.md: errors of CORS\n"
    refused = names["memory"].execute({"command": "delete", "path": "/memories/instructions"})
    assert refused.kind == "read_only"
    run("docs/migrate/claude-code.md", "share")

    memdir.Memory("./memory").write("/memories/debugging.md", "It was the cache.\n")
    run("docs/migrate/claude-code.md", "back")
    notes = texts(".claude/projects/-home-ann-shop/memory")
    assert notes["debugging.md"] == "It was the cache.\n"
    assert set(notes) == {"MEMORY.md", "debugging.md", "instructions/CLAUDE.md"}


def test_notes_of_basic_memory_and_back() -> None:
    create(BASIC_MEMORY)
    run("docs/migrate/basic-memory.md", "session")
    run("docs/migrate/basic-memory.md", "open")
    assert len(texts("memory/memories")) == 2

    memdir.Memory("./memory").str_replace(
        "/memories/kitchen/Pour Over.md", "tried twice", "tried three times"
    )
    run("docs/migrate/basic-memory.md", "back")
    note = Path("basic-memory/kitchen/Pour Over.md").read_text("utf-8")
    assert "tried three times" in note
    assert Path("basic-memory/.obsidian/app.json").is_file()
