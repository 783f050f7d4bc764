//! The local directory's lock: waits have a timeout, the lock ends with its owner, readers never wait, and an edit that
//! comes too late is decided again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![cfg(unix)]

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use crate::common::{fork, memory, memory_with, on_disk, process};
use memdir::{Cancellation, Durability, Error, Memory, MemoryOptions, MemoryPath, StoreError};
use rustix::process::{Pid, Signal, kill_process};

/// A memory with this lock timeout.
fn impatient(base: &Path, timeout: Duration) -> Memory {
    let mut options = MemoryOptions::default();
    options.durability = Durability::Relaxed;
    options.lock_timeout = Some(timeout);
    Memory::open(base.to_str().unwrap(), options).unwrap()
}

#[test]
fn a_lock_that_is_held_too_long_is_said_to_be_and_keeps_no_reader() {
    let place = tempfile::tempdir().unwrap();
    let patient = impatient(place.path(), Duration::from_secs(60));
    patient.create("/memories/a", "one\n").unwrap();
    let holder = File::open(place.path().join("memories")).unwrap();
    holder.lock().unwrap();
    fs::write(place.path().join("memories/.memdir-staged%2F"), "half").unwrap();

    // Opening never waits, even if leftovers should be removed.
    let memory = impatient(place.path(), Duration::from_millis(30));
    let busy = "Error: The memory directory is busy: other writers have kept it locked for too long. \
                Nothing was changed; try again later.";
    for input in [
        r#"{"command": "create", "path": "/memories/b", "file_text": "x"}"#,
        r#"{"command": "str_replace", "path": "/memories/a", "old_str": "one", "new_str": "two"}"#,
        r#"{"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "x"}"#,
        r#"{"command": "delete", "path": "/memories/a"}"#,
        r#"{"command": "rename", "old_path": "/memories/a", "new_path": "/memories/c"}"#,
    ] {
        let reply = memory.execute(input);
        assert_eq!(
            (reply.content.as_text().unwrap_or_default(), reply.is_error),
            (busy, true),
            "{input}"
        );
        assert!(matches!(reply.cause, Some(Error::Store(StoreError::Busy))), "{input}");
    }
    assert!(memory.view("/memories/a", None).unwrap().ends_with("\tone"));
    assert!(memory.view("/memories", None).unwrap().ends_with("/memories/a"));
    let patient = std::thread::spawn(move || patient.create("/memories/b", "x"));
    drop(holder);
    patient.join().unwrap().unwrap();
    assert_eq!(on_disk(&place.path().join("memories")), ["a", "b"]);
}

/// A command of a model.
type Command = fn(&Memory) -> Result<String, Error>;

#[test]
fn a_writer_that_waits_for_the_lock_ends_when_its_call_is_cancelled() {
    let place = tempfile::tempdir().unwrap();
    let memory = impatient(place.path(), Duration::from_secs(600));
    memory.create("/memories/a", "one\n").unwrap();
    let holder = File::open(place.path().join("memories")).unwrap();
    holder.lock().unwrap();
    let commands: [Command; 5] = [
        |memory| memory.create("/memories/b", "x"),
        |memory| memory.str_replace("/memories/a", "one", "two"),
        |memory| memory.insert("/memories/a", 0, "x"),
        |memory| memory.delete("/memories/a"),
        |memory| memory.rename("/memories/a", "/memories/c"),
    ];
    let cancellation = Cancellation::new();
    std::thread::scope(|scope| {
        let waiting = commands.map(|command| {
            let gone = memory.cancelled_by(&cancellation);
            scope.spawn(move || command(&gone))
        });
        std::thread::sleep(Duration::from_millis(50));
        assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
        cancellation.cancel();
        for waiting in waiting {
            let done = waiting.join().unwrap();
            assert!(matches!(done, Err(Error::Store(StoreError::Cancelled))), "{done:?}");
        }
    });
    drop(holder);
    assert_eq!(memory.read("/memories/a").unwrap(), "one\n");
    assert_eq!(on_disk(&place.path().join("memories")), ["a"]);
}

