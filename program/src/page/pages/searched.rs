//! What a person searches for, in the address of every page that a search leads to: it is marked where it is found.

use std::cell::Cell;
use std::ops::Range;

use maud::Markup;

use crate::page::html::shown_with_marks;
use crate::page::params::{Params, given};
use memdir::{Error, GrepQuery};

/// How many places a page marks: a browser takes long for more.
const MAX_MARKS: usize = 5_000;

/// A query, if there is one, and how many of its places may still be marked.
pub(super) struct Searched {
    query: Option<GrepQuery>,
    left: Cell<usize>,
}

impl Searched {
    /// What the address asks for.
    ///
    /// # Errors
    /// If it is not a regular expression, but says so.
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

    /// The same for a page that is no search: there, an address that asks for what cannot be marks nothing.
    pub(super) fn or_nothing(params: &Params) -> Self {
        Self::new(params).unwrap_or(Self { query: None, left: Cell::new(0) })
    }

    pub(super) fn query(&self) -> Option<&GrepQuery> {
        self.query.as_ref()
    }

    /// Where it is in a line.
    pub(super) fn places(&self, line: &str) -> Vec<Range<usize>> {
        let Some(query) = &self.query else { return Vec::new() };
        let places = query.find_all(line, self.left.get());
        self.left.set(self.left.get() - places.len());
        places
    }

    /// A text of one line, with marks.
    pub(super) fn marked(&self, text: &str) -> Markup {
        shown_with_marks(text, &self.places(text))
    }
}

/// The parameters of an address that lead to the same marks.
pub(super) fn carried(params: &Params) -> Vec<(&'static str, &str)> {
    let all = [("q", &params.q), ("regex", &params.regex), ("case", &params.case)];
    all.into_iter().filter_map(|(name, value)| Some((name, given(value)?))).collect()
}
