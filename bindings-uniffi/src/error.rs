//! What a call throws.

use memdir::StoreError;

use crate::reply::Reply;

/// Why a call did not do what it was asked to do.
#[derive(uniffi::Error, thiserror::Error, Debug)]
#[uniffi::export(Display)]
pub enum MemdirError {
    /// The command was wrong, and nothing was changed.
    #[error("{reason}")]
    Tool {
        /// The exact answer for the model, to be sent back with `is_error: true`.
        reason: String,
    },
    /// The store is broken or out of reach.
    #[error("{reason}")]
    Store {
        /// The details, for the developer and never for the model.
        reason: String,
    },
    /// The hook `before` failed, and nothing was changed.
    #[error("{reason}")]
    Hook {
        /// The details, for the developer and never for the model.
        reason: String,
    },
    /// The store's address or an option is wrong.
    #[error("{reason}")]
    Config {
        /// What is wrong with it.
        reason: String,
    },
}

impl From<memdir::Error> for MemdirError {
    fn from(error: memdir::Error) -> Self {
        let reason = error.to_string();
        match error {
            memdir::Error::Refused(_) => Self::Tool { reason },
            memdir::Error::Store(_) => Self::Store { reason },
            memdir::Error::Hook(_) => Self::Hook { reason },
            _ => Self::Config { reason },
        }
    }
}

#[uniffi::export]
impl MemdirError {
    /// What goes back to the model: the exact answer, or, where the store or a hook is broken, a
    /// sentence that says no more than that.
    #[must_use]
    pub fn reply(&self) -> Reply {
        let (error, cause) = match self {
            Self::Tool { reason } => (memdir::Error::Refused(reason.clone()), None),
            Self::Store { reason } => {
                let error = StoreError::failed("a call", reason.clone());
                (memdir::Error::Store(error), Some(reason.clone()))
            }
            Self::Hook { reason } => {
                (memdir::Error::Hook(reason.as_str().into()), Some(reason.clone()))
            }
            Self::Config { reason } => (memdir::Error::Config(reason.clone()), None),
        };
        Reply { cause, ..memdir::Reply::from(Err(error)).into() }
    }
}
