//! `check`: verifies a whole store and reports its problems.

use std::sync::Arc;

use memdir::Cancellation;
use memdir_bindings_shared::check::check;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;

use crate::errors::to_js;
use crate::native_store::NativeStore;
use crate::results::Shown;
use crate::thread_pool::{Purpose, Workers};

#[napi]
impl NativeStore {
    /// Inspects the store and its history, and reads every file in it.
    #[napi(ts_return_type = "Promise<results.Checked>")]
    pub fn check<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let store = Arc::clone(self.core());
        let work = move || check(&Cancellation::never(), &store).map(Shown::of);
        // A thread pool of its own: the store may call a memory whose pool would otherwise be blocked
        // by this wait.
        Workers::own().promise(env, Purpose::View, None, work, |env, checked| {
            checked.map_err(|error| to_js(&env, &error))
        })
    }
}
