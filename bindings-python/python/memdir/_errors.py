"""The exceptions, in Python because classes of the stable ABI cannot extend `Exception`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memdir._results import Conflict, ErrorKind


class MemdirError(Exception):
    """What every exception of memdir is."""


class RefusedError(MemdirError):
    """A command was refused, and nothing was changed.

    `str(error)` is the exact answer for the model, to be sent back with `is_error`.

    >>> from memdir import Memory, RefusedError
    >>> try:
    ...     Memory("memory:").view("/memories/missing.md")
    ... except RefusedError as error:
    ...     error.kind
    'not_found'
    """

    kind: ErrorKind = "invalid"
    """What kind of refusal it is."""


class StoreError(MemdirError):
    """The store itself failed: a disk error, a server that is gone.

    The text has the details, for your log and not for the model. If a store written in Python
    failed, its own exception is the `__cause__`.
    """

    kind: ErrorKind = "unavailable"
    """What kind of failure it is: `"busy"`, `"cancelled"`, `"unavailable"` (nothing was changed) or
    `"outcome_unknown"` (the change may or may not have been made)."""


class HookError(MemdirError):
    """The hook `before` failed, and the command was not carried out.

    The text has the details, for your log and not for the model. What the hook raised is the
    `__cause__`.
    """


class Deny(MemdirError):  # noqa: N818 - it is no error, but what a hook has to say
    """Raised by the hook `before` to forbid a command; `str(deny)` is what the model reads."""


class CopyError(MemdirError):
    """A copy was refused: the destination holds something else. Nothing was copied.

    (If somebody else put it there during the copy, the files before it are copied.)
    """

    paths: list[str]
    """What is in the way."""


class HistoryError(MemdirError):
    """The history cannot say it, or something could not be taken back.

    Nothing was changed, unless `kind` is `"partly"`: then the store failed in the middle, and what
    was written is a change of its own.
    """

    kind: str
    """The case: `"off"`, `"read_only"`, `"no_id"`, `"path"`, `"unknown"`, `"ambiguous"`,
    `"no_content"`, `"no_file"`, `"not_text"`, `"redacted"`, `"damaged"`, `"conflict"`, `"trimmed"`,
    `"is_current"` or `"partly"`."""

    paths: list[str]
    """The files in question, such as those of a conflict."""

    conflicts: list[Conflict]
    """Of a `"conflict"`: for each path the later change, its actor and its time. Else empty."""


class ConfigError(MemdirError, ValueError):
    """A store's address or an option is wrong."""

    option: str | None = None
    """The option or argument that is wrong; `None` if it is the address."""


for _class in (
    MemdirError,
    RefusedError,
    StoreError,
    HookError,
    Deny,
    CopyError,
    HistoryError,
    ConfigError,
):
    # They are public as `memdir.RefusedError` and so on, and are shown and pickled as that.
    _class.__module__ = "memdir"
