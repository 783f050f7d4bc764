//! [`Record`]: the data that the journal stores about one change.
//!
//! The header holds the actor, the files, and the layout of the contents. The contents are the bytes of splices and whole files,
//! concatenated.
//!
//! A splice is stored with the bytes that it removed and the bytes that it inserted. So a content can be computed from the one before
//! it and from the one after it, and a whole content is stored only if it has neither.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use memdir_store::path::MemoryPath;
use memdir_store::{Context, HistoryId, Operation, Partner};

/// The SHA-256 of a content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    pub(super) fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// The first bytes of the digest.
    pub(super) fn beginning(&self) -> [u8; 8] {
        std::array::from_fn(|byte| self.0[byte])
    }

    /// The digest of the concatenated `pieces`.
    pub(super) fn of_pieces(pieces: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        pieces.iter().for_each(|piece| hash.update(piece));
        Self(hash.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        let text: String = digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect();
        f.write_str(&text)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("not a SHA-256");
        let digits = |at: usize| text.get(at..at + 2).ok_or_else(wrong);
        let mut digest = [0; 32];
        if text.len() != 64 {
            return Err(wrong());
        }
        for (at, byte) in digest.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits(at * 2)?, 16).map_err(|_| wrong())?;
        }
        Ok(Self(digest))
    }
}

/// Identifies a content by its digest and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ContentId {
    pub(super) sha256: Digest,
    pub(super) size: u64,
}

impl ContentId {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { sha256: Digest::of(bytes), size: bytes.len() as u64 }
    }
}

/// The position of a splice in the contents of its record: first the removed bytes, then the inserted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptSplice {
    /// The position in the file.
    pub(super) at: u64,
    pub(super) removed: u64,
    pub(super) inserted: u64,
    /// The position in the record's contents.
    pub(super) offset: u64,
}

/// The position of a whole content in the contents of its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptWhole {
    pub(super) content: ContentId,
    pub(super) offset: u64,
}

/// Says that a content was removed from the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Redaction {
    /// Replaces the SHA-256 of the content, because a SHA-256 would confirm a guess.
    pub(super) mark: Digest,
    pub(super) reason: String,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) operation: Operation,
    pub(super) path: MemoryPath,
    /// The path before the change, if the file was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) old_path: Option<MemoryPath>,
    /// The content before the change; `None` if there was no file, or if it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<ContentId>,
    /// The content after the change; `None` if there is no file, or if it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<ContentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) splice: Option<KeptSplice>,
    /// Whether the versions before it were removed for their age.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) is_trimmed: bool,
}

impl Row {
    /// Whether the row is about a file with a reserved name. An imported history may contain one. Such a file is not part of the
    /// memory, so it has no versions that could be restored or exported.
    pub(super) fn is_reserved(&self) -> bool {
        self.path.is_reserved() || self.old_path.as_ref().is_some_and(MemoryPath::is_reserved)
    }

    /// A file with this content was deleted.
    pub(super) fn deleted(operation: Operation, path: MemoryPath, content: ContentId) -> Self {
        Self {
            operation,
            path,
            old_path: None,
            before: Some(content),
            after: None,
            splice: None,
            is_trimmed: false,
        }
    }

    /// A file was moved. Its content is `None` if it was not read.
    pub(super) fn renamed(
        operation: Operation,
        old_path: MemoryPath,
        path: MemoryPath,
        content: Option<ContentId>,
    ) -> Self {
        Self {
            operation,
            path,
            old_path: Some(old_path),
            before: content,
            after: content,
            splice: None,
            is_trimmed: false,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A record without its contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) id: HistoryId,
    /// The change that the record belongs to.
    pub(super) change: HistoryId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) actor: Option<String>,
    /// The other memory, if a sync made the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) partner: Option<Partner>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) rows: Vec<Row>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) wholes: Vec<KeptWhole>,
    /// The contents that were removed from this record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) redactions: Vec<Redaction>,
    /// The versions whose contents or names this change removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) redacts: Vec<HistoryId>,
    /// The reason, if one was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// The newest record that was removed for its age. The history before it is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trims: Option<HistoryId>,
    /// The records whose changes were not made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) withdraws: Vec<HistoryId>,
    /// The records whose changes were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) confirms: Vec<HistoryId>,
    /// Whether the change was made in one write with the change that left the content that it found: both were made, or none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) is_joined: bool,
}

impl Header {
    /// Whether the header has more than notes about other records.
    pub(super) fn is_kept(&self) -> bool {
        !self.rows.is_empty() || !self.redacts.is_empty() || self.trims.is_some()
    }

    /// All contents that the header mentions.
    pub(super) fn contents(&self) -> impl Iterator<Item = ContentId> {
        let rows = self.rows.iter().flat_map(|row| [row.before, row.after]).flatten();
        rows.chain(self.wholes.iter().map(|kept| kept.content))
    }
}

/// A record of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) header: Header,
    pub(super) contents: Vec<u8>,
}

/// The bytes are not a record.
#[derive(Debug, thiserror::Error)]
#[error("a record of the history is damaged")]
pub(super) struct Damaged;

