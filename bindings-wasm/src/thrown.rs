//! [`Thrown`]: an exception of a store written in JavaScript, on its way through the core and back.

use std::error::Error as StdError;
use std::fmt;

/// The exception that a store's method threw: the number under which JavaScript keeps it until the call has ended, and
/// its message.
#[derive(Debug)]
pub(crate) struct Thrown {
    message: String,
    number: u64,
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Thrown {}

impl Thrown {
    pub(crate) fn new(message: String, number: u64) -> Self {
        Self { message, number }
    }

    /// The number of the exception, if a store's exception caused this error.
    pub(crate) fn beneath(error: &(dyn StdError + 'static)) -> Option<u64> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(thrown) = error.downcast_ref::<Self>() {
                return Some(thrown.number);
            }
            next = error.source();
        }
        None
    }
}
