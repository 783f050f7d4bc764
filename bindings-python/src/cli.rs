//! The program `memdir`, from the crate `memdir-cli`.

use std::ffi::OsString;

use crate::shutdown::released;
use pyo3::prelude::*;

/// Runs one command on the standard streams of this process, and returns its exit code. The first
/// argument is the program's name.
#[pyfunction]
pub(crate) fn run_command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    released(py, || memdir_cli::run(arguments))
}
