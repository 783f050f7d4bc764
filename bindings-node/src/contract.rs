//! Checks the contract on stores that JavaScript creates.

use memdir::store::contract;
use napi::bindgen_prelude::{Function, Object, Unknown};
use napi::{Env, Error};
use napi_derive::napi;

use crate::js_store::JsStore;
use crate::store_request::StoreRequest;
use crate::thread_pool::{Purpose, Workers};

/// The number of rules in the contract of a store.
#[napi]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn contract_rules() -> u32 {
    u32::try_from(contract::rules().len()).unwrap_or(u32::MAX)
}

/// Checks one rule on a store that must be empty. The promise resolves to the violation, or to
/// null.
#[napi(ts_return_type = "Promise<string | null>")]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn check_contract<'env>(
    env: &'env Env,
    rule: u32,
    serve: Function<'_, StoreRequest, Unknown<'static>>,
    members: Vec<String>,
) -> napi::Result<Object<'env>> {
    let nth = usize::try_from(rule).unwrap_or(usize::MAX);
    let rule = contract::rules().nth(nth).ok_or_else(|| Error::from_reason("no such rule"))?;
    let store = JsStore::new(&serve, &members)?;
    let check = move || rule.check(&store).err().map(|violation| violation.to_string());
    Workers::own().promise(env, Purpose::Change, None, check, |_, violated| Ok(violated))
}
