//! The form of a [`Record`](super::record::Record) in a log: a frame, which distinguishes a whole record from a partial one.
//!
//! ```text
//! "MDH2" | length of the header (u32) | length of the contents (u64)
//!        | check of the header | check of the contents | check of all this | header | contents | end mark
//! ```
//! Lengths are little-endian. A check is the first 8 bytes of a SHA-256 that begins with the salt of the
//! [segment](super::log_segment), so no text in a record looks like a frame. The end mark repeats the third
//! check. A frame without it is incomplete.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use super::packed::{MAX_HEADER, Packed};
use super::record::Damaged;

pub(super) const MAGIC: [u8; 4] = *b"MDH2";
/// The number of bytes before the header.
pub(super) const FRAME_PREFIX: usize = 40;

/// The first bytes of a SHA-256.
pub(super) type Check = [u8; 8];

/// The first bytes of a frame, decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct FramePrefix {
    pub(super) header: usize,
    pub(super) contents: u64,
    header_check: Check,
    contents_check: Check,
    /// The check that the end mark repeats.
    pub(super) mark: Check,
}

impl FramePrefix {
    /// Decodes the prefix at the start of `bytes`.
    pub(super) fn read(salt: &[u8], bytes: &[u8]) -> Result<Self, Damaged> {
        let bytes: &[u8; FRAME_PREFIX] = bytes.first_chunk().ok_or(Damaged)?;
        let eight = |at: usize| -> [u8; 8] { std::array::from_fn(|byte| bytes[at + byte]) };
        let first = u64::from_le_bytes(eight(0));
        let prefix = Self {
            header: usize::try_from(first >> 32).map_err(|_| Damaged)?,
            contents: u64::from_le_bytes(eight(8)),
            header_check: eight(16),
            contents_check: eight(24),
            mark: eight(32),
        };
        let is_whole = first.to_le_bytes()[..4] == MAGIC
            && prefix.header <= MAX_HEADER
            && check(salt, &bytes[..32]) == prefix.mark;
        is_whole.then_some(prefix).ok_or(Damaged)
    }

    /// The size of the frame in bytes.
    pub(super) fn frame_len(&self) -> u64 {
        let around = (FRAME_PREFIX + self.header + size_of::<Check>()) as u64;
        self.contents.saturating_add(around)
    }

    /// The header, if the check of these bytes is right.
    pub(super) fn header<'b>(&self, salt: &[u8], bytes: &'b [u8]) -> Result<&'b [u8], Damaged> {
        if check(salt, bytes) == self.header_check { Ok(bytes) } else { Err(Damaged) }
    }
}

/// Encodes a record as a frame.
pub(super) fn to_frame(salt: &[u8], record: &Packed<'_>) -> Vec<u8> {
    let header = &record.header;
    let around = FRAME_PREFIX + size_of::<Check>();
    let mut bytes = Vec::with_capacity(around + header.len() + record.contents.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&u32::try_from(header.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&(record.contents.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&check(salt, header));
    bytes.extend_from_slice(&check(salt, &record.contents));
    let mark = check(salt, &bytes);
    bytes.extend_from_slice(&mark);
    bytes.extend_from_slice(header);
    bytes.extend_from_slice(&record.contents);
    bytes.extend_from_slice(&mark);
    bytes
}

/// Decodes the record in a frame.
pub(super) fn from_frame<'b>(salt: &[u8], bytes: &'b [u8]) -> Result<Packed<'b>, Damaged> {
    let prefix = FramePrefix::read(salt, bytes)?;
    let rest = &bytes[FRAME_PREFIX..];
    if prefix.frame_len() != bytes.len() as u64 || !bytes.ends_with(&prefix.mark) {
        return Err(Damaged);
    }
    let (header, rest) = rest.split_at(prefix.header);
    let contents = &rest[..rest.len() - size_of::<Check>()];
    let header = prefix.header(salt, header)?;
    if check(salt, contents) != prefix.contents_check {
        return Err(Damaged);
    }
    Ok(Packed { header: Cow::Borrowed(header), contents: Cow::Borrowed(contents) })
}

pub(super) fn check(salt: &[u8], bytes: &[u8]) -> Check {
    let digest = Sha256::new().chain_update(salt).chain_update(bytes).finalize();
    std::array::from_fn(|byte| digest[byte])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Packed<'static> {
        Packed { header: Cow::Borrowed(b"{}"), contents: Cow::Borrowed(b"likes tea\n") }
    }

    #[test]
    fn a_record_is_read_from_its_frame() {
        let record = example();
        assert_eq!(from_frame(b"salt", &to_frame(b"salt", &record)).unwrap(), record);
    }

    #[test]
    fn a_frame_that_is_damaged_or_cut_is_none() {
        let frame = to_frame(b"salt", &example());
        for at in 0..frame.len() {
            let mut damaged = frame.clone();
            damaged[at] ^= 1;
            assert!(from_frame(b"salt", &damaged).is_err(), "byte {at}");
            assert!(from_frame(b"salt", &frame[..at]).is_err(), "cut at {at}");
        }
        assert!(from_frame(b"salt", &[&frame[..], b"x"].concat()).is_err());
    }

    #[test]
    fn a_frame_of_another_salt_is_none() {
        let frame = to_frame(b"salt", &example());
        assert!(FramePrefix::read(b"salt", &frame).is_ok());
        assert!(FramePrefix::read(b"pepper", &frame).is_err());
    }
}
