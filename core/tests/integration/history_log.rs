//! The log of a local directory's history: the effects of a kill or a full disk, obstacles at the paths of its files, growth
//! and trimming, and logs in an older format.
#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "what is left out is said")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use memdir::history::{HistoryQuery, Version};
use memdir::{Durability, Memory, MemoryOptions};

use crate::common::effort::times;
use crate::common::without_power;
use crate::common::workers::{Job, Worker};

fn options() -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.durability = Durability::Relaxed;
    options
}

fn open(place: &Path) -> Memory {
    Memory::open(place.to_str().unwrap(), options()).unwrap()
}

fn all(memory: &Memory) -> Vec<Version> {
    memory.history(&HistoryQuery::default()).unwrap()
}

fn problems(memory: &Memory) -> Vec<String> {
    let mut problems = Vec::new();
    memory.store().inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
    problems
}

/// Checks that every version with a known content can be read, and that the current one matches the file.
fn check(memory: &Memory) {
    for version in all(memory) {
        if version.size.is_some() {
            let content = memory.read_version(version.id).unwrap();
            assert_eq!(Some(content.len() as u64), version.size, "{version:?}");
        }
        if version.is_current {
            let content = memory.read_version(version.id).unwrap();
            let now = memory.store().read(&version.path);
            assert_eq!(now.unwrap(), content, "{version:?}");
        }
    }
    assert_eq!(problems(memory), Vec::<String>::new());
}

/// The total bytes of all files of the history.
fn size(place: &Path) -> u64 {
    let history = place.join("history");
    let listed = [history.clone(), history.join("log")].into_iter();
    let files = listed.filter_map(|directory| directory.read_dir().ok()).flatten();
    let sizes = files.map(|file| file.unwrap().metadata().unwrap());
    sizes.filter(fs::Metadata::is_file).map(|file| file.len()).sum()
}

#[test]
fn changes_after_a_record_that_was_cut_are_all_known() {
    // A record of 220 KB, of which a kill left this many bytes.
    for left in [1, 39, 40, 41, 300, 60_000, 219_999] {
        let place = tempfile::tempdir().unwrap();
        let memory = open(place.path());
        memory.create("/memories/a.md", "one\n").unwrap();
        let active = place.path().join("history/active");
        let before = active.metadata().unwrap().len();
        memory.create("/memories/big.md", &"0123456789".repeat(22_000)).unwrap();
        drop(memory);
        OpenOptions::new().write(true).open(&active).unwrap().set_len(before + left).unwrap();
        fs::remove_file(place.path().join("memories/big.md")).unwrap();

        let memory = open(place.path());
        assert_eq!(all(&memory).len(), 1, "{left}");
        for number in 0..270 {
            memory.create(&format!("/memories/{number}.md"), "small\n").unwrap();
        }
        for memory in [memory, open(place.path())] {
            assert_eq!(all(&memory).len(), 271, "{left}");
            check(&memory);
        }
    }
}

#[test]
fn a_log_that_was_cut_anywhere_loses_only_what_was_cut() {
    let place = tempfile::tempdir().unwrap();
    let memory = open(place.path());
    memory.create("/memories/a.md", "0\n").unwrap();
    for number in 1..8 {
        memory.insert("/memories/a.md", 0, &number.to_string()).unwrap();
    }
    let known: Vec<_> = all(&memory).into_iter().rev().map(|version| version.id).collect();
    let active = place.path().join("history/active");
    let whole = fs::read(&active).unwrap();
    for at in (100..whole.len()).step_by(11) {
        fs::write(&active, &whole[..at]).unwrap();
        let memory = open(place.path());
        let left = all(&memory).len();
        memory.insert("/memories/a.md", 0, "x").unwrap();
        memory.str_replace("/memories/a.md", "x\n", "").unwrap();
        let now: Vec<_> = all(&memory).into_iter().rev().map(|version| version.id).collect();
        // The file shows that the last change was made. If its record is cut, the change counts as external.
        assert!(now.len() >= left + 2, "cut at {at}");
        assert!(now.iter().filter(|id| known.contains(id)).eq(&known[..left]), "cut at {at}");
        check(&memory);
    }
}

