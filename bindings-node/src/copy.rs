//! Copies from store to store, and reports the progress to JavaScript.

use std::sync::Arc;

use memdir::{CopyOptions, OnExisting};
use napi::bindgen_prelude::{ClassInstance, Function, Object, Unknown};
use napi::{Env, Result};
use napi_derive::napi;

use crate::arguments::given;
use crate::errors::copy_to_js;
use crate::native_store::NativeStore;
use crate::options::flag;
use crate::progress::{go_on, progress_callback};
use crate::results::Shown;
use crate::thread_pool::{Purpose, Workers};

#[napi]
impl NativeStore {
    /// Copies everything from this store to another. `progress` returns false to stop the copy.
    #[napi(
        ts_args_type = "destination: NativeStore, overwrite: boolean, withoutHistory: boolean, progress?: ((progress: results.CopyProgress) => boolean) | undefined",
        ts_return_type = "Promise<results.Copied>"
    )]
    pub fn copy_to<'env>(
        &self,
        env: &'env Env,
        destination: ClassInstance<'_, NativeStore>,
        overwrite: Unknown<'_>,
        without_history: Unknown<'_>,
        progress: Option<Function<'_, Shown, bool>>,
    ) -> Result<Object<'env>> {
        let overwrite = given(env, "overwrite", overwrite, flag)?;
        let mut how = CopyOptions::default();
        how.existing = if overwrite { OnExisting::Overwrite } else { OnExisting::Error };
        how.without_history = given(env, "withoutHistory", without_history, flag)?;
        let mut on_progress = progress_callback(progress)?;
        let (from, to) = (Arc::clone(self.core()), Arc::clone(destination.core()));
        let work = move || {
            let mut thrown = None;
            let copied = memdir::copy(&from, &to, how, &mut |progress| {
                go_on(&mut on_progress, Shown::of(progress), &mut thrown)
            });
            (copied.map(Shown::of), thrown)
        };
        // A thread pool of its own: a callback or a store may call a memory whose pool would
        // otherwise be blocked by this wait.
        Workers::own().promise(env, Purpose::Change, None, work, |env, (copied, thrown)| {
            match (copied, thrown) {
                (_, Some(error)) => Err(error),
                (Ok(copied), None) => Ok(copied),
                (Err(error), None) => Err(copy_to_js(&env, &error)),
            }
        })
    }
}
