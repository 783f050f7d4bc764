//! Your own code's access to the files of a memory, and the tool's definitions for other model hosts.

use memdir::command::{Dialect, search_tool_definition};
use memdir::{Error, GrepQuery, Memory, Project};
use memdir_bindings_shared::grep_query;
use memdir_bindings_shared::search::{TextUnit, in_unit};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Object, ToNapiValue, Unknown};
use napi_derive::napi;

use crate::answer::text as to_text;
use crate::arguments::given;
use crate::cancel::{Caller, Cancellation};
use crate::engine::Engine;
use crate::entry::StoreEntry;
use crate::errors::Failure;
use crate::options::{count, flag, optional_count, optional_string, string, strings, word};
use crate::results::Shown;
use crate::thread_pool::Purpose;

#[napi]
impl Engine {
    /// The text of a file.
    #[napi(
        ts_args_type = "path: string, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<string>"
    )]
    pub fn read<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let work = move |memory: &Memory| memory.read(&path).map(to_text);
        self.for_own_code(env, Purpose::View, cancellation, work, |text| text)
    }

    /// The text of a file as a model may see it.
    #[napi(
        ts_args_type = "path: string, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<string>"
    )]
    pub fn read_shown<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let work = move |memory: &Memory| memory.read_shown(&path).map(to_text);
        self.for_own_code(env, Purpose::View, cancellation, work, |text| text)
    }

    /// Writes a file; with `ifUnchanged` only if it holds that text.
    #[napi(
        ts_args_type = "path: string, text: string, ifUnchanged: string | null | undefined, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<void>"
    )]
    pub fn write<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        text: Unknown<'_>,
        if_unchanged: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let text = given(env, "text", text, string)?;
        let old = given(env, "ifUnchanged", if_unchanged, optional_string)?;
        let work = move |memory: &Memory| memory.write(&path, &text, old.as_deref());
        self.for_own_code(env, Purpose::Change, cancellation, work, |()| ())
    }

    /// The entries below a directory. `depth` is null for all levels.
    #[napi(
        ts_args_type = "path: string, depth: number | null, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<StoreEntry>>"
    )]
    pub fn list<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        depth: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let depth = given(env, "depth", depth, optional_count)?;
        let work = move |memory: &Memory| memory.list(&path, depth);
        self.for_own_code(env, Purpose::View, cancellation, work, |entries| {
            entries.into_iter().map(StoreEntry::from).collect::<Vec<_>>()
        })
    }

    /// True if a file or a directory exists at the path.
    #[napi(
        ts_args_type = "path: string, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<boolean>"
    )]
    pub fn exists<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let work = move |memory: &Memory| memory.exists(&path);
        self.for_own_code(env, Purpose::View, cancellation, work, |exists| exists)
    }

    /// The names and lines that match a text or a regular expression.
    #[napi(
        ts_args_type = "query: string, regex: boolean, ignoreCase: boolean, path: string, limit: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<results.GrepMatch>>"
    )]
    #[allow(clippy::too_many_arguments, reason = "what TypeScript takes as an object of options")]
    pub fn grep<'env>(
        &self,
        env: &'env Env,
        query: Unknown<'_>,
        regex: Unknown<'_>,
        ignore_case: Unknown<'_>,
        path: Unknown<'_>,
        limit: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let query = self::query(env, grep_query, query, regex, ignore_case)?;
        let path = given(env, "path", path, string)?;
        let limit = given(env, "limit", limit, count)?;
        let work = move |memory: &Memory| memory.grep(&query, &path, limit);
        self.for_own_code(env, Purpose::View, cancellation, work, Shown::of)
    }

    /// The files that answer a question best.
    #[napi(
        ts_args_type = "query: string, path: string, limit: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<results.SearchResults>"
    )]
    pub fn search<'env>(
        &self,
        env: &'env Env,
        query: Unknown<'_>,
        path: Unknown<'_>,
        limit: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let query = given(env, "query", query, string)?;
        let path = given(env, "path", path, string)?;
        let limit = given(env, "limit", limit, count)?;
        let work = move |memory: &Memory| {
            memory.search(&query, &path, limit).map(|found| in_unit(found, TextUnit::Utf16))
        };
        self.for_own_code(env, Purpose::View, cancellation, work, Shown::of)
    }

    /// A table of contents in at most `maxChars` characters.
    #[napi(
        ts_args_type = "maxChars: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<string>"
    )]
    pub fn index<'env>(
        &self,
        env: &'env Env,
        max_chars: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let max_chars = given(env, "maxChars", max_chars, count)?;
        let work = move |memory: &Memory| memory.index(max_chars).map(to_text);
        self.for_own_code(env, Purpose::View, cancellation, work, |text| text)
    }

    /// Creates the files of a project of several sessions. Returns the paths of the files that were
    /// created.
    #[napi(
        ts_args_type = "about: string, features: readonly string[], init: string, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<string>>"
    )]
    pub fn bootstrap<'env>(
        &self,
        env: &'env Env,
        about: Unknown<'_>,
        features: Unknown<'_>,
        init: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let about = given(env, "about", about, string)?;
        let features = given(env, "features", features, strings)?;
        let init = given(env, "init", init, string)?;
        let work = move |memory: &Memory| {
            let features: Vec<&str> = features.iter().map(String::as_str).collect();
            memory.bootstrap(&Project { about: &about, features: &features, init: &init })
        };
        self.for_own_code(env, Purpose::Change, cancellation, work, Shown::of)
    }

    /// Makes the stale guard forget everything that the model has seen.
    #[napi]
    pub fn forget_views(&self) {
        self.memory().forget_views();
    }

    /// The JSON text of the tool's definition.
    #[napi(ts_args_type = "dialect: string")]
    pub fn tool_definition(&self, env: &Env, dialect: Unknown<'_>) -> napi::Result<String> {
        let dialect: Dialect = given(env, "dialect", dialect, word)?;
        Ok(self.memory().tool_definition(dialect).to_string())
    }

    /// The JSON texts of the definitions of a tool for each command.
    #[napi(ts_args_type = "dialect: string, prefix: string")]
    pub fn tool_definitions(
        &self,
        env: &Env,
        dialect: Unknown<'_>,
        prefix: Unknown<'_>,
    ) -> napi::Result<Vec<String>> {
        let dialect: Dialect = given(env, "dialect", dialect, word)?;
        let prefix = given(env, "prefix", prefix, string)?;
        let tools = self.memory().tool_definitions(dialect, &prefix);
        let tools = tools.map_err(|error| Failure::from(error).into_js(env))?;
        Ok(tools.iter().map(ToString::to_string).collect())
    }

    /// The JSON text of the definition of the search.
    #[napi(ts_args_type = "dialect: string, prefix: string")]
    pub fn search_tool_definition(
        &self,
        env: &Env,
        dialect: Unknown<'_>,
        prefix: Unknown<'_>,
    ) -> napi::Result<String> {
        let dialect: Dialect = given(env, "dialect", dialect, word)?;
        let prefix = given(env, "prefix", prefix, string)?;
        let tool = search_tool_definition(dialect, &prefix);
        Ok(tool.map_err(|error| Failure::from(error).into_js(env))?.to_string())
    }
}

