//! Custom rules. Each is a pattern that is searched for in the whole text.

use std::fmt;
use std::ops::Range;

use memdir_regex::Regex;

use super::rule::floor;
use super::steps;

/// The limit of a pattern's length, in bytes.
const MAX_PATTERN_BYTES: usize = 4096;

/// The memory limit of a compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// The number of matches in a text that may read all of the text after them.
const EXACT_MATCHES: usize = 16;

/// How far later matches first look ahead, in bytes.
const AHEAD: usize = 256;

/// The limit of an id's length, in bytes. Every message about a finding contains the id.
const MAX_ID_BYTES: usize = 64;

/// A custom rule, in addition to the built-in ones.
///
/// ```
/// use memdir_sensitive_text::{SensitiveRule, find};
///
/// let badge = SensitiveRule::new("staff-badge", r"\bEMP-\d{6}\b")?;
/// let rules = [badge];
/// let found = find("badge EMP-204117", &rules);
/// assert_eq!((found[0].rule, &found[0].range), ("staff-badge", &(6..16)));
/// # Ok::<(), memdir_sensitive_text::InvalidRule>(())
/// ```
#[derive(Debug, Clone)]
pub struct SensitiveRule {
    id: String,
    regex: Regex,
}

/// Why a custom rule is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidRule {
    /// The id does not consist of 1 to 64 lower-case ASCII letters, digits and hyphens.
    Id {
        /// The given id.
        id: String,
    },
    /// The pattern is invalid, too long, too large when compiled, or matches the empty text.
    Pattern {
        /// The rule's id.
        id: String,
        /// The problem with the pattern.
        problem: String,
    },
}

impl fmt::Display for InvalidRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id { id } => write!(
                f,
                "an id must be 1 to {MAX_ID_BYTES} lower-case letters, digits and hyphens, got {id:?}"
            ),
            Self::Pattern { id, problem } => {
                write!(f, "the pattern of {id:?} is not usable: {problem}")
            }
        }
    }
}

impl std::error::Error for InvalidRule {}

