//! Opens files and directories beneath a directory handle, and never outside it.
//!
//! On Linux one `openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS` does this. If the kernel or its
//! sandbox does not support that call, and on other systems, each component is opened separately without
//! following links. Either way, a directory that is replaced by a link in the middle of a command is never
//! followed. (Android kills a process that calls `openat2`, so it is not used there.)

#[cfg(target_os = "linux")]
use std::path::Path;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat};
#[cfg(target_os = "linux")]
use rustix::fs::{CWD, ResolveFlags};
use rustix::io::Errno;

use memdir_store::StoreError;

/// Opens `relative`, a canonical path without a leading slash, beneath `root`. An empty path is `root`
/// itself.
pub(super) fn open(root: BorrowedFd<'_>, relative: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let relative = if relative.is_empty() { "." } else { relative };
    #[cfg(target_os = "linux")]
    if let Some(result) =
        open_at_once(root, relative, flags, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    {
        return result;
    }
    open_by_steps(root, relative, flags)
}

/// `None` if this system does not support the call.
#[cfg(target_os = "linux")]
fn open_at_once<P: rustix::path::Arg>(
    at: BorrowedFd<'_>,
    path: P,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Option<Result<OwnedFd, Errno>> {
    use rustix::fs::openat2;
    use std::sync::atomic::{AtomicBool, Ordering};

    static MISSING: AtomicBool = AtomicBool::new(false);
    if MISSING.load(Ordering::Relaxed) {
        return None;
    }
    match openat2(at, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
        // Sandboxes return EPERM for unknown calls.
        Err(Errno::NOSYS | Errno::PERM) => {
            MISSING.store(true, Ordering::Relaxed);
            None
        }
        // Another process renamed a directory of the path meanwhile. Opening each component separately is not
        // affected.
        Err(Errno::AGAIN) => None,
        result => Some(result),
    }
}

fn open_by_steps(root: BorrowedFd<'_>, relative: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut directory: Option<OwnedFd> = None;
    let mut rest = relative;
    while let Some((name, below)) = rest.split_once('/') {
        let above = directory.as_ref().map_or(root, AsFd::as_fd);
        directory = Some(open_child(above, name, PASSAGE | OFlags::DIRECTORY)?);
        rest = below;
    }
    open_child(directory.as_ref().map_or(root, AsFd::as_fd), rest, flags)
}

/// The flags for a directory that is only traversed.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const PASSAGE: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) const PASSAGE: OFlags = OFlags::RDONLY;

/// Opens one entry of a directory. A link is `ELOOP`, whatever the flags.
pub(super) fn open_child(
    directory: BorrowedFd<'_>,
    name: &str,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let result = openat(directory, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    // Systems return different errors for a link that is not followed.
    result.map_err(|errno| {
        if errno == Errno::NOENT {
            return errno;
        }
        match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if kind(&stat) == FileType::Symlink => Errno::LOOP,
            _ => errno,
        }
    })
}

/// The kind of entry at a path.
pub(super) enum EntryAt {
    File(OwnedFd, Stat),
    Directory(OwnedFd),
}

/// Opens `relative` beneath `root` for reading, if it is a file or a directory.
///
/// Anything else is never opened, because opening a FIFO or a device can have effects. So the kind is checked
/// first. If the entry is replaced by one in between, the flags keep the call from blocking.
pub(super) fn look(root: BorrowedFd<'_>, relative: &str) -> Result<EntryAt, StoreError> {
    let failed = |errno| condition("opening a file", errno);
    if !relative.is_empty() {
        let stat = statat(root, relative, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        if !matches!(kind(&stat), FileType::RegularFile | FileType::Directory | FileType::Symlink) {
            // The first check may have followed a link in the path. In that case report the link.
            let (above, name) = relative.rsplit_once('/').unwrap_or(("", relative));
            let above = open(root, above, PASSAGE | OFlags::DIRECTORY).map_err(failed)?;
            statat(above, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
            return Err(StoreError::SpecialFile);
        }
    }
    let opened = open(root, relative, LOOK).map_err(failed)?;
    entry_at(opened).map_err(failed)?.ok_or(StoreError::SpecialFile)
}

/// The flags to open an entry for reading. If it is a FIFO or a device, they keep the call from blocking.
const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// `None` if it is neither a file nor a directory.
fn entry_at(opened: OwnedFd) -> Result<Option<EntryAt>, Errno> {
    let stat = fstat(&opened)?;
    Ok(match kind(&stat) {
        FileType::RegularFile => Some(EntryAt::File(opened, stat)),
        FileType::Directory => Some(EntryAt::Directory(opened)),
        _ => None,
    })
}

/// As [`look`], in one step from the path of the root on this machine. So a reader does not open the root.
///
/// That path had no links when the store was opened, and `relative` has no `..`. So a path without links leads beneath the
/// root, and it leads through the directory that is at the root's path now. `None` if there is no such file or directory, or if
/// anything else is unusual; [`look`] finds the reason.
#[cfg(target_os = "linux")]
pub(super) fn look_from(root: &Path, relative: &str) -> Option<EntryAt> {
    let path = root.join(relative);
    let stat = statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if !matches!(kind(&stat), FileType::RegularFile | FileType::Directory) {
        return None;
    }
    let opened = open_at_once(CWD, &path, LOOK, ResolveFlags::NO_SYMLINKS)?.ok()?;
    entry_at(opened).ok()?
}

pub(super) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Converts an error of the operating system into a condition or failure of the store.
pub(super) fn condition(operation: &'static str, errno: Errno) -> StoreError {
    match errno {
        Errno::NOENT => StoreError::NotFound,
        Errno::EXIST | Errno::NOTEMPTY => StoreError::AlreadyExists,
        Errno::ISDIR => StoreError::IsADirectory,
        Errno::NOTDIR => StoreError::NotADirectory,
        Errno::LOOP | Errno::MLINK => StoreError::Symlink,
        Errno::NAMETOOLONG => StoreError::NameTooLong,
        // The file system cannot represent the name, such as a reserved one.
        Errno::ILSEQ => StoreError::NameTooLong,
        // Includes a mount point within a tree that is deleted or moved.
        Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY | Errno::XDEV => {
            StoreError::PermissionDenied
        }
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => StoreError::Full,
        other => StoreError::failed(operation, std::io::Error::from(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    type Opener = fn(BorrowedFd<'_>, &str, OFlags) -> Result<OwnedFd, Errno>;

    #[test]
    fn both_ways_of_opening_stay_beneath() {
        let place = tempfile::tempdir().unwrap();
        let root_path = place.path().join("root");
        fs::create_dir_all(root_path.join("a/b")).unwrap();
        fs::write(root_path.join("a/b/file"), "in").unwrap();
        fs::write(place.path().join("secret"), "out").unwrap();
        symlink("../secret", root_path.join("leaf")).unwrap();
        symlink("..", root_path.join("up")).unwrap();
        symlink("a", root_path.join("inside")).unwrap();
        let root = fs::File::open(&root_path).unwrap();

        for open in [open as Opener, open_by_steps] {
            let open = |path, flags| open(root.as_fd(), path, flags).map(|_| ());
            assert_eq!(open("a/b/file", OFlags::RDONLY), Ok(()));
            assert_eq!(open(".", OFlags::RDONLY), Ok(()));
            assert_eq!(open("a/b", OFlags::RDONLY | OFlags::DIRECTORY), Ok(()));
            for link in ["leaf", "up", "up/secret", "inside", "inside/b/file"] {
                assert_eq!(open(link, OFlags::RDONLY), Err(Errno::LOOP), "{link}");
            }
            assert_eq!(open("up", OFlags::RDONLY | OFlags::DIRECTORY), Err(Errno::LOOP));
            assert_eq!(open("a/none", OFlags::RDONLY), Err(Errno::NOENT));
            assert_eq!(open("a/b/file/x", OFlags::RDONLY), Err(Errno::NOTDIR));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_from_the_root_leads_beneath_it_or_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let root = place.join("root");
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(root.join("a/file"), "in").unwrap();
        fs::write(place.join("secret"), "out").unwrap();
        symlink("../secret", root.join("leaf")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("a", root.join("inside")).unwrap();
        rustix::fs::mkfifoat(CWD, root.join("fifo"), Mode::RWXU).unwrap();
        // On a system without `openat2`, nothing is found in this way.
        let is_supported = look_from(&root, "").is_some();
        assert_eq!(
            matches!(look_from(&root, "a/file"), Some(EntryAt::File(_, stat)) if stat.st_size == 2),
            is_supported
        );
        assert_eq!(matches!(look_from(&root, "a"), Some(EntryAt::Directory(_))), is_supported);
        for nothing in
            ["leaf", "up", "up/secret", "inside", "inside/file", "fifo", "none", "a/file/x"]
        {
            assert!(look_from(&root, nothing).is_none(), "{nothing}");
        }
        // A link that replaces the root, or a directory above it.
        fs::rename(&root, place.join("real")).unwrap();
        symlink("real", &root).unwrap();
        assert!(look_from(&root, "").is_none() && look_from(&root, "a/file").is_none());
        symlink(".", place.join("above")).unwrap();
        assert!(look_from(&place.join("above/real"), "a/file").is_none());
    }
}
