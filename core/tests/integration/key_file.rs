//! The key in a file: all processes that make the first call at the same time get one key, and no existing file
//! is ever replaced.
#![cfg(all(any(unix, windows), feature = "encryption"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::workers::Job;
use crate::common::{on_disk, process};
use memdir::{EncryptionKey, Error, Memory, MemoryOptions};

const WORKER: &str = here!("worker");
const ROUNDS: usize = 200;

fn key(path: &Path) -> Vec<u8> {
    EncryptionKey::bytes_from_file(path).unwrap().to_vec()
}

#[test]
fn threads_that_make_the_first_call_at_once_get_one_key() {
    let place = tempfile::tempdir().unwrap();
    for round in 0..ROUNDS {
        let path = place.path().join(format!("{round}.key"));
        let begin = Barrier::new(4);
        let keys: BTreeSet<_> = thread::scope(|scope| {
            let call = || {
                begin.wait();
                key(&path)
            };
            let calls: Vec<_> = (0..4).map(|_| scope.spawn(call)).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert_eq!(keys, BTreeSet::from([fs::read(&path).unwrap()]), "round {round}");
    }
    assert_eq!(on_disk(place.path()).len(), ROUNDS, "something is left over");
}

/// Not a real test: the work of the processes that the next test starts. They synchronize at each round.
#[test]
fn worker() {
    let Some(job) = Job::of_this_process() else { return };
    for round in 0..ROUNDS {
        let arrived = |name: &str| job.place.join(format!("{round}-{name}"));
        fs::write(arrived(&job.me), "").unwrap();
        // Busy waiting, so they continue at the same moment.
        let begun = Instant::now();
        while !["a", "b", "c"].into_iter().all(|name| arrived(name).exists()) {
            assert!(begun.elapsed() < Duration::from_secs(60), "a process does not get on");
            thread::yield_now();
        }
        let got = key(&Path::new(&job.address).join(format!("{round}.key")));
        fs::write(job.place.join(format!("{round}-key-{}", job.me)), got).unwrap();
    }
}

#[test]
fn processes_that_make_the_first_call_at_once_get_one_key() {
    let (place, notes) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (address, notes) = (place.path().to_str().unwrap(), notes.path());
    let start = |me: &str| {
        let job = [("MEMDIR_JOB", "key"), ("MEMDIR_ADDRESS", address), ("MEMDIR_ME", me)];
        process(WORKER, &[&job[..], &[("MEMDIR_PLACE", notes.to_str().unwrap())]].concat())
    };
    for mut worker in ["a", "b", "c"].map(start) {
        assert!(worker.wait().unwrap().success());
    }
    for round in 0..ROUNDS {
        let kept = fs::read(place.path().join(format!("{round}.key"))).unwrap();
        for me in ["a", "b", "c"] {
            let got = fs::read(notes.join(format!("{round}-key-{me}"))).unwrap();
            assert_eq!(got, kept, "round {round} of {me}");
        }
    }
    assert_eq!(on_disk(place.path()).len(), ROUNDS, "something is left over");
}

#[test]
fn a_file_that_holds_no_key_is_an_error_and_stays_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("memory.key");
    for (length, got) in [(0, "0"), (31, "31"), (33, "more"), (100_000, "more")] {
        fs::write(&path, vec![7; length]).unwrap();
        let Err(Error::Config(error)) = EncryptionKey::from_file(&path) else { panic!("{length}") };
        let expected = format!(
            "the key file \"{}\" cannot be read: it must have 32 bytes, and has {got}",
            path.display()
        );
        assert_eq!((error.to_string(), error.option()), (expected, Some("path")));
        assert_eq!(fs::read(&path).unwrap(), vec![7; length]);
    }
    let none = place.path().join("none").join("memory.key");
    for wrong in [Path::new(""), place.path(), &none] {
        let error = EncryptionKey::from_file(wrong);
        assert!(matches!(error, Err(Error::Config(_))), "{}: {error:?}", wrong.display());
    }
    assert_eq!(on_disk(place.path()), ["memory.key"]);
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_the_file_and_only_a_file_is_read() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("memory.key");
    let made = key(&path);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    let link = place.path().join("link");
    symlink("memory.key", &link).unwrap();
    assert_eq!(key(&link), made);
    symlink("nowhere", place.path().join("broken")).unwrap();
    for wrong in [place.path().join("broken").as_path(), Path::new("/dev/urandom")] {
        assert!(matches!(EncryptionKey::from_file(wrong), Err(Error::Config(_))));
    }
    assert_eq!(on_disk(place.path()).len(), 3);
}

#[test]
fn a_memory_opens_again_with_the_key_of_the_file() {
    let place = tempfile::tempdir().unwrap();
    let open = || {
        let mut options = MemoryOptions::default();
        options.encryption_key =
            Some(EncryptionKey::from_file(place.path().join("memory.key")).unwrap());
        Memory::open(place.path().join("memory").to_str().unwrap(), options).unwrap()
    };
    open().create("/memories/tea.md", "green\n").unwrap();
    assert_eq!(open().read("/memories/tea.md").unwrap(), "green\n");
}