/// Operations on a history, each of which opens its files.
fn use_all(place: &Path) -> Vec<String> {
    let mut said = Vec::new();
    let opened = Memory::open(place.to_str().unwrap(), options());
    let memory = match opened {
        Ok(memory) => memory,
        Err(error) => return vec![error.to_string()],
    };
    let mut hear = |result: Result<(), String>| said.extend(result.err());
    let create = memory.create("/memories/new.md", "new\n");
    hear(create.map(drop).map_err(|error| error.to_string()));
    let versions = memory.history(&HistoryQuery::default());
    hear(versions.as_ref().map(drop).map_err(ToString::to_string));
    for version in versions.into_iter().flatten() {
        let redacted = memory.redact(version.id, "gone");
        hear(redacted.map(drop).map_err(|error| error.to_string()));
    }
    hear(memory.trim_history().map(drop).map_err(|error| error.to_string()));
    said
}

/// Puts an obstacle at the path of a file. The second path is that of a directory outside.
type Plant = Box<dyn Fn(&Path, &Path)>;

#[test]
fn nothing_is_written_through_what_stands_in_the_place_of_its_files() {
    without_power(
        here!("nothing_is_written_through_what_stands_in_the_place_of_its_files"),
        |work| {
            let names = [
                "history",
                "history/active",
                "history/active.new",
                "history/active.damaged",
                "history/log",
                "history/log.new",
                "history/log.old",
                "history/turn",
                "history/beginning",
            ];
            let mut kinds: Vec<(&str, Plant)> = vec![
                ("file", Box::new(|at, outside| symlink(outside.join("file"), at).unwrap())),
                (
                    "directory",
                    Box::new(|at, outside| symlink(outside.join("directory"), at).unwrap()),
                ),
                ("nothing", Box::new(|at, outside| symlink(outside.join("nothing"), at).unwrap())),
            ];
            kinds.push((
                "a pipe",
                Box::new(|at, _| {
                    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                    rustix::fs::mkfifoat(rustix::fs::CWD, at, mode).unwrap();
                }),
            ));
            kinds.push(("a directory", Box::new(|at, _| fs::create_dir(at).unwrap())));
            for name in names {
                for is_old in [false, true] {
                    for (kind, put) in &kinds {
                        let place = tempfile::tempdir_in(work).unwrap();
                        let outside = tempfile::tempdir_in(work).unwrap();
                        fs::create_dir(outside.path().join("directory")).unwrap();
                        fs::write(outside.path().join("file"), "not memdir's").unwrap();
                        let memory = open(&place.path().join("m"));
                        memory.create("/memories/a.md", "one\n").unwrap();
                        memory.str_replace("/memories/a.md", "one", "two").unwrap();
                        drop(memory);
                        let history = place.path().join("m/history");
                        if is_old {
                            fs::remove_dir_all(&history).unwrap();
                            fs::create_dir(&history).unwrap();
                            fs::write(history.join("log"), OLD_LOG).unwrap();
                        }
                        let at = place.path().join("m").join(name);
                        if at.is_dir() {
                            fs::remove_dir_all(&at).unwrap();
                        } else if at.exists() {
                            fs::remove_file(&at).unwrap();
                        }
                        put(&at, outside.path());
                        let said = use_all(&place.path().join("m"));
                        let what = format!("{kind} at {name}, old: {is_old}: {said:?}");
                        let left = fs::read(outside.path().join("file")).unwrap();
                        assert_eq!(left, b"not memdir's", "{what}");
                        let inside =
                            fs::read_dir(outside.path().join("directory")).unwrap().count();
                        assert_eq!(inside, 0, "{what}");
                        assert!(!outside.path().join("nothing").exists(), "{what}");
                        for sentence in &said {
                            let path = place.path().to_str().unwrap();
                            assert!(!sentence.contains(path), "{what}");
                        }
                        // An obstacle at a file that every change needs causes an error, and no change is made
                        // without its record.
                        let is_new =
                            ["history", "history/log"].contains(&name) && *kind == "a directory";
                        let is_needed =
                            ["history", "history/active", "history/log"].contains(&name);
                        if is_needed && !is_new {
                            let says = |said: &String| said.contains("something else");
                            assert!(said.iter().any(says), "{what}");
                            // The directory of the full segments is opened only when they are read.
                            let is_made = place.path().join("m/memories/new.md").exists();
                            assert_eq!(is_made, name == "history/log" && !is_old, "{what}");
                        }
                    }
                }
            }
        },
    );
}

