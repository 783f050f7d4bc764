"""The installed package: without the SDK, with an SDK that is too old, and its contents."""

from __future__ import annotations

import contextlib
import doctest
import importlib.metadata
import importlib.resources
import os
import pathlib
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import sysconfig

import pytest

import cases
import memdir

# Hides a package from the import system of a new interpreter.
HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"anthropic", "anyio", "pydantic", "typing_extensions"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""
# An SDK from before `ToolError`.
OLD = """
import sys
import types

for name in ("anthropic", "anthropic.lib", "anthropic.lib.tools"):
    sys.modules[name] = types.ModuleType(name)
"""
WITHOUT = """
import memdir
import memdir.testing

assert memdir.Memory("memory:").create("/memories/a", "one") == (
    "File created successfully at: /memories/a"
)
for name in ("MemoryTool", "AsyncMemoryTool", "search_tool"):
    assert name in dir(memdir)
    assert hasattr(memdir, name)
    try:
        getattr(memdir, name)("memory:")
    except ImportError as error:
        assert str(error) == (
            f"memdir.{name} needs the package anthropic, 0.84 or newer: "
            'pip install "memdir[anthropic]"'
        ), error
    else:
        raise AssertionError(name)
from memdir import *
import pydoc
assert "MemoryTool" in pydoc.render_doc(memdir)
try:
    memdir.Nonsense
except AttributeError as error:
    assert str(error) == "module 'memdir' has no attribute 'Nonsense'"
print("fine")
"""


