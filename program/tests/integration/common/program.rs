//! Helpers for the tests of the program `memdir`: running it, and its stores.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

pub(crate) fn memdir(place: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    // It would print that no policies are in force.
    command.current_dir(place).stdin(Stdio::null()).env("MEMDIR_QUIET", "1");
    command
}

/// The advice if there is no memory at an address, and none that resembles it.
pub(crate) const NO_MEMORY: &str =
    ": check the address, or create a memory there with `memdir put`";

pub(crate) fn run(place: &Path, arguments: &[&str]) -> (i32, String, String) {
    said(&memdir(place).args(arguments).output().unwrap())
}

pub(crate) fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Checks that it succeeds, and prints nothing on standard error. Returns its output.
pub(crate) fn well(place: &Path, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run(place, arguments);
    assert_eq!((code, stderr.as_str()), (0, ""), "{arguments:?}");
    stdout
}

pub(crate) fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn write(path: &Path, content: &str, age: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    let time = SystemTime::now() - Duration::from_secs(age);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

pub(crate) const HOUR: u64 = 3600;

/// A local directory `a` with something of every kind, and the same as the database `a.db`.
pub(crate) fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("a/memories");
    write(&root.join("notes/today.md"), &"x".repeat(1536), 3 * HOUR + HOUR / 2);
    write(&root.join("notes/old/été.md"), "été\n", 50 * 24 * HOUR + HOUR);
    write(&root.join("zeta.md"), "last\n", 800 * 24 * HOUR);
    write(&root.join(".hidden/key"), "k", 90);
    fs::create_dir(root.join("empty")).unwrap();
    well(place.path(), &["copy", "a", "sqlite:a.db"]);
    place
}
