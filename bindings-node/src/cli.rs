//! The program `memdir`, which is that of the crate `memdir-cli`.

use std::ffi::OsString;

use napi_derive::napi;

/// Runs one command, with the program's name as the first argument, on the standard streams of this
/// process; its exit code. Nothing else happens in the process meanwhile.
#[napi]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn run_command_line(arguments: Vec<String>) -> u8 {
    memdir_cli::run(arguments.into_iter().map(OsString::from))
}
