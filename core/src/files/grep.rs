//! `grep`: finds the names and the lines that match a text or a pattern.

use std::io::{BufRead as _, BufReader, Read};
use std::ops::{ControlFlow, Range};

use memchr::memmem::Finder;
use memdir_regex::Regex;
use memdir_store::path::{MAX_LEVELS, MemoryPath};
use memdir_store::{ConfigError, Error};
use serde::Serialize;

use crate::policies::Policies;
use crate::store::{InContext, Node, Store as _, StoreError};
use crate::text::excerpt;

/// The longest line that is searched completely, in bytes. A longer line is searched up to here.
const LONGEST_LINE: u64 = if cfg!(test) { 64 * 1024 } else { 16 * 1024 * 1024 };

/// The longest regular expression, in bytes, and the most memory that a compiled one may take. Without the
/// feature `fast-regex`, each character of a text may take time proportional to the size of the pattern.
const MAX_PATTERN_BYTES: usize = 4096;
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// The number of lines of a file after which `grep` checks for cancellation.
const LINES_BETWEEN_CHECKS: u64 = 1024;

/// A search query: a text, or a pattern.
///
/// ```
/// use memdir::GrepQuery;
///
/// assert!(GrepQuery::text("tea").is_in("likes tea"));
/// assert!(!GrepQuery::text("TEA").is_in("likes tea"));
/// assert!(GrepQuery::text("TEA").ignoring_case().is_in("likes tea"));
/// assert!(GrepQuery::regex(r"\bt\w+")?.is_in("likes tea"));
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GrepQuery {
    kind: Kind,
    ignores_case: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Text { text: String, finder: Box<Finder<'static>> },
    Regex(Regex),
}

impl Kind {
    fn text(text: String) -> Self {
        // Built once, because building it for a long text takes much longer than searching a line.
        let finder = Box::new(Finder::new(&text).into_owned());
        Self::Text { text, finder }
    }
}

impl GrepQuery {
    /// Matches this exact text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: Kind::text(text.into()), ignores_case: false }
    }

    /// Matches a regular expression, in the syntax of the crate `regex-lite`: Perl's syntax without look-around
    /// and back-references, in linear time. `\w`, `\d`, `\s` and `\b` are limited to ASCII. `^` and `$` match
    /// the start and end of a line. The feature `fast-regex` makes searches faster, and does not change the
    /// meaning of a pattern.
    ///
    /// # Errors
    /// [`Error::Config`] if the pattern has a syntax error, is longer than 4,096 bytes, or takes more than 1
    /// MiB when compiled.
    pub fn regex(pattern: &str) -> Result<Self, Error> {
        Ok(Self { kind: Kind::Regex(compile(pattern, false)?), ignores_case: false })
    }

    /// Returns the same query, ignoring case: of ASCII letters in a regular expression, of all letters in a
    /// text.
    #[must_use]
    pub fn ignoring_case(self) -> Self {
        let kind = match self.kind {
            Kind::Text { text, .. } => Kind::text(text.to_lowercase()),
            // The flag can only fail for a pattern that is already near the limit of its size.
            Kind::Regex(regex) => Kind::Regex(compile(regex.as_str(), true).unwrap_or(regex)),
        };
        Self { kind, ignores_case: true }
    }

    /// Returns whether the query matches in the line.
    #[must_use]
    pub fn is_in(&self, line: &str) -> bool {
        self.find(line).is_some()
    }

    /// Returns whether the query matches in a whole content, including bytes that are not text. A text matches
    /// anywhere, a regular expression within a line. An empty match does not count.
    pub(crate) fn is_in_content(&self, content: &[u8]) -> bool {
        match &self.kind {
            Kind::Text { text, .. } if text.is_empty() => false,
            Kind::Text { finder, .. } if self.ignores_case => {
                let lower = String::from_utf8_lossy(content).to_lowercase();
                finder.find(lower.as_bytes()).is_some()
            }
            Kind::Text { finder, .. } => finder.find(content).is_some(),
            Kind::Regex(regex) => {
                let text = String::from_utf8_lossy(content);
                text.lines().any(|line| !regex.find_all(line, 1).is_empty())
            }
        }
    }

    /// Returns the first match, as a range of bytes in the line. An empty text matches with an empty range.
    #[must_use]
    pub fn find(&self, line: &str) -> Option<Range<usize>> {
        match &self.kind {
            Kind::Regex(regex) => regex.find(line),
            Kind::Text { text, finder } if self.ignores_case && !text.is_empty() => {
                let at = finder.find(line.to_lowercase().as_bytes())?;
                in_original(line, std::iter::once(at..at + text.len())).pop()
            }
            Kind::Text { text, finder } => {
                finder.find(line.as_bytes()).map(|at| at..at + text.len())
            }
        }
    }

    /// Returns the first `limit` matches, as ranges of bytes in the line, in order. Matches are not empty and
    /// do not overlap.
    #[must_use]
    pub fn find_all(&self, line: &str, limit: usize) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Regex(regex) => regex.find_all(line, limit),
            Kind::Text { text, .. } if text.is_empty() => Vec::new(),
            Kind::Text { text, finder } => {
                let lower = self.ignores_case.then(|| line.to_lowercase());
                let searched = lower.as_deref().unwrap_or(line);
                let found = finder.find_iter(searched.as_bytes()).take(limit);
                let found = found.map(|at| at..at + text.len());
                if self.ignores_case { in_original(line, found) } else { found.collect() }
            }
        }
    }
}