#[test]
fn a_long_log_is_read_trimmed_and_redacted_segment_by_segment() {
    let place = tempfile::tempdir().unwrap();
    let memory = open(place.path());
    let text = |number: usize| format!("{number} {}", "0123456789".repeat(60_000));
    for number in 0..20 {
        memory.create(&format!("/memories/{number}.md"), &text(number)).unwrap();
    }
    let full = |place: &Path| -> BTreeSet<PathBuf> {
        let listed = fs::read_dir(place.join("history/log")).unwrap();
        listed.map(|file| file.unwrap().path()).collect()
    };
    let segments = full(place.path());
    assert!((2..=4).contains(&segments.len()), "{segments:?}");
    let versions = all(&memory);
    assert_eq!(versions.len(), 20);
    check(&memory);
    check(&open(place.path()));

    // Only the segments with the content are replaced.
    memory.write("/memories/19.md", "nineteen\n", None).unwrap();
    let redacted = versions[0].id;
    memory.redact(redacted, "secret").unwrap();
    let now = full(place.path());
    assert!(
        now.is_superset(&segments) || now.intersection(&segments).count() + 1 >= segments.len()
    );
    assert!(memory.read_version(redacted).is_err());
    assert!(open(place.path()).read_version(redacted).is_err());
    check(&memory);

    // Deleted files beyond the limit go, with their segments.
    for number in 0..20 {
        memory.delete(&format!("/memories/{number}.md")).unwrap();
    }
    let before = size(place.path());
    let mut few = options();
    few.history_max_bytes = Some(100_000);
    let trimming = Memory::open(place.path().to_str().unwrap(), few).unwrap();
    assert!(trimming.trim_history().unwrap() > 0);
    assert!(size(place.path()) < before / 10, "{} of {before}", size(place.path()));
    // A process that had it open before sees the change as well, and continues.
    memory.create("/memories/more.md", "more\n").unwrap();
    check(&memory);
    check(&trimming);
}

#[test]
fn what_a_killed_rewrite_left_is_removed_by_the_next_change() {
    let place = tempfile::tempdir().unwrap();
    let memory = open(place.path());
    memory.create("/memories/a.md", "one\n").unwrap();
    let history = place.path().join("history");
    let segment = history.join("log/01990a3c-7c00-7123-8456-789abc000000");
    for left in [segment.clone(), history.join("active.new"), history.join("turn")] {
        fs::write(left, "left").unwrap();
    }
    check(&memory);
    memory.insert("/memories/a.md", 0, "two").unwrap();
    assert!(!segment.exists());
    let left = fs::read_dir(&history).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<BTreeSet<_>>(), ["active", "log"].map(Into::into).into());
    assert_eq!(all(&memory).len(), 2);
    check(&memory);
}

#[test]
fn a_part_of_a_copy_of_the_active_segment_is_no_part_of_the_log() {
    let place = tempfile::tempdir().unwrap();
    let memory = open(place.path());
    memory.create("/memories/a.md", "one\n").unwrap();
    let active = fs::read(place.path().join("history/active")).unwrap();
    // Its id, after the eight bytes of the format.
    let id = String::from_utf8(active[8..44].to_vec()).unwrap();
    fs::write(place.path().join("history/log").join(&id), &active[..active.len() / 2]).unwrap();
    check(&memory);
    check(&open(place.path()));
    // The active segment becomes a full one.
    memory.create("/memories/b.md", &"0123456789".repeat(500_000)).unwrap();
    let full = fs::read_dir(place.path().join("history/log")).unwrap();
    assert_eq!(full.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>(), [&*id]);
    assert_eq!(all(&memory).len(), 2);
    check(&memory);
    check(&open(place.path()));
}

