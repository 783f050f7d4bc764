//! Reports entries of the directory that are not part of the memory: links, special files, names that no path
//! can contain, and leftovers of killed processes.

use std::thread;
use std::time::{Duration, SystemTime};

use memdir_store::path::MemoryPath;
use memdir_store::{Problem, ProblemKind, StoreError};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, FileType, OFlags, fstat, statat};
use rustix::io::Errno;

use super::beneath::{self, PASSAGE, condition, kind};
use super::descend::id;
use super::listing::entries;
use super::{temporary, times};

/// The number of checks, with a pause after each, in which a temporary entry must be unlocked and unchanged
/// to count as a leftover.
///
/// A writer locks a file just after it has created it. On a busy machine the system may delay the writer
/// between the two steps.
const LOOKS: usize = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// A temporary file or directory, which may be in use by a writer.
pub(super) struct Unfinished {
    directory: MemoryPath,
    name: String,
}

/// The entries of `unfinished` that are not in use.
pub(super) fn abandoned(
    unfinished: Vec<Unfinished>,
    root: BorrowedFd<'_>,
) -> impl Iterator<Item = Unfinished> {
    let mut idle: Vec<_> =
        unfinished.into_iter().filter_map(|one| Some((one.unlocked(root)?, one))).collect();
    for _ in 0..LOOKS {
        if idle.is_empty() {
            break;
        }
        thread::sleep(PAUSE);
        idle.retain(|(seen, one)| one.unlocked(root).as_ref() == Some(seen));
    }
    idle.into_iter().map(|(_, one)| one)
}

impl Unfinished {
    /// The identity and time of the file, if it is unlocked. A later file may have the same inode number as
    /// an earlier one, but not also the same time.
    fn unlocked(&self, root: BorrowedFd<'_>) -> Option<(u64, u64, Option<SystemTime>)> {
        let flags = PASSAGE | OFlags::DIRECTORY;
        let directory = beneath::open(root, self.directory.relative(), flags).ok()?;
        let left = temporary::take_over(directory.as_fd(), &self.name)?;
        let stat = fstat(&left).ok()?;
        let (device, number) = id(&stat);
        Some((device, number, times::changed(&stat)))
    }

    pub(super) fn problem(&self) -> Problem {
        Problem::with_entry(ProblemKind::LeftOver, &self.directory, self.name.as_bytes())
    }
}

/// Inspects the directory `path` and everything below it.
pub(super) fn inspect(
    root: BorrowedFd<'_>,
    path: &MemoryPath,
    report: &mut dyn FnMut(Problem),
    left: &mut Vec<Unfinished>,
) -> Result<(), StoreError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let listed = beneath::open(root, path.relative(), flags)
        .and_then(|directory| Ok((entries(directory.as_fd())?, directory)));
    let (mut entries, directory) = match listed {
        Ok(listed) => listed,
        // Deleted or changed meanwhile, or unreadable. The check reports this when it reads the directory.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) if !path.is_root() => {
            return Ok(());
        }
        Err(errno) => return Err(condition("reading a directory", errno)),
    };
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (name, file_type) in entries {
        let bytes = name.to_bytes();
        if temporary::is_temporary(bytes) {
            let name = name.to_string_lossy().into_owned();
            left.push(Unfinished { directory: path.clone(), name });
            continue;
        }
        let Some(below) = name.to_str().ok().and_then(|name| path.join(name).ok()) else {
            report(Problem::with_entry(ProblemKind::BadName, path, bytes));
            continue;
        };
        let file_type = match file_type {
            FileType::Unknown => {
                match statat(&directory, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => kind(&stat),
                    Err(_) => continue,
                }
            }
            known => known,
        };
        match file_type {
            FileType::RegularFile => {}
            FileType::Directory => inspect(root, &below, report, left)?,
            FileType::Symlink => report(Problem::new(ProblemKind::Link, &below, "")),
            _ => report(Problem::new(ProblemKind::SpecialFile, &below, "")),
        }
    }
    Ok(())
}
