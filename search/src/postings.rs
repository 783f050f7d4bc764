//! The passages in which a term occurs, in few bytes.
//!
//! Passages have ascending numbers, so a list is a sequence of differences, each with the number of occurrences. Most terms of a memory
//! occur in a handful of passages; their lists need no allocation of their own.

/// The occurrences of a term in a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    /// The number of the passage.
    pub(crate) passage: u32,
    /// The occurrences in its text.
    pub(crate) times: u32,
    /// Whether the term occurs in a heading above it.
    pub(crate) in_heading: bool,
}

/// The bytes that fit in the list itself.
const INLINE: usize = 15;

#[derive(Debug, Clone)]
enum Bytes {
    Inline(u8, [u8; INLINE]),
    Heap(Vec<u8>),
}

/// A list of postings, ordered by passage.
#[derive(Debug, Clone)]
pub(crate) struct Postings {
    bytes: Bytes,
}

impl Default for Postings {
    fn default() -> Self {
        Self { bytes: Bytes::Inline(0, [0; INLINE]) }
    }
}

/// The longest posting, in bytes.
const LONGEST: usize = 10;

impl Postings {
    /// Adds a posting. `last` is the passage of the last one, or 0.
    pub(crate) fn push(&mut self, posting: Posting, last: u32) {
        let mut encoded = [0; LONGEST];
        let mut length = 0;
        let common = posting.times.min(3);
        let difference = u64::from(posting.passage.wrapping_sub(last));
        let head = difference << 3 | u64::from(common) << 1 | u64::from(posting.in_heading);
        encode(head, &mut encoded, &mut length);
        if common == 3 {
            encode(u64::from(posting.times - 3), &mut encoded, &mut length);
        }
        self.append(&encoded[..length]);
    }

    /// Adds bytes that are postings.
    pub(crate) fn append(&mut self, encoded: &[u8]) {
        match &mut self.bytes {
            Bytes::Inline(length, bytes) => {
                let used = usize::from(*length);
                if let Some(free) = bytes.get_mut(used..used + encoded.len()) {
                    free.copy_from_slice(encoded);
                    *length += u8::try_from(encoded.len()).unwrap_or(0);
                } else {
                    let mut heap = Vec::with_capacity(2 * (used + encoded.len()));
                    heap.extend_from_slice(&bytes[..used]);
                    heap.extend_from_slice(encoded);
                    self.bytes = Bytes::Heap(heap);
                }
            }
            Bytes::Heap(heap) => {
                if heap.capacity() - heap.len() < encoded.len() {
                    // Half more, because the lists are most of an index.
                    heap.reserve_exact(heap.len() / 2 + encoded.len());
                }
                heap.extend_from_slice(encoded);
            }
        }
    }

    /// Adds the postings of another list, with `before` added to the numbers of their passages.
    pub(crate) fn append_all(&mut self, other: &Self, before: u32, last: u32) {
        let mut others = other.iter();
        if let Some(first) = others.next() {
            self.push(Posting { passage: before + first.passage, ..first }, last);
        }
        // A posting has the difference from the one before, so the others are the same bytes.
        loop {
            let rest = others.rest;
            if others.next().is_none() {
                return;
            }
            self.append(&rest[..rest.len() - others.rest.len()]);
        }
    }

    /// The encoded list.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Inline(length, bytes) => &bytes[..usize::from(*length)],
            Bytes::Heap(heap) => heap,
        }
    }

    /// The memory beside the list itself, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        match &self.bytes {
            Bytes::Inline(..) => 0,
            Bytes::Heap(heap) => heap.capacity(),
        }
    }

    pub(crate) fn iter(&self) -> Decoder<'_> {
        Decoder::new(self.bytes())
    }
}

fn encode(mut number: u64, encoded: &mut [u8; LONGEST], length: &mut usize) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or(0);
        number >>= 7;
        encoded[*length] = if number == 0 { low } else { low | 0x80 };
        *length += 1;
        if number == 0 {
            return;
        }
    }
}

/// Reads a list. It ends where the bytes are not a list.
#[derive(Debug)]
pub(crate) struct Decoder<'b> {
    rest: &'b [u8],
    passage: u32,
    damaged: bool,
}

impl<'b> Decoder<'b> {
    pub(crate) fn new(encoded: &'b [u8]) -> Self {
        Self { rest: encoded, passage: 0, damaged: false }
    }

    /// Whether the bytes ended in the middle of a posting, or had a number that is too large.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged
    }

    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            if shift > 35 {
                return None;
            }
            number |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Some(number);
            }
            shift += 7;
        }
    }

    #[inline]
    fn posting(&mut self) -> Option<Posting> {
        let head = match self.rest.split_first() {
            // Most terms of a text are in the next passages, too.
            Some((first, rest)) if *first < 0x80 => {
                self.rest = rest;
                u64::from(*first)
            }
            _ => self.number()?,
        };
        let passage = self.passage.checked_add(u32::try_from(head >> 3).ok()?)?;
        let mut times = u32::try_from(head >> 1 & 3).ok()?;
        if times == 3 {
            times = times.checked_add(u32::try_from(self.number()?).ok()?)?;
        }
        self.passage = passage;
        Some(Posting { passage, times, in_heading: head & 1 != 0 })
    }
}

impl Iterator for Decoder<'_> {
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        if self.rest.is_empty() {
            return None;
        }
        let posting = self.posting();
        if posting.is_none() {
            self.damaged = true;
            self.rest = &[];
        }
        posting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let (mut list, mut last, mut expected) = (Postings::default(), 0, Vec::new());
        for (passage, times, in_heading) in [
            (0, 1, true),
            (1, 2, false),
            (17, 3, false),
            (5_000, 0, true),
            (u32::MAX, u32::MAX, true),
        ] {
            let posting = Posting { passage, times, in_heading };
            list.push(posting, last);
            expected.push(posting);
            last = passage;
            assert_eq!(list.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_short_list_needs_no_allocation() {
        let mut list = Postings::default();
        for passage in 0..15 {
            list.push(Posting { passage, times: 1, in_heading: false }, passage.saturating_sub(1));
        }
        assert_eq!(list.heap_bytes(), 0);
        list.push(Posting { passage: 15, times: 1, in_heading: false }, 14);
        assert!(list.heap_bytes() > 0);
        assert_eq!(size_of::<Postings>(), 24);
    }

    #[test]
    fn damaged_bytes_end_the_list() {
        for bytes in [&[0x80][..], &[0xff; 12], &[0x06]] {
            let mut list = Postings::default();
            list.append(bytes);
            let mut decoder = list.iter();
            assert_eq!(decoder.by_ref().count(), 0, "{bytes:?}");
            assert!(decoder.is_damaged());
        }
    }
}
