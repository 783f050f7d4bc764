//! A key that is kept in a file. The core creates it on the first call.

use memdir::EncryptionKey;
use napi::Env;
use napi::bindgen_prelude::{Uint8Array, Unknown};
use napi_derive::napi;

use crate::arguments::given;
use crate::errors::Failure;
use crate::options::string;

/// The 32 bytes of the key in a file, which is created if it does not exist.
#[napi(ts_args_type = "path: string")]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn key_from_file(env: &Env, path: Unknown<'_>) -> napi::Result<Uint8Array> {
    let path = given(env, "path", path, string)?;
    let key =
        EncryptionKey::bytes_from_file(path).map_err(|error| Failure::from(error).into_js(env))?;
    Ok(Uint8Array::from(key.to_vec()))
}
