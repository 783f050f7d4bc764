//! Queries about the past of a memory, for your own code.

use std::time::Duration;

use memdir::Memory;
use memdir_bindings_shared::history::export;
use memdir_bindings_shared::{grep_query, redaction_query};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Object, Uint8Array, Unknown};
use napi_derive::napi;

use crate::arguments::given;
use crate::cancel::Cancellation;
use crate::engine::Engine;
use crate::files::query;
use crate::history::time;
use crate::options::{count, flag, string};
use crate::results::Shown;
use crate::thread_pool::Purpose;
use crate::times::LAST_NANOS;

#[napi]
impl Engine {
    /// Permanently removes every content that contains a text from the history.
    #[napi(
        ts_args_type = "query: string, regex: boolean, ignoreCase: boolean, reason: string, dryRun: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<results.RedactedText>"
    )]
    #[allow(clippy::too_many_arguments, reason = "what TypeScript takes as an object of options")]
    pub fn redact_text<'env>(
        &self,
        env: &'env Env,
        sought: Unknown<'_>,
        regex: Unknown<'_>,
        ignore_case: Unknown<'_>,
        reason: Unknown<'_>,
        dry_run: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let query = query(env, redaction_query, sought, regex, ignore_case)?;
        let reason = given(env, "reason", reason, string)?;
        let dry_run = given(env, "dryRun", dry_run, flag)?;
        let work = move |memory: &Memory| memory.redact_text(&query, &reason, dry_run);
        self.of_history(env, Purpose::Change, cancellation, work, Shown::of)
    }

    /// Completes an id from a part of it.
    #[napi(
        ts_args_type = "part: string, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<string>"
    )]
    pub fn resolve_id<'env>(
        &self,
        env: &'env Env,
        part: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let part = given(env, "part", part, string)?;
        let work = move |memory: &Memory| memory.resolve_id(&part);
        self.of_history(env, Purpose::View, cancellation, work, Shown::of)
    }

    /// The history as a stream for `git fast-import`.
    #[napi(
        ts_args_type = "cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Uint8Array>"
    )]
    pub fn export_history<'env>(
        &self,
        env: &'env Env,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        self.of_history(env, Purpose::View, cancellation, export, Uint8Array::from)
    }

    /// Matches in past contents that the current files no longer have.
    #[napi(
        ts_args_type = "query: string, regex: boolean, ignoreCase: boolean, path: string, limit: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<results.HistoryMatch>>"
    )]
    #[allow(clippy::too_many_arguments, reason = "what TypeScript takes as an object of options")]
    pub fn grep_history<'env>(
        &self,
        env: &'env Env,
        sought: Unknown<'_>,
        regex: Unknown<'_>,
        ignore_case: Unknown<'_>,
        path: Unknown<'_>,
        limit: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let query = query(env, grep_query, sought, regex, ignore_case)?;
        let path = given(env, "path", path, string)?;
        let limit = given(env, "limit", limit, count)?;
        let work = move |memory: &Memory| memory.grep_history(&query, &path, limit);
        self.of_history(env, Purpose::View, cancellation, work, Shown::of)
    }

    /// The files that existed at a time, in milliseconds since 1970.
    #[napi(
        ts_args_type = "at: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<results.PastFile>>"
    )]
    pub fn files_at<'env>(
        &self,
        env: &'env Env,
        at: f64,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let at = time(env, "at", at)? + Duration::from_nanos(LAST_NANOS);
        let work = move |memory: &Memory| memory.files_at(at);
        self.of_history(env, Purpose::View, cancellation, work, Shown::of)
    }

    /// The content of a file at a time, in milliseconds since 1970; null if there was no file.
    #[napi(
        ts_args_type = "path: string, at: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Uint8Array | null>"
    )]
    pub fn read_at<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        at: f64,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let at = time(env, "at", at)? + Duration::from_nanos(LAST_NANOS);
        let work = move |memory: &Memory| memory.read_at(&path, at);
        self.of_history(env, Purpose::View, cancellation, work, |content| {
            content.map(Uint8Array::from)
        })
    }

    /// For each line of a file, the version that added it.
    #[napi(
        ts_args_type = "path: string, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<results.BlamedLine>>"
    )]
    pub fn blame<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let work = move |memory: &Memory| memory.blame(&path);
        self.of_history(env, Purpose::View, cancellation, work, Shown::of)
    }
}
