//! Rules of the developer's own: a pattern, looked for in the whole text.

use regex_lite::{Regex, RegexBuilder};

use crate::error::Error;

/// A longer pattern is a mistake.
const MAX_PATTERN_BYTES: usize = 4096;

/// The most memory that a compiled pattern may take, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// The longest id, in bytes: it stands in every sentence about a finding.
const MAX_ID_BYTES: usize = 64;

/// A rule of your own for the option `sensitive_rules`.
///
/// ```
/// use memdir::policy::sensitive::{SensitiveRule, find};
///
/// let badge = SensitiveRule::new("staff-badge", r"\bEMP-\d{6}\b")?;
/// let rules = [badge];
/// let found = find("badge EMP-204117", &rules);
/// assert_eq!((found[0].rule, &found[0].range), ("staff-badge", &(6..16)));
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SensitiveRule {
    id: String,
    regex: Regex,
}

impl SensitiveRule {
    /// A rule that finds what `pattern` matches, or its first group where it has one.
    ///
    /// The syntax is that of the crate `regex-lite`: Perl's without look-around and
    /// back-references; `\w`, `\d`, `\s`, `\b` and `(?i)` mean ASCII. Matching never backtracks.
    ///
    /// # Errors
    /// [`Error::Config`] if `id` is not made of 1 to 64 lower-case ASCII letters, digits and
    /// hyphens; if `pattern` is no valid pattern, is over 4,096 bytes, takes over 1 MiB when
    /// compiled, or matches the empty text.
    pub fn new(id: &str, pattern: &str) -> Result<Self, Error> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if id.is_empty() || id.len() > MAX_ID_BYTES || !id.bytes().all(plain) {
            return Err(Error::Config(format!(
                "sensitive_rules: an id must be 1 to {MAX_ID_BYTES} lower-case letters, digits and \
                 hyphens, got {id:?}"
            )));
        }
        let wrong = |why: &str| {
            Error::Config(format!("sensitive_rules: the pattern of {id:?} is not usable: {why}"))
        };
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(wrong(&format!("it is over {MAX_PATTERN_BYTES} bytes long")));
        }
        let regex = RegexBuilder::new(pattern)
            .size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|error| wrong(&error.to_string()))?;
        if regex.is_match("") {
            return Err(wrong("it matches the empty text, and so everywhere"));
        }
        Ok(Self { id: id.to_owned(), regex })
    }

    /// The rules for a map from id to pattern, which is what the other languages' options are.
    /// They are in the order of their ids, whatever the order of the map.
    ///
    /// # Errors
    /// As [`new`](SensitiveRule::new).
    pub fn all<I, S>(rules: I) -> Result<Vec<Self>, Error>
    where
        I: IntoIterator<Item = (S, S)>,
        S: AsRef<str>,
    {
        let made = rules.into_iter().map(|(id, pattern)| Self::new(id.as_ref(), pattern.as_ref()));
        let mut made: Vec<Self> = made.collect::<Result<_, _>>()?;
        made.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(made)
    }

    /// What findings of it are called.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The pattern, as it was given.
    #[must_use]
    pub fn pattern(&self) -> &str {
        self.regex.as_str()
    }

    pub(super) fn regex(&self) -> &Regex {
        &self.regex
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
                Err(Error::Config(sentence)) => assert!(sentence.contains(why), "{sentence}"),
                other => panic!("{id} {pattern}: {other:?}"),
            }
        }
    }
}
