//! [`AskedChange`]: a change that the hooks decide about, although no command makes it. A sync makes such changes.

use std::fmt::Debug;

use memdir_store::Error;

use crate::command::Command;
use crate::history::HistoryId;
use crate::unit_of_work::UnitOfWork;

/// A change that hooks get as the command that comes closest to it.
pub(crate) trait AskedChange: Debug + Send + Sync {
    /// The command.
    fn command(&self) -> Command<'_>;

    /// The number of bytes and lines of the content, if it is not the text of the command.
    fn size(&self) -> Option<(u64, u64)>;

    /// Makes the change in a unit of work that only records it.
    ///
    /// # Errors
    /// Those of the change.
    fn preview(&self, work: &UnitOfWork<'_>) -> Result<(), Error>;

    /// Makes the change, with the text of a hook if there is one. Returns the id of the change in the history.
    ///
    /// # Errors
    /// Those of the change.
    fn make(&self, text: Option<&str>) -> (Result<(), Error>, Option<HistoryId>);

    /// Called instead of [`make`](Self::make), if the change was refused before it was made.
    fn refused(&self, error: &Error);
}
