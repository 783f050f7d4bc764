//! Reads a small file without waiting for a disk, on Linux.
//!
//! `openat2` with `RESOLVE_CACHED` opens a path only if all of its names are in the kernel's cache, and `preadv2` with
//! `RWF_NOWAIT` reads only from the page cache. Both return an error if they would have to wait. In every case of error
//! the answer is `None`, and the ordinary call reports the cause.
//!
//! Opening a file on a network file system or in user space waits for another process, so this supports only file
//! systems in the kernel. The first command that may wait determines the type of a directory's file system, once.

use std::io::IoSliceMut;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use memdir_store::NOWAIT_BYTES;
use memdir_store::path::MemoryPath;
use rustix::fd::AsFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, StatFs, fstat, fstatfs, openat2};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};

use super::beneath::{PASSAGE, kind};
use super::size;
use crate::read::FileSystem;

/// File systems on local disks, by their magic numbers in `statfs`: ext2 to ext4, XFS, Btrfs, F2FS, bcachefs, and
/// overlays, which containers use.
const ON_DISKS: [u64; 6] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0xCA45_1A4E, OVERLAY];

/// File systems in memory: tmpfs and ramfs. They neither support nor need `RWF_NOWAIT`.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58F6];

/// An overlay, whose files are on another file system.
const OVERLAY: u64 = 0x794C_7630;

/// Whether the directory is on a file system in the kernel that is on one local disk, or in memory. This call may wait.
pub(super) fn is_on_one_disk(directory: impl AsFd) -> bool {
    let kind = fstatfs(directory).map(|found| kind_of(&found));
    kind.is_ok_and(|kind| {
        kind != OVERLAY && (ON_DISKS.contains(&kind) || IN_MEMORY.contains(&kind))
    })
}

/// The magic number of a file system.
#[allow(
    clippy::unnecessary_cast,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the type differs between processors, and 32 bits of it count"
)]
fn kind_of(found: &StatFs) -> u64 {
    u64::from(found.f_type as u32)
}

/// The file system of an open directory. This call may wait.
pub(super) fn file_system(directory: &OwnedFd) -> FileSystem {
    let (Ok(kind), Ok(stat)) = (fstatfs(directory), fstat(directory)) else {
        return FileSystem::Other;
    };
    let kind = kind_of(&kind);
    if ON_DISKS.contains(&kind) {
        FileSystem::OnDisk(device(&stat))
    } else if IN_MEMORY.contains(&kind) {
        FileSystem::InMemory(device(&stat))
    } else {
        FileSystem::Other
    }
}

#[allow(clippy::useless_conversion, reason = "the type differs between processors")]
fn device(stat: &rustix::fs::Stat) -> u64 {
    u64::from(stat.st_dev)
}

/// The whole content of a small file; `None` if reading would wait, or fails.
pub(super) fn read(root: &Path, path: &MemoryPath, on: &FileSystem) -> Option<Vec<u8>> {
    let (device_of_root, in_memory) = match *on {
        FileSystem::OnDisk(device) => (device, false),
        FileSystem::InMemory(device) => (device, true),
        FileSystem::Other => return None,
    };
    let is_readable = |file: &OwnedFd| {
        let stat = fstat(file).ok()?;
        let is_ours = kind(&stat) == FileType::RegularFile && device(&stat) == device_of_root;
        (is_ours && size(&stat) <= NOWAIT_BYTES).then(|| size(&stat))
    };
    let path = root.join(path.relative());
    // Opening a FIFO or a device can have effects, so check the kind first.
    is_readable(&open(&path, PASSAGE | OFlags::NOFOLLOW)?)?;
    let file = open(&path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    let mut content = vec![0; usize::try_from(is_readable(&file)?).ok()?];
    let read = if content.is_empty() {
        0
    } else if in_memory {
        pread(&file, &mut content, 0).ok()?
    } else {
        preadv2(&file, &mut [IoSliceMut::new(&mut content)], 0, ReadWriteFlags::NOWAIT).ok()?
    };
    // Only a part is cached, or the file was truncated meanwhile.
    (read == content.len()).then_some(content)
}

/// Without links, the path leads beneath the root: see `look_from` in [`beneath`](super::beneath).
fn open(path: &Path, flags: OFlags) -> Option<OwnedFd> {
    /// Set if the kernel is older than 5.12, or its sandbox forbids the call.
    static MISSING: AtomicBool = AtomicBool::new(false);
    if MISSING.load(Ordering::Relaxed) {
        return None;
    }
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::CACHED;
    let opened = openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve);
    if matches!(opened, Err(Errno::NOSYS | Errno::PERM | Errno::INVAL)) {
        MISSING.store(true, Ordering::Relaxed);
    }
    opened.ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn path(relative: &str) -> MemoryPath {
        MemoryPath::parse(&format!("/memories/{relative}")).unwrap()
    }

    #[test]
    fn a_small_cached_file_is_read_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(root.join("a/file"), "in").unwrap();
        fs::write(root.join("empty"), "").unwrap();
        fs::write(root.join("large"), "x".repeat(65_537)).unwrap();
        fs::write(place.path().join("secret"), "out").unwrap();
        symlink("../secret", root.join("leaf")).unwrap();
        symlink("a", root.join("inside")).unwrap();
        let directory = OwnedFd::from(fs::File::open(&root).unwrap());
        let on = file_system(&directory);
        let read = |relative| read(&root, &path(relative), &on);
        for nothing in ["large", "a", "leaf", "inside/file", "none", "a/file/below"] {
            assert_eq!(read(nothing), None, "{nothing}");
        }
        // Support depends on the system; a test of the Python package checks it.
        assert!(read("a/file").is_none_or(|content| content == b"in"));
        assert!(read("empty").is_none_or(|content| content.is_empty()));
        let elsewhere = FileSystem::OnDisk(u64::MAX);
        assert_eq!(super::read(&root, &path("a/file"), &elsewhere), None);
    }
}
