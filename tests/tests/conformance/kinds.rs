//! The names of the kinds of errors, which some languages repeat in their types, compared with the
//! core's.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;

use memdir::ErrorKind;
use memdir_conformance::cases::project_root;

fn part(file: &str, begin: &str, end: &str) -> String {
    let text = fs::read_to_string(project_root().join(file)).unwrap();
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("{file}: no {begin:?}"));
    rest.split_once(end).unwrap_or_else(|| panic!("{file}: no {end:?}")).0.to_owned()
}

/// The texts between `quote` and the next `quote` in these lines.
fn quoted(text: &str, quote: char) -> Vec<String> {
    text.lines().filter_map(|line| Some(line.split(quote).nth(1)?.to_owned())).collect()
}

#[test]
fn the_documentation_has_the_word_of_each_kind() {
    let words: Vec<&str> = ErrorKind::ALL.into_iter().map(ErrorKind::as_str).collect();
    let table =
        part("docs/reference/behaviour.md", "| kind | means | status |\n|---|---|---|\n", "\n\n");
    assert_eq!(quoted(&table, '`'), words);
}

#[test]
fn the_page_of_errors_says_what_to_do_about_each_kind() {
    let table = part(
        "docs/reference/errors.md",
        "| kind | the model | your program |\n|---|---|---|\n",
        "\n\n",
    );
    let words: Vec<&str> = ErrorKind::ALL.into_iter().map(ErrorKind::as_str).collect();
    let named: Vec<&str> = table
        .lines()
        .flat_map(|line| line.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(named, words);
}

#[test]
fn the_documentation_has_the_status_of_each_kind() {
    let table =
        part("docs/reference/behaviour.md", "| kind | means | status |\n|---|---|---|\n", "\n\n");
    for (line, kind) in table.lines().zip(ErrorKind::ALL) {
        assert!(line.ends_with(&format!("| {} |", kind.http_status())), "{line}");
    }
}
