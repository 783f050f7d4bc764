//! Saves an index as bytes, and reads it back.
//!
//! The bytes depend on the files alone, not on the order in which they came: files are ordered by path, and terms by text. A checksum finds
//! accidental damage. Bytes with a right checksum may still come from another program, so every number is checked before it is used.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::error::InvalidIndex;
use crate::index::{File, Index, OF_PATH, Span};
use crate::language::{LANGUAGES, Language, number};
use crate::options::Options;
use crate::postings::Decoder;

/// The first bytes of an index.
const MAGIC: &[u8; 12] = b"memdir-index";
/// The version of the format, of the cutting of texts, and of the stemmers. A test fails if one of these changes without it.
const VERSION: u32 = 2;
/// The bytes before the body: magic, version, checksum.
const HEAD: usize = 12 + 4 + 8;
/// The number of [`Language::Auto`].
const AUTO: u8 = u8::MAX;

impl Index {
    /// The index as bytes, for [`Index::from_bytes`]. The same files give the same bytes, whatever the order in which they were added.
    ///
    /// The bytes contain all texts. Protect and erase them as you do the files.
    ///
    /// ```
    /// use memdir_search::{Index, InvalidIndex, Options, Query};
    ///
    /// let mut index = Index::new(Options::default());
    /// index.put("anna.md", "Anna likes tea.", None)?;
    /// let bytes = index.to_bytes();
    /// let read = Index::from_bytes(&bytes, Options::default()).expect("these bytes are not damaged");
    /// assert_eq!(read.search(&Query::text("tea"), 1)[0].path, "anna.md");
    ///
    /// let damaged = Index::from_bytes(&bytes[1..], Options::default());
    /// assert_eq!(damaged.err(), Some(InvalidIndex::Damaged));
    /// # Ok::<(), memdir_search::IndexFull>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Writer::default();
        body.bytes.push(language_number(self.options.language));
        body.number(self.paths.len() as u64);
        let mut numbers = vec![u32::MAX; self.owners.len()];
        let mut next = 0;
        for slot in self.paths.values() {
            let Some(file) = self.slots.get(*slot as usize).and_then(Option::as_ref) else {
                continue;
            };
            for old in file.numbers() {
                numbers[old as usize] = next;
                next += 1;
            }
            body.file(file, &self.lengths[file.first as usize + 1..]);
        }
        let mut terms: Vec<u32> = self.vocabulary.live().collect();
        terms.sort_unstable_by(|a, b| self.vocabulary.text(*a).cmp(self.vocabulary.text(*b)));
        let renumber = |old: u32| numbers.get(old as usize).copied().filter(|new| *new != u32::MAX);
        let vocabulary = self.vocabulary.rebuilt(terms.into_iter(), false, &renumber);
        let mut before = String::new();
        body.number(vocabulary.live().count() as u64);
        for id in vocabulary.live() {
            let text = vocabulary.text(id);
            let shared = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
            body.number(shared as u64);
            body.slice(&text.as_bytes()[shared..]);
            body.slice(vocabulary.postings(id).bytes());
            text.clone_into(&mut before);
        }
        let mut bytes = Vec::with_capacity(HEAD + body.bytes.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&checksum(&body.bytes).to_le_bytes());
        bytes.append(&mut body.bytes);
        bytes
    }

    /// Reads an index that [`Index::to_bytes`] has made.
    ///
    /// # Errors
    /// [`InvalidIndex`] if the bytes are damaged, come from another version of this crate, were made for another
    /// [`Options::language`], or need more than [`Options::max_bytes`]. Build the index again from the texts.
    pub fn from_bytes(bytes: &[u8], options: Options) -> Result<Self, InvalidIndex> {
        let (head, body) = bytes.split_at_checked(HEAD).ok_or(InvalidIndex::Damaged)?;
        let (magic, rest) = head.split_at(MAGIC.len());
        let (version, sum) = rest.split_at(4);
        if magic != MAGIC {
            return Err(InvalidIndex::Damaged);
        }
        if version != VERSION.to_le_bytes() {
            return Err(InvalidIndex::OtherVersion);
        }
        if sum != checksum(body).to_le_bytes() {
            return Err(InvalidIndex::Damaged);
        }
        let mut reader = Reader { rest: body };
        if reader.byte().ok_or(InvalidIndex::Damaged)? != language_number(options.language) {
            return Err(InvalidIndex::OtherLanguage);
        }
        let most = options.max_bytes;
        let index = reader.index(options).ok_or(InvalidIndex::Damaged)?;
        if index.memory() > most {
            return Err(InvalidIndex::TooLarge);
        }
        Ok(index)
    }
}

fn language_number(language: Language) -> u8 {
    if language == Language::Auto { AUTO } else { number(language) }
}

