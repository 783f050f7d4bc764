"""The demo, run as in a fresh clone of the project."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import conversation
import pytest
from standin import StandIn

from effort import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Demo = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def demo(examples: Path) -> Demo:
    """Runs the demo as a user does."""

    def run(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, examples / "python" / "demo.py", *arguments],
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=SECONDS,
        )

    return run


@pytest.fixture
def demo_here(
    examples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Demo:
    """Runs the demo and its sessions in this process, which has already imported the SDK.

    The import takes most of a session's time.
    """

    def program(*arguments: str | Path) -> int:
        with monkeypatch.context() as inner:
            inner.setattr(sys, "argv", [str(argument) for argument in arguments])
            with pytest.raises(SystemExit) as ended:
                runpy.run_path(str(arguments[0]), run_name="__main__")
        assert isinstance(ended.value.code, int)
        return ended.value.code

    def session(
        command: list[str], *, env: dict[str, str], check: bool
    ) -> subprocess.CompletedProcess[str]:
        assert (command[0], check) == (sys.executable, False)
        with monkeypatch.context() as inner:
            for name, value in env.items():
                inner.setenv(name, value)
            return subprocess.CompletedProcess(command, program(*command[1:]))

    def run(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(subprocess, "run", session)
        status = program(examples / "python" / "demo.py", *arguments)
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, status, printed.out, printed.err)

    return run


@pytest.fixture
def played(examples: Path) -> conversation.Conversation:
    return conversation.load(examples / "conversations" / "release-notes.json")


def tree(base: Path) -> dict[str, str]:
    return {
        file.relative_to(base).as_posix(): file.read_text(encoding="utf-8")
        for file in base.rglob("*")
        if file.is_file()
    }


def check_played(
    done: subprocess.CompletedProcess[str], played: conversation.Conversation, base: Path
) -> None:
    """Checks that every message was played and shown, and that the memory has the right files."""
    assert (done.returncode, done.stderr) == (0, "")
    assert played.then is not None
    wanted = {path.removeprefix("/"): text for path, text in played.then.items()}
    assert tree(base) == {**wanted, **played.beside}
    # Every command and every reply is shown, errors are marked, and nothing is coloured.
    for command in ("view", "create", "str_replace", "insert", "rename", "delete"):
        assert f"▸ {command} /memories" in done.stdout
    calls = [call for session in played.sessions for turn in session.turns for call in turn.calls]
    assert done.stdout.count("    ✗ ") == sum(call.is_error for call in calls)
    assert done.stdout.count("    ✓ ") == sum(not call.is_error for call in calls)
    for call in calls:
        mark = "✗" if call.is_error else "✓"
        assert f"    {mark} {str(call.result).splitlines()[0]}\n" in done.stdout
    assert "\x1b" not in done.stdout
    assert played.beside["secrets/old-notes.md"].strip() not in done.stdout


def test_it_plays_each_session_in_its_own_process_and_leaves_the_tree(
    demo: Demo, played: conversation.Conversation, tmp_path: Path
) -> None:
    base = tmp_path / "kept"
    done = demo("--keep", base)
    check_played(done, played, base)
    processes = re.findall(r"Session \d · process (\d+)", done.stdout)
    assert len(set(processes)) == len(played.sessions) == 2


def test_it_plays_the_same_with_the_asynchronous_tool(
    demo_here: Demo, played: conversation.Conversation, tmp_path: Path
) -> None:
    base = tmp_path / "kept"
    check_played(demo_here("--keep", base, "--async"), played, base)


@pytest.mark.parametrize("no_color", ["", "1"])
def test_it_has_colours_on_a_terminal_only_and_where_they_are_welcome(
    demo_here: Demo, no_color: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    done = demo_here("--pace", "0", NO_COLOR=no_color)
    assert done.returncode == 0
    assert "as they should be to the letter" in done.stdout
    assert ("\x1b[" in done.stdout) == (not no_color)


def test_it_leaves_nothing_behind_unless_asked_to(
    demo_here: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = demo_here()
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(tmp_path) in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_it_fails_when_a_reply_is_not_what_the_script_says(
    demo_here: Demo, examples: Path, tmp_path: Path
) -> None:
    text = (examples / "conversations" / "parallel.json").read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.json"
    wrong.write_text(text.replace("     4\\t- a guest", "     4\\t- a ghost"), encoding="utf-8")
    done = demo_here("--conversation", wrong)
    assert done.returncode == 1
    assert '-"     4\\t- a ghost\\n"' in done.stdout
    assert '+"     4\\t- a guest\\n"' in done.stdout


def test_it_fails_when_the_memory_at_the_end_is_not_what_the_script_says(
    demo_here: Demo, examples: Path, tmp_path: Path
) -> None:
    script = json.loads((examples / "conversations" / "parallel.json").read_text(encoding="utf-8"))
    script["then"] = {"/memories/other.md": "", "/memories/picnic.md": "rain\n"}
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(script), encoding="utf-8")
    done = demo_here("--conversation", wrong)
    assert done.returncode == 1
    assert "/memories/other.md should be there" in done.stdout
    assert "/memories/picnic.md should be there with another content" in done.stdout


def test_it_does_not_begin_on_a_memory_that_is_in_use(demo: Demo, tmp_path: Path) -> None:
    note = tmp_path / "memories" / "mine.md"
    note.parent.mkdir()
    note.write_text("precious\n")
    done = demo("--keep", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds memories already" in done.stderr
    assert tree(tmp_path) == {"memories/mine.md": "precious\n"}


def test_live_without_a_key_is_one_clear_sentence(demo: Demo, tmp_path: Path) -> None:
    done = demo("--live", "--keep", tmp_path / "kept", ANTHROPIC_API_KEY="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "--live talks to the real API and needs a key in ANTHROPIC_API_KEY.\n"
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("flags", [[], ["--async"]], ids=["sync", "async"])
def test_live_takes_the_key_the_address_and_the_model_that_it_is_given(
    demo_here: Demo, played: conversation.Conversation, flags: list[str]
) -> None:
    # The same code path as for the real API, which a test cannot reach.
    with StandIn(played) as standin:
        done = demo_here(
            *("--live", "--model", "claude-of-tomorrow", *flags),
            ANTHROPIC_API_KEY="sk-from-the-environment",
            ANTHROPIC_BASE_URL=standin.base_url,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    standin.finish()
    for request in standin.requests:
        assert request["body"]["model"] == "claude-of-tomorrow"
        [edit] = request["body"]["context_management"]["edits"]
        assert edit["exclude_tools"] == ["memory"]
        keys = (request["headers"].get("x-api-key"), request["headers"].get("authorization"))
        assert any("sk-from-the-environment" in (key or "") for key in keys)
