//! The history of a memory, for your own code.

use std::time::{Duration, SystemTime};

use memdir::history::{HistoryError, Restored as CoreRestored, Version as CoreVersion};
use memdir::{ConfigError, Memory};
use memdir_bindings_shared::history::{Query, Undo, id, undo_options};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Object, ToNapiValue, Uint8Array, Unknown};
use napi_derive::napi;

use crate::cancel::{Caller, Cancellation};
use crate::conflict::Conflict;
use crate::engine::Engine;
use crate::entry::{from_millis, to_millis};
use crate::errors::{Failure, history_to_js};
use crate::files::{given, optional};
use crate::options::{count, flag, string};
use crate::thread_pool::Purpose;

/// One version of one file. The time is in milliseconds since 1970.
#[napi(object, object_from_js = false)]
pub(crate) struct FileVersion {
    pub id: String,
    pub change: String,
    #[napi(
        ts_type = "'created' | 'modified' | 'overwritten' | 'renamed' | 'deleted' | 'expired' | 'cleared' | 'restored' | 'imported' | 'redacted' | 'external'"
    )]
    pub operation: &'static str,
    pub path: String,
    #[napi(ts_type = "string | undefined")]
    pub old_path: Option<String>,
    pub time: f64,
    #[napi(ts_type = "string | undefined")]
    pub actor: Option<String>,
    #[napi(ts_type = "number | undefined")]
    pub size: Option<i64>,
    #[napi(ts_type = "string | undefined")]
    pub sha256: Option<String>,
    pub is_current: bool,
    #[napi(ts_type = "string | undefined")]
    pub redacted: Option<String>,
}

impl From<CoreVersion> for FileVersion {
    fn from(version: CoreVersion) -> Self {
        Self {
            id: version.id.to_string(),
            change: version.change.to_string(),
            operation: version.operation.as_str(),
            path: version.path.to_string(),
            old_path: version.old_path.map(|path| path.to_string()),
            time: to_millis(version.time),
            actor: version.actor,
            size: version.size.map(|size| i64::try_from(size).unwrap_or(i64::MAX)),
            sha256: version.sha256,
            is_current: version.is_current,
            redacted: version.redacted,
        }
    }
}

/// What was done to a file to bring back an earlier state.
#[napi(object, object_from_js = false)]
pub(crate) struct RestoredFile {
    #[napi(ts_type = "'created' | 'modified' | 'renamed' | 'deleted'")]
    pub operation: &'static str,
    pub path: String,
    #[napi(ts_type = "string | undefined")]
    pub old_path: Option<String>,
    #[napi(ts_type = "string | undefined")]
    pub merged: Option<String>,
}

/// The change that brought back an earlier state, and its files.
#[napi(object, object_from_js = false)]
pub(crate) struct Restored {
    #[napi(ts_type = "string | undefined")]
    pub change: Option<String>,
    pub files: Vec<RestoredFile>,
    pub skipped: Vec<Conflict>,
}

impl From<CoreRestored> for Restored {
    fn from(restored: CoreRestored) -> Self {
        let files = restored.files.into_iter().map(|file| RestoredFile {
            operation: file.operation.as_str(),
            path: file.path.to_string(),
            old_path: file.old_path.map(|path| path.to_string()),
            merged: file.merged,
        });
        let skipped = restored.skipped.iter().map(Conflict::from).collect();
        let change = restored.change.map(|change| change.to_string());
        Self { change, files: files.collect(), skipped }
    }
}

#[napi]
impl Engine {
    /// A session of the same memory, whose changes are recorded as this actor's.
    #[napi(ts_args_type = "actor: string")]
    pub fn acting_as(&self, env: &Env, actor: Unknown<'_>) -> napi::Result<Self> {
        let actor = given(env, "actor", actor, string)?;
        Ok(self.with_memory(self.memory().acting_as(&actor)))
    }

