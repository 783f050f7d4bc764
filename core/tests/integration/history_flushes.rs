//! A power failure: with full durability a record is on the disk before its change takes effect, and the content is
//! on the disk before its name. The test checks the order of the system calls that `strace` prints.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]

use std::path::Path;
use std::process::{Command, Stdio};

use memdir::{Durability, Memory, MemoryOptions};

/// Not a real test: the traced process.
#[test]
fn traced() {
    let Ok(address) = std::env::var("MEMDIR_TRACED") else { return };
    let mut options = MemoryOptions::default();
    options.history = true;
    options.durability = Durability::Full;
    let memory = Memory::open(&address, options).unwrap();
    memory.create("/memories/a", "one\n").unwrap();
    for number in 0..5 {
        memory.insert("/memories/a", 0, &number.to_string()).unwrap();
    }
    memory.rename("/memories/a", "/memories/b").unwrap();
    memory.delete("/memories/b").unwrap();
}

/// A relevant line of the trace.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    /// Something was written to the log.
    Recorded,
    /// The log was flushed to the disk.
    Flushed,
    /// A file was replaced, moved or deleted.
    Changed,
}

fn call(line: &str) -> Option<Call> {
    let has = |words: &[&str]| words.iter().all(|word| line.contains(word));
    if has(&["write(", "/history/active>"]) {
        Some(Call::Recorded)
    } else if line.contains("fdatasync") && line.ends_with("= 0") {
        Some(Call::Flushed)
    } else if has(&["renameat", "/memories>", "= 0"]) || has(&["unlinkat", "\"b\"", "= 0"]) {
        Some(Call::Changed)
    } else {
        None
    }
}

fn check(place: &Path) {
    let log = place.join("trace");
    let traced = Command::new("strace")
        .args(["-f", "-y", "-qq", "-e", "signal=none"])
        .args(["-e", "trace=write,fdatasync,renameat,renameat2,unlinkat", "-o"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args([here!("traced"), "--exact"])
        .env("MEMDIR_TRACED", place.join("memory"))
        .stdout(Stdio::null())
        .status();
    let Ok(status) = traced else {
        eprintln!("==> LEFT OUT: the order of flushes, because strace is not installed");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI has to have it");
        return;
    };
    assert!(status.success());
    let trace = std::fs::read_to_string(&log).unwrap();
    let calls: Vec<Call> = trace.lines().filter_map(call).collect();
    // For each change: its record, a flush, the change itself, and the note that it was made, which needs no flush.
    let (mut changes, mut is_flushed, mut is_note) = (0, true, false);
    for call in &calls {
        match call {
            Call::Recorded if is_note => is_note = false,
            Call::Recorded => is_flushed = false,
            Call::Flushed => is_flushed = true,
            Call::Changed => {
                assert!(is_flushed, "{calls:?}\n{trace}");
                changes += 1;
                is_note = true;
            }
        }
    }
    assert_eq!(changes, 8, "{calls:?}\n{trace}");
}

#[test]
fn a_record_is_on_the_disk_before_its_change() {
    check(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap().path());
    if Path::new("/dev/shm").is_dir() {
        check(tempfile::tempdir_in("/dev/shm").unwrap().path());
    }
}
