//! The cost of a history: each command with a history compared with the same command without one, and reading the
//! history compared with reading the file itself.
//!
//! `cargo bench -p memdir --bench history`. Look at the ratios. Each is the median of many ratios between two
//! consecutive runs.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use memdir::history::HistoryQuery;
use memdir::{Durability, GrepQuery, Memory, MemoryOptions};

fn main() {
    let shm = Path::new("/dev/shm");
    let memory =
        if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |what: &str| wanted.is_empty() || wanted.iter().any(|word| what.contains(word));
    for (what, address, durability, runs) in [
        ("a directory in memory (tmpfs)", at(memory.path(), "d"), Durability::Full, 3000),
        ("a directory on a disk", at(disk.path(), "d"), Durability::Full, 400),
        ("SQLite in memory (tmpfs)", sqlite(memory.path()), Durability::Full, 1500),
        ("SQLite on a disk", sqlite(disk.path()), Durability::Full, 300),
        ("in the process", "memory:".to_owned(), Durability::Full, 3000),
    ] {
        if is_wanted(what) {
            println!("\n4 KiB, {what}");
            commands(&address, durability, runs);
        }
    }
    if is_wanted("reading") {
        reading(&at(memory.path(), "r"));
    }
    for (what, kind) in [
        ("growing, a directory in memory (tmpfs)", "g"),
        ("growing, SQLite in memory (tmpfs)", "sqlite:"),
    ] {
        if is_wanted(what) {
            let place = tempfile::tempdir_in(memory.path()).unwrap();
            growing(what, &|edits| match kind {
                "sqlite:" => format!("sqlite:{}", at(place.path(), &edits.to_string())),
                _ => at(place.path(), &edits.to_string()),
            });
        }
    }
    for (what, address) in [
        ("blame, a directory in memory (tmpfs)", at(memory.path(), "b")),
        ("blame, SQLite in memory (tmpfs)", format!("sqlite:{}", at(memory.path(), "b.db"))),
    ] {
        if is_wanted(what) {
            blame(what, &address);
        }
    }
}

fn at(place: &Path, name: &str) -> String {
    place.join(name).to_str().unwrap().to_owned()
}

fn sqlite(place: &Path) -> String {
    format!("sqlite:{}", place.join("a.db").display())
}

fn open(address: &str, durability: Durability, history: bool) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = history;
    options.durability = durability;
    // A separate store of each kind.
    let address = match address {
        "memory:" => address.to_owned(),
        address => format!("{address}{}", u8::from(history)),
    };
    Memory::open(&address, options).unwrap()
}

fn commands(address: &str, durability: Durability, runs: usize) {
    let text = "- on Tuesdays Anna and Ben meet at 10:30 in room 4.12, floor 3.\n".repeat(64);
    let memories = [false, true].map(|history| open(address, durability, history));
    for memory in &memories {
        memory.create("/memories/a.md", &format!("flip\n{text}")).unwrap();
    }
    let view = |memory: &Memory, _: usize| {
        black_box(memory.view("/memories/a.md", None).unwrap());
    };
    let edit = |memory: &Memory, run: usize| {
        let (old, new) = if run.is_multiple_of(2) { ("flip", "flop") } else { ("flop", "flip") };
        memory.str_replace("/memories/a.md", old, new).unwrap();
    };
    let create = |memory: &Memory, run: usize| {
        memory.create(&format!("/memories/new/{run}.md"), &text).unwrap();
    };
    let delete = |memory: &Memory, run: usize| {
        memory.delete(&format!("/memories/new/{run}.md")).unwrap();
    };
    compare("view", &memories, runs, view);
    compare("edit", &memories, runs, edit);
    compare("create", &memories, runs / 4, create);
    compare("delete", &memories, runs / 4, delete);
}

fn compare(what: &str, memories: &[Memory; 2], runs: usize, run: impl Fn(&Memory, usize)) {
    let timed = |memory: &Memory, number| {
        let begun = Instant::now();
        run(memory, number);
        begun.elapsed()
    };
    let (mut ratios, mut times) = (Vec::new(), [Vec::new(), Vec::new()]);
    for number in 0..runs {
        // Alternates, so neither is always the second one.
        let first = number / 2 % 2;
        let mut both = [Duration::ZERO; 2];
        for which in [first, 1 - first] {
            both[which] = timed(&memories[which], number);
        }
        ratios.push(both[1].as_secs_f64() / both[0].as_secs_f64());
        for which in [0, 1] {
            times[which].push(both[which].as_secs_f64() * 1e6);
        }
    }
    let median = |list: &mut Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    let [mut without, mut with] = times;
    println!(
        "{what:8} {:8.1} µs without, {:8.1} µs with history: {:.2}",
        median(&mut without),
        median(&mut with),
        median(&mut ratios)
    );
}

