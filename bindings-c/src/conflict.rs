//! Why a file is not brought back, as JSON. An error has it, and so has what was restored.

use memdir::history::Conflict;
use serde_json::{Value, json};

use crate::time::seconds;

/// A path that was changed since, or where something is in the way.
pub(crate) fn conflict(conflict: &Conflict) -> Value {
    json!({
        "path": conflict.path.as_str(),
        "in_the_way": conflict.in_the_way,
        "change": conflict.change,
        "actor": conflict.actor,
        "time": conflict.time.map(seconds),
    })
}
