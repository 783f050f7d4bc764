//! The history of a memory, for your own code.

use std::time::{Duration, SystemTime};

use memdir::history::HistoryError;
use memdir::{ConfigError, Memory};
use memdir_bindings_shared::history::{Query, Undo, id, undo_options};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Object, ToNapiValue, Uint8Array, Unknown};
use napi_derive::napi;

use crate::arguments::given;
use crate::cancel::{Caller, Cancellation};
use crate::engine::Engine;
use crate::errors::{Failure, history_to_js};
use crate::options::{flag, optional_count, optional_string, string};
use crate::results::Shown;
use crate::thread_pool::Purpose;
use crate::times::{LAST_NANOS, from_millis};

#[napi]
impl Engine {
    /// A session of the same memory. Its changes are recorded under this actor.
    #[napi(ts_args_type = "actor: string")]
    pub fn acting_as(&self, env: &Env, actor: Unknown<'_>) -> napi::Result<Self> {
        let actor = given(env, "actor", actor, string)?;
        Ok(self.with_memory(self.memory().acting_as(&actor)))
    }

    /// The versions, newest first. Times are in milliseconds since 1970.
    #[napi(
        ts_args_type = "path: string | null | undefined, limit: number | null | undefined, before: string | null | undefined, actor: string | null | undefined, change: string | null | undefined, since: number | null, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<results.Version>>"
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
            path: given(env, "path", path, optional_string)?,
            limit: given(env, "limit", limit, optional_count)?,
            before: given(env, "before", before, optional_string)?,
            actor: given(env, "actor", actor, optional_string)?,
            change: given(env, "change", change, optional_string)?,
            since: since.map(|since| time(env, "since", since)).transpose()?,
        };
        let work = move |memory: &Memory| memory.history(&query.into_core()?);
        self.of_history(env, Purpose::View, cancellation, work, Shown::of)
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

    /// A unified diff of two versions, or of the change that made a version.
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
        let other = given(env, "other", other, optional_string)?;
        let work =
            move |memory: &Memory| memory.diff(id(&one)?, other.as_deref().map(id).transpose()?);
        self.of_history(env, Purpose::View, cancellation, work, |text| text)
    }

    /// Writes the content of a version back, or of all versions of a change.
    #[napi(
        ts_args_type = "id: string, overwrite: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<results.Restored>"
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
        self.of_history(env, Purpose::Change, cancellation, work, Shown::of)
    }

    /// Undoes a change, or all changes since a time, in milliseconds since 1970.
    #[napi(
        ts_args_type = "change: string | null | undefined, since: number | null, actor: string | null | undefined, dryRun: boolean, skipConflicts: boolean, merge: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<results.Restored>"
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
        let change = given(env, "change", change, optional_string)?;
        let since = since.map(|since| time(env, "since", since)).transpose()?;
        let actor = given(env, "actor", actor, optional_string)?;
        let how = undo_options(
            given(env, "dryRun", dry_run, flag)?,
            given(env, "skipConflicts", skip_conflicts, flag)?,
            given(env, "merge", merge, flag)?,
        );
        let undo =
            Undo::of(change, since, actor).map_err(|error| Failure::from(error).into_js(env))?;
        let work = move |memory: &Memory| undo.apply(memory, how);
        self.of_history(env, Purpose::Change, cancellation, work, Shown::of)
    }

    /// Restores every file to its state at a time, in milliseconds since 1970.
    #[napi(
        ts_args_type = "at: number, dryRun: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<results.Restored>"
    )]
    pub fn restore_all<'env>(
        &self,
        env: &'env Env,
        at: f64,
        dry_run: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let at = time(env, "at", at)? + Duration::from_nanos(LAST_NANOS);
        let dry_run = given(env, "dryRun", dry_run, flag)?;
        let work = move |memory: &Memory| memory.restore_all(at, dry_run);
        self.of_history(env, Purpose::Change, cancellation, work, Shown::of)
    }

    /// Permanently removes the content of a version from the history.
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
        self.of_history(env, Purpose::Change, cancellation, work, Shown::of)
    }

    /// Removes the versions that the retention options no longer keep.
    #[napi(
        ts_args_type = "cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<number>"
    )]
    pub fn trim_history<'env>(
        &self,
        env: &'env Env,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        self.of_history(env, Purpose::Change, cancellation, Memory::trim_history, Shown::of)
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
            |env, result| result.map_err(|error| history_to_js(&env, error)),
        )
    }
}

/// A time from its milliseconds. They are NaN for an invalid `Date`.
pub(crate) fn time(env: &Env, name: &str, millis: f64) -> napi::Result<SystemTime> {
    from_millis(millis).ok_or_else(|| {
        let wrong = ConfigError::of_option(name).and(" must be a valid Date");
        Failure::from(wrong).into_js(env)
    })
}
