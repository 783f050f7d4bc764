//! The lock that prevents concurrent changes of the tree.
//!
//! It is `flock` on the root directory itself. It excludes threads and processes alike, leaves no file behind,
//! and ends with its owner ([`lockable`](super::lockable)). A writer holds it for microseconds, while it renames
//! its prepared content into place. Contents are not written or flushed under the lock, except for an edit that
//! lost several races. So a waiting writer simply tries again after a short pause. It waits for a stopped or
//! foreign owner at most for the lock timeout.

use memdir_store::backoff::Backoff;
use memdir_store::settings::Durability;
use memdir_store::{Context, StoreError};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{OFlags, fstat, stat};

use super::descend::id;
use super::directory::{flush, open_root};
use super::lockable::{LockableFile, NoFork};
use super::{LocalDirectory, condition, remove, temporary};

/// The tree's root, opened by a writer. Dropping it releases the lock.
#[derive(Debug)]
pub(super) struct Root(LockableFile);

impl Root {
    /// Releases the lock.
    pub(super) fn release(&self) {
        self.0.unlock();
    }

    pub(super) fn flush(&self, durability: Durability) -> Result<(), StoreError> {
        flush(self.as_fd(), durability)
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl LocalDirectory {
    pub(super) fn backoff(&self, context: &Context) -> Backoff {
        Backoff::new(self.lock_timeout, context.cancellation())
    }

    /// Opens the root for a writer. Every change of the tree begins here.
    pub(super) fn enter_to_write(&self) -> Result<Root, StoreError> {
        if self.read_only {
            return Err(StoreError::ReadOnly);
        }
        loop {
            let before = NoFork::now();
            let root = open_root(&self.root, OFlags::RDONLY, true)?;
            if let Some(held) = LockableFile::new(root, before) {
                return Ok(Root(held));
            }
        }
    }

    /// Waits for the lock. `false` if the root was removed or replaced since it was opened. The command must then
    /// start again.
    ///
    /// # Errors
    /// [`StoreError::Busy`] after the lock timeout, [`StoreError::Cancelled`].
    pub(super) fn lock(&self, root: &Root, backoff: &mut Backoff) -> Result<bool, StoreError> {
        let failed = |errno| condition("locking the memory directory", errno).unchanged();
        while !root.0.try_lock().map_err(failed)? {
            backoff.wait()?;
        }
        backoff.check()?;
        let opened = fstat(root).map_err(failed)?;
        Ok(stat(&self.root).is_ok_and(|there| id(&there) == id(&opened)))
    }

    /// Opens the root and takes the lock. The caller's work must be short, and end with [`unlock`](Self::unlock).
    pub(super) fn enter_locked(&self, context: &Context) -> Result<Root, StoreError> {
        let mut backoff = self.backoff(context);
        loop {
            let root = self.enter_to_write()?;
            if self.lock(&root, &mut backoff)? {
                return Ok(root);
            }
        }
    }

    /// Releases the lock after a change, and removes leftovers of deleted directories.
    pub(super) fn unlock(root: &Root) {
        root.release();
        Self::tidy(root);
    }

    /// Removes leftovers of deleted directories.
    pub(super) fn tidy(root: &Root) {
        if temporary::is_there(root.as_fd(), temporary::DOOMED) {
            remove::sweep(root.as_fd());
        }
    }
}
