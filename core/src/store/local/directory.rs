//! Directories: the root, and the parents that a command makes.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, fchmod, mkdirat, open, unlinkat};
use rustix::io::Errno;

use super::beneath::{self, condition};
use crate::options::Durability;
use crate::path::MemoryPath;
use crate::store::StoreError;

/// The mode of new directories, whatever the umask.
const DIRECTORY_MODE: Mode = Mode::RWXU;

/// Makes `path` and its missing parents on the host.
pub(super) fn make_all(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.exists())
        .collect();
    for directory in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(directory) {
            // The umask may have taken more than it should.
            Ok(()) => {
                fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
            }
            // Made by somebody else at the same moment.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    if path.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Opens the tree's root, which is made again if somebody removed it and it `may_be_made`.
pub(super) fn open_root(
    path: &Path,
    flags: OFlags,
    may_be_made: bool,
) -> Result<OwnedFd, StoreError> {
    let failed = |error| StoreError::failed("opening the memory directory", error);
    let flags = flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) if may_be_made => {
            make_all(path).map_err(failed)?;
            open(path, flags, Mode::empty()).map_err(|errno| failed(errno.into()))
        }
        result => result.map_err(|errno| failed(errno.into())),
    }
}

/// The parent of a path that is about to come to be. What was made for it is removed again, unless
/// it is [`kept`](Parent::keep).
pub(super) struct Parent {
    pub(super) directory: File,
    /// The directories that were made: where and under which name.
    made: Vec<(File, String)>,
}

impl Parent {
    /// Opens the parent of `path`, making what is missing of it.
    pub(super) fn make(
        root: BorrowedFd<'_>,
        path: &MemoryPath,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let failed = |errno| condition("making a directory", errno);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let above = path.parent().unwrap_or_else(MemoryPath::root);
        match beneath::open(root, above.relative(), flags) {
            Ok(directory) => return Ok(Self { directory: directory.into(), made: Vec::new() }),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let directory = beneath::open(root, "", flags).map_err(failed)?.into();
        let mut parent = Self { directory, made: Vec::new() };
        for name in above.names() {
            let made = match mkdirat(&parent.directory, name, DIRECTORY_MODE) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                Err(errno) => return Err(failed(errno)),
            };
            let below = beneath::open_child(parent.directory.as_fd(), name, flags);
            if made {
                let held = parent.directory.try_clone();
                let held = held.map_err(|error| StoreError::failed("making a directory", error))?;
                parent.made.push((held, name.to_owned()));
            }
            let below = below.map_err(failed)?;
            if made {
                fchmod(&below, DIRECTORY_MODE).map_err(failed)?;
                flush(&parent.directory, durability)?;
            }
            parent.directory = below.into();
        }
        Ok(parent)
    }

    /// The path has come to be: its parents stay.
    pub(super) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        for (above, name) in self.made.drain(..).rev() {
            let _ = unlinkat(above, name, AtFlags::REMOVEDIR);
        }
    }
}

/// Makes the directory `name` in `parent`, where nothing is.
pub(super) fn make(parent: &File, name: &str, durability: Durability) -> Result<(), StoreError> {
    let failed = |errno| condition("making a directory", errno);
    mkdirat(parent, name, DIRECTORY_MODE).map_err(failed)?;
    let made = beneath::open_child(parent.as_fd(), name, OFlags::RDONLY | OFlags::DIRECTORY)
        .and_then(|directory| fchmod(directory, DIRECTORY_MODE))
        .map_err(failed)
        .and_then(|()| flush(parent, durability));
    if made.is_err() {
        let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
    made
}

/// Makes the entries of a directory survive a loss of power.
pub(super) fn flush(directory: &File, durability: Durability) -> Result<(), StoreError> {
    if durability == Durability::Relaxed {
        return Ok(());
    }
    match directory.sync_all() {
        // Some file systems cannot flush a directory, and need not.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result.map_err(|error| StoreError::failed("flushing a directory", error)),
    }
}