impl SensitiveRule {
    /// A rule that finds the first group of `pattern`, or the whole match if it has no group.
    ///
    /// The syntax is that of the crate `regex-lite`: Perl's without look-around and back-references; `\w`,
    /// `\d`, `\s`, `\b` and `(?i)` apply to ASCII. Matching never backtracks.
    ///
    /// # Errors
    /// [`InvalidRule`] if `id` does not consist of 1 to 64 lower-case ASCII letters, digits and hyphens. Also
    /// if `pattern` is invalid, exceeds 4,096 bytes, exceeds 1 MiB when compiled, or matches the empty text.
    pub fn new(id: &str, pattern: &str) -> Result<Self, InvalidRule> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if id.is_empty() || id.len() > MAX_ID_BYTES || !id.bytes().all(plain) {
            return Err(InvalidRule::Id { id: id.to_owned() });
        }
        let wrong = |problem: String| InvalidRule::Pattern { id: id.to_owned(), problem };
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(wrong(format!("it is over {MAX_PATTERN_BYTES} bytes long")));
        }
        let regex = Regex::builder()
            .size_limit(MAX_COMPILED_BYTES)
            .build(pattern)
            .map_err(|error| wrong(error.to_string()))?;
        if regex.find("").is_some() {
            return Err(wrong("it matches the empty text, and so everywhere".to_owned()));
        }
        Ok(Self { id: id.to_owned(), regex })
    }

    /// The rules for a map from id to pattern, sorted by id.
    ///
    /// # Errors
    /// As [`new`](SensitiveRule::new).
    pub fn all<I, S>(rules: I) -> Result<Vec<Self>, InvalidRule>
    where
        I: IntoIterator<Item = (S, S)>,
        S: AsRef<str>,
    {
        let made = rules.into_iter().map(|(id, pattern)| Self::new(id.as_ref(), pattern.as_ref()));
        let mut made: Vec<Self> = made.collect::<Result<_, _>>()?;
        made.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(made)
    }

    /// The id, which identifies the rule's findings.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The given pattern.
    #[must_use]
    pub fn pattern(&self) -> &str {
        self.regex.as_str()
    }

    /// Calls `found` with the range of each match and of the secret in it.
    pub(super) fn each_match(&self, text: &str, mut found: impl FnMut(Range<usize>, Range<usize>)) {
        let mut at = 0;
        let mut left = Budget::of(text);
        while let Some((whole, group)) = self.first_match(text, at, &mut left) {
            found(whole.clone(), group.unwrap_or_else(|| whole.clone()));
            at = whole.end;
            if whole.is_empty() {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
    }

    /// The first match at or after `at`. Text far after a match can affect it, but reading that far for each
    /// match would take quadratic time. So only the first matches see all of the text. The others see a part
    /// of it, which is doubled until it contains a match that ends within it.
    fn first_match(
        &self,
        text: &str,
        at: usize,
        left: &mut Budget,
    ) -> Option<(Range<usize>, Option<Range<usize>>)> {
        let rest = text.len().checked_sub(at)?;
        let mut ahead = if left.exact >= rest { rest } else { AHEAD.min(rest) };
        if ahead == rest {
            left.exact = left.exact.saturating_sub(rest);
        }
        let mut before = at;
        loop {
            let limit = floor(text, at + ahead);
            steps::add(limit - at);
            let found = self.regex.find_at(&text[..limit], at);
            let end = found.as_ref().map(|(whole, _)| whole.end);
            if end.is_some_and(|end| end < before) {
                // The pattern treated the end of the part as the end of the text.
                left.in_vain = left.in_vain.saturating_sub(limit - at);
            }
            let goes_on = end.is_none_or(|end| end == limit && left.in_vain > 0);
            if limit == text.len() || !goes_on {
                return found;
            }
            before = limit;
            ahead = ahead.saturating_mul(2).min(rest);
        }
    }
}

/// The number of bytes that may be searched in addition to those of each match.
struct Budget {
    /// For matches that see all of the text after them.
    exact: usize,
    /// For matches that end earlier than in a smaller part of the text.
    in_vain: usize,
}

impl Budget {
    fn of(text: &str) -> Self {
        let bytes = EXACT_MATCHES.saturating_mul(text.len());
        Self { exact: bytes, in_vain: bytes }
    }
}

impl PartialEq for SensitiveRule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.pattern() == other.pattern()
    }
}

impl Eq for SensitiveRule {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_matches_are_found_in_long_texts() {
        let long = "x".repeat(3 * AHEAD);
        for (pattern, piece, matches) in [
            (r"EMP-\d+", "EMP-204117, ".to_owned(), 1),
            // Longer than one part.
            (r"EMP-\w+", format!("EMP-{long}, "), 1),
            (r"(?s)BEGIN.*?END", format!("BEGIN\n{long}\nEND, "), 1),
            (r"\d", "12, ".to_owned(), 2),
            (r"(?s).", "é, ".to_owned(), 3),
            (r"\b", "ab, ".to_owned(), 2),
        ] {
            const PIECES: usize = 100;
            let rule = SensitiveRule::new("own", pattern).unwrap();
            let text = piece.repeat(PIECES);
            let mut found = Vec::new();
            rule.each_match(&text, |whole, _| found.push(whole));
            let whole = regex_lite::Regex::new(pattern).unwrap();
            let expected: Vec<_> = whole.find_iter(&text).map(|m| m.range()).collect();
            assert_eq!(found.len(), matches * PIECES, "{pattern}");
            assert_eq!(found, expected, "{pattern}");
        }
    }

    #[test]
    fn what_is_not_usable_is_refused_with_a_reason() {
        for (id, pattern, why) in [
            ("", "x", "an id must be"),
            ("Badge", "x", "an id must be"),
            ("a b", "x", "an id must be"),
            ("badge", "(", "\"badge\" is not usable"),
            ("badge", "(?=x)", "\"badge\" is not usable"),
            ("badge", "x*", "empty text"),
            ("badge", "((x{100}){100}){100}", "\"badge\" is not usable"),
            ("badge", &"x".repeat(5000), "over 4096 bytes"),
        ] {
            match SensitiveRule::new(id, pattern) {
                Err(error) => assert!(error.to_string().contains(why), "{error}"),
                other => panic!("{id} {pattern}: {other:?}"),
            }
        }
    }
}
