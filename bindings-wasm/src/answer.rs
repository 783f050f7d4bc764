//! The values that JavaScript gets: replies, commands, entries.

use memdir::store::{Entry, EntryKind};
use memdir::value::Value;
use memdir::{Command, Content, Error, NameCase, Reply};
use serde_json::{Map, Value as Json, json};

use crate::border::placed;
use crate::errors::code;
use crate::thrown::Thrown;
use crate::times::to_millis;

/// A reply: `{ content, isError, kind, cause, code, thrown, hook }`. `kind` exists only for an error, and `cause` only if the
/// store or a hook failed. `code` exists only if the store failed, `thrown` if that store is written in JavaScript, and `hook`
/// only if a hook failed.
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
        if let Error::Store(error) = &cause {
            answer["code"] = code(error).into();
            if let Some(thrown) = Thrown::beneath(error) {
                answer["thrown"] = thrown.into();
            }
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

/// Entries. Fields without a value are omitted.
pub(crate) fn entries(entries: Vec<Entry>) -> Json {
    let shown = entries.into_iter().map(|entry| {
        let mut shown = json!({ "path": entry.path.as_str() });
        if let EntryKind::File(size) = entry.kind {
            shown["size"] = size.into();
        }
        for (name, time) in [("modified", entry.modified), ("accessed", entry.accessed)] {
            if let Some(time) = time {
                shown[name] = to_millis(time).into();
            }
        }
        shown
    });
    shown.collect()
}
