//! The cost of the commands on the local directory, compared with the system calls that they need.
//!
//! `cargo bench -p memdir`. The numbers are medians of one run on one machine, so look at the ratio.
//! The directory is on tmpfs if there is one, because the flushes of a disk would hide everything else.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use memdir::{EncryptionKey, Memory, MemoryOptions};

fn main() {
    let shm = Path::new("/dev/shm");
    let place = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
    let memory = Memory::open(place.path().to_str().unwrap(), MemoryOptions::default()).unwrap();
    let line = "- a remembered fact of sixty-four characters, give or take one.\n";
    memory.create("/memories/small.md", &line.repeat(64)).unwrap();
    let large = place.path().join("memories/large.md");
    fs::write(&large, line.repeat(800_000)).unwrap();
    for directory in 0..10 {
        for file in 0..10 {
            memory.create(&format!("/memories/tree/d{directory}/f{file}"), "x").unwrap();
        }
    }
    let small = place.path().join("memories/small.md");
    let staged = place.path().join("staged");

    encrypted(&memory, place.path());

    println!("{:<34} {:>12} {:>12} {:>7}", "", "memdir", "bare calls", "ratio");
    compare(
        "view a file of 4 KiB",
        || drop(black_box(memory.view("/memories/small.md", None).unwrap())),
        || drop(black_box(fs::read(&small).unwrap())),
    );
    compare(
        "view 10 lines of 50 MB",
        || drop(black_box(memory.view("/memories/large.md", Some((9000, 9009))).unwrap())),
        || drop(black_box(fs::read(&large).unwrap())),
    );
    compare(
        "view a directory of 110 entries",
        || drop(black_box(memory.view("/memories/tree", None).unwrap())),
        || {
            for directory in fs::read_dir(place.path().join("memories/tree")).unwrap() {
                for file in fs::read_dir(directory.unwrap().path()).unwrap() {
                    black_box(file.unwrap().metadata().unwrap().len());
                }
            }
        },
    );
    let mut flip = false;
    compare(
        "str_replace in 4 KiB, twice",
        || {
            memory.insert("/memories/small.md", 0, "unique").unwrap();
            memory.str_replace("/memories/small.md", "unique\n", "").unwrap();
        },
        || {
            for _ in 0..2 {
                flip = !flip;
                let content = fs::read(&small).unwrap();
                fs::write(&staged, &content).unwrap();
                fs::File::open(&staged).unwrap().sync_all().unwrap();
                fs::rename(&staged, &small).unwrap();
                fs::File::open(place.path()).unwrap().sync_all().unwrap();
            }
        },
    );
}

/// The same commands on an encrypted directory next to the plain one.
fn encrypted(plain: &Memory, place: &Path) {
    let mut options = MemoryOptions::default();
    options.encryption_key = Some(EncryptionKey::from_bytes([1; 32]));
    let base = place.join("encrypted");
    let encrypted = Memory::open(base.to_str().unwrap(), options).unwrap();
    let text = fs::read_to_string(place.join("memories/small.md")).unwrap();
    encrypted.create("/memories/small.md", &text).unwrap();
    let edit = |memory: &Memory| {
        memory.insert("/memories/small.md", 0, "unique").unwrap();
        memory.str_replace("/memories/small.md", "unique\n", "").unwrap();
    };
    let rename = |memory: &Memory| {
        memory.rename("/memories/small.md", "/memories/moved.md").unwrap();
        memory.rename("/memories/moved.md", "/memories/small.md").unwrap();
    };
    println!("{:<34} {:>12} {:>12} {:>7}", "", "encrypted", "plain", "ratio");
    compare(
        "view a file of 4 KiB",
        || drop(black_box(encrypted.view("/memories/small.md", None).unwrap())),
        || drop(black_box(plain.view("/memories/small.md", None).unwrap())),
    );
    compare("str_replace in 4 KiB, twice", || edit(&encrypted), || edit(plain));
    compare("rename a file, twice", || rename(&encrypted), || rename(plain));
    println!();
}

/// Alternates between both, so other load on the machine affects both.
fn compare(what: &str, mut ours: impl FnMut(), mut bare: impl FnMut()) {
    let (mut our_times, mut bare_times) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        our_times.push(time(&mut ours));
        bare_times.push(time(&mut bare));
    }
    let (ours, bare) = (median(our_times), median(bare_times));
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    println!("{what:<34} {ours:>12.1?} {bare:>12.1?} {ratio:>7.2}");
}

fn time(work: &mut impl FnMut()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