/// Maps ranges of the lower-case form of a line to ranges of the line. A letter may have another length in
/// lower case. A range that begins or ends within such a letter includes the whole letter.
fn in_original(line: &str, found: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    // Each character, with its end in lower case.
    let mut letters = line.char_indices().scan(0, |end, (at, letter)| {
        *end += letter.to_lowercase().map(char::len_utf8).sum::<usize>();
        Some((at..at + letter.len_utf8(), *end))
    });
    let mut letter = letters.next();
    for found in found {
        while letter.as_ref().is_some_and(|(_, end)| *end <= found.start) {
            letter = letters.next();
        }
        let Some(start) = letter.as_ref().map(|(at, _)| at.start) else { break };
        while letter.as_ref().is_some_and(|(_, end)| *end < found.end) {
            letter = letters.next();
        }
        let Some(end) = letter.as_ref().map(|(at, _)| at.end) else { break };
        if places.last().is_none_or(|last| last.end <= start) {
            places.push(start..end);
        }
    }
    places
}

fn compile(pattern: &str, ignores_case: bool) -> Result<Regex, Error> {
    let wrong = |why: &str| -> Error {
        ConfigError::of_option("regex").and(": ").and(why.to_owned()).into()
    };
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(wrong(&format!("it is over {MAX_PATTERN_BYTES} bytes long")));
    }
    let builder = Regex::builder().ignore_case(ignores_case).size_limit(MAX_COMPILED_BYTES);
    builder.build(pattern).map_err(|error| wrong(&error.to_string()))
}

/// A match of [`Memory::grep`](crate::Memory::grep).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GrepMatch {
    /// The path of the file, or of the entry whose name matches.
    pub path: MemoryPath,
    /// The 1-based number of the line. `None` if the name matches.
    pub line: Option<u64>,
    /// The line, or the name. A long line is cut around the match, with `…` where text is left out.
    pub text: String,
}

