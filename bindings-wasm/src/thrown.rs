//! [`Thrown`]: an exception of a store that is written in JavaScript, on its way through the core and back.

use std::error::Error as StdError;
use std::fmt;

/// What a method of a store threw: the number by which JavaScript keeps it until the call has ended, and its message.
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

    /// The number, if a store threw something and this error comes of it.
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
