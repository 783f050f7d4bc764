//! [`LogDirectory`]: a directory of the journal. Its files are opened relative to its handle, and never through a link.
//!
//! A link, a pipe or a directory instead of a file is an error. So nothing is written outside, and no open call blocks.

use std::fs::File;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use memdir_store::Durability;

/// The segment that records are appended to.
pub(super) const ACTIVE: &str = "active";
/// The active segment that will replace the present one.
pub(super) const NEXT: &str = "active.new";
/// An active segment whose first bytes were damaged.
pub(super) const DAMAGED: &str = "active.damaged";
/// The directory of the full segments. Before there were segments, the log itself had this name.
pub(super) const SEGMENTS: &str = "log";
/// That directory while a log of the older form is converted.
pub(super) const CONVERTED: &str = "log.new";
/// The log of the older form, when the directory has its name.
pub(super) const OLD: &str = "log.old";
/// The file that is locked while a log is started.
pub(super) const BEGINNING: &str = "beginning";
/// The file that is locked by processes that rewrite the log or wait to do so.
pub(super) const TURN: &str = "turn";
/// The file that writers lock on Windows.
pub(super) const LOCK: &str = "lock";

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    Read,
    /// To append and to read.
    Append,
    /// As [`Append`](Self::Append), and creates a missing file.
    AppendOrMake,
    /// The file must not exist yet.
    New,
}

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Nothing,
    File,
    Directory,
    /// For example a link or a pipe.
    Other,
}

#[derive(Debug)]
pub(super) struct LogDirectory {
    #[cfg(unix)]
    handle: std::os::fd::OwnedFd,
    path: PathBuf,
}

