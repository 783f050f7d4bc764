//! Colours, and the removal of characters that are harmful to a terminal.
//!
//! Colours are used only on a terminal that supports them, and never with `NO_COLOR`. Names, contents and actors may contain any
//! character. Characters that move the cursor or change the direction of writing are never sent to the terminal.

use std::env;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The style of a piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// Less important text, such as sizes.
    Dim,
    Path,
    /// The number of a line.
    Number,
    /// The matching text of a search.
    Match,
    Added,
    Changed,
    Removed,
    Moved,
}

impl Style {
    /// The parameters of the escape sequence (SGR).
    fn parameters(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "2",
            Self::Path => "35",
            Self::Number | Self::Added => "32",
            Self::Match => "1;31",
            Self::Changed => "33",
            Self::Removed => "31",
            Self::Moved => "36",
        }
    }

    /// The style of an operation, by its name in the history.
    pub(super) fn of_operation(operation: &str) -> Self {
        match operation {
            "created" | "restored" | "imported" => Self::Added,
            "deleted" | "expired" | "cleared" | "redacted" => Self::Removed,
            "renamed" => Self::Moved,
            "modified" | "overwritten" | "written" => Self::Changed,
            _ => Self::Plain,
        }
    }

    /// The style of a line of a unified diff.
    fn of_diff(line: &str) -> Self {
        match line.as_bytes() {
            [b'+', ..] => Self::Added,
            [b'-', ..] => Self::Removed,
            [b'@', b'@', ..] => Self::Moved,
            _ => Self::Plain,
        }
    }
}

/// Whether the terminal supports colours and the user wants them.
pub(super) fn are_wanted() -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    // Windows does not set TERM, but its newer terminal sets this variable.
    let shows = match env::var_os("TERM") {
        Some(term) => !term.is_empty() && term != "dumb",
        None => is_set("WT_SESSION"),
    };
    shows && !is_set("NO_COLOR")
}

/// Pieces of text in the form for a terminal.
pub(super) fn painted(pieces: &[(Style, &str)], colors: bool) -> String {
    let mut line = String::new();
    for (style, text) in pieces {
        let (text, parameters) = (escaped_lines(text), style.parameters());
        let _ = if colors && !parameters.is_empty() && !text.is_empty() {
            write!(line, "\u{1b}[{parameters}m{text}\u{1b}[0m")
        } else {
            write!(line, "{text}")
        };
    }
    line
}

/// A unified diff in the form for a terminal.
pub(super) fn painted_diff(diff: &str, colors: bool) -> String {
    let mut shown = String::with_capacity(diff.len());
    for line in diff.split_inclusive('\n') {
        let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
        shown += &painted(&[(Style::of_diff(text), text)], colors);
        shown += end;
    }
    shown
}

/// A text for one line of a terminal, without control characters and without characters that change the direction of
/// writing.
pub(super) fn escaped(text: &str) -> String {
    escaped_but(text, |_| false)
}

/// A text of several lines for a terminal.
pub(super) fn escaped_lines(text: &str) -> String {
    escaped_but(text, |c| matches!(c, '\n' | '\t'))
}

/// Equivalent JSON, in which such characters are escaped as in `\u001b`.
pub(super) fn escaped_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        let _ = if is_harmful(letter) {
            write!(escaped, "\\u{:04x}", u32::from(letter))
        } else {
            escaped.write_char(letter)
        };
    }
    escaped
}

fn is_harmful(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped_but(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_harmful(letter) && !stays(letter) {
            escaped.extend(letter.escape_default());
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

/// A writer for a file's bytes on a terminal. Bytes that are not UTF-8 are shown as in `\xff`.
pub(super) struct Escaping<W> {
    to: W,
    /// The first bytes of a character whose remaining bytes were not written yet.
    rest: Vec<u8>,
}

impl<W: Write> Escaping<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, rest: Vec::new() }
    }

    fn put(&mut self, bytes: &[u8], is_last: bool) -> io::Result<()> {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let mut shown = String::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            shown += &escaped_lines(chunk.valid());
            let is_end = chunks.peek().is_none();
            let may_go_on = is_end && !is_last && is_beginning(chunk.invalid());
            if may_go_on {
                self.rest = chunk.invalid().to_vec();
                break;
            }
            for byte in chunk.invalid() {
                let _ = write!(shown, "\\x{byte:02x}");
            }
        }
        self.to.write_all(shown.as_bytes())
    }

    /// Writes the remaining bytes at the end.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.put(&[], true)
    }
}

/// Whether further bytes could complete a character.
fn is_beginning(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes, false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters() {
        let text = "é\u{1b}[31m\t\r\n\u{202e}\u{9b}x";
        assert_eq!(escaped(text), "é\\u{1b}[31m\\t\\r\\n\\u{202e}\\u{9b}x");
        assert_eq!(escaped_lines(text), "é\\u{1b}[31m\t\\r\n\\u{202e}\\u{9b}x");
        let json = serde_json::Value::from(text).to_string();
        let shown = escaped_json(&json);
        assert!(!shown.chars().any(is_harmful), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }

    #[test]
    fn only_what_is_painted_has_colours() {
        let pieces = [(Style::Path, "a\u{1b}[0m"), (Style::Plain, ":"), (Style::Match, "")];
        assert_eq!(painted(&pieces, true), "\u{1b}[35ma\\u{1b}[0m\u{1b}[0m:");
        assert_eq!(painted(&pieces, false), "a\\u{1b}[0m:");
        assert_eq!(painted_diff("@@\n-a\n+b", true).matches("\u{1b}[0m").count(), 3);
        assert_eq!(painted_diff(" a\n-b\n", false), " a\n-b\n");
    }

    #[test]
    fn bytes_are_escaped_wherever_they_are_cut() {
        let bytes = "é\u{1b}[m\u{202e}𝄞\n".as_bytes().iter().copied().chain([0xff, b'x', 0xf0]);
        let bytes: Vec<u8> = bytes.collect();
        for size in 1..bytes.len() {
            let mut shown = Vec::new();
            let mut writer = Escaping::new(&mut shown);
            for piece in bytes.chunks(size) {
                writer.write_all(piece).unwrap();
            }
            writer.finish().unwrap();
            let shown = String::from_utf8(shown).unwrap();
            assert_eq!(shown, "é\\u{1b}[m\\u{202e}𝄞\n\\xffx\\xf0", "{size}");
        }
    }
}
