//! A reply as JSON: the content of the `tool_result`.

use data_encoding::BASE64;
use memdir::{Content, Error, ErrorKind, Reply};
use serde_json::{Value, json};

use crate::failure::Failure;

/// The reply, and the failure if the store or a hook failed.
pub(crate) fn parts(reply: Reply) -> (String, Option<String>) {
    let mut json = json!({ "content": content(reply.content), "is_error": reply.is_error });
    if let Some(kind) = reply.kind {
        json["kind"] = json!(ErrorKind::as_str(kind));
    }
    (json.to_string(), reply.cause.map(|cause| Failure::from(cause).json()))
}

/// The reply to a call that failed before it was executed.
pub(crate) fn of_failure(failure: &Failure) -> String {
    parts(Reply::from(Err::<Content, Error>(failure.as_cause()))).0
}

/// Converts a text, or an image to a list with its block.
fn content(content: Content) -> Value {
    match content {
        Content::Image { media_type, bytes } => {
            let data = BASE64.encode(&bytes);
            let source = json!({ "type": "base64", "media_type": media_type, "data": data });
            json!([{ "type": "image", "source": source }])
        }
        other => Value::String(other.into_text()),
    }
}
