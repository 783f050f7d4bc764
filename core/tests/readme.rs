//! README's example in Rust is `examples/readme.rs`, and prints what README says.

#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../README.md");

fn block(mark: &str, language: &str) -> &'static str {
    let start = format!("<!-- {mark} -->\n```{language}\n");
    README.split_once(&start).unwrap().1.split_once("```").unwrap().0
}

#[test]
fn the_example_is_that_of_the_readme() {
    let example = include_str!("../examples/readme.rs");
    assert!(example.ends_with(block("quickstart", "rust")), "{example}");
}

#[test]
fn the_example_prints_what_the_readme_says() {
    // Cargo builds examples beside the tests.
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap();
    let example = built.join("examples/readme").with_extension(std::env::consts::EXE_EXTENSION);
    let directory = tempfile::tempdir().unwrap();
    let done = Command::new(example).current_dir(directory.path()).output().unwrap();
    assert_eq!(String::from_utf8(done.stdout).unwrap(), block("printed", "text"));
}
