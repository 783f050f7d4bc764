//! Hooks as Kotlin and Swift write them.

use std::sync::Arc;
use std::time::Duration;

use memdir::command::ViewRange;
use memdir::{HookError as CoreHookError, MemoryHooks as CoreHooks, MemoryPath};
use uniffi::UnexpectedUniFFICallbackError;

/// Your own code before and after each command of a memory.
///
/// It runs on the thread that the command runs on, and may be called from many threads at once. The
/// commands that it issues itself on that thread, on the same memory, run without hooks.
#[uniffi::export(foreign)]
pub trait MemoryHooks: Send + Sync {
    /// Called with each command before the store is touched; its paths are valid and canonical. Not
    /// called for input that is no command, or whose path is refused.
    ///
    /// Whatever it throws means that it failed: the command is not carried out, and the model reads
    /// only that it could not be checked. By default every command passes.
    fn before(&self, command: Command) -> Result<HookDecision, HookError>;

    /// Called after each call, when the command is done; also for input that is no command. What it
    /// throws is dropped, as the command is done: catch it, and report it in your own way. By default
    /// it does nothing.
    fn after(&self, event: Event) -> Result<(), HookError>;
}

/// What becomes of a command.
#[derive(uniffi::Enum, Debug, Clone, PartialEq, Eq)]
pub enum HookDecision {
    /// It is carried out.
    Allow,
    /// It is carried out with `text` in the place of its file text, new string or inserted text; what
    /// other policies say about texts, they say about this one. For a command that writes no text it is
    /// a failure of the hook.
    Replace {
        /// What to write instead.
        text: String,
    },
    /// It is not carried out.
    Deny {
        /// What the model reads: what is forbidden, and what to do instead.
        reason: String,
    },
}

/// One command of the tool, decoded.
#[derive(uniffi::Enum, Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Show a directory, or a file or some lines of it.
    View {
        /// What to show.
        path: String,
        /// First and last line; null for all, and for a range that is none.
        view_range: Option<Vec<i64>>,
    },
    /// Make a new file.
    Create {
        /// Where.
        path: String,
        /// Its content.
        file_text: String,
    },
    /// Replace the only occurrence of a text.
    StrReplace {
        /// In which file.
        path: String,
        /// The text to replace.
        old_str: String,
        /// What to put there.
        new_str: String,
    },
    /// Insert whole lines.
    Insert {
        /// Into which file.
        path: String,
        /// After which line; 0 is the start of the file.
        insert_line: i64,
        /// The lines.
        insert_text: String,
    },
    /// Delete a file, or a directory and all that it holds.
    Delete {
        /// Which.
        path: String,
    },
    /// Rename or move a file or directory.
    Rename {
        /// What.
        old_path: String,
        /// Where to.
        new_path: String,
    },
}

/// What one call came to.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Which of the six commands it was, such as `str_replace`; null if the input named none of them.
    pub command: Option<String>,
    /// The canonical path, of a rename that of what was moved; null if it was refused before the paths
    /// were validated.
    pub path: Option<String>,
    /// Of a rename: where to.
    pub new_path: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// If the outcome is ok: for create, str_replace and insert the bytes of the text that was to be
    /// written, as `before` left it; for view those of the reply. Else 0.
    pub bytes: i64,
    /// The lines of the same text.
    pub lines: i64,
    /// How long it took until the reply was made, `before` included.
    pub duration: Duration,
    /// The ids of what was repaired in the input, such as `insert_text_from_new_str`.
    pub repairs: Vec<String>,
    /// The text of the reply, with the option `event_content`; else null.
    pub content: Option<String>,
}

/// How a call ended.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The command was carried out.
    Ok,
    /// It was refused: by its own rules, by a policy, or because the input is no command.
    Refused,
    /// A hook forbade it.
    Denied,
    /// The store or a hook failed.
    Failed,
}

/// Why a hook failed.
#[derive(uniffi::Error, thiserror::Error, Debug, Clone, PartialEq, Eq)]
#[uniffi::export(Display)]
pub enum HookError {
    /// Whatever it threw.
    #[error("{reason}")]
    Failed {
        /// The details, for the developer and never for the model.
        reason: String,
    },
}

/// Whatever else a foreign hook throws: without this UniFFI would panic.
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

/// Hooks of the host's, as the core sees them.
struct ForeignHooks(Arc<dyn MemoryHooks>);

impl CoreHooks for ForeignHooks {
    fn before(&self, command: &memdir::Command<'_>) -> Result<memdir::HookDecision, CoreHookError> {
        let Some(command) = handed_over(command) else { return Ok(memdir::HookDecision::Allow) };
        Ok(match self.0.before(command)? {
            HookDecision::Allow => memdir::HookDecision::Allow,
            HookDecision::Replace { text } => memdir::HookDecision::Replace(text),
            HookDecision::Deny { reason } => memdir::HookDecision::Deny(reason),
        })
    }

    fn after(&self, event: &memdir::Event) {
        // What it threw is dropped, as its documentation says.
        let _ = self.0.after(Event::from(event));
    }
}

fn handed_over(command: &memdir::Command<'_>) -> Option<Command> {
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
        // There is no seventh.
        _ => return None,
    })
}

impl From<&memdir::Event> for Event {
    fn from(event: &memdir::Event) -> Self {
        let path = |path: &Option<MemoryPath>| path.as_ref().map(ToString::to_string);
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        Self {
            command: event.command.map(str::to_owned),
            path: path(&event.path),
            new_path: path(&event.new_path),
            outcome: match event.outcome {
                memdir::Outcome::Ok => Outcome::Ok,
                memdir::Outcome::Denied => Outcome::Denied,
                memdir::Outcome::Failed => Outcome::Failed,
                _ => Outcome::Refused,
            },
            bytes: count(event.bytes),
            lines: count(event.lines),
            duration: event.duration,
            repairs: event.repairs.iter().map(ToString::to_string).collect(),
            content: event.content.clone(),
        }
    }
}
