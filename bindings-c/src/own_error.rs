//! Why a store of the caller's own failed: beneath the errors of the core, in which [`Failure`](crate::failure::Failure) finds it.

use std::fmt;

/// An error of a store of the caller's own, which knows it by a number.
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

/// The cause of a failure: the call was cancelled, and the store had not answered.
#[derive(Debug)]
pub(crate) struct GivenUp;

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call was cancelled before the store had answered")
    }
}

impl std::error::Error for GivenUp {}
