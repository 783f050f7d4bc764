//! `grep`: finds the names and the lines that match a text or a pattern.

use std::io::{ErrorKind, Read};
use std::ops::{ControlFlow, Range};

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};
use memdir_regex::Regex;
use memdir_store::path::{MAX_LEVELS, MemoryPath};
use memdir_store::{ConfigError, Error};
use serde::Serialize;

use crate::policies::Policies;
use crate::store::{InContext, Node, Store as _, StoreError};
use crate::text::excerpt;

/// The longest line that is searched completely, in bytes. A longer line is searched up to here.
const LONGEST_LINE: usize = if cfg!(test) { 64 * 1024 } else { 16 * 1024 * 1024 };

/// The number of bytes of a file that are in memory at a time, unless a line is longer.
const BLOCK: usize = 64 * 1024;

/// The longest regular expression, in bytes, and the most memory that a compiled one may take. Without the
/// feature `fast-regex`, each character of a text may take time proportional to the size of the pattern.
const MAX_PATTERN_BYTES: usize = 4096;
const MAX_COMPILED_BYTES: usize = 1 << 20;

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

    /// Skips lines of a text in which the query does not match, from the start of a line on. Returns a place in the next line
    /// that may match, or at its end. `None` if no line matches.
    fn skip_lines(&self, text: &str, at: usize) -> Option<usize> {
        match &self.kind {
            Kind::Regex(regex) => regex.skip_lines(text, at),
            Kind::Text { .. } if self.ignores_case => (at < text.len()).then_some(at),
            Kind::Text { finder, .. } => {
                finder.find(text.as_bytes().get(at..)?).map(|found| at + found)
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
    builder.skip_lines(true).build(pattern).map_err(|error| wrong(&error.to_string()))
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
    let mut block = Vec::new();
    for entry in super::list(store, path, MAX_LEVELS)? {
        store.check().map_err(Error::Store)?;
        let name = entry.path.name().unwrap_or_default();
        if let Some(at) = query.find(name) {
            let named = GrepMatch { path: entry.path.clone(), line: None, text: excerpt(name, at) };
            if found(named).is_break() {
                return Ok(());
            }
        }
        if entry.is_file() {
            let mut search = Search { store, path: &entry.path, query, number: 1, found };
            if lines(policies, &mut search, &mut block)?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The search of one file.
struct Search<'s> {
    store: &'s InContext<'s>,
    path: &'s MemoryPath,
    query: &'s GrepQuery,
    /// The number of the next line.
    number: u64,
    found: &'s mut dyn FnMut(GrepMatch) -> ControlFlow<()>,
}

/// Searches one file. A file that was removed, cannot be read, or is not text has no matches. `block` is reused from file to file.
fn lines(
    policies: &Policies,
    search: &mut Search<'_>,
    block: &mut Vec<u8>,
) -> Result<ControlFlow<()>, Error> {
    if policies.sensitive.on_view {
        // A key that spans several lines is recognised by its first line, so the whole text is needed.
        return match super::read_shown(search.store, policies, search.path) {
            Ok(text) => search.content(text.as_bytes(), block),
            Err(Error::Refused(_)) => Ok(ControlFlow::Continue(())),
            Err(error) => Err(error),
        };
    }
    match search.store.open(search.path, 0) {
        Ok(Node::File(_, content)) => search.content(content, block),
        Ok(Node::Directory(_)) => Ok(ControlFlow::Continue(())),
        Err(error @ (StoreError::Failed { .. } | StoreError::Busy | StoreError::Cancelled)) => {
            Err(Error::Store(error))
        }
        Err(_) => Ok(ControlFlow::Continue(())),
    }
}

impl Search<'_> {
    /// Searches a content in blocks of whole lines.
    fn content(
        &mut self,
        mut content: impl Read,
        block: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, Error> {
        let mut filled = 0;
        // Whether the rest of a line that was too long must be skipped.
        let mut skips = false;
        loop {
            if filled == block.len() {
                block.resize((2 * filled).clamp(BLOCK, LONGEST_LINE), 0);
            }
            let read = match content.read(&mut block[filled..]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Err(Error::Store(StoreError::failed("reading a file", error)));
                }
            };
            self.store.check().map_err(Error::Store)?;
            let last_newline = memrchr(b'\n', &block[filled..filled + read]);
            let mut end = last_newline.map_or(0, |newline| filled + newline + 1);
            filled += read;
            let (mut start, mut is_cut) = (0, false);
            if skips {
                let newline = memchr(b'\n', &block[..filled]);
                start = newline.map_or(filled, |newline| newline + 1);
                end = end.max(start);
                skips = newline.is_none();
            } else if end == 0 && filled == LONGEST_LINE {
                (end, skips, is_cut) = (filled, true, true);
            } else if read == 0 {
                end = filled;
            }
            match self.block(&block[start..end], is_cut) {
                Ok(ControlFlow::Continue(())) if read > 0 => {}
                Ok(flow) => return Ok(flow),
                // A file is searched up to the first line that is not text.
                Err(NotText) => return Ok(ControlFlow::Continue(())),
            }
            // The newline of a cut line is not in the block.
            self.number += u64::from(is_cut);
            block.copy_within(end..filled, 0);
            filled -= end;
        }
    }

    /// Searches whole lines, or the beginning of a line that is too long.
    fn block(&mut self, block: &[u8], is_cut: bool) -> Result<ControlFlow<()>, NotText> {
        let (text, ended) = match str::from_utf8(block) {
            Ok(text) => (text, Ok(ControlFlow::Continue(()))),
            Err(error) => {
                let valid = str::from_utf8(&block[..error.valid_up_to()]).unwrap_or_default();
                match is_cut && error.error_len().is_none() {
                    true => (valid, Ok(ControlFlow::Continue(()))),
                    false => (
                        &valid[..memrchr(b'\n', valid.as_bytes()).map_or(0, |at| at + 1)],
                        Err(NotText),
                    ),
                }
            }
        };
        let mut start = 0;
        while let Some(at) = self.query.skip_lines(text, start) {
            let skipped =
                memrchr(b'\n', &text.as_bytes()[start..at]).map_or(0, |newline| newline + 1);
            self.number += newlines(&text[start..start + skipped]);
            start += skipped;
            if start == text.len() {
                return ended;
            }
            let rest = &text[start..];
            let end = memchr(b'\n', rest.as_bytes());
            let line = &rest[..end.unwrap_or(rest.len())];
            let line = line.strip_suffix('\r').unwrap_or(line);
            if let Some(at) = self.query.find(line) {
                let (path, line, text) = (self.path.clone(), Some(self.number), excerpt(line, at));
                if (self.found)(GrepMatch { path, line, text }).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            let Some(newline) = end else { return ended };
            self.number += 1;
            start += newline + 1;
        }
        self.number += newlines(&text[start..]);
        ended
    }
}

/// The rest of the content is not searched.
struct NotText;

fn newlines(text: &str) -> u64 {
    memchr_iter(b'\n', text.as_bytes()).count() as u64
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
        let mut found = |found: GrepMatch| {
            all.push((found.line.unwrap(), found.text));
            ControlFlow::Continue(())
        };
        let mut search = Search { store: &store, path: &path, query, number: 1, found: &mut found };
        assert!(search.content(content, &mut Vec::new()).unwrap().is_continue());
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
        let mut line = vec![b'x'; LONGEST_LINE - 1];
        line.extend("étea\ntea".as_bytes());
        assert_eq!(found(&line, &GrepQuery::text("tea")), [(2, "tea".to_owned())]);
        let longer = ["tea".as_bytes(), &vec![b'x'; 3 * LONGEST_LINE], b"tea\n\n", &line].concat();
        let numbers: Vec<u64> =
            found(&longer, &GrepQuery::text("tea")).iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 4]);
        let end = [&vec![b'x'; LONGEST_LINE - 3], "tea".as_bytes()].concat();
        for after in ["", "\n", "\nx", "x", "xtea"] {
            let content = [&end, after.as_bytes()].concat();
            assert_eq!(found(&content, &GrepQuery::regex("tea").unwrap()).len(), 1, "{after}");
        }
    }

    /// Returns at most this many bytes at a time.
    struct Slowly<'c>(&'c [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let size = self.1.min(buffer.len());
            self.0.read(&mut buffer[..size])
        }
    }

    #[test]
    fn lines_are_found_wherever_a_block_ends() {
        let store = InProcess::new();
        let (store, path) = (InContext::new(&store, &Context::new()), MemoryPath::root());
        let queries = [
            GrepQuery::text("tea"),
            GrepQuery::text("TEA").ignoring_case(),
            GrepQuery::regex("^t.*[^b]$").unwrap(),
            GrepQuery::regex(r"a\s*").unwrap(),
            GrepQuery::text(""),
        ];
        for before in (0..6).chain(BLOCK - 6..BLOCK + 2) {
            let filler = "y\r\n".repeat(before / 3) + &"\n".repeat(before % 3);
            let content = format!("{filler}tea\nb\n\ntea\r\n{}tea", "x\n".repeat(BLOCK));
            for (query, size) in queries.iter().zip([1, 7, BLOCK, usize::MAX, 4096]) {
                let expected: Vec<u64> = (1..)
                    .zip(content.lines())
                    .filter(|(_, line)| query.is_in(line))
                    .map(|(number, _)| number)
                    .collect();
                let mut lines = Vec::new();
                let mut found = |found: GrepMatch| {
                    lines.extend(found.line);
                    ControlFlow::Continue(())
                };
                let (path, found) = (&path, &mut found as &mut dyn FnMut(_) -> _);
                let mut search = Search { store: &store, path, query, number: 1, found };
                let content = Slowly(content.as_bytes(), size);
                assert!(search.content(content, &mut Vec::new()).unwrap().is_continue());
                assert_eq!(lines, expected, "{query:?} after {before} bytes, by {size}");
            }
        }
    }
}
