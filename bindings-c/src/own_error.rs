//! The reason why a store of the application failed: the source of the core's errors, in which
//! [`Failure`](crate::failure::Failure) finds it.

use std::fmt;

/// An error of a store of the application, with its number there.
#[derive(Debug)]
pub(crate) struct OwnError {
    pub(crate) message: String,
    pub(crate) number: Option<u64>,
}

impl fmt::Display for OwnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OwnError {}
