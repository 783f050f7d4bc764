//! [`OldLines`]: the lines of each version that the next version no longer has, for a search from the newest version to the oldest.
//!
//! A splice holds the lines that its change removed. So a search costs as much as the changes removed, not as much as the versions
//! hold.

use std::collections::HashMap;
use std::ops::Range;

use memdir_store::StoreError;

use super::edits::common_ends;
use super::error::HistoryError;
use super::journal::OpenSegment;
use super::reading::{HistorySnapshot, KEPT, ListedVersion};
use super::record::ContentId;
use super::timeline::FileState;

impl HistorySnapshot<'_> {
    /// Walks versions from the newest to the oldest, in the order of [`listed`](Self::listed).
    #[must_use]
    pub fn old_lines(&self) -> OldLines<'_> {
        OldLines { reading: self, newer: HashMap::new(), bytes: 0, open: OpenSegment::default() }
    }
}

/// A search through versions: see [`HistorySnapshot::old_lines`].
pub struct OldLines<'s> {
    reading: &'s HistorySnapshot<'s>,
    /// For each file, the version that was visited last.
    newer: HashMap<usize, Looked>,
    /// The total size of their contents in bytes.
    bytes: usize,
    open: OpenSegment,
}

struct Looked {
    number: usize,
    content: ContentId,
    bytes: Vec<u8>,
}

/// A version, and the range of its lines that the version visited before lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinesOf<'s> {
    /// The content after the version.
    pub content: &'s [u8],
    /// A range of whole lines. Every line outside it is also in the version of this file that was visited before. A line inside it may
    /// be there too.
    pub lines: Range<usize>,
}

impl OldLines<'_> {
    /// The content after a version, and the range of lines to search. `None` if the history no longer has the content, or if the
    /// version is a deletion.
    ///
    /// # Errors
    /// [`HistoryError::Store`].
    pub fn of(&mut self, listed: &ListedVersion) -> Result<Option<LinesOf<'_>>, HistoryError> {
        let mut newer = self.newer.remove(&listed.file);
        self.bytes -= newer.as_ref().map_or(0, |newer| newer.bytes.len());
        let state = &self.reading.snapshot.timeline.moments[listed.number].state;
        let mut lines = None;
        if let (Some(newer), FileState::Content(content)) = (&mut newer, state) {
            lines = self.go_back(newer, *content)?;
        }
        let found = match (newer, lines) {
            (Some(newer), Some(lines)) => Some((newer, lines)),
            (newer, _) => match self.reading.left_by(listed)? {
                Some(content) => {
                    let lines = differing(newer.as_ref(), &content);
                    let (number, bytes) = (listed.number, content.to_vec());
                    Some((Looked { number, content: ContentId::of(&bytes), bytes }, lines))
                }
                None => {
                    newer.into_iter().for_each(|newer| self.keep(listed.file, newer));
                    None
                }
            },
        };
        let Some((looked, lines)) = found else { return Ok(None) };
        self.keep(listed.file, Looked { number: listed.number, ..looked });
        let looked = self.newer.get(&listed.file);
        Ok(looked.map(|looked| LinesOf { content: &looked.bytes, lines }))
    }

    /// Marks the version that was visited last as not searched, so the next version of its file is searched as a whole.
    pub fn forget(&mut self, listed: &ListedVersion) {
        let forgotten = self.newer.remove(&listed.file);
        self.bytes -= forgotten.map_or(0, |newer| newer.bytes.len());
    }

    /// Turns the newer version into the one with this content, if the contents are equal or a splice leads to it. Returns the lines that
    /// may differ.
    fn go_back(
        &mut self,
        newer: &mut Looked,
        content: ContentId,
    ) -> Result<Option<Range<usize>>, HistoryError> {
        if newer.content == content {
            return Ok(Some(0..0));
        }
        let snapshot = &self.reading.snapshot;
        let moment = &snapshot.timeline.moments[newer.number];
        let leads = moment
            .header
            .rows
            .get(moment.row)
            .filter(|row| row.before == Some(content) && row.after == Some(newer.content));
        let Some(splice) = leads.and_then(|row| row.splice) else { return Ok(None) };
        let (reader, stored) = (self.reading.reader, &snapshot.records[moment.record]);
        let record = match reader.journal.read_next(&self.reading.context(), stored, &mut self.open)
        {
            Ok(record) => record,
            Err(StoreError::Cancelled) => return Err(StoreError::Cancelled.into()),
            // The content may be available in another way.
            Err(_) => return Ok(None),
        };
        let place = record.splice(&splice).and_then(|(removed, inserted)| {
            let at = usize::try_from(splice.at).ok()?;
            let is_there = newer.bytes.get(at..)?.starts_with(inserted);
            is_there.then_some((at, removed, inserted))
        });
        let Some((at, removed, inserted)) = place else { return Ok(None) };
        newer.bytes.splice(at..at + inserted.len(), removed.iter().copied());
        newer.content = content;
        Ok(Some(whole_lines(&newer.bytes, at..at + removed.len())))
    }

    /// Keeps the version for the next one of its file. If that exceeds the limit, the versions of other files are dropped, and those
    /// files are searched as a whole again.
    fn keep(&mut self, file: usize, looked: Looked) {
        if self.bytes + looked.bytes.len() > KEPT {
            (self.newer, self.bytes) = (HashMap::new(), 0);
        }
        self.bytes += looked.bytes.len();
        self.newer.insert(file, looked);
    }
}

/// The lines in which a content differs from the newer one.
fn differing(newer: Option<&Looked>, content: &[u8]) -> Range<usize> {
    let Some(newer) = newer else { return 0..content.len() };
    let (start, end) = common_ends(&newer.bytes, content);
    whole_lines(content, start..content.len() - end)
}

/// The whole lines that contain a part of a text.
fn whole_lines(text: &[u8], part: Range<usize>) -> Range<usize> {
    let is_end = |byte: &u8| *byte == b'\n';
    let start = text[..part.start].iter().rposition(is_end).map_or(0, |end| end + 1);
    let end = text[part.end..].iter().position(is_end).map_or(text.len(), |at| part.end + at + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_text_is_in_whole_lines() {
        let text = b"one\ntwo\nthree";
        for (part, lines) in [
            (0..0, "one\n"),
            (1..2, "one\n"),
            (3..3, "one\n"),
            (3..4, "one\ntwo\n"),
            (4..4, "two\n"),
            (5..9, "two\nthree"),
            (13..13, "three"),
        ] {
            assert_eq!(&text[whole_lines(text, part.clone())], lines.as_bytes(), "{part:?}");
        }
        assert_eq!(whole_lines(b"", 0..0), 0..0);
        assert_eq!(whole_lines(b"a\n", 2..2), 2..2);
    }
}
