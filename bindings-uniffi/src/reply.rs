//! [`Reply`]: the answer to a tool call.

use memdir::NameCase;

/// The answer to one tool call.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The text for the model.
    pub content: String,
    /// Whether the command failed: the `is_error` of the `tool_result`.
    pub is_error: bool,
    /// The error, if the store itself or a hook failed. For your log and never for the model.
    pub cause: Option<String>,
}

impl From<memdir::Reply> for Reply {
    fn from(reply: memdir::Reply) -> Self {
        Self {
            content: reply.content.into_text(),
            is_error: reply.is_error,
            cause: reply.cause.map(|cause| match cause {
                memdir::Error::Store(cause) => cause.to_string(),
                other => sentence(&other),
            }),
        }
    }
}

/// An error as a sentence, with the names of options as Kotlin and Swift write them.
pub(crate) fn sentence(error: &memdir::Error) -> String {
    match error {
        memdir::Error::Config(error) => error.in_case(NameCase::Camel),
        other => other.to_string(),
    }
}
