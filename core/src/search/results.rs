//! The results of a search.

use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use serde::Serialize;

/// The answer of [`Memory::search`](crate::Memory::search).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SearchResults {
    /// The files that answer the question, the best first.
    pub hits: Vec<SearchHit>,
    /// The number of files that were not searched, because the index has reached the option `search_max_bytes`, or because a file is too large to
    /// be redacted for a view (`sensitive_on_view`).
    pub files_left_out: u64,
    /// Why the answer is by words alone, although the memory has an embedder: the embedder failed or was too slow. `None` if the vectors had
    /// their part, and without an embedder.
    pub words_only: Option<String>,
}

/// A file that answers a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SearchHit {
    /// Its path.
    pub path: MemoryPath,
    /// How well it answers: higher is better. Scores of different searches cannot be compared.
    pub score: f64,
    /// When it was last written. `None` if the store does not keep times.
    #[serde(serialize_with = "memdir_store::time::serialize_optional")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<memdir_store::schema::Time>"))]
    pub modified: Option<SystemTime>,
    /// Its best passages, up to three, the best first. If only the path matches, this is the first passage of the file. It is empty for a file
    /// without text.
    pub passages: Vec<SearchPassage>,
}

/// A part of a file: a short section, a paragraph, or an item of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SearchPassage {
    /// The text, of at most 800 bytes. It has whole lines, unless a line alone is longer.
    pub text: String,
    /// The 1-based number of its first line in the file.
    pub first_line: u64,
    /// The 1-based number of its last line. Both numbers together are a `view_range`.
    pub last_line: u64,
    /// The places of the words in the text, in ascending order and without overlaps.
    pub matches: Vec<SearchMatch>,
}

/// The place of a word in the text of a passage. It is counted in the units in which your language indexes its strings: bytes in Rust, Go
/// and C, code points in Python, UTF-16 code units in JavaScript, Kotlin and Swift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(clippy::exhaustive_structs, reason = "a range has two ends")]
pub struct SearchMatch {
    /// The start of the word.
    pub start: u64,
    /// The end of the word: the place after it.
    pub end: u64,
}

impl From<memdir_search::Passage> for SearchPassage {
    fn from(passage: memdir_search::Passage) -> Self {
        let place = |range: std::ops::Range<usize>| SearchMatch {
            start: range.start as u64,
            end: range.end as u64,
        };
        Self {
            text: passage.text,
            first_line: passage.first_line.into(),
            last_line: passage.last_line.into(),
            matches: passage.matches.into_iter().map(place).collect(),
        }
    }
}
