//! The threads that commands are executed on.
//!
//! Not libuv's: there are four of those for the whole process, and a store written in JavaScript
//! that reads files needs them to answer the very commands that would be waiting on them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, Error, Result};

/// Does `work` on another thread; the promise is fulfilled with what `finish`, back on
/// JavaScript's thread, makes of its result.
pub(crate) fn promise<'env, T, D>(
    env: &'env Env,
    work: impl FnOnce() -> T + Send + 'static,
    finish: impl FnOnce(Env, T) -> Result<D> + Send + 'static,
) -> Result<Object<'env>>
where
    T: Send + 'static,
    D: ToNapiValue + 'static,
{
    let (deferred, promise) = env.create_deferred()?;
    thread::Builder::new()
        .spawn(move || match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => deferred.resolve(move |env| finish(env, result)),
            Err(_) => deferred.reject(Error::from_reason("a fault in memdir itself: it panicked")),
        })
        .map_err(|error| Error::from_reason(format!("cannot start a thread: {error}")))?;
    Ok(promise)
}
