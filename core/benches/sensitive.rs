//! The cost of the option `sensitive_text`, compared with the same edit without it.
//!
//! `cargo bench -p memdir --bench sensitive`. Look at the ratios. For the rules themselves:
//! `cargo bench -p memdir-sensitive-text`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use memdir::policy::sensitive::SensitiveText;
use memdir::{Memory, MemoryOptions};

fn main() {
    println!("{:<34} {:>12} {:>12} {:>7}", "an edit", "sensitive", "plain", "ratio");
    let line = "- on Tuesdays Anna and Ben meet at 10:30 in room 4.12, floor 3.\n";
    edit("of 4 KiB of prose", &line.repeat(64));
    edit("of 1 MB of prose", &line.repeat(15_625));
    // Every line has a word at which a rule starts to match.
    let line = "- the password for the wifi is with Maria, the token is in the safe.\n";
    edit("of 4 KiB about passwords", &line.repeat(60));
}

/// Alternates between both, so other load on the machine affects both.
fn edit(what: &str, content: &str) {
    let shm = Path::new("/dev/shm");
    let place = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
    let address = place.path().to_str().unwrap();
    let mut options = MemoryOptions::default();
    let plain = Memory::open(address, options.clone()).unwrap();
    options.sensitive_text = SensitiveText::Reject;
    let checked = Memory::open(address, options).unwrap();
    fs::write(place.path().join("memories/a.md"), format!("unique\n{content}")).unwrap();

    let (mut with, mut without) = (Vec::new(), Vec::new());
    let mut flip = false;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        for (memory, times) in [(&checked, &mut with), (&plain, &mut without)] {
            flip = !flip;
            let (old, new) = if flip { ("unique", "UNIQUE") } else { ("UNIQUE", "unique") };
            let begun = Instant::now();
            memory.str_replace("/memories/a.md", old, new).unwrap();
            times.push(begun.elapsed());
        }
    }
    let (with, without) = (median(with), median(without));
    let ratio = with.as_secs_f64() / without.as_secs_f64();
    println!("{what:<34} {with:>12.1?} {without:>12.1?} {ratio:>7.2}");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
