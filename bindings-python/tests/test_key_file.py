"""A key in a file: concurrent first calls get the same key, and no other file is overwritten."""

from __future__ import annotations

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from memdir import ConfigError, Memory, MemoryTool, key_from_file, open_store, read_only

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 200

# Reads the key of each round, and prints it. The processes meet before each round.
WORKER = """
import sys
from pathlib import Path
from memdir import key_from_file
place, me = Path(sys.argv[1]), sys.argv[2]
for number in range(int(sys.argv[3])):
    here = [Path(f"{place}.{number}.{each}") for each in "ab"]
    Path(f"{place}.{number}.{me}").touch()
    while not all(each.exists() for each in here):
        pass
    print(key_from_file(place / f"{number}.key").hex())
"""


def test_a_key_in_a_file_opens_its_memory_again(tmp_path: Path) -> None:
    file = tmp_path / "memory.key"
    memory = Memory(tmp_path / "memory", encryption_key=key_from_file(file))
    memory.create("/memories/tea.md", "green\n")
    again = Memory(tmp_path / "memory", encryption_key=key_from_file(str(file)))
    assert again.read("/memories/tea.md") == "green\n"
    assert file.read_bytes() == key_from_file(file)
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_holds_no_key_is_an_error_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "memory.key"
    for length in (0, 31, 33):
        file.write_bytes(bytes(length))
        with pytest.raises(ConfigError, match="must have 32 bytes") as raised:
            key_from_file(file)
        assert raised.value.option == "path"
        assert file.read_bytes() == bytes(length)
    with pytest.raises(ConfigError):
        key_from_file(tmp_path / "none" / "memory.key")


def test_threads_that_make_the_first_call_at_once_get_one_key(tmp_path: Path) -> None:
    begin = Barrier(4)

    def call(file: Path) -> bytes:
        begin.wait()
        return key_from_file(file)

    with ThreadPoolExecutor(4) as threads:
        for number in range(ROUNDS):
            file = tmp_path / f"{number}.key"
            assert set(threads.map(call, [file] * 4)) == {file.read_bytes()}
    assert len(list(tmp_path.iterdir())) == ROUNDS


def test_processes_that_make_the_first_call_at_once_get_one_key(tmp_path: Path) -> None:
    place = tmp_path / "keys"
    place.mkdir()
    command = [sys.executable, "-c", WORKER, str(place)]
    started = [
        subprocess.Popen([*command, me, str(ROUNDS)], stdout=subprocess.PIPE, text=True)
        for me in "ab"
    ]
    said = [each.communicate(timeout=120)[0] for each in started]
    assert [each.returncode for each in started] == [0, 0]
    kept = [(place / f"{number}.key").read_bytes().hex() for number in range(ROUNDS)]
    assert [each.split() for each in said] == [kept, kept]
    assert len(list(place.iterdir())) == ROUNDS


@pytest.mark.parametrize("missing", [None, 5, ["memory:"]])
def test_an_address_that_is_missing_is_not_the_default_one(missing: Any) -> None:
    for kind in (Memory, MemoryTool, open_store, read_only):
        with pytest.raises(ConfigError, match="store must be"):
            kind(missing)
    with pytest.raises(ConfigError, match=r'store\["/memories"\] must be'):
        Memory({"/memories": missing})
    with pytest.raises(ConfigError, match="the store address is empty"):
        Memory("")