/// A checksum like FNV-1a, of eight bytes at a time: byte by byte it would take a third of the time to read an index. A change of
/// one byte always changes it, and other damage with a probability close to one.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    // Each step is reversible. It moves the high bits down, which a product does not.
    words.chain([bytes.len() as u64]).fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
    })
}

#[derive(Debug, Default)]
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn number(&mut self, mut number: u64) {
        loop {
            let low = u8::try_from(number & 0x7f).unwrap_or(0);
            number >>= 7;
            self.bytes.push(if number == 0 { low } else { low | 0x80 });
            if number == 0 {
                return;
            }
        }
    }

    fn slice(&mut self, slice: &[u8]) {
        self.number(slice.len() as u64);
        self.bytes.extend_from_slice(slice);
    }

    fn file(&mut self, file: &File, lengths: &[u16]) {
        self.slice(file.path.as_bytes());
        let since = |time: SystemTime| match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => (1, after),
            Err(before) => (2, before.duration()),
        };
        let (sign, time) = file.modified.map_or((0, Duration::ZERO), since);
        self.bytes.push(sign);
        if sign > 0 {
            self.number(time.as_secs());
            self.number(u64::from(time.subsec_nanos()));
        }
        self.bytes.push(number(file.language));
        self.slice(file.text.as_bytes());
        self.number(file.spans.len() as u64);
        let (mut end, mut line) = (0, 0);
        for (span, length) in file.spans.iter().zip(lengths) {
            self.number(u64::from(span.start - end));
            self.number(u64::from(span.end - span.start));
            self.number(u64::from(span.line - line));
            self.number(u64::from(*length));
            (end, line) = (span.end, span.line);
        }
    }
}

/// Reads bytes; every method returns `None` if they are damaged.
struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return None;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn slice(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (slice, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(slice)
    }

    fn text(&mut self) -> Option<&'b str> {
        str::from_utf8(self.slice()?).ok()
    }

    fn index(&mut self, options: Options) -> Option<Index> {
        let mut index = Index::new(options);
        let files = self.small()?;
        for slot in 0..files {
            let first = u32::try_from(index.owners.len()).ok()?;
            index.lengths.push(OF_PATH);
            let file = self.file(first, &mut index.lengths)?;
            if index.paths.last_key_value().is_some_and(|(last, _)| *last >= file.path) {
                return None;
            }
            let passages = file.numbers().len();
            u32::try_from(index.owners.len() + passages + 1).ok()?;
            index.owners.resize(index.owners.len() + passages, slot);
            index.slots.push(None);
            index.add(file, slot);
        }
        let terms = self.small()?;
        let mut term: Vec<u8> = Vec::new();
        for _ in 0..terms {
            let shared = usize::try_from(self.number()?).ok()?;
            let rest = self.slice()?;
            // Terms are ordered, and the beginning is the same.
            if rest <= term.get(shared..)? {
                return None;
            }
            term.truncate(shared);
            term.extend_from_slice(rest);
            let text = str::from_utf8(&term).ok()?;
            if u16::try_from(term.len()).is_err() || index.vocabulary.is_full() {
                return None;
            }
            let encoded = self.slice()?;
            let (count, last) = checked(encoded, index.owners.len())?;
            index.vocabulary.insert(text, encoded, count, last);
        }
        self.rest.is_empty().then_some(index)
    }

    fn file(&mut self, first: u32, lengths: &mut Vec<u16>) -> Option<File> {
        let path: Arc<str> = self.text()?.into();
        u16::try_from(path.len()).ok()?;
        let modified = match self.byte()? {
            0 => None,
            sign @ (1 | 2) => {
                let (seconds, nanoseconds) =
                    (self.number()?, self.small().filter(|part| *part < 1_000_000_000)?);
                let time = Duration::new(seconds, nanoseconds);
                let epoch = SystemTime::UNIX_EPOCH;
                Some(if sign == 1 { epoch.checked_add(time)? } else { epoch.checked_sub(time)? })
            }
            _ => return None,
        };
        let language = *LANGUAGES.get(usize::from(self.byte()?))?;
        let text = self.text()?;
        u32::try_from(text.len()).ok()?;
        let count = self.small()?;
        let mut spans: Vec<Span> = Vec::new();
        let (mut end, mut line, mut words) = (0_u32, 0_u32, 0_u32);
        for _ in 0..count {
            let start = end.checked_add(self.small()?)?;
            end = start.checked_add(self.small()?)?;
            line = line.checked_add(self.small()?)?;
            let length = u16::try_from(self.small()?).ok().filter(|length| *length != OF_PATH)?;
            words = words.saturating_add(length.into());
            lengths.push(length);
            let span = Span { start, end, line };
            // Also checks that the place is in the text, and at boundaries of characters.
            if text.get(span.range())?.is_empty() || line == 0 {
                return None;
            }
            spans.push(span);
        }
        Some(File {
            path,
            text: text.into(),
            modified,
            language,
            first,
            spans: spans.into(),
            words,
        })
    }
}

