//! The cost of creating files in one local directory with several writers, compared with the minimum of
//! flushes: a content written to a temporary file and flushed, a rename, a flush of the directory.
//!
//! `cargo bench -p memdir --bench writers`, in the directory for temporary files, which should be on a disk.
//! Both alternate; look at the ratios.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use memdir::{Memory, MemoryOptions};

const TEXT: &str = "- a remembered fact of sixty-four characters, give or take one.\n";

fn main() {
    println!(
        "{:<34} {:>12} {:>12} {:>7}",
        "creates a second, on a disk", "memdir", "floor", "ratio"
    );
    for writers in [1, 2, 16] {
        let (mut ours, mut floor) = (Vec::new(), Vec::new());
        for round in 0..8 {
            let place = tempfile::tempdir().unwrap();
            let memory =
                Memory::open(place.path().to_str().unwrap(), MemoryOptions::default()).unwrap();
            let bare = place.path().join("bare");
            fs::create_dir(&bare).unwrap();
            let each = 400 / writers;
            let mut run_ours = || {
                ours.push(all(writers, each, &|name| {
                    memory.create(&format!("/memories/{name}.md"), TEXT).unwrap();
                }));
            };
            let mut run_floor = || floor.push(all(writers, each, &|name| create(&bare, name)));
            if round % 2 == 0 {
                run_ours();
                run_floor();
            } else {
                run_floor();
                run_ours();
            }
        }
        let rate = |times: Vec<Duration>| {
            f64::from((400 / writers) * writers) / median(times).as_secs_f64()
        };
        let (ours, floor) = (rate(ours), rate(floor));
        let what = format!("{writers} writers in one tree");
        println!("{what:<34} {ours:>12.0} {floor:>12.0} {:>7.2}", floor / ours);
    }
}

fn create(directory: &Path, name: &str) {
    let staged = directory.join(format!("{name}.staged"));
    let mut file = File::create_new(&staged).unwrap();
    file.write_all(TEXT.as_bytes()).unwrap();
    file.sync_all().unwrap();
    fs::rename(&staged, directory.join(name)).unwrap();
    File::open(directory).unwrap().sync_all().unwrap();
}

/// The time that `writers` threads need to do `work` `each` times.
fn all(writers: u32, each: u32, work: &(dyn Fn(&str) + Sync)) -> Duration {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for writer in 0..writers {
            scope.spawn(move || (0..each).for_each(|number| work(&format!("w{writer}-{number}"))));
        }
    });
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