impl Engine {
    pub(crate) fn for_own_code<'env, T, D>(
        &self,
        env: &'env Env,
        purpose: Purpose,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
        work: impl FnOnce(&Memory) -> Result<T, Error> + Send + 'static,
        finish: impl FnOnce(T) -> D + Send + 'static,
    ) -> napi::Result<Object<'env>>
    where
        T: 'static,
        D: ToNapiValue + Send + 'static,
    {
        let caller = Caller::of(cancellation);
        let memory = Caller::of_memory(caller.as_ref(), self.memory());
        self.workers().promise(
            env,
            purpose,
            caller,
            move || work(&memory).map(finish),
            |env, result| result.map_err(|error| Failure::from(error).into_js(&env)),
        )
    }
}

/// The query of `grep` and `grepHistory`, by `grep_query`, or of `redactText`, by `redaction_query`.
pub(crate) fn query(
    env: &Env,
    of: fn(&str, bool, bool) -> Result<GrepQuery, Error>,
    query: Unknown<'_>,
    regex: Unknown<'_>,
    ignore_case: Unknown<'_>,
) -> napi::Result<GrepQuery> {
    let query = given(env, "query", query, string)?;
    let regex = given(env, "regex", regex, flag)?;
    let ignore_case = given(env, "ignoreCase", ignore_case, flag)?;
    of(&query, regex, ignore_case).map_err(|error| Failure::from(error).into_js(env))
}
