//! Values that are assigned to a name such as `password` or `api_key`: finds their start and end in prose, code,
//! configuration, JSON and XML, and decides whether they look like a secret.
//!
//! A value may have any length and may contain further names. So only its start is checked, and the rest is read only if
//! it is a finding. This keeps a scan linear.

use std::ops::Range;

use super::entropy::{entropy, placeholder, random, uuid, wordy};
use super::passphrase::{Position, is_dated_name, is_passphrase};
use super::rule::{Candidate, floor};
use super::steps;

/// The length of the checked part of a value, in bytes.
const MAX_CHECKED_BYTES: usize = 256;

/// Whether the text after a name such as `password` may assign a value to it. It consists of the rest of the name, the
/// marks around it, and then an operator that the patterns of both kinds of names accept.
pub(super) fn assigned(rest: &[u8]) -> bool {
    /// Exceeds the limit of the patterns.
    const MOST: usize = 40;
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_\\\"'`*]".contains(byte);
    let name = rest.iter().take(MOST).take_while(|&byte| in_name(byte)).count();
    let blanks =
        rest[name..].iter().take(5).take_while(|&byte| matches!(byte, b' ' | b'\t')).count();
    steps::add(name + blanks);
    let rest = &rest[name + blanks..];
    match (blanks, rest) {
        // The first bytes of `：` and of `は`; the end of an XML element's name.
        (0..=4, [b':' | b'=' | b'|' | 0xef, ..]) | (0, [0xe3 | b'>' | b',', ..]) => true,
        // `!=`, `?=`, `.=`.
        (0..=4, [b'!' | b'?' | b'.', b'=' | b':' | b'!' | b'?' | b'.', ..]) => true,
        // A quotation mark, a dash, the first byte of other dashes and of an arrow.
        (1..=4, [b'"' | b'\'' | b'`' | b'-' | 0xe2, ..]) | (1..=2, [b'(', ..]) => true,
        // `is`, `ist`, `lautet`, `est`, `es`, `é`, `string`.
        (1, [b'i' | b'l' | b'e' | b's' | b'S', ..] | [0xc3, 0xa9, ..]) => true,
        (1, rest) => BEFORE_A_THING.iter().any(|word| rest.starts_with(word.as_bytes())),
        _ => false,
    }
}

/// `the password for the router is …`.
const BEFORE_A_THING: [&str; 14] = [
    "for", "of", "für", "vom", "von", "pour", "para", "de", "del", "du", "do", "da", "van", "voor",
];

/// A value after a match.
struct Value<'t> {
    text: &'t str,
    start: usize,
    /// The end, if it is within the checked part.
    end: Option<usize>,
    end_mark: EndMark,
}

/// The delimiter at the end of a value.
#[derive(Clone, Copy, PartialEq)]
enum EndMark {
    /// A quotation mark with at most as many backslashes before it as the opening one: `\"` in JSON within a string.
    Quote(u8, usize),
    /// The end of an XML element.
    Element,
    /// The border of a table cell in Markdown.
    Cell,
    /// The end of the line, or a mark that separates other content.
    Line,
    /// The end of the word.
    Word,
}

impl<'t> Value<'t> {
    fn behind(candidate: &Candidate<'t>) -> Option<Self> {
        let text = candidate.text;
        // If the pattern has a group, it is a quotation mark and belongs to the value.
        let bare = candidate.secret != candidate.extent;
        let start = if bare { candidate.secret.start } else { candidate.extent.end };
        let matched = text[candidate.extent.clone()].trim_end_matches([' ', '\t', '*', '_']);
        if matched.ends_with('>') && !matched.ends_with("=>") && !matched.ends_with("->") {
            let mut value = Self { text, start, end: None, end_mark: EndMark::Element };
            value.end = value.end_within(MAX_CHECKED_BYTES);
            let end = value.end.unwrap_or(start);
            let whole = value.end.is_none() || text[end..].starts_with("</");
            return (whole && is_element_name(text, candidate.extent.start)).then_some(value);
        }
        let rest = &text.as_bytes()[start..];
        let backslashes = rest.iter().take(4).take_while(|&&byte| byte == b'\\').count();
        if let Some(&quote @ (b'"' | b'\'' | b'`')) = rest.get(backslashes)
            && backslashes < 4
        {
            let start = start + backslashes + 1;
            let end_mark = EndMark::Quote(quote, backslashes);
            let mut value = Self { text, start, end: None, end_mark };
            value.end = value.end_within(MAX_CHECKED_BYTES);
            // Without a closing quotation mark, the value is treated as a word.
            let checked_end = value.checked_end();
            let line_ends = checked_end == text.len() || text[start..checked_end].contains('\n');
            let open = value.end.is_none() && line_ends;
            return (!open || !bare).then(|| if open { value.word() } else { value });
        }
        if matched.ends_with('|') {
            let value = Self { text, start, end: None, end_mark: EndMark::Cell }.trimmed();
            let end = value.end.unwrap_or(start);
            let closed = text[end..].trim_start_matches([' ', '\t']).starts_with('|');
            return (closed && is_in_first_cell(text, candidate.extent.start)).then_some(value);
        }
        // `setProperty("password", password)`.
        let listed = matched.ends_with(',');
        (!listed).then(|| Self { text, start, end: None, end_mark: EndMark::Word }.word())
    }

