//! Results and events as JSON: the same values as in the native addon (`bindings-node/src/results.rs`).

use memdir::NameCase;
use memdir_bindings_shared::plain::Plain;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::times::of_date;

/// Converts a value of the engine to JSON. A field without a value is omitted.
pub(crate) fn shown(value: impl Serialize) -> Json {
    into_json(Plain::of(&value))
}

pub(crate) fn into_json(value: Plain) -> Json {
    match value {
        Plain::Nothing => Json::Null,
        Plain::Flag(flag) => flag.into(),
        Plain::Count(count) => count.into(),
        Plain::Text(text) => text.into(),
        // No field has the name `$date`. `decode` of `ts/wasm-values.ts` makes a `Date` from it.
        Plain::Time(time) => json!({ "$date": of_date(time) }),
        Plain::Number(number) => number.into(),
        Plain::Seconds(seconds) => (seconds * 1_000.0).into(),
        Plain::List(items) => items.into_iter().map(into_json).collect(),
        Plain::Record(_, fields) => {
            let there = fields.into_iter().filter(|(_, value)| *value != Plain::Nothing);
            let shown = there.map(|(name, value)| (NameCase::Camel.of(name), into_json(value)));
            shown.collect::<Map<_, _>>().into()
        }
    }
}
