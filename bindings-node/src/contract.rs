//! The core's contract of a store, checked on a store that is written in JavaScript. For the tests;
//! not in the published binaries.

use std::sync::Arc;

use memdir::Store;
use memdir::store::contract;
use napi::Env;
use napi::bindgen_prelude::{Function, Object, Unknown};
use napi_derive::napi;

use crate::js_store::{JsStore, StoreRequest};
use crate::work::Workers;

/// Checks every rule, on one store that is emptied before each; the promise is fulfilled with the
/// first rule that is not kept, or with null.
#[napi(ts_return_type = "Promise<string | null>")]
pub(crate) fn check_contract<'env>(
    env: &'env Env,
    serve: Function<'_, StoreRequest, Unknown<'static>>,
    opens: bool,
) -> napi::Result<Object<'env>> {
    let store: Arc<dyn Store> = Arc::new(JsStore::new(&serve, opens)?);
    let fresh = move || {
        // A store that cannot be emptied does not keep the first rule.
        let _ = store.clear();
        Arc::clone(&store)
    };
    let check = move || contract::check(&fresh).err().map(|violation| violation.to_string());
    Workers::own().promise(env, check, |_, violated| Ok(violated))
}
