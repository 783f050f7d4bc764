"""What is built for which platform, and what came of it: shared by the programs in this directory."""

import json
import platform as machine
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = json.loads((ROOT / "release/platforms.json").read_text("utf-8"))
# Where `packages` leaves what it builds, and where `assemble` lays what is published.
PACKAGES = ROOT / "target/packages"
FILES = ROOT / "target/release-files"
TOOLS = ROOT / ".cache/release/bin"
NOTICES = PACKAGES / "notices/THIRD-PARTY-NOTICES.txt"
RESULTS = ROOT / "release/results.json"


def this_machine():
    system = {"Darwin": "macos", "Windows": "windows"}.get(machine.system(), "linux")
    processor = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    return f"{system}-{processor[machine.machine().lower()]}"


def note(platform, what, result):
    """Notes that something was done today; the table in docs/platforms.md is made from that."""
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    results.setdefault(platform, {})[what] = {"on": date.today().isoformat()} | result
    ordered = {name: results[name] for name in PLATFORMS if name in results}
    RESULTS.write_text(json.dumps(ordered, indent=2) + "\n", "utf-8")
