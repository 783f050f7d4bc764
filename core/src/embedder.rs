//! [`Embedder`]: your own model that turns texts into vectors, for searches by meaning.

use std::sync::Arc;

/// The error of an [`Embedder`].
pub type EmbedderError = Box<dyn std::error::Error + Send + Sync>;

/// A model that turns texts into vectors, so that a search also finds files whose words are not those of the question.
///
/// Give it to [`Memory::with_embedder`](crate::Memory::with_embedder), together with the option
/// [`embedder_name`](crate::MemoryOptions::embedder_name). A search embeds the question and each passage that has no vector yet. It joins the
/// ranking by vectors with that by words. If the embedder fails or takes longer than
/// [`embedder_timeout`](crate::MemoryOptions::embedder_timeout), the answer is by words alone, and
/// [`words_only`](crate::SearchResults::words_only) says why.
///
/// ```
/// use std::sync::Arc;
/// use memdir::{Embedder, EmbedderError, Memory, MemoryOptions};
///
/// /// Knows two meanings.
/// struct Toy;
///
/// impl Embedder for Toy {
///     fn embed(&self, texts: &[String], _is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
///         let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
///         let vector = |text: &String| {
///             vec![f32::from(has(text, &["car", "automobile"])), f32::from(has(text, &["tea", "drink"]))]
///         };
///         Ok(texts.iter().map(vector).collect())
///     }
/// }
///
/// let mut options = MemoryOptions::default();
/// options.embedder_name = Some("toy-1".into());
/// let memory = Memory::open("memory:", options)?.with_embedder(Arc::new(Toy))?;
/// memory.create("/memories/garage.md", "The car is red.\n")?;
/// memory.create("/memories/kitchen.md", "The tea is green.\n")?;
/// let found = memory.search("which colour has the automobile?", "/memories", 1)?;
/// assert_eq!(found.hits[0].path.as_str(), "/memories/garage.md");
/// assert_eq!(found.words_only, None);
/// # Ok::<(), memdir::Error>(())
/// ```
pub trait Embedder: Send + Sync {
    /// Returns a vector for each text, in the order of the texts. All vectors of an embedder have the same length, and their directions are
    /// compared.
    ///
    /// `is_query` is true for the words of a question, and false for passages of files. Many models have an instruction or a parameter for
    /// each. There is one text, or up to 64 of at most about 1,200 bytes below
    /// their paths.
    ///
    /// It is called on a thread of its own, up to 60 calls at once for a memory, and never while memdir holds a lock of a store. A call is not
    /// interrupted when the search no longer waits for it. Until it ends, or for a minute, no other one begins.
    ///
    /// It must not search the memory that it serves. On its own thread such a search has no vectors. On another one it calls the embedder again, up
    /// to 60 calls within each other. Then the first is late, and all of these searches are by words alone.
    ///
    /// # Errors
    /// Any error. The search then answers by words alone. Your program reads the error's text in the results, the model does not.
    fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError>;
}

/// The embedder of a memory.
#[derive(Clone)]
pub(crate) struct Installed {
    pub(crate) embedder: Arc<dyn Embedder>,
    /// Identifies its vectors.
    pub(crate) name: Arc<str>,
}
