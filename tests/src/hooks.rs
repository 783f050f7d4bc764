//! The hooks of a case, and the expected events.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use memdir::value::Value as Field;
use memdir::{Command, Event, HookCall, HookDecision, HookError, MemoryHooks};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::texts::{Text, expanded};

/// A hook's action for some commands.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "RuleForm")]
pub struct Rule {
    /// The fields that a command must have to match, all of them.
    pub when: Map<String, Value>,
    /// The action.
    pub then: Then,
}

/// The action of a hook.
#[derive(Debug, Clone)]
pub enum Then {
    /// It denies the command, with this text.
    Deny(String),
    /// It replaces each occurrence of the first text with the second.
    Replace(String, String),
    /// It fails.
    Fail(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleForm {
    #[serde(deserialize_with = "expanded")]
    when: Map<String, Value>,
    deny: Option<Text>,
    replace: Option<(Text, Text)>,
    fail: Option<Text>,
}

impl TryFrom<RuleForm> for Rule {
    type Error = &'static str;

    fn try_from(form: RuleForm) -> Result<Self, Self::Error> {
        let then = match (form.deny, form.replace, form.fail) {
            (Some(Text(sentence)), None, None) => Then::Deny(sentence),
            (None, Some((Text(old), Text(new))), None) => Then::Replace(old, new),
            (None, None, Some(Text(problem))) => Then::Fail(problem),
            _ => return Err("a rule has a denial, a replace or a fail"),
        };
        Ok(Self { when: form.when, then })
    }
}

/// The event that `after` gets for a step, without its duration, which is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    command: Option<Text>,
    path: Option<Text>,
    new_path: Option<Text>,
    outcome: String,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    lines: u64,
    #[serde(default)]
    repairs: Vec<String>,
    content: Option<Text>,
}

impl Told {
    /// The data of an event.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        let text = |it: &dyn ToString| Text(it.to_string());
        Self {
            command: event.command.map(|command| text(&command)),
            path: event.path.as_ref().map(|path| text(path)),
            new_path: event.new_path.as_ref().map(|path| text(path)),
            outcome: event.outcome.as_str().to_owned(),
            bytes: event.bytes,
            lines: event.lines,
            repairs: event.repairs.iter().map(|repair| repair.as_str().to_owned()).collect(),
            content: event.content.clone().map(Text),
        }
    }
}

/// The hooks of a case.
#[derive(Debug)]
pub struct CaseHooks {
    rules: Vec<Rule>,
    events: Mutex<Vec<Told>>,
}

impl CaseHooks {
    /// Hooks that apply the first matching rule.
    #[must_use]
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules, events: Mutex::default() }
    }

    /// The events that `after` got since the last call.
    pub fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl MemoryHooks for CaseHooks {
    fn before(&self, command: &Command<'_>, _: &HookCall<'_>) -> Result<HookDecision, HookError> {
        let fields = command.fields();
        let has = |(name, wanted): (&String, &Value)| {
            fields.iter().any(|(field, value)| field == name && *value == Field::from(wanted))
        };
        let Some(rule) = self.rules.iter().find(|rule| rule.when.iter().all(has)) else {
            return Ok(HookDecision::Allow);
        };
        match (&rule.then, command.text()) {
            (Then::Deny(sentence), _) => Ok(HookDecision::Deny(sentence.clone())),
            (Then::Replace(old, new), Some((_, text))) => {
                Ok(HookDecision::Replace(text.replace(old, new)))
            }
            (Then::Replace(..), None) => Err("there is no text to replace in".into()),
            (Then::Fail(problem), _) => Err(problem.clone().into()),
        }
    }

    fn after(&self, event: &Event) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(Told::of(event));
    }
}

/// Compares the events of one step with the expected one.
///
/// # Errors
/// The event differs from the expected one, or there was not exactly one.
pub fn check(expected: Option<&Told>, told: &[Told]) -> Result<(), String> {
    match (expected, told) {
        (None, []) => Ok(()),
        (Some(expected), [told]) if expected == told => Ok(()),
        (expected, told) => {
            let mut report = "  after was told something else".to_owned();
            let _ = write!(report, "\n  expected {expected:?}");
            for told in told {
                let _ = write!(report, "\n  got      {told:?}");
            }
            Err(report)
        }
    }
}
