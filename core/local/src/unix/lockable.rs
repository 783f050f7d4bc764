//! [`LockableFile`]: locks that end with the process that took them, even if a forked child inherited the
//! descriptor.
//!
//! `flock` belongs to the open file and not to the process. A child that is forked while another thread holds
//! a lock has a copy of the descriptor. So it would keep the lock after its parent was killed. To prevent
//! this, descriptors that may hold a lock are registered, and a child closes its copies first. Closing a copy
//! does not release the parent's lock.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Exceeds the usual number of concurrent commands. A descriptor beyond this number can be locked, but is not
/// registered.
const SLOTS: usize = 512;
const FREE: RawFd = -1;

/// Another process may hold a lock briefly to check whether a file is in use. This pause is longer than that.
const GLANCE: Duration = Duration::from_micros(100);
const GLANCES: usize = 50;

static DESCRIPTORS: [AtomicI32; SLOTS] = [const { AtomicI32::new(FREE) }; SLOTS];
/// Incremented before and after each fork, so it is odd while a fork is in progress.
static FORKS: AtomicU32 = AtomicU32::new(0);
static WATCHED: Once = Once::new();

/// A registered descriptor. Its lock, if it has one, is released when it is dropped.
#[derive(Debug)]
pub(super) struct LockableFile {
    file: File,
    slot: Option<&'static AtomicI32>,
    /// Whether this descriptor has the lock and must release it.
    locked: AtomicBool,
}

/// Proof that no fork was in progress. Get it before you open a descriptor.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoFork(u32);

impl NoFork {
    pub(super) fn now() -> Self {
        WATCHED.call_once(watch_forks);
        loop {
            let forks = FORKS.load(SeqCst);
            if forks.is_multiple_of(2) {
                return Self(forks);
            }
            thread::yield_now();
        }
    }
}

impl LockableFile {
    /// Registers a descriptor that was opened after `before`. `None` if a child may have an unregistered copy
    /// of it. In that case open another one.
    pub(super) fn new(descriptor: OwnedFd, NoFork(before): NoFork) -> Option<Self> {
        let number = descriptor.as_raw_fd();
        let slot = DESCRIPTORS
            .iter()
            .find(|slot| slot.compare_exchange(FREE, number, SeqCst, SeqCst).is_ok());
        let held = Self { file: descriptor.into(), slot, locked: AtomicBool::new(false) };
        (FORKS.load(SeqCst) == before).then_some(held)
    }

    /// The open file. Never duplicate it: a child would keep the lock through the copy.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Locks the file without waiting. Returns `false` if another owner has the lock.
    pub(super) fn try_lock(&self) -> Result<bool, Errno> {
        loop {
            match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    self.locked.store(true, SeqCst);
                    return Ok(true);
                }
                Err(Errno::WOULDBLOCK) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Locks the file. Retries for a moment, because another process may hold the lock briefly to check
    /// whether the file is in use.
    pub(super) fn lock_soon(&self) -> Result<bool, Errno> {
        for _ in 0..GLANCES {
            if self.try_lock()? {
                return Ok(true);
            }
            thread::sleep(GLANCE);
        }
        Ok(false)
    }

    /// Releases the lock, if there is one, and keeps the descriptor.
    pub(super) fn unlock(&self) {
        if self.locked.swap(false, SeqCst) {
            // A copy inherited by a child shares the lock, so closing is not enough.
            let _ = flock(&self.file, FlockOperation::Unlock);
        }
    }

    /// Leaves it to the last close to release the lock. For a file whose lock no other process looks at.
    pub(super) fn unlock_on_close(&self) {
        self.locked.store(false, SeqCst);
    }
}

impl AsFd for LockableFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for LockableFile {
    fn drop(&mut self) {
        self.unlock();
        if let Some(slot) = self.slot {
            slot.store(FREE, SeqCst);
        }
    }
}

#[allow(unsafe_code, reason = "no safe crate tells of forks")]
fn watch_forks() {
    unsafe extern "C" {
        // The standard library links the C library, which has this function on every Unix since decades.
        safe fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> i32;
    }
    extern "C" fn fork_begins() {
        FORKS.fetch_add(1, SeqCst);
    }
    extern "C" fn fork_ends() {
        FORKS.fetch_add(1, SeqCst);
    }
    /// Only async-signal-safe operations are allowed here: atomics and `close`.
    extern "C" fn child_begins() {
        for slot in &DESCRIPTORS {
            let number = slot.swap(FREE, SeqCst);
            if number != FREE {
                // SAFETY: a descriptor in a slot is open, because it leaves its slot before it is closed. The
                // thread of the parent that owned it does not exist in the child.
                drop(unsafe { OwnedFd::from_raw_fd(number) });
            }
        }
        FORKS.fetch_add(1, SeqCst);
    }
    // If this fails for lack of memory, children inherit locks.
    let _ = pthread_atfork(Some(fork_begins), Some(fork_ends), Some(child_begins));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn opened(file: &tempfile::NamedTempFile) -> LockableFile {
        LockableFile::new(File::open(file.path()).unwrap().into(), NoFork::now()).unwrap()
    }

    #[test]
    fn a_lock_excludes_and_ends_with_its_holder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (first, second) = (opened(&file), opened(&file));
        assert_eq!(first.try_lock(), Ok(true));
        assert_eq!(second.try_lock(), Ok(false));
        // An unregistered copy does not keep the lock.
        let _copy = first.file.try_clone().unwrap();
        drop(first);
        assert_eq!(second.try_lock(), Ok(true));
    }

    #[test]
    fn what_a_fork_may_have_copied_is_not_used() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let before = NoFork(FORKS.load(SeqCst).wrapping_sub(2));
        assert!(LockableFile::new(File::open(file.path()).unwrap().into(), before).is_none());
    }
}
