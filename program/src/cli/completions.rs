//! `memdir completions`: prints the completions of commands and flags for a shell.

use std::io::Write;

use clap_complete::generate;
use clap_complete::shells::{Bash, Fish, Zsh};

use super::arguments::{CompletionsArguments, Shell};
use super::help;
use super::output::Output;
use super::{Ended, Failure};

pub(super) fn run(wanted: &CompletionsArguments, output: &mut Output) -> Result<Ended, Failure> {
    output.stream().write_all(&script(wanted.shell))?;
    Ok(Ended::Well)
}

pub(super) fn script(shell: Shell) -> Vec<u8> {
    let mut command = help::program();
    let mut script = Vec::new();
    match shell {
        Shell::Bash => generate(Bash, &mut command, "memdir", &mut script),
        Shell::Zsh => generate(Zsh, &mut command, "memdir", &mut script),
        Shell::Fish => generate(Fish, &mut command, "memdir", &mut script),
    }
    script
}
