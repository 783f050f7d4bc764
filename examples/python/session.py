"""One session of the demo: a user's message, the real tool runner, Claude's memory.

This is all that your own program needs. ``demo.py`` starts it, once for each session. Only the
memory is kept between sessions.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import anthropic

import memdir
from screen import Screen

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "standin"))

import conversation

MAX_TOKENS = 4096
MAX_TURNS = 50
"""The limit of a live conversation, which costs money."""


def main() -> int:
    parser = argparse.ArgumentParser(description="One session of the demo.")
    parser.add_argument("script", help="the conversation that the user's message is taken from")
    parser.add_argument("number", type=int, help="which session of it, from 1")
    parser.add_argument("--memory", metavar="DIR", required=True, help="where the memory is")
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url", help="where the stand-in is (default: the real API)")
    parser.add_argument("--async", dest="use_async", action="store_true", help="AsyncMemoryTool")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds between what is shown")
    options = parser.parse_args()

    user = conversation.load(options.script).sessions[options.number - 1].user
    screen = Screen(options.pace)
    screen.heading(f"Session {options.number} · process {os.getpid()}")
    screen.says("User", user, "yellow")
    try:
        if options.use_async:
            asyncio.run(converse_async(user, options, screen))
        else:
            converse(user, options, screen)
    except anthropic.APIStatusError as error:
        screen.line(f"\n✗ {said_by_the_api(error)}", "red")
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
            # In a long conversation the API clears old tool results, but not these.
            betas=[memdir.CONTEXT_MANAGEMENT_BETA],
            context_management=memdir.context_management(),
            tools=[memdir.MemoryTool(options.memory)],
            messages=[{"role": "user", "content": user}],
        )
        for message in runner:
            show_text(message, screen)
            if message.stop_reason == "tool_use":
                # The runner would do this itself. Here it is done explicitly to show the results.
                # The runner caches them, so no tool runs twice.
                show_results(message, runner.generate_tool_call_response(), screen)


async def converse_async(user: str, options: argparse.Namespace, screen: Screen) -> None:
    async with anthropic.AsyncAnthropic(**client_options(options)) as client:
        runner = client.beta.messages.tool_runner(
            model=options.model,
            max_tokens=MAX_TOKENS,
            max_iterations=MAX_TURNS,
            # In a long conversation the API clears old tool results, but not these.
            betas=[memdir.CONTEXT_MANAGEMENT_BETA],
            context_management=memdir.context_management(),
            tools=[memdir.AsyncMemoryTool(options.memory)],
            messages=[{"role": "user", "content": user}],
        )
        async for message in runner:
            show_text(message, screen)
            if message.stop_reason == "tool_use":
                show_results(message, await runner.generate_tool_call_response(), screen)


def client_options(options: argparse.Namespace) -> dict[str, Any]:
    """The real API is configured by the environment; the stand-in must not see a real key."""
    if options.base_url is None:
        return {}
    return {"base_url": options.base_url, "api_key": "not-a-key"}


def show_text(message: Any, screen: Screen) -> None:
    text = "\n\n".join(block.text for block in message.content if block.type == "text")
    if text:
        screen.says("Claude", text, "cyan")


def show_results(message: Any, response: Any, screen: Screen) -> None:
    calls = [block for block in message.content if block.type == "tool_use"]
    results = response["content"] if response is not None else []
    for call, result in zip(calls, results, strict=True):
        content = result.get("content", "")
        if not isinstance(content, str):
            content = "\n".join(block.get("text", f"[{block['type']}]") for block in content)
        screen.call(call.input, content, result.get("is_error", False))


def said_by_the_api(error: anthropic.APIStatusError) -> str:
    """The sentence in an error of the API."""
    body: Any = error.body
    try:
        return str(body["error"]["message"])
    except (TypeError, KeyError):
        return str(error)


if __name__ == "__main__":
    sys.exit(main())
