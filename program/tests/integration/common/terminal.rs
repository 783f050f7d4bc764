//! A terminal for tests, and running the program on it.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::output::Output;

/// Starts a command with a terminal as standard output and error.
pub(crate) fn start(mut command: Command) -> (Child, Output) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let stdout: Stdio = theirs.try_clone().unwrap().into();
    let child = command.stdout(stdout).stderr(theirs).spawn().unwrap();
    drop(command);
    (child, Output::of(File::from(ours)))
}

/// Runs a command on a terminal. Returns the output.
pub(crate) fn run(command: Command) -> String {
    let (mut child, output) = start(command);
    child.wait().unwrap();
    output.end()
}
