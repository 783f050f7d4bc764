//! [`Memory::search`].

use std::sync::Arc;

use memdir_store::path::{MAX_LEVELS, is_hidden};
use memdir_store::{ConfigError, Error};

use super::Memory;
use crate::command::{self, Dialect, SearchCall, SearchInput};
use crate::embedder::{Embedder, Installed};
use crate::files;
use crate::policies::Policies;
use crate::reply::{self, Content, Reply};
use crate::search::{
    Embedding, Kept, MAX_HITS, Question, SearchHit, SearchResults, Searcher, answer_for_model,
};
use crate::store::InContext;

/// The ranked search (feature `search`).
impl Memory {
    /// Returns the same memory with an embedder, so [`search`](Memory::search) also finds files by their meaning. It replaces an earlier
    /// embedder. The option [`embedder_name`](crate::MemoryOptions::embedder_name) is required.
    ///
    /// [`Embedder`] has an example.
    ///
    /// # Errors
    /// [`Error::Config`] if `embedder_name` is missing or empty.
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Result<Self, Error> {
        let name = self.options().embedder_name.as_deref().filter(|name| !name.is_empty());
        let Some(name) = name else {
            let problem = " is required with an embedder: its vectors are kept under this name";
            return Err(ConfigError::of_option("embedder_name").and(problem).into());
        };
        let embedder = Some(Installed { embedder, name: name.into() });
        // The index of another embedder has other vectors.
        Ok(Self { embedder, searcher: Arc::default(), ..self })
    }

    /// Returns the files at `path` and below it that answer a question best, at most `limit` and never more than 1,000, with their best passages.
    /// For exact lines use [`grep`](Memory::grep).
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// memory.create("/memories/people.md", "# People\n\n- Anna prefers green tea.\n")?;
    /// memory.create("/memories/tea.md", "Tea is kept in the kitchen.\n")?;
    ///
    /// let found = memory.search("Which tea does Anna like?", "/memories", 10)?;
    /// let best = &found.hits[0];
    /// assert_eq!(best.path.as_str(), "/memories/people.md");
    /// assert_eq!((best.passages[0].first_line, best.passages[0].last_line), (1, 3));
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// A file is a hit if it has any word of the question, whatever its ending. With an [embedder](Memory::with_embedder) a file is also a hit if its
    /// meaning is near. `"green tea"` requires a phrase, `-coffee` excludes a word,
    /// `path:notes` requires a text in the path. The words of a path are searched, too.
    ///
    /// A search finds every write that was acknowledged before it, by any process. It asks the store for changes, and reads the files that have
    /// changed. The first search of a memory reads all files, unless a process has kept an index
    /// ([`search_keep`](crate::MemoryOptions::search_keep)). The texts are held in memory, up to
    /// [`search_max_bytes`](crate::MemoryOptions::search_max_bytes), in an index that the clones and sessions of this memory share. In a local
    /// directory, a file is read again if it was changed within the last three seconds. On a network file system, a search finds a change by
    /// another machine once the system shows it, and the clocks of both machines must agree to about a second.
    ///
    /// With [`sensitive_on_view`](crate::MemoryOptions::sensitive_on_view) it searches the text that a view would show. Hidden files are left
    /// out, unless `path` is hidden: then the files there are read and ranked alone. With
    /// [`expire_after`](crate::MemoryOptions::expire_after) an expired file is no hit, also before it is removed. Images are found by their
    /// paths alone, and other files that are not text by the text at their beginning. A search is neither a view
    /// nor a use of a file.
    ///
    /// # Errors
    /// Same as [`list`](Memory::list).
    pub fn search(&self, query: &str, path: &str, limit: usize) -> Result<SearchResults, Error> {
        let path = &self.begin_at(path)?;
        let store = self.in_context();
        let limit = limit.min(MAX_HITS);
        let timeout = self.options().embedder_timeout;
        // It embeds the question only once.
        let mut embedding = self
            .embedder
            .as_ref()
            .map(|embedder| self.searcher.embedding(embedder, &store, timeout));
        let mut wanted = limit;
        loop {
            let question = Question { text: query, path, limit: wanted };
            let mut results = self.ranked(&store, &question, embedding.as_mut())?;
            let found = results.hits.len();
            if found == 0 && !files::exists(&store, path)? {
                return Err(reply::view_missing(path));
            }
            self.remove_expired(&store, &mut results.hits)?;
            if results.hits.len() >= limit || found < wanted {
                results.hits.truncate(limit);
                return Ok(results);
            }
            // Expired files were among the best, so others take their places.
            wanted = wanted.saturating_mul(2);
        }
    }

