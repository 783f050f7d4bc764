"""The cost of opening a memory for a request: without encryption, with a key, with a passphrase.

    python benches/open_memory.py ADDRESS [--rounds 20]

ADDRESS is the address of a database for tests, such as `postgres://user:password@host/test`.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
import uuid

from memdir import AsyncMemory


async def opening(address: str, key: bytes | str | None, rounds: int) -> float:
    """The median time to open a memory that already exists, in milliseconds."""
    names = [f"bench {uuid.uuid4()}" for _ in range(rounds)]
    for name in names:
        async with await AsyncMemory.open(address, namespace=name, encryption_key=key) as memory:
            await memory.create("/memories/a.md", "one")
    times = []
    for name in names:
        start = time.perf_counter()
        memory = await AsyncMemory.open(address, namespace=name, encryption_key=key)
        times.append((time.perf_counter() - start) * 1000)
        await memory.clear()
        await memory.aclose()
    return statistics.median(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    ways = {"no encryption": None, "a key": bytes(range(32)), "a passphrase": "correct horse"}
    for name, key in ways.items():
        median = asyncio.run(opening(arguments.address, key, arguments.rounds))
        print(f"  {name:16} {median:8.2f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
