//! [`Segment`]: one file of a log, read record by record.
//!
//! ```text
//! "MDHLOG2\n" | id (36 bytes of text) | number of earlier segments (u32) | check | their ids | check | frames
//! ```
//! The id is random. It is the salt of all checks in the file, so no data from another file and no data in a record looks like
//! a [frame](super::log_frame).
//!
//! A crash during an append leaves an incomplete frame, and other writers append after it. A reader then searches for the next frame.
//! It distinguishes an incomplete frame from damage: an incomplete frame ends earlier than its length says.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};

use memdir_store::HistoryId;

use super::log_frame::{self, Check, FRAME_PREFIX, FramePrefix, check, from_frame};
use super::packed::{self, PREFIX, Packed, Prefix};
use super::record::{Damaged, Header};
use super::record_form::RecordForm;

const MAGIC: &[u8; 8] = b"MDHLOG2\n";
const ID: usize = 36;
/// The number of bytes that identify the segment.
pub(super) const HEAD: usize = MAGIC.len() + ID + 4 + size_of::<Check>();
/// The number of bytes read at a time.
const WINDOW: usize = 256 * 1024;

/// The id of a segment.
pub(super) type SegmentId = HistoryId;

/// Encodes the first bytes of a segment.
pub(super) fn head(id: SegmentId, earlier: &[SegmentId]) -> Vec<u8> {
    let salt = id.to_string();
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(salt.as_bytes());
    bytes.extend_from_slice(&u32::try_from(earlier.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&check(salt.as_bytes(), &bytes));
    let listed: String = earlier.iter().map(ToString::to_string).collect();
    bytes.extend_from_slice(listed.as_bytes());
    bytes.extend_from_slice(&check(salt.as_bytes(), listed.as_bytes()));
    bytes
}

/// Decodes the first [`HEAD`] bytes: the id of the segment, and the number of earlier segments.
pub(super) fn read_head(bytes: &[u8]) -> Option<(SegmentId, usize)> {
    let (kept, rest) = bytes.get(..HEAD)?.split_at(HEAD - size_of::<Check>());
    let salt = kept.strip_prefix(MAGIC)?.get(..ID)?;
    if check(salt, kept) != rest {
        return None;
    }
    let count = u32::from_le_bytes(*kept.last_chunk()?);
    Some((std::str::from_utf8(salt).ok()?.parse().ok()?, usize::try_from(count).ok()?))
}

/// The form of a file.
#[derive(Debug, Clone)]
enum Form {
    /// A segment, with its salt.
    Segment(String),
    /// A log in the older form without segments: concatenated records.
    Plain,
}

/// The data at a position in a segment.
#[derive(Debug)]
pub(super) enum FrameAt {
    Record {
        header: Box<Header>,
        len: u64,
    },
    /// An incomplete frame that a crash left, up to this position.
    Part(u64),
    /// Neither a frame nor an incomplete frame, up to this position.
    Damage(u64),
    /// The end, or a frame that a writer may still be writing.
    End,
}

pub(super) struct Segment {
    file: File,
    form: Form,
    /// The earlier segments, in order.
    pub(super) earlier: Vec<SegmentId>,
    /// The position of the first frame.
    pub(super) begin: u64,
    /// The size of the file in bytes when it was opened.
    pub(super) len: u64,
    /// The position of the window in the file.
    start: u64,
    window: Vec<u8>,
}

impl Segment {
    /// Opens a segment and returns its id; `None` if the first bytes are not those of a segment.
    pub(super) fn open(file: File) -> Result<Option<(SegmentId, Self)>, Error> {
        let mut segment = Self::plain(file)?;
        let Some((id, count)) = read_head(&segment.exactly(0, HEAD)?) else { return Ok(None) };
        let Some(listed_len) = count.checked_mul(ID) else { return Ok(None) };
        let salt = id.to_string();
        let rest = segment.exactly(HEAD as u64, listed_len + size_of::<Check>())?;
        let Some((listed, checked)) = rest.split_at_checked(listed_len) else { return Ok(None) };
        if checked != check(salt.as_bytes(), listed) {
            return Ok(None);
        }
        let ids = listed.chunks(ID).map(|id| std::str::from_utf8(id).ok()?.parse().ok());
        let Some(earlier) = ids.collect::<Option<Vec<SegmentId>>>() else { return Ok(None) };
        segment.begin = (HEAD + listed_len + size_of::<Check>()) as u64;
        (segment.earlier, segment.form) = (earlier, Form::Segment(salt));
        Ok(Some((id, segment)))
    }

    /// Opens a log in the older form without segments.
    pub(super) fn plain(file: File) -> Result<Self, Error> {
        let len = file.metadata()?.len();
        let (earlier, window) = (Vec::new(), Vec::new());
        Ok(Self { file, form: Form::Plain, earlier, begin: 0, len, start: 0, window })
    }

    /// Reads `count` bytes at a position, or fewer if the file ends there.
    fn exactly(&mut self, at: u64, count: usize) -> Result<Vec<u8>, Error> {
        let available = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; count.min(available)];
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The same, through a window that is read at once, for a caller that reads on from there.
    fn bytes(&mut self, at: u64, count: usize) -> Result<&[u8], Error> {
        let available = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let count = count.min(available);
        let from = at.checked_sub(self.start).and_then(|from| usize::try_from(from).ok());
        let held =
            from.filter(|from| from.checked_add(count).is_some_and(|end| end <= self.window.len()));
        let from = match held {
            Some(from) => from,
            None => {
                self.window.resize(count.max(WINDOW.min(available)), 0);
                self.file.seek(SeekFrom::Start(at))?;
                self.file.read_exact(&mut self.window)?;
                self.start = at;
                0
            }
        };
        Ok(&self.window[from..from + count])
    }

    /// The bytes before a position, which are the mark of the frame that ends there; `None` beyond the end of the file.
    pub(super) fn mark_before(&mut self, end: u64) -> Result<Option<Check>, Error> {
        const LEN: usize = size_of::<Check>();
        let Some(at) = end.checked_sub(LEN as u64) else { return Ok(Some(Check::default())) };
        Ok(self.bytes(at, LEN)?.first_chunk().copied())
    }

    /// Decodes the data at a position.
    pub(super) fn frame_at(&mut self, at: u64, form: &RecordForm) -> Result<FrameAt, Error> {
        let available = self.len.saturating_sub(at);
        if available == 0 {
            return Ok(FrameAt::End);
        }
        let Some((header, len, mark)) = self.beginning(at)? else {
            // The older form does not distinguish an incomplete header from damage.
            let is_plain = matches!(self.form, Form::Plain);
            return Ok(match self.next_frame(at)? {
                Some(next) if is_plain || next - at < FRAME_PREFIX as u64 => FrameAt::Part(next),
                Some(next) => FrameAt::Damage(next),
                None if is_plain || available < FRAME_PREFIX as u64 => FrameAt::End,
                // Zeros that a loss of power leaves.
                None if self.is_blank(at)? => FrameAt::Part(self.len),
                None => FrameAt::Damage(self.len),
            });
        };
        if len <= available
            && let Some(header) = header
            && self.is_whole(at, len, mark)?
            && let Some(header) = form.header(&header).map_err(Error::other)?
        {
            return Ok(FrameAt::Record { header: Box::new(header), len });
        }
        match self.next_frame(at)? {
            Some(next) if next - at < len => Ok(FrameAt::Part(next)),
            _ if len > available => Ok(FrameAt::End),
            _ => Ok(FrameAt::Damage(at + len)),
        }
    }

    /// The header of the frame at a position and the size of the frame; `None` if no frame starts there. The header is `None`
    /// if it is incomplete.
    #[allow(clippy::type_complexity, reason = "used here alone")]
    fn beginning(&mut self, at: u64) -> Result<Option<(Option<Vec<u8>>, u64, Check)>, Error> {
        match self.form.clone() {
            Form::Segment(salt) => {
                let salt = salt.as_bytes();
                let Ok(prefix) = FramePrefix::read(salt, self.bytes(at, FRAME_PREFIX)?) else {
                    return Ok(None);
                };
                let header = self.bytes(at + FRAME_PREFIX as u64, prefix.header)?;
                let header = prefix.header(salt, header).ok().map(<[u8]>::to_vec);
                Ok(Some((header, prefix.frame_len(), prefix.mark)))
            }
            Form::Plain => {
                let Ok(prefix) = Prefix::read(self.bytes(at, PREFIX)?) else { return Ok(None) };
                let header = self.bytes(at + PREFIX as u64, prefix.header)?;
                let header = prefix.header(header).ok().map(<[u8]>::to_vec);
                Ok(header.map(|header| (Some(header), prefix.record_len(), Check::default())))
            }
        }
    }

    fn is_whole(&mut self, at: u64, len: u64, mark: Check) -> Result<bool, Error> {
        match self.form {
            Form::Segment(_) => {
                Ok(self.mark_before(at + len)? == Some(mark)
                    && !self.has_frame_in_mark(at + len)?)
            }
            Form::Plain => Ok(self.read(at, len)?.is_ok()),
        }
    }

    /// Whether another frame starts within the mark that ends at a position. A crash may cut a frame in its mark, and the
    /// next frame may happen to start with the missing bytes.
    fn has_frame_in_mark(&mut self, end: u64) -> Result<bool, Error> {
        for at in end - size_of::<Check>() as u64 + 1..end {
            let is_first = self.bytes(at, 1)?.first() == log_frame::MAGIC.first();
            if is_first && self.beginning(at)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The position of the next frame after a position.
    fn next_frame(&mut self, mut at: u64) -> Result<Option<u64>, Error> {
        let magic = match self.form {
            Form::Segment(_) => log_frame::MAGIC,
            Form::Plain => packed::MAGIC,
        };
        while at < self.len {
            let bytes = self.bytes(at, WINDOW)?;
            let count = bytes.len() as u64;
            let found = bytes.get(1..).and_then(|rest| memchr::memmem::find(rest, &magic));
            match found {
                Some(found) => {
                    at += found as u64 + 1;
                    if self.beginning(at)?.is_some() {
                        return Ok(Some(at));
                    }
                }
                // The four bytes may be split by the end of the window.
                None if count > 4 && at + count < self.len => at += count - 4,
                None => break,
            }
        }
        Ok(None)
    }

    fn is_blank(&mut self, mut at: u64) -> Result<bool, Error> {
        while at < self.len {
            let bytes = self.bytes(at, WINDOW)?;
            if bytes.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            at += bytes.len() as u64;
        }
        Ok(true)
    }

    /// Reads the whole record at a position.
    pub(super) fn read(
        &mut self,
        at: u64,
        len: u64,
    ) -> Result<Result<Packed<'static>, Damaged>, Error> {
        let count = usize::try_from(len).map_err(|_| Error::from(ErrorKind::FileTooLarge))?;
        let bytes = self.exactly(at, count)?;
        let packed = match &self.form {
            Form::Segment(salt) => from_frame(salt.as_bytes(), &bytes),
            Form::Plain => Packed::from_bytes(&bytes),
        };
        Ok(packed.map(Packed::into_owned))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::log_frame::to_frame;
    use crate::record::{ContentId, Record};

    fn record(content: &[u8]) -> Record {
        let id = HistoryId::new().unwrap();
        let mut record = Record::new(id, id, None);
        record.keep(ContentId::of(content), content);
        record
    }

    fn to_plain_frame(salt: &[u8], record: &Record) -> Vec<u8> {
        to_frame(salt, &RecordForm::Plain.pack(record).unwrap())
    }

    /// The frames that a reader finds in a segment with these bytes: records as their contents, incomplete frames and damage
    /// as their lengths.
    fn found(id: SegmentId, frames: &[u8]) -> Vec<String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[&head(id, &[])[..], frames].concat()).unwrap();
        let (_, mut segment) = Segment::open(file).unwrap().unwrap();
        let (mut at, mut found) = (segment.begin, Vec::new());
        loop {
            match segment.frame_at(at, &RecordForm::Plain).unwrap() {
                FrameAt::Record { len, .. } => {
                    let record = segment.read(at, len).unwrap().unwrap();
                    found.push(String::from_utf8(record.contents.into_owned()).unwrap());
                    at += len;
                }
                FrameAt::Part(next) => {
                    found.push(format!("part {}", next - at));
                    at = next;
                }
                FrameAt::Damage(next) => {
                    found.push("damage".to_owned());
                    at = next;
                }
                FrameAt::End => return found,
            }
        }
    }

    #[test]
    fn a_segment_says_which_it_is_and_which_are_earlier() {
        let ids: Vec<SegmentId> = (0..4).map(|_| HistoryId::new().unwrap()).collect();
        let bytes = head(ids[3], &ids[..3]);
        for at in 0..=bytes.len() {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes[..at]).unwrap();
            let opened = Segment::open(file).unwrap();
            assert_eq!(opened.is_some(), at == bytes.len(), "cut at {at}");
            if let Some((id, segment)) = opened {
                assert_eq!(
                    (id, &segment.earlier[..], segment.begin),
                    (ids[3], &ids[..3], at as u64)
                );
            }
        }
    }

    #[test]
    fn records_are_found_after_one_that_was_cut_anywhere() {
        let id = HistoryId::new().unwrap();
        let salt = id.to_string();
        let frame = |content: &[u8]| to_plain_frame(salt.as_bytes(), &record(content));
        let (one, two) = (frame(b"one"), frame(b"two"));
        // Its length exceeds the frames that follow it, and it contains bytes that look like records.
        let decoys =
            [&to_plain_frame(b"another", &record(b"decoy"))[..], &record(b"decoy").to_bytes()];
        let large = frame(&[&decoys.concat()[..], &[b'x'; 2000]].concat());
        for at in 1..large.len() {
            let log = [&one[..], &large[..at], &two, &one].concat();
            assert_eq!(
                found(id, &log),
                ["one", &format!("part {at}"), "two", "one"],
                "cut at {at}"
            );
            // At the end it may be a frame that is being written.
            assert_eq!(found(id, &[&two[..], &large[..at]].concat()), ["two"], "cut at {at}");
        }
    }

    #[test]
    fn a_record_is_found_that_begins_with_what_is_missing_of_the_mark_before() {
        // One frame in 256 has a mark whose last byte is the first byte of a frame.
        let (id, cut) = std::iter::repeat_with(|| HistoryId::new().unwrap())
            .map(|id| (id, to_plain_frame(id.to_string().as_bytes(), &record(b"cut"))))
            .find(|(_, frame)| frame.last() == log_frame::MAGIC.first())
            .unwrap();
        let next = to_plain_frame(id.to_string().as_bytes(), &record(b"next"));
        let part = &cut[..cut.len() - 1];
        let part_found = format!("part {}", part.len());
        assert_eq!(found(id, &[part, &next, &cut].concat()), [&part_found, "next", "cut"]);
    }

    #[test]
    fn damage_is_told_from_a_part() {
        let id = HistoryId::new().unwrap();
        let salt = id.to_string();
        let frame = |content: &[u8]| to_plain_frame(salt.as_bytes(), &record(content));
        let (one, two) = (frame(b"one"), frame(b"two"));
        for at in 0..one.len() {
            let mut damaged = one.clone();
            damaged[at] ^= 1;
            // The contents are checked when they are read.
            let contents = one.len() - 8 - 3..one.len() - 8;
            if !contents.contains(&at) {
                assert_eq!(found(id, &[&damaged[..], &two].concat()), ["damage", "two"], "{at}");
                assert_eq!(found(id, &[&two[..], &damaged].concat()), ["two", "damage"], "{at}");
            }
        }
        assert_eq!(found(id, &[&one[..], &[0; 5000]].concat()), ["one", "part 5000"]);
    }
}
