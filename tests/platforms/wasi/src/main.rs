//! The conformance cases on the in-process store, as a WebAssembly program without threads and files.
#![allow(dead_code, unreachable_pub, reason = "the tests' own crate uses all of it")]

#[path = "../../../src/cases.rs"]
mod cases;
#[path = "../../../src/hooks.rs"]
mod hooks;
#[path = "../../../src/runner.rs"]
mod runner;
#[path = "../../../src/texts.rs"]
mod texts;
#[path = "../../../src/tree.rs"]
mod tree;
#[path = "../../../src/upkeep.rs"]
mod upkeep;

use std::process::ExitCode;

use memdir::Memory;

fn main() -> ExitCode {
    let ran = runner::run("rust-memory", |options| {
        let memory = Memory::open("memory:", options).map_err(|error| error.to_string())?;
        Ok(runner::Opened::of(memory, None))
    });
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(failures) => {
            eprintln!("{failures}");
            ExitCode::FAILURE
        }
    }
}
