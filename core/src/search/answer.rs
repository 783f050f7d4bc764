//! The text of an answer for a model: each file's path, then its passages with the line numbers that a view shows.

use std::fmt::Write as _;

use super::{SearchPassage, SearchResults};

pub(crate) fn text(results: &SearchResults) -> String {
    let mut text = String::new();
    for hit in &results.hits {
        let _ = writeln!(text, "{}", hit.path);
        let mut passages: Vec<&SearchPassage> = hit.passages.iter().collect();
        passages.sort_by_key(|passage| passage.first_line);
        for passage in passages {
            for (line, number) in passage.text.split('\n').zip(passage.first_line..) {
                let _ = writeln!(text, "{number:>6}\t{}", line.trim_end_matches('\r'));
            }
        }
    }
    if results.hits.is_empty() {
        text.push_str("No file has these words.\n");
    }
    match results.files_left_out {
        0 => {}
        1 => text.push_str("1 file was not searched.\n"),
        count => {
            let _ = writeln!(text, "{count} files were not searched.");
        }
    }
    if results.words_only.is_some() {
        // The reason is for the developer.
        text.push_str(
            "\nOnly the words were searched for, not their meaning. Other words may find more.",
        );
    }
    text.truncate(text.trim_end().len());
    text
}
