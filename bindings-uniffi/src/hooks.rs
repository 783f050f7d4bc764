//! The interface of hooks for Kotlin and Swift.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::sync::Arc;

use memdir::command::ViewRange;
use memdir::{HookError as CoreHookError, MemoryHooks as CoreHooks};
use uniffi::UnexpectedUniFFICallbackError;

use crate::cancel::Cancellation;
use crate::error::MemdirError;
use crate::results::Event;

/// Your own code before and after each command of a memory.
///
/// A hook runs on the thread of its command, and several threads may call it concurrently. Commands that a hook issues on
/// that thread, on the same memory, run without hooks.
#[uniffi::export(rust, foreign)]
pub trait MemoryHooks: Send + Sync {
    /// Called with each command before the store is touched. The command's paths are valid and canonical, and its text is
    /// as it will be stored. `call` has the actor, and the diff of the command. Not called for input that is not a command,
    /// whose path is refused, or that a policy forbids because of its paths alone.
    ///
    /// If it throws, it has failed: the command is not executed, and the model reads only that it could not be checked. By
    /// default it allows every command.
    fn before(&self, command: Command, call: Arc<HookCall>) -> Result<HookDecision, HookError>;

    /// Called after each call, when its reply is ready. Also called for input that is not a command. An error that it
    /// throws is logged and has no other effect, because the command is already executed. By default it does nothing.
    fn after(&self, event: Event) -> Result<(), HookError>;
}

/// A call, as the hook `before` gets it: the actor, the session, the id of the tool use, and the diff.
#[derive(uniffi::Object, Debug)]
pub struct HookCall(memdir::HookCall<'static>);

#[uniffi::export]
impl HookCall {
    /// The actor: that of `acting_as`, or the option `actor`; null if there is no actor.
    #[must_use]
    pub fn actor(&self) -> Option<String> {
        self.0.actor().map(str::to_owned)
    }

    /// The id of the session. Each memory has its own, and so has each result of `acting_as`.
    #[must_use]
    pub fn session(&self) -> String {
        self.0.session().to_owned()
    }

    /// The `id` of the `tool_use` block; null if the input was not a whole block.
    #[must_use]
    pub fn tool_use_id(&self) -> Option<String> {
        self.0.tool_use_id().map(str::to_owned)
    }

    /// The command's change as a unified diff of the texts as they would be stored: see "The diff" in the
    /// documentation of policies. Empty for a view. It reads the file or lists the directory, and does not count as a use
    /// of the file.
    ///
    /// An approval is valid only for this diff: if the file has changed by the time the command is executed, nothing is
    /// written, and the model reads that it has to view the file again.
    ///
    /// Throws `Refused` if the command would be refused: let `before` throw it, and the model reads the same refusal.
    /// Throws `Store` if the store is broken, `Hook` if `before` has already returned.
    pub fn diff(&self) -> Result<String, MemdirError> {
        Ok(self.0.diff()?)
    }

    /// As `diff`, until `cancellation` cancels it.
    pub fn diff_unless(&self, cancellation: Arc<Cancellation>) -> Result<String, MemdirError> {
        Ok(self.0.cancelled_by(cancellation.core()).diff()?)
    }
}

impl HookCall {
    pub(crate) fn of(call: memdir::HookCall<'_>) -> Arc<Self> {
        Arc::new(Self(call.into_owned()))
    }
}

/// The decision of `before` about a command.
#[derive(uniffi::Enum, Debug, Clone, PartialEq, Eq)]
pub enum HookDecision {
    /// The command is executed.
    Allow,
    /// The command is executed with `text` instead of its file text, new string or inserted text. All other policies check
    /// this text. If the command writes no text, the hook counts as failed.
    Replace {
        /// The new text.
        text: String,
    },
    /// The command is not executed.
    Deny {
        /// The message for the model: what is forbidden, and what to do instead.
        reason: String,
    },
}

/// One command of the tool, decoded.
#[derive(uniffi::Enum, Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Show a directory, or a file or some lines of it.
    View {
        /// The path to show.
        path: String,
        /// First and last line; null for all lines, and for an invalid range.
        view_range: Option<Vec<i64>>,
    },
    /// Create a new file.
    Create {
        /// The path of the file.
        path: String,
        /// Its content.
        file_text: String,
    },
    /// Replace the only occurrence of a text.
    StrReplace {
        /// The path of the file.
        path: String,
        /// The text to replace.
        old_str: String,
        /// The new text.
        new_str: String,
    },
    /// Insert whole lines.
    Insert {
        /// The path of the file.
        path: String,
        /// The line after which the text goes; 0 is the start of the file.
        insert_line: i64,
        /// The lines.
        insert_text: String,
    },
    /// Delete a file, or a directory with everything in it.
    Delete {
        /// The path to delete.
        path: String,
    },
    /// Rename or move a file or directory.
    Rename {
        /// The path to move.
        old_path: String,
        /// The new path.
        new_path: String,
    },
}

