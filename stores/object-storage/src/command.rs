//! Tracks whether any request of a command may have changed something.
//!
//! Until the first such request is sent, nothing can have been changed, and the call can be cancelled at any
//! moment. After that, the command runs to its end.

use std::cell::Cell;
use std::time::Duration;

use memdir_store::{Cancellation, StoreError, runtime};

use super::error::ObjectError;

/// How often a cancelled command that has begun a change checks whether the server refused it.
const LOOK: Duration = Duration::from_millis(10);

tokio::task_local! {
    static COMMAND: Command;
}

/// The state of a running command.
struct Command {
    cancellation: Cancellation,
    /// The number of its requests that may have changed something.
    changes: Cell<usize>,
}

/// A request that may change something.
#[must_use]
pub(super) struct ChangeCommand(());

impl ChangeCommand {
    /// Call this before the request is sent.
    ///
    /// # Errors
    /// [`StoreError::Cancelled`] if it would be the first such request and the call is cancelled.
    pub(super) fn begin() -> Result<Self, StoreError> {
        if !has_begun() {
            COMMAND.try_with(|command| command.cancellation.check()).unwrap_or(Ok(()))?;
        }
        count(1);
        Ok(Self(()))
    }

    /// Records that the server refused the request.
    pub(super) fn refused(self) {
        count(-1);
    }
}

fn count(by: isize) {
    let _ = COMMAND.try_with(|command| {
        command.changes.set(command.changes.get().saturating_add_signed(by));
    });
}

fn has_begun() -> bool {
    COMMAND.try_with(|command| command.changes.get()).is_ok_and(|changes| changes > 0)
}

/// Runs a command, or its next step if it may already have changed something.
pub(super) async fn carry_out<T>(
    operation: &'static str,
    cancellation: Cancellation,
    has_changed: bool,
    work: impl Future<Output = Result<T, ObjectError>>,
) -> Result<T, StoreError> {
    let command =
        Command { cancellation: cancellation.clone(), changes: Cell::new(has_changed.into()) };
    let caller_gone = async {
        loop {
            runtime::cancelled(&cancellation).await;
            if !has_begun() {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    let work = async {
        tokio::select! {
            biased;
            done = work => done.map_err(|error| error.during(operation)),
            () = caller_gone => Err(StoreError::Cancelled),
        }
        .map_err(|error| if has_begun() { error } else { error.unchanged() })
    };
    COMMAND.scope(command, work).await
}
