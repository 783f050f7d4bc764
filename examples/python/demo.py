"""An agent with a memory, end to end: the real ``anthropic`` package, memdir, and two processes.

By default a stand-in on loopback plays Claude's part from a script and checks every reply of the
memory to the letter; with ``--live`` the same user speaks to the real API. Each session runs in a
process of its own, so that the second one knows only what the first one left on disk.

    python examples/python/demo.py [--async] [--keep DIR]
    ANTHROPIC_API_KEY=… python examples/python/demo.py --live [--model NAME]

Ends with status 0 only if every reply, and the memory that is left at the end, is as it should be.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EXAMPLES / "standin"))

import conversation  # noqa: E402  (found through the line above)
from conversation import Conversation  # noqa: E402
from screen import Screen  # noqa: E402
from standin import ConversationError, StandIn  # noqa: E402

try:
    import anthropic
    import memdir
except ImportError as missing:
    sys.exit(f"This demo needs memdir with the SDK ({missing}): pip install 'memdir[anthropic]'")

MODEL = "claude-sonnet-5-5"
MAX_TOKENS = 4096
MAX_TURNS = 50
"""Where a live conversation is cut off: it costs money."""


def main() -> int:
    """The program; returns its exit status."""
    options = parse_arguments()
    script = conversation.load(options.conversation)
    if options.session is not None:
        return run_session(script, options)
    if options.live and not os.environ.get("ANTHROPIC_API_KEY"):
        print("--live talks to the real API and needs a key in ANTHROPIC_API_KEY.", file=sys.stderr)
        return 2
    with contextlib.ExitStack() as stack:
        if options.keep is None:
            work = stack.enter_context(tempfile.TemporaryDirectory(prefix="memdir-demo-"))
            base = Path(work, "memory")
        else:
            base = Path(options.keep)
        if not options.live and (base / "memories").exists() and any((base / "memories").iterdir()):
            print(
                f"{base} holds memories already, and the scripted conversation begins without: "
                "choose another directory.",
                file=sys.stderr,
            )
            return 2
        lay_beside(script, base)
        return run_sessions(script, base, options)


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
    # How the demo starts itself for one session.
    parser.add_argument("--session", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--base", help=argparse.SUPPRESS)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    return parser.parse_args()


# --- the parent: one process for each session ---------------------------------------------------


def run_sessions(script: Conversation, base: Path, options: argparse.Namespace) -> int:
    """Runs each session in a process of its own, then looks at what is left."""
    screen = Screen()
    where = "the real API" if options.live else "a stand-in for it on loopback"
    screen.line(f"memdir {metadata.version('memdir')}, anthropic {anthropic.__version__}", "bold")
    screen.line(f"Claude's memory is in {base}; on the other side of the Messages API is {where}.")

    problems: list[str] = []
    standin = None if options.live else StandIn(script)
    with standin or contextlib.nullcontext():
        for number in range(1, len(script.sessions) + 1):
            command = [sys.executable, __file__, *child_arguments(number, base, options)]
            if standin is not None:
                command += ["--base-url", standin.base_url]
            # The stand-in is on this machine, whatever proxy leads out of it.
            env = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
            status = subprocess.run(command, env=env if standin else None, check=False).returncode
            if status != 0:
                problems.append(f"Session {number} ended with status {status}.")
                break

    screen.heading("On disk")
    screen.line()
    screen.tree(base)
    screen.line()
    if standin is not None:
        try:
            standin.finish()
        except ConversationError as failed:
            problems.append(str(failed))
    problems += disturbed(script, base)
    if not options.live and not problems:
        problems += unexpected(script, base)
    for problem in problems:
        screen.line(f"✗ {problem}", "red")
    if problems:
        return 1
    done = f"✓ {len(script.sessions)} sessions, each a process of its own"
    if standin is not None:
        done += (
            f": {script.turns} messages from Claude, {script.calls} tool results, "
            "and the memory that they left, all as they should be to the letter"
        )
    screen.line(f"{done}.", "green")
    return 0


def child_arguments(number: int, base: Path, options: argparse.Namespace) -> Iterator[str]:
    yield from ("--session", str(number), "--base", str(base), "--pace", str(options.pace))
    yield from ("--conversation", str(options.conversation), "--model", options.model)
    if options.use_async:
        yield "--async"
    if options.live:
        yield "--live"


def lay_beside(script: Conversation, base: Path) -> None:
    """Puts the files that are none of Claude's business next to the memory."""
    for name, text in script.beside.items():
        file = base / name
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def disturbed(script: Conversation, base: Path) -> list[str]:
    """What has become of the files next to the memory, if anything."""
    return [
        f"{name}, next to the memory, was touched."
        for name, text in script.beside.items()
        if not (base / name).is_file() or (base / name).read_text(encoding="utf-8") != text
    ]


