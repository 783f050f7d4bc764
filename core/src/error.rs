//! What a host program can run into. A model's mistake is data and not one of these for
//! [`Memory::execute`](crate::Memory::execute); the typed methods hand it over as
//! [`Error::Refused`].

use std::error::Error as StdError;

use crate::store::{Effect, StoreError};

/// What a hook failed of; for the developer, never for the model.
pub type HookError = Box<dyn StdError + Send + Sync>;

/// Why a call of a typed method did not do what it was asked to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command was wrong, and nothing was changed. The text is the exact answer for the
    /// model, to be sent back with `is_error: true`.
    #[error("{0}")]
    Refused(String),
    /// The store itself failed: a disk error, a server that is gone. The details are for the
    /// developer and not for the model.
    #[error("the memory store failed: {0}")]
    Store(#[source] StoreError),
    /// The hook [`before`](crate::Hooks::before) failed, and the command was not carried out. The
    /// details are for the developer and not for the model.
    #[error("the hook `before` failed: {0}")]
    Hook(#[source] HookError),
    /// The store's address or an option is wrong.
    #[error("{0}")]
    Config(String),
}

impl Error {
    /// The same error; a failure of the store is of that effect.
    pub(crate) fn with_effect(self, effect: Effect) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.with_effect(effect)),
            other => other,
        }
    }
}
