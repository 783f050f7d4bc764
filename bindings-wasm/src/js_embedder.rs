//! `JsEmbedder`: an embedder that is written in JavaScript, for the core. It must answer synchronously, because a promise cannot
//! be awaited in the middle of a call.

use memdir::{Embedder, EmbedderError};
use serde_json::json;

use crate::border::asked;

/// An embedder written in JavaScript, by its number in JavaScript.
pub(crate) struct JsEmbedder(pub(crate) u32);

impl Embedder for JsEmbedder {
    fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let mut answer = asked(&json!({ "embedder": self.0, "texts": texts, "isQuery": is_query }));
        if let Some(message) = answer["error"].as_str() {
            return Err(message.into());
        }
        Ok(serde_json::from_value(answer["vectors"].take())?)
    }
}

impl Drop for JsEmbedder {
    fn drop(&mut self) {
        asked(&json!({ "forget": self.0 }));
    }
}