#[test]
fn a_segment_with_damaged_first_bytes_is_set_aside_until_something_is_redacted() {
    let place = tempfile::tempdir().unwrap();
    let memory = open(place.path());
    memory.create("/memories/a.md", "a secret\n").unwrap();
    let [active, aside] =
        ["active", "active.damaged"].map(|name| place.path().join("history").join(name));
    let mut bytes = fs::read(&active).unwrap();
    bytes[3] ^= 1;
    fs::write(&active, &bytes).unwrap();
    let memory = open(place.path());
    memory.write("/memories/a.md", "two\n", None).unwrap();
    assert_eq!(fs::read(&aside).unwrap(), bytes);
    assert!(problems(&memory).iter().any(|problem| problem.contains("the first bytes")));
    // The earlier content is the first that the new log knows.
    let versions = all(&memory);
    assert_eq!(versions.len(), 2);
    memory.redact(versions[1].id, "a secret").unwrap();
    assert!(!aside.exists());
    check(&memory);
}

#[test]
fn what_is_refused_often_needs_no_room() {
    let place = tempfile::tempdir().unwrap();
    let memory = open(place.path());
    for number in 0..200 {
        memory.create(&format!("/memories/d/{number}.md"), &"0123456789".repeat(100)).unwrap();
    }
    memory.create("/memories/taken.md", "here\n").unwrap();
    let (versions, before) = (all(&memory).len(), size(place.path()));
    for _ in 0..20 {
        assert!(memory.rename("/memories/d", "/memories/taken.md").is_err());
        assert!(memory.rename("/memories/d", "/memories/d/below").is_err());
        assert!(memory.rename("/memories/d", "/memories/taken.md/below").is_err());
        assert!(memory.rename("/memories/taken.md", "/memories/d").is_err());
        assert!(memory.create("/memories/d", "x").is_err());
        assert!(memory.create("/memories/taken.md/x", &"x".repeat(10_000)).is_err());
    }
    assert_eq!(all(&memory).len(), versions);
    assert_eq!(size(place.path()), before);
    check(&open(place.path()));
}

const WORKER: &str = here!("worker");

/// Not a real test: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Some(job) = Job::of_this_process() else { return };
    let place = Path::new(&job.address);
    let me = &job.me;
    match job.name.as_str() {
        "change" => {
            let memory = open(place).acting_as(me);
            for number in 0..times(150) {
                let file = format!("/memories/{me}/{}.md", number % 7);
                let text = format!("{me} {number} {}\n", "0123456789".repeat(number % 40));
                if memory.exists(&file).unwrap() {
                    if number % 3 == 0 {
                        memory.delete(&file).unwrap();
                    } else {
                        memory.insert(&file, 0, &text).unwrap();
                    }
                } else {
                    memory.create(&file, &text).unwrap();
                }
            }
        }
        // Runs until it is killed.
        "trim" => {
            let mut few = options();
            few.history_max_bytes = Some(20_000);
            let memory = Memory::open(&job.address, few).unwrap();
            loop {
                memory.trim_history().unwrap();
            }
        }
        "redact" => {
            let memory = open(place);
            loop {
                let versions = all(&memory);
                let old = versions.iter().rev().find(|version| version.sha256.is_some());
                if let Some(old) = old {
                    // Other processes may have trimmed it, or have it in their files.
                    let _ = memory.redact(old.id, "no longer");
                }
            }
        }
        // Runs until it is killed, which happens at once.
        "convert" => {
            let memory = open(place);
            memory.write("/memories/converted.md", "x", None).unwrap();
            fs::write(job.place.join("done"), "").unwrap();
        }
        other => panic!("no such job: {other}"),
    }
}

