"""The programs that are compared, and a pair of directories that one of them keeps in sync.

Each program is used as its documentation recommends for runs without a person. The page shows the same commands.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

# Directories in which a program keeps its own state. A person does not see them.
HIDDEN = {".git", ".memdir-sync"}
# A run that takes longer waits for an answer.
MOST_SECONDS = 1800
# The flags that rclone's manual names for a bisync that needs no person. Older versions have none of them.
RCLONE = {
    "--resilient": "--resilient",
    "--recover": "--recover",
    "--max-lock": "--max-lock 2m",
    "--conflict-resolve": "--conflict-resolve newer",
}
GIT = """for directory in A B; do (
    cd $directory
    git add --all
    git diff --cached --quiet || git commit --quiet --message sync
    git pull --quiet --no-rebase --no-edit || { git merge --abort; exit 1; }
    git push --quiet
); done
git -C A pull --quiet --no-rebase --no-edit"""
GIT_FIRST = """git init --quiet --bare --initial-branch main hub.git
git init --quiet --initial-branch main A
cd A
git add --all
git commit --quiet --message first
git remote add origin ../hub.git
git push --quiet --set-upstream origin main
cd ..
rm -r B
git clone --quiet hub.git B"""
DIFF3 = "Name * -> diff3 -m CURRENT1 CURRENTARCH CURRENT2 > NEW"


class Tool:
    """A program: the commands of the first run and of every later one, and the paths of its state."""

    def __init__(self, title: str, version: list[str], first: str, run: str, state: list[str]) -> None:
        self.title, self.first, self.run, self.state = title, first, run, state
        output = subprocess.run(version, capture_output=True, text=True, check=True).stdout
        found = re.search(r"\d+(\.\d+)+", output)
        self.version = found[0] if found else "?"


def tools() -> dict[str, Tool]:
    """All programs, by their short names. `memdir`, `rclone`, `unison` and `git` are in PATH."""
    text = subprocess.run(["rclone", "bisync", "--help"], capture_output=True, text=True, check=True).stdout
    flags = " ".join(["--check-access", *(flag for name, flag in RCLONE.items() if f"{name} " in text)])
    rclone = f"rclone bisync A B {flags}"
    unison = "unison A B -ui text -batch -auto"
    merging = f"{unison} -prefer newer -copyonconflict \\\n    -merge '{DIFF3}' -backupcurr 'Name *'"
    memdir = "memdir sync dir:A dir:B"
    return {
        "memdir": Tool("memdir", ["memdir", "--version"], memdir, memdir, ["A/.memdir-sync", "B/.memdir-sync"]),
        "rclone": Tool(
            "rclone bisync",
            ["rclone", "version"],
            f"touch A/RCLONE_TEST\ncp --preserve A/RCLONE_TEST B\n{rclone} --resync",
            rclone,
            ["home/.cache/rclone"],
        ),
        "unison": Tool("Unison", ["unison", "-version"], unison, unison, ["home/.unison"]),
        "unison-diff3": Tool("Unison with diff3", ["unison", "-version"], merging, merging, ["home/.unison"]),
        "git": Tool("git", ["git", "--version"], GIT_FIRST, GIT, ["A/.git", "B/.git", "hub.git"]),
    }


class Pair:
    """The directories A and B in a new place, with everything that the program keeps elsewhere."""

    def __init__(self, place: Path, tool: Tool) -> None:
        self.place, self.tool = place, tool
        shutil.rmtree(place, ignore_errors=True)
        for name in ("A", "B", "home"):
            place.joinpath(name).mkdir(parents=True)
        home = place / "home"
        person = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in PERSON.items()}
        self.environment = {
            **person,
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_STATE_HOME": str(home / ".local/state"),
            "UNISON": str(home / ".unison"),
            "GIT_CONFIG_NOSYSTEM": "1",
            # No git repository above the directories may be found.
            "GIT_CEILING_DIRECTORIES": str(place),
            # A collection of garbage in the background would disturb the next measurement.
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "gc.autoDetach",
            "GIT_CONFIG_VALUE_0": "false",
        }

    def directory(self, side: str) -> Path:
        return self.place / side

    def start(self, script: str) -> subprocess.Popen[bytes]:
        """Starts the commands in a process group of their own. Their output goes to a file, so they never wait for a reader."""
        with self.place.joinpath("output").open("wb") as output:
            return subprocess.Popen(
                ["sh", "-ec", script],
                cwd=self.place,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def execute(self, script: str) -> tuple[int, str]:
        """The exit code and the output."""
        code = self.start(script).wait(MOST_SECONDS)
        return code, self.place.joinpath("output").read_text("utf-8", "replace")

    def begin(self) -> None:
        """Brings two equal directories to the state in which only the later runs follow."""
        for script in (self.tool.first, self.tool.run):
            code, output = self.execute(script)
            if code or self.tree("A") != self.tree("B"):
                raise SystemExit(f"{self.tool.title} cannot begin: exit code {code}\n{output}")

    def sync(self) -> tuple[int, str]:
        return self.execute(self.tool.run)

    def tree(self, side: str) -> dict[str, bytes]:
        """The files that a person sees, with their contents."""
        top, files = self.directory(side), {}
        for directory, inner, names in os.walk(top):
            inner[:] = [name for name in inner if name not in HIDDEN]
            for name in names:
                path = Path(directory, name)
                files[path.relative_to(top).as_posix()] = path.read_bytes()
        return files

    def state_bytes(self) -> int:
        """The sizes of all files of the program's state. Its log does not count."""
        return sum(
            path.stat().st_size
            for top in self.tool.state
            for path in self.place.joinpath(top).rglob("*")
            if path.is_file() and path.suffix != ".log"
        )


PERSON = {"NAME": "A Person", "EMAIL": "person@example.com"}
