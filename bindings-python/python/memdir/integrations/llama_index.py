"""The memory tool for LlamaIndex (`pip install llama-index-core`)."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Any

from memdir.integrations._call import Call, MemoryCall, SearchCall, framework

with framework("llama-index-core"):
    from llama_index.core.llms import ImageBlock, TextBlock
    from llama_index.core.tools import AsyncBaseTool, ToolMetadata, ToolOutput

if TYPE_CHECKING:
    from memdir._async_memory import AsyncMemory
    from memdir._memdir import Memory
    from memdir._reply import Reply


class _Metadata(ToolMetadata):
    """The tool's declaration; LlamaIndex would make the schema from a Pydantic model."""

    def __init__(self, call: Call) -> None:
        super().__init__(description=call.description, name=call.name, fn_schema=None)
        self._schema = call.schema

    def get_parameters_dict(self) -> dict[str, Any]:
        return self._schema


class _Tool(AsyncBaseTool):
    def __init__(self, call: Call) -> None:
        self._call = call
        self._metadata = _Metadata(call)

    @property
    def metadata(self) -> ToolMetadata:
        """Name, description and schema."""
        return self._metadata

    def call(self, **input: Any) -> ToolOutput:
        """Executes one call."""
        return self._output(input, self._call.execute(input))

    async def acall(self, **input: Any) -> ToolOutput:
        """Executes one call without blocking the event loop."""
        return self._output(input, await self._call.execute_async(input))

    def _output(self, input: dict[str, Any], reply: Reply) -> ToolOutput:
        blocks: list[TextBlock | ImageBlock]
        if isinstance(reply.content, str):
            blocks = [TextBlock(text=reply.content)]
        else:
            sources = [block["source"] for block in reply.content]
            blocks = [
                ImageBlock(image=b64decode(source["data"]), image_mimetype=source["media_type"])
                for source in sources
            ]
        return ToolOutput(
            tool_name=self._call.name,
            blocks=list(blocks),
            raw_input=input,
            raw_output=reply,
            is_error=reply.is_error,
        )


class MemoryTool(_Tool):
    """A tool for `FunctionAgent(tools=[...])` and `predict_and_call`.

    A refused command is a `ToolOutput` with `is_error` and the exact text. An image is an
    `ImageBlock`.
    """

    def __init__(self, memory: Memory | AsyncMemory) -> None:
        super().__init__(MemoryCall(memory))


class SearchTool(_Tool):
    """The search as a second tool, named `memory_search`, beside `MemoryTool`.

    The model sends a question, and gets the paths of the files that answer it best, with their best
    passages.
    """

    def __init__(self, memory: Memory | AsyncMemory) -> None:
        super().__init__(SearchCall(memory))
