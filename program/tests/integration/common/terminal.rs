//! A terminal for tests, and running the program on it.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A command on a terminal.
pub(crate) struct Started {
    pub(crate) child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Started {
    /// The output up to now.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// The whole output, after every process has closed the terminal.
    pub(crate) fn end(mut self) -> String {
        self.child.wait().unwrap();
        self.reader.join().unwrap();
        String::from_utf8(std::mem::take(&mut *self.shown.lock().unwrap())).unwrap()
    }
}

/// Starts a command with a terminal as standard output and error.
pub(crate) fn start(mut command: Command) -> Started {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let stdout: Stdio = theirs.try_clone().unwrap().into();
    let child = command.stdout(stdout).stderr(theirs).spawn().unwrap();
    drop(command);
    let shown = Arc::new(Mutex::new(Vec::new()));
    let read = Arc::clone(&shown);
    let reader = std::thread::spawn(move || {
        let (mut ours, mut part) = (File::from(ours), [0; 4096]);
        // The read ends with an error after every process has closed the other end.
        while let Ok(length @ 1..) = ours.read(&mut part) {
            read.lock().unwrap().extend_from_slice(&part[..length]);
        }
    });
    Started { child, shown, reader }
}

/// Runs a command on a terminal. Returns the output.
pub(crate) fn run(command: Command) -> String {
    start(command).end()
}
