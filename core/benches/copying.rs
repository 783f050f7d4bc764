//! The cost of copying 10,000 small files, with full durability: into a local directory, compared with a plain copy of the tree and
//! one flush of its file system, and into SQLite, compared with one transaction.
//!
//! `cargo bench -p memdir --bench copying`, in the directory for temporary files, which should be on a disk. Set `TMPDIR` for another
//! one. Each copy alternates with its floor; look at the ratios.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memdir::{
    CopyOptions, Durability, MemoryOptions, MemoryPath, OnExisting, Store, copy, open_store,
};

const FILES: usize = 10_000;
const ROUNDS: usize = 3;

fn main() {
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("source");
    let mut options = MemoryOptions::default();
    options.durability = Durability::Relaxed;
    let from = open_store(source.to_str().unwrap(), &options).unwrap();
    for number in 0..FILES {
        let path = format!("/memories/d{}/file-{number}.md", number % 100);
        let text = format!("- fact {number}\n").repeat(60);
        let path = MemoryPath::parse(&path).unwrap();
        from.write(&path, text.as_bytes(), OnExisting::Error).unwrap();
    }
    flush(place.path());
    let tree = source.join("memories");
    println!("{:<24} {:>10} {:>10} {:>7}", "10,000 files, seconds", "memdir", "floor", "ratio");
    compare("into a directory", &place, |to| copied(&from, to), |to| copy_tree(&tree, to));
    let database = |to: &str| format!("sqlite:{to}.db");
    compare("into SQLite", &place, |to| copied(&from, &database(to)), |to| insert_all(&from, to));
}

fn compare(what: &str, place: &tempfile::TempDir, ours: impl Fn(&str), floor: impl Fn(&str)) {
    let (mut our_times, mut floor_times) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let to = |kind: &str| {
            let name = format!("{kind}-{}-{round}", what.replace(' ', "-"));
            place.path().join(name).to_str().unwrap().to_owned()
        };
        flush(place.path());
        our_times.push(timed(|| ours(&to("ours"))));
        flush(place.path());
        floor_times.push(timed(|| floor(&to("floor"))));
    }
    let (ours, floor) = (median(our_times).as_secs_f64(), median(floor_times).as_secs_f64());
    println!("{what:<24} {ours:>10.2} {floor:>10.2} {:>7.2}", ours / floor);
}

fn copied(from: &Arc<dyn Store>, address: &str) {
    let to = open_store(address, &MemoryOptions::default()).unwrap();
    let mut go_on = |_: memdir::copy::Progress<'_>| ControlFlow::Continue(());
    let copied = copy(from, &to, CopyOptions::default(), &mut go_on).unwrap();
    assert_eq!(copied.files, FILES as u64);
}

fn copy_tree(from: &Path, to: &str) {
    fn copy_below(from: &Path, to: &Path) {
        fs::create_dir(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if from.is_dir() {
                copy_below(&from, &to);
            } else {
                fs::copy(from, to).unwrap();
            }
        }
    }
    copy_below(from, Path::new(to));
    flush(Path::new(to));
}

fn insert_all(from: &Arc<dyn Store>, to: &str) {
    let mut db = rusqlite::Connection::open(to).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE file (path TEXT PRIMARY KEY, bytes BLOB)",
    )
    .unwrap();
    let transaction = db.transaction().unwrap();
    from.files(&mut |entry| {
        let content = from.read(&entry.path).unwrap();
        let mut insert = transaction.prepare_cached("INSERT INTO file VALUES (?1, ?2)").unwrap();
        insert.execute((entry.path.as_str(), content)).unwrap();
    })
    .unwrap();
    transaction.commit().unwrap();
}

/// Flushes the file system, so a copy does not wait for the data of the one before.
fn flush(directory: &Path) {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(fs::File::open(directory).unwrap()).unwrap();
    #[cfg(not(target_os = "linux"))]
    fs::File::open(directory).unwrap().sync_all().unwrap();
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
