//! The reason why a store of the application failed: the source of the core's errors, in which
//! [`Failure`](crate::failure::Failure) finds it.

use std::error::Error;
use std::fmt;

use memdir::StoreError;
use serde_json::Value;

/// An error of a store of the application, with its number there.
#[derive(Debug)]
pub(crate) struct OwnError {
    pub(crate) message: String,
    pub(crate) number: Option<u64>,
}

impl OwnError {
    /// The error in the answer of a function of the application: its own, a cancellation, or `otherwise`.
    pub(crate) fn of_answer(answer: &Value, otherwise: &str) -> Box<dyn Error + Send + Sync> {
        if answer["errno"] == "ECANCELED" {
            return StoreError::Cancelled.into();
        }
        let failed = ["failed", "errno"].into_iter().find_map(|name| answer[name].as_str());
        let message = failed.unwrap_or(otherwise).to_owned();
        Self { message, number: answer["number"].as_u64() }.into()
    }
}

impl fmt::Display for OwnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for OwnError {}
