//! Directories: the root, and the parents that a command creates.

use std::fs::{self, DirBuilder, File};
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

/// The parent directory of a path that is about to be created. The directories created for it are removed
/// again, unless it is [`kept`](Parent::keep).
pub(super) struct Parent {
    pub(super) directory: File,
    made: Made,
}

/// The created directories, each as its parent and its name.
#[derive(Default)]
struct Made(Vec<(File, String)>);

impl Parent {
    /// Opens the parent of `path` and creates missing directories. The caller has the lock.
    pub(super) fn make(root: BorrowedFd<'_>, path: &MemoryPath) -> Result<Self, StoreError> {
        let failed = |errno| condition("making a directory", errno).unchanged();
        let above = path.parent().unwrap_or_else(MemoryPath::root);
        match beneath::open(root, above.relative(), READ) {
            Ok(directory) => {
                return Ok(Self { directory: directory.into(), made: Made::default() });
            }
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let directory = beneath::open(root, "", READ).map_err(failed)?.into();
        let mut parent = Self { directory, made: Made::default() };
        for name in above.names() {
            parent.descend(name).map_err(failed)?;
        }
        Ok(parent)
    }

    /// Descends to the directory `name`, and creates it if it is missing.
    pub(super) fn descend(&mut self, name: &str) -> Result<(), Errno> {
        match beneath::open_child(self.directory.as_fd(), name, READ) {
            Ok(below) => self.directory = below.into(),
            Err(Errno::NOENT) => {
                let below = make(self.directory.as_fd(), name)?;
                let above = mem::replace(&mut self.directory, below.into());
                self.made.0.push((above, name.to_owned()));
            }
            Err(errno) => return Err(errno),
        }
        Ok(())
    }

    /// Keeps the created parents, because the path now exists. The caller must flush the returned
    /// directories.
    pub(super) fn keep(self) -> Changed {
        let Self { directory, mut made } = self;
        let mut changed: Vec<File> = made.0.drain(..).map(|(above, _)| above).collect();
        changed.push(directory);
        Changed(changed)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for (above, name) in self.0.drain(..).rev() {
            let _ = unlinkat(above, name, AtFlags::REMOVEDIR);
        }
    }
}

/// Directories whose entries changed. They must be flushed, so a loss of power does not undo the change.
pub(super) struct Changed(Vec<File>);

impl Changed {
    pub(super) fn into_files(self) -> Vec<File> {
        self.0
    }

    pub(super) fn flush(&self, durability: Durability) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|directory| flush(directory, durability))
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
