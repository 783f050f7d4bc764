//! `namespaces`: the memories in a database or bucket.

use memdir::MemoryOptions;
use napi::Env;
use napi::bindgen_prelude::{Object, Unknown};
use napi_derive::napi;

use crate::arguments::given;
use crate::errors::Failure;
use crate::options::string;
use crate::results::Shown;
use crate::thread_pool::{Purpose, Workers};

/// The memories in a database, or below a prefix.
#[napi(ts_args_type = "address: string", ts_return_type = "Promise<Array<results.Namespace>>")]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn namespaces<'env>(env: &'env Env, address: Unknown<'_>) -> napi::Result<Object<'env>> {
    let address = given(env, "address", address, string)?;
    let work = move || Ok(Shown::of(memdir::namespaces(&address, &MemoryOptions::default())?));
    Workers::own().promise(
        env,
        Purpose::View,
        None,
        work,
        |env, found: std::result::Result<_, Failure>| {
            found.map_err(|failure| failure.into_js(&env))
        },
    )
}
