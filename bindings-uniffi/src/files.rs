//! What your own code does with the files of a memory, and the tool's definitions for other model hosts.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use memdir::{ConfigError, Project};
use memdir_bindings_shared::grep_query;

use crate::border::{self, MemdirText};
use crate::error::MemdirError;
use crate::memory::Memory;
use crate::results::{Entry, GrepMatch};

/// Which model host a tool's definition is for.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `name`, `description`, and `parameters` in JSON Schema 2020-12.
    JsonSchema,
    /// A function tool of OpenAI's Responses API, strict.
    OpenAi,
    /// A function tool of OpenAI's Chat Completions API, strict. Many other hosts understand it.
    OpenAiChat,
    /// A custom tool of Anthropic's Messages API, for where the memory tool itself cannot be used.
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
    /// The text of a file, as it is: also what views hide (`sensitive_on_view`). The model cannot call
    /// this, hooks are not called, and it does not count as a use of the file.
    ///
    /// Throws `Refused` if there is no file or it is not text, `Store` if the store is broken.
    pub fn read(&self, path: MemdirText) -> Result<String, MemdirError> {
        let path = path.option("path")?;
        Ok(self.core.read(&path)?)
    }

    /// The text of a file as a model may see it: redacted if views are (`sensitive_on_view`), and without line numbers. It counts
    /// as a use of the file, as a view does. For giving a file to a model other than by `view`.
    ///
    /// Throws as `read`, and `Refused` if the text is too large to be shown.
    pub fn read_shown(&self, path: MemdirText) -> Result<String, MemdirError> {
        let path = path.option("path")?;
        Ok(self.core.read_shown(&path)?)
    }

    /// Writes a file, which is made, with its parents, or replaced as a whole. With `if_unchanged` it is
    /// only replaced if it holds this text, which is what `read` returned before. The model cannot call
    /// this, and hooks are not called.
    ///
    /// The policies are those of the commands: patterns of paths, limits, sensitive text. For
    /// `stale_guard` it is somebody else's change: the model has to view the file again.
    ///
    /// Throws `Refused` if a policy forbids it or the file does not hold `if_unchanged`, and then nothing
    /// was changed. Throws `Store` if the store is broken.
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

    /// The entries below a directory, `depth` levels deep (null for all), in the order of their paths,
    /// without hidden ones and what is below them. Of a file: the file itself. Null as the path is
    /// `/memories`.
    ///
    /// Throws `Refused` if nothing is there, `Store` if the store is broken.
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

    /// Whether there is a file or a directory.
    ///
    /// Throws `Refused` for a text that is no path, `Store` if the store is broken.
    pub fn exists(&self, path: MemdirText) -> Result<bool, MemdirError> {
        let path = path.option("path")?;
        Ok(self.core.exists(&path)?)
    }

    /// The first `limit` matches at `path` and below it: names of files and directories, and lines of
    /// files, in the order of the paths and lines. Hidden entries and files that are not text are left
    /// out. With `sensitive_on_view` the texts are searched as a view shows them. Null as the path is
    /// `/memories`.
    ///
    /// With `regex` the query is a regular expression in the syntax of Rust's `regex-lite`: without
    /// look-around and back-references, in linear time.
    ///
    /// It reads every file until it has enough. Throws `Refused` if nothing is there, `Config` if the
    /// regular expression is wrong, `Store` if the store is broken.
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

    /// A table of contents for a system prompt, in at most `max_chars` characters: a line for each file
    /// with its path, its size, and its first line. Files that match `never_expire` come first, then
    /// what was written last. If not all files fit, the last line says how many are left out.
    ///
    /// Throws `Store` if the store is broken.
    #[uniffi::method(default(max_chars = 2000))]
    pub fn index(&self, max_chars: i64) -> Result<String, MemdirError> {
        let max_chars = count("max_chars", max_chars)?;
        Ok(self.core.index(max_chars)?)
    }

    /// Lays out the files with which a project of several sessions begins: `progress.md`, `features.md`
    /// and `init.md`. A file that is there already stays as it is. Returns the paths of those that were
    /// made. The model cannot call this.
    ///
    /// `about` is what the project is about, `features` are what is to be built, one after the other, and
    /// `init` is how the project is set up and started.
    ///
    /// Throws `Refused` if a policy forbids it; files that were made stay. Throws `Store` if the store is
    /// broken.
    #[uniffi::method(default(init = None))]
    pub fn bootstrap(
        &self,
        about: MemdirText,
        features: Vec<MemdirText>,
        init: Option<MemdirText>,
    ) -> Result<Vec<String>, MemdirError> {
        let about = about.option("about")?;
        let features = border::texts("features", features)?;
        let features: Vec<&str> = features.iter().map(String::as_str).collect();
        let init = init.map_or(Ok(String::new()), |init| init.option("init"))?;
        let project = Project { about: &about, features: &features, init: &init };
        let made = self.core.bootstrap(&project)?;
        Ok(made.into_iter().map(|path| path.as_str().to_owned()).collect())
    }

    /// Makes the stale guard refuse edits of every file that the model has seen, until it views the file
    /// again. Call it when the conversation was compacted, of which the guard cannot know. Not after
    /// context editing that spares the memory's results.
    pub fn forget_views(&self) {
        self.core.forget_views();
    }

    /// The JSON text of one tool named `memory`, for a model host that does not know Anthropic's tool.
    /// Give what the model sends to `execute`. If the memory is read-only, its only command is `view`.
    /// Null as the dialect is JSON Schema.
    ///
    /// No schema language says which fields belong to which command, so it also admits calls that lack
    /// a field; they are refused with a sentence. `tool_definitions` is exact.
    #[must_use]
    #[uniffi::method(default(dialect = None))]
    pub fn tool_definition(&self, dialect: Option<Dialect>) -> String {
        self.core.tool_definition(dialect.unwrap_or(Dialect::JsonSchema).into()).to_string()
    }

    /// The JSON texts of a tool for each command, named `prefix` (at most 32 ASCII letters, digits, `_`
    /// and `-`) and the command's name. If the memory is read-only, only `view`. Give a call of one to
    /// `execute` with the command's name as its `command`. Null as the dialect is JSON Schema.
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
}

pub(crate) fn path_or_root(path: Option<MemdirText>) -> Result<String, MemdirError> {
    path.map_or(Ok("/memories".to_owned()), |path| path.option("path"))
}

pub(crate) fn count(name: &str, number: i64) -> Result<usize, MemdirError> {
    usize::try_from(number).map_err(|_| {
        ConfigError::of_option(name).and(" must be a whole number from 0 on").got(number).into()
    })
}
