//! Precision and recall of the rules on the labelled corpus, and the time for the slowest texts.
//!
//! `cargo bench -p memdir-sensitive-text`. The cost of the rules in an edit of a memory: `cargo bench -p memdir --bench
//! sensitive`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

use std::hint::black_box;
use std::time::Instant;

use memdir_sensitive_text::find;

#[path = "../tests/corpus/mod.rs"]
mod corpus;

fn main() {
    let samples = corpus::samples();
    let score = corpus::score(&samples);
    println!(
        "corpus of {} lines: precision {:.3} ({} of {} findings right), recall {:.3} ({} of {} \
         secrets found)",
        samples.len(),
        score.precision(),
        score.found,
        score.found + score.wrong.len(),
        score.recall(),
        score.found,
        score.found + score.missed.len()
    );

    println!("{:<34} {:>12}", "the slowest texts, 1 MB each", "time");
    for piece in ["secret=", "pwd:", "twilio", "api_key_", "token:", "://", "eyJaaaaaaaa."] {
        let text = piece.repeat(1_000_000 / piece.len());
        let begun = Instant::now();
        black_box(find(&text, &[]));
        println!("{piece:<34?} {:>12.1?}", begun.elapsed());
    }
}
