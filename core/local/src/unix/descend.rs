//! Walks through directories of any depth, with a handful of descriptors and without recursion.
//!
//! Another program may have created a tree that is deeper than the stack or the limit of descriptors. So only
//! one directory is open at a time. The walk returns through `..`, and checks that this leads to the
//! directory that it came from.

use std::ffi::{CStr, CString};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;

/// The actions in each directory of a walk.
pub(super) trait Visitor {
    /// Called on entering a directory. Returns the entries to descend into.
    fn enter(&mut self, directory: BorrowedFd<'_>, stat: &Stat) -> Result<Vec<CString>, Errno>;

    /// Called after the return from `name` of `parent`, which may no longer exist.
    fn leave(&mut self, parent: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno>;

    /// Called if `name` of `parent` cannot be opened.
    fn closed(&mut self, parent: BorrowedFd<'_>, name: &CStr, errno: Errno) -> Result<(), Errno>;
}

/// A directory on the path of the walk.
struct Level {
    name: CString,
    id: (u64, u64),
    /// The entries that the walk has yet to enter.
    ahead: Vec<CString>,
}

/// The flags to open a directory for reading.
pub(super) const FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Walks through the open directory and everything below it. Links are not followed.
pub(super) fn walk(top: OwnedFd, visitor: &mut impl Visitor) -> Result<(), Errno> {
    let mut current = top;
    let mut way = vec![level(CString::default(), &current, visitor)?];
    while let Some(here) = way.last_mut() {
        if let Some(name) = here.ahead.pop() {
            match openat(&current, name.as_c_str(), FLAGS, Mode::empty()) {
                Ok(below) => {
                    way.push(level(name, &below, visitor)?);
                    current = below;
                }
                Err(Errno::NOENT) => {}
                Err(errno) => visitor.closed(current.as_fd(), &name, errno)?,
            }
            continue;
        }
        let Some(done) = way.pop() else { break };
        let Some(above) = way.last() else { break };
        let parent = openat(&current, c"..", FLAGS, Mode::empty())?;
        if id(&fstat(&parent)?) != above.id {
            // Another program moved the directory meanwhile, so `..` leads elsewhere.
            return Err(Errno::STALE);
        }
        visitor.leave(parent.as_fd(), &done.name)?;
        current = parent;
    }
    Ok(())
}

fn level(name: CString, directory: &OwnedFd, visitor: &mut impl Visitor) -> Result<Level, Errno> {
    let stat = fstat(directory)?;
    Ok(Level { name, id: id(&stat), ahead: visitor.enter(directory.as_fd(), &stat)? })
}

/// Identifies a directory among all existing ones.
#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "types differ between systems"
)]
#[allow(clippy::cast_sign_loss, reason = "compared, and never counted with")]
pub(super) fn id(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}
