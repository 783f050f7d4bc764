//! The flushes of a copy of many files, and of a new database: the test counts the system calls that `strace` prints.
#![cfg(all(target_os = "linux", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]

use std::mem;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::store_helpers::{copy_all, in_process, put};
use memdir::{MemoryOptions, open_store};

/// More files than a batch places under one lock, in several directories.
const FILES: usize = 200;

/// Not a real test: the traced process.
#[test]
fn traced() {
    let Ok(address) = std::env::var("MEMDIR_TRACED") else { return };
    let from = in_process();
    for number in 0..FILES {
        put(&*from, &format!("/memories/d{}/{number}", number % 5), "text");
    }
    let to = open_store(&address, &MemoryOptions::default()).unwrap();
    if std::env::var("MEMDIR_COPIES").is_ok() {
        copy_all(&from, &to).unwrap();
    }
    // Closing the last connection to a database flushes it again.
    mem::forget(to);
}

/// The traced calls, one a line; `None` without strace.
fn trace(address: &str, log: &Path, copies: bool) -> Option<Vec<String>> {
    let mut strace = Command::new("strace");
    let calls = "trace=fsync,fdatasync,syncfs,renameat,renameat2";
    strace.args(["-f", "-qq", "-e", "signal=none", "-e", calls, "-o"]).arg(log);
    strace.arg(std::env::current_exe().unwrap()).args([here!("traced"), "--exact"]);
    strace.env("MEMDIR_TRACED", address).stdout(Stdio::null());
    if copies {
        strace.env("MEMDIR_COPIES", "1");
    }
    let Ok(status) = strace.status() else {
        eprintln!("==> LEFT OUT: the flushes of a copy, because strace is not installed");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI has to have it");
        return None;
    };
    assert!(status.success());
    Some(std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect())
}

fn count(calls: &[String], name: &str) -> usize {
    calls.iter().filter(|call| call.contains(name)).count()
}

#[test]
fn a_new_database_is_made_with_three_flushes() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let address = format!("sqlite:{}", place.path().join("a.db").display());
    let Some(calls) = trace(&address, &place.path().join("log"), false) else { return };
    assert_eq!(count(&calls, "sync"), 3, "{calls:#?}");
}

#[test]
fn a_copy_into_a_database_flushes_a_batch_and_not_each_file() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let address = format!("sqlite:{}", place.path().join("a.db").display());
    let Some(calls) = trace(&address, &place.path().join("log"), true) else { return };
    assert!(count(&calls, "sync") < FILES / 10, "{calls:#?}");
}

#[test]
fn a_copy_into_a_directory_flushes_contents_before_their_names() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let address = place.path().join("memory").display().to_string();
    let Some(calls) = trace(&address, &place.path().join("log"), true) else { return };
    let is_rename = |call: &String| call.contains("renameat");
    assert_eq!(calls.iter().filter(|call| is_rename(call)).count(), FILES);
    let first = calls.iter().position(is_rename).unwrap();
    let last = calls.iter().rposition(is_rename).unwrap();
    if count(&calls, "syncfs") > 0 {
        assert_eq!(count(&calls, "sync"), 2, "{calls:#?}");
        assert_eq!(count(&calls[..first], "syncfs"), 1, "the contents are flushed first");
        assert_eq!(count(&calls[last..], "syncfs"), 1, "then the directories");
    } else {
        // A file system whose files are flushed one by one: all of them before the first name.
        assert_eq!(count(&calls[..first], "fsync"), FILES);
        assert!(count(&calls[first..], "fsync") < FILES / 4, "{calls:#?}");
    }
}
