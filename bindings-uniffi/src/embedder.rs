//! The interface of embedders for Kotlin and Swift.

use std::sync::Arc;

use memdir::EmbedderError as CoreError;
use uniffi::UnexpectedUniFFICallbackError;

use crate::error::MemdirError;
use crate::memory::Memory;

/// Your own model that turns texts into vectors, for searches by meaning. See `Memory.with_embedder`.
#[uniffi::export(rust, foreign)]
pub trait Embedder: Send + Sync {
    /// Returns a vector for each text, in the order of the texts. All vectors of an embedder have the same length, and their
    /// directions are compared.
    ///
    /// `is_query` is true for the words of a question, and false for passages of files. Many models have an instruction or a
    /// parameter for each. There is one text, or up to 64. Each call has a thread of its own, so it may block. If it throws,
    /// the search answers by words alone.
    fn embed(&self, texts: Vec<String>, is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError>;
}

/// The error of an [`Embedder`].
#[derive(uniffi::Error, thiserror::Error, Debug, Clone, PartialEq, Eq)]
#[uniffi::export(Display)]
pub enum EmbedderError {
    /// It failed.
    #[error("{reason}")]
    Failed {
        /// The reason, for the result of the search.
        reason: String,
    },
}

/// Any other error of a foreign embedder. Without this conversion UniFFI would panic.
impl From<UnexpectedUniFFICallbackError> for EmbedderError {
    fn from(error: UnexpectedUniFFICallbackError) -> Self {
        Self::Failed { reason: error.reason }
    }
}

/// An embedder of the host, for the core.
struct Foreign(Arc<dyn Embedder>);

impl memdir::Embedder for Foreign {
    fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, CoreError> {
        Ok(self.0.embed(texts.to_vec(), is_query)?)
    }
}

#[uniffi::export]
impl Memory {
    /// The same memory with an embedder, so `search` also finds files by their meaning. It requires the option
    /// `embedder_name`. A search embeds the question, and each passage that has no vector yet, and joins both rankings. If
    /// the embedder fails or takes longer than `embedder_timeout`, the answer is by words alone, and its `words_only` says
    /// why. Close both memories.
    ///
    /// Throws `Config` without the option `embedder_name`.
    pub fn with_embedder(&self, embedder: Arc<dyn Embedder>) -> Result<Self, MemdirError> {
        Ok(self.of(self.core.clone().with_embedder(Arc::new(Foreign(embedder)))?))
    }
}
