//! `namespaces`: the memories in a database or bucket.

use memdir::{MemoryOptions, Namespace as Core};
use napi::Env;
use napi::bindgen_prelude::{Object, Unknown};
use napi_derive::napi;

use crate::errors::Failure;
use crate::files::given;
use crate::options::string;
use crate::progress::number;
use crate::thread_pool::{Purpose, Workers};

/// One of several memories in a database or bucket.
#[napi(object, object_from_js = false)]
pub(crate) struct Namespace {
    /// Its name, as the option `namespace` takes it.
    pub name: String,
    /// The number of its files, hidden ones included.
    pub files: i64,
    /// The bytes of all files together.
    pub bytes: i64,
    /// The bytes of the records of its history.
    pub history_bytes: i64,
}

impl From<Core> for Namespace {
    fn from(found: Core) -> Self {
        Self {
            files: number(found.files),
            bytes: number(found.bytes),
            history_bytes: number(found.history_bytes),
            name: found.name,
        }
    }
}

/// The memories in a database, or below a prefix.
#[napi(ts_args_type = "address: string", ts_return_type = "Promise<Array<Namespace>>")]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn namespaces<'env>(env: &'env Env, address: Unknown<'_>) -> napi::Result<Object<'env>> {
    let address = given(env, "address", address, string)?;
    let work = move || {
        let found = memdir::namespaces(&address, &MemoryOptions::default())?;
        Ok(found.into_iter().map(Namespace::from).collect::<Vec<_>>())
    };
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
