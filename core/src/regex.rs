//! Regular expressions of users: those of a search and of rules for sensitive text.
//!
//! The crate `regex-lite` says what a pattern means, and executes it where an app's size counts. With the feature `fast-regex` the
//! lazy automata of `regex-automata` execute the same meaning many times as fast. A pattern that they do not take
//! stays with `regex-lite`. Both take linear time.

use std::ops::Range;

#[cfg(feature = "fast-regex")]
mod fast;

/// A compiled pattern. The syntax is Perl's without look-around and back-references. `\w`, `\d`, `\s`, `\b` and a disregard of case
/// mean ASCII.
#[derive(Debug, Clone)]
pub(crate) struct Regex {
    lite: regex_lite::Regex,
    #[cfg(feature = "fast-regex")]
    fast: Option<regex_automata::meta::Regex>,
}

impl Regex {
    /// Compiles a pattern that takes at most `size_limit` bytes when compiled, or the default of `regex-lite`.
    pub(crate) fn new(
        pattern: &str,
        ignores_case: bool,
        size_limit: Option<usize>,
    ) -> Result<Self, regex_lite::Error> {
        let mut builder = regex_lite::RegexBuilder::new(pattern);
        builder.case_insensitive(ignores_case);
        if let Some(limit) = size_limit {
            builder.size_limit(limit);
        }
        let lite = builder.build()?;
        Ok(Self {
            lite,
            #[cfg(feature = "fast-regex")]
            fast: fast::compile(pattern, ignores_case),
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        self.lite.as_str()
    }

    /// Where the pattern matches first.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        #[cfg(feature = "fast-regex")]
        if let Some(fast) = &self.fast {
            return fast.find(text).map(|found| found.range());
        }
        self.lite.find(text).map(|found| found.range())
    }

    /// Where the pattern matches: at most the first `limit` places. None is empty.
    pub(crate) fn find_all(&self, text: &str, limit: usize) -> Vec<Range<usize>> {
        let is_something = |found: &Range<usize>| !found.is_empty();
        #[cfg(feature = "fast-regex")]
        if let Some(fast) = &self.fast {
            let found = fast.find_iter(text).map(|found| found.range());
            return found.filter(is_something).take(limit).collect();
        }
        let found = self.lite.find_iter(text).map(|found| found.range());
        found.filter(is_something).take(limit).collect()
    }

    /// The first match that begins at `at` or later, and in it the first group that took part. What stands before `at`
    /// counts for `\b` and `^`.
    pub(crate) fn find_at(
        &self,
        text: &str,
        at: usize,
    ) -> Option<(Range<usize>, Option<Range<usize>>)> {
        #[cfg(feature = "fast-regex")]
        if let Some(fast) = &self.fast {
            let mut captures = fast.create_captures();
            fast.search_captures(&regex_automata::Input::new(text).range(at..), &mut captures);
            let mut groups = captures.iter().flatten().map(|found| found.range());
            return groups.next().map(|whole| (whole, groups.next()));
        }
        let captures = self.lite.captures_at(text, at)?;
        let mut groups = captures.iter().flatten().map(|found| found.range());
        groups.next().map(|whole| (whole, groups.next()))
    }
}