impl Record {
    pub(super) fn new(id: HistoryId, change: HistoryId, actor: Option<&str>) -> Self {
        let header = Header {
            id,
            change,
            actor: actor.map(str::to_owned),
            partner: None,
            rows: Vec::new(),
            wholes: Vec::new(),
            redactions: Vec::new(),
            redacts: Vec::new(),
            reason: None,
            trims: None,
            withdraws: Vec::new(),
            confirms: Vec::new(),
            is_joined: false,
        };
        Self { header, contents: Vec::new() }
    }

    /// A record of a change in this context.
    pub(super) fn by(context: &Context, id: HistoryId, change: HistoryId) -> Self {
        let mut record = Self::new(id, change, context.actor());
        record.header.partner = context.partner_of(&MemoryPath::root());
        record
    }

    /// Stores a whole content.
    pub(super) fn keep(&mut self, content: ContentId, bytes: &[u8]) {
        if !self.header.wholes.iter().any(|kept| kept.content == content) {
            let offset = self.contents.len() as u64;
            self.contents.extend_from_slice(bytes);
            self.header.wholes.push(KeptWhole { content, offset });
        }
    }

    /// The same record with only some of its whole contents and splices. `keeps` is called with the digests of their contents.
    pub(super) fn with_only(&self, keeps: impl Fn(Digest) -> bool) -> Self {
        let mut record = Self { header: self.header.clone(), contents: Vec::new() };
        record.header.wholes.clear();
        for kept in &self.header.wholes {
            if keeps(kept.content.sha256)
                && let Some(bytes) = self.whole(kept.content)
            {
                record.keep(kept.content, bytes);
            }
        }
        for (number, row) in self.header.rows.iter().enumerate() {
            let kept = [row.before, row.after].into_iter().flatten();
            let stays = kept.into_iter().all(|content| keeps(content.sha256));
            let splice = row.splice.filter(|_| stays).and_then(|splice| {
                let (removed, inserted) = self.splice(&splice)?;
                let at = usize::try_from(splice.at).ok()?;
                Some(record.keep_splice(at, removed, inserted))
            });
            record.header.rows[number].splice = splice;
        }
        record
    }

    /// Stores the bytes that a splice removed at a position of a file, and those that it inserted.
    pub(super) fn keep_splice(&mut self, at: usize, removed: &[u8], inserted: &[u8]) -> KeptSplice {
        let offset = self.contents.len() as u64;
        self.contents.extend_from_slice(removed);
        self.contents.extend_from_slice(inserted);
        KeptSplice {
            at: at as u64,
            removed: removed.len() as u64,
            inserted: inserted.len() as u64,
            offset,
        }
    }

    /// A whole content stored in this record.
    pub(super) fn whole(&self, content: ContentId) -> Option<&[u8]> {
        let kept = self.header.wholes.iter().find(|kept| kept.content == content)?;
        self.slice(kept.offset, kept.content.size)
    }

    /// The bytes that a splice of this record removed, and those that it inserted.
    pub(super) fn splice(&self, splice: &KeptSplice) -> Option<(&[u8], &[u8])> {
        let inserted_at = splice.offset.checked_add(splice.removed)?;
        Some((
            self.slice(splice.offset, splice.removed)?,
            self.slice(inserted_at, splice.inserted)?,
        ))
    }

    fn slice(&self, offset: u64, len: u64) -> Option<&[u8]> {
        let (start, len) = (usize::try_from(offset).ok()?, usize::try_from(len).ok()?);
        self.contents.get(start..start.checked_add(len)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> MemoryPath {
        MemoryPath::parse(path).unwrap()
    }

    fn example() -> Record {
        let id = HistoryId::new().unwrap();
        let mut record = Record::new(id, id, Some("session 1"));
        let splice = record.keep_splice(6, b"tea", b"coffee");
        let before = ContentId::of(b"likes tea\n");
        record.keep(before, b"likes tea\n");
        record.keep(before, b"likes tea\n");
        record.header.rows.push(Row {
            operation: Operation::Modified,
            path: path("/memories/a.md"),
            old_path: Some(path("/memories/b.md")),
            before: Some(before),
            after: Some(ContentId::of(b"likes coffee\n")),
            splice: Some(splice),
            is_trimmed: false,
        });
        record
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = example();
        assert_eq!(record.contents.len(), "teacoffee".len() + "likes tea\n".len());
        let read = Record::from_bytes(&record.to_bytes()).unwrap();
        assert_eq!(read, record);
        let row = &read.header.rows[0];
        assert_eq!(read.splice(&row.splice.unwrap()), Some((&b"tea"[..], &b"coffee"[..])));
        assert_eq!(read.whole(row.before.unwrap()), Some(&b"likes tea\n"[..]));
        assert_eq!(read.whole(row.after.unwrap()), None);
    }

    #[test]
    fn a_damaged_record_is_noticed_wherever_it_is_damaged() {
        let bytes = example().to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Record::from_bytes(&damaged).is_err(), "byte {at}");
            assert!(Record::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        }
        assert!(Record::from_bytes(&[&bytes[..], b"x"].concat()).is_err());
    }

    #[test]
    fn places_outside_of_the_contents_are_no_content() {
        let mut record = example();
        let far = KeptSplice { at: 0, removed: u64::MAX, inserted: 1, offset: u64::MAX };
        assert_eq!(record.splice(&far), None);
        record.header.wholes[0].offset = 11;
        assert_eq!(record.whole(record.header.wholes[0].content), None);
    }
}
