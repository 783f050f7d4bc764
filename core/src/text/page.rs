//! Numbers the lines of a content while it is read, up to a limit of characters.
//!
//! A view must read the whole file, to check that it is text and to count its lines, but shows only a part of
//! it. The [`Pager`] gets the content in windows, keeps the part to show, and counts the rest. So a view of
//! some lines never holds the whole file in memory.

use memchr::{memchr, memchr_iter};

use super::push_number;

/// Collects the numbered lines of a range. Feed it the content, then [`finish`](Pager::finish).
#[derive(Debug)]
pub struct Pager {
    out: String,
    /// The requested lines, inclusive.
    first: u64,
    last: u64,
    limit: Option<usize>,
    /// The number of the line that contains the next byte.
    line: u64,
    /// True if the current line has at least one byte.
    begun: bool,
    /// True while further lines may be shown.
    showing: bool,
    /// The start of the current line in `out`.
    line_start: usize,
    last_shown: Option<u64>,
    ending: Ending,
    /// The number of characters in the first `counted.1` bytes of `out`.
    counted: (usize, usize),
    /// The first bytes of a character that continues in the next window.
    pending: Vec<u8>,
}

/// The result of a [`Pager`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The header, then a `\n` and a numbered line for each line shown.
    pub text: String,
    /// The number of the last line of the content, counted from the number of its first line.
    pub last_line: u64,
    /// The number of the last line shown, or `None` if no line was shown.
    pub last_shown: Option<u64>,
    /// Says whether all requested lines are shown.
    pub ending: Ending,
}

/// The end of a [`Page`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Ends with the last requested line.
    Whole,
    /// Ends with the last line that fits the limit. More lines were requested.
    More,
    /// Ends within its only line, which does not fit. This many of its characters are shown.
    CutLine(usize),
}

/// The content is not valid UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotText;

impl Pager {
    /// Creates a page that starts with `header` and shows the lines `first..=last`. It shows only whole lines,
    /// and at most `limit` characters in total.
    #[must_use]
    pub fn new(header: String, first: u64, last: u64, limit: Option<usize>) -> Self {
        Self {
            line_start: header.len(),
            out: header,
            first,
            last,
            limit,
            line: 1,
            begun: false,
            showing: true,
            last_shown: None,
            ending: Ending::Whole,
            counted: (0, 0),
            pending: Vec::new(),
        }
    }

    /// Sets the number of the content's first line, which is 1 by default.
    #[must_use]
    pub fn starting_at(mut self, number: u64) -> Self {
        self.line = number;
        self
    }

