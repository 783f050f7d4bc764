//! [`Packed`]: a record as bytes, outside a log.
//!
//! ```text
//! "MDH1" | length of the header (u32) | length of the contents (u64) | check of the header | check of the contents
//!        | header | contents
//! ```
//! Numbers are little-endian. A check is the first 8 bytes of a SHA-256. The check of the header also covers the length of
//! the contents. [`RecordForm`](super::record_form::RecordForm) defines the header and the contents.

use std::borrow::Cow;

use super::record::{Damaged, Digest};

pub(super) const MAGIC: [u8; 4] = *b"MDH1";
/// The number of bytes before the header.
pub(super) const PREFIX: usize = 32;
/// The longest header that is read, in bytes. It is enough for a change of a million files.
pub(super) const MAX_HEADER: usize = 1 << 30;

/// The bytes of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed<'b> {
    pub(super) header: Cow<'b, [u8]>,
    pub(super) contents: Cow<'b, [u8]>,
}

impl<'b> Packed<'b> {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let Self { header, contents } = self;
        let mut bytes = Vec::with_capacity(PREFIX + header.len() + contents.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&u32::try_from(header.len()).unwrap_or(u32::MAX).to_le_bytes());
        let len = (contents.len() as u64).to_le_bytes();
        bytes.extend_from_slice(&len);
        bytes.extend_from_slice(&check(&[&len, header]));
        bytes.extend_from_slice(&check(&[contents]));
        bytes.extend_from_slice(header);
        bytes.extend_from_slice(contents);
        bytes
    }

    pub(super) fn into_owned(self) -> Packed<'static> {
        Packed {
            header: Cow::Owned(self.header.into_owned()),
            contents: Cow::Owned(self.contents.into_owned()),
        }
    }

    /// Splits the bytes of a record.
    pub(super) fn from_bytes(bytes: &'b [u8]) -> Result<Self, Damaged> {
        let prefix = Prefix::read(bytes)?;
        if prefix.record_len() != bytes.len() as u64 {
            return Err(Damaged);
        }
        let (header, contents) = bytes[PREFIX..].split_at(prefix.header);
        let header = prefix.header(header)?;
        if check(&[contents]) != prefix.contents_check {
            return Err(Damaged);
        }
        Ok(Self { header: Cow::Borrowed(header), contents: Cow::Borrowed(contents) })
    }
}

/// The first bytes of a record, decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefix {
    pub(super) header: usize,
    pub(super) contents: u64,
    header_check: [u8; 8],
    contents_check: [u8; 8],
}

impl Prefix {
    /// Decodes the prefix at the start of `bytes`.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let fixed = |at: usize| bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
        let number = |at: usize| fixed(at).map(u64::from_le_bytes);
        let (Some(first), Some(contents)) = (number(0), number(8)) else { return Err(Damaged) };
        let (Some(header_check), Some(contents_check)) = (fixed(16), fixed(24)) else {
            return Err(Damaged);
        };
        let header = usize::try_from(first >> 32).map_err(|_| Damaged)?;
        if first.to_le_bytes()[..4] != MAGIC || header > MAX_HEADER {
            return Err(Damaged);
        }
        Ok(Self { header, contents, header_check, contents_check })
    }

    /// The size of the record in bytes.
    pub(super) fn record_len(&self) -> u64 {
        self.contents.saturating_add((PREFIX + self.header) as u64)
    }

    /// The header, if the check of these bytes is right.
    pub(super) fn header<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], Damaged> {
        if check(&[&self.contents.to_le_bytes(), bytes]) == self.header_check {
            Ok(bytes)
        } else {
            Err(Damaged)
        }
    }
}

fn check(pieces: &[&[u8]]) -> [u8; 8] {
    Digest::of_pieces(pieces).beginning()
}