#[test]
fn trims_and_redactions_beside_writers_lose_nothing_that_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let address = place.path().join("m");
    let start = |job, me| Worker::start(WORKER, address.to_str().unwrap(), place.path(), job, me);
    let mut writers: Vec<Worker> = ["a", "b", "c"].map(|me| start("change", me)).into();
    let mut others: Vec<Worker> =
        [("trim", "t"), ("redact", "r"), ("redact", "s")].map(|(job, me)| start(job, me)).into();
    assert!(writers.iter_mut().all(Worker::succeeds));
    others.iter_mut().for_each(Worker::kill);
    // A kill in the middle of a rewrite leaves the log unchanged, and the next rewrite removes its leftovers.
    let memory = open(&address);
    let current: BTreeSet<String> = all(&memory)
        .into_iter()
        .filter(|version| version.is_current)
        .map(|version| version.path.to_string())
        .collect();
    let mut files = BTreeSet::new();
    memory.store().files(&mut |file| files.extend([file.path.to_string()])).unwrap();
    assert_eq!(current, files);
    check(&memory);
}

/// A log in the older format, with a file that was created, edited and moved, and another one that was deleted: 15
/// versions.
const OLD_LOG: &[u8] = include_bytes!("../fixtures/history-1/log");

fn old(place: &Path, log: &[u8]) {
    fs::create_dir_all(place.join("memories")).unwrap();
    fs::create_dir_all(place.join("history")).unwrap();
    fs::write(place.join("memories/b.md"), "line 12\n").unwrap();
    fs::write(place.join("history/log"), log).unwrap();
}

#[test]
fn a_log_of_the_older_form_is_read_and_then_converted() {
    let place = tempfile::tempdir().unwrap();
    old(place.path(), OLD_LOG);
    let mut read_only = options();
    read_only.read_only = true;
    let reading = Memory::open(place.path().to_str().unwrap(), read_only).unwrap();
    let before = all(&reading);
    assert_eq!(before.len(), 15);
    assert_eq!(fs::read(place.path().join("history/log")).unwrap(), OLD_LOG);

    let memory = open(place.path());
    assert_eq!(all(&memory), before);
    memory.insert("/memories/b.md", 0, "line 13").unwrap();
    for memory in [&memory, &reading, &open(place.path())] {
        let now = all(memory);
        assert_eq!(now.len(), 16);
        let ids = |versions: &[Version]| versions.iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(ids(&now[1..]), ids(&before));
        check(memory);
    }
    // An older version of memdir cannot open it for appending, and nothing of the conversion is left.
    assert!(place.path().join("history/log").is_dir());
    let left = fs::read_dir(place.path().join("history")).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["active", "log"]);
}

#[test]
fn a_log_of_the_older_form_that_was_cut_in_the_middle_keeps_what_follows() {
    let places: Vec<usize> =
        (0..OLD_LOG.len()).filter(|at| OLD_LOG[*at..].starts_with(b"MDH1")).collect();
    // How much was written of the first record that is not a note.
    for (number, begin) in places.iter().enumerate().skip(1).step_by(4) {
        let end = places.get(number + 1).copied().unwrap_or(OLD_LOG.len());
        for cut in [*begin + 1, *begin + 31, *begin + 40, (*begin + end) / 2, end - 1] {
            let place = tempfile::tempdir().unwrap();
            // Later records follow the partial one.
            let log = [&OLD_LOG[..end], &OLD_LOG[*begin..cut], &OLD_LOG[end..]].concat();
            old(place.path(), &log);
            let memory = open(place.path());
            assert_eq!(all(&memory).len(), 15, "{number} cut at {cut}");
            memory.insert("/memories/b.md", 0, "x").unwrap();
            assert_eq!(all(&memory).len(), 16, "{number} cut at {cut}");
            check(&memory);
        }
    }
}

