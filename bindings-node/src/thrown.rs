//! [`Thrown`]: an exception of a store that is written in JavaScript, on its way through the core and back.

use std::error::Error as StdError;
use std::fmt;

use napi::Error;

/// A value that a method of a store threw, of any type, and its message.
#[derive(Debug)]
pub(crate) struct Thrown {
    message: String,
    value: Error,
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Thrown {}

impl Thrown {
    pub(crate) fn new(message: String, value: Error) -> Self {
        Self { message, value }
    }

    /// The value for JavaScript, if a value that a store threw caused this error.
    pub(crate) fn beneath(error: &(dyn StdError + 'static)) -> Option<Error> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(thrown) = error.downcast_ref::<Self>() {
                return thrown.value.try_clone().ok();
            }
            next = error.source();
        }
        None
    }
}
