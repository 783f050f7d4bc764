"""The amount of work in tests, the time that they wait, and the seed of random tests.

`MEMDIR_EFFORT` multiplies loops, kills, races and random steps. `MEMDIR_SEED` is the random seed.
"""

from __future__ import annotations

import os

EFFORT = int(os.environ.get("MEMDIR_EFFORT", "1"))
SEED = int(os.environ.get("MEMDIR_SEED", "1"))

# How long a test waits for something that happens soon. It is long, because a machine may be busy,
# and it is reached only if something hangs.
SECONDS = 300
