"""Tests of how the programs of this directory use the system, above all Windows, where they have not run yet."""

import importlib.machinery
import importlib.util
import os
import subprocess
import zipfile
from pathlib import Path, PureWindowsPath

import pytest

import platforms

HERE = Path(__file__).resolve().parent


def program(name):
    """A program of this directory as a module. It has no extension, and is not run."""
    loader = importlib.machinery.SourceFileLoader(name, str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


check_notices = program("check-notices")
packages = program("packages")


@pytest.fixture
def release(tmp_path, monkeypatch):
    """An empty directory as the only place of tools."""
    monkeypatch.setattr(platforms, "RELEASE", tmp_path)
    monkeypatch.setenv("PATH", "elsewhere")
    return tmp_path


def add(file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o755)
    return str(file)


def test_scripts_of_an_environment_are_in_bin_and_on_windows_in_scripts(release):
    assert platforms.scripts_of(release, "posix") == release / "bin"
    assert platforms.scripts_of(release, "nt") == release / "Scripts"


def test_search_path_begins_with_the_environment_and_with_what_cargo_installed(release):
    both = [str(release / "Scripts"), str(release / "bin"), "elsewhere"]
    assert platforms.search_path("nt").split(os.pathsep) == both
    assert platforms.search_path("posix").split(os.pathsep) == both[1:]


def test_tool_is_found_in_either_place_of_windows(release, monkeypatch):
    maturin, about = add(release / "Scripts/maturin"), add(release / "bin/cargo-about")
    path = platforms.search_path("nt")
    monkeypatch.setattr(platforms, "search_path", lambda: path)
    assert [platforms.tool("maturin"), platforms.tool("cargo-about")] == [maturin, about]


@pytest.mark.usefixtures("release")
def test_tool_that_is_missing_is_named():
    with pytest.raises(SystemExit, match="maturin was not found"):
        platforms.tool("maturin")


def test_script_is_started_by_bash(release):
    bash = add(release / "bin/bash")
    script = PureWindowsPath(r"D:\memdir\bindings-uniffi\scripts\device")
    assert platforms.script(script) == [bash, "D:/memdir/bindings-uniffi/scripts/device"]


def test_library_for_windows_is_built_by_bash_and_cargo(release, monkeypatch):
    bash = add(release / "bin/bash")
    orders = []
    monkeypatch.setattr(packages.subprocess, "run", lambda order, **_: orders.append(order))
    library = packages.compile_library(
        platforms.PLATFORMS["windows-x64"], platforms.script(packages.SMALL), "memdir-node", "memdir_node", "release"
    )
    assert orders[0][:3] == [bash, packages.SMALL.as_posix(), "cargo"]
    assert library.name == "memdir_node.dll"


def test_notices_that_lack_a_crate_or_name_an_old_one_are_refused(tmp_path, monkeypatch):
    check_notices.main()
    text = check_notices.NOTICES.read_text("utf-8")
    version = next(crate for crate in check_notices.noted() if crate.startswith("serde_json "))
    monkeypatch.setattr(check_notices, "ROOT", tmp_path.parent)
    monkeypatch.setattr(check_notices, "NOTICES", tmp_path / "notices.txt")
    monkeypatch.setattr(check_notices, "compiled_in", lambda: {version})
    monkeypatch.setattr(check_notices, "locked", lambda: {version})
    check_notices.NOTICES.write_text(text.replace(f"{version}  ", "serde_json 0.0.1  "), "utf-8")
    with pytest.raises(SystemExit) as refused:
        check_notices.main()
    assert f"{version} is missing" in str(refused.value)
    assert "serde_json 0.0.1 is not in Cargo.lock" in str(refused.value)


@pytest.mark.parametrize("kind", packages.KINDS)
def test_package_that_has_grown_beyond_its_limit_is_refused(kind):
    packages.hold_the_limit(kind, packages.LIMITS[kind])
    with pytest.raises(SystemExit, match="the limit is"):
        packages.hold_the_limit(kind, packages.LIMITS[kind] + 1)


@pytest.mark.parametrize("text", [rb"D:\a\memdir\core", b"D:/a/memdir/core"])
def test_package_that_holds_a_path_of_this_machine_is_refused(tmp_path, monkeypatch, text):
    monkeypatch.setattr(packages, "ROOT", PureWindowsPath(r"D:\a\memdir"))
    wheel = tmp_path / "memdir.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("memdir/_memdir.pyd", b"\0" + text + b"\0")
    with pytest.raises(SystemExit, match=r"_memdir\.pyd holds the path"):
        packages.hold_no_paths(wheel)


def test_package_without_paths_of_this_machine_passes(tmp_path):
    binary = tmp_path / "memdir.node"
    binary.write_bytes(b"/memdir/core/src/lib.rs /cargo/registry")
    packages.hold_no_paths(binary)


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A compiler whose standard libraries would be in an empty directory. All other commands are recorded, and fail."""
    orders = []

    def run(order, **_):
        if order[0] == "rustc":
            return subprocess.CompletedProcess(order, 0, f"{tmp_path}\n")
        orders.append(order)
        return subprocess.CompletedProcess(order, 1)

    monkeypatch.setattr(platforms.subprocess, "run", run)
    return orders


def test_standard_library_that_the_compiler_has_is_not_asked_of_rustup(compiler, tmp_path):
    add(tmp_path / "libstd-1234.rlib")
    platforms.standard_library("aarch64-unknown-linux-musl")
    assert compiler == []


def test_standard_library_that_is_missing_is_asked_of_rustup_and_otherwise_built(compiler, release, monkeypatch):
    with pytest.raises(SystemExit, match=r"no standard library for s390x.*tests/platforms/std builds it"):
        platforms.standard_library("s390x")
    assert compiler == []
    add(release / "bin/rustup")
    monkeypatch.setenv("PATH", str(release / "bin"))
    with pytest.raises(SystemExit, match="tests/platforms/std"):
        platforms.standard_library("s390x")
    assert compiler == [["rustup", "target", "add", "s390x"]]
