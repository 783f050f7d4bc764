//! Shared parts of the tests: stores of every kind, servers, faults, and separate processes.
#![allow(clippy::print_stderr, reason = "what is left out is said")]

pub(crate) mod approving;
pub(crate) mod failing;
#[cfg(unix)]
pub(crate) mod faulty;
pub(crate) mod faulty_store;
pub(crate) mod folding_store;
#[cfg(unix)]
pub(crate) mod fork;
pub(crate) mod on_disk;
#[cfg(unix)]
pub(crate) mod proxy;
pub(crate) mod raw_bytes;
#[cfg(feature = "search")]
pub(crate) mod search;
pub(crate) mod store_helpers;
#[macro_use]
pub(crate) mod stores;
#[cfg(windows)]
pub(crate) mod windows;
pub(crate) mod workers;

#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, chown};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;
use std::process::{Child, Command};
#[cfg(unix)]
use std::sync::OnceLock;

use memdir::{Durability, Memory, MemoryOptions};

pub(crate) use memdir_test_support::effort;

/// Options for an undo, or for a dry run of one.
pub(crate) fn dry_run(dry_run: bool) -> memdir::history::UndoOptions {
    let mut options = memdir::history::UndoOptions::default();
    options.dry_run = dry_run;
    options
}

#[cfg(unix)]
pub(crate) use memdir_test_support::{clouds, postgres};
pub(crate) use on_disk::on_disk;

/// An unprivileged user, which exists on every system.
pub(crate) const NOBODY: u32 = 65534;

/// The name of the calling test, for starting this program so that it runs only that test.
macro_rules! here {
    ($test:literal) => {
        concat!(module_path!(), "::", $test).split_at("integration::".len()).1
    };
}

/// Runs the calling test, which [`here!`] names, in a process without privileges, with a directory to work in.
///
/// Tests that try to escape, follow links or delete trees must not be able to harm anything, even
/// if memdir has a bug. As root, the test switches to an unprivileged user; otherwise it keeps its user.
#[cfg(unix)]
pub(crate) fn without_power(test: &str, body: impl FnOnce(&Path)) {
    without_power_where(test, |_| {}, body);
}

/// As [`without_power`], in a place that root has prepared with files of other users. Only root can run it.
#[cfg(unix)]
pub(crate) fn without_power_in(test: &str, prepare: impl FnOnce(&Path), body: impl FnOnce(&Path)) {
    if std::env::var_os("MEMDIR_TEST_PLACE").is_none() && !rustix::process::geteuid().is_root() {
        eprintln!("==> LEFT OUT: {test}, because only root can make what belongs to others");
        return;
    }
    without_power_where(test, prepare, body);
}

#[cfg(unix)]
fn without_power_where(test: &str, prepare: impl FnOnce(&Path), body: impl FnOnce(&Path)) {
    if let Some(place) = std::env::var_os("MEMDIR_TEST_PLACE") {
        return body(Path::new(&place));
    }
    let place = tempfile::tempdir().unwrap();
    if !rustix::process::geteuid().is_root() {
        return body(place.path());
    }
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let work = place.path().join("work");
    std::fs::create_dir(&work).unwrap();
    prepare(&work);
    chown(&work, Some(NOBODY), Some(NOBODY)).unwrap();
    let mut command = Command::new(copy_of_this_program());
    command
        .args(["--exact", test, "--nocapture"])
        .env("MEMDIR_TEST_PLACE", &work)
        .current_dir(&work)
        .uid(NOBODY)
        .gid(NOBODY);
    let status = loop {
        match command.status() {
            // Another test may be starting a process at this moment. For a short time that process
            // has a copy of the handle through which this program was written.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            status => break status.unwrap(),
        }
    };
    assert!(status.success(), "{test} failed without power");
}

/// A copy of this program for the unprivileged user, who may not have access to the build directory. It is made once.
#[cfg(unix)]
fn copy_of_this_program() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        // It stays until the directory of the run is removed: no test knows that it is the last one.
        let place = tempfile::tempdir().unwrap().keep();
        std::fs::set_permissions(&place, PermissionsExt::from_mode(0o755)).unwrap();
        let copy = place.join("tests");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        copy
    })
}

/// Starts this program as a process that runs only `test`, which [`here!`] names. The job is passed in the
/// environment.
pub(crate) fn process(test: &str, job: &[(&str, &str)]) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .envs(job.iter().copied())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

/// Does `work` in a separate process that runs only the calling `test`, on a directory that `prepare` filled.
pub(crate) fn in_own_process(test: &str, prepare: impl FnOnce(&Path), work: impl FnOnce(&Path)) {
    if let Some(place) = std::env::var_os("MEMDIR_OWN_PROCESS") {
        return work(Path::new(&place));
    }
    let place = tempfile::tempdir().unwrap();
    prepare(place.path());
    let job = [("MEMDIR_OWN_PROCESS", place.path().to_str().unwrap())];
    assert!(process(test, &job).wait().unwrap().success(), "{test} failed in its own process");
}

pub(crate) fn memory(base: &Path) -> Memory {
    memory_with(base, Durability::Full)
}

pub(crate) fn memory_with(base: &Path, durability: Durability) -> Memory {
    let mut options = MemoryOptions::default();
    options.durability = durability;
    Memory::open(base.to_str().unwrap(), options).unwrap()
}