    /// The same value, cut after its first word.
    fn word(mut self) -> Self {
        self.end_mark = EndMark::Word;
        self.end = self.end_within(MAX_CHECKED_BYTES).map(|end| self.without_marks(end));
        self
    }

    /// The same value without trailing blanks, and without the full stop at the end of a line.
    fn trimmed(mut self) -> Self {
        let blanks: &[char] = &[' ', '\t', '\r', '.'];
        let marks = if self.end_mark == EndMark::Line { blanks } else { &blanks[..3] };
        self.end = self
            .end_within(MAX_CHECKED_BYTES)
            .map(|end| self.start + self.text[self.start..end].trim_end_matches(marks).len());
        self
    }

    /// The line from the start of the value.
    fn line(&self) -> Self {
        Self { end_mark: EndMark::Line, end: None, ..*self }.trimmed()
    }

    /// The end, if it is within this number of bytes.
    fn end_within(&self, bytes: usize) -> Option<usize> {
        let limit = floor(self.text, self.start.saturating_add(bytes));
        let part = &self.text[self.start..limit];
        let length = match self.end_mark {
            EndMark::Word => part.find(|c: char| {
                c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '<' | '>' | '。' | '、')
            }),
            EndMark::Element => part.find(['<', '\n']),
            EndMark::Cell => part.find(['|', '\n']),
            EndMark::Line => part.find(['\n', ',', ';', '(', '|', '#']),
            EndMark::Quote(mark, level) => quote_end(part, mark, level),
        };
        steps::add(length.unwrap_or(part.len()));
        match length {
            Some(length) => Some(self.start + length),
            None if limit == self.text.len()
                && matches!(self.end_mark, EndMark::Word | EndMark::Line) =>
            {
                Some(limit)
            }
            None => None,
        }
    }

    /// The end of a word, without trailing punctuation or Markdown.
    fn without_marks(&self, end: usize) -> usize {
        let marks: &[char] = &['.', ',', ':', ')', '*', '\\'];
        self.start + self.text[self.start..end].trim_end_matches(marks).len()
    }

    /// The end of the checked part.
    fn checked_end(&self) -> usize {
        self.end.unwrap_or_else(|| floor(self.text, self.start + MAX_CHECKED_BYTES))
    }

    /// The checked part: the whole value, or its start.
    fn checked(&self) -> &'t str {
        let checked = &self.text[self.start..self.checked_end()];
        steps::add(checked.len());
        checked
    }

    fn is_delimited(&self) -> bool {
        matches!(self.end_mark, EndMark::Quote(..) | EndMark::Element)
    }

    /// The position of a possible passphrase.
    fn position(&self) -> Position {
        match self.end_mark {
            EndMark::Quote(..) | EndMark::Element | EndMark::Cell => Position::Delimited,
            EndMark::Line => Position::Line,
            EndMark::Word => Position::Word,
        }
    }

    /// Whether the whole value is a passphrase.
    fn is_passphrase(&self) -> bool {
        self.end.is_some() && is_passphrase(self.checked(), self.position())
    }

    /// The whole range, of any length. If there is no closing quotation mark, the opening one was the last of its kind on
    /// the line, so this search is not repeated.
    fn range(self) -> Range<usize> {
        let start = self.start;
        let end = self.end.or_else(|| {
            let end = self.end_within(usize::MAX);
            if self.is_delimited() { end } else { end.map(|end| self.without_marks(end)) }
        });
        // If the closing quotation mark is missing, the value is a word.
        start..end.unwrap_or_else(|| match self.end_mark {
            EndMark::Quote(..) => self.word().range().end,
            EndMark::Element | EndMark::Cell | EndMark::Line | EndMark::Word => self.text.len(),
        })
    }
}

/// The end of a quoted text: the first quotation mark with at most `level` backslashes before it. The end excludes these
/// backslashes.
fn quote_end(text: &str, mark: u8, level: usize) -> Option<usize> {
    let mut backslashes = 0;
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        match byte {
            b'\\' => backslashes += 1,
            b'\n' => return None,
            _ if byte == mark && backslashes <= level => return Some(at - backslashes),
            // The backslashes are part of the text and do not escape the mark.
            _ if byte == mark && level == 0 && backslashes % 2 == 0 => return Some(at),
            _ => backslashes = 0,
        }
    }
    None
}

