//! The hooks that a case describes, and the events that it expects.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use memdir::value::Value as Field;
use memdir::{Command, Event, HookDecision, HookError, MemoryHooks, MemoryPath};
use serde_json::{Map, Value};

/// What a hook does about some commands.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The fields by which a command is known, all of which it must have.
    pub when: Map<String, Value>,
    /// What happens then.
    pub then: Then,
}

/// What a hook does.
#[derive(Debug, Clone)]
pub enum Then {
    /// It forbids the command, in these words.
    Deny(String),
    /// It writes a text in which each occurrence of the first is the second.
    Replace(String, String),
    /// It fails.
    Fail(String),
}

/// What `after` is told of a step; the duration is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The fields of the event, in JSON; what is absent, empty or nothing is left out.
    pub fields: Map<String, Value>,
}

impl Told {
    /// What an event tells.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        let path = |path: &Option<MemoryPath>| path.as_ref().map(|path| path.as_str().into());
        let repairs: Vec<&str> = event.repairs.iter().map(|repair| repair.as_str()).collect();
        let fields: [(&str, Option<Value>); 8] = [
            ("command", event.command.map(Value::from)),
            ("path", path(&event.path)),
            ("new_path", path(&event.new_path)),
            ("outcome", Some(event.outcome.as_str().into())),
            ("bytes", Some(event.bytes.into())),
            ("lines", Some(event.lines.into())),
            ("repairs", Some(repairs.into())),
            ("content", event.content.as_deref().map(Value::from)),
        ];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
        Self::from_fields(fields.collect())
    }

    /// Leaves out what says nothing.
    #[must_use]
    pub fn from_fields(mut fields: Map<String, Value>) -> Self {
        fields.retain(|_, value| match value {
            Value::Null => false,
            Value::Number(number) => number.as_u64() != Some(0),
            Value::Array(items) => !items.is_empty(),
            _ => true,
        });
        Self { fields }
    }
}

/// The hooks of a case.
#[derive(Debug)]
pub struct CaseHooks {
    rules: Vec<Rule>,
    events: Mutex<Vec<Told>>,
}

impl CaseHooks {
    /// Hooks that do what the first rule says that fits.
    #[must_use]
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules, events: Mutex::default() }
    }

    /// What `after` was told since this was asked last.
    pub fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl MemoryHooks for CaseHooks {
    fn before(&self, command: &Command<'_>) -> Result<HookDecision, HookError> {
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

/// What is wrong with what `after` was told of one step.
///
/// # Errors
/// It was told something else than expected, or not once.
pub fn check(expected: Option<&Told>, told: &[Told]) -> Result<(), String> {
    let shown = |told: &Told| Value::Object(told.fields.clone()).to_string();
    match (expected, told) {
        (None, []) => Ok(()),
        (Some(expected), [told]) if expected == told => Ok(()),
        (expected, told) => {
            let mut report = "  after was told something else".to_owned();
            let expected = expected.map_or("nothing".to_owned(), shown);
            let _ = write!(report, "\n  expected {expected}");
            for told in told {
                let _ = write!(report, "\n  got      {}", shown(told));
            }
            Err(report)
        }
    }
}