#[test]
fn a_conversion_that_is_killed_is_finished_by_the_next() {
    let place = tempfile::tempdir().unwrap();
    // Long enough for a realistic kill: a power failure left zeros in it.
    let middle = OLD_LOG.windows(4).rposition(|window| window == b"MDH1").unwrap();
    let long = [&OLD_LOG[..middle], &vec![0; 8_000_000], &OLD_LOG[middle..]].concat();
    let (mut killed, mut finished) = (0, 0);
    for round in 0..times(12) {
        let address = place.path().join(round.to_string());
        old(&address, &long);
        let before = all(&open_to_read(&address)).len();
        for delay in [2, 5, 9, 14, 20, 27] {
            let delay = delay + u64::try_from(round).unwrap();
            let done = place.path().join("done");
            let _ = fs::remove_file(&done);
            let path = address.to_str().unwrap();
            let mut worker = Worker::start(WORKER, path, place.path(), "convert", "c");
            std::thread::sleep(std::time::Duration::from_millis(delay));
            worker.kill();
            if done.exists() {
                finished += 1;
                break;
            }
            killed += 1;
            assert!(all(&open_to_read(&address)).len() >= before, "round {round}");
        }
        let memory = open(&address);
        memory.write("/memories/converted.md", "y", None).unwrap();
        let others = |version: &&Version| version.path.as_str() != "/memories/converted.md";
        assert_eq!(all(&memory).iter().filter(others).count(), before);
    }
    assert!(killed > 0, "{killed} killed, {finished} finished");
}

fn open_to_read(place: &Path) -> Memory {
    let mut read_only = options();
    read_only.read_only = true;
    Memory::open(place.to_str().unwrap(), read_only).unwrap()
}

/// The points at which a conversion may be killed, as the files that it leaves.
#[test]
fn a_conversion_is_finished_from_each_of_its_steps() {
    let converted = |place: &Path| {
        old(place, OLD_LOG);
        open(place).create("/memories/c.md", "c").unwrap();
    };
    let done = tempfile::tempdir().unwrap();
    converted(done.path());
    let active = fs::read(done.path().join("history/active")).unwrap();
    let head = active.len().min(56 + 36 + 8);
    let segment = fs::read_dir(done.path().join("history/log")).unwrap().next().unwrap().unwrap();
    // The state of the older log (its name, its name before removal, or gone), of the segments, and of the active segment.
    for (old_at, segments_at) in
        [(Some("log"), "log.new"), (Some("log.old"), "log.new"), (Some("log.old"), "log")]
    {
        for is_whole in [true, false] {
            if !is_whole && old_at != Some("log") {
                continue;
            }
            let place = tempfile::tempdir().unwrap();
            let history = place.path().join("history");
            old(place.path(), OLD_LOG);
            fs::rename(history.join("log"), history.join(old_at.unwrap())).unwrap();
            fs::create_dir(history.join(segments_at)).unwrap();
            let to = history.join(segments_at).join(segment.file_name());
            fs::copy(segment.path(), &to).unwrap();
            fs::write(history.join("active.new"), &active[..head]).unwrap();
            if !is_whole {
                OpenOptions::new().write(true).open(&to).unwrap().set_len(700).unwrap();
                fs::remove_file(history.join("active.new")).unwrap();
            }
            let before = all(&open_to_read(place.path()));
            assert_eq!(before.len(), 15, "{old_at:?} {segments_at}");
            let memory = open(place.path());
            memory.create("/memories/c.md", "c").unwrap();
            assert_eq!(all(&memory).len(), 16, "{old_at:?} {segments_at} {is_whole}");
            check(&memory);
            assert!(!history.join("log.old").exists() && !history.join("log.new").exists());
        }
    }
    // Only the older log exists, under its name before removal.
    for has_leftovers in [false, true] {
        let place = tempfile::tempdir().unwrap();
        old(place.path(), OLD_LOG);
        let history = place.path().join("history");
        fs::rename(history.join("log"), history.join("log.old")).unwrap();
        if has_leftovers {
            fs::create_dir(history.join("log.new")).unwrap();
        }
        let memory = open(place.path());
        memory.create("/memories/c.md", "c").unwrap();
        assert_eq!(all(&memory).len(), 16, "{has_leftovers}");
        check(&memory);
    }
    // An older version began another log between two renames.
    let place = tempfile::tempdir().unwrap();
    old(place.path(), OLD_LOG);
    let history = place.path().join("history");
    fs::rename(history.join("log"), history.join("log.old")).unwrap();
    fs::create_dir(history.join("log.new")).unwrap();
    fs::File::create(history.join("log")).unwrap().write_all(b"").unwrap();
    let memory = open(place.path());
    memory.create("/memories/c.md", "c").unwrap();
    assert_eq!(all(&memory).len(), 16);
    check(&memory);
}

