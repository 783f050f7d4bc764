//! Names of temporary files: content that is being written, and directories that are being deleted.
//!
//! The names percent-decode to a slash, so no [`MemoryPath`](memdir_store::MemoryPath) can represent them: no
//! command can reach them, and no listing shows them. A process locks the file or directory while it uses it.
//! So an unlocked one is a leftover of a killed process, and the next process that finds it removes it.

use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use super::lockable::{LockableFile, NoFork};

/// Content that is being written.
pub(super) const STAGED: &str = ".memdir-staged%2F";
/// A directory that is being deleted, or that holds the contents of a batch.
pub(super) const DOOMED: &str = ".memdir-deleted%2F";

/// The number of names of each kind in a directory. It limits the number of concurrent writers, and the
/// number of leftover directories that cannot be removed.
const EACH: usize = 64;

/// The names of a kind, always in the same order, so the next writer finds the leftovers of the last one.
pub(super) fn names(kind: &'static str) -> impl DoubleEndedIterator<Item = String> {
    (0..EACH).map(move |number| match number {
        0 => kind.to_owned(),
        _ => format!("{kind}{number}"),
    })
}

/// Whether this is a temporary name.
pub(super) fn is_temporary(name: &[u8]) -> bool {
    [STAGED, DOOMED].iter().any(|kind| {
        name.strip_prefix(kind.as_bytes()).is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
    })
}

/// Opens the file or directory of this name and locks it. `None` if another process uses it, if this store
/// could not have created it, or if it does not exist.
pub(super) fn take_over(directory: BorrowedFd<'_>, name: &str) -> Option<LockableFile> {
    let held = loop {
        let before = NoFork::now();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = openat(directory, name, flags, Mode::empty()).ok()?;
        if let Some(held) = LockableFile::new(opened, before) {
            break held;
        }
    };
    // It may have been renamed or removed after it was opened, and the name may belong to another file.
    (held.try_lock() == Ok(true) && is_at(&held, directory, name)).then_some(held)
}

/// Whether the open file still has this name.
pub(super) fn is_at(held: &LockableFile, directory: BorrowedFd<'_>, name: &str) -> bool {
    match (fstat(held), statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)) {
        (Ok(open), Ok(there)) => (open.st_dev, open.st_ino) == (there.st_dev, there.st_ino),
        _ => false,
    }
}

pub(super) fn is_there(directory: BorrowedFd<'_>, name: &str) -> bool {
    !matches!(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
}
