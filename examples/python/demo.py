"""An agent with a memory, end to end: the real ``anthropic`` package, memdir, and two processes.

By default a local stand-in plays Claude's part from a script and compares every reply of the memory
exactly; with ``--live`` the same user speaks to the real API. Each session runs in a separate
process (``session.py``), so the second one knows only the files that the first one left on disk.

    python examples/python/demo.py [--async] [--keep DIR]
    ANTHROPIC_API_KEY=… python examples/python/demo.py --live [--model NAME]

The exit status is 0 only if every reply, and the memory at the end, is as expected.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EXAMPLES / "standin"))

import conversation  # noqa: E402  (found through the line above)
from conversation import Conversation  # noqa: E402
from screen import Screen  # noqa: E402
from standin import ConversationError, StandIn  # noqa: E402

MODEL = "claude-sonnet-5-5"


def main() -> int:
    """The program. Returns its exit status: 1 for a mismatch, 2 if it cannot start."""
    options = parse_arguments()
    try:
        versions = {name: metadata.version(name) for name in ("memdir", "anthropic")}
    except metadata.PackageNotFoundError as missing:
        return refuse(f"{missing.name} is not installed: pip install 'memdir[anthropic]'")
    if options.live and not os.environ.get("ANTHROPIC_API_KEY"):
        return refuse("--live talks to the real API and needs a key in ANTHROPIC_API_KEY.")
    try:
        script = conversation.load(options.conversation)
    except (OSError, conversation.ScriptError) as error:
        return refuse(str(error))

    with contextlib.ExitStack() as stack:
        if options.keep is None:
            work = stack.enter_context(tempfile.TemporaryDirectory(prefix="memdir-demo-"))
            base = Path(work, "memory")
        else:
            base = Path(options.keep)
        memories = base / "memories"
        if not options.live and memories.exists() and any(memories.iterdir()):
            return refuse(
                f"{base} holds memories already, and the scripted conversation begins without: "
                "choose another directory."
            )
        screen = Screen()
        screen.line(", ".join(f"{name} {version}" for name, version in versions.items()), "bold")
        screen.line(f"Claude's memory is in {base}.")
        screen.line(
            "On the other side is the real Messages API."
            if options.live
            else "On the other side is a stand-in for the Messages API, which checks every reply."
        )
        return run(script, base, options, screen)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="An agent with a memory, end to end.")
    parser.add_argument("--async", dest="use_async", action="store_true", help="AsyncMemoryTool")
    parser.add_argument("--live", action="store_true", help="talk to the real API")
    parser.add_argument("--model", default=MODEL, help=f"for --live (default: {MODEL})")
    parser.add_argument("--keep", metavar="DIR", help="keep the memory in DIR")
    parser.add_argument(
        "--conversation",
        metavar="FILE",
        default=EXAMPLES / "conversations" / "release-notes.json",
        help="another script",
    )
    parser.add_argument(
        "--pace",
        metavar="SECONDS",
        type=float,
        default=0.4 if sys.stdout.isatty() else 0.0,
        help="how long to wait between one thing and the next (default: 0.4 on a terminal)",
    )
    return parser.parse_args()


def refuse(why: str) -> int:
    print(why, file=sys.stderr)
    return 2


def run(script: Conversation, base: Path, options: argparse.Namespace, screen: Screen) -> int:
    """Runs the sessions, then checks the resulting memory."""
    lay_beside(script, base)
    standin = None if options.live else StandIn(script, context_management=True)
    with standin or contextlib.nullcontext():
        problems = run_sessions(script, base, options, standin)

    screen.heading("On disk")
    screen.line()
    screen.tree(base)
    screen.line()
    problems += disturbed(script, base)
    found = searched(script, base, screen)
    if standin is not None:
        try:
            standin.finish()
            problems += unexpected(script, base)
            if script.search is not None and found != script.search.path:
                problems.append(f"The search should find {script.search.path}.")
            problems += synced(base, screen)
        except ConversationError as error:
            problems.append(str(error))
    for problem in problems:
        screen.line(f"✗ {problem}", "red")
    if problems:
        return 1
    several = len(script.sessions) > 1
    done = f"✓ {len(script.sessions)} session{'s, each' if several else ','} in its own process"
    if standin is not None:
        done += (
            f": {script.turns} messages from Claude, {script.calls} tool results, "
            "and the memory that they left, all as they should be to the letter"
        )
    screen.line(f"{done}.", "green")
    return 0


def run_sessions(
    script: Conversation, base: Path, options: argparse.Namespace, standin: StandIn | None
) -> list[str]:
    """Runs each session in a separate process. Returns the problems."""
    env = dict(os.environ)
    for number in range(1, len(script.sessions) + 1):
        command = [sys.executable, str(Path(__file__).with_name("session.py"))]
        command += [str(options.conversation), str(number), "--memory", str(base)]
        command += ["--model", options.model, "--pace", str(options.pace)]
        if options.use_async:
            command.append("--async")
        if standin is not None:
            command += ["--base-url", standin.base_url]
            # It is on this machine, so requests to it must bypass any proxy.
            env["NO_PROXY"] = env["no_proxy"] = "127.0.0.1"
        status = subprocess.run(command, env=env, check=False).returncode
        if status != 0:
            return [f"Session {number} ended with status {status}."]
    return []


def searched(script: Conversation, base: Path, screen: Screen) -> str | None:
    """Searches the memory. Returns the path of the file that answers the script's question best."""
    if script.search is None:
        return None
    # Not at the top: main() says what to do if it is not installed.
    import memdir  # noqa: PLC0415

    screen.heading("Search")
    screen.line()
    screen.line(script.search.question)
    screen.line()
    hits = memdir.Memory(base).search(script.search.question, limit=1).hits
    for hit in hits:
        screen.line(hit.path, "bold")
        for passage in hit.passages:
            for number, line in enumerate(passage.text.splitlines(), start=passage.first_line):
                screen.line(f"{number:6}\t{line}")
    screen.line()
    return hits[0].path if hits else None


