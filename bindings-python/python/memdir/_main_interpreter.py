"""Refuses an import by a subinterpreter, before the native module is loaded.

From Python 3.12 on the interpreter itself refuses it. Before, the import succeeds, and the
subinterpreter may then wait forever.
"""

from __future__ import annotations

import sys
from importlib import import_module


def _is_main() -> bool:
    if sys.version_info >= (3, 12):
        return True
    try:
        interpreters = import_module("_xxsubinterpreters")
    except ImportError:
        return True
    return bool(interpreters.get_current() == interpreters.get_main())


if not _is_main():
    raise ImportError(
        "memdir does not support subinterpreters: import it in the main interpreter of a process "
        "(with mod_wsgi: WSGIApplicationGroup %{GLOBAL})"
    )