/// The reason why a hook failed.
#[derive(uniffi::Error, thiserror::Error, Debug, Clone, PartialEq, Eq)]
#[uniffi::export(Display)]
pub enum HookError {
    /// The hook threw an error.
    #[error("{reason}")]
    Failed {
        /// The details, for you and never for the model.
        reason: String,
    },
}

/// Any other error of a foreign hook. Without this conversion UniFFI would panic.
impl From<UnexpectedUniFFICallbackError> for HookError {
    fn from(error: UnexpectedUniFFICallbackError) -> Self {
        Self::Failed { reason: error.reason }
    }
}

/// The memory with the hooks, if there are any.
pub(crate) fn with_hooks(
    memory: memdir::Memory,
    hooks: Option<Arc<dyn MemoryHooks>>,
) -> memdir::Memory {
    match hooks {
        Some(hooks) => memory.with_hooks(Arc::new(ForeignHooks(hooks))),
        None => memory,
    }
}

/// The host's hooks, for the core.
struct ForeignHooks(Arc<dyn MemoryHooks>);

impl CoreHooks for ForeignHooks {
    fn before(
        &self,
        command: &memdir::Command<'_>,
        call: &memdir::HookCall<'_>,
    ) -> Result<memdir::HookDecision, CoreHookError> {
        let Some(command) = handed_over(command) else { return Ok(memdir::HookDecision::Allow) };
        Ok(self.0.before(command, HookCall::of(call.clone()))?.into())
    }

    fn after(&self, event: &memdir::Event) {
        // The host's side has already logged the error.
        let _ = self.0.after(Event::from(event.clone()));
    }
}

impl From<HookDecision> for memdir::HookDecision {
    fn from(decision: HookDecision) -> Self {
        match decision {
            HookDecision::Allow => Self::Allow,
            HookDecision::Replace { text } => Self::Replace(text),
            HookDecision::Deny { reason } => Self::Deny(reason),
        }
    }
}

pub(crate) fn handed_over(command: &memdir::Command<'_>) -> Option<Command> {
    Some(match command {
        memdir::Command::View { path, view_range } => Command::View {
            path: path.to_string(),
            view_range: match view_range {
                Some(ViewRange::Lines(first, last)) => Some(vec![*first, *last]),
                _ => None,
            },
        },
        memdir::Command::Create { path, file_text } => {
            Command::Create { path: path.to_string(), file_text: file_text.to_string() }
        }
        memdir::Command::StrReplace { path, old_str, new_str } => Command::StrReplace {
            path: path.to_string(),
            old_str: old_str.to_string(),
            new_str: new_str.to_string(),
        },
        memdir::Command::Insert { path, insert_line, insert_text } => Command::Insert {
            path: path.to_string(),
            insert_line: *insert_line,
            insert_text: insert_text.to_string(),
        },
        memdir::Command::Delete { path } => Command::Delete { path: path.to_string() },
        memdir::Command::Rename { old_path, new_path } => {
            Command::Rename { old_path: old_path.to_string(), new_path: new_path.to_string() }
        }
        // There are only six commands.
        _ => return None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use memdir::command::{COMMANDS, Decoded};

    use super::*;

    #[test]
    fn hooks_get_every_command() {
        let path = "/memories/a.md";
        for name in COMMANDS {
            let input = format!(
                r#"{{"command": "{name}", "path": "{path}", "old_path": "{path}", "new_path": "/memories/b.md",
                    "file_text": "", "old_str": "a", "insert_line": 0, "insert_text": ""}}"#
            );
            let command = Decoded::parse(input).command.unwrap();
            assert!(handed_over(&command).is_some(), "{name}");
        }
    }
}
