//! The program `memdir`, implemented by the crate `memdir-cli`.

use std::ffi::OsString;

use napi_derive::napi;

/// Runs one command on the standard streams of this process. The first argument is the program's
/// name. Returns the exit code. It blocks JavaScript's thread until the command ends.
#[napi]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn run_command_line(arguments: Vec<String>) -> u8 {
    memdir_cli::run(arguments.into_iter().map(OsString::from))
}
