//! Limits the number of connections that the threads of a process use at the same time.
//!
//! A connection has three open files. SQLite lets one writer work at a time and the others wait, each with its connection. A
//! thousand waiting writers would exceed the descriptor limit of most processes. So the others wait here, in the order of their
//! arrival, and so do readers if there are many.

use std::convert::Infallible;
use std::time::Duration;

use memdir_store::per_process::PerProcess;
use memdir_store::turns::{Turn, Turns};
use memdir_store::{Cancellation, StoreError};

use super::Database;

/// The number of threads of a process that write to a database at the same time: one that works, and one that already waits for
/// SQLite's lock.
const WRITERS: usize = 2;

/// The number of concurrent readers. A large file that is read in chunks does not count, because its reader may take any time.
const READERS: usize = 32;

static TO_WRITE: PerProcess<Turns<Database>> = PerProcess::new();
static TO_READ: PerProcess<Turns<Database>> = PerProcess::new();

pub(super) fn to_write(
    database: &Database,
    timeout: Option<Duration>,
    cancellation: &Cancellation,
) -> Result<Turn<'static, Database>, StoreError> {
    take(&TO_WRITE, WRITERS, database, timeout, cancellation)
}

/// A reader waits for no lock, so its wait has no timeout.
pub(super) fn to_read(
    database: &Database,
    cancellation: &Cancellation,
) -> Result<Turn<'static, Database>, StoreError> {
    take(&TO_READ, READERS, database, None, cancellation)
}

fn take(
    of: &'static PerProcess<Turns<Database>>,
    at_once: usize,
    database: &Database,
    timeout: Option<Duration>,
    cancellation: &Cancellation,
) -> Result<Turn<'static, Database>, StoreError> {
    let Ok(turns) = of.get(|| Ok::<_, Infallible>(Turns::new(at_once)));
    turns.take(database.clone(), timeout, cancellation)
}