/// The number of postings, and the last passage, of an encoded list; `None` if it is damaged.
fn checked(encoded: &[u8], passages: usize) -> Option<(u32, u32)> {
    let (mut count, mut last) = (0_u32, None);
    let mut decoder = Decoder::new(encoded);
    for posting in decoder.by_ref() {
        if posting.passage as usize >= passages || last.is_some_and(|last| last >= posting.passage)
        {
            return None;
        }
        count += 1;
        last = Some(posting.passage);
    }
    if decoder.is_damaged() {
        return None;
    }
    Some((count, last?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;

    fn sample() -> Index {
        let mut index = Index::new(Options::default());
        let time = SystemTime::UNIX_EPOCH;
        index.put("a.md", "# Tea\n\nAnna likes tea.\n", Some(time + Duration::new(7, 5))).unwrap();
        index.put("é.md", "会议记录 v1.2.3", Some(time - Duration::from_secs(1))).unwrap();
        index.put("empty", "", None).unwrap();
        index
    }

    fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
        let sum = checksum(&bytes[HEAD..]).to_le_bytes();
        bytes[HEAD - 8..HEAD].copy_from_slice(&sum);
        bytes
    }

    #[test]
    fn an_index_is_read_as_it_was_saved() {
        let bytes = sample().to_bytes();
        let mut read = Index::from_bytes(&bytes, Options::default()).unwrap();
        assert_eq!(read.to_bytes(), bytes);
        for query in ["tea", "会议", "1.2.3", "nothing"] {
            assert_eq!(
                read.search(&Query::parse(query), 9),
                sample().search(&Query::parse(query), 9)
            );
        }
        assert!(read.remove("a.md"));
        assert_eq!(read.search(&Query::parse("tea"), 9), []);
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        let bytes = sample().to_bytes();
        let error = |bytes: &[u8]| Index::from_bytes(bytes, Options::default()).unwrap_err();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let expected = if (12..16).contains(&at) {
                InvalidIndex::OtherVersion
            } else {
                InvalidIndex::Damaged
            };
            assert_eq!(error(&changed), expected, "byte {at}");
            assert_eq!(error(&bytes[..at]), InvalidIndex::Damaged, "{at} bytes");
        }
        let german = Options::default().language(Language::German);
        assert_eq!(Index::from_bytes(&bytes, german).unwrap_err(), InvalidIndex::OtherLanguage);
        let small = Options::default().max_bytes(100);
        assert_eq!(Index::from_bytes(&bytes, small).unwrap_err(), InvalidIndex::TooLarge);
    }

    /// Bytes that another program may have made: with a right checksum.
    #[test]
    fn no_bytes_cause_a_panic() {
        let bytes = sample().to_bytes();
        for at in HEAD..bytes.len() {
            for value in [0, 1, 2, 0x7f, 0x80, 0xff, bytes[at].wrapping_add(1), bytes[at] ^ 0x40] {
                let mut changed = bytes.clone();
                changed[at] = value;
                if let Ok(mut index) =
                    Index::from_bytes(&with_checksum(changed), Options::default())
                {
                    for query in ["tea Anna", "\"likes tea\"", "会", "-tea path:a"] {
                        index.search(&Query::parse(query), 9);
                    }
                    let paths: Vec<String> = index.paths().map(str::to_owned).collect();
                    assert!(paths.iter().all(|path| index.remove(path)));
                }
            }
            let cut = with_checksum(bytes[..at].to_vec());
            assert!(Index::from_bytes(&cut, Options::default()).is_err());
        }
    }

    /// If this fails, the terms of a text have changed: raise `VERSION`, and then correct the number.
    #[test]
    fn the_version_stands_for_the_terms() {
        let mut index = Index::new(Options::default());
        for (at, text) in [
            "The meetings were planned for 17 March 2024 by the nicest people, as getUserById says.",
            "Die Besprechungen über Verträge waren für Jürgen nicht überraschend.",
            "Las reuniones sobre programación fueron en la ciudad de Málaga.",
            "Les réunions étaient prévues, mais l'hôtel n'est pas ouvert.",
            "Встречи были назначены на 17 марта 2024, а ёлки стояли.",
            "De vergaderingen met mensen zijn verplaatst naar de volgende week.",
            "会议在北京举行。東京に住んでいる。회의에서 녹차를 선호한다.",
            "Toplantılar için çok güzel bir yer. Kokoukset ovat olleet pitkiä ja se on hyvä.",
            "Spotkania są w piątki i nie trwają długo. Mötena är på fredag och inte nu.",
            "Le riunioni con gli utenti sono nella sala. As reuniões não foram no escritório.",
        ]
        .iter()
        .enumerate()
        {
            index.put(&format!("notes/{at}.md"), text, None).unwrap();
        }
        assert_eq!((VERSION, checksum(&index.to_bytes()[HEAD..])), (2, 6_070_679_371_842_434_785));
    }
}
