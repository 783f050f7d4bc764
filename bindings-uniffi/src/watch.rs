//! [`Watch`]: reports changes in a memory, whichever process makes them.

use memdir::SharedWatch;

use crate::border::{MemdirDuration, MemdirText};
use crate::error::MemdirError;
use crate::files::path_or_root;
use crate::memory::Memory;
use crate::results::Change;

/// Reports changes in a memory by all processes: see `Memory.watch`. Several threads may use it. Each change is reported
/// to only one of them.
#[derive(uniffi::Object, Debug)]
pub struct Watch {
    core: SharedWatch,
    cancellation: memdir::Cancellation,
}

#[uniffi::export]
impl Watch {
    /// The changes since the last call, or since the watch began, sorted by path: files that were written or deleted. If
    /// there are none, it waits for a change for up to `wait`; with 0 it polls once. Null if the watch is cancelled, also
    /// while it waits.
    ///
    /// A rename is reported as a deleted file and a written file, and the rename of a directory as changes of its files.
    /// Changes undone between two polls are not reported.
    ///
    /// Throws `Config` for a wrong duration, `Store` if the store is broken. The next call then reports the changes that
    /// this one missed.
    pub fn changes(&self, wait: MemdirDuration) -> Result<Option<Vec<Change>>, MemdirError> {
        let wait = wait.option("wait")?;
        let changes = self.core.changes(&self.cancellation, wait)?;
        Ok(changes.map(|changes| changes.into_iter().map(Change::from).collect()))
    }

    /// True if `changes` would poll the store at once, return null or throw. It neither waits nor reads. Use it in a loop
    /// of your own that waits without a thread.
    pub fn is_due(&self) -> bool {
        self.cancellation.is_cancelled() || self.core.is_due()
    }

    /// Ends the watch, and all waits for it. A second call does nothing. Releasing the watch also ends it.
    pub fn cancel(&self) {
        self.core.close();
    }
}

#[uniffi::export]
impl Memory {
    /// Watches the files at `path` and below it for changes: by this process, by other processes, and by programs that
    /// write to the store directly. A null path is `/memories`. The path need not exist yet.
    ///
    /// Changes by this process are reported at once. For all others it polls the store. `every` is the polling interval.
    /// The real interval is longer if a poll takes long. Null is half a second, or a second if the store is on another
    /// machine. The watch keeps the store open.
    ///
    /// Throws `Refused` if the path is not valid, `Config` for a wrong duration, `Store` if the store is broken.
    #[uniffi::method(default(path = None, every = None))]
    pub fn watch(
        &self,
        path: Option<MemdirText>,
        every: Option<MemdirDuration>,
    ) -> Result<Watch, MemdirError> {
        let path = path_or_root(path)?;
        let every = every.map(|every| every.option("every")).transpose()?;
        let watch = self.core.watch(&path, every)?;
        Ok(Watch { core: watch.into(), cancellation: self.core.cancellation().clone() })
    }
}
