"""The code on the pages: README's example, and quotations of tested examples."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import sysconfig
import textwrap
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args

import pytest

import cases
import memdir

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

README = cases.PROJECT / "README.md"
START = cases.PROJECT / "docs" / "start"
PAGE = cases.PROJECT / "docs" / "stores" / "write-a-store.md"
GUIDES = cases.PROJECT / "docs" / "guides"
SERVERS = GUIDES / "servers-in-python.md"
MANY_USERS = GUIDES / "many-users.md"
LONG = GUIDES / "long-conversations.md"
PROCESSES = GUIDES / "several-processes.md"
TESTING = GUIDES / "testing.md"
SCALE = cases.PROJECT / "docs" / "operations" / "scale.md"
ERRORS = cases.PROJECT / "docs" / "reference" / "errors.md"
BEHAVIOUR = cases.PROJECT / "docs" / "reference" / "behaviour.md"
JVM = cases.PROJECT / "docs" / "integrations" / "frameworks-jvm.md"
PACKAGES = [cases.PROJECT / f"bindings-{name}" / "README.md" for name in ("c", "uniffi")]
QUOTED = re.compile(r"<!-- from (\S+) -->\n```\w+\n(.*?)\n```", re.DOTALL)
LINK = re.compile(r"\]\((\.\./[^)#]+)(?:#[^)]*)?\)")


def plain(code: str) -> str:
    """Removes the comment marks before each line."""
    return re.sub(r"^ \* ?", "", code, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("file", "code"),
    [
        quoted
        for page in (
            *(PAGE, SERVERS, MANY_USERS, TESTING, LONG, SCALE, ERRORS, JVM),
            *(START / "kotlin.md", *PACKAGES),
        )
        for quoted in QUOTED.findall(page.read_text("utf-8"))
    ],
)
def test_what_is_quoted_stands_there(file: str, code: str) -> None:
    text = plain((cases.PROJECT / file).read_text("utf-8"))
    # A quotation from a method lacks the method's indentation.
    assert any(textwrap.indent(code, " " * depth) in text for depth in (0, 4, 8))


def test_the_page_about_the_jvm_quotes_its_adapters_and_tests() -> None:
    page = JVM.read_text("utf-8")
    assert page.count("```java") == len(QUOTED.findall(page)) >= 4
    for link in LINK.findall(page):
        assert (JVM.parent / link).exists(), link


def test_the_page_about_servers_quotes_the_server() -> None:
    page = SERVERS.read_text("utf-8")
    assert {file for file, _ in QUOTED.findall(page)} == {"examples/python/server.py"}
    for link in LINK.findall(page):
        assert (SERVERS.parent / link).exists(), link


@pytest.mark.parametrize("page", [MANY_USERS, TESTING, SCALE, ERRORS])
def test_a_guide_quotes_all_of_its_code(page: Path) -> None:
    text = page.read_text("utf-8")
    assert len(QUOTED.findall(text)) == len(re.findall(r"```(?:python|ts|kotlin|swift|go)\n", text))


@pytest.mark.parametrize("page", [MANY_USERS, TESTING])
def test_a_guide_quotes_the_imports_of_its_code(page: Path) -> None:
    for file in {file for file, _ in QUOTED.findall(page.read_text("utf-8"))}:
        first, *_ = (
            code for quoted, code in QUOTED.findall(page.read_text("utf-8")) if quoted == file
        )
        imports = re.findall(
            r'^(?:import .*|from .*|\t(?:\w+ )?"\S+")$',
            (cases.PROJECT / file).read_text("utf-8"),
            re.M,
        )
        assert imports
        assert [line for line in imports if line not in first] == [], file


def test_the_code_of_the_guide_about_tests_is_a_whole_file(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", TESTING.read_text("utf-8"), re.DOTALL)
    file = tmp_path / "test_agent.py"
    file.write_text("\n\n".join(blocks), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("language", ["python", "ts"])
def test_each_kind_of_error_has_its_status(language: str) -> None:
    # The other languages have a function, which their own tests call.
    table = re.findall(r"^\| `(\w+)` \|.*\| (\d{3}) \|$", BEHAVIOUR.read_text("utf-8"), re.M)
    [code] = re.findall(rf"```{language}\n(.*?)```", ERRORS.read_text("utf-8"), re.DOTALL)
    assert re.findall(r'^ +"?(\w+)"?: (\d{3}),$', code, re.M) == table
    assert [kind for kind, _ in table] == [*get_args(memdir.ErrorKind)]


def test_two_processes_edit_one_file_as_the_guide_says(tmp_path: Path) -> None:
    """The guide's example and its session, docs/guides/several-processes.md."""
    for mark, printed in (("python", block(PROCESSES, "printed", "text")), ("python-session", "")):
        program = tmp_path / "agents.py"
        program.write_text(block(PROCESSES, mark, "python"), "utf-8")
        ran = subprocess.run(
            [sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert ran.stdout == printed


def test_every_language_is_quoted_and_every_file_is_there() -> None:
    page = PAGE.read_text("utf-8")
    files = {file for file, _ in QUOTED.findall(page)}
    assert {file.rpartition(".")[2] for file in files} == {"py", "ts", "kt", "swift", "go", "rs"}
    for link in LINK.findall(page):
        assert (PAGE.parent / link).exists(), link


@pytest.mark.parametrize(
    "example",
    [
        ("README.md", "quickstart", "printed"),
        ("bindings-python/README.md", "quickstart", "printed"),
        ("docs/start/python.md", "quickstart", "printed"),
        ("docs/guides/your-own-code.md", "python", "printed"),
        ("docs/guides/your-own-code.md", "python-watch", "watch-printed"),
        ("docs/guides/history.md", "python", "printed"),
        ("docs/guides/search.md", "python", "printed"),
        ("docs/guides/sync.md", "python", "printed"),
        ("docs/guides/search.md", "tool-python", "tool-printed"),
        ("docs/guides/search.md", "meaning-python", "meaning-printed"),
    ],
)
def test_the_example_of_the_page_prints_what_it_says(
    example: tuple[str, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page, code, says = example
    text = (cases.PROJECT / page).read_text("utf-8")
    found = re.search(rf"<!-- {code} -->\n```python\n(.*?)```", text, re.DOTALL)
    printed = re.search(rf"<!-- {says} -->\n```text\n(.*?)```", text, re.DOTALL)
    assert found
    assert printed
    monkeypatch.chdir(tmp_path)
    exec(compile(found[1], page, "exec"), {})
    assert capsys.readouterr().out == printed[1]


def test_the_recipes_for_embedders_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The local model and the service of docs/guides/search.md, with stand-ins for both."""
    sent: list[tuple[str, str]] = []

    def vectors(texts: list[str]) -> list[list[float]]:
        return [[float("car" in text or "vehicle" in text), 0.5] for text in texts]

    class TextEmbedding:
        def __init__(self, name: str) -> None:
            assert name == "BAAI/bge-small-en-v1.5"

        def query_embed(self, texts: list[str]) -> Iterator[list[float]]:
            yield from vectors(texts)

        passage_embed = query_embed

    class AsyncClient:
        async def embed(self, texts: list[str], *, model: str, input_type: str) -> SimpleNamespace:
            sent.append((model, input_type))
            return SimpleNamespace(embeddings=vectors(texts))

    for name, member in [("fastembed", TextEmbedding), ("voyageai", AsyncClient)]:
        module = ModuleType(name)
        setattr(module, member.__name__, member)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.chdir(tmp_path)
    page = cases.PROJECT / "docs" / "guides" / "search.md"
    local: dict[str, Any] = {}
    exec(compile(block(page, "local-python", "python"), str(page), "exec"), local)
    local["memory"].write("/memories/a.md", "The car is red.\n")
    found = local["memory"].search("a vehicle")
    assert (found.hits[0].path, found.words_only) == ("/memories/a.md", None)

    hosted: dict[str, Any] = {}
    exec(compile(block(page, "hosted-python", "python"), str(page), "exec"), hosted)
    found = asyncio.run(hosted["memory"].search("a vehicle"))
    assert (found.hits[0].path, found.words_only) == ("/memories/a.md", None)
    assert sent == [("voyage-3.5", "query"), ("voyage-3.5", "document")]


@pytest.mark.parametrize(
    "page",
    [
        "docs/index.md",
        "docs/concepts/command.md",
        "docs/concepts/history.md",
        "docs/concepts/policy.md",
        "docs/concepts/session-and-actor.md",
        "docs/concepts/store.md",
    ],
)
def test_the_examples_of_the_concepts_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (cases.PROJECT / page).read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert examples
    monkeypatch.chdir(tmp_path)
    for example in examples:
        exec(compile(example, page, "exec"), {})


def test_the_examples_of_encryption_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "docs/stores/encryption.md"
    text = (cases.PROJECT / page).read_text("utf-8")
    opened, changed = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    key, new_key = bytes(32), bytes([1] * 32)
    names = {"memdir": memdir, "MemoryTool": memdir.MemoryTool, "key": key, "old_key": key}
    exec(compile(opened, page, "exec"), names)
    memdir.Memory("./memory", encryption_key=key).create("/memories/tea.md", "green")
    exec(compile(changed, page, "exec"), {**names, "new_key": new_key})
    assert memdir.Memory("./memory", encryption_key=new_key).read("/memories/tea.md") == "green"


def block(page: Path, mark: str, language: str) -> str:
    found = re.search(
        rf"<!-- {mark} -->\n```{language}\n(.*?)```", page.read_text("utf-8"), re.DOTALL
    )
    assert found, (page, mark, language)
    return found[1]


@pytest.mark.parametrize("page", PACKAGES)
def test_the_page_of_a_package_quotes_an_example(page: Path) -> None:
    assert len(QUOTED.findall(page.read_text("utf-8"))) == 1


@pytest.mark.parametrize(("page", "language"), [("python", "python"), ("typescript", "ts")])
def test_the_program_of_readme_is_the_one_of_the_start_page(page: str, language: str) -> None:
    assert block(README, "quickstart", language) == block(
        START / f"{page}.md", "quickstart", language
    )


@pytest.mark.parametrize("page", ["python", "typescript", "kotlin", "swift", "go", "rust"])
def test_a_start_page_prints_what_readme_prints(page: str) -> None:
    assert block(START / f"{page}.md", "printed", "text") == block(README, "printed", "text")


@pytest.mark.skipif(sys.platform == "win32", reason="the pictures are those of a Unix terminal")
def test_the_pictures_of_a_terminal_are_current() -> None:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    program = cases.PROJECT / "tests/docs/terminal-pictures"
    ran = subprocess.run(
        [sys.executable, program, "--check"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def run_in_shell(script: str, place: Path) -> str:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    ran = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=place,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


@pytest.mark.parametrize(
    "page", ["start/command-line.md", "operations/backup.md", "operations/overload.md"]
)
def test_a_session_of_the_command_line_prints_what_the_page_says(page: str, tmp_path: Path) -> None:
    file = cases.PROJECT / "docs" / page
    printed = run_in_shell(block(file, "session", "sh"), tmp_path)
    change = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
    assert change.sub("ID", printed) == change.sub("ID", block(file, "printed", "text"))


def test_the_page_about_backups_restores_a_point_in_time(tmp_path: Path) -> None:
    page = cases.PROJECT / "docs/operations/backup.md"
    printed = run_in_shell(block(page, "point-in-time", "sh"), tmp_path)
    assert "1 file would be changed" in printed
    memory = memdir.Memory(tmp_path / "memory", history=True)
    assert memory.read("/memories/tea.md") == "- green\n"
    assert [version.actor for version in memory.history()] == ["Ann", "agent", "Ann"]


def test_the_page_about_backups_copies_into_a_store_with_another_key(tmp_path: Path) -> None:
    page = cases.PROJECT / "docs/operations/backup.md"
    assert "1 file read" in run_in_shell(block(page, "encrypted", "sh"), tmp_path)
    with pytest.raises(memdir.ConfigError):
        memdir.Memory(
            f"sqlite:{tmp_path}/backup.db", encryption_key="a long passphrase for the memory"
        )


def test_the_page_about_privacy_removes_a_text_from_every_file(tmp_path: Path) -> None:
    page = cases.PROJECT / "docs/privacy.md"
    assert "no problems" in run_in_shell(block(page, "delete", "sh"), tmp_path)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if b"Lisbon" in file.read_bytes()]
    assert not [path for path in tmp_path.rglob("*") if "ann" in path.name]