    /// The versions, newest first. Times are in milliseconds since 1970.
    #[napi(
        ts_args_type = "path: string | null | undefined, limit: number | null | undefined, before: string | null | undefined, actor: string | null | undefined, change: string | null | undefined, since: number | null, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<FileVersion>>"
    )]
    #[allow(clippy::too_many_arguments, reason = "what TypeScript takes as an object of options")]
    pub fn history<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        limit: Unknown<'_>,
        before: Unknown<'_>,
        actor: Unknown<'_>,
        change: Unknown<'_>,
        since: Option<f64>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let query = Query {
            path: optional(env, "path", path, string)?,
            limit: optional(env, "limit", limit, count)?,
            before: optional(env, "before", before, string)?,
            actor: optional(env, "actor", actor, string)?,
            change: optional(env, "change", change, string)?,
            since: since.map(|since| time(env, "since", since)).transpose()?,
        };
        let work = move |memory: &Memory| memory.history(&query.into_core()?);
        self.of_history(env, Purpose::View, cancellation, work, |versions| {
            versions.into_iter().map(FileVersion::from).collect::<Vec<_>>()
        })
    }

    /// The content of a version.
    #[napi(
        ts_args_type = "id: string, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Uint8Array>"
    )]
    pub fn read_version<'env>(
        &self,
        env: &'env Env,
        version: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let version = given(env, "id", version, string)?;
        let work = move |memory: &Memory| memory.read_version(id(&version)?);
        self.of_history(env, Purpose::View, cancellation, work, Uint8Array::from)
    }

    /// A unified diff of two versions, or of what a version changed.
    #[napi(
        ts_args_type = "id: string, other: string | null | undefined, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<string>"
    )]
    pub fn diff<'env>(
        &self,
        env: &'env Env,
        one: Unknown<'_>,
        other: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let one = given(env, "id", one, string)?;
        let other = optional(env, "other", other, string)?;
        let work =
            move |memory: &Memory| memory.diff(id(&one)?, other.as_deref().map(id).transpose()?);
        self.of_history(env, Purpose::View, cancellation, work, |text| text)
    }

    /// Writes the content of a version back, or of all versions of a change.
    #[napi(
        ts_args_type = "id: string, overwrite: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Restored>"
    )]
    pub fn restore<'env>(
        &self,
        env: &'env Env,
        version: Unknown<'_>,
        overwrite: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let version = given(env, "id", version, string)?;
        let overwrite = given(env, "overwrite", overwrite, flag)?;
        let work = move |memory: &Memory| memory.restore(id(&version)?, overwrite);
        self.of_history(env, Purpose::Change, cancellation, work, Restored::from)
    }

    /// Takes back a change, or all changes since a time, in milliseconds since 1970.
    #[napi(
        ts_args_type = "change: string | null | undefined, since: number | null, actor: string | null | undefined, dryRun: boolean, skipConflicts: boolean, merge: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Restored>"
    )]
    #[allow(clippy::too_many_arguments, reason = "what TypeScript takes as an object of options")]
    pub fn undo<'env>(
        &self,
        env: &'env Env,
        change: Unknown<'_>,
        since: Option<f64>,
        actor: Unknown<'_>,
        dry_run: Unknown<'_>,
        skip_conflicts: Unknown<'_>,
        merge: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let change = optional(env, "change", change, string)?;
        let since = since.map(|since| time(env, "since", since)).transpose()?;
        let actor = optional(env, "actor", actor, string)?;
        let how = undo_options(
            given(env, "dryRun", dry_run, flag)?,
            given(env, "skipConflicts", skip_conflicts, flag)?,
            given(env, "merge", merge, flag)?,
        );
        let undo =
            Undo::of(change, since, actor).map_err(|error| Failure::from(error).into_js(env))?;
        let work = move |memory: &Memory| undo.take_back(memory, how);
        self.of_history(env, Purpose::Change, cancellation, work, Restored::from)
    }

    /// Makes every file what it was at a time, in milliseconds since 1970.
    #[napi(
        ts_args_type = "at: number, dryRun: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Restored>"
    )]
    pub fn restore_all<'env>(
        &self,
        env: &'env Env,
        at: f64,
        dry_run: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        // JavaScript's times are whole milliseconds. What was done within this one belongs to it, so the time of a
        // version is a time with this version.
        let at = time(env, "at", at)? + Duration::from_nanos(999_999);
        let dry_run = given(env, "dryRun", dry_run, flag)?;
        let work = move |memory: &Memory| memory.restore_all(at, dry_run);
        self.of_history(env, Purpose::Change, cancellation, work, Restored::from)
    }

    /// Removes the content of a version from the history for good.
    #[napi(
        ts_args_type = "id: string, reason: string, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<string | null>"
    )]
    pub fn redact<'env>(
        &self,
        env: &'env Env,
        version: Unknown<'_>,
        reason: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let version = given(env, "id", version, string)?;
        let reason = given(env, "reason", reason, string)?;
        let work = move |memory: &Memory| memory.redact(id(&version)?, &reason);
        self.of_history(env, Purpose::Change, cancellation, work, |change| {
            change.map(|change| change.to_string())
        })
    }

    /// Removes the versions that the options keep no longer.
    #[napi(
        ts_args_type = "cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<number>"
    )]
    pub fn trim_history<'env>(
        &self,
        env: &'env Env,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        self.of_history(env, Purpose::Change, cancellation, Memory::trim_history, |trimmed| {
            i64::try_from(trimmed).unwrap_or(i64::MAX)
        })
    }
}

impl Engine {
    pub(crate) fn of_history<'env, T, D>(
        &self,
        env: &'env Env,
        purpose: Purpose,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
        work: impl FnOnce(&Memory) -> Result<T, HistoryError> + Send + 'static,
        finish: impl FnOnce(T) -> D + Send + 'static,
    ) -> napi::Result<Object<'env>>
    where
        T: Send + 'static,
        D: ToNapiValue + 'static,
    {
        let caller = Caller::of(cancellation);
        let memory = Caller::of_memory(caller.as_ref(), self.memory());
        self.workers().promise(
            env,
            purpose,
            caller,
            move || work(&memory),
            |env, result| result.map(finish).map_err(|error| history_to_js(&env, error)),
        )
    }
}

/// A time from its milliseconds, which are NaN for a `Date` that is none.
pub(crate) fn time(env: &Env, name: &str, millis: f64) -> napi::Result<SystemTime> {
    from_millis(millis).ok_or_else(|| {
        let wrong = ConfigError::of_option(name).and(" must be a valid Date");
        Failure::from(wrong).into_js(env)
    })
}
