"""The options of a memory, for the signatures that hand them on."""

from __future__ import annotations

from typing import Literal, TypedDict


class Options(TypedDict, total=False):
    """What a developer can set; `Memory` says what each one means."""

    max_view_chars: int | None
    max_file_bytes: int | None
    on_existing: Literal["error", "overwrite"]
    durability: Literal["full", "relaxed"]
    encryption_key: bytes | str | None
    encrypt_names: bool
