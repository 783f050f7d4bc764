//! [`Reader`]: reads bytes that were kept: an index, vectors, or the baseline of a sync.

/// Reads bytes; every method returns `None` at their end.
pub(crate) struct Reader<'b> {
    pub(crate) rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn slice(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }
}
