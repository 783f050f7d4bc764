//! Steps that are no tool call: what a developer does between two of them.

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
    /// Sets back when the files were last changed and accessed.
    Age {
        /// By so much.
        age: BTreeMap<Canonical, Seconds>,
    },
    /// Lets unused files expire.
    Expire {
        /// Which ones.
        expire: Unused,
        /// Those that go, in their order.
        removed: Vec<Canonical>,
    },
    /// Lets unused files expire, which the memory refuses.
    Refused {
        /// Which ones.
        expire: Unused,
        /// Says so.
        refused: True,
    },
}

/// Which files expire.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unused {
    /// How long they are unused.
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

/// What is either true or not there.
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
    /// Does it.
    ///
    /// # Errors
    /// Says what did not come as it should.
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
