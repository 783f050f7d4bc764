//! Syncs two memories, and reports the progress to JavaScript.

use std::time::Duration;

use memdir::value::{Fields, Value};
use memdir::{NameCase, StoreError, SyncError};
use memdir_bindings_shared::arguments::{Arguments, Times};
use memdir_bindings_shared::sync::sync_options;
use napi::bindgen_prelude::{ClassInstance, Function, JsObjectValue, Object, Unknown};
use napi::{Env, Result, ValueType};
use napi_derive::napi;

use crate::cancel::{Caller, Cancellation};
use crate::engine::Engine;
use crate::errors::{Failure, sync_to_js, to_js};
use crate::input::value;
use crate::js_hooks::call_handler;
use crate::js_merger::{MergeRequest, merger};
use crate::progress::{go_on, progress_callback};
use crate::results::Shown;
use crate::thread_pool::{Purpose, Ready, Workers};

/// No option of a sync is a time.
const TIMES: Times = Times { read: |_| Err(" must be a valid Date"), rest: Duration::ZERO };

#[napi]
impl Engine {
    /// Makes this memory and another one equal. `options` are those of the package, without the callback and the signal.
    /// `progress` returns false to stop the sync. `merge` is called with every conflict, the function `ask` of `hooks` and
    /// `othersHooks` with every change of this memory and of the other one. These must not throw.
    #[napi(
        ts_args_type = "other: Engine, options: object, progress?: ((progress: results.SyncProgress) => boolean) | undefined, cancellation?: Cancellation | undefined, merge?: ((request: MergeRequest) => void) | undefined, hooks?: { ask: (asked: AskedCall) => void } | undefined, othersHooks?: { ask: (asked: AskedCall) => void } | undefined",
        ts_return_type = "Promise<results.Synced>"
    )]
    #[allow(clippy::too_many_arguments, reason = "each crosses the border on its own")]
    pub fn sync<'env>(
        &self,
        env: &'env Env,
        other: ClassInstance<'_, Engine>,
        options: Object<'_>,
        progress: Option<Function<'_, Shown, bool>>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
        merge: Option<Function<'_, MergeRequest, Unknown<'static>>>,
        hooks: Option<Object<'_>>,
        others_hooks: Option<Object<'_>>,
    ) -> Result<Object<'env>> {
        let fields = Given(options);
        let mut options = sync_options(&Arguments::new(&fields, Vec::new(), TIMES))
            .map_err(|error| Failure::from(error).into_js(env))?;
        let mut on_progress = progress_callback(progress)?;
        let caller = Caller::of(cancellation);
        let mut memory = Caller::of_memory(caller.as_ref(), self.memory());
        let mut passed = other.memory().clone();
        if let Some(hooks) = hooks {
            memory = memory.with_call_handler(call_handler(&hooks, self.workers(), &caller)?);
        }
        if let Some(hooks) = others_hooks {
            passed = passed.with_call_handler(call_handler(&hooks, other.workers(), &caller)?);
        }
        if let Some(merge) = merge {
            options.on_conflict = merger(&merge, memory.cancellation().clone())?;
        }
        let work = move |ready: Ready| {
            ready?;
            let mut thrown = None;
            let synced = memdir::sync(&memory, &passed, &options, &mut |progress| {
                go_on(&mut on_progress, Shown::of(progress), &mut thrown)
            });
            Ok((synced.map(Shown::of), thrown))
        };
        // A thread pool of its own: a callback or a store may call a memory whose pool would
        // otherwise be blocked by this wait.
        Workers::own().answer(env, Purpose::Change, caller, work, |env, done| match done {
            Ok((_, Some(error))) => Err(error),
            Ok((Ok(synced), None)) => Ok(synced),
            Ok((Err(error), None)) => Err(sync_to_js(&env, &error)),
            // It was cancelled before it began.
            Err(StoreError::Cancelled) => Err(sync_to_js(&env, &SyncError::Stopped)),
            Err(error) => Err(to_js(&env, &error)),
        })
    }
}

/// The given options, under their JavaScript names. `undefined` counts as absent.
struct Given<'env>(Object<'env>);

impl Fields for Given<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        let read = || -> Result<Option<Value<'static>>> {
            let name = NameCase::Camel.of(name);
            let given: Unknown<'_> = self.0.get_named_property_unchecked(&name)?;
            let is_absent = given.get_type()? == ValueType::Undefined;
            if is_absent { Ok(None) } else { value(&given).map(Some) }
        };
        // If this fails, a getter or a proxy threw. Its exception is thrown in JavaScript.
        read().unwrap_or(Some(Value::Other("a value that cannot be read".into())))
    }
}
