//! What a tool call is answered with.

use memdir::NameCase;

/// The answer to one tool call.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What the model is shown.
    pub content: String,
    /// Whether the command failed: goes into the `is_error` of the `tool_result`.
    pub is_error: bool,
    /// What broke, if the store itself or a hook did: for the developer's log and never for the model.
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

/// An error in words, which have the names of Kotlin and Swift.
pub(crate) fn sentence(error: &memdir::Error) -> String {
    match error {
        memdir::Error::Config(error) => error.in_case(NameCase::Camel),
        other => other.to_string(),
    }
}
