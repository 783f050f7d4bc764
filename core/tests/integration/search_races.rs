//! The ranked search while others write: threads, processes, and editors that know nothing of memdir.
#![cfg(feature = "search")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "`on_every_store` passes a store")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use memdir::{Memory, MemoryOptions, Store};

use crate::common::effort::times;
use crate::common::workers::{Job, Worker, until};

const WORKER: &str = here!("worker");

/// Not a real test: the work of the processes that a test below starts.
#[test]
fn worker() {
    let Some(job) = Job::of_this_process() else { return };
    job.run(&Memory::open(&job.address, MemoryOptions::default()).unwrap());
}

fn found(memory: &Memory, query: &str) -> Vec<String> {
    let results = memory.search(query, "/memories", 1_000).unwrap();
    results.hits.iter().map(|hit| hit.path.to_string()).collect()
}

/// Edits of equal size, faster than the clock of the file system ticks, in each way in which editors write.
#[test]
fn every_edit_by_another_program_is_found_at_once() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().to_str().unwrap();
    let memory = Memory::open(base, MemoryOptions::default()).unwrap();
    let other = Memory::open(base, MemoryOptions::default()).unwrap();
    let file = place.path().join("memories/notes.md");
    let aside = place.path().join("aside");
    memory.create("/memories/notes.md", "word0000").unwrap();
    memory.create("/memories/other.md", "another file").unwrap();
    let set_time = |path: &Path, time: SystemTime| {
        let opened = fs::File::options().write(true).open(path).unwrap();
        opened.set_modified(time).unwrap();
    };
    let fixed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for number in 1..times(2_000) {
        let text = format!("word{number:04}");
        match number % 6 {
            0 => fs::write(&file, &text).unwrap(),
            1 => {
                fs::write(&aside, &text).unwrap();
                fs::rename(&aside, &file).unwrap();
            }
            2 => {
                fs::write(&file, &text).unwrap();
                set_time(&file, fixed);
            }
            3 => {
                fs::write(&aside, &text).unwrap();
                set_time(&aside, SystemTime::now() + Duration::from_secs(1_000_000));
                fs::rename(&aside, &file).unwrap();
            }
            4 => {
                fs::remove_file(&file).unwrap();
                fs::write(&file, &text).unwrap();
                set_time(&file, fixed);
            }
            _ => other.write("/memories/notes.md", &text, None).unwrap(),
        }
        assert_eq!(found(&memory, &text), ["/memories/notes.md"], "{number}");
        let results = memory.search("path:notes", "/memories", 10).unwrap();
        assert_eq!(results.hits[0].passages[0].text, text);
    }
}

/// The same once files have been trusted, because their last change is long enough ago.
#[test]
fn an_edit_after_a_pause_is_found_at_once() {
    let place = tempfile::tempdir().unwrap();
    let memory = Memory::open(place.path().to_str().unwrap(), MemoryOptions::default()).unwrap();
    let file = place.path().join("memories/notes.md");
    fs::write(&file, "word0").unwrap();
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(found(&memory, "word0").len(), 1);
    // Longer than the tick for which a file is not trusted.
    thread::sleep(Duration::from_millis(3_200));
    assert_eq!(found(&memory, "word0").len(), 1);
    for number in 1..50 {
        fs::write(&file, format!("word{}", number % 10)).unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        assert_eq!(found(&memory, &format!("word{}", number % 10)).len(), 1, "{number}");
    }
}

/// Threads that each find what they wrote, and no longer what they removed.
fn threads_find_what_they_wrote(store: Arc<dyn Store>) {
    let open = || Memory::with_store(Arc::clone(&store), MemoryOptions::default());
    let (one, other) = (open(), open());
    thread::scope(|scope| {
        for me in 0..4_u32 {
            let memory = if me % 2 == 0 { one.session() } else { other.session() };
            scope.spawn(move || {
                let mut random = u64::from(me) + 1;
                let mut choose = |of: u64| {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    random % of
                };
                let mut exists = false;
                for number in 0..times(12) {
                    let directory = if choose(2) == 0 { "mounted" } else { "own" };
                    let path = format!("/memories/{directory}/thread{me}/{number}.md");
                    let word = format!("word{me}x{number}");
                    let quoted = |word: &str| format!("\"{word}\"");
                    memory.write(&path, &word, None).unwrap();
                    assert_eq!(found(&memory, &quoted(&word)), [path.as_str()]);
                    match choose(4) {
                        0 => {
                            let edited = format!("edit{me}x{number}");
                            memory.str_replace(&path, &word, &edited).unwrap();
                            assert_eq!(found(&memory, &quoted(&edited)), [path.as_str()]);
                            assert!(!found(&memory, &quoted(&word)).contains(&path));
                        }
                        1 => {
                            memory.delete(&path).unwrap();
                            assert!(!found(&memory, &quoted(&word)).contains(&path));
                        }
                        2 => {
                            let moved = format!("/memories/{directory}/moved{me}x{number}.md");
                            memory.rename(&path, &moved).unwrap();
                            assert_eq!(found(&memory, &quoted(&word)), [moved.as_str()]);
                        }
                        _ => exists = true,
                    }
                }
                assert!(exists || number_is_small());
            });
        }
    });
    let new = open();
    for query in ["word", "word1x3", "edit0x1", "path:own", "path:moved", "path:mounted"] {
        let search = |memory: &Memory| memory.search(query, "/memories", 1_000).unwrap();
        assert_eq!(search(&one), search(&new), "{query}");
        assert_eq!(search(&other), search(&new), "{query}");
    }
}
on_every_store!(threads_find_what_they_wrote);

