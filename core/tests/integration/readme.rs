//! The examples of pages in Rust are programs in `examples/`, and print what their pages say: that of `docs/start/rust.md`, whose output
//! README has, too, and those of `docs/guides/your-own-code.md`. The one of `docs/start/swift.md` is a package that Swift's tests build and run.

#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../README.md");
const START: &str = include_str!("../../../docs/start/rust.md");
const START_IN_SWIFT: &str = include_str!("../../../docs/start/swift.md");
const OWN_CODE: &str = include_str!("../../../docs/guides/your-own-code.md");

fn block(page: &'static str, mark: &str, language: &str) -> &'static str {
    let start = format!("<!-- {mark} -->\n```{language}\n");
    page.split_once(&start).unwrap().1.split_once("```").unwrap().0
}

#[test]
fn the_examples_are_those_of_the_pages() {
    let example = include_str!("../../examples/readme.rs");
    assert!(example.ends_with(block(START, "quickstart", "rust")), "{example}");
    let example = include_str!("../../examples/own_code.rs");
    assert!(example.ends_with(block(OWN_CODE, "rust", "rust")), "{example}");
    let example = include_str!("../../examples/watching.rs");
    assert!(example.ends_with(block(OWN_CODE, "rust-watch", "rust")), "{example}");
}

#[test]
fn the_example_in_swift_is_that_of_the_package() {
    let package =
        include_str!("../../../bindings-uniffi/swift/consumer/Sources/consumer/main.swift");
    assert_eq!(package, block(START_IN_SWIFT, "quickstart", "swift"));
}

#[test]
fn the_examples_print_what_the_pages_say() {
    // Cargo builds examples beside the tests.
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap().join("examples");
    for (name, page, mark) in [
        ("readme", README, "printed"),
        ("readme", START, "printed"),
        ("own_code", OWN_CODE, "printed"),
        ("watching", OWN_CODE, "watch-printed"),
    ] {
        let example = built.join(name).with_extension(std::env::consts::EXE_EXTENSION);
        let directory = tempfile::tempdir().unwrap();
        let done = Command::new(example).current_dir(directory.path()).output().unwrap();
        assert_eq!(String::from_utf8(done.stdout).unwrap(), block(page, mark, "text"));
    }
}
