"""The programs of the guides about reviews, encryption, phones and other frameworks."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from typing import TYPE_CHECKING, Any

import pytest

import cases
import memdir

if TYPE_CHECKING:
    from pathlib import Path

REVIEW = "docs/guides/review.md"
ENCRYPTED = "docs/guides/encrypted.md"
PHONES = "docs/guides/phones.md"
FRAMEWORKS = "docs/guides/other-frameworks.md"

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def page(name: str) -> str:
    return (cases.PROJECT / name).read_text("utf-8")


def block(name: str, mark: str, language: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", page(name), re.DOTALL)
    assert found, (name, mark, language)
    return found[1]


def execute(name: str, mark: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    names = {} if names is None else names
    exec(compile(block(name, mark, "python"), name, "exec"), names)
    return names


def shell(script: str, directory: Path, **variables: str) -> str:
    """The output of the commands, without ids and times, which differ each time."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    ran = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=directory,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return steady(ran.stdout)


def steady(text: str) -> str:
    return TIME.sub("TIME", ID.sub("ID", text))


def says(name: str, mark: str) -> str:
    return steady(block(name, mark, "text"))


def test_a_person_approves(capsys: pytest.CaptureFixture[str]) -> None:
    execute(REVIEW, "python-approve")
    assert capsys.readouterr().out == block(REVIEW, "approve-printed", "text")


def test_an_approval_is_for_the_text_that_was_shown() -> None:
    def before(command: Any, call: Any) -> None:
        if command["command"] == "insert":
            assert call.diff()
            memory.write("/memories/tea.md", "- white\n")

    memory = memdir.Memory("memory:", before=before)
    memory.write("/memories/tea.md", "- green\n")
    insert = {"command": "insert", "path": "/memories/tea.md", "insert_line": 1}
    assert memory.execute({**insert, "insert_text": "- mint"}).kind == "changed"
    assert memory.read("/memories/tea.md") == "- white\n"


def test_the_changes_of_a_session_are_shown_and_undone(tmp_path: Path) -> None:
    for mark in ("look", "undo"):
        script = block(REVIEW, mark, "sh")
        assert shell(script, tmp_path) == says(REVIEW, f"{mark}-printed")
    memory = memdir.Memory(tmp_path / "memory", history=True)
    assert memory.history(limit=1)[0].actor == "Ann"


def test_the_changes_of_a_session_are_undone_by_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memory = memdir.Memory("./memory", history=True)
    memory.acting_as("session-6").write("/memories/tea.md", "- green\n")
    memory.acting_as("session-7").write("/memories/tea.md", "- black\n")
    undone = execute(REVIEW, "python-undo")["undone"]
    assert [file.path for file in undone.files] == ["/memories/tea.md"]
    assert memory.read("/memories/tea.md") == "- green\n"
    assert memory.history(limit=1)[0].actor == "Ann"


def test_an_encrypted_memory_from_its_key_to_a_copy_for_a_colleague(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    execute(ENCRYPTED, "python-open")
    assert capsys.readouterr().out == block(ENCRYPTED, "open-printed", "text")
    with pytest.raises(memdir.ConfigError):
        memdir.Memory("./memory")
    printed = shell(block(ENCRYPTED, "shell", "sh"), tmp_path)
    assert printed == says(ENCRYPTED, "shell-printed")
    assert shell(block(ENCRYPTED, "share", "sh"), tmp_path) == "- order coffee\n"
    # Both are encrypted: no file has the text.
    stored = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert stored
    assert not any(b"order" in file.read_bytes() for file in stored)

    execute(ENCRYPTED, "python-rekey")
    with pytest.raises(memdir.ConfigError):
        memdir.Memory("./memory", encryption_key=memdir.key_from_file("memory.key"))
    memory = memdir.Memory("./memory", encryption_key=memdir.key_from_file("new.key"))
    assert memory.read("/memories/plan.md") == "- order coffee\n"


def test_a_plain_memory_becomes_an_encrypted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memdir.Memory("./plain", history=True).write("/memories/plan.md", "- order tea\n")
    key = memdir.key_from_file("memory.key")
    shell(block(ENCRYPTED, "convert", "sh"), tmp_path)
    sealed = memdir.Memory("./sealed", encryption_key=key, history=True)
    assert sealed.read("/memories/plan.md") == "- order tea\n"
    assert len(sealed.history()) == 1
    assert memdir.Memory("./plain").list() == []


def test_the_figures_for_phones_are_those_of_the_other_pages() -> None:
    guide, platforms, kotlin = map(
        page, (PHONES, "docs/reference/platforms.md", "docs/languages/kotlin.md")
    )
    [android] = re.findall(r"\| Android \| (.*?) \| (.*?), built", platforms)
    assert android[0] in guide
    assert android[1] in guide
    assert "iOS 15" in platforms
    assert "iOS 15 or newer" in guide
    [size] = re.findall(r"The library has ([\d.]+) MiB", kotlin)
    assert f"about {round(float(size))} MiB" in guide


def test_the_server_for_other_programs_records_its_actor(tmp_path: Path) -> None:
    # Without input the server ends at once; its flags are valid.
    assert shell(f"{block(FRAMEWORKS, 'mcp', 'sh').strip()} < /dev/null", tmp_path) == ""