    fn ranked(
        &self,
        store: &InContext<'_>,
        question: &Question<'_>,
        embedding: Option<&mut Embedding<'_>>,
    ) -> Result<SearchResults, Error> {
        if question.path.names().any(is_hidden) {
            let files = files::list(store, question.path, MAX_LEVELS)?;
            let results = Searcher::search_among(store, &self.policies, question, files);
            let reason = || "hidden files have no vectors".to_owned();
            let words_only = self.embedder.as_ref().map(|_| reason());
            return results.map(|results| SearchResults { words_only, ..results });
        }
        let kept = self.kept_search();
        self.searcher.search(store, &self.policies, question, kept.as_ref(), embedding)
    }

    /// Executes one call of the search by a model: a tool beside the memory tool, which
    /// [`search_tool_definition`](crate::command::search_tool_definition) declares.
    ///
    /// The answer is a text with the paths of the best files, and their best passages with the line numbers that a view shows. As
    /// with [`execute`](Memory::execute), a model's mistake or a store's failure becomes a reply with `is_error`. The hooks are those of the six
    /// commands, and are not called.
    ///
    /// ```
    /// use memdir::command::SearchCall;
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// memory.create("/memories/people.md", "- Anna prefers green tea.\n")?;
    /// let reply = memory.execute_search(SearchCall::parse(r#"{"query": "What does Anna like?"}"#));
    /// assert_eq!(reply.content.to_string(), "/memories/people.md\n     1\t- Anna prefers green tea.");
    /// # Ok::<(), memdir::Error>(())
    /// ```
    #[must_use]
    pub fn execute_search(&self, call: SearchCall) -> Reply {
        let found = call.into_input().and_then(|SearchInput { query, path, limit }| {
            self.search(&query, path.as_deref().unwrap_or("/memories"), limit)
        });
        Reply::from(found.map(|results| Content::Text(answer_for_model(&results))))
    }

    /// Returns the tool of the search, named `prefix` followed by `search`. See
    /// [`search_tool_definition`](crate::command::search_tool_definition).
    ///
    /// # Errors
    /// Same as [`search_tool_definition`](crate::command::search_tool_definition).
    pub fn search_tool_definition(
        &self,
        dialect: Dialect,
        prefix: &str,
    ) -> Result<serde_json::Value, Error> {
        command::search_tool_definition(dialect, prefix)
    }

    /// Removes the files that have expired while the memory is open.
    fn remove_expired(
        &self,
        store: &InContext<'_>,
        hits: &mut Vec<SearchHit>,
    ) -> Result<(), Error> {
        let Policies { expiry, patterns, .. } = &*self.policies;
        let paths: Vec<_> = hits.iter().map(|hit| &hit.path).collect();
        let expired = expiry.are_expired(store, patterns, &paths).map_err(Error::Store)?;
        let mut expired = expired.into_iter();
        hits.retain(|_| !expired.next().unwrap_or_default());
        Ok(())
    }

    /// Where the index is kept for other processes. Several mounted stores keep none: a text of one would be in another.
    fn kept_search(&self) -> Option<Kept<'_>> {
        let (store, options) = (&**self.without_recorder(), self.options());
        let keeps = options.search_keep && store.mounts().is_none();
        keeps.then(|| Kept::new(InContext::new(store, &self.context()), options.read_only))
    }
}
