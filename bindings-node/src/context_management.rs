//! The `context_management` of a request, built by the core.

use memdir::ContextManagement;
use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use crate::arguments::given;
use crate::options::{count, optional_count, strings};

/// The JSON text of a request's `context_management`.
#[napi(
    ts_args_type = "clearAt: number | null, keep: number, clearAtLeast: number | null | undefined, excludeTools: readonly string[], compactAt: number | null | undefined"
)]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn context_management(
    env: &Env,
    clear_at: Unknown<'_>,
    keep: Unknown<'_>,
    clear_at_least: Unknown<'_>,
    exclude_tools: Unknown<'_>,
    compact_at: Unknown<'_>,
) -> napi::Result<String> {
    let tokens = |name, argument| {
        given(env, name, argument, optional_count).map(|given| given.map(|tokens| tokens as u64))
    };
    let config = ContextManagement {
        clear_at: tokens("clearAt", clear_at)?,
        keep: given(env, "keep", keep, count)? as u64,
        clear_at_least: tokens("clearAtLeast", clear_at_least)?,
        exclude_tools: given(env, "excludeTools", exclude_tools, strings)?,
        compact_at: tokens("compactAt", compact_at)?,
    };
    Ok(config.to_json().to_string())
}