/// Calls `found` with every match at `path` and below it, ordered by path and line.
pub(crate) fn grep(
    store: &InContext<'_>,
    policies: &Policies,
    path: &MemoryPath,
    query: &GrepQuery,
    found: &mut dyn FnMut(GrepMatch) -> ControlFlow<()>,
) -> Result<(), Error> {
    for entry in super::list(store, path, MAX_LEVELS)? {
        store.check().map_err(Error::Store)?;
        let name = entry.path.name().unwrap_or_default();
        if let Some(at) = query.find(name) {
            let named = GrepMatch { path: entry.path.clone(), line: None, text: excerpt(name, at) };
            if found(named).is_break() {
                return Ok(());
            }
        }
        if entry.is_file() && lines(store, policies, &entry.path, query, found)?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// Searches one file. A file that was removed, cannot be read, or is not text has no matches.
fn lines(
    store: &InContext<'_>,
    policies: &Policies,
    path: &MemoryPath,
    query: &GrepQuery,
    found: &mut dyn FnMut(GrepMatch) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Error> {
    if policies.sensitive.on_view {
        // A key that spans several lines is recognised by its first line, so the whole text is needed.
        return match super::read_shown(store, policies, path) {
            Ok(text) => in_text(store, text.as_bytes(), path, query, found),
            Err(Error::Refused(_)) => Ok(ControlFlow::Continue(())),
            Err(error) => Err(error),
        };
    }
    match store.open(path, 0) {
        Ok(Node::File(_, content)) => in_text(store, content, path, query, found),
        Ok(Node::Directory(_)) => Ok(ControlFlow::Continue(())),
        Err(error @ (StoreError::Failed { .. } | StoreError::Busy | StoreError::Cancelled)) => {
            Err(Error::Store(error))
        }
        Err(_) => Ok(ControlFlow::Continue(())),
    }
}

fn in_text(
    store: &InContext<'_>,
    content: impl Read,
    path: &MemoryPath,
    query: &GrepQuery,
    found: &mut dyn FnMut(GrepMatch) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Error> {
    let failed = |error| Error::Store(StoreError::failed("reading a file", error));
    let mut content = BufReader::new(content);
    let mut line = Vec::new();
    for number in 1.. {
        if number % LINES_BETWEEN_CHECKS == 0 {
            store.check().map_err(Error::Store)?;
        }
        line.clear();
        if (&mut content).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
            skip_line(&mut content).map_err(failed)?;
            cut_to_a_character(&mut line);
        }
        let Ok(text) = str::from_utf8(&line) else { break };
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if let Some(at) = query.find(text) {
            let (path, text) = (path.clone(), excerpt(text, at));
            if found(GrepMatch { path, line: Some(number), text }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn skip_line(content: &mut impl std::io::BufRead) -> std::io::Result<()> {
    loop {
        let buffered = content.fill_buf()?;
        let end = buffered.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(buffered.len(), |end| end + 1);
        let is_over = end.is_some() || used == 0;
        content.consume(used);
        if is_over {
            return Ok(());
        }
    }
}

/// Removes an incomplete character from the end.
fn cut_to_a_character(line: &mut Vec<u8>) {
    if let Err(error) = str::from_utf8(line)
        && error.error_len().is_none()
    {
        line.truncate(error.valid_up_to());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Context, InProcess};
    use crate::text::EXCERPT_CHARS;

    fn found(content: &[u8], query: &GrepQuery) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        let path = MemoryPath::parse("/memories/a").unwrap();
        let store = InProcess::new();
        let store = InContext::new(&store, &Context::new());
        let _ = in_text(&store, content, &path, query, &mut |found| {
            all.push((found.line.unwrap(), found.text));
            ControlFlow::Continue(())
        });
        all
    }

    #[test]
    fn a_line_is_shown_with_its_number_and_without_its_ending() {
        let tea = GrepQuery::text("tea");
        let one = |line: u64, text: &str| vec![(line, text.to_owned())];
        assert_eq!(found(b"a\nlikes tea\r\n", &tea), one(2, "likes tea"));
        assert_eq!(found(b"tea tea", &tea), one(1, "tea tea"));
        assert_eq!(found(b"te\na", &tea), []);
        assert_eq!(found(b"", &GrepQuery::text("")), []);
        assert_eq!(
            found("ÄRGER\n".as_bytes(), &GrepQuery::text("ärger").ignoring_case()),
            one(1, "ÄRGER")
        );
        assert_eq!(found(b"a\n\nb\n", &GrepQuery::regex("^$").unwrap()), one(2, ""));
        // A file is searched up to the first line that is not text.
        assert_eq!(found(b"tea\n\xff tea\ntea\n", &tea), one(1, "tea"));
    }

    #[test]
    fn every_place_of_a_line_is_found_in_its_own_bytes() {
        let text = |text: &str| GrepQuery::text(text);
        let regex = |pattern: &str| GrepQuery::regex(pattern).unwrap();
        for (query, line, found) in [
            (text("tea"), "tea, Tea, tea", vec!["tea", "tea"]),
            (text("TEA").ignoring_case(), "tea, Tea, tea", vec!["tea", "Tea", "tea"]),
            (text("aa"), "aaaaa", vec!["aa", "aa"]),
            // In lower case the first letter has three bytes instead of two, and the Kelvin sign one instead of
            // three.
            (text("b").ignoring_case(), "İİB\u{212a}b", vec!["B", "b"]),
            (text("k").ignoring_case(), "İ\u{212a}k", vec!["\u{212a}", "k"]),
            (text("i").ignoring_case(), "İi", vec!["İ", "i"]),
            (text("\u{307}").ignoring_case(), "xİ", vec!["İ"]),
            (text("ΟΔΟΣ").ignoring_case(), "οδος ΟΔΟΣ x", vec!["οδος", "ΟΔΟΣ"]),
            (text(""), "tea", vec![]),
            (text("").ignoring_case(), "tea", vec![]),
            (regex("t?"), "ata", vec!["t"]),
            (regex("^"), "tea", vec![]),
            (regex("T.A").ignoring_case(), "a tea", vec!["tea"]),
            (text("x"), "", vec![]),
        ] {
            let places = query.find_all(line, 10);
            assert_eq!(
                places.iter().map(|at| &line[at.clone()]).collect::<Vec<_>>(),
                found,
                "{query:?} in {line}"
            );
            assert_eq!(query.find_all(line, 1).len(), found.len().min(1));
            if let Some(first) = places.first()
                && matches!(query.kind, Kind::Text { .. })
            {
                assert_eq!(query.find(line).as_ref(), Some(first));
            }
        }
        assert_eq!(text("").ignoring_case().find("tea"), Some(0..0));
        assert_eq!(text("").ignoring_case().find(""), Some(0..0));
    }

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let line = format!("{}tea{}", "é".repeat(1000), "x".repeat(1000));
        let [(1, shown)] = &found(line.as_bytes(), &GrepQuery::text("tea"))[..] else { panic!() };
        assert_eq!(shown.chars().count(), EXCERPT_CHARS + 2);
        assert!(shown.contains("tea") && shown.starts_with('…') && shown.ends_with('…'));
    }

    #[test]
    fn a_pattern_that_is_too_large_is_refused_and_a_text_of_any_length_is_not() {
        let why = |pattern: &str| GrepQuery::regex(pattern).unwrap_err().to_string();
        assert_eq!(why(&"a".repeat(MAX_PATTERN_BYTES + 1)), "regex: it is over 4096 bytes long");
        assert!(why(r"(\w{100}){1000}").starts_with("regex: "));
        assert!(GrepQuery::regex(&"a".repeat(MAX_PATTERN_BYTES)).is_ok());
        let long = "tea ".repeat(20_000);
        assert!(GrepQuery::text(&long).is_in(&format!("likes {long}")));
        assert!(!GrepQuery::text(&long).is_in(&long[1..]));
        assert!(GrepQuery::text(long.to_uppercase()).ignoring_case().is_in(&long));
    }

    #[test]
    fn of_a_line_without_end_the_first_bytes_are_searched() {
        let mut line = vec![b'x'; usize::try_from(LONGEST_LINE).unwrap() - 1];
        line.extend("étea\ntea".as_bytes());
        assert_eq!(found(&line, &GrepQuery::text("tea")), [(2, "tea".to_owned())]);
    }
}
