//! Directories: the root, and the parents that a command creates.

use std::fs::{self, DirBuilder};
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use memdir_store::StoreError;
use memdir_store::path::MemoryPath;
use memdir_store::settings::Durability;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, chmodat, fchmod, mkdirat, open, unlinkat};
use rustix::io::Errno;

use super::beneath::{self, PASSAGE, condition};

/// The mode of new directories, whatever the umask.
const DIRECTORY_MODE: Mode = Mode::RWXU;

/// Creates `path` and its missing parents by their paths on this machine.
pub(super) fn make_all(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.exists())
        .collect();
    for directory in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(directory) {
            // The umask may have removed required bits.
            Ok(()) => {
                fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
            }
            // Another process created it at the same moment.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    if path.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Opens the tree's root. If another process removed it, creates it again if it `may_be_made`.
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

/// An open directory of the tree.
pub(super) enum Directory<'r> {
    /// The root, which a command opens once.
    Root(BorrowedFd<'r>),
    Below(OwnedFd),
}

impl AsFd for Directory<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root(root) => *root,
            Self::Below(directory) => directory.as_fd(),
        }
    }
}

impl<'r> Directory<'r> {
    /// Opens the directory `path` beneath `root`.
    pub(super) fn open(root: BorrowedFd<'r>, path: &MemoryPath) -> Result<Self, Errno> {
        if path.is_root() {
            return Ok(Self::Root(root));
        }
        beneath::open(root, path.relative(), READ).map(Self::Below)
    }

    pub(super) fn flush(&self, durability: Durability) -> Result<(), StoreError> {
        flush(self.as_fd(), durability)
    }
}

/// The parent directory of a path that is about to be created. The directories created for it are removed
/// again, unless it is [`kept`](Parent::keep).
pub(super) struct Parent<'r> {
    pub(super) directory: Directory<'r>,
    made: Made<'r>,
}

/// The created directories, each as its parent and its name.
#[derive(Default)]
struct Made<'r>(Vec<(Directory<'r>, String)>);

impl<'r> Parent<'r> {
    /// A parent that exists.
    pub(super) fn existing(directory: Directory<'r>) -> Self {
        Self { directory, made: Made::default() }
    }

    /// Opens the parent of `path` and creates missing directories. The caller has the lock.
    pub(super) fn make(root: BorrowedFd<'r>, path: &MemoryPath) -> Result<Self, StoreError> {
        let failed = |errno| condition("making a directory", errno).unchanged();
        let above = path.parent().unwrap_or_else(MemoryPath::root);
        match Directory::open(root, &above) {
            Ok(directory) => return Ok(Self::existing(directory)),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let mut parent = Self::existing(Directory::Root(root));
        for name in above.names() {
            parent.descend(name).map_err(failed)?;
        }
        Ok(parent)
    }

    /// Descends to the directory `name`, and creates it if it is missing.
    pub(super) fn descend(&mut self, name: &str) -> Result<(), Errno> {
        match beneath::open_child(self.directory.as_fd(), name, READ) {
            Ok(below) => self.directory = Directory::Below(below),
            Err(Errno::NOENT) => {
                let below = make(self.directory.as_fd(), name)?;
                let above = mem::replace(&mut self.directory, Directory::Below(below));
                self.made.0.push((above, name.to_owned()));
            }
            Err(errno) => return Err(errno),
        }
        Ok(())
    }

    /// Keeps the created parents, because the path now exists. The caller must flush the returned
    /// directories.
    pub(super) fn keep(self) -> Changed<'r> {
        let Self { directory, mut made } = self;
        let mut changed: Vec<Directory<'r>> = made.0.drain(..).map(|(above, _)| above).collect();
        changed.push(directory);
        Changed(changed)
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        for (above, name) in self.0.drain(..).rev() {
            let _ = unlinkat(above, name, AtFlags::REMOVEDIR);
        }
    }
}

/// Directories whose entries changed. They must be flushed, so a loss of power does not undo the change.
#[derive(Default)]
pub(super) struct Changed<'r>(Vec<Directory<'r>>);

impl<'r> Changed<'r> {
    /// Another changed directory.
    pub(super) fn and(&mut self, directory: Directory<'r>) {
        self.0.push(directory);
    }

    pub(super) fn into_directories(self) -> Vec<Directory<'r>> {
        self.0
    }

    pub(super) fn flush(&self, durability: Durability) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|directory| directory.flush(durability))
    }
}

const READ: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Creates the directory `name` in `parent`, where nothing may exist. Removes it again if it cannot be
/// opened.
pub(super) fn make(parent: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    mkdirat(parent, name, DIRECTORY_MODE)?;
    let made = open_made(parent, name);
    if made.is_err() {
        let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
    made
}

/// The umask may have removed required bits, including the right to open the directory.
fn open_made(parent: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let opened = match beneath::open_child(parent, name, READ) {
        Err(Errno::ACCESS) => {
            set_mode_unopened(parent, name)?;
            beneath::open_child(parent, name, READ)?
        }
        opened => opened?,
    };
    fchmod(&opened, DIRECTORY_MODE)?;
    Ok(opened)
}

/// Sets the mode of a directory that cannot be opened, without following a link.
fn set_mode_unopened(parent: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    match chmodat(parent, name, DIRECTORY_MODE, AtFlags::SYMLINK_NOFOLLOW) {
        // Linux supports the call since 6.6. Before that, use the `/proc` path of an `O_PATH` handle.
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            let named = beneath::open_child(parent, name, PASSAGE | OFlags::DIRECTORY)?;
            let number = format!("/proc/self/fd/{}", named.as_raw_fd());
            chmodat(CWD, number, DIRECTORY_MODE, AtFlags::empty())
        }
        result => result,
    }
}

/// Flushes a directory, so its entries survive a loss of power.
pub(super) fn flush(directory: BorrowedFd<'_>, durability: Durability) -> Result<(), StoreError> {
    if durability == Durability::Relaxed {
        return Ok(());
    }
    loop {
        #[cfg(target_vendor = "apple")]
        let flushed = rustix::fs::fcntl_fullfsync(directory);
        #[cfg(not(target_vendor = "apple"))]
        let flushed = rustix::fs::fsync(directory);
        return match flushed {
            Err(Errno::INTR) => continue,
            // Some file systems cannot flush a directory, and need not.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(errno) => Err(StoreError::failed("flushing a directory", io::Error::from(errno))),
        };
    }
}
