"""The exceptions, in Python because classes of the stable ABI cannot extend `Exception`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memdir._results import Conflict, ErrorKind, HistoryErrorKind, SyncErrorKind


class MemdirError(Exception):
    """The base class of every exception of memdir."""


class RefusedError(MemdirError):
    """A command was refused, and nothing was changed.

    `str(error)` is the exact answer for the model. Send it back with `is_error`.

    >>> from memdir import Memory, RefusedError
    >>> try:
    ...     Memory("memory:").view("/memories/missing.md")
    ... except RefusedError as error:
    ...     error.kind
    'not_found'
    """

    kind: ErrorKind = "invalid"
    """The kind of refusal."""


class StoreError(MemdirError):
    """The store itself failed, for example with a disk error or a lost connection.

    The text has the details, for your log and not for the model. If a store written in Python
    failed, its own exception is the `__cause__`.
    """

    kind: ErrorKind = "unavailable"
    """The kind of failure: `"busy"`, `"cancelled"`, `"unavailable"` (nothing was changed) or
    `"outcome_unknown"` (the change may or may not have been made)."""


class HookError(MemdirError):
    """The hook `before` failed, and the command was not executed.

    The text has the details, for your log and not for the model. The exception of the hook is the
    `__cause__`.
    """

    kind: ErrorKind = "hook_failed"
    """Always `"hook_failed"`."""


class Deny(MemdirError):  # noqa: N818 - it is a decision of the hook and not an error
    """Raised by the hook `before` to forbid a command; `str(deny)` is what the model reads."""


class CopyError(MemdirError):
    """A copy was refused because the destination holds something else. Nothing was copied.

    If another process put it there during the copy, the files before it are copied.
    """

    paths: list[str]
    """The paths that are in the way."""


class SyncError(MemdirError):
    """A sync did not run to its end, although no store failed.

    Nothing was changed, unless `kind` is `"stopped"`: then the changes before that stay, and the
    next sync makes the others.
    """

    kind: SyncErrorKind
    """Why it did not run to its end."""


class HistoryError(MemdirError):
    """The history cannot answer the query, or an undo or restore was not possible.

    Nothing was changed, unless `kind` is `"partly"`: then the store failed in the middle, and the
    part that was written is a change of its own.
    """

    kind: HistoryErrorKind
    """Why it failed."""

    paths: list[str]
    """The affected files, such as those of a conflict."""

    conflicts: list[Conflict]
    """For a `"conflict"`: the later change of each path, with actor and time. Otherwise empty."""


class ConfigError(MemdirError, ValueError):
    """The address of a store or an option is wrong."""

    kind: ErrorKind = "config"
    """Always `"config"`."""

    option: str | None = None
    """The option or argument that is wrong; `None` if the address is wrong."""


for _class in (
    MemdirError,
    RefusedError,
    StoreError,
    HookError,
    Deny,
    CopyError,
    SyncError,
    HistoryError,
    ConfigError,
):
    # They are public as `memdir.RefusedError` and so on. `repr` and `pickle` use that name.
    _class.__module__ = "memdir"
