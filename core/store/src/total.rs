//! [`TotalLimits`]: limits of a whole store that the store checks itself.
//!
//! A memory checks its limits without knowing what other processes write meanwhile. A store that can compute
//! its total within the transaction of a change checks the limits for all writers.

use super::StoreError;

/// How much all files of a store may hold together; `None` sets no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TotalLimits {
    /// The most bytes.
    pub bytes: Option<u64>,
    /// The most files.
    pub files: Option<u64>,
}

/// How much a store holds.
#[derive(Debug, Clone, Copy)]
pub struct Total {
    /// The bytes of all files together.
    pub bytes: u64,
    /// How many files there are.
    pub files: u64,
}

impl TotalLimits {
    /// Whether there is a limit.
    #[must_use]
    pub fn are_set(self) -> bool {
        self.bytes.is_some() || self.files.is_some()
    }

    /// Checks that a file may change its size from `before` bytes (`None` if it is new) to `after`. A change
    /// that does not make the store grow is always allowed.
    ///
    /// # Errors
    /// [`StoreError::OverLimit`].
    pub fn check(self, held: Total, before: Option<u64>, after: u64) -> Result<(), StoreError> {
        let would_be = held.bytes.saturating_sub(before.unwrap_or(0)).saturating_add(after);
        let bytes = Some(would_be).filter(|_| after > before.unwrap_or(0));
        let files = Some(held.files.saturating_add(1)).filter(|_| before.is_none());
        let over = |would_be: Option<u64>, limit: Option<u64>| {
            would_be.filter(|would_be| limit.is_some_and(|limit| *would_be > limit))
        };
        match (over(bytes, self.bytes), over(files, self.files)) {
            (None, None) => Ok(()),
            (bytes, files) => Err(StoreError::OverLimit { bytes, files }),
        }
    }
}
