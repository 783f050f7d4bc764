//! The words for the kinds of errors, which some languages repeat in their types, against the core's.

use std::fs;

use memdir::ErrorKind;
use memdir_conformance::cases::project_root;

fn part(file: &str, begin: &str, end: &str) -> String {
    let text = fs::read_to_string(project_root().join(file)).unwrap();
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("{file}: no {begin:?}"));
    rest.split_once(end).unwrap_or_else(|| panic!("{file}: no {end:?}")).0.to_owned()
}

/// What stands between `quote` and the next `quote` in these lines.
fn quoted(text: &str, quote: char) -> Vec<String> {
    text.lines().filter_map(|line| Some(line.split(quote).nth(1)?.to_owned())).collect()
}

#[test]
fn every_language_has_the_words_for_the_kinds_of_errors() {
    let words: Vec<&str> = ErrorKind::ALL.into_iter().map(ErrorKind::as_str).collect();
    for (file, begin, end, quote) in [
        ("bindings-python/python/memdir/_errors.py", "ErrorKind = Literal[", "]", '"'),
        ("bindings-node/ts/error-kind.ts", "export type ErrorKind =", ";", '\''),
        ("bindings-go/error_kind.go", "const (", "\n)", '"'),
        ("docs/behaviour.md", "| kind | means | status |\n|---|---|---|\n", "\n\n", '`'),
    ] {
        assert_eq!(quoted(&part(file, begin, end), quote), words, "{file}");
    }
}

#[test]
fn the_documentation_has_the_status_of_each_kind() {
    let table = part("docs/behaviour.md", "| kind | means | status |\n|---|---|---|\n", "\n\n");
    for (line, kind) in table.lines().zip(ErrorKind::ALL) {
        assert!(line.ends_with(&format!("| {} |", kind.http_status())), "{line}");
    }
}
