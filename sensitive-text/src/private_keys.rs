//! Private keys in PEM armour, even if its end is missing, or if its line ends are the `\n` of a JSON string.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;

use super::rule::{Candidate, Rule, floor, run_end};
use super::steps;

pub(super) static PRIVATE_KEYS: [Rule; 3] = [
    Rule::new(
        "private-key",
        &[BLOCK],
        "^-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----",
        armoured,
    ),
    Rule::token("private-key", &["AGE-SECRET-KEY-1"], "^AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Rule::new("private-key", &[LINES], "^Private-Lines: [0-9]{1,3}\\r?\\n", |candidate| {
        let start = candidate.extent.end;
        let end = private_lines_end(candidate.text, start);
        (end > start).then_some(start..end)
    }),
];

/// The end of the complete base64 lines starting at `at`. The next keyword is not such a line.
fn private_lines_end(text: &str, mut at: usize) -> usize {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    loop {
        let end = run_end(text, at, base64);
        let rest = &text[end..];
        match rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) {
            Some(next) if end > at => at = text.len() - next.len(),
            _ => return at,
        }
    }
}

/// Whether a finding of several lines may start in a text.
pub(super) fn may_begin_in(text: &str) -> bool {
    static STARTS: LazyLock<[memmem::Finder<'static>; 2]> =
        LazyLock::new(|| [memmem::Finder::new(BLOCK), memmem::Finder::new(LINES)]);
    STARTS.iter().any(|start| start.find(text.as_bytes()).is_some())
}

/// The start of both kinds of findings of several lines, as in their patterns.
const BLOCK: &str = "-----BEGIN ";
const LINES: &str = "Private-Lines:";

/// The maximum length of a key's name in its end line, with the marks after it, in bytes.
const MAX_NAME: usize = 45;

/// The minimum number of characters of a key. A shorter text is only about keys.
const MIN_KEY_CHARS: usize = 40;

/// The whole block up to its end line, or up to the end of the key's text if that line is missing.
fn armoured(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let Range { start, end } = candidate.extent;
    let rest = &candidate.text[end..];
    // Stop at the next keyword, which starts with the same characters.
    let marker = memmem::find(rest.as_bytes(), b"-----");
    let body = &rest[..marker.unwrap_or(rest.len())];
    steps::add(2 * body.len());
    let closed = marker.and_then(|at| {
        let close = rest[at..].strip_prefix("-----END ")?;
        let name = close[..floor(close, MAX_NAME)].find("-----")?;
        Some(at + "-----END ".len() + name + "-----".len())
    });
    let (chars, reach) = key_text(body);
    (chars >= MIN_KEY_CHARS).then(|| start..end + closed.unwrap_or(reach))
}

/// The number of key characters in `body`, and the end of the key. Header lines (RFC 1421) may precede them.
fn key_text(body: &str) -> (usize, usize) {
    let base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let (mut chars, mut reach, mut at) = (0, 0, 0);
    while at < body.len() {
        let rest = &body[at..];
        // A line ends at a `\n`, escaped or not.
        let length = rest.find(['\n', '\\']).unwrap_or(rest.len());
        let line = rest[..length].trim();
        let quoted = line.trim_matches(|c| matches!(c, '"' | '\'' | ',' | '>' | '|' | ' '));
        if !quoted.is_empty() && quoted.chars().all(base64) {
            chars += quoted.len();
            reach = at + rest[..length].trim_end().len();
        } else if !quoted.is_empty() && (chars > 0 || !line.contains(": ")) {
            break;
        }
        let end = &rest[length..];
        at += length + if end.starts_with('\\') { 2.min(end.len()) } else { end.len().min(1) };
        // The byte after a backslash may be the start of a multi-byte character.
        if !body.is_char_boundary(at) {
            break;
        }
    }
    (chars, reach)
}

#[cfg(test)]
mod tests {
    use super::super::find;

    fn body(lines: usize) -> String {
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(lines)
    }

    #[test]
    fn a_block_is_found_to_its_end() {
        let begin = "-----BEGIN RSA PRIVATE KEY-----\n";
        let headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123\n\n";
        let end = "-----END RSA PRIVATE KEY-----";
        for middle in [body(5), format!("{headers}{}", body(5)), body(1)] {
            let key = format!("{begin}{middle}{end}");
            let text = format!("before\n{key}\nafter\n");
            let found = find(&text, &[]);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(&text[found[0].range.clone()], key);
        }
    }

    #[test]
    fn a_block_without_an_end_is_found_as_far_as_it_goes() {
        let text = format!("-----BEGIN PRIVATE KEY-----\n{}and then prose\n", body(2));
        let found = find(&text, &[]);
        assert_eq!(found[0].range, 0..text.find("\nand").unwrap());
        let escaped = format!("\"-----BEGIN PRIVATE KEY-----\\n{}\"", body(2).replace('\n', "\\n"));
        assert_eq!(find(&escaped, &[]).len(), 1);
    }

    #[test]
    fn talk_about_keys_is_no_key() {
        for text in [
            "It starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\\é",
        ] {
            assert_eq!(find(text, &[]), [], "{text}");
        }
    }
}