#[test]
fn a_writer_that_stands_still_stops_nobody() {
    const ME: &str = here!("a_writer_that_stands_still_stops_nobody");
    if let Ok(base) = std::env::var("STANDS_STILL_JOB") {
        let memory = memory(Path::new(&base));
        let path = MemoryPath::parse("/memories/a").unwrap();
        let me = Pid::from_raw(std::process::id().cast_signed()).unwrap();
        memory
            .store()
            .update(&path, &mut |_| {
                kill_process(me, Signal::STOP).unwrap();
                None
            })
            .unwrap();
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let memory = impatient(place.path(), Duration::from_secs(5));
    memory.create("/memories/a", "one\n").unwrap();
    let base = place.path().to_str().unwrap();
    let mut writer = process(ME, &[("STANDS_STILL_JOB", base)]);
    let stopped = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", writer.id())).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
    };
    while cfg!(target_os = "linux") && !stopped() {
        std::thread::sleep(Duration::from_millis(5));
    }
    memory.insert("/memories/a", 0, "two").unwrap();
    memory.create("/memories/b", "x").unwrap();
    memory.delete("/memories/a").unwrap();
    writer.kill().unwrap();
    writer.wait().unwrap();
}

/// A child that was forked in the middle of a write, and whose parent was killed there, blocks no writer.
#[test]
fn an_orphan_of_a_killed_writer_keeps_no_lock() {
    const ME: &str = here!("an_orphan_of_a_killed_writer_keeps_no_lock");
    if let Ok(base) = std::env::var("ORPHAN_JOB") {
        let memory = memory_with(Path::new(&base), Durability::Relaxed);
        let path = MemoryPath::parse("/memories/a").unwrap();
        let mut calls = 0;
        let _ = memory.store().update(&path, &mut |content| {
            calls += 1;
            // Another writer is always faster, until the edit is decided under the lock.
            fs::write(Path::new(&base).join("memories/a"), format!("{calls}\n")).unwrap();
            if calls > 3 {
                let forking = std::thread::spawn(|| {
                    fork::child(|| std::thread::sleep(Duration::from_secs(600)))
                });
                let child = forking.join().unwrap();
                fs::write(Path::new(&base).join("child"), child.to_string()).unwrap();
                let me = Pid::from_raw(std::process::id().cast_signed()).unwrap();
                kill_process(me, Signal::KILL).unwrap();
            }
            Some(memdir::store::Splice { range: 0..content.len(), text: b"mine".to_vec() })
        });
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let memory = impatient(place.path(), Duration::from_secs(20));
    memory.create("/memories/a", "one\n").unwrap();
    let mut writer = process(ME, &[("ORPHAN_JOB", place.path().to_str().unwrap())]);
    assert!(!writer.wait().unwrap().success());
    let child = fs::read_to_string(place.path().join("child")).unwrap().parse().unwrap();
    let edited = memory.insert("/memories/a", 0, "two");
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    edited.unwrap();
}

#[test]
fn an_edit_that_always_comes_too_late_is_made_in_the_end() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory_with(place.path(), Durability::Relaxed);
    memory.create("/memories/a", "0\n").unwrap();
    let path = MemoryPath::parse("/memories/a").unwrap();
    let mut calls: usize = 0;
    memory
        .store()
        .update(&path, &mut |content| {
            calls += 1;
            if calls <= 3 {
                let replaced = place.path().join("other");
                fs::write(&replaced, format!("{calls}\n")).unwrap();
                fs::rename(&replaced, place.path().join("memories/a")).unwrap();
            }
            Some(memdir::store::Splice {
                range: content.len()..content.len(),
                text: b"end\n".into(),
            })
        })
        .unwrap();
    assert_eq!(calls, 4);
    assert_eq!(fs::read_to_string(place.path().join("memories/a")).unwrap(), "3\nend\n");
    assert_eq!(on_disk(&place.path().join("memories")), ["a"]);
}

/// Whatever happens to a file or its directory between reading and writing, no edit is lost, and none
/// is written to a removed directory.
#[test]
fn an_edit_whose_directory_was_deleted_or_moved_meanwhile_is_not_acknowledged_there() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory_with(place.path(), Durability::Relaxed);
    let path = MemoryPath::parse("/memories/d/a").unwrap();
    let all = |content: &[u8]| {
        Some(memdir::store::Splice { range: 0..content.len(), text: b"edited".to_vec() })
    };
    for gone in ["delete", "rename"] {
        memory.create("/memories/d/a", "x").unwrap();
        let edited = memory.store().update(&path, &mut |content| {
            let _ = match gone {
                "delete" => memory.delete("/memories/d"),
                _ => memory.rename("/memories/d", "/memories/e"),
            };
            all(content)
        });
        assert!(matches!(edited, Err(StoreError::NotFound)), "{gone}: {edited:?}");
    }
    assert_eq!(fs::read_to_string(place.path().join("memories/e/a")).unwrap(), "x");
}
