"""A chat of several turns with a memory.

    pip install 'memdir[anthropic]'
    export ANTHROPIC_API_KEY=…
    python chat.py

docs/guides/long-conversations.md explains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anthropic import Anthropic

from memdir import Memory, MemoryTool

if TYPE_CHECKING:
    from anthropic.types.beta import BetaMessageParam


class Chat:
    """A conversation. Its messages are kept between the turns."""

    def __init__(self, client: Anthropic, memory: Memory) -> None:
        self.client = client
        self.tool = MemoryTool(memory)
        self.messages: list[BetaMessageParam] = []

    def say(self, text: str) -> str:
        """One turn: sends the user's text, lets Claude use its memory, and returns its answer."""
        turn: list[BetaMessageParam] = [{"role": "user", "content": text}]
        runner = self.client.beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=2048,
            messages=[*self.messages, *turn],
            tools=[self.tool],
        )
        answer = ""
        for message in runner:
            turn.append({"role": "assistant", "content": message.content})
            # The runner sends the same results, so no command is executed twice.
            results = runner.generate_tool_call_response()
            if results is not None:
                turn.append(results)
            answer = "".join(block.text for block in message.content if block.type == "text")
        # A turn that fails leaves the conversation as it was.
        self.messages += turn
        return answer


def main() -> None:
    chat = Chat(Anthropic(), Memory("./memory"))
    while text := input("> "):
        print(chat.say(text))


if __name__ == "__main__":
    main()
