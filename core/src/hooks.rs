//! Hooks: your own code before and after each command.
//!
//! Use them for rules that no option offers, for reviews and for audit logs. memdir holds no lock while a hook
//! runs. Commands that a hook issues on the same memory run without hooks.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use memdir_store::path::MemoryPath;
use memdir_store::{Error, HookError};
use serde::Serialize;

#[cfg(feature = "schema")]
use crate::command::COMMANDS;
use crate::command::{Command, Repair};
use crate::history::HistoryId;
use crate::hook_call::HookCall;
use crate::value::{Fields, Value};

/// Code that runs before and after each command of a [`Memory`](crate::Memory).
///
/// A hook runs on the thread of its command, and several hooks may run at once. If a hook issues commands on
/// that thread, they run without hooks, on this memory and on every other memory with the same hooks.
///
/// ```
/// use std::sync::Arc;
/// use memdir::{Command, Event, HookCall, HookDecision, HookError, Memory, MemoryHooks, MemoryOptions};
///
/// struct Careful;
///
/// impl MemoryHooks for Careful {
///     fn before(&self, command: &Command<'_>, _: &HookCall<'_>) -> Result<HookDecision, HookError> {
///         Ok(match command {
///             Command::Delete { .. } => HookDecision::Deny("Error: Nothing is deleted here.".into()),
///             Command::Create { file_text, .. } => HookDecision::Replace(file_text.replace('\r', "")),
///             _ => HookDecision::Allow,
///         })
///     }
///
///     fn after(&self, event: &Event) {
///         println!("{:?} {:?}: {}", event.command, event.path, event.outcome);
///     }
/// }
///
/// let memory = Memory::open("memory:", MemoryOptions::default())?.with_hooks(Arc::new(Careful));
/// memory.create("/memories/a", "one\r\ntwo\r\n")?;
/// assert!(memory.view("/memories/a", None)?.ends_with("     1\tone\n     2\ttwo"));
/// let error = memory.delete("/memories/a").unwrap_err();
/// assert_eq!(error.to_string(), "Error: Nothing is deleted here.");
/// # Ok::<(), memdir::Error>(())
/// ```
pub trait MemoryHooks: Send + Sync {
    /// Called for each command before the store is touched. The command is decoded, its paths are validated and
    /// canonical, and an invalid `view_range` is left out. If an option redacts sensitive text, the command has
    /// the redacted text. A finding that only arises together with the text around an edit is visible in the
    /// [diff](HookCall::diff) alone. `call` has the actor, and the change that the command would make.
    ///
    /// Not called for input that is not a command, for an invalid path, or for a path that a policy forbids. A
    /// [sync](crate::sync()) calls it with the command that comes closest to each of its changes.
    ///
    /// # Errors
    /// Any error of the hook. The command is then not executed: the model reads that it could not be checked,
    /// and you get [`Error::Hook`]. If [`HookCall::diff`] was refused, the command is refused with the same
    /// reply.
    fn before(
        &self,
        command: &Command<'_>,
        call: &HookCall<'_>,
    ) -> Result<HookDecision, HookError> {
        let _ = (command, call);
        Ok(HookDecision::Allow)
    }

    /// Called after each call, when its reply is ready. Also called for input that is not a command.
    fn after(&self, event: &Event) {
        let _ = event;
    }
}

/// The decision of [`MemoryHooks::before`] about a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HookDecision {
    /// The command is executed.
    #[default]
    Allow,
    /// The command is executed with this text instead of its `file_text`, `new_str` or `insert_text`. All other
    /// policies check this text. Returning the command's own text is the same as [`Allow`](Self::Allow). If the
    /// command writes no text, the hook counts as failed.
    Replace(String),
    /// The command is not executed, and the model reads this sentence, with `is_error`. The sentence should say
    /// what is forbidden and what to do instead.
    Deny(String),
}

