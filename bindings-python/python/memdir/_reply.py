"""`Reply`, in Python so that type checkers know the types of its parts."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema
    from typing_extensions import Self, TypeVar, disjoint_base

    from memdir._errors import HookError, StoreError
    from memdir._results import ErrorKind
else:
    from typing import TypeVar

    # Only for type checkers: a tuple with one more attribute cannot be combined with another base.
    def disjoint_base(cls: type) -> type:
        return cls


class ImageSource(TypedDict):
    """The content of an image, in base64."""

    type: Literal["base64"]
    media_type: Literal["image/png", "image/jpeg"]
    data: str


class ImageBlock(TypedDict):
    """An image block, as the Messages API accepts it in a `tool_result`."""

    type: Literal["image"]
    source: ImageSource


if TYPE_CHECKING:
    ViewT_co = TypeVar(
        "ViewT_co",
        bound="str | list[ImageBlock]",
        covariant=True,
        default="str | list[ImageBlock]",
    )
else:
    # Defaults are new in Python 3.13, and only type checkers use them.
    ViewT_co = TypeVar("ViewT_co", covariant=True)
"""The result of a view: text or an image; only text if `max_image_bytes` is `None`."""


def image(media_type: Literal["image/png", "image/jpeg"], content: bytes) -> list[ImageBlock]:
    """The blocks that a view of an image returns."""
    data = b64encode(content).decode("ascii")
    return [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": data},
        }
    ]


class _Answer(NamedTuple):
    content: str | list[ImageBlock]
    is_error: bool


@disjoint_base
class Reply(_Answer):
    """The answer to one tool call, for the model.

    It can be unpacked into content and `is_error`:

    >>> from memdir import Memory
    >>> content, is_error = Memory("memory:").execute('{"command": "delete", "path": "/memories"}')
    >>> content, is_error
    ('Cannot delete the /memories directory itself', True)

    Two replies are equal if their content, `is_error` and kind are. Pydantic encodes a reply as an
    object with these three.

    Attributes:
        content: Text, or a list with an image block. The Messages API accepts both as the content
            of a `tool_result`.
        is_error: True if the command failed: the `is_error` of the `tool_result`.
        kind: The kind of error, such as `"not_found"`; `None` if there is no error.
        cause: The error, if the store itself or a hook failed. For your log, never for the model.
    """

    cause: StoreError | HookError | None
    kind: ErrorKind | None

    def __new__(
        cls,
        content: str | list[ImageBlock],
        is_error: bool = False,
        cause: StoreError | HookError | None = None,
        kind: ErrorKind | None = None,
    ) -> Self:
        self = super().__new__(cls, content, is_error)
        self.__dict__.update(cause=cause, kind=kind)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Reply does not change: {name!r} cannot be set")

    # A tuple has its own `__eq__` and `__hash__`.
    def __eq__(self, other: object) -> bool:
        if isinstance(other, Reply) and other.kind != self.kind:
            return False
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        # Equal to the hash of an equal tuple. The blocks of an image cannot be hashed.
        return super().__hash__() if isinstance(self.content, str) else hash(repr(self.content))

    # The method of the named tuple knows only the pair.
    def _replace(self, **changes: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        fields = {"cause": self.cause, "kind": self.kind, **self._asdict(), **changes}
        return type(self)(**fields)

    __replace__ = _replace

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        from memdir._pydantic import reply_schema  # noqa: PLC0415

        return reply_schema(cls)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"title": "Reply", **handler(schema)}

    def __repr__(self) -> str:
        kind = f", kind={self.kind!r}" if self.kind is not None else ""
        cause = f", cause={self.cause!r}" if self.cause is not None else ""
        return f"Reply(content={self.content!r}, is_error={self.is_error}{kind}{cause})"


for _class in (Reply, ImageBlock, ImageSource):
    _class.__module__ = "memdir"