/// The time in milliseconds for a process without a cache.
fn timed(address: &str, work: &dyn Fn(&Memory)) -> f64 {
    let mut times: Vec<f64> = (0..15)
        .map(|_| {
            let memory = open(address, Durability::Relaxed, true);
            let begun = Instant::now();
            work(&memory);
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// 1,000 versions of a file of 1,000 lines. The first version brought most of the lines.
fn blame(what: &str, address: &str) {
    let memory = open(address, Durability::Relaxed, true);
    let line = |number: usize| format!("- {number}: Anna and Ben meet at 10:30 in room 4.12\n");
    let text: String = (0..1000).map(line).collect();
    memory.create("/memories/a.md", &text).unwrap();
    for number in 0..999 {
        // A third of the edits change a line, a third add one, and a third remove the one before.
        let at = number / 3 * 3;
        let (old, new) = match number % 3 {
            0 => (line(at), format!("- {at}: moved to Thursdays\n")),
            1 => (line(at + 1), format!("{}- new\n", line(at + 1))),
            _ => ("- new\n".to_owned(), String::new()),
        };
        memory.str_replace("/memories/a.md", &old, &new).unwrap();
    }
    let listed = timed(address, &|memory| {
        assert_eq!(memory.history(&HistoryQuery::default()).unwrap().len(), 1000);
    });
    let blamed = timed(address, &|memory| {
        assert_eq!(memory.blame("/memories/a.md").unwrap().len(), 1000);
    });
    println!(
        "\n{what}: 1,000 lines, 1,000 versions: {blamed:.2} ms; listing the versions {listed:.2} ms: {:.1}",
        blamed / listed
    );
}

/// The cost of queries when the history grows with its file: a third of the edits change the line that was added before.
fn growing(what: &str, address: &dyn Fn(usize) -> String) {
    println!("\n{what}");
    let mut before: Option<[f64; 3]> = None;
    for edits in [1_000, 4_000, 12_000] {
        let address = address(edits);
        let memory = open(&address, Durability::Relaxed, true);
        memory.create("/memories/a.md", "").unwrap();
        for number in 0..edits {
            if number % 3 == 2 {
                memory.str_replace("/memories/a.md", "new", "old").unwrap();
            } else {
                let text = format!(
                    "- {number}: Anna and Ben meet at 10:30, {}\n",
                    ["new", "soon"][number % 3]
                );
                memory.insert("/memories/a.md", 0, &text).unwrap();
            }
        }
        let mut query = HistoryQuery::default();
        query.limit = Some(10);
        let first = timed(&address, &|memory| {
            assert_eq!(memory.history(&query).unwrap().len(), 10);
        });
        let search = timed(&address, &|memory| {
            let found = memory.grep_history(&GrepQuery::text("new"), "/memories", usize::MAX);
            assert_eq!(found.unwrap().len(), edits / 3);
        });
        let mut again: Vec<f64> = (0..100)
            .map(|number| {
                memory.insert("/memories/a.md", 0, &format!("- {number}\n")).unwrap();
                let begun = Instant::now();
                assert_eq!(memory.history(&query).unwrap().len(), 10);
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        again.sort_by(f64::total_cmp);
        let times = [first, search, again[50]];
        let ratio = |which: usize| before.map_or(1.0, |before| times[which] / before[which]);
        println!(
            "{edits:6} edits: the first 10 versions {:7.2} ms ({:4.1}), a search of all {:8.2} ms ({:4.1}), 10 versions after an edit {:6.3} ms ({:4.1})",
            times[0],
            ratio(0),
            times[1],
            ratio(1),
            times[2],
            ratio(2)
        );
        before = Some(times);
    }
}

/// 1,000 versions of a file of 100 KiB.
fn reading(address: &str) {
    let memory = open(address, Durability::Relaxed, true);
    let text = "- on Tuesdays Anna and Ben meet at 10:30 in room 4.12, floor 3.\n".repeat(1600);
    memory.create("/memories/a.md", &format!("number 0000000000\n{text}")).unwrap();
    for number in 1..=1000 {
        let (old, new) = (format!("number {:010}", number - 1), format!("number {number:010}"));
        memory.str_replace("/memories/a.md", &old, &new).unwrap();
    }
    let history = Path::new(&format!("{address}1")).join("history");
    let bytes: u64 = [history.clone(), history.join("log")]
        .iter()
        .flat_map(|directory| directory.read_dir().unwrap())
        .map(|file| file.unwrap().metadata().unwrap())
        .filter(std::fs::Metadata::is_file)
        .map(|file| file.len())
        .sum();
    println!(
        "\n1,000 edits of ten bytes in a file of {} KiB: {} KiB of history",
        text.len() / 1024,
        bytes / 1024
    );
    let timed = |work: &dyn Fn(&Memory)| timed(address, work);
    let file = timed(&|memory| {
        black_box(memory.read("/memories/a.md").unwrap());
    });
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    let (oldest, middle) = (versions[1000].id, versions[500].id);
    for (what, time) in [
        (
            "listing all versions",
            timed(&|memory| {
                black_box(memory.history(&HistoryQuery::default()).unwrap());
            }),
        ),
        (
            "reading the oldest",
            timed(&|memory| {
                black_box(memory.read_version(oldest).unwrap());
            }),
        ),
        (
            "reading the one in the middle",
            timed(&|memory| {
                black_box(memory.read_version(middle).unwrap());
            }),
        ),
    ] {
        println!(
            "{what:30} {time:6.2} ms; reading the file itself {file:.2} ms: {:.0}",
            time / file
        );
    }
}