impl HookDecision {
    /// Parses the return value of a hook of another language: the new text under its field's name. Every other
    /// field must be absent or the same as in `command`.
    ///
    /// # Errors
    /// If another field was changed, or the text is missing.
    pub fn read(command: &Command<'_>, returned: &dyn Fields) -> Result<Self, HookError> {
        let text = command.text();
        for field in FIELDS.into_iter().filter(|field| Some(*field) != text.map(|(name, _)| name)) {
            let was = command.fields().into_iter().find(|(name, _)| *name == field);
            match returned.get(field) {
                None | Some(Value::Null) => {}
                Some(value) if was.is_some_and(|(_, was)| was == value) => {}
                Some(_) => {
                    return Err(format!(
                        "it changed `{field}`, and of the command {} {}",
                        command.name(),
                        match text {
                            Some((text, _)) => format!("it may change `{text}` only"),
                            None => "it may change nothing".to_owned(),
                        }
                    )
                    .into());
                }
            }
        }
        match text {
            None => Ok(Self::Allow),
            Some((name, was)) => match returned.get(name) {
                Some(Value::Text(text)) if text == was => Ok(Self::Allow),
                Some(Value::Text(text)) => Ok(Self::Replace(text.into_owned())),
                _ => Err(format!("it returned something without a text `{name}`").into()),
            },
        }
    }
}

/// The names of all fields of commands.
const FIELDS: [&str; 10] = [
    "command",
    "path",
    "old_path",
    "new_path",
    "view_range",
    "file_text",
    "old_str",
    "new_str",
    "insert_line",
    "insert_text",
];

/// The event of one call, for the hook [`after`](MemoryHooks::after).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Event {
    /// The name of the command. `None` if the input named none of the six.
    #[cfg_attr(feature = "schema", schemars(schema_with = "one_of_the_commands"))]
    pub command: Option<&'static str>,
    /// The canonical path; for a rename, the old one. `None` if the call was refused before its paths were
    /// validated. If an option about sensitive text is set, `[REDACTED:rule]` replaces each finding.
    pub path: Option<MemoryPath>,
    /// For a rename: the new path; otherwise `None`.
    pub new_path: Option<MemoryPath>,
    /// The outcome of the call.
    pub outcome: Outcome,
    /// The number of bytes, if the outcome is `ok`. For `create`, `str_replace` and `insert`: of the text to
    /// write, after the hook `before`. For `view`: of the reply or the image. Otherwise 0.
    pub bytes: u64,
    /// The number of lines of the same text.
    pub lines: u64,
    /// The time until the reply was ready, including `before`.
    #[serde(serialize_with = "memdir_store::time::serialize_duration")]
    #[cfg_attr(feature = "schema", schemars(with = "memdir_store::schema::Seconds"))]
    pub duration: Duration,
    /// The repairs that the decoder made in the input.
    pub repairs: Vec<Repair>,
    /// The text of the reply, if the option `event_content` is set. `None` without the option, and for an
    /// image.
    pub content: Option<String>,
    /// The id of the change that the command made. `None` if it changed nothing, or the memory has no history.
    pub change: Option<HistoryId>,
    /// The actor of the memory. `None` if it has none.
    pub actor: Option<String>,
    /// The id of the memory's session. It identifies a conversation if each one has a session of its own.
    pub session: String,
    /// The id of the tool-use block that was executed. `None` if the input was not a block.
    pub tool_use_id: Option<String>,
}

