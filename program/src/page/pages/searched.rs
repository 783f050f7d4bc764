//! The search text in the address of every page that a search leads to. The page marks its matches.

use std::cell::Cell;
use std::ops::Range;

use maud::Markup;

use crate::page::html::shown_with_marks;
use crate::page::params::{Params, given};
use memdir::{Error, GrepQuery};

/// The maximum number of matches marked on a page, because browsers are slow with more.
const MAX_MARKS: usize = 5_000;

/// A query, if there is one, and the number of matches that may still be marked.
pub(super) struct Searched {
    query: Option<GrepQuery>,
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
        Ok(Self { query, left: Cell::new(MAX_MARKS) })
    }

    /// The same for a page that is not a search. There, an invalid search marks nothing.
    pub(super) fn or_nothing(params: &Params) -> Self {
        Self::new(params).unwrap_or(Self { query: None, left: Cell::new(0) })
    }

    pub(super) fn query(&self) -> Option<&GrepQuery> {
        self.query.as_ref()
    }

    /// The matches in a line.
    pub(super) fn places(&self, line: &str) -> Vec<Range<usize>> {
        let Some(query) = &self.query else { return Vec::new() };
        let places = query.find_all(line, self.left.get());
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
    let all = [("q", &params.q), ("regex", &params.regex), ("case", &params.case)];
    all.into_iter().filter_map(|(name, value)| Some((name, given(value)?))).collect()
}
