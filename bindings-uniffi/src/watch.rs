//! [`Watch`]: what is changed in a memory, by whoever changes it.

use memdir::SharedWatch;

use crate::border::{MemdirDuration, MemdirText};
use crate::error::MemdirError;
use crate::files::path_or_root;
use crate::memory::Memory;
use crate::results::Change;

/// Tells what is changed in a memory, by anybody: see `Memory.watch`. Many threads may use it: each change is told to one
/// of them.
#[derive(uniffi::Object, Debug)]
pub struct Watch {
    core: SharedWatch,
    cancellation: memdir::Cancellation,
}

#[uniffi::export]
impl Watch {
    /// What was changed since the last call, or since the watch began, in the order of the paths: files that were written or
    /// deleted. If that is nothing, it waits for a change, at most for `wait`; with 0 it looks once. Null if the watch is
    /// cancelled, also meanwhile.
    ///
    /// A rename is told as a file that is deleted and one that is written; a directory as its files. What is changed and
    /// changed back between two looks is not told.
    ///
    /// Throws `Config` for a wrong duration, `Store` if the store is broken. The next call tells what this one could not.
    pub fn changes(&self, wait: MemdirDuration) -> Result<Option<Vec<Change>>, MemdirError> {
        let wait = wait.option("wait")?;
        let changes = self.core.changes(&self.cancellation, wait)?;
        Ok(changes.map(|changes| changes.into_iter().map(Change::from).collect()))
    }

    /// Whether `changes` would look at the store at once, return null or throw. It neither waits nor reads: for a loop of your
    /// own that waits without a thread.
    pub fn is_due(&self) -> bool {
        self.cancellation.is_cancelled() || self.core.is_due()
    }

    /// Ends the watch, also for those who wait. A second call does nothing. So does letting go of the watch.
    pub fn cancel(&self) {
        self.core.close();
    }
}

#[uniffi::export]
impl Memory {
    /// Begins to watch the files at `path` and below it, for changes by anybody: by this process, by other ones, and by what
    /// writes to the store directly. Null as the path is `/memories`. Nothing needs to be there yet.
    ///
    /// What this process changes is seen at once. For the rest it looks at the store `every` so often, in any case less often
    /// if a look takes long; null is twice a second, and once a second if the store is on another machine. The watch keeps
    /// the store open.
    ///
    /// Throws `Refused` for a text that is no path, `Config` for a wrong duration, `Store` if the store is broken.
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
