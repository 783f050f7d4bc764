//! The lock that prevents concurrent changes of the tree.
//!
//! It is a lock on a file in the root. It excludes threads and processes alike, and ends with its owner. The file is
//! removed when its last handle is closed, so nothing is left, even after a process is killed. A writer holds the lock
//! for microseconds, while it renames its prepared content into place.

use std::fs::{File, TryLockError};

use memdir_store::backoff::Backoff;
use memdir_store::{Context, StoreError};

use super::LocalDirectory;
use super::error::condition;
use super::handle::{self, Existing, Purpose, Status};
use super::temporary::{self, LOCK, utf16};

/// The root of the tree, while this writer has the lock.
pub(super) struct Locked<'r> {
    pub(super) root: &'r File,
    /// Closing the file unlocks and removes it.
    _lock: File,
}

impl LocalDirectory {
    pub(super) fn backoff(&self, context: &Context) -> Backoff {
        Backoff::new(self.lock_timeout, context.cancellation())
    }

    /// Opens the root for a writer. Every change of the tree begins here.
    pub(super) fn enter_to_write(&self) -> Result<File, StoreError> {
        if self.read_only {
            return Err(StoreError::ReadOnly);
        }
        self.enter()
    }

    /// Waits for the lock. `None` if the root was removed or replaced since it was opened. The command must then start
    /// again.
    ///
    /// # Errors
    /// [`StoreError::Busy`] after the lock timeout, [`StoreError::Cancelled`].
    pub(super) fn lock<'r>(
        &self,
        root: &'r File,
        backoff: &mut Backoff,
    ) -> Result<Option<Locked<'r>>, StoreError> {
        loop {
            let lock = try_lock(root)?;
            if !self.is_root(root)? {
                return Ok(None);
            }
            if let Some(lock) = lock {
                backoff.check()?;
                return Ok(Some(Locked { root, _lock: lock }));
            }
            backoff.wait()?;
        }
    }

    /// Whether the open directory is still the tree's root.
    fn is_root(&self, root: &File) -> Result<bool, StoreError> {
        let there = self.enter()?;
        Ok(matches!((handle::id(&there), handle::id(root)), (Ok(a), Ok(b)) if a == b))
    }

    /// Runs `work`, which must be short, under the lock.
    pub(super) fn locked<T>(
        &self,
        context: &Context,
        work: impl FnOnce(&File, &mut Backoff) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut backoff = self.backoff(context);
        loop {
            let root = self.enter_to_write()?;
            if let Some(locked) = self.lock(&root, &mut backoff)? {
                let done = work(locked.root, &mut backoff);
                drop(locked);
                Self::tidy(&root);
                return done;
            }
        }
    }

    /// Removes leftovers of deleted directories. Every change calls this after it releases the lock.
    pub(super) fn tidy(root: &File) {
        if temporary::is_deleted_there(root) {
            temporary::sweep(root);
        }
    }

    /// Removes leftovers of killed processes.
    pub(crate) fn remove_leftovers(&self) -> Result<(), StoreError> {
        let root = self.enter()?;
        let clearing = utf16(temporary::CLEARING);
        if handle::entry(&root, &clearing).is_ok_and(|found| found.is_some())
            && let Some(_lock) = try_lock(&root)?
        {
            finish_clearing(&root);
        }
        temporary::sweep(&root);
        Ok(())
    }
}

/// Completes an interrupted clear: its directory counts as deleted. The caller has the lock.
pub(super) fn finish_clearing(root: &File) {
    let clearing = utf16(temporary::CLEARING);
    for name in temporary::deleted() {
        let opened = handle::open(root, &clearing, Purpose::Move, Existing::Open);
        match opened.and_then(|opened| handle::rename(&opened, root, &name, false)) {
            Err(Status(windows_sys::Win32::Foundation::STATUS_OBJECT_NAME_COLLISION)) => {}
            _ => return,
        }
    }
}

/// Takes the lock if it is free.
fn try_lock(root: &File) -> Result<Option<File>, StoreError> {
    let name = utf16(LOCK);
    match handle::open(root, &name, Purpose::Lock, Existing::OpenOrCreate) {
        Ok(lock) => Ok((is_locked(&lock)? && is_still_there(root, &name, &lock)).then_some(lock)),
        Err(status) => match condition("locking the memory directory", status) {
            // The last owner's file is being removed, or the root was removed.
            StoreError::NotFound | StoreError::PermissionDenied => Ok(None),
            error => Err(error.unchanged()),
        },
    }
}

fn is_locked(lock: &File) -> Result<bool, StoreError> {
    match lock.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => {
            Err(StoreError::failed("locking the memory directory", error).unchanged())
        }
    }
}

/// Whether the name still refers to the locked file: the last owner may have removed it.
fn is_still_there(root: &File, name: &[u16], lock: &File) -> bool {
    let there = handle::open(root, name, Purpose::Read, Existing::Open);
    let same = |there: File| Some(handle::id(&there).ok()? == handle::id(lock).ok()?);
    there.ok().and_then(same).unwrap_or(false)
}
