//! Measures a view of 4 KiB in the core alone, for comparison with Kotlin (`scripts/bench` runs
//! both). Prints one line for each store: its name and the median in nanoseconds.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

use std::hint::black_box;
use std::time::Instant;

use memdir::{Memory, MemoryOptions};

fn main() {
    // The directory that the Kotlin side also measures. `cargo bench` passes an argument of its
    // own.
    let directory = std::env::args().nth(1).filter(|argument| !argument.starts_with("--"));
    for (name, address) in [("memory", Some("memory:".to_owned())), ("local", directory)] {
        let Some(address) = address else { continue };
        let memory = Memory::open(&address, MemoryOptions::default()).unwrap();
        let line = "- a remembered fact of sixty-four characters, give or take one.\n";
        let _ = memory.create("/memories/small.md", &line.repeat(64));
        println!("{name} {}", median(|| drop(black_box(memory.view("/memories/small.md", None)))));
    }
}

/// The median of many calls, in nanoseconds, after a warm-up.
fn median(mut call: impl FnMut()) -> u128 {
    let mut timed = || {
        let start = Instant::now();
        call();
        start.elapsed().as_nanos()
    };
    for _ in 0..2_000 {
        timed();
    }
    let mut times: Vec<u128> = (0..20_000).map(|_| timed()).collect();
    times.sort_unstable();
    times[times.len() / 2]
}
