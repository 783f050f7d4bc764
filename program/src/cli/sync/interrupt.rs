//! Ctrl-C, and the signals that end a process: a sync ends after the file under way.

use std::process;
use std::sync::OnceLock;

use super::super::{Failure, say};
use memdir::Cancellation;

/// The exit code after Ctrl-C: 128 and the number of SIGINT, as of a process that the signal ends.
pub(in super::super) const INTERRUPTED: u8 = 130;

/// A cancellation for the first signal. The second one ends the process at once, for a store that does not answer.
pub(super) fn stop() -> Cancellation {
    static STOP: OnceLock<Cancellation> = OnceLock::new();
    let begin = || {
        let stop = Cancellation::new();
        let cancellation = stop.clone();
        let handle = move || {
            if cancellation.is_cancelled() {
                process::exit(INTERRUPTED.into());
            }
            cancellation.cancel();
        };
        // Without a handler, a signal ends the process at once. The next sync does the rest then, too.
        let _ = ctrlc::set_handler(handle);
        stop
    };
    STOP.get_or_init(begin).clone()
}

/// The failure of a sync that was stopped.
pub(super) fn failure() -> Failure {
    Failure::Interrupted(
        "the sync was stopped: what it has changed stays, and the same command does the rest"
            .to_owned(),
    )
}

/// Prints that the process ends soon, and how it ends at once.
pub(super) fn say_ending() {
    say("the sync ends after the file under way: a second Ctrl-C ends it at once");
}
