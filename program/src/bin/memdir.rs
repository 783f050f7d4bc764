//! The program `memdir`; all of it is in the library, for the packages of other languages.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(memdir_cli::run(std::env::args_os()))
}
