"""The size and the price of a fleet of agents, each with a memory, on each kind of store.

    python model.py

Each default of a class is an assumption: replace it by your own number. REQUESTS and HISTORY are
none, because a test counts these requests. docs/operations/scale.md explains the model.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil

DAY = 24 * 60 * 60
MONTH = 30 * DAY


@dataclass(frozen=True)
class Load:
    """The work of an agent."""

    active: float = 0.1
    """The share of all agents that work on a day."""
    conversations: float = 3
    """The conversations of such an agent on that day."""
    openings: float = 4
    """How often a conversation opens the memory: in a server, once for each request of the user."""
    commands: dict[str, float] = field(
        default_factory=lambda: {"view root": 1, "view file": 2, "edit": 1, "create": 0.2}
    )
    """The commands of a conversation."""
    peak: float = 5
    """The commands of the busiest second, divided by those of a mean second."""
    files: int = 20
    file_bytes: int = 2_000
    record_bytes: int = 600
    """The size of a change in the history, which keeps it for `history_days`."""
    history_days: int = 30

    @property
    def changes(self) -> float:
        """The changes of a conversation."""
        return self.commands["edit"] + self.commands["create"]

    def per_second(self, agents: int, of_a_conversation: float) -> float:
        """The mean rate of something, given its number in a conversation."""
        return agents * self.active * self.conversations * of_a_conversation / DAY

    def bytes(self, agents: int) -> float:
        """The contents and the history of all memories."""
        changes = self.per_second(agents, self.changes) * self.history_days * DAY
        return agents * self.files * self.file_bytes + changes * self.record_bytes


@dataclass(frozen=True)
class Machine:
    """One machine with its own disk, and a directory or an SQLite database for each memory."""

    changes_per_second: float = 500
    """The rate of changes with a history that its disk flushes, in several memories at once."""
    disk_bytes: float = 1e12
    memory_bytes: float = 200_000
    """The size of a memory on the disk: blocks, directories, and the history."""
    price: float = 100
    """An example price of a month, with its backup."""

    def needed(self, load: Load, agents: int) -> int:
        changes = load.peak * load.per_second(agents, load.changes) / self.changes_per_second
        return ceil(max(changes, agents * self.memory_bytes / self.disk_bytes))


@dataclass(frozen=True)
class Postgres:
    """PostgreSQL, with a namespace for each memory."""

    view_trips: int = 1
    change_trips: int = 2
    """Round trips of a command, with and without a history. Opening a memory takes none."""
    trip_seconds: float = 0.002
    """The time of a round trip, including the work of the server. The connection is busy for it."""
    busy: float = 0.5
    """The share of the connections that may be busy in the busiest second."""
    connections: int = 200
    """Of one server, without a pooler."""
    changes_per_second: float = 2_000
    server_bytes: float = 2e12
    row_bytes: int = 300
    """The size of a file besides its content: the row, its indexes, and free space."""
    price: float = 600
    """An example price of a month: a server, its standby, and its backup."""

    def trips(self, load: Load, agents: int) -> float:
        """The round trips of the busiest second."""
        views = load.commands["view root"] + load.commands["view file"]
        trips = views * self.view_trips + load.changes * self.change_trips
        return load.peak * load.per_second(agents, trips)

    def connections_needed(self, load: Load, agents: int) -> int:
        """Of all processes together, for the busiest second (Little's law)."""
        return ceil(self.trips(load, agents) * self.trip_seconds / self.busy)

    def servers(self, load: Load, agents: int) -> int:
        changes = load.peak * load.per_second(agents, load.changes)
        stored = load.bytes(agents) + agents * load.files * self.row_bytes
        return ceil(
            max(
                changes / self.changes_per_second,
                self.connections_needed(load, agents) / self.connections,
                stored / self.server_bytes,
            )
        )


Requests = Counter[str]
REQUESTS: dict[str, Requests] = {
    "open": Counter(list=1),
    "view root": Counter(list=1),
    "view file": Counter(read=1),
    "edit": Counter(read=1, write=1),
    "create": Counter(read=2, list=2, write=1),
}
"""The requests of a command in a memory of up to 1,000 objects. `create` is in a directory."""
HISTORY: dict[str, Requests] = {
    "edit": Counter(list=1, write=1),
    "create": Counter(read=1, list=2, write=1),
    "first change": Counter(list=1),
}
"""The requests that a history adds. The first change is that of each opening."""


@dataclass(frozen=True)
class ObjectStorage:
    """A bucket, with a prefix for each memory."""

    history: bool = True
    reads_per_second: float = 5_500
    writes_per_second: float = 3_500
    """The rates of one partition of a bucket of Amazon S3. Listings count as reads here."""
    price_of_reads: float = 0.40
    price_of_writes: float = 5.00
    """Example prices of a million requests. Listings cost as much as writes."""
    price_of_storage: float = 0.02
    """An example price of a gigabyte for a month."""

    def requests(self, load: Load) -> dict[str, float]:
        """The requests of a conversation, by their kind."""
        counted: dict[str, float] = {"read": 0, "list": 0, "write": 0}
        times = {"open": load.openings, "first change": min(load.openings, load.changes)}
        for command, number in {**load.commands, **times}.items():
            requests = REQUESTS.get(command, Counter())
            if self.history:
                requests = requests + HISTORY.get(command, Counter())
            for kind, each in requests.items():
                counted[kind] += number * each
        return counted

    def partitions(self, load: Load, agents: int) -> int:
        """The number of parts into which the bucket must be split for the busiest second."""
        requests = self.requests(load)
        reads = load.peak * load.per_second(agents, requests["read"] + requests["list"])
        writes = load.peak * load.per_second(agents, requests["write"])
        return ceil(max(reads / self.reads_per_second, writes / self.writes_per_second))

    def price(self, load: Load, agents: int) -> float:
        """The price of a month."""
        requests = self.requests(load)
        writes = requests["list"] + requests["write"]
        price = requests["read"] * self.price_of_reads + writes * self.price_of_writes
        stored = load.bytes(agents) / 1e9 * self.price_of_storage
        return load.per_second(agents, price) * MONTH / 1e6 + stored


def address_of(user: str, addresses: list[str]) -> str:
    """The database of a user's memory. A new address gets an equal share of the users.

    All other users stay where they are.
    """
    return max(addresses, key=lambda address: sha256(f"{address}\0{user}".encode()).digest())


def agents_at_one_file(changes_per_second: float, seconds_between: float) -> int:
    """The number of agents that can edit one file, each with this pause between its edits."""
    return int(changes_per_second * seconds_between)


def rows(load: Load, agents: int) -> dict[str, float]:
    machine, postgres = Machine(), Postgres()
    bucket, plain = ObjectStorage(), ObjectStorage(history=False)
    once = Load(openings=1)
    requests = sum(bucket.requests(load).values())
    return {
        "commands in the busiest second": load.peak
        * load.per_second(agents, sum(load.commands.values())),
        "changes in the busiest second": load.peak * load.per_second(agents, load.changes),
        "contents and history, GB": load.bytes(agents) / 1e9,
        "machines": machine.needed(load, agents),
        "machines, price": machine.needed(load, agents) * machine.price,
        "PostgreSQL: round trips in the busiest second": postgres.trips(load, agents),
        "PostgreSQL: connections": postgres.connections_needed(load, agents),
        "PostgreSQL: servers": postgres.servers(load, agents),
        "PostgreSQL: price": postgres.servers(load, agents) * postgres.price,
        "bucket: requests in the busiest second": load.peak * load.per_second(agents, requests),
        "bucket: partitions": bucket.partitions(load, agents),
        "bucket: price": bucket.price(load, agents),
        "bucket: price, opened once a conversation": bucket.price(once, agents),
        "bucket: price, without a history": plain.price(load, agents),
    }


def main() -> None:
    fleets = [10_000, 1_000_000, 100_000_000]
    columns = [rows(Load(), agents) for agents in fleets]
    print(f"{'agents':46}" + "".join(f"{agents:>13,}" for agents in fleets))
    for name in columns[0]:
        print(f"{name:46}" + "".join(f"{ceil(column[name]):>13,}" for column in columns))


if __name__ == "__main__":
    main()