/// Whether the name that continues at `at` is an XML element's: `<db:password`.
fn is_element_name(text: &str, at: usize) -> bool {
    const MOST: usize = 48;
    let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(byte);
    let before = &text.as_bytes()[..at];
    let length = before.iter().rev().take(MOST).take_while(in_name).count();
    before[..at - length].last() == Some(&b'<')
}

/// Whether the name at `at` is in the first cell of a table row. In other cells it may be the name of a column.
fn is_in_first_cell(text: &str, at: usize) -> bool {
    const MOST: usize = 48;
    let in_label = |byte: &&u8| !matches!(byte, b'|' | b'\n');
    let before = &text.as_bytes()[..at];
    let label = before.iter().rev().take(MOST).take_while(in_label).count();
    let before = &before[..at - label];
    steps::add(label);
    before.split_last().is_some_and(|(border, before)| {
        let blanks = before.iter().rev().take(4).take_while(|&&byte| byte == b' ').count();
        *border == b'|' && matches!(before[..before.len() - blanks].last(), None | Some(b'\n'))
    })
}

/// The value of a name such as `password`. It may be short, and may be chosen by a person.
pub(super) fn password(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let value = Value::behind(candidate)?;
    let checked = value.checked();
    let letter = checked.bytes().any(|byte| byte.is_ascii_alphabetic());
    let digit = checked.bytes().any(|byte| byte.is_ascii_digit());
    let symbol =
        checked.bytes().any(|byte| byte.is_ascii_punctuation() && !b"-_./:,".contains(&byte));
    let separated = checked.contains(['-', '_', '.', '/', ':', ',']);
    let delimited = value.is_delimited();
    let one_word = checked.len() >= 6
        && (digit || symbol && letter)
        && !(wordy(checked) && separated && !symbol)
        && !is_dated_name(checked)
        && !checked.contains(char::is_whitespace)
        && !is_code(checked, delimited);
    if placeholder(checked) || names_another_thing(candidate) {
        return None;
    }
    if one_word || value.is_passphrase() {
        return Some(value.range());
    }
    let more_words = value.end.is_some_and(|end| value.text[end..].starts_with(' '));
    if value.end_mark != EndMark::Word || !more_words || !ends_with_operator(candidate) {
        return None;
    }
    let line = value.line();
    line.is_passphrase().then(|| line.range())
}

/// The value of `pass` or `pw`, which are names only as whole words and before an operator. They also occur before results
/// and counts, and `pass` is a verb.
pub(super) fn short_name(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let Candidate { text, extent, keyword_end, .. } = candidate;
    let before = text[..extent.start].chars().next_back();
    let name = &text[extent.start..*keyword_end];
    let is_camel = before.is_some_and(char::is_lowercase) && name == "Pass";
    // `PASS: test_login_2 (0.1s)`.
    let is_verdict = name == "PASS" && before != Some('_') && !text[extent.clone()].contains('=');
    let is_name = is_camel || !before.is_some_and(char::is_alphanumeric);
    if !is_name || is_verdict || !ends_with_operator(candidate) {
        return None;
    }
    let range = password(candidate)?;
    steps::add(range.len());
    let value = &text[range.clone()];
    (value.contains(char::is_alphabetic) && !value.contains(',')).then_some(range)
}

/// Whether the value follows an operator or is in a table cell, as opposed to the verb of a sentence.
fn ends_with_operator(candidate: &Candidate<'_>) -> bool {
    let matched = &candidate.text[candidate.extent.clone()];
    matched.trim_end_matches([' ', '\t', '*', '_']).ends_with([':', '=', '：', '>', '|'])
}

/// The value of a name such as `token`. It must be long and look random.
pub(super) fn secret(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let value = Value::behind(candidate)?;
    let checked = value.checked();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.~+/=:-".contains(&byte);
    let delimited = value.is_delimited();
    let likely = checked.len() >= 16
        && checked.bytes().all(|byte| plain(byte) || delimited && byte.is_ascii_graphic())
        && checked.bytes().any(|byte| byte.is_ascii_alphabetic())
        && checked.bytes().any(|byte| byte.is_ascii_digit())
        && entropy(checked) >= 3.0
        && random(checked)
        && !uuid(checked)
        && !is_code(checked, false)
        && !is_resource_name(checked)
        && !is_public(candidate)
        && !is_in_arn(candidate)
        && !names_another_thing(candidate);
    likely.then(|| value.range())
}

/// Whether the value is an expression, a path or an address.
fn is_code(value: &str, delimited: bool) -> bool {
    const MARKS: [&str; 8] = ["${", "{{", "$(", "://", "os.environ", "process.env", "getenv", "::"];
    let path = ["/", "./", "../", "~/", "$", "%(", "arn:"];
    // `!vault |`, a tag of YAML.
    let tag =
        value.strip_prefix('!').is_some_and(|tag| tag.bytes().all(|b| b.is_ascii_lowercase()));
    MARKS.iter().any(|mark| value.contains(mark))
        || path.iter().any(|start| value.starts_with(start))
        || !delimited && value.contains(['(', '[', '{', '<'])
        || tag
        || dotted_name(value)
}

