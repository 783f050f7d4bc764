//! One bucket and several processes: that edit one file, that create one path, that are killed,
//! that are forked.
#![cfg(all(unix, feature = "object-storage"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

mod common;
#[path = "common/s3.rs"]
mod s3;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use common::process;
use memdir::{Memory, MemoryPath, OnExisting, Options};

fn memory(address: &str) -> Memory {
    Memory::open(address, Options::default()).unwrap()
}

fn text(address: &str, path: &str) -> String {
    let content = memory(address).store().read(&MemoryPath::parse(path).unwrap()).unwrap();
    String::from_utf8(content).unwrap()
}

fn insert(memory: &Memory, me: &str, count: usize) {
    for number in 0..count {
        memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
    }
}

/// Not a test of its own: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Ok(job) = std::env::var("MEMDIR_JOB") else { return };
    let [address, place, me] =
        ["MEMDIR_ADDRESS", "MEMDIR_PLACE", "MEMDIR_ME"].map(|name| std::env::var(name).unwrap());
    let place = Path::new(&place);
    if job == "no-credentials" {
        let error = Memory::open(&address, Options::default()).err().unwrap().to_string();
        assert!(error.contains("no credentials were found"), "{error}");
        return;
    }
    s3::server();
    let memory = memory(&address);
    match job.as_str() {
        "insert" => insert(&memory, &me, 250),
        "create" => {
            let wins = (0..30)
                .filter(|number| memory.create(&format!("/memories/new/{number}"), &me).is_ok())
                .count();
            fs::write(place.join(format!("wins-{me}")), wins.to_string()).unwrap();
        }
        // Until it is killed: each line is acknowledged in a file of its own before the next.
        "insert-and-acknowledge" => {
            let done = place.join(format!("done-{me}"));
            for number in 0_u64.. {
                memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
                fs::write(&done, number.to_string()).unwrap();
                let directory = format!("/memories/dir-{me}");
                memory.create(&format!("{directory}/sub/file"), "x").unwrap();
                memory.rename(&directory, &format!("{directory}-moved")).unwrap();
                memory.delete(&format!("{directory}-moved")).unwrap();
            }
        }
        "fork" => fork::while_connected(&memory),
        other => panic!("no such job: {other}"),
    }
}

fn work(server: &str, address: &str, place: &Path, job: &str, me: &str) -> Child {
    let place = place.to_str().unwrap();
    process(
        "worker",
        &[
            ("MEMDIR_JOB", job),
            ("MEMDIR_ADDRESS", address),
            ("MEMDIR_PLACE", place),
            ("MEMDIR_ME", me),
            ("MEMDIR_TEST_S3", server),
        ],
    )
}

fn lines(address: &str) -> usize {
    let log = text(address, "/memories/log");
    let distinct: BTreeSet<&str> = log.lines().collect();
    assert_eq!(distinct.len(), log.lines().count());
    distinct.len()
}

#[test]
fn processes_that_edit_one_file_lose_nothing() {
    let Some(server) = s3::server() else { return };
    let (place, address) = (tempfile::tempdir().unwrap(), s3::address(server, &s3::prefix()));
    memory(&address).create("/memories/log", "").unwrap();
    let mut workers: Vec<Child> =
        (0..8).map(|me| work(server, &address, place.path(), "insert", &me.to_string())).collect();
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    assert_eq!(lines(&address), 2000);
}

#[test]
fn of_processes_that_create_one_path_one_wins() {
    let Some(server) = s3::server() else { return };
    let (place, address) = (tempfile::tempdir().unwrap(), s3::address(server, &s3::prefix()));
    let names: Vec<String> = (0..4).map(|name| name.to_string()).collect();
    let mut workers: Vec<Child> =
        names.iter().map(|me| work(server, &address, place.path(), "create", me)).collect();
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    let wins = names.iter().map(|me| {
        let wins = fs::read_to_string(place.path().join(format!("wins-{me}"))).unwrap();
        wins.parse::<usize>().unwrap()
    });
    assert_eq!(wins.sum::<usize>(), 30);
}

/// How often; `make soak` says more.
fn rounds() -> u64 {
    std::env::var("MEMDIR_SOAK").map_or(10, |rounds| rounds.parse().unwrap())
}

