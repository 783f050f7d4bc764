//! Statistics, sensitive text and erasure of a memory, for your own code.

use memdir::Memory;
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Object, Unknown};
use napi_derive::napi;

use crate::arguments::given;
use crate::cancel::Cancellation;
use crate::engine::Engine;
use crate::options::{count, flag, string};
use crate::results::Shown;
use crate::thread_pool::Purpose;

#[napi]
impl Engine {
    /// Permanently removes everything, including the whole history.
    #[napi(
        ts_args_type = "dryRun: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<results.Erased>"
    )]
    pub fn erase<'env>(
        &self,
        env: &'env Env,
        dry_run: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let dry_run = given(env, "dryRun", dry_run, flag)?;
        let work = move |memory: &Memory| memory.erase(dry_run);
        self.for_own_code(env, Purpose::Change, cancellation, work, Shown::of)
    }

    /// The places where the rules find sensitive text.
    #[napi(
        ts_args_type = "path: string, limit: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<results.SensitiveMatch>>"
    )]
    pub fn find_sensitive<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        limit: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let limit = given(env, "limit", limit, count)?;
        let work = move |memory: &Memory| memory.find_sensitive(&path, limit);
        self.for_own_code(env, Purpose::View, cancellation, work, Shown::of)
    }

    /// Statistics about the memory.
    #[napi(
        ts_args_type = "cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<results.Stats>"
    )]
    pub fn stats<'env>(
        &self,
        env: &'env Env,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        self.for_own_code(env, Purpose::View, cancellation, Memory::stats, Shown::of)
    }
}
