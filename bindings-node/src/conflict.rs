//! [`Conflict`]: why a file is not brought back. An error has it, and so has what was restored.

use memdir::history::Conflict as CoreConflict;
use napi_derive::napi;

use crate::entry::to_millis;

/// A path that was changed since, or where something is in the way. The time is in milliseconds since 1970.
#[napi(object, object_from_js = false)]
pub(crate) struct Conflict {
    pub path: String,
    pub in_the_way: bool,
    #[napi(ts_type = "string | undefined")]
    pub change: Option<String>,
    #[napi(ts_type = "string | undefined")]
    pub actor: Option<String>,
    #[napi(ts_type = "number | undefined")]
    pub time: Option<f64>,
}

impl From<&CoreConflict> for Conflict {
    fn from(conflict: &CoreConflict) -> Self {
        Self {
            path: conflict.path.to_string(),
            in_the_way: conflict.in_the_way,
            change: conflict.change.map(|change| change.to_string()),
            actor: conflict.actor.clone(),
            time: conflict.time.map(to_millis),
        }
    }
}
