//! A terminal for tests, and running the program on it.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Starts a command with a terminal as standard output and error. The thread returns the output after every process has
/// closed the terminal.
pub(crate) fn start(mut command: Command) -> (Child, JoinHandle<Vec<u8>>) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let stdout: Stdio = theirs.try_clone().unwrap().into();
    let child = command.stdout(stdout).stderr(theirs).spawn().unwrap();
    drop(command);
    let reader = std::thread::spawn(move || {
        let mut read = Vec::new();
        // The read ends with an error after every process has closed the other end.
        let _ = File::from(ours).read_to_end(&mut read);
        read
    });
    (child, reader)
}

/// Runs a command on a terminal. Returns the output.
pub(crate) fn run(command: Command) -> String {
    let (mut child, reader) = start(command);
    child.wait().unwrap();
    String::from_utf8(reader.join().unwrap()).unwrap()
}
