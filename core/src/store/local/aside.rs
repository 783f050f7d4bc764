//! Names of temporary files: contents that are being written, and directories that are being deleted.
//!
//! The names percent-decode to a slash, so no [`MemoryPath`](crate::MemoryPath) can represent them: no
//! command can reach them, and no listing shows them. A process locks the file or directory while it
//! works on it. So an unlocked one is left over from a killed process, and the next process that finds
//! it removes it.

use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use super::held::{Held, NoFork};

/// A content that is being written.
pub(super) const STAGED: &str = ".memdir-staged%2F";
/// A directory that is being deleted.
pub(super) const DOOMED: &str = ".memdir-deleted%2F";

/// How many of a kind there can be in a directory at once: so many writers are at work at the same time,
/// and so many deleted directories can be left over that cannot be removed.
const EACH: usize = 64;

/// The names of a kind, in the order in which they are taken, so that the next writer meets what the last
/// one left.
pub(super) fn names(kind: &'static str) -> impl Iterator<Item = String> {
    (0..EACH).map(move |number| match number {
        0 => kind.to_owned(),
        _ => format!("{kind}{number}"),
    })
}

/// Whether this is the name of something half done.
pub(super) fn is_aside(name: &[u8]) -> bool {
    [STAGED, DOOMED].iter().any(|kind| {
        name.strip_prefix(kind.as_bytes()).is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
    })
}

/// Opens what is under the name and locks it. `None` if somebody is at work on it, if it is nothing that
/// we could have made, or if it is gone.
pub(super) fn take_over(directory: BorrowedFd<'_>, name: &str) -> Option<Held> {
    let held = loop {
        let before = NoFork::now();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = openat(directory, name, flags, Mode::empty()).ok()?;
        if let Some(held) = Held::new(opened, before) {
            break held;
        }
    };
    // What was locked may have been placed or removed since it was opened, and the name be another's.
    (held.try_lock() == Ok(true) && is_at(&held, directory, name)).then_some(held)
}

/// Whether what is open is still under this name.
pub(super) fn is_at(held: &Held, directory: BorrowedFd<'_>, name: &str) -> bool {
    match (fstat(held), statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)) {
        (Ok(open), Ok(there)) => (open.st_dev, open.st_ino) == (there.st_dev, there.st_ino),
        _ => false,
    }
}

pub(super) fn is_there(directory: BorrowedFd<'_>, name: &str) -> bool {
    !matches!(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
}
