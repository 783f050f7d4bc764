//! Why a file is not brought back, as JSON. An error has it, and so has what was restored.

use memdir::history::Conflict;
use memdir::store::micros;
use serde_json::{Value as Json, json};

/// A path that was changed since, or where something is in the way. What is not known is absent.
pub(crate) fn conflict(conflict: &Conflict) -> Json {
    let mut shown = json!({ "path": conflict.path.as_str(), "inTheWay": conflict.in_the_way });
    if let Some(change) = conflict.change {
        shown["change"] = json!(change.to_string());
    }
    if let Some(actor) = &conflict.actor {
        shown["actor"] = json!(actor);
    }
    if let Some(time) = conflict.time {
        shown["time"] = json!(micros::of(time) as f64 / 1_000.0);
    }
    shown
}
