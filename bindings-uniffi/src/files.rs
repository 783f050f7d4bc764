//! Your own code's access to the files of a memory, and the tool's definitions for other model hosts.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use memdir::command::search_tool_definition;
use memdir::{ConfigError, Project};
use memdir_bindings_shared::grep_query;
use memdir_bindings_shared::search::{TextUnit, in_unit};

use crate::border::MemdirText;
use crate::error::MemdirError;
use crate::memory::Memory;
use crate::option_values::texts;
use crate::results::{Entry, GrepMatch, SearchResults};

/// The model host that a tool's definition is for.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `name`, `description`, and `parameters` in JSON Schema 2020-12.
    JsonSchema,
    /// A function tool of OpenAI's Responses API, strict.
    OpenAi,
    /// A function tool of OpenAI's Chat Completions API, strict. Many other hosts understand it.
    OpenAiChat,
    /// A custom tool of Anthropic's Messages API, if the memory tool itself cannot be used.
    AnthropicCustom,
    /// A function declaration of the Gemini API.
    Gemini,
}

impl From<Dialect> for memdir::command::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::JsonSchema => Self::JsonSchema,
            Dialect::OpenAi => Self::OpenAi,
            Dialect::OpenAiChat => Self::OpenAiChat,
            Dialect::AnthropicCustom => Self::AnthropicCustom,
            Dialect::Gemini => Self::Gemini,
        }
    }
}

#[uniffi::export]
impl Memory {
    /// The text of a file as it is stored, including text that views hide (`sensitive_on_view`). The model cannot call
    /// this, hooks are not called, and it does not count as a use of the file.
    ///
    /// Throws `Refused` if there is no file or it is not text, `Store` if the store is broken.
    pub fn read(&self, path: MemdirText) -> Result<String, MemdirError> {
        let path = path.option("path")?;
        Ok(self.core.read(&path)?)
    }

    /// The text of a file as a model may see it: redacted if views are (`sensitive_on_view`), and without line numbers.
    /// Like a view, it counts as a use of the file. Use it to give a file to a model without `view`.
    ///
    /// Throws as `read`, and `Refused` if the text is too large to be shown.
    pub fn read_shown(&self, path: MemdirText) -> Result<String, MemdirError> {
        let path = path.option("path")?;
        Ok(self.core.read_shown(&path)?)
    }

    /// Writes a whole file: creates it with its parents, or replaces its content. With `if_unchanged` it only replaces a
    /// file that holds this text, which an earlier `read` returned. The model cannot call this, and hooks are not called.
    ///
    /// The same policies apply as for commands: path patterns, limits, sensitive text. `stale_guard` treats it as a change
    /// by someone else, so the model has to view the file again.
    ///
    /// Throws `Refused` if a policy forbids it or the file does not hold `if_unchanged`, and then nothing was changed.
    /// Throws `Store` if the store is broken.
    #[uniffi::method(default(if_unchanged = None))]
    pub fn write(
        &self,
        path: MemdirText,
        text: MemdirText,
        if_unchanged: Option<MemdirText>,
    ) -> Result<(), MemdirError> {
        let path = path.option("path")?;
        let text = text.option("text")?;
        let old = if_unchanged.map(|old| old.option("if_unchanged")).transpose()?;
        Ok(self.core.write(&path, &text, old.as_deref())?)
    }

    /// The entries below a directory, `depth` levels deep (null for all), sorted by path. Hidden entries, and everything
    /// below them, are left out. For a file, the list contains only the file itself. A null path is `/memories`.
    ///
    /// Throws `Refused` if the path does not exist, `Store` if the store is broken.
    #[uniffi::method(default(path = None, depth = Some(1)))]
    pub fn list(
        &self,
        path: Option<MemdirText>,
        depth: Option<i64>,
    ) -> Result<Vec<Entry>, MemdirError> {
        let path = path_or_root(path)?;
        let depth = depth.map(|depth| count("depth", depth)).transpose()?;
        let entries = self.core.list(&path, depth)?;
        Ok(entries.into_iter().map(Entry::from).collect())
    }

    /// True if a file or a directory exists at the path.
    ///
    /// Throws `Refused` if the path is not valid, `Store` if the store is broken.
    pub fn exists(&self, path: MemdirText) -> Result<bool, MemdirError> {
        let path = path.option("path")?;
        Ok(self.core.exists(&path)?)
    }

    /// The first `limit` matches at `path` and below it: names of files and directories, and lines of files, sorted by path
    /// and line. Hidden entries and files that are not text are left out. With `sensitive_on_view` it searches the texts as
    /// a view shows them. A null path is `/memories`.
    ///
    /// With `regex` the query is a regular expression in the syntax of Rust's `regex-lite`: without look-around and
    /// back-references, in linear time.
    ///
    /// It reads files until it has enough matches. Throws `Refused` if the path does not exist, `Config` if the regular
    /// expression is wrong, `Store` if the store is broken.
    #[uniffi::method(default(regex = false, ignore_case = false, path = None, limit = 100))]
    pub fn grep(
        &self,
        query: MemdirText,
        regex: bool,
        ignore_case: bool,
        path: Option<MemdirText>,
        limit: i64,
    ) -> Result<Vec<GrepMatch>, MemdirError> {
        let query = query.option("query")?;
        let path = path_or_root(path)?;
        let limit = count("limit", limit)?;
        let query = grep_query(&query, regex, ignore_case)?;
        let found = self.core.grep(&query, &path, limit)?;
        Ok(found.into_iter().map(GrepMatch::from).collect())
    }

