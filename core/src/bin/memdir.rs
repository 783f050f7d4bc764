//! The program `memdir`; all of it is in the library, for the packages of other languages.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(memdir::cli::run(std::env::args_os()))
}
