//! Runs the cases of the tables in the README.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use memdir_search::{Index, Options, Query};

/// The scores of all hits of all cases, mixed into one number.
const SCORES: u64 = 12_113_432_861_633_593_489;

/// The texts in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_rules_of_the_readme_are_true() {
    let (readme, _) = include_str!("../README.md").split_once("## Quality").unwrap();
    let (mut cases, mut wrong, mut scores) = (0, Vec::new(), 0_u64);
    for row in readme.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [rule, files, query, hits, _] = cells[..] else {
            panic!("a row has five cells: {row}")
        };
        let [query] = quoted(query)[..] else { continue };
        cases += 1;
        let files: Vec<(&str, String)> = quoted(files)
            .iter()
            .map(|file| {
                file.split_once(": ")
                    .map(|(path, text)| {
                        (path, text.replace("\\n", "\n").replace("\\u{ad}", "\u{ad}"))
                    })
                    .unwrap()
            })
            .collect();
        // Also in the other order, because that must not matter.
        for backwards in [false, true] {
            let mut index = Index::new(Options::default());
            let mut put = |(path, text): &(&str, String)| index.put(path, text, None).unwrap();
            if backwards {
                files.iter().rev().for_each(&mut put);
            } else {
                files.iter().for_each(&mut put);
            }
            let found = index.search(&Query::parse(query), 10);
            for hit in &found {
                scores = (scores.rotate_left(5) ^ hit.score.to_bits())
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            }
            let paths: Vec<&str> = found.iter().map(|hit| hit.path.as_str()).collect();
            if paths != quoted(hits) {
                let scores: Vec<_> = found.iter().map(|hit| (&hit.path, hit.score)).collect();
                wrong.push(format!("{rule}: {query}: {scores:?}, expected {hits}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases >= 35, "{cases}");
    // The same on every machine, to the last digit. It changes with the cases, the formulas and the weights.
    assert_eq!(scores, SCORES);
}