impl LogDirectory {
    /// Opens the directory; `None` if there is none.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, Error> {
        if_there(Self::open_there(path))
    }

    /// Opens the directory. Creates it if it is missing, but not its parents.
    pub(super) fn open_or_make(path: &Path, durability: Durability) -> Result<Self, Error> {
        if let Some(there) = Self::open(path)? {
            return Ok(there);
        }
        match make_directory(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            made => {
                if made.is_ok()
                    && let Some(above) = path.parent()
                {
                    flush_directory(above, durability)?;
                }
            }
        }
        Self::open_there(path)
    }

    /// Opens a file in the directory; `None` if there is none.
    pub(super) fn file(&self, name: &str, opening: Opening) -> Result<Option<File>, Error> {
        let Some(file) = if_there(self.open_file(name, opening))? else { return Ok(None) };
        if file.metadata()?.is_file() { Ok(Some(file)) } else { Err(no_file(name)) }
    }

    /// As [`file`](Self::file), but a missing file is an error.
    pub(super) fn file_there(&self, name: &str, opening: Opening) -> Result<File, Error> {
        self.file(name, opening)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Opens a subdirectory; `None` if there is none.
    pub(super) fn directory(&self, name: &str) -> Result<Option<Self>, Error> {
        Self::open(&self.path.join(name))
    }

    /// The same, and creates a missing one.
    pub(super) fn directory_or_make(
        &self,
        name: &str,
        durability: Durability,
    ) -> Result<Self, Error> {
        Self::open_or_make(&self.path.join(name), durability)
    }

    /// Whether the open file is the one with that name.
    #[cfg(unix)]
    pub(super) fn is_at(&self, file: &File, name: &str) -> Result<bool, Error> {
        use rustix::fs::{AtFlags, fstat, statat};

        let open = fstat(file)?;
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok((open.st_dev, open.st_ino) == (there.st_dev, there.st_ino)),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Always true, because writers hold the lock of a file that is never replaced.
    #[cfg(not(unix))]
    pub(super) fn is_at(&self, _: &File, _: &str) -> Result<bool, Error> {
        Ok(true)
    }

    /// Renames a file or directory. Replaces an existing file.
    pub(super) fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        #[cfg(unix)]
        rustix::fs::renameat(&self.handle, from, &self.handle, to)?;
        #[cfg(not(unix))]
        std::fs::rename(self.path.join(from), self.path.join(to))?;
        Ok(())
    }

    /// Gives a file a second name in another directory.
    pub(super) fn link(&self, from: &str, directory: &Self, to: &str) -> Result<(), Error> {
        #[cfg(unix)]
        {
            use rustix::fs::{AtFlags, linkat};
            linkat(&self.handle, from, &directory.handle, to, AtFlags::empty())?;
        }
        #[cfg(not(unix))]
        std::fs::hard_link(self.path.join(from), directory.path.join(to))?;
        Ok(())
    }

    /// Removes a file if it exists.
    pub(super) fn remove(&self, name: &str) -> Result<(), Error> {
        match if_there(self.unlink(name)) {
            Err(_) if self.kind(name)? == Kind::Directory => Err(no_file(name)),
            removed => removed.map(drop),
        }
    }

    /// Removes an empty subdirectory.
    pub(super) fn remove_directory(&self, name: &str) -> Result<(), Error> {
        if_there(self.unlink_directory(name)).map(drop)
    }

    /// Removes the entry with this name, if there is one. A link is not followed. Returns `false` and removes nothing if the entry is a
    /// directory that is not empty.
    pub(super) fn remove_any(&self, name: &str) -> Result<bool, Error> {
        let Err(error) = if_there(self.unlink(name)) else { return Ok(true) };
        match if_there(self.unlink_directory(name)) {
            Ok(_) => Ok(true),
            Err(full) if full.kind() == ErrorKind::DirectoryNotEmpty => Ok(false),
            // Systems report different errors for a file that cannot be removed.
            Err(other) => Err(if other.kind() == ErrorKind::NotADirectory { error } else { other }),
        }
    }

    /// The kind of the entry with this name.
    pub(super) fn kind(&self, name: &str) -> Result<Kind, Error> {
        #[cfg(unix)]
        {
            use rustix::fs::{AtFlags, FileType, statat};

            let there = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
            let there = if_there(there.map_err(Error::from))?;
            Ok(match there.map(|there| FileType::from_raw_mode(there.st_mode)) {
                None => Kind::Nothing,
                Some(FileType::RegularFile) => Kind::File,
                Some(FileType::Directory) => Kind::Directory,
                Some(_) => Kind::Other,
            })
        }
        #[cfg(not(unix))]
        {
            let there = if_there(self.path.join(name).symlink_metadata())?;
            Ok(match there.map(|there| there.file_type()) {
                None => Kind::Nothing,
                Some(kind) if kind.is_file() => Kind::File,
                Some(kind) if kind.is_dir() => Kind::Directory,
                Some(_) => Kind::Other,
            })
        }
    }

    /// Locks the directory itself, if the system can.
    pub(super) fn locked(&self) -> Option<LockedDirectory<'_>> {
        #[cfg(unix)]
        rustix::fs::flock(&self.handle, rustix::fs::FlockOperation::LockExclusive).ok()?;
        Some(LockedDirectory(self))
    }

    /// Whether this is still the directory at its path. An erasure may have removed it.
    #[cfg(unix)]
    pub(super) fn is_there(&self) -> Result<bool, Error> {
        let there = rustix::fs::lstat(&self.path).map_err(Error::from);
        let Some(there) = if_there(there)? else { return Ok(false) };
        let open = rustix::fs::fstat(&self.handle)?;
        Ok((open.st_dev, open.st_ino) == (there.st_dev, there.st_ino))
    }

    /// A directory with an open file cannot be removed.
    #[cfg(not(unix))]
    pub(super) fn is_there(&self) -> Result<bool, Error> {
        Ok(self.path.is_dir())
    }

    /// The names of the entries.
    pub(super) fn names(&self) -> Result<Vec<String>, Error> {
        let listed = std::fs::read_dir(&self.path)?;
        let names = listed.map(|entry| Ok(entry?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    /// Flushes the names of the entries.
    pub(super) fn flush(&self, durability: Durability) -> Result<(), Error> {
        flush_directory(&self.path, durability)
    }
}

/// Unlocks the directory when it is dropped.
pub(super) struct LockedDirectory<'d>(#[cfg_attr(not(unix), allow(dead_code))] &'d LogDirectory);

impl Drop for LockedDirectory<'_> {
    fn drop(&mut self) {
        #[cfg(unix)]
        let _ = rustix::fs::flock(&self.0.handle, rustix::fs::FlockOperation::Unlock);
    }
}

