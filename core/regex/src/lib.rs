//! Regular expressions that users write: one syntax, two engines, linear time.
//!
//! The crate `regex-lite` says which patterns there are and what they mean: Perl's syntax without look-around and
//! back-references; `\w`, `\d`, `\s`, `\b` and a disregard of case mean ASCII. It also executes patterns where the size of an
//! app counts. With the feature `fast` the lazy automata of `regex-automata` execute the same meaning many times as fast. A
//! pattern that they do not take stays with `regex-lite`.
//!
//! One search ([`Regex::find`], [`Regex::find_at`]) takes at most time proportional to the length of the text times the size of the
//! compiled pattern, so limit the size of a pattern that a stranger sends ([`Builder::size_limit`]). [`Regex::find_all`] makes a
//! search for each match. Patterns that look far behind each match take quadratic time there, so give it one line and not a whole text.
//!
//! ```
//! use memdir_regex::Regex;
//!
//! let tea = Regex::builder().ignore_case(true).size_limit(1 << 20).build(r"\bt\w+")?;
//! assert_eq!(tea.find("likes TEA"), Some(6..9));
//! # Ok::<(), memdir_regex::Error>(())
//! ```

use std::fmt;
use std::ops::Range;

#[cfg(feature = "fast")]
mod fast;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Regex {
    lite: regex_lite::Regex,
    #[cfg(feature = "fast")]
    fast: Option<regex_automata::meta::Regex>,
    /// For whole texts, of which each line is searched alone.
    #[cfg(feature = "fast")]
    for_lines: Option<regex_automata::meta::Regex>,
}

/// How a pattern is compiled.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    ignore_case: bool,
    size_limit: Option<usize>,
    skip_lines: bool,
}

/// Why a pattern is not usable. Displays the reason as `regex-lite` gives it.
#[derive(Debug, Clone)]
pub struct Error(regex_lite::Error);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

impl Builder {
    /// Whether ASCII letters match in either case. Default: no.
    #[must_use]
    pub fn ignore_case(mut self, ignore_case: bool) -> Self {
        self.ignore_case = ignore_case;
        self
    }

    /// The most memory that a compiled pattern may take, in bytes. Default: that of `regex-lite`, 10 MiB.
    #[must_use]
    pub fn size_limit(mut self, bytes: usize) -> Self {
        self.size_limit = Some(bytes);
        self
    }

    /// Whether [`Regex::skip_lines`] skips lines. This takes the time and memory of a second compilation. Default: no.
    #[must_use]
    pub fn skip_lines(mut self, skip_lines: bool) -> Self {
        self.skip_lines = skip_lines;
        self
    }

    /// Compiles a pattern.
    ///
    /// # Errors
    /// The pattern is not valid, or it is too large when compiled.
    pub fn build(&self, pattern: &str) -> Result<Regex, Error> {
        let mut builder = regex_lite::RegexBuilder::new(pattern);
        builder.case_insensitive(self.ignore_case);
        if let Some(bytes) = self.size_limit {
            builder.size_limit(bytes);
        }
        let lite = builder.build().map_err(Error)?;
        Ok(Regex {
            lite,
            #[cfg(feature = "fast")]
            fast: fast::compile(pattern, self.ignore_case),
            #[cfg(feature = "fast")]
            for_lines: match self.skip_lines {
                true => fast::compile_for_lines(pattern, self.ignore_case),
                false => None,
            },
        })
    }
}

impl Regex {
    /// The default: a pattern that respects case.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The pattern, as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.lite.as_str()
    }

    /// Where the pattern matches first, in bytes.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        #[cfg(feature = "fast")]
        if let Some(fast) = &self.fast {
            return fast.find(text).map(|found| found.range());
        }
        self.lite.find(text).map(|found| found.range())
    }

    /// Skips lines in which the pattern does not match, from byte `at` of a text on, at which a line starts. Returns a place in the
    /// next line that may match, or at its end. `None` if no line matches. Lines are searched as with [`find`](Self::find) in each
    /// line alone, without its `\n` or `\r\n`.
    ///
    /// ```
    /// let tea = memdir_regex::Regex::builder().skip_lines(true).build("^tea$")?;
    /// // Without the feature `fast`, no line is skipped.
    /// let expected = if cfg!(feature = "fast") { 10 } else { 0 };
    /// assert_eq!(tea.skip_lines("coffee\ntea\n", 0), Some(expected));
    /// # Ok::<(), memdir_regex::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `at` is greater than the length of the text.
    #[must_use]
    pub fn skip_lines(&self, text: &str, at: usize) -> Option<usize> {
        #[cfg(feature = "fast")]
        if let Some(for_lines) = &self.for_lines {
            let input = regex_automata::Input::new(text).range(at..).earliest(true);
            return for_lines.search_half(&input).map(|end| end.offset());
        }
        (at < text.len()).then_some(at)
    }

    /// Where the pattern matches, in bytes: the first `limit` matches that are not empty.
    #[must_use]
    pub fn find_all(&self, text: &str, limit: usize) -> Vec<Range<usize>> {
        let is_something = |found: &Range<usize>| !found.is_empty();
        #[cfg(feature = "fast")]
        if let Some(fast) = &self.fast {
            let found = fast.find_iter(text).map(|found| found.range());
            return found.filter(is_something).take(limit).collect();
        }
        let found = self.lite.find_iter(text).map(|found| found.range());
        found.filter(is_something).take(limit).collect()
    }

    /// The first match that begins at byte `at` or later, and in it the first group that took part. The text before `at`
    /// counts for `\b` and `^`.
    ///
    /// # Panics
    /// If `at` is greater than the length of the text.
    #[must_use]
    pub fn find_at(&self, text: &str, at: usize) -> Option<(Range<usize>, Option<Range<usize>>)> {
        #[cfg(feature = "fast")]
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
