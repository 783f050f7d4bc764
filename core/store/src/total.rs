//! [`TotalLimits`]: limits of a whole store that the store enforces itself.
//!
//! A memory checks its limits without knowing the concurrent writes of other processes. A store that can
//! compute its total within the transaction of a change enforces the limits for all writers.

use super::StoreError;

/// The limits for all files of a store together; `None` sets no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TotalLimits {
    /// The limit of the total size, in bytes.
    pub bytes: Option<u64>,
    /// The limit of the number of files.
    pub files: Option<u64>,
}

/// The current totals of a store.
#[derive(Debug, Clone, Copy)]
pub struct Total {
    /// The total size of all files, in bytes.
    pub bytes: u64,
    /// The number of files.
    pub files: u64,
}

impl TotalLimits {
    /// Whether any limit is set.
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
