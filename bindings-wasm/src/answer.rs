//! What JavaScript gets: replies, events, entries.

use std::time::SystemTime;

use memdir::store::{Entry, EntryKind, micros};
use memdir::value::Value;
use memdir::{Command, Content, Error, Event, MemoryPath, NameCase, Reply};
use serde_json::{Map, Value as Json, json};

use crate::border::placed;

/// A reply: `{ content, isError, kind, cause, hook }`, of which `kind` is there only for an error, and the last two only if the store
/// or a hook failed.
pub(crate) fn reply(reply: Reply) -> Json {
    let content = match reply.content {
        Content::Image { media_type, bytes } => {
            json!({ "mediaType": media_type, "bytes": placed(bytes) })
        }
        other => other.into_text().into(),
    };
    let mut answer = json!({ "content": content, "isError": reply.is_error });
    if let Some(kind) = reply.kind {
        answer["kind"] = kind.as_str().into();
    }
    if let Some(cause) = reply.cause {
        if matches!(cause, Error::Hook(_)) {
            answer["hook"] = true.into();
        }
        answer["cause"] = match cause {
            Error::Store(cause) => cause.to_string(),
            Error::Config(cause) => cause.in_case(NameCase::Camel),
            other => other.to_string(),
        }
        .into();
    }
    answer
}

/// The fields of a command, for the hook `before`.
pub(crate) fn command(command: &Command<'_>) -> Json {
    let fields = command.fields().into_iter().filter_map(|(name, field)| {
        let field = match field {
            Value::Text(text) => text.into(),
            Value::Integer(integer) => integer.into(),
            Value::List(items) => items.iter().filter_map(Value::as_integer).collect(),
            _ => return None,
        };
        Some((name.to_owned(), field))
    });
    fields.collect::<Map<_, Json>>().into()
}

/// The event for the hook `after`, without empty fields.
pub(crate) fn event(event: Event) -> Json {
    let mut shown = Map::new();
    let mut put = |name: &str, value: Json| {
        if !value.is_null() {
            shown.insert(name.to_owned(), value);
        }
    };
    let path = |path: Option<MemoryPath>| path.map(|path| path.as_str().to_owned()).into();
    put("command", event.command.into());
    put("path", path(event.path));
    put("newPath", path(event.new_path));
    put("outcome", event.outcome.as_str().into());
    put("bytes", event.bytes.into());
    put("lines", event.lines.into());
    put("duration", (event.duration.as_secs_f64() * 1_000.0).into());
    put("repairs", event.repairs.iter().map(|repair| repair.as_str()).collect());
    put("change", event.change.map(|change| change.to_string()).into());
    put("content", event.content.into());
    shown.into()
}

/// Entries, without the fields that they do not have.
pub(crate) fn entries(entries: Vec<Entry>) -> Json {
    let shown = entries.into_iter().map(|entry| {
        let mut shown = json!({ "path": entry.path.as_str() });
        if let EntryKind::File(size) = entry.kind {
            shown["size"] = size.into();
        }
        for (name, time) in [("modified", entry.modified), ("accessed", entry.accessed)] {
            if let Some(time) = time {
                shown[name] = millis(time).into();
            }
        }
        shown
    });
    shown.collect()
}

/// Milliseconds, as JavaScript counts time; the microseconds are its fraction.
#[expect(clippy::cast_precision_loss, reason = "exact until the year 2109")]
pub(crate) fn millis(time: SystemTime) -> f64 {
    micros::of(time) as f64 / 1_000.0
}

/// `None` for a number that is not a time.
pub(crate) fn time(millis: f64) -> Option<SystemTime> {
    micros::time_of_float(millis * 1_000.0)
}

/// An object without the fields that are null.
pub(crate) fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    let there = fields.into_iter().filter(|(_, value)| !value.is_null());
    there.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}
