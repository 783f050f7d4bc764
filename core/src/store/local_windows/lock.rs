//! The lock that keeps two writers from changing the tree at the same moment.
//!
//! It is a lock on a file in the root, which excludes threads and processes alike and ends with its owner. The file
//! goes with its last handle, so nothing is left, also after a kill.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::LocalDirectory;
use super::error::condition;
use super::handle::{self, Existing, Purpose};
use super::temporary::{LOCK, sweep, utf16};
use crate::cancel;
use crate::store::StoreError;

/// The pauses between attempts, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// The root of the tree, while nobody else changes it.
pub(super) struct Locked {
    pub(super) root: File,
    /// Unlocked and removed when it is closed.
    _lock: File,
    pub(super) backoff: Backoff,
}

/// A deadline for waiting for others.
pub(super) struct Backoff {
    deadline: Option<Instant>,
    pause: Duration,
}

impl Backoff {
    fn new(timeout: Option<Duration>) -> Self {
        // A timeout beyond the clock's range is no timeout.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Self { deadline, pause: FIRST_PAUSE }
    }

    /// Waits a moment.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when it is over, [`StoreError::Cancelled`].
    pub(super) fn wait(&mut self) -> Result<(), StoreError> {
        cancel::check()?;
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(StoreError::Busy);
        }
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

impl LocalDirectory {
    /// Waits until nobody else changes the tree.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when the lock timeout is over, [`StoreError::Cancelled`].
    pub(super) fn lock(&self) -> Result<Locked, StoreError> {
        if self.read_only {
            return Err(StoreError::ReadOnly);
        }
        let mut backoff = Backoff::new(self.lock_timeout);
        loop {
            let root = self.enter()?;
            if let Some(lock) = try_lock(&root)? {
                cancel::check()?;
                return Ok(Locked { root, _lock: lock, backoff });
            }
            backoff.wait()?;
        }
    }

    /// Removes what killed processes left, unless a writer is at work, who does it.
    pub(super) fn tidy(&self) -> Result<(), StoreError> {
        let root = self.enter()?;
        if let Some(_lock) = try_lock(&root)? {
            sweep(&root);
        }
        Ok(())
    }
}

/// The lock, if nobody has it.
fn try_lock(root: &File) -> Result<Option<File>, StoreError> {
    let name = utf16(LOCK);
    match handle::open(root, &name, Purpose::Lock, Existing::OpenOrCreate) {
        Ok(lock) => Ok((is_locked(&lock)? && is_still_there(root, &name, &lock)).then_some(lock)),
        Err(status) => match condition("locking the memory directory", status) {
            // The last owner's file is being removed.
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

/// Whether the name still leads to the file that was locked: the last owner may have removed it.
fn is_still_there(root: &File, name: &[u16], lock: &File) -> bool {
    let there = handle::open(root, name, Purpose::Read, Existing::Open);
    let same = |there: File| Some(handle::id(&there).ok()? == handle::id(lock).ok()?);
    there.ok().and_then(same).unwrap_or(false)
}
