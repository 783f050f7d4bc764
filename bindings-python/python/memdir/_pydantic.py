"""How Pydantic, and so FastAPI, encodes a `Reply`. It knows results, which are dataclasses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from pydantic_core import core_schema as core

from memdir._results import ErrorKind

if TYPE_CHECKING:
    from memdir._reply import Reply


def reply_schema(reply: type[Reply]) -> core.CoreSchema:
    """Accepts a reply, or an object with its content, `is_error` and kind. Encodes as an object."""
    blocks = core.list_schema(core.dict_schema(core.str_schema()))
    kinds = core.literal_schema([*get_args(ErrorKind)])

    def fields(*, all_given: bool) -> core.CoreSchema:
        return core.typed_dict_schema(
            {
                "content": core.typed_dict_field(core.union_schema([core.str_schema(), blocks])),
                "is_error": core.typed_dict_field(core.bool_schema(), required=all_given),
                "kind": core.typed_dict_field(core.nullable_schema(kinds), required=all_given),
            }
        )

    made = core.no_info_after_validator_function(
        lambda given: reply(**given), fields(all_given=False)
    )
    return core.json_or_python_schema(
        json_schema=made,
        python_schema=core.union_schema([core.is_instance_schema(reply), made]),
        serialization=core.plain_serializer_function_ser_schema(
            _fields, return_schema=fields(all_given=True)
        ),
    )


def _fields(reply: Reply) -> dict[str, Any]:
    return {"content": reply.content, "is_error": reply.is_error, "kind": reply.kind}
