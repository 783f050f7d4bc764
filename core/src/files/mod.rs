//! What your own code does with the files of a memory: it reads, writes, lists and searches them.
//!
//! These are no commands of the tool, and a model cannot call them. They work under the same policies and
//! the same locks as the commands do, one file for each.

mod bootstrap;
mod index;
mod list;
mod read;
mod search;
mod write;

pub use bootstrap::Project;
pub(crate) use index::index;
pub(crate) use list::{exists, list};
pub(crate) use read::{read, read_shown};
pub(crate) use search::search;
pub use search::{Match, Query};
pub(crate) use write::{make, write};

use crate::error::Error;
use crate::path::MemoryPath;
use crate::reply;

/// The path, if it is one that a command could name.
pub(crate) fn valid(path: &str) -> Result<MemoryPath, Error> {
    match MemoryPath::parse(path) {
        Err(error) => Err(reply::bad_path(path, error)),
        Ok(path) if path.is_reserved() => Err(reply::reserved_path(&path)),
        Ok(path) => Ok(path),
    }
}
