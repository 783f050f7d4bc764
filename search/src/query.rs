//! The language of queries.

use crate::scripts::is_unspaced;

/// The bytes of a query that count. The rest of a longer one is ignored.
pub(crate) const MAX_QUERY_BYTES: usize = 4_096;

/// The marks around an exact phrase.
const QUOTES: [(char, &[char]); 5] =
    [('"', &['"']), ('“', &['”', '"']), ('„', &['“', '”', '"']), ('«', &['»']), ('「', &['」'])];

/// A question to the index.
///
/// A file is a hit if it has any of the words. Further parts of a query restrict the hits:
///
/// | part | meaning |
/// |---|---|
/// | `"green tea"` | the file has exactly these words, one after the other. Case and punctuation do not matter, endings and diacritics do |
/// | `-coffee` | neither the text nor the path has the word, in any of its forms. The word begins with a letter: `-5` is a number |
/// | `-"black tea"` | the file does not have the phrase |
/// | `path:projects` | the path contains this text; case does not matter |
/// | `-path:archive` | the path does not contain it |
///
/// A query with restrictions only finds all files that meet them, with the score 0, ordered by path. The first 4,096 bytes of
/// a query count.
///
/// ```
/// use memdir_search::{Index, Options, Query};
///
/// let mut index = Index::new(Options::default());
/// index.put("notes/a.md", "Green tea is better than coffee.", None)?;
/// index.put("notes/b.md", "The tea is green.", None)?;
/// let paths = |query: &str| -> Vec<String> {
///     index.search(&Query::parse(query), 10).into_iter().map(|hit| hit.path).collect()
/// };
/// assert_eq!(paths("\"green tea\""), ["notes/a.md"]);
/// assert_eq!(paths("green tea -coffee"), ["notes/b.md"]);
/// assert_eq!(paths("tea path:b.md"), ["notes/b.md"]);
/// # Ok::<(), memdir_search::IndexFull>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The words that rank, with those of the phrases.
    pub(crate) text: String,
    pub(crate) phrases: Vec<String>,
    pub(crate) without: Vec<String>,
    pub(crate) without_phrases: Vec<String>,
    pub(crate) paths: Vec<String>,
    pub(crate) without_paths: Vec<String>,
}

impl Query {
    /// A query of words alone: quotes, `-` and `path:` have no meaning in it.
    pub fn text(text: &str) -> Self {
        Self { text: first_bytes(text).to_owned(), ..Self::default() }
    }

    /// Reads a query as people type it. Every text is a query: a quote that is not closed has no meaning.
    pub fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut rest = first_bytes(text);
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return query;
            }
            rest = query.part(rest);
        }
    }

    /// The words that rank, with those of the phrases: the question without its restrictions.
    ///
    /// ```
    /// use memdir_search::Query;
    ///
    /// assert_eq!(Query::parse("which \"green tea\" -coffee path:notes").words(), "which green tea");
    /// ```
    pub fn words(&self) -> &str {
        &self.text
    }

    /// Takes one part from the beginning of `rest`, and returns what follows.
    fn part<'q>(&mut self, rest: &'q str) -> &'q str {
        let (negative, inner) = match rest.strip_prefix('-') {
            Some(inner) => (true, inner),
            None => (false, rest),
        };
        if let Some(value) =
            inner.get(..5).filter(|start| start.eq_ignore_ascii_case("path:")).and(inner.get(5..))
        {
            let (value, after) = quoted(value).unwrap_or_else(|| word(value));
            if value.is_empty() {
                self.word(&rest[..rest.len() - after.len()]);
            } else if negative {
                self.without_paths.push(value.to_owned());
            } else {
                self.paths.push(value.to_owned());
            }
            return after;
        }
        if let Some((phrase, after)) = quoted(inner) {
            if phrase.chars().any(char::is_alphanumeric) {
                if negative {
                    self.without_phrases.push(phrase.to_owned());
                } else {
                    self.phrases.push(phrase.to_owned());
                    self.word(phrase);
                }
            }
            return after;
        }
        let (found, after) = word(rest);
        let excluded =
            found.strip_prefix('-').filter(|excluded| excluded.starts_with(char::is_alphabetic));
        match excluded {
            Some(excluded) => self.without.push(excluded.to_owned()),
            None => self.word(found),
        }
        after
    }

    fn word(&mut self, word: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(word);
    }

    /// Whether the query restricts the hits: it has a phrase, `-` or `path:`.
    pub fn is_restricted(&self) -> bool {
        ![&self.phrases, &self.without, &self.without_phrases, &self.paths, &self.without_paths]
            .iter()
            .all(|each| each.is_empty())
    }
}

fn first_bytes(text: &str) -> &str {
    let mut end = text.len().min(MAX_QUERY_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The text in quotes at the beginning, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    let (open, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let inner = &text[open.len_utf8()..];
    let end = inner.find(*close)?;
    let closing = inner[end..].chars().next().map_or(0, char::len_utf8);
    Some((&inner[..end], &inner[end + closing..]))
}

/// The word at the beginning, up to a space, or up to a quote in a script without spaces.
fn word(text: &str) -> (&str, &str) {
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let is_quote = at > 0 && is_unspaced(before) && quoted(&text[at..]).is_some();
        if character.is_whitespace() || is_quote {
            return text.split_at(at);
        }
        before = character;
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_in_its_parts() {
        let query = Query::parse(
            "green \"oat milk\" -coffee -\"black tea\" path:notes -path:\"old notes\" -5 e-mail",
        );
        assert_eq!(query.text, "green oat milk -5 e-mail");
        assert_eq!(query.phrases, ["oat milk"]);
        assert_eq!(query.without, ["coffee"]);
        assert_eq!(query.without_phrases, ["black tea"]);
        assert_eq!(query.paths, ["notes"]);
        assert_eq!(query.without_paths, ["old notes"]);
    }

    #[test]
    fn quotes_of_other_languages_are_quotes() {
        for text in ["“oat milk”", "„oat milk“", "«oat milk»", "「oat milk」", "お「oat milk」"]
        {
            assert_eq!(Query::parse(text).phrases, ["oat milk"], "{text}");
        }
    }

    #[test]
    fn every_text_is_a_query() {
        for text in
            ["", " ", "-", "--", "\"", "\"\"", "path:", "-path:", "-\"", "\" ", "é\"", "- -"]
        {
            let query = Query::parse(text);
            assert!(!query.is_restricted(), "{text}: {query:?}");
        }
        assert!(Query::parse(&"é".repeat(10_000)).text.len() <= MAX_QUERY_BYTES);
        assert_eq!(Query::text("-a \"b\"").text, "-a \"b\"");
    }
}
