//! The program `memdir`, which is that of the crate `memdir-cli`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs one command, with the program's name as the first argument, on the standard streams of
/// this process; its exit code.
#[pyfunction]
pub(crate) fn run_command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| memdir_cli::run(arguments))
}
