//! Ranks the questions of `tests/search-bench`, and measures times and memory.
//!
//! `make bench-search` runs it: `tests/search-bench/run --rank target/release/examples/bench`. Its argument is the file with the set. It prints
//! the ranked paths of each question as JSON, and its figures as lines on the standard error output.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program, and not part of the library"
)]

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use memdir_search::{Index, NewFile, Options, Query};
use serde_json::Value;

/// The files of the measured index, and their size.
const FILES: usize = 10_000;
const FILE_BYTES: usize = 1_700;
/// The files that are added in one call.
const BATCH_FILES: usize = 256;
/// A ranking is judged by its first ten files.
const DEPTH: usize = 10;

fn main() {
    let set = std::env::args().nth(1).unwrap();
    let set: Value = serde_json::from_slice(&std::fs::read(set).unwrap()).unwrap();
    let texts: Vec<(&str, &str)> = set["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (text(&file["path"]), text(&file["text"])))
        .collect();
    let questions: Vec<&str> = set["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|question| text(&question["question"]))
        .collect();

    let mut index = Index::new(Options::default());
    for (path, text) in &texts {
        index.put(path, text, None).unwrap();
    }
    let rankings: Vec<Vec<String>> = questions
        .iter()
        .map(|question| {
            index.search(&Query::text(question), DEPTH).into_iter().map(|hit| hit.path).collect()
        })
        .collect();
    println!("{}", serde_json::to_string(&rankings).unwrap());
    measure(&texts, &questions);
    measure_hostile();
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The time that a processor has worked for this program, so other programs do not count. Where the system does not tell it, the time of the
/// clock.
fn now() -> Duration {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let on_processor = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = on_processor.as_deref().and_then(|line| line.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGUN.elapsed(), Duration::from_nanos)
}

/// Measures an index of 10,000 files. They are made of the texts of the set, in turn, so each language has its share.
fn measure(texts: &[(&str, &str)], questions: &[&str]) {
    let mut by_language: HashMap<&str, Vec<&str>> = HashMap::new();
    for (path, text) in texts {
        by_language.entry(path.split('/').nth(2).unwrap_or_default()).or_default().push(text);
    }
    let mut languages: Vec<&Vec<&str>> = by_language.values().collect();
    languages.sort();
    let files: Vec<(String, String)> = (0..FILES)
        .map(|at| {
            let parts = languages[at % languages.len()];
            let mut file = String::new();
            let mut next = at / languages.len() * 7;
            while file.len() < FILE_BYTES {
                file.push_str(parts[next % parts.len()]);
                file.push('\n');
                next += 11;
            }
            while file.len() > FILE_BYTES {
                file.pop();
            }
            (format!("/memories/{at:05}.md"), file)
        })
        .collect();
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();

    let begun = now();
    let mut index = Index::new(Options::default());
    for (path, text) in &files {
        index.put(path, text, None).unwrap();
    }
    let built = now() - begun;
    let new: Vec<NewFile<'_>> = files
        .iter()
        .map(|(path, text)| NewFile { path, text: text.as_bytes(), modified: None })
        .collect();
    let begun = Instant::now();
    let mut at_once = Index::new(Options::default());
    for batch in new.chunks(BATCH_FILES) {
        assert!(at_once.put_all(batch).iter().all(Result::is_ok));
    }
    let built_at_once = begun.elapsed();
    drop(at_once);
    let begun = now();
    for question in questions {
        black_box(index.search(&Query::text(question), DEPTH));
    }
    let query = (now() - begun) / u32::try_from(questions.len()).unwrap();
    let begun = now();
    let saved = index.to_bytes();
    let saving = now() - begun;
    let begun = now();
    black_box(Index::from_bytes(&saved, Options::default()).unwrap());
    let reading = now() - begun;
    let begun = now();
    for (path, text) in &files[..1_000] {
        index.put(path, text, None).unwrap();
    }
    let replaced = (now() - begun) / 1_000;
    let of_text = |size: usize| size as f64 / bytes as f64;
    eprintln!(
        "{FILES} files, {bytes} bytes; built in {built:.0?}, {:.1} MB/s",
        bytes as f64 / 1e6 / built.as_secs_f64()
    );
    eprintln!(
        "{BATCH_FILES} files at a time, by the clock: {built_at_once:.0?}, {:.1} MB/s",
        bytes as f64 / 1e6 / built_at_once.as_secs_f64()
    );
    eprintln!("a query: {query:.2?} on average");
    eprintln!("replacing a file: {replaced:.2?}");
    eprintln!(
        "memory: {:.2} bytes per byte of text, with the text itself",
        of_text(index.memory())
    );
    eprintln!(
        "saved: {:.2} bytes per byte of text, written in {saving:.0?}, read in {reading:.0?}",
        of_text(saved.len())
    );
}

/// Measures texts that are made to be expensive.
fn measure_hostile() {
    let letters = |at: usize| {
        (0..7)
            .map(|place| char::from(b'a' + u8::try_from(at / 26_usize.pow(place) % 26).unwrap()))
            .collect::<String>()
    };
    let words: Vec<String> = (0..1_000_000).map(letters).collect();
    for (name, text) in [
        ("a line of 50 MB without spaces", "x".repeat(50_000_000)),
        ("a line of 50 MB of words", "tea and milk ".repeat(50_000_000 / 13)),
        ("100,000 headings", "# a heading\n".repeat(100_000)),
        ("1,000,000 distinct words", words.join(" ")),
        ("1,000,000 distinct words in lines", words.join("\n")),
    ] {
        let begun = now();
        let mut index = Index::new(Options::default());
        index.put("hostile.md", &text, None).unwrap();
        let built = now() - begun;
        let begun = now();
        black_box(index.search(&Query::parse("abcdefgh tea \"x x\" heading"), DEPTH));
        let searched = now() - begun;
        let per_byte = index.memory() as f64 / text.len() as f64;
        eprintln!(
            "{name}: built in {built:.0?}, {per_byte:.2} bytes per byte of text, searched in {searched:.1?}"
        );
    }
    let mut index = Index::new(Options::default());
    index.put("words.md", words.join(" "), None).unwrap();
    let query = Query::text(
        &(0..64).map(|at| format!("{}qqqqqqqq ", letters(at * 7_919))).collect::<String>(),
    );
    let begun = now();
    black_box(index.search(&query, DEPTH));
    eprintln!("64 words that occur nowhere, among a million: {:.1?}", now() - begun);
}
