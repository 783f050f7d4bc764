//! Parses the messages of a client. A text that is not a message gets an error of JSON-RPC, with its id if the id can be read, so
//! the client does not wait forever for an answer.

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::error::Category;

/// The mark with which some programs start a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The answer to a text that is not a message. Notifications, and answers of the client itself, get none.
pub(super) struct NoMessage(pub(super) Option<Box<ServerJsonRpcMessage>>);

/// Parses a message.
pub(super) fn read(text: &[u8]) -> Result<ClientJsonRpcMessage, NoMessage> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    serde_json::from_slice(text).map_err(|error| NoMessage(answer(text, &error).map(Box::new)))
}

/// The answer to a text that is too long.
pub(super) fn too_long(most: usize) -> ServerJsonRpcMessage {
    let why = format!("The message has more than {most} bytes");
    ServerJsonRpcMessage::error(ErrorData::invalid_request(why, None), None)
}

fn answer(text: &[u8], error: &serde_json::Error) -> Option<ServerJsonRpcMessage> {
    let envelope = Envelope::of(text);
    if envelope.as_ref().is_some_and(Envelope::awaits_nothing) {
        return None;
    }
    let error = match error.classify() {
        // These errors contain the problem and its position, but nothing of the text.
        Category::Syntax | Category::Eof => {
            ErrorData::parse_error(format!("The message is not JSON: {error}"), None)
        }
        Category::Data | Category::Io if text.trim_ascii_start().starts_with(b"[") => {
            ErrorData::invalid_request("A batch is not taken: send each message by itself", None)
        }
        Category::Data | Category::Io => {
            let why = "This is no message of the Model Context Protocol in JSON-RPC 2.0";
            ErrorData::invalid_request(why, None)
        }
    };
    Some(ServerJsonRpcMessage::error(error, envelope.and_then(Envelope::id)))
}

/// The readable parts of an invalid message. All other parts are skipped, however they are nested or encoded.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default, deserialize_with = "even_null")]
    id: Option<Value>,
    method: Option<IgnoredAny>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Envelope {
    fn of(text: &[u8]) -> Option<Self> {
        // A JSON array would be read as the fields in order.
        let is_object = text.trim_ascii_start().starts_with(b"{");
        is_object.then(|| serde_json::from_slice(text).ok()).flatten()
    }

    /// Whether it is a notification, or an answer of the client.
    fn awaits_nothing(&self) -> bool {
        let is_notification = self.id.is_none() && self.method.is_some();
        is_notification || self.result.is_some() || self.error.is_some()
    }

    fn id(self) -> Option<RequestId> {
        RequestId::deserialize(self.id?).ok()
    }
}

/// A value that is present, even if it is `null`.
fn even_null<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer to a text: its code, and its id if there is one.
    fn answered(text: &[u8]) -> Option<(i64, Option<Value>)> {
        let NoMessage(answer) = read(text).err()?;
        let answer = serde_json::to_value(answer?).unwrap();
        Some((answer["error"]["code"].as_i64().unwrap(), answer.get("id").cloned()))
    }

    #[test]
    fn what_is_no_message_is_answered_with_its_id_where_that_can_be_read() {
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"#;
        let nested = format!("{call}{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let cases: [(&[u8], i64, Option<Value>); 14] = [
            (br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"\ud83d"}}"#, -32700, Some(7.into())),
            (b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", -32700, Some("x".into())),
            (nested.as_bytes(), -32700, Some(7.into())),
            (call.as_bytes(), -32700, None),
            (b"{", -32700, None),
            (b"\xff\xfe", -32700, None),
            (b"", -32700, None),
            (b"[]", -32600, None),
            (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, None),
            (b"7", -32600, None),
            (b"{}", -32600, None),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, None),
            (br#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, -32600, None),
            (br#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, -32600, Some(3.into())),
        ];
        for (text, code, id) in cases {
            let shown = String::from_utf8_lossy(&text[..text.len().min(80)]);
            assert_eq!(answered(text), Some((code, id)), "{shown}");
        }
    }

    #[test]
    fn notifications_and_answers_get_no_answer() {
        for text in [
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"a":"\ud83d"}}"#,
            r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":"\ud83d"}"#,
        ] {
            assert!(matches!(read(text.as_bytes()), Err(NoMessage(None))), "{text}");
        }
    }

    #[test]
    fn a_message_is_read_also_after_a_byte_order_mark() {
        for mark in ["", "\u{feff}"] {
            let text = format!(r#"{mark}{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#);
            assert!(read(text.as_bytes()).is_ok());
        }
    }
}
