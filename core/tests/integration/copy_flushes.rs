//! The flushes of a copy, an import and a restore of many files, and of a new database: the test counts the system calls that `strace` prints.
#![cfg(all(target_os = "linux", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]

use std::mem;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::common::store_helpers::{at, copy_all, in_process, put};
use memdir::history::HistoryQuery;
use memdir::import::ImportedFile;
use memdir::{Memory, MemoryOptions, OnExisting, open_store};

/// More files than a batch places under one lock, in several directories.
const FILES: usize = 200;

/// Not a real test: the traced process.
#[test]
fn traced() {
    let Ok(address) = std::env::var("MEMDIR_TRACED") else { return };
    let paths: Vec<String> =
        (0..FILES).map(|number| format!("/memories/d{}/{number}", number % 5)).collect();
    let to = open_store(&address, &MemoryOptions::default()).unwrap();
    let mut options = MemoryOptions::default();
    let work = std::env::var("MEMDIR_WORK").unwrap();
    options.history = work != "import";
    let memory = Memory::with_store(Arc::clone(&to), options);
    match work.as_str() {
        "open" => {}
        "copy" => {
            let from = in_process();
            paths.iter().for_each(|path| put(&*from, path, "text"));
            copy_all(&from, &to).unwrap();
        }
        "restore" => {
            let last = memory.history(&HistoryQuery::default()).unwrap()[FILES].id.time();
            memory.restore_all(last, false).unwrap();
        }
        _ => {
            let paths: Vec<_> = paths.iter().map(|path| at(path)).collect();
            let (text, existing) = ("text", OnExisting::Error);
            let file = |path| ImportedFile { path, text, existing };
            let files: Vec<_> = paths.iter().map(file).collect();
            memory.import(|import| import.write_batch(&files)).0.unwrap();
        }
    }
    // Closing the last connection to a database flushes it again.
    mem::forget((memory, to));
}

/// The traced calls, one a line; `None` without strace.
fn trace(address: &str, log: &Path, work: &str) -> Option<Vec<String>> {
    let mut strace = Command::new("strace");
    let calls = "trace=fsync,fdatasync,syncfs,renameat,renameat2";
    strace.args(["-f", "-y", "-qq", "-e", "signal=none", "-e", calls, "-o"]).arg(log);
    strace.arg(std::env::current_exe().unwrap()).args([here!("traced"), "--exact"]);
    strace.env("MEMDIR_TRACED", address).env("MEMDIR_WORK", work).stdout(Stdio::null());
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
    let Some(calls) = trace(&address, &place.path().join("log"), "open") else { return };
    assert_eq!(count(&calls, "sync"), 3, "{calls:#?}");
}

#[test]
fn a_copy_into_a_database_flushes_a_batch_and_not_each_file() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let address = format!("sqlite:{}", place.path().join("a.db").display());
    let Some(calls) = trace(&address, &place.path().join("log"), "copy") else { return };
    assert!(count(&calls, "sync") < FILES / 10, "{calls:#?}");
}

#[test]
fn an_import_into_a_database_flushes_a_batch_and_not_each_file() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for work in ["import", "import with a history"] {
        let address = format!("sqlite:{}", place.path().join(work).display());
        let Some(calls) = trace(&address, &place.path().join("log"), work) else { return };
        assert!(count(&calls, "sync") < FILES / 10, "{work}: {calls:#?}");
    }
}

/// The records are on the disk before the first file has its name.
#[test]
fn an_import_into_a_directory_flushes_all_records_once() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let log = &place.path().join("log");
    let memory = |name: &str| place.path().join(name).display().to_string();
    let is_rename = |call: &String| call.contains("renameat") && call.contains("/memories");
    let is_of_log = |call: &String| call.contains("fdatasync") && call.contains("/history/active");
    let Some(without) = trace(&memory("without"), log, "import") else { return };
    let Some(with) = trace(&memory("with"), log, "import with a history") else { return };
    assert_eq!(with.iter().filter(|call| is_rename(call)).count(), FILES);
    assert_eq!(with.iter().filter(|call| is_of_log(call)).count(), 1, "{with:#?}");
    let first = with.iter().position(is_rename).unwrap();
    assert!(with[..first].iter().any(is_of_log), "{with:#?}");
    // A new log has a few flushes of its own.
    assert!(count(&with, "sync") <= count(&without, "sync") + 8, "{with:#?}");

    // A history with the deletions of all files, and a restore of all of them.
    let store = open_store(&memory("with"), &MemoryOptions::default()).unwrap();
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory_with = Memory::with_store(store, options);
    for number in 0..FILES {
        memory_with.delete(&format!("/memories/d{}/{number}", number % 5)).unwrap();
    }
    let Some(restored) = trace(&memory("with"), log, "restore") else { return };
    assert_eq!(restored.iter().filter(|call| is_rename(call)).count(), FILES);
    assert_eq!(restored.iter().filter(|call| is_of_log(call)).count(), 1, "{restored:#?}");
    assert!(count(&restored, "sync") <= count(&without, "sync") + 1, "{restored:#?}");
}

#[test]
fn a_copy_into_a_directory_flushes_contents_before_their_names() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let address = place.path().join("memory").display().to_string();
    let Some(calls) = trace(&address, &place.path().join("log"), "copy") else { return };
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