/// `settings.auth.token`: names joined by dots.
fn dotted_name(value: &str) -> bool {
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    };
    value.contains('.') && value.split('.').all(name)
}

/// Whether a longer name refers to a property of the secret instead of the secret itself: `password_reset_timeout`.
fn names_another_thing(candidate: &Candidate<'_>) -> bool {
    const ENDS: [&str; 19] = [
        "age",
        "algorithm",
        "count",
        "credential_id",
        "credentialid",
        "days",
        "endpoint",
        "expiry",
        "file",
        "header",
        "hint",
        "length",
        "name",
        "path",
        "policy",
        "timeout",
        "token_id",
        "tokenid",
        "url",
    ];
    let matched = candidate.text[candidate.extent.clone()].to_ascii_lowercase();
    let name = matched.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
    name.is_some_and(|name| ENDS.iter().any(|end| name.ends_with(end)))
}

/// Whether the name indicates a public value.
fn is_public(candidate: &Candidate<'_>) -> bool {
    const NAMES: [&str; 9] =
        ["public", "page", "next", "continuation", "csrf", "xsrf", "cancel", "sync", "cursor"];
    let before = &candidate.text.as_bytes()[..candidate.extent.start];
    let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = before.iter().rev().take(32).take_while(in_name).count();
    let name = before[before.len() - length..].to_ascii_lowercase();
    NAMES.iter().any(|public| memchr::memmem::find(&name, public.as_bytes()).is_some())
}

/// Whether the value is the name of a resource that contains a secret, such as `db-credentials-7d9f8b6c5d`: words and at
/// most a short hash.
fn is_resource_name(value: &str) -> bool {
    const MAX_HASH: usize = 10;
    let word = |part: &str| {
        part.len() >= 6
            && part.bytes().all(|byte| byte.is_ascii_lowercase())
            && part.contains(['a', 'e', 'i', 'o', 'u'])
    };
    let in_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut parts = value.split(['-', '/', '.']);
    value.bytes().all(|byte| in_name(byte) || b"-/.".contains(&byte))
        && parts.clone().any(word)
        && parts.all(|part| part.len() <= MAX_HASH || word(part))
}

/// Whether the name is part of an ARN, such as `arn:aws:secretsmanager:…:secret:…`.
fn is_in_arn(candidate: &Candidate<'_>) -> bool {
    const MOST: usize = 128;
    let before = &candidate.text.as_bytes()[..candidate.extent.start];
    let in_arn = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_:/.".contains(byte);
    let length = before.iter().rev().take(MOST).take_while(in_arn).count();
    steps::add(length);
    memchr::memmem::find(&before[before.len() - length..], b"arn:").is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::context::CONTEXT;
    use super::*;

    const AFTER: [&str; 40] = [
        "(",
        ")",
        " (a) ",
        " for ",
        " de ",
        " - ",
        "→",
        "|",
        ":",
        "=",
        "=>",
        ":=",
        "：",
        "は",
        " ",
        " ",
        "\t",
        "is",
        "ist",
        "lautet",
        "é",
        "IS",
        "s",
        ">",
        "\\\"",
        "_x",
        "\"",
        "'`",
        "*]",
        "]",
        "1234567890",
        "!",
        "?",
        ".",
        ",",
        " string",
        "e",
        "-",
        "é",
        "\n",
    ];

    #[test]
    fn a_quotation_that_nothing_ends_is_no_empty_finding() {
        for start in ["pwd=\"<.a1", "pwd='<.a1", "token=\"<.a1", "password=\\\"<.a1"] {
            let text = format!("{start}{}", "\u{fffd}9x".repeat(100));
            let found = crate::find(&text, &[]);
            assert!(found.iter().all(|finding| !finding.range.is_empty()), "{found:?}");
        }
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(1000))]

        #[test]
        fn where_there_is_no_chance_the_pattern_does_not_match(
            after in prop::collection::vec(select(&AFTER), 0..10)
        ) {
            let after = after.concat();
            for rule in CONTEXT.iter().filter(|_| !assigned(after.as_bytes())) {
                for keyword in rule.keywords.iter().filter(|_| rule.id.ends_with("-assignment")) {
                    // The rules for `--pass` and `pw:` are tried at every keyword.
                    if keyword.starts_with(char::is_alphabetic) && keyword.ends_with(char::is_alphabetic) {
                        let text = format!("{keyword}{after}");
                        prop_assert!(!rule.regex().unwrap().is_match(&text), "{text}");
                    }
                }
            }
        }
    }
}
