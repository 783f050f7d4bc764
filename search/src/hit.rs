//! The answers of a search.

use std::ops::Range;
use std::time::SystemTime;

/// A file that a query finds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The path of the file, as it was given to [`Index::put`](crate::Index::put).
    pub path: String,
    /// How well the file answers the query: higher is better. Scores of different queries, or of different indexes, cannot be compared.
    pub score: f64,
    /// The time that was given with the text.
    pub modified: Option<SystemTime>,
    /// The best passages of the file, up to three, the best first. If no word is in the text, because the path matches, this is the first
    /// passage of the file. It is empty for a file without text.
    pub passages: Vec<Passage>,
}

/// A part of a file that answers a query: a short section, a paragraph, a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// The text, without empty lines around it. It has at most 800 bytes. It has whole lines, unless a line alone is longer.
    pub text: String,
    /// The 1-based number of its first line in the file.
    pub first_line: u32,
    /// The 1-based number of its last line, inclusive. The two are a `view_range` of the memory tool.
    pub last_line: u32,
    /// The places of the words in `text`, in bytes, in ascending order and without overlaps.
    pub matches: Vec<Range<usize>>,
}