#[cfg(unix)]
impl LogDirectory {
    fn unlink(&self, name: &str) -> Result<(), Error> {
        Ok(rustix::fs::unlinkat(&self.handle, name, rustix::fs::AtFlags::empty())?)
    }

    fn unlink_directory(&self, name: &str) -> Result<(), Error> {
        Ok(rustix::fs::unlinkat(&self.handle, name, rustix::fs::AtFlags::REMOVEDIR)?)
    }

    fn open_there(path: &Path) -> Result<Self, Error> {
        use rustix::fs::{Mode, OFlags, open};

        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match open(path, flags, Mode::empty()) {
            Ok(handle) => Ok(Self { handle, path: path.to_owned() }),
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => Err(no_directory(path)),
            Err(error) => Err(error.into()),
        }
    }

    fn open_file(&self, name: &str, opening: Opening) -> Result<File, Error> {
        use rustix::fs::{Mode, OFlags, openat};
        use rustix::io::Errno;

        // Opening a pipe must not wait for a process at its other end.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let append = OFlags::RDWR | OFlags::APPEND;
        let flags = flags
            | match opening {
                Opening::Read => OFlags::RDONLY,
                Opening::Append => append,
                Opening::AppendOrMake => append | OFlags::CREATE,
                Opening::New => append | OFlags::CREATE | OFlags::EXCL,
            };
        // Readable only by its owner, like the files of the memory.
        match openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO | Errno::MLINK) => Err(no_file(name)),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
impl LogDirectory {
    fn unlink(&self, name: &str) -> Result<(), Error> {
        std::fs::remove_file(self.path.join(name))
    }

    fn unlink_directory(&self, name: &str) -> Result<(), Error> {
        std::fs::remove_dir(self.path.join(name))
    }

    fn open_there(path: &Path) -> Result<Self, Error> {
        let is_directory = path.symlink_metadata()?.is_dir();
        if is_directory { Ok(Self { path: path.to_owned() }) } else { Err(no_directory(path)) }
    }

    fn open_file(&self, name: &str, opening: Opening) -> Result<File, Error> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true);
        #[cfg(windows)]
        {
            use std::os::windows::fs::OpenOptionsExt;
            /// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a link itself, which then is not a file.
            const NOT_THROUGH_A_LINK: u32 = 0x0020_0000;
            options.custom_flags(NOT_THROUGH_A_LINK);
        }
        match opening {
            Opening::Read => {}
            Opening::Append => drop(options.append(true)),
            Opening::AppendOrMake => drop(options.append(true).create(true)),
            Opening::New => drop(options.append(true).create_new(true)),
        }
        options.open(self.path.join(name))
    }
}

fn no_file(name: &str) -> Error {
    Error::other(format!("something else is in the place of its file `{name}`"))
}

fn no_directory(path: &Path) -> Error {
    let name = path.file_name().unwrap_or_default().display();
    Error::other(format!("something else is in the place of its directory `{name}`"))
}

/// `None` for an entry that does not exist.
fn if_there<T>(done: Result<T, Error>) -> Result<Option<T>, Error> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

/// Flushes a directory, so the name of a new file survives a loss of power.
fn flush_directory(directory: &Path, durability: Durability) -> Result<(), Error> {
    if cfg!(unix) && durability == Durability::Full {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

fn make_directory(directory: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().mode(0o700).create(directory)
    }
    #[cfg(not(unix))]
    std::fs::create_dir(directory)
}