def synced(base: Path, screen: Screen) -> list[str]:
    """Lets two copies of the memory diverge, and syncs them. Returns the problems."""
    import memdir  # noqa: PLC0415

    screen.heading("Sync")
    screen.line()
    with tempfile.TemporaryDirectory(prefix="memdir-demo-") as other:
        memdir.copy(base, Path(other, "desktop"))
        desktop, laptop = (memdir.Memory(Path(other, name)) for name in ("desktop", "laptop"))
        todo, tea = "/memories/team/todo.md", "/memories/team/tea.md"
        desktop.write(todo, "- book a room\n- write the agenda\n- invite Mo\n")
        desktop.write(tea, "green\n")
        desktop.sync(laptop)
        # Both go on working, without a connection.
        desktop.str_replace(todo, "book a room", "book a room: done")
        desktop.write(tea, "black\n")
        laptop.str_replace(todo, "invite Mo", "invite Mo and Ada")
        laptop.write(tea, "jasmine\n")
        laptop.write("/memories/team/news.md", "- the release is on Friday\n")
        result = desktop.sync(laptop, names=("desktop", "laptop"))
        for change in result.changes:
            arrow = "->" if change.side == "b" else "<-"
            screen.line(f"{change.action:9} {arrow} {change.path}")
        screen.line()
        screen.line(f"{todo} on both machines, merged:", "bold")
        for line in laptop.read(todo).splitlines():
            screen.line(f"  {line}")
        screen.line()
        for conflict in result.conflicts:
            screen.line(
                f"Both machines changed the same line of {conflict.path}, so both are kept:"
            )
            for path in (conflict.path, conflict.copy_path):
                screen.line(f"  {path}: {laptop.read(path).strip()}")
        screen.line()
        merged = "- book a room: done\n- write the agenda\n- invite Mo and Ada\n"
        kept = {laptop.read(path) for c in result.conflicts for path in (c.path, c.copy_path)}
        equal = all(
            desktop.read(entry.path) == laptop.read(entry.path)
            for entry in desktop.list("/memories/team")
            if entry.size is not None
        )
        is_right = equal and laptop.read(todo) == merged and kept == {"black\n", "jasmine\n"}
        return [] if is_right else ["The two memories should be equal, with the changes of both."]


def lay_beside(script: Conversation, base: Path) -> None:
    """Creates the files next to the memory that Claude must not touch."""
    for name, text in script.beside.items():
        file = base / name
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def disturbed(script: Conversation, base: Path) -> list[str]:
    """The changes of the files next to the memory, if any."""
    return [
        f"{name}, next to the memory, was touched."
        for name, text in script.beside.items()
        if not (base / name).is_file() or (base / name).read_text(encoding="utf-8") != text
    ]


def unexpected(script: Conversation, base: Path) -> list[str]:
    """The differences between the memory on disk and the script's expectation."""
    if script.then is None:
        return []
    left: dict[str, str | None] = {}
    for entry in (base / "memories").rglob("*"):
        path = "/" + entry.relative_to(base).as_posix()
        if entry.is_file():
            left[path] = entry.read_bytes().decode(errors="replace")
        elif not any(entry.iterdir()):
            left[path] = None
    problems = []
    for path in sorted({*left, *script.then}):
        if path not in script.then:
            problems.append(f"{path} should not be there.")
        elif path not in left:
            problems.append(f"{path} should be there.")
        elif left[path] != script.then[path]:
            problems.append(f"{path} should be there with another content.")
    return problems


if __name__ == "__main__":
    sys.exit(main())