    /// The files at `path` and below it that answer a question best, the best first, with their best passages. There are at
    /// most `limit` of them, and never more than 1,000. For exact lines use `grep`. A null path is `/memories`.
    ///
    /// A file is a hit if it has any word of the question, whatever its ending. `"green tea"` requires a phrase,
    /// `-coffee` excludes a word, `path:notes` requires a text in the path. Hidden files are left out. With
    /// `sensitive_on_view` it searches the texts as a view shows them.
    ///
    /// It finds every write that was acknowledged before it, by any process. The first search of a memory reads all files,
    /// later ones only what has changed. The texts are held in memory, up to `search_max_bytes`.
    ///
    /// Throws `Refused` if the path does not exist, `Store` if the store is broken.
    #[uniffi::method(default(path = None, limit = 10))]
    pub fn search(
        &self,
        query: MemdirText,
        path: Option<MemdirText>,
        limit: i64,
    ) -> Result<SearchResults, MemdirError> {
        let query = query.option("query")?;
        let found = self.core.search(&query, &path_or_root(path)?, count("limit", limit)?)?;
        Ok(in_unit(found, TextUnit::Utf16).into())
    }

    /// A table of contents for a system prompt, in at most `max_chars` characters: a line for each file with its path, its
    /// size, and its first line. Files that match `never_expire` come first, then the most recently written ones. If not
    /// all files fit, the last line says how many are left out.
    ///
    /// Throws `Store` if the store is broken.
    #[uniffi::method(default(max_chars = 2000))]
    pub fn index(&self, max_chars: i64) -> Result<String, MemdirError> {
        let max_chars = count("max_chars", max_chars)?;
        Ok(self.core.index(max_chars)?)
    }

    /// Creates the files with which a project of several sessions begins: `progress.md`, `features.md` and `init.md`.
    /// Existing files are left unchanged. Returns the paths of the files that were created. The model cannot call this.
    ///
    /// `about` describes the project. `features` are the features to build, one after the other. `init` is how to set up
    /// and start the project.
    ///
    /// Throws `Refused` if a policy forbids it; the files created before it stay. Throws `Store` if the store is broken.
    #[uniffi::method(default(init = None))]
    pub fn bootstrap(
        &self,
        about: MemdirText,
        features: Vec<MemdirText>,
        init: Option<MemdirText>,
    ) -> Result<Vec<String>, MemdirError> {
        let about = about.option("about")?;
        let features = texts("features", features)?;
        let features: Vec<&str> = features.iter().map(String::as_str).collect();
        let init = init.map_or(Ok(String::new()), |init| init.option("init"))?;
        let project = Project { about: &about, features: &features, init: &init };
        let made = self.core.bootstrap(&project)?;
        Ok(made.into_iter().map(|path| path.as_str().to_owned()).collect())
    }

    /// Makes the stale guard refuse edits of every file that the model has seen, until it views the file again. Call it
    /// after the conversation was compacted, because the guard cannot detect that. It is not needed after context editing
    /// that keeps the memory tool's results.
    pub fn forget_views(&self) {
        self.core.forget_views();
    }

    /// The JSON text of one tool named `memory`, for a model host without built-in support for Anthropic's tool. Pass the
    /// model's input to `execute`. If the memory is read-only, its only command is `view`. A null dialect is JSON Schema.
    ///
    /// No schema language can tie fields to a command, so the schema also admits calls that lack a field. They are refused
    /// with an explanation for the model. The schemas of `tool_definitions` are exact.
    #[must_use]
    #[uniffi::method(default(dialect = None))]
    pub fn tool_definition(&self, dialect: Option<Dialect>) -> String {
        self.core.tool_definition(dialect.unwrap_or(Dialect::JsonSchema).into()).to_string()
    }

    /// The JSON texts of one tool for each command, named `prefix` plus the command's name. The prefix has at most 32 ASCII
    /// letters, digits, `_` and `-`. If the memory is read-only, only `view`. Pass the model's input to `execute` with the
    /// command's name as its `command`. A null dialect is JSON Schema.
    ///
    /// Throws `Config` if the prefix is wrong.
    #[uniffi::method(default(dialect = None, prefix = None))]
    pub fn tool_definitions(
        &self,
        dialect: Option<Dialect>,
        prefix: Option<MemdirText>,
    ) -> Result<Vec<String>, MemdirError> {
        let prefix = prefix.map_or(Ok(String::new()), |prefix| prefix.option("prefix"))?;
        let dialect = dialect.unwrap_or(Dialect::JsonSchema);
        let tools = self.core.tool_definitions(dialect.into(), &prefix)?;
        Ok(tools.iter().map(ToString::to_string).collect())
    }

    /// The JSON text of the search as a tool beside the memory tool, named `prefix` plus `search`. A null prefix is
    /// `memory_`. Pass the model's input to `execute_search`. A null dialect is JSON Schema.
    ///
    /// Throws `Config` if the prefix is wrong.
    #[uniffi::method(default(dialect = None, prefix = None))]
    pub fn search_tool_definition(
        &self,
        dialect: Option<Dialect>,
        prefix: Option<MemdirText>,
    ) -> Result<String, MemdirError> {
        let prefix = prefix.map_or(Ok("memory_".to_owned()), |prefix| prefix.option("prefix"))?;
        let dialect = dialect.unwrap_or(Dialect::JsonSchema);
        Ok(search_tool_definition(dialect.into(), &prefix)?.to_string())
    }
}

pub(crate) fn path_or_root(path: Option<MemdirText>) -> Result<String, MemdirError> {
    path.map_or(Ok("/memories".to_owned()), |path| path.option("path"))
}

pub(crate) fn count(name: &str, number: i64) -> Result<usize, MemdirError> {
    usize::try_from(number).map_err(|_| {
        ConfigError::of_option(name).and(" must be a whole number from 0 on").got(number).into()
    })
}