/// The schema of a command's name, or null.
#[cfg(feature = "schema")]
fn one_of_the_commands(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let names: Vec<_> = COMMANDS.into_iter().map(Some).chain([None]).collect();
    schemars::json_schema!({ "type": ["string", "null"], "enum": names })
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Outcome {
    /// The command was executed.
    Ok,
    /// The call was refused: by the command's own rules, by a policy, or because the input is not a command.
    Refused,
    /// A hook denied the command.
    Denied,
    /// The store or a hook failed.
    Failed,
    /// The caller cancelled the call before it began to write. Nothing was changed.
    Cancelled,
}

impl Outcome {
    /// Returns the outcome of a call that ended with this error.
    pub(crate) fn of_error(error: &Error) -> Self {
        match error {
            Error::Refused(_) | Error::Config(_) => Self::Refused,
            Error::Store(error) if error.is_cancelled() => Self::Cancelled,
            Error::Store(_) | Error::Hook(_) => Self::Failed,
        }
    }

    /// Returns `"ok"`, `"refused"`, `"denied"`, `"failed"` or `"cancelled"`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Denied => "denied",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

thread_local! {
    /// The addresses of the hooks that run on this thread. There are several if a hook issued a command on a
    /// memory with other hooks.
    static RUNNING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The hooks of one memory.
#[derive(Clone)]
pub(crate) struct Installed(Arc<dyn MemoryHooks>);

impl Installed {
    pub(crate) fn new(hooks: Arc<dyn MemoryHooks>) -> Self {
        Self(hooks)
    }

    /// Returns whether one of these hooks is running on this thread.
    pub(crate) fn are_running(&self) -> bool {
        RUNNING.try_with(|running| running.borrow().contains(&self.id())).unwrap_or(false)
    }

    pub(crate) fn before(
        &self,
        command: &Command<'_>,
        call: &HookCall<'_>,
    ) -> Result<HookDecision, HookError> {
        let _running = Running::new(self.id());
        self.0.before(command, call)
    }

    pub(crate) fn after(&self, event: &Event) {
        let _running = Running::new(self.id());
        self.0.after(event);
    }

    fn id(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>().addr()
    }
}

/// Marks a hook as running until this is dropped, including by a panic.
struct Running;

impl Running {
    fn new(id: usize) -> Self {
        let _ = RUNNING.try_with(|running| running.borrow_mut().push(id));
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = RUNNING.try_with(|running| running.borrow_mut().pop());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Decoded;

    fn read(command: &str, returned: &str) -> Result<HookDecision, String> {
        let command: serde_json::Map<_, _> = serde_json::from_str(command).unwrap();
        let returned: serde_json::Map<_, _> = serde_json::from_str(returned).unwrap();
        let command = Decoded::of(&command).command.unwrap();
        HookDecision::read(&command, &returned).map_err(|error| error.to_string())
    }

    #[test]
    fn only_the_text_may_be_changed() {
        let create = r#"{"command":"create","path":"/memories/a","file_text":"one"}"#;
        let written = |text: &str| Ok(HookDecision::Replace(text.to_owned()));
        assert_eq!(read(create, create), Ok(HookDecision::Allow));
        assert_eq!(read(create, r#"{"file_text":"two"}"#), written("two"));
        assert_eq!(read(create, r#"{"path":"/memories/a","file_text":""}"#), written(""));
        for wrong in [
            r#"{}"#,
            r#"{"file_text":null}"#,
            r#"{"file_text":1}"#,
            r#"{"filetext":"two"}"#,
            r#"{"new_str":"two"}"#,
            r#"{"path":"/memories/b","file_text":"two"}"#,
            r#"{"command":"insert","file_text":"two"}"#,
        ] {
            assert!(read(create, wrong).is_err(), "{wrong}");
        }
        let replace = r#"{"command":"str_replace","path":"p","old_str":"o","new_str":"n"}"#;
        assert_eq!(read(replace, r#"{"new_str":"m"}"#), written("m"));
        let error = read(replace, r#"{"old_str":"p","new_str":"n"}"#).unwrap_err();
        assert!(error.contains("`old_str`") && error.contains("`new_str`"), "{error}");
        let insert = r#"{"command":"insert","path":"p","insert_line":1,"insert_text":"t"}"#;
        assert!(read(insert, r#"{"insert_line":2,"insert_text":"t"}"#).is_err());
        let view = r#"{"command":"view","path":"p","view_range":[1,2]}"#;
        assert_eq!(read(view, view), Ok(HookDecision::Allow));
        assert_eq!(read(view, r#"{}"#), Ok(HookDecision::Allow));
        assert!(read(view, r#"{"view_range":[1,3]}"#).is_err());
        assert!(read(view, r#"{"file_text":"x"}"#).is_err());
    }
}
