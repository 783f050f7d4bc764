//! [`Segment`]: one file of a log, read record by record.
//!
//! ```text
//! "MDHLOG2\n" | id (36 bytes of text) | number of earlier segments (u32) | check | their ids | check | frames
//! ```
//! The id is random. It is the salt of all checks in the file, so nothing that was written into another file, or is kept
//! in a record, looks like a [frame](super::log_frame).
//!
//! A kill in the middle of an append leaves a part of a frame, and others append after it. A reader finds the next frame
//! after it. It tells such a part from damage: the part ends before the frame would.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};

use memdir_store::HistoryId;

use super::log_frame::{self, Check, FRAME_PREFIX, FramePrefix, check, from_frame};
use super::packed::{self, PREFIX, Packed, Prefix};
use super::record::{Damaged, Header};
use super::record_form::RecordForm;

const MAGIC: &[u8; 8] = b"MDHLOG2\n";
const ID: usize = 36;
/// How many bytes say which segment it is.
pub(super) const HEAD: usize = MAGIC.len() + ID + 4 + size_of::<Check>();
/// How much is read at a time.
const WINDOW: usize = 256 * 1024;

/// The id of a segment.
pub(super) type SegmentId = HistoryId;

/// The bytes that a segment begins with.
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

/// What the first [`HEAD`] bytes say: which segment it is, and how many are earlier.
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
    /// That of a segment, with its salt.
    Segment(String),
    /// That of a log before there were segments: records one after the other.
    Plain,
}

/// What is at a place in a segment.
#[derive(Debug)]
pub(super) enum FrameAt {
    Record {
        header: Box<Header>,
        len: u64,
    },
    /// A part of a frame, which a kill left, up to this place.
    Part(u64),
    /// What is no frame, and not a part of one either.
    Damage(u64),
    /// The end, or a frame that a writer may still be writing.
    End,
}

pub(super) struct Segment {
    file: File,
    form: Form,
    /// The segments before it, in their order.
    pub(super) earlier: Vec<SegmentId>,
    /// Where its frames begin.
    pub(super) begin: u64,
    /// How many bytes the file had when reading began.
    pub(super) len: u64,
    /// Where in the file the window begins.
    start: u64,
    window: Vec<u8>,
}

impl Segment {
    /// A segment and its id; `None` if its first bytes are not those of one.
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

    /// A log from before there were segments.
    pub(super) fn plain(file: File) -> Result<Self, Error> {
        let len = file.metadata()?.len();
        let (earlier, window) = (Vec::new(), Vec::new());
        Ok(Self { file, form: Form::Plain, earlier, begin: 0, len, start: 0, window })
    }

    /// The bytes at a place and no others, at most as many as the file has.
    fn exactly(&mut self, at: u64, count: usize) -> Result<Vec<u8>, Error> {
        let available = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; count.min(available)];
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The same, from a window that is read at once, for a reader who goes on behind it.
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

    /// The bytes before a place, which are the mark of the frame that ends there; `None` beyond the end.
    pub(super) fn mark_before(&mut self, end: u64) -> Result<Option<Check>, Error> {
        const LEN: usize = size_of::<Check>();
        let Some(at) = end.checked_sub(LEN as u64) else { return Ok(Some(Check::default())) };
        Ok(self.bytes(at, LEN)?.first_chunk().copied())
    }

    /// What is at a place.
    pub(super) fn frame_at(&mut self, at: u64, form: &RecordForm) -> Result<FrameAt, Error> {
        let available = self.len.saturating_sub(at);
        if available == 0 {
            return Ok(FrameAt::End);
        }
        let Some((header, len, mark)) = self.beginning(at)? else {
            // The older form does not tell a part of a header from damage.
            let is_plain = matches!(self.form, Form::Plain);
            return Ok(match self.next_frame(at)? {
                Some(next) if is_plain || next - at < FRAME_PREFIX as u64 => FrameAt::Part(next),
                Some(next) => FrameAt::Damage(next),
                None if is_plain || available < FRAME_PREFIX as u64 => FrameAt::End,
                // What a loss of power leaves.
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

    /// The header of the frame at a place and how long the frame is; `None` if no frame begins there. The header is `None`
    /// if it is not whole.
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

    /// Whether another frame begins within the mark that ends at a place. A kill may cut a frame in its mark, and what
    /// was appended after it may begin with the very bytes that are missing.
    fn has_frame_in_mark(&mut self, end: u64) -> Result<bool, Error> {
        for at in end - size_of::<Check>() as u64 + 1..end {
            let is_first = self.bytes(at, 1)?.first() == log_frame::MAGIC.first();
            if is_first && self.beginning(at)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where the next frame begins after a place.
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
                // The four bytes may stand on both sides of the window's end.
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

    /// The whole record at a place.
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

    /// What a reader finds in a segment of these bytes: records by their contents, parts and damage by their lengths.
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
        // Longer than what follows, so it swallows that if its length is believed; and it holds what looks like records.
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
            // At the end it may be one that is being written.
            assert_eq!(found(id, &[&two[..], &large[..at]].concat()), ["two"], "cut at {at}");
        }
    }

    #[test]
    fn a_record_is_found_that_begins_with_what_is_missing_of_the_mark_before() {
        // The last byte of a mark is the first of a frame once in 256 times.
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
