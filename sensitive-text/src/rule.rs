//! [`Rule`]: a built-in rule. It has keywords, a pattern that starts at one of them, and a validation of the
//! match.

use std::ops::Range;
use std::sync::OnceLock;

use regex_lite::Regex;

use super::{entropy, steps};

/// The number of bytes that a pattern is applied to. No pattern matches more, so this limits the cost of an
/// attempt. The rule's `validate` reads on for secrets that may be longer.
const REACH: usize = 384;

/// A built-in rule.
pub(super) struct Rule {
    /// The id in messages and documents; never changes.
    pub(super) id: &'static str,
    /// Each match starts with one of these, in any case. At least three bytes.
    pub(super) keywords: &'static [&'static str],
    /// Starts with `^`, the position of the keyword, and matches fewer bytes than [`REACH`].
    pattern: &'static str,
    /// Whether a keyword counts only if no word precedes it directly. Checked first, because it is cheaper
    /// than the pattern.
    alone: bool,
    /// Whether the pattern can match, judged by the bytes after the keyword. This takes a hundredth of the
    /// time of the pattern, and in prose most keywords are ordinary words.
    chance: fn(&[u8]) -> bool,
    /// Checks conditions that the pattern cannot express, and returns the range of the secret, which may end
    /// after the match. It reads a limited part of the text, or a part without another keyword of the rule,
    /// or the finding itself. So the validations at all keywords together take linear time.
    validate: fn(&Candidate<'_>) -> Option<Range<usize>>,
    compiled: OnceLock<Option<Regex>>,
}

/// A match of a pattern.
pub(super) struct Candidate<'t> {
    pub(super) text: &'t str,
    /// The whole match.
    pub(super) extent: Range<usize>,
    /// The first matching group of the pattern, or the whole match.
    pub(super) secret: Range<usize>,
    /// The end of the keyword.
    pub(super) keyword_end: usize,
}

impl Candidate<'_> {
    pub(super) fn value(&self) -> &str {
        &self.text[self.secret.clone()]
    }
}

impl Rule {
    pub(super) const fn new(
        id: &'static str,
        keywords: &'static [&'static str],
        pattern: &'static str,
        validate: fn(&Candidate<'_>) -> Option<Range<usize>>,
    ) -> Self {
        let chance = always;
        Self { id, keywords, pattern, alone: false, chance, validate, compiled: OnceLock::new() }
    }

    /// The same rule, with a pattern that is tried only if `chance` returns true.
    pub(super) const fn only_where(mut self, chance: fn(&[u8]) -> bool) -> Self {
        self.chance = chance;
        self
    }

    /// A token with a known prefix that is not a part of a longer word.
    pub(super) const fn token(
        id: &'static str,
        keywords: &'static [&'static str],
        pattern: &'static str,
    ) -> Self {
        let validate = ends_alone_and_random;
        let chance = always;
        Self { id, keywords, pattern, alone: true, chance, validate, compiled: OnceLock::new() }
    }

    /// The same rule, with another `validate`.
    pub(super) const fn validated_by(
        mut self,
        validate: fn(&Candidate<'_>) -> Option<Range<usize>>,
    ) -> Self {
        self.validate = validate;
        self
    }

    pub(super) fn regex(&self) -> Option<&Regex> {
        // A test compiles all patterns.
        self.compiled.get_or_init(|| Regex::new(self.pattern).ok()).as_ref()
    }

    /// The range of the whole match and of the secret in it, if there is a match at `keyword`.
    pub(super) fn look(
        &self,
        text: &str,
        keyword: &Range<usize>,
    ) -> Option<(Range<usize>, Range<usize>)> {
        let at = keyword.start;
        if self.alone && continues_a_word(&text.as_bytes()[..at])
            || !(self.chance)(&text.as_bytes()[keyword.end..])
        {
            return None;
        }
        let near = &text[at..floor(text, at + REACH)];
        steps::add(near.len());
        let captures = self.regex()?.captures(near)?;
        let absolute = |found: regex_lite::Match<'_>| at + found.start()..at + found.end();
        let extent = absolute(captures.get(0)?);
        let secret = captures.iter().skip(1).flatten().next().map(absolute);
        let secret = secret.unwrap_or_else(|| extent.clone());
        let keyword_end = keyword.end;
        let candidate = Candidate { text, extent: extent.clone(), secret, keyword_end };
        // If the mark at the end of a value is missing, nothing may be left of the value.
        let secret = (self.validate)(&candidate).filter(|secret| !secret.is_empty())?;
        Some((extent.start.min(secret.start)..extent.end.max(secret.end), secret))
    }
}

/// The last end of a character at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..4).map(|back| at - back.min(at)).find(|&at| text.is_char_boundary(at)).unwrap_or(at)
}

/// The end of the run of bytes of a class that starts at `at`.
pub(super) fn run_end(text: &str, at: usize, of: impl Fn(u8) -> bool) -> usize {
    let length = text.as_bytes()[at..].iter().take_while(|&&byte| of(byte)).count();
    steps::add(length + 1);
    at + length
}

fn always(_: &[u8]) -> bool {
    true
}

/// The token, if it is not a part of a longer word and looks random.
fn ends_alone_and_random(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let after = candidate.text.as_bytes().get(candidate.extent.end);
    let alone = !after.is_some_and(|&byte| in_word(byte));
    steps::add(candidate.secret.len());
    let Range { start, end } = candidate.secret;
    let rest = &candidate.text[candidate.keyword_end.max(start)..end];
    (alone && entropy::random_rest(rest)).then_some(start..end)
}

fn continues_a_word(before: &[u8]) -> bool {
    match before {
        // `\n` in the text of a JSON string.
        [.., b'\\', b'n' | b'r' | b't'] => false,
        before => before.last().is_some_and(|&byte| in_word(byte) || byte == b'-'),
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
