"""The platforms, their packages and the results: shared by the programs in this directory."""

import json
import os
import platform as machine
import shutil
import subprocess
import sysconfig
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = json.loads((ROOT / "release/platforms.json").read_text("utf-8"))
# The output of `packages`, and the published files that `assemble` collects.
PACKAGES = ROOT / "target/packages"
FILES = ROOT / "target/release-files"
RELEASE = ROOT / ".cache/release"
NOTICES = ROOT / "bindings-python/THIRD-PARTY-NOTICES.txt"
RESULTS = ROOT / "release/results.json"


def scripts_of(environment, system=os.name):
    """The directory of programs in a virtual environment."""
    scheme = "nt" if system == "nt" else "posix_prefix"
    return Path(sysconfig.get_path("scripts", scheme, {"base": str(environment)}))


def search_path(system=os.name):
    """The PATH, with our tools before all others."""
    # On Windows they are in two directories: `cargo install` uses only `bin`.
    ours = dict.fromkeys([scripts_of(RELEASE, system), RELEASE / "bin"])
    return os.pathsep.join([*map(str, ours), os.environ["PATH"]])


def tool(name):
    """The path of a program, with the extension of programs on this system."""
    found = shutil.which(name, path=search_path())
    if not found:
        raise SystemExit(f"release: {name} was not found; `make packages` installs the tools")
    return found


def script(path):
    """The command that starts a bash script. Windows cannot start one directly."""
    # The bash of Git, which runs make's recipes, comes in the PATH before the one of Windows' subsystem for Linux.
    return [tool("bash"), path.as_posix()]


def standard_library(target):
    """Makes sure that the compiler has Rust's standard library for the target. It need not be rustup's."""
    asked = ["rustc", "--print", "target-libdir", "--target", target]
    directory = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    if any(Path(directory).glob("libstd-*.rlib")):
        return
    if not shutil.which("rustup") or subprocess.run(["rustup", "target", "add", target], check=False).returncode != 0:
        raise SystemExit(
            f"release: there is no standard library for {target}; "
            "where rustup cannot fetch it, tests/platforms/std builds it from its sources"
        )


def this_machine():
    system = {"Darwin": "macos", "Windows": "windows"}.get(machine.system(), "linux")
    processor = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    return f"{system}-{processor[machine.machine().lower()]}"


def note(platform, what, result):
    """Records that something was done today, for the table in docs/reference/platforms.md."""
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    results.setdefault(platform, {})[what] = {"on": date.today().isoformat()} | result
    ordered = {name: results[name] for name in PLATFORMS if name in results}
    RESULTS.write_text(json.dumps(ordered, indent=2) + "\n", "utf-8")