def unexpected(script: Conversation, base: Path) -> list[str]:
    """How the memory on disk differs from what the script says must be left of it."""
    if script.then is None:
        return []
    left: dict[str, str | None] = {}
    for entry in (base / "memories").rglob("*"):
        path = "/" + entry.relative_to(base).as_posix()
        if entry.is_file():
            left[path] = entry.read_bytes().decode(errors="replace")
        elif not any(entry.iterdir()):
            left[path] = None
    return [
        f"{path} should {'be' if path in script.then else 'not be'} there"
        + (" with another content." if path in left and path in script.then else ".")
        for path in sorted({*left, *script.then})
        if path not in left or path not in script.then or left[path] != script.then[path]
    ]


# --- the child: one session ---------------------------------------------------------------------


def run_session(script: Conversation, options: argparse.Namespace) -> int:
    """One conversation with the real tool runner; returns the exit status."""
    screen = Screen(options.pace)
    user = script.sessions[options.session - 1].user
    screen.heading(f"Session {options.session} · process {os.getpid()}")
    screen.says("User", user, "yellow")
    try:
        if options.use_async:
            asyncio.run(converse_async(user, options, screen))
        else:
            converse(user, options, screen)
    except anthropic.APIStatusError as error:
        body: Any = error.body
        try:
            message = body["error"]["message"]
        except (TypeError, KeyError):
            message = str(error)
        screen.line(f"\n✗ {message}", "red")
        return 1
    except anthropic.APIConnectionError as error:
        screen.line(f"\n✗ The API cannot be reached: {error.__cause__ or error}", "red")
        return 1
    return 0


def converse(user: str, options: argparse.Namespace, screen: Screen) -> None:
    with anthropic.Anthropic(**client_options(options)) as client:
        runner = client.beta.messages.tool_runner(
            model=options.model,
            max_tokens=MAX_TOKENS,
            max_iterations=MAX_TURNS,
            tools=[memdir.MemoryTool(options.base)],
            messages=[{"role": "user", "content": user}],
        )
        for message in runner:
            show_text(message, screen)
            if message.stop_reason == "tool_use":
                # The runner would do this itself; done here, the results can be shown. It keeps
                # them, so that no tool runs twice.
                show_results(message, runner.generate_tool_call_response(), screen)


async def converse_async(user: str, options: argparse.Namespace, screen: Screen) -> None:
    async with anthropic.AsyncAnthropic(**client_options(options)) as client:
        runner = client.beta.messages.tool_runner(
            model=options.model,
            max_tokens=MAX_TOKENS,
            max_iterations=MAX_TURNS,
            tools=[memdir.AsyncMemoryTool(options.base)],
            messages=[{"role": "user", "content": user}],
        )
        async for message in runner:
            show_text(message, screen)
            if message.stop_reason == "tool_use":
                show_results(message, await runner.generate_tool_call_response(), screen)


def client_options(options: argparse.Namespace) -> dict[str, Any]:
    """The stand-in wants no real key; the real API is found through the environment."""
    if options.live:
        return {}
    return {"base_url": options.base_url, "api_key": "not-a-key"}


def show_text(message: Any, screen: Screen) -> None:
    text = "\n\n".join(block.text for block in message.content if block.type == "text")
    if text:
        screen.says("Claude", text, "cyan")


def show_results(message: Any, response: Any, screen: Screen) -> None:
    calls = [block for block in message.content if block.type == "tool_use"]
    results: Iterable[Any] = response["content"] if response is not None else []
    for call, result in zip(calls, results, strict=True):
        content = result.get("content", "")
        if not isinstance(content, str):
            content = "\n".join(block.get("text", f"[{block['type']}]") for block in content)
        screen.call(call.input, content, result.get("is_error", False))


if __name__ == "__main__":
    sys.exit(main())
