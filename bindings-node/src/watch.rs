//! [`Watching`]: reports changes in a memory. It holds no thread: JavaScript regularly checks whether the next poll is due.

use std::sync::Arc;
use std::time::Duration;

use memdir::{Memory, SharedWatch};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Object, Unknown};
use napi_derive::napi;

use crate::arguments::given;
use crate::cancel::{Caller, Cancellation};
use crate::engine::Engine;
use crate::errors::Failure;
use crate::options::{optional_span, string};
use crate::results::Shown;
use crate::thread_pool::{Purpose, Workers};

/// A watch that has begun.
#[napi]
pub struct Watching {
    watch: Arc<SharedWatch>,
    workers: Arc<Workers>,
}

#[napi]
impl Engine {
    /// Begins to watch a path. `every` is the polling interval in milliseconds.
    #[napi(
        ts_args_type = "path: string, every: number | null | undefined, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Watching>"
    )]
    pub fn watch<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        every: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let every = given(env, "every", every, optional_span)?;
        let work = move |memory: &Memory| memory.watch(&path, every);
        let workers = self.shared_workers();
        self.for_own_code(env, Purpose::View, cancellation, work, |watch| {
            let watch = Arc::new(SharedWatch::from(watch));
            Watching { watch, workers }
        })
    }
}

#[napi]
impl Watching {
    /// True if `changes` would poll the store now, or the watch is closed.
    #[napi]
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.watch.is_due()
    }

    /// Polls the store once; null if the watch is closed.
    #[napi(
        ts_args_type = "cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<results.Change> | null>"
    )]
    pub fn changes<'env>(
        &self,
        env: &'env Env,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let watch = Arc::clone(&self.watch);
        let caller = Caller::of(cancellation);
        let cancelled = Caller::cancellation(caller.as_ref());
        self.workers.promise(
            env,
            Purpose::View,
            caller,
            move || watch.changes(&cancelled, Duration::ZERO).map(Shown::of),
            |env, changes| changes.map_err(|error| Failure::from(error).into_js(&env)),
        )
    }

    /// Ends the watch.
    #[napi]
    pub fn close(&self) {
        self.watch.close();
    }
}
