//! The search text in the address of every page that a search leads to. The page marks its matches.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use maud::Markup;

use super::passage::lines_of;
use crate::page::html::shown_with_marks;
use crate::page::params::{Params, given};
use crate::page::site::Room;
use memdir::path::MemoryPath;
use memdir::{Error, GrepQuery};

/// The maximum number of matches marked on a page, because browsers are slow with more.
const MAX_MARKS: usize = 5_000;

/// A query, if there is one, and the number of matches that may still be marked.
pub(super) struct Searched {
    query: Option<GrepQuery>,
    /// The lines that a ranked search found, without spaces at their ends, with the places of the words.
    ranked: Option<HashMap<String, Vec<Range<usize>>>>,
    left: Cell<usize>,
}

impl Searched {
    /// The search of the address.
    ///
    /// # Errors
    /// If it should be a regular expression but is not a valid one.
    pub(super) fn new(params: &Params) -> Result<Self, Error> {
        let query = |asked: &str| {
            let is_regex = given(&params.regex).is_some();
            let query = if is_regex { GrepQuery::regex(asked)? } else { GrepQuery::text(asked) };
            let keeps_case = given(&params.case).is_some();
            Ok::<_, Error>(if keeps_case { query } else { query.ignoring_case() })
        };
        let query = given(&params.q).map(query).transpose()?;
        Ok(Self { query, ranked: None, left: Cell::new(MAX_MARKS) })
    }

    /// The same for a page that is not a search. There, an invalid search marks nothing.
    pub(super) fn or_nothing(params: &Params) -> Self {
        Self::new(params).unwrap_or(Self { query: None, ranked: None, left: Cell::new(0) })
    }

    /// The same for a file. An address with a passage comes from a ranked search, so its words are marked.
    pub(super) fn in_file(room: &Room, path: &MemoryPath, params: &Params) -> Self {
        let Some(asked) = given(&params.q).filter(|_| params.lines().is_some()) else {
            return Self::or_nothing(params);
        };
        // Without an answer nothing is marked.
        let found = room.memory().search(asked, path.as_str(), 1);
        let hits = found.map(|found| found.hits).unwrap_or_default();
        let passages = hits.iter().flat_map(|hit| &hit.passages);
        let lines =
            passages.flat_map(lines_of).map(|line| (line.text.trim_end().to_owned(), line.matches));
        Self { query: None, ranked: Some(lines.collect()), left: Cell::new(MAX_MARKS) }
    }

    pub(super) fn query(&self) -> Option<&GrepQuery> {
        self.query.as_ref()
    }

    /// The matches in a line.
    pub(super) fn places(&self, line: &str) -> Vec<Range<usize>> {
        let most = self.left.get();
        let places = match (&self.ranked, &self.query) {
            (Some(ranked), _) => {
                ranked.get(line.trim_end()).into_iter().flatten().take(most).cloned().collect()
            }
            (None, Some(query)) => query.find_all(line, most),
            (None, None) => Vec::new(),
        };
        self.left.set(self.left.get() - places.len());
        places
    }

    /// A text of one line, with its matches marked.
    pub(super) fn marked(&self, text: &str) -> Markup {
        shown_with_marks(text, &self.places(text))
    }
}

/// The parameters of an address that leads to the same marks.
pub(super) fn carried(params: &Params) -> Vec<(&'static str, &str)> {
    let Params { q, regex, case, lines, .. } = params;
    let all = [("q", q), ("regex", regex), ("case", case), ("lines", lines)];
    all.into_iter().filter_map(|(name, value)| Some((name, given(value)?))).collect()
}