fn number_is_small() -> bool {
    times(12) < 50
}

/// Writes a file of its own again and again, always in the same size, and searches for those of the others.
pub(crate) fn search(memory: &Memory, place: &Path, me: &str) {
    let mine = format!("/memories/{me}.md");
    let done = |of: &str| -> Option<u64> {
        fs::read_to_string(place.join(format!("done-{of}"))).ok()?.parse().ok()
    };
    let others: Vec<&str> = ["a", "b", "c"].into_iter().filter(|other| *other != me).collect();
    for number in 0..times(60_u64) {
        memory.write(&mine, &format!("number {number:06}"), None).unwrap();
        fs::write(place.join(format!("aside-{me}")), number.to_string()).unwrap();
        fs::rename(place.join(format!("aside-{me}")), place.join(format!("done-{me}"))).unwrap();
        let before: Vec<Option<u64>> = others.iter().map(|other| done(other)).collect();
        let results = memory.search("number", "/memories", 10).unwrap();
        for (other, before) in others.iter().zip(before) {
            let path = format!("/memories/{other}.md");
            let hit = results.hits.iter().find(|hit| hit.path.as_str() == path);
            let seen = hit.map(|hit| hit.passages[0].text["number ".len()..].parse().unwrap());
            assert!(seen >= before, "{me} saw {seen:?} of {other} after {before:?}");
            let after: Option<u64> = done(other);
            // One more may be written and not yet told.
            assert!(seen.is_none_or(|seen: u64| seen <= after.map_or(0, |after| after + 1)));
        }
    }
    // No process ends before the others have begun.
    until(|| others.iter().all(|other| done(other).is_some()));
}

fn processes_find_what_others_wrote(address: &str) {
    let place = tempfile::tempdir().unwrap();
    drop(Memory::open(address, MemoryOptions::default()).unwrap());
    let names = ["a", "b", "c"];
    let mut workers = names.map(|me| Worker::start(WORKER, address, place.path(), "search", me));
    assert!(workers.iter_mut().all(Worker::succeeds));
}

#[test]
fn processes_find_what_others_wrote_into_a_directory() {
    let place = tempfile::tempdir().unwrap();
    processes_find_what_others_wrote(place.path().to_str().unwrap());
}

#[test]
fn processes_find_what_others_wrote_into_a_database() {
    let place = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", place.path().join("a.db").display());
    processes_find_what_others_wrote(&database);
}

#[cfg(unix)]
#[test]
fn processes_find_what_others_wrote_on_a_server() {
    if let Some(server) = crate::common::postgres::server() {
        processes_find_what_others_wrote(&server.fresh());
    }
}

#[cfg(unix)]
#[test]
fn processes_find_what_others_wrote_into_object_storage() {
    if let Some(cloud) = crate::common::clouds::s3() {
        processes_find_what_others_wrote(&cloud.fresh());
    }
}

/// A forked process has an index of its own, even if its parent is in the middle of a search.
#[cfg(unix)]
#[test]
fn a_forked_process_searches() {
    use std::sync::atomic::{AtomicBool, Ordering};

    use crate::common::fork::{child, succeeded};
    use crate::common::in_own_process;

    in_own_process(
        here!("a_forked_process_searches"),
        |_| {},
        |place| {
            let memory = Memory::open(place.to_str().unwrap(), MemoryOptions::default()).unwrap();
            for number in 0..50 {
                memory.create(&format!("/memories/{number}.md"), "green tea\n").unwrap();
            }
            let (memory, stop) = (&memory, AtomicBool::new(false));
            thread::scope(|scope| {
                let busy = [0, 1].map(|_| {
                    let stop = &stop;
                    scope.spawn(move || {
                        while !stop.load(Ordering::Relaxed) {
                            assert_eq!(found(memory, "tea").len(), 50);
                            memory.write("/memories/1.md", "green tea\n", None).unwrap();
                        }
                    })
                });
                for _ in 0..times(10) {
                    assert!(succeeded(child(|| assert_eq!(found(memory, "tea").len(), 50))));
                }
                stop.store(true, Ordering::Relaxed);
                busy.into_iter().for_each(|thread| thread.join().unwrap());
            });
        },
    );
}