@pytest.mark.parametrize("before", [HIDE, OLD], ids=["without", "too old"])
def test_without_the_sdk(before: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", before + WITHOUT],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "fine\n", "")


def test_importing_memdir_imports_nothing_of_others() -> None:
    code = (
        "import sys, memdir; print({'anthropic', 'anyio', 'typing_extensions'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_the_version_is_the_packages() -> None:
    assert memdir.__version__ == importlib.metadata.version("memdir")


def test_a_memory_shows_where_it_is_and_no_secret(tmp_path: pathlib.Path) -> None:
    store = memdir.open_store("memory:")
    assert repr(memdir.Memory("memory:")) == "Memory('memory:')"
    assert repr(memdir.Memory(tmp_path)) == f"Memory({str(tmp_path)!r})"
    assert repr(memdir.Memory(store)) == "Memory(<NativeStore>)"
    assert repr(memdir.Memory({"/memories": store})) == "Memory({'/memories': <NativeStore>})"
    assert repr(memdir.AsyncMemory("memory:")) == "AsyncMemory('memory:')"
    # An address with a password is shown without it.
    secret = f"sqlite:{tmp_path}/a.db?key=s3cret"
    with contextlib.suppress(memdir.ConfigError):
        assert "s3cret" not in repr(memdir.Memory(secret))


def test_the_package_is_typed_and_licensed() -> None:
    files = importlib.resources.files("memdir")
    assert files.joinpath("py.typed").is_file()
    stub = files.joinpath("_memdir.pyi").read_text(encoding="utf-8")
    assert "class Memory(Generic[ViewT_co]):" in stub
    assert "Incomplete" not in stub
    metadata = importlib.metadata.metadata("memdir")
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    licences = {"LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-NOTICES.txt"}
    assert set(metadata.get_all("License-File") or ()) == licences
    kept = [file for file in importlib.metadata.files("memdir") or () if file.name in licences]
    assert {file.name for file in kept} == licences
    notices = next(file for file in kept if file.name == "THIRD-PARTY-NOTICES.txt").read_text()
    assert "serde_json" in notices
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata.get_all("Provides-Extra") == ["anthropic"]


def examples() -> list[doctest.DocTest]:
    """The examples in the docstrings of everything public, and on the page about Python."""
    import memdir.testing

    things = {"memdir": memdir, "memdir.testing.check_contract": memdir.testing.check_contract}
    things |= {f"memdir.{name}": getattr(memdir, name) for name in memdir.__all__}
    parser = doctest.DocTestParser()
    tests = [
        parser.get_doctest(
            thing.__doc__ or "", {"check_contract": memdir.testing.check_contract}, name, None, 0
        )
        for name, thing in things.items()
    ]
    page = cases.PROJECT / "docs" / "languages" / "python.md"
    tests.append(parser.get_doctest(page.read_text(encoding="utf-8"), {}, page.name, None, 0))
    return [test for test in tests if test.examples]


@pytest.mark.parametrize("example", examples(), ids=lambda example: str(example.name))
def test_the_examples_of_the_documentation(example: doctest.DocTest) -> None:
    # The parser expands tabs, which the replies are full of.
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(example, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_there_are_examples() -> None:
    named = {example.name for example in examples()}
    assert {"python.md", "memdir", "memdir.Memory", "memdir.MemoryTool", "memdir.Store"} <= named


def command_line(*arguments: str, program: list[str] | None = None) -> tuple[int, str, str]:
    installed = [str(pathlib.Path(sysconfig.get_path("scripts")) / "memdir")]
    ran = subprocess.run(
        [*(program or installed), *arguments], capture_output=True, text=True, check=False
    )
    return ran.returncode, ran.stdout, ran.stderr


def test_the_program_is_installed_with_the_package(tmp_path: pathlib.Path) -> None:
    version = f"memdir {importlib.metadata.version('memdir')}\n"
    assert command_line("--version") == (0, version, "")
    module = [sys.executable, "-m", "memdir"]
    assert command_line("--version", program=module) == (0, version, "")

    memory = tmp_path / "memory"
    memdir.Memory(memory).create("/memories/notes/été.md", "- likes tea\n")
    database = f"sqlite:{tmp_path / 'agent.db'}"
    assert command_line("copy", str(memory), database) == (0, "", "")
    code, tree, _ = command_line("tree", database)
    assert code == 0
    assert tree.splitlines()[2].endswith("    └── été.md")
    shown = (0, "- likes tea\n", "")
    assert command_line("show", database, "/memories/notes/été.md") == shown
    assert command_line("check", database)[0] == 0
    assert command_line("tree", str(tmp_path / "none"))[0] == 3


def test_the_pages_of_man_and_the_completions_are_installed() -> None:
    installed = {str(file) for file in importlib.metadata.files("memdir") or ()}
    for name in (
        "man/man1/memdir.1",
        "man/man1/memdir-grep.1",
        "bash-completion/completions/memdir",
        "zsh/site-functions/_memdir",
        "fish/vendor_completions.d/memdir.fish",
    ):
        assert any(file.replace(os.sep, "/").endswith(f"/share/{name}") for file in installed), name


def test_the_program_has_a_progress_bar_on_a_terminal_and_ends_at_ctrl_c(
    tmp_path: pathlib.Path,
) -> None:
    root = tmp_path / "from" / "memories"
    root.mkdir(parents=True)
    for number in range(5000):
        (root / str(number)).write_text("content\n" * 20)
    # On a busy machine the copy may end before the signal.
    for _ in range(10):
        ours, theirs = os.openpty()
        child = subprocess.Popen(
            [sys.executable, "-m", "memdir", "copy", "from", "to"], cwd=tmp_path, stderr=theirs
        )
        os.close(theirs)
        shown = b""
        while not re.search(rb"copying \[.*file \d\d+ of 5000", shown):
            shown = shown[-1000:] + os.read(ours, 1000)
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):
            while os.read(ours, 1000):
                pass
        os.close(ours)
        code = child.wait()
        if code != 0:
            break
        shutil.rmtree(tmp_path / "to")
    assert code == -signal.SIGINT
    copied = [file for file in (tmp_path / "to" / "memories").iterdir() if file.name.isdigit()]
    # Files are written together, so none of them may be there. Those that are there are whole.
    assert len(copied) < 5000
    assert {file.stat().st_size for file in copied} <= {160}


def test_which_modules_are_public() -> None:
    modules = {module.name for module in pkgutil.iter_modules(memdir.__path__)}
    assert {name for name in modules if not name.startswith("_")} == {"integrations", "testing"}


INTEGRATIONS = {
    "claude_agent_sdk": "claude-agent-sdk",
    "deepagents": "deepagents",
    "langchain": "langchain-core",
    "llama_index": "llama-index-core",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai-slim",
    "strands": "strands-agents",
}


def test_an_integration_without_its_framework_says_what_it_needs() -> None:
    modules = pkgutil.iter_modules([str(pathlib.Path(memdir.__path__[0], "integrations"))])
    assert {module.name for module in modules if module.name[0] != "_"} == INTEGRATIONS.keys()
    # No framework can be imported, not even one that is installed.
    tops = {"langchain": "langchain_core", "openai_agents": "agents"}
    program = f"""
import importlib, sys
for module in {list(INTEGRATIONS)!r}:
    sys.modules[{tops!r}.get(module, module)] = None
    try:
        importlib.import_module("memdir.integrations." + module)
    except ImportError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    said = done.stdout.splitlines()
    assert (done.returncode, len(said)) == (0, len(INTEGRATIONS)), done.stderr
    for sentence, needs in zip(said, INTEGRATIONS.values(), strict=True):
        assert sentence.endswith(f"needs {needs}: pip install {needs}")
