//! [`Reader`]: reads the bytes of an index or of vectors that were kept.

/// Reads bytes; every method returns `None` at their end.
pub(super) struct Reader<'b> {
    pub(super) rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(super) fn slice(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }
}
