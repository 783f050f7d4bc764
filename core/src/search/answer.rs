//! The text of an answer for a model: each file's path, then its passages with the line numbers that a view shows.

use std::fmt::Write as _;

use super::{SearchPassage, SearchResults};

/// The most files in an answer for a model.
pub(crate) const MOST_FILES: usize = 5;

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
    if results.files_left_out > 0 {
        let _ = writeln!(text, "{} files were not searched.", results.files_left_out);
    }
    text.truncate(text.trim_end().len());
    text
}