#[test]
fn many_writers_at_once_leave_whole_records() {
    let place = tempfile::tempdir().unwrap();
    let memory = open(place.path());
    let go_on = AtomicBool::new(true);
    std::thread::scope(|scope| {
        for thread in 0..65 {
            let memory = memory.acting_as(&thread.to_string());
            scope.spawn(move || {
                for number in 0..6 {
                    let path = format!("/memories/{thread}/{number}.md");
                    memory.create(&path, &"x".repeat(number * 1000)).unwrap();
                    memory.insert(&path, 0, "y").unwrap();
                }
            });
        }
        let reading = open(place.path());
        scope.spawn({
            let go_on = &go_on;
            move || {
                while go_on.load(Ordering::Relaxed) {
                    reading.history(&HistoryQuery::default()).unwrap();
                    if reading.history(&HistoryQuery::default()).unwrap().len() == 65 * 12 {
                        go_on.store(false, Ordering::Relaxed);
                    }
                }
            }
        });
    });
    assert_eq!(all(&memory).len(), 65 * 12);
    check(&open(place.path()));
}

/// A small file system in memory, if this process may mount one: only root can.
#[cfg(target_os = "linux")]
fn small_file_system(place: &Path, bytes: usize) -> bool {
    let size = format!("size={bytes}");
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", &size, "memdir-full"])
        .arg(place)
        .status();
    mounted.is_ok_and(|status| status.success())
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let place = tempfile::tempdir().unwrap();
    if !small_file_system(place.path(), 512 << 10) {
        eprintln!("==> LEFT OUT: a full disk, because no file system can be mounted here");
        return;
    }
    let memory = open(&place.path().join("m"));
    let mut acknowledged = 0;
    let ballast = place.path().join("ballast");
    for round in 0..times(3) {
        fs::write(&ballast, vec![0; 64 << 10]).unwrap();
        // Until it is full, and a few more.
        let mut refused = 0;
        for number in 0.. {
            let path = format!("/memories/{round}-{number}.md");
            let text = format!("{round} {number}\n").repeat(1 + number * 37 % 900);
            match memory.create(&path, &text) {
                Ok(_) => acknowledged += 1,
                Err(error) => {
                    let said = error.to_string();
                    assert!(said.contains("full"), "{said}");
                    assert!(!memory.exists(&path).unwrap(), "{path}");
                    refused += 1;
                }
            }
            if memory.insert(&path, 0, "more").is_ok() {
                acknowledged += 1;
            }
            if refused > 20 {
                break;
            }
        }
        let known = |memory: &Memory| all(memory).len();
        assert_eq!(known(&memory), acknowledged, "while it is full");
        assert_eq!(
            known(&open(&place.path().join("m"))),
            acknowledged,
            "while it is full, to another"
        );
        check(&memory);
        // After space is freed, everything works again.
        fs::remove_file(&ballast).unwrap();
        memory.create(&format!("/memories/after-{round}.md"), "after\n").unwrap();
        acknowledged += 1;
        for memory in [&memory, &open(&place.path().join("m"))] {
            assert_eq!(known(memory), acknowledged, "after it was full");
            check(memory);
        }
        // A trim frees the space of the history.
        let mut few = options();
        few.history_max_bytes = Some(10_000);
        let trimming = Memory::open(place.path().join("m").to_str().unwrap(), few).unwrap();
        trimming.clear().unwrap();
        trimming.trim_history().unwrap();
        acknowledged = all(&memory).len();
    }
    let _ = std::process::Command::new("umount").arg(place.path()).status();
}
