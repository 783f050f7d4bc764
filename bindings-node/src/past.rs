//! What the history of a memory knows of times before, for your own code.

use std::time::Duration;

use memdir::history::{BlamedLine as CoreLine, PastFile as CoreFile, RedactedText};
use memdir::{HistoryMatch, Memory};
use memdir_bindings_shared::history::export;
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Object, Uint8Array, Unknown};
use napi_derive::napi;

use crate::cancel::Cancellation;
use crate::engine::Engine;
use crate::entry::to_millis;
use crate::files::{given, query};
use crate::history::{FileVersion, time};
use crate::options::{count, flag, string};
use crate::progress::number;
use crate::thread_pool::Purpose;

/// A place where something was found that is not there any more.
#[napi(object, object_from_js = false)]
pub(crate) struct FoundBefore {
    /// The newest version that has it.
    pub version: FileVersion,
    /// The number of the line, counted from 1; none if the name was found.
    #[napi(ts_type = "number | undefined")]
    pub line: Option<i64>,
    /// The line, or the name.
    pub text: String,
}

impl From<HistoryMatch> for FoundBefore {
    fn from(found: HistoryMatch) -> Self {
        let line = found.line.map(number);
        Self { version: found.version.into(), line, text: found.text }
    }
}

/// A file as it was at a time.
#[napi(object, object_from_js = false)]
pub(crate) struct PastFile {
    pub path: String,
    #[napi(ts_type = "number | undefined")]
    pub size: Option<i64>,
    /// In milliseconds since 1970.
    #[napi(ts_type = "number | undefined")]
    pub modified: Option<f64>,
    #[napi(ts_type = "string | undefined")]
    pub version: Option<String>,
}

impl From<CoreFile> for PastFile {
    fn from(file: CoreFile) -> Self {
        Self {
            path: file.path.to_string(),
            size: file.size.map(number),
            modified: file.modified.map(to_millis),
            version: file.version.map(|version| version.to_string()),
        }
    }
}

/// A line of a file, and the version that brought it.
#[napi(object, object_from_js = false)]
pub(crate) struct BlamedLine {
    /// The number of the line, counted from 1.
    pub line: i64,
    /// The line without its line feed.
    pub text: String,
    #[napi(ts_type = "string | undefined")]
    pub version: Option<String>,
    #[napi(ts_type = "string | undefined")]
    pub change: Option<String>,
    #[napi(ts_type = "string | undefined")]
    pub operation: Option<String>,
    #[napi(ts_type = "string | undefined")]
    pub actor: Option<String>,
    /// In milliseconds since 1970.
    #[napi(ts_type = "number | undefined")]
    pub time: Option<f64>,
    pub may_be_older: bool,
}

impl From<CoreLine> for BlamedLine {
    fn from(line: CoreLine) -> Self {
        Self {
            line: number(line.line),
            text: line.text,
            version: line.version.map(|id| id.to_string()),
            change: line.change.map(|id| id.to_string()),
            operation: line.operation.map(|operation| operation.as_str().to_owned()),
            actor: line.actor,
            time: line.time.map(to_millis),
            may_be_older: line.may_be_older,
        }
    }
}

/// JavaScript's times are whole milliseconds. What was done within this one belongs to it, so the time of a version is a
/// time with this version.
const WITHIN: Duration = Duration::from_nanos(999_999);

/// What was removed from the history, or would be.
#[napi(object, object_from_js = false)]
pub(crate) struct RedactedVersions {
    #[napi(ts_type = "string | undefined")]
    pub change: Option<String>,
    pub versions: Vec<FileVersion>,
    pub current: Vec<String>,
    pub names: Vec<String>,
    pub kept_names: Vec<String>,
}

impl From<RedactedText> for RedactedVersions {
    fn from(redacted: RedactedText) -> Self {
        Self {
            change: redacted.change.as_ref().map(ToString::to_string),
            versions: redacted.versions.into_iter().map(FileVersion::from).collect(),
            current: redacted.current.iter().map(ToString::to_string).collect(),
            names: redacted.names.iter().map(ToString::to_string).collect(),
            kept_names: redacted.kept_names.iter().map(ToString::to_string).collect(),
        }
    }
}

#[napi]
impl Engine {
    /// Removes every content with a text from the history for good.
    #[napi(
        ts_args_type = "query: string, regex: boolean, ignoreCase: boolean, reason: string, dryRun: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<RedactedVersions>"
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
        let query = query(env, sought, regex, ignore_case)?;
        let reason = given(env, "reason", reason, string)?;
        let dry_run = given(env, "dryRun", dry_run, flag)?;
        let work = move |memory: &Memory| memory.redact_text(&query, &reason, dry_run);
        self.of_history(env, Purpose::Change, cancellation, work, RedactedVersions::from)
    }

    /// The whole id of which this is a part.
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
        self.of_history(env, Purpose::View, cancellation, work, |id| id.to_string())
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

    /// What files held once, and hold no more.
    #[napi(
        ts_args_type = "query: string, regex: boolean, ignoreCase: boolean, path: string, limit: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<FoundBefore>>"
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
        let query = query(env, sought, regex, ignore_case)?;
        let path = given(env, "path", path, string)?;
        let limit = given(env, "limit", limit, count)?;
        let work = move |memory: &Memory| memory.grep_history(&query, &path, limit);
        self.of_history(env, Purpose::View, cancellation, work, |found| {
            found.into_iter().map(FoundBefore::from).collect::<Vec<_>>()
        })
    }

    /// The files that there were at a time, in milliseconds since 1970.
    #[napi(
        ts_args_type = "at: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<PastFile>>"
    )]
    pub fn files_at<'env>(
        &self,
        env: &'env Env,
        at: f64,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let at = time(env, "at", at)? + WITHIN;
        let work = move |memory: &Memory| memory.files_at(at);
        self.of_history(env, Purpose::View, cancellation, work, |files| {
            files.into_iter().map(PastFile::from).collect::<Vec<_>>()
        })
    }

    /// What a file held at a time, in milliseconds since 1970; null if there was no file.
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
        let at = time(env, "at", at)? + WITHIN;
        let work = move |memory: &Memory| memory.read_at(&path, at);
        self.of_history(env, Purpose::View, cancellation, work, |content| {
            content.map(Uint8Array::from)
        })
    }

    /// For each line of a file the version that brought it.
    #[napi(
        ts_args_type = "path: string, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<BlamedLine>>"
    )]
    pub fn blame<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let work = move |memory: &Memory| memory.blame(&path);
        self.of_history(env, Purpose::View, cancellation, work, |lines| {
            lines.into_iter().map(BlamedLine::from).collect::<Vec<_>>()
        })
    }
}
