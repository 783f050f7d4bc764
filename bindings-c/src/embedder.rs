//! [`OwnEmbedder`]: an embedder of the application, for the core. It gets [requests](crate::request) in JSON, as a store of its own does.

use std::ffi::CString;

use memdir::{Cancellation, Embedder, EmbedderError};
use serde_json::{Value, json};

use crate::host::Host;
use crate::request::Waiting;

/// Dropping it tells the application that it can release the embedder.
pub(crate) struct OwnEmbedder {
    pub(crate) host: Host,
    pub(crate) number: u64,
}

impl Drop for OwnEmbedder {
    fn drop(&mut self) {
        self.host.release(self.number);
    }
}

impl Embedder for OwnEmbedder {
    fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
        // The search stops waiting by itself, and the answer is used when it comes.
        let never = Cancellation::never();
        let waiting = Waiting::begin("embed", &never, None)?;
        let asked = json!({
            "operation": "embed",
            "path": "/memories",
            "call": null,
            "to_the_end": false,
            "texts": texts,
            "is_query": is_query,
        });
        // JSON contains no NUL byte.
        let asked = CString::new(asked.to_string()).unwrap_or_default();
        self.host.serve(self.number, waiting.number, &asked, b"");
        let answer = waiting.end(|answer| Ok(answer.result))?;
        let failed = ["failed", "errno"].into_iter().find_map(|name| answer.get(name));
        if let Some(message) = failed.and_then(Value::as_str) {
            return Err(message.into());
        }
        Ok(serde_json::from_value(answer)?)
    }
}