    /// Reserves capacity for `bytes` more bytes.
    pub fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes);
    }

    /// Processes the next window of the content, of any length.
    ///
    /// # Errors
    /// [`NotText`] as soon as the content cannot be UTF-8.
    pub fn feed(&mut self, mut window: &[u8]) -> Result<(), NotText> {
        while !self.pending.is_empty() {
            let Some((&byte, rest)) = window.split_first() else { return Ok(()) };
            self.pending.push(byte);
            window = rest;
            let pending = std::mem::take(&mut self.pending);
            match std::str::from_utf8(&pending) {
                Ok(character) => self.take(character),
                Err(error) if error.error_len().is_some() => return Err(NotText),
                Err(_) => self.pending = pending,
            }
        }
        match std::str::from_utf8(window) {
            Ok(text) => self.take(text),
            Err(error) if error.error_len().is_some() => return Err(NotText),
            Err(error) => {
                let (whole, start) = window.split_at(error.valid_up_to());
                self.pending = start.to_vec();
                self.take(std::str::from_utf8(whole).map_err(|_| NotText)?);
            }
        }
        Ok(())
    }

    /// Returns the page, after all of the content was fed.
    ///
    /// # Errors
    /// [`NotText`] if the content ends within a character.
    pub fn finish(mut self) -> Result<Page, NotText> {
        if !self.pending.is_empty() {
            return Err(NotText);
        }
        if self.begun {
            self.end_line();
        }
        Ok(Page {
            text: self.out,
            last_line: self.line - 1,
            last_shown: self.last_shown,
            ending: self.ending,
        })
    }

    fn take(&mut self, mut text: &str) {
        if self.showing && self.line < self.first {
            text = self.skip_to_first(text);
        }
        while self.showing && self.line >= self.first && !text.is_empty() {
            text = self.show(text);
        }
        if let Some(last) = text.as_bytes().last() {
            self.line += memchr_iter(b'\n', text.as_bytes()).count() as u64;
            self.begun = *last != b'\n';
        }
    }

    /// Counts lines up to the first requested one. Returns the rest of the text, from that line on.
    fn skip_to_first<'t>(&mut self, text: &'t str) -> &'t str {
        for newline in memchr_iter(b'\n', text.as_bytes()) {
            self.line += 1;
            self.begun = false;
            if self.line == self.first {
                return &text[newline + 1..];
            }
        }
        self.begun |= !text.is_empty() && !text.ends_with('\n');
        ""
    }

    /// Shows the part of the current line that is in `text`. Returns the text after it.
    fn show<'t>(&mut self, text: &'t str) -> &'t str {
        if !self.begun {
            if self.line > self.last {
                self.showing = false;
                return text;
            }
            self.line_start = self.out.len();
            self.out.push('\n');
            push_number(&mut self.out, self.line);
        }
        match memchr(b'\n', text.as_bytes()) {
            Some(newline) => {
                self.out.push_str(&text[..newline]);
                self.end_line();
                &text[newline + 1..]
            }
            None => {
                self.begun = true;
                self.out.push_str(text);
                // A line that is already too long is not collected any further.
                if !self.fits() {
                    self.cut();
                }
                ""
            }
        }
    }

    fn end_line(&mut self) {
        if self.showing && self.line >= self.first {
            if self.fits() {
                self.last_shown = Some(self.line);
            } else {
                self.cut();
            }
        }
        self.line += 1;
        self.begun = false;
    }

    fn fits(&mut self) -> bool {
        // A character has at least one byte, so most pages need no counting.
        let Some(limit) = self.limit.filter(|&limit| self.out.len() > limit) else { return true };
        let (chars, bytes) = self.counted;
        self.counted = (chars + self.out[bytes..].chars().count(), self.out.len());
        self.counted.0 <= limit
    }

    /// Ends the page because the current line exceeds the limit. The line is left out, or cut if it is the only
    /// one.
    fn cut(&mut self) {
        self.showing = false;
        if self.last_shown.is_some() {
            self.out.truncate(self.line_start);
            self.ending = Ending::More;
            return;
        }
        let limit = self.limit.unwrap_or(usize::MAX);
        let text_start = self.out[self.line_start..]
            .find('\t')
            .map_or(self.out.len(), |tab| self.line_start + tab + 1);
        let end = self.out.char_indices().nth(limit).map_or(self.out.len(), |(at, _)| at);
        self.out.truncate(end.max(text_start));
        self.last_shown = Some(self.line);
        self.ending = Ending::CutLine(self.out[text_start..].chars().count());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(
        windows: &[&[u8]],
        first: u64,
        last: u64,
        limit: Option<usize>,
    ) -> Result<Page, NotText> {
        let mut pager = Pager::new("H:".to_owned(), first, last, limit);
        for window in windows {
            pager.feed(window)?;
        }
        pager.finish()
    }

    /// Returns the same page from the whole content at once.
    fn naive(content: &str, first: u64, last: u64, limit: Option<usize>) -> Page {
        let mut lines: Vec<&str> = content.split('\n').collect();
        if lines.last() == Some(&"") {
            lines.pop();
        }
        let mut page = Page {
            text: "H:".to_owned(),
            last_line: lines.len() as u64,
            last_shown: None,
            ending: Ending::Whole,
        };
        for (line, number) in lines.iter().zip(1..) {
            if number < first || number > last {
                continue;
            }
            let longer = format!("{}\n{number:>6}\t{line}", page.text);
            if limit.is_none_or(|limit| longer.chars().count() <= limit) {
                page.text = longer;
                page.last_shown = Some(number);
            } else if page.last_shown.is_some() {
                page.ending = Ending::More;
                break;
            } else {
                let room = limit.unwrap().saturating_sub("H:\n123456\t".len());
                let cut: String = line.chars().take(room).collect();
                page.text = format!("H:\n{number:>6}\t{cut}");
                page.last_shown = Some(number);
                page.ending = Ending::CutLine(cut.chars().count());
                break;
            }
        }
        page
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(500))]
        #[test]
        fn agrees_with_the_naive_page_however_it_is_fed(
            content in "[aé猫\n\r\u{2028}]{0,30}",
            first in 1_u64..6,
            length in 0_u64..6,
            limit in proptest::option::of(0_usize..60),
            cuts in proptest::collection::vec(0_usize..40, 0..4),
        ) {
            let bytes = content.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let windows: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(
                page(&windows, first, first + length, limit),
                Ok(naive(&content, first, first + length, limit))
            );
        }

        #[test]
        fn tells_text_from_other_bytes_however_it_is_fed(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'a'), Just(0xc3), Just(0xa9), Just(0xf0), Just(0x9f), Just(0x8d), Just(0xed)],
                0..12
            ),
        ) {
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            let is_text = std::str::from_utf8(&bytes).is_ok();
            prop_assert_eq!(page(&single, 1, 9, None).is_ok(), is_text);
            prop_assert_eq!(page(&[&bytes], 1, 9, None).is_ok(), is_text);
        }
    }

    #[test]
    fn a_long_line_is_not_collected_whole() {
        let mut pager = Pager::new(String::new(), 1, u64::MAX, Some(100));
        for _ in 0..1000 {
            pager.feed(&[b'x'; 1000]).unwrap();
            assert!(pager.out.capacity() < 5000);
        }
        let page = pager.finish().unwrap();
        assert_eq!(page.text.chars().count(), 100);
        assert_eq!(page.ending, Ending::CutLine(92));
        assert_eq!(page.last_line, 1);
    }
}
