//! Steps that are not tool calls: a developer's actions between two calls.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, TryFromFloatSecsError};

use memdir::{Error, Memory, MemoryPath};
use serde::Deserialize;

use crate::tree::Canonical;

/// One such step.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "no step of expiry that the format has")]
pub enum Upkeep {
    /// Moves the times of the last changes and accesses into the past.
    Age {
        /// By this amount.
        age: BTreeMap<Canonical, Seconds>,
    },
    /// Lets unused files expire.
    Expire {
        /// Which files.
        expire: Unused,
        /// The expired files, in order.
        removed: Vec<Canonical>,
    },
    /// Lets unused files expire, which the memory refuses.
    Refused {
        /// Which files.
        expire: Unused,
        /// Always true.
        refused: True,
    },
}

/// Selects the files that expire.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unused {
    /// The minimum time since their last use.
    older_than: Seconds,
    /// Whether nothing is removed.
    #[serde(default)]
    dry_run: bool,
}

/// A number of seconds, from 0 on.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
pub struct Seconds(pub Duration);

impl TryFrom<f64> for Seconds {
    type Error = TryFromFloatSecsError;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        Duration::try_from_secs_f64(seconds).map(Self)
    }
}

/// Either true or absent.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "bool")]
pub struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("it must be true, or left out") }
    }
}

impl Upkeep {
    /// Executes the step.
    ///
    /// # Errors
    /// The result differs from the expected one.
    pub fn run(&self, memory: &Memory) -> Result<(), String> {
        let (Unused { older_than, dry_run }, expected) = match self {
            Self::Age { age } => {
                return age.iter().try_for_each(|(Canonical(path), Seconds(ago))| {
                    let time = SystemTime::now() - *ago;
                    let store = memory.store();
                    store
                        .set_modified(path, time)
                        .and_then(|()| store.record_access(path, time))
                        .map_err(|error| format!("  setting the times of {path} back: {error}"))
                });
            }
            Self::Expire { expire, removed } => {
                (expire, Some(removed.iter().map(|Canonical(path)| path.clone()).collect()))
            }
            Self::Refused { expire, .. } => (expire, None),
        };
        let removed: Option<Vec<MemoryPath>> =
            match memory.expire(older_than.0, *dry_run, &mut |_| ControlFlow::Continue(())) {
                Ok(expired) => Some(expired.into_iter().map(|file| file.path).collect()),
                Err(Error::Config(_)) => None,
                Err(error) => return Err(format!("  expiring: {error}")),
            };
        if removed == expected {
            return Ok(());
        }
        Err(format!("  expected to be removed {expected:?}\n  but it was {removed:?}"))
    }
}
