//! The program `memdir`. All of its code is in the library, so the packages of other languages can call it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(memdir_cli::run(std::env::args_os()))
}
