//! Functions that let the benchmark call the core directly. Not in the published binaries.

use std::time::Instant;

use memdir::{Memory, MemoryOptions};
use napi::bindgen_prelude::{Object, Unknown};
use napi::{Env, Error};
use napi_derive::napi;

use crate::input::decode;
use crate::thread_pool::{Purpose, Workers};

/// Runs the list of commands several times in the core, without JavaScript in between. The promise
/// resolves to the duration of each command, in microseconds.
#[napi(ts_return_type = "Promise<Array<number>>")]
pub(crate) fn time_core<'env>(
    env: &'env Env,
    address: String,
    commands: Vec<Unknown<'_>>,
    times: u32,
) -> napi::Result<Object<'env>> {
    let memory = Memory::open(&address, MemoryOptions::default())
        .map_err(|error| Error::from_reason(error.to_string()))?;
    let mut decoded = Vec::new();
    for command in commands {
        decoded.push(
            decode(command)?.command.map_err(|refused| Error::from_reason(refused.to_string()))?,
        );
    }
    let work = move || {
        let run = |command| {
            let begun = Instant::now();
            let done = memory.run(command);
            (begun.elapsed().as_secs_f64() * 1e6, done.is_ok())
        };
        let ran: Vec<_> = (0..times).flat_map(|_| decoded.iter().map(run)).collect();
        ran.into_iter().map(|(time, ok)| ok.then_some(time)).collect::<Option<Vec<f64>>>()
    };
    Workers::shared().promise(env, Purpose::View, None, work, |_, times| {
        times.ok_or_else(|| Error::from_reason("a command was refused"))
    })
}
