//! Steps that are no tool call: what a developer does between two of them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use memdir::{Error, Memory, MemoryPath};
use serde_json::{Map, Value};

/// One such step.
#[derive(Debug, Clone, PartialEq)]
pub enum Upkeep {
    /// Sets back when the files were last changed and accessed, by so much.
    Age(BTreeMap<MemoryPath, Duration>),
    /// Lets unused files expire.
    Expire {
        /// How long they are unused.
        older_than: Duration,
        /// Whether nothing is removed.
        dry_run: bool,
        /// Which ones go; `None` where the memory refuses.
        removed: Option<Vec<MemoryPath>>,
    },
}

impl Upkeep {
    /// Takes the fields of such a step, if it is one.
    ///
    /// # Errors
    /// Says what is not in the format.
    pub fn take(fields: &mut Map<String, Value>) -> Result<Option<Self>, String> {
        if let Some(ages) = fields.remove("age") {
            let ages = ages.as_object().filter(|ages| !ages.is_empty()).ok_or("age needs paths")?;
            let age = |(at, ago): (&String, &Value)| Ok((path(at)?, seconds(ago)?));
            return Ok(Some(Self::Age(ages.iter().map(age).collect::<Result<_, String>>()?)));
        }
        let Some(mut expire) = fields.remove("expire") else { return Ok(None) };
        let expire = expire.as_object_mut().ok_or("expire must be an object")?;
        let older_than = expire.remove("older_than").ok_or("expire needs older_than")?;
        let dry_run = expire.remove("dry_run").unwrap_or(Value::Bool(false));
        if let Some(name) = expire.keys().next() {
            return Err(format!("{name:?} is not in the format"));
        }
        let removed = match (fields.remove("removed"), fields.remove("refused")) {
            (Some(Value::Array(paths)), None) => {
                let text = |at: &Value| path(at.as_str().unwrap_or("?"));
                Some(paths.iter().map(text).collect::<Result<_, _>>()?)
            }
            (None, Some(Value::Bool(true))) => None,
            _ => return Err("expire needs removed, a list, or refused: true".to_owned()),
        };
        let dry_run = dry_run.as_bool().ok_or("dry_run must be true or false")?;
        Ok(Some(Self::Expire { older_than: seconds(&older_than)?, dry_run, removed }))
    }

    /// Does it.
    ///
    /// # Errors
    /// Says what did not come as it should.
    pub fn run(&self, memory: &Memory) -> Result<(), String> {
        match self {
            Self::Age(ages) => ages.iter().try_for_each(|(path, ago)| {
                let time = SystemTime::now() - *ago;
                let store = memory.store();
                store
                    .set_modified(path, time)
                    .and_then(|()| store.record_access(path, time))
                    .map_err(|error| format!("  setting the times of {path} back: {error}"))
            }),
            Self::Expire { older_than, dry_run, removed: expected } => {
                let expired =
                    memory.expire(*older_than, *dry_run, &mut |_| ControlFlow::Continue(()));
                let removed = match expired {
                    Ok(expired) => Some(expired.into_iter().map(|file| file.path).collect()),
                    Err(Error::Config(_)) => None,
                    Err(error) => return Err(format!("  expiring: {error}")),
                };
                if removed == *expected {
                    return Ok(());
                }
                Err(format!("  expected to be removed {expected:?}\n  but it was {removed:?}"))
            }
        }
    }
}

fn path(text: &str) -> Result<MemoryPath, String> {
    MemoryPath::parse(text).map_err(|error| format!("{text:?}: {error}"))
}

/// A number of seconds, from 0 on.
///
/// # Errors
/// If it is none.
pub fn seconds(value: &Value) -> Result<Duration, String> {
    let seconds = value.as_f64().ok_or(format!("{value} is no number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("{value}: {error}"))
}