#[test]
fn a_kill_at_any_moment_loses_nothing_acknowledged() {
    let Some(server) = s3::server() else { return };
    let (place, address) = (tempfile::tempdir().unwrap(), s3::address(server, &s3::prefix()));
    let memory = memory(&address);
    memory.create("/memories/log", "start\n").unwrap();
    let mut lived = 0;
    for round in 0..rounds() {
        let names = [format!("r{round}"), format!("r{round}b")];
        let mut victims = names
            .clone()
            .map(|me| work(server, &address, place.path(), "insert-and-acknowledge", &me));
        std::thread::sleep(Duration::from_millis(150 + round * 37 % 211));
        for victim in &mut victims {
            victim.kill().unwrap();
            victim.wait().unwrap();
        }
        let text = text(&address, "/memories/log");
        assert!(text.ends_with("start\n"), "torn: {text:?}");
        for me in names {
            let numbers: Vec<u64> = text
                .lines()
                .filter_map(|line| line.strip_prefix(&format!("{me} ")))
                .map(|number| number.parse().unwrap())
                .collect();
            // Newest first, without a gap; the last one acknowledged is among them.
            let newest = numbers.len() as u64;
            assert!(numbers.iter().copied().eq((0..newest).rev()), "{numbers:?}");
            let acknowledged = fs::read_to_string(place.path().join(format!("done-{me}"))).ok();
            if let Some(acknowledged) = acknowledged.and_then(|number| number.parse::<u64>().ok()) {
                assert!(acknowledged < newest, "{acknowledged} of {newest}");
                lived += 1;
            }
            // Its directory is at one of its two places, or both, or gone; and can be finished with.
            let [old, new] = ["", "-moved"].map(|end| format!("/memories/dir-{me}{end}"));
            let _ = memory.rename(&old, &new);
            for path in [&old, &new] {
                let _ = memory.delete(path);
                let path = MemoryPath::parse(path).unwrap();
                assert!(memory.store().list(&path).is_err(), "{path} is left");
            }
        }
        memory.create(&format!("/memories/after/{round}"), "it answers").unwrap();
    }
    assert!(lived > 2, "the processes were killed before they did anything: {lived}");
    let kills = 2 * rounds();
    writeln!(std::io::stdout(), "object storage: {kills} kills, {lived} after an edit").unwrap();
}

#[test]
fn a_forked_process_goes_on_with_connections_of_its_own() {
    let Some(server) = s3::server() else { return };
    let (place, address) = (tempfile::tempdir().unwrap(), s3::address(server, &s3::prefix()));
    assert!(work(server, &address, place.path(), "fork", "").wait().unwrap().success());
    // The parent's and two children's, and those of a child of a child.
    assert_eq!(lines(&address), 4 * 20);
}

#[test]
fn missing_credentials_are_said_to_be_missing() {
    let Some(server) = s3::server() else { return };
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let told = command
        .args(["--exact", "worker", "--nocapture"])
        .env_remove("AWS_ACCESS_KEY_ID")
        .env_remove("AWS_SECRET_ACCESS_KEY")
        // Where a machine of the cloud would be given some.
        .env("AWS_METADATA_ENDPOINT", format!("http://{nobody}"))
        .envs([("MEMDIR_JOB", "no-credentials"), ("MEMDIR_PLACE", ""), ("MEMDIR_ME", "")])
        .env("MEMDIR_ADDRESS", s3::address(server, "p"))
        .stdout(std::process::Stdio::null())
        .status();
    assert!(told.unwrap().success());
}

/// In a process of its own, so that no other test is running in it.
mod fork {
    use super::*;

    #[allow(unsafe_code, reason = "std does not fork")]
    mod libc {
        unsafe extern "C" {
            pub(super) safe fn fork() -> i32;
            pub(super) safe fn _exit(status: i32) -> !;
            fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
        }

        pub(super) fn succeeded(child: i32) -> bool {
            let mut status = -1;
            // SAFETY: the pointer is to a variable of ours, of the type that is written.
            unsafe { waitpid(child, &raw mut status, 0) == child && status == 0 }
        }
    }

    /// A child that runs `job`, and says whether it panicked.
    fn child(job: impl FnOnce()) -> i32 {
        match libc::fork() {
            0 => {
                let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
                libc::_exit(i32::from(done.is_err()));
            }
            child => child,
        }
    }

    /// The parent has open connections, and a file half read, and goes on using them.
    pub(super) fn while_connected(memory: &Memory) {
        let store = memory.store();
        let large = MemoryPath::parse("/memories/large").unwrap();
        let content = vec![b'x'; 3_000_000];
        store.write(&large, &content, OnExisting::Error).unwrap();
        memory.create("/memories/log", "").unwrap();
        let memdir::store::Node::File(_, mut stream) = store.open(&large, 1).unwrap() else {
            panic!("a directory")
        };
        stream.read_exact(&mut [0; 1000]).unwrap();
        let children = ["a", "b"].map(|me| {
            child(|| {
                insert(memory, me, 20);
                if me == "a" {
                    let grandchild = child(|| insert(memory, "below a", 20));
                    assert!(libc::succeeded(grandchild));
                } else {
                    // The parent's stream is not a child's.
                    assert!(stream.read_to_end(&mut Vec::new()).is_err());
                }
            })
        });
        insert(memory, "parent", 20);
        assert!(children.into_iter().all(libc::succeeded));
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert_eq!(rest.len() + 1000, content.len());
    }
}
