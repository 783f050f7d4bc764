"""Fixtures of the end-to-end tests: the stand-in for the Messages API, and the real tool runners.

Nothing here knows the expected replies. Each test specifies them, in a script for the stand-in or
in its own assertions on the recorded requests.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anthropic
import pytest
from anthropic.resources.beta.messages import Messages

import memdir

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
sys.path.insert(0, str(EXAMPLES / "standin"))

if TYPE_CHECKING:
    from collections.abc import Callable

    from conversation import Conversation

MODEL = "claude-sonnet-5-5"
USER = "Hello, Claude."

# Newer SDKs send only new messages, on a message thread, and the whole history on request. Older
# ones always send the whole history. Both have to transmit the results.
HISTORIES: dict[str, dict[str, Any]] = {"as the SDK does by default": {}}
if "thread" in inspect.signature(Messages.tool_runner).parameters:
    HISTORIES["whole"] = {"thread": False}


def converse_sync(
    base_url: str,
    store: str | Path | memdir.Store,
    *,
    user: str = USER,
    cache_control: Any = None,
    options: Any = None,
    **runner_options: Any,
) -> None:
    tool = memdir.MemoryTool(store, cache_control=cache_control, **(options or {}))
    with anthropic.Anthropic(api_key="not-a-key", base_url=base_url) as client:
        client.beta.messages.tool_runner(
            model=MODEL,
            max_tokens=1024,
            tools=[tool],
            messages=[{"role": "user", "content": user}],
            **runner_options,
        ).until_done()


def converse_async(
    base_url: str,
    store: str | Path | memdir.Store,
    *,
    user: str = USER,
    cache_control: Any = None,
    options: Any = None,
    **runner_options: Any,
) -> None:
    async def converse() -> None:
        tool = memdir.AsyncMemoryTool(store, cache_control=cache_control, **(options or {}))
        async with anthropic.AsyncAnthropic(api_key="not-a-key", base_url=base_url) as client:
            await client.beta.messages.tool_runner(
                model=MODEL,
                max_tokens=1024,
                tools=[tool],
                messages=[{"role": "user", "content": user}],
                **runner_options,
            ).until_done()

    asyncio.run(converse())


@pytest.fixture(params=[converse_sync, converse_async], ids=["sync", "async"])
def converse(request: pytest.FixtureRequest) -> Callable[..., None]:
    """One session with a stand-in, with the synchronous SDK and with the asynchronous one."""
    chosen: Callable[..., None] = request.param
    return chosen


@pytest.fixture(params=list(HISTORIES.values()), ids=list(HISTORIES))
def history(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Options of the tool runner, for each way in which this SDK sends the history."""
    chosen: dict[str, Any] = request.param
    return chosen


@pytest.fixture
def script() -> Callable[..., Conversation]:
    """Makes a conversation of one session: each turn is a list of (input, result, is_error)."""
    import conversation

    def make(*turns: list[tuple[Any, Any, bool]], user: str = USER, **extras: Any) -> Conversation:
        scripted = [
            {
                "calls": [
                    {"input": input, "result": result, "is_error": is_error}
                    for input, result, is_error in turn
                ]
            }
            for turn in turns
        ]
        session = {"user": user, "turns": [*scripted, {"text": "Done."}]}
        return conversation.parse({"about": "a test", "sessions": [session], **extras})

    return make


@pytest.fixture
def examples() -> Path:
    """The directory of the examples."""
    return EXAMPLES


@pytest.fixture(autouse=True)
def _on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the machine's own settings that would send a test elsewhere."""
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
