//! The local directory: files as they are, in the layout of the SDKs' own tools.
//!
//! - **Confined.** Each command opens the tree's root once and works beneath that handle
//!   ([`beneath`]); no link is ever followed below it.
//! - **One writer.** A writer holds `flock` on the root directory itself, which excludes threads
//!   and processes alike and leaves no file behind. The handle is opened anew for each command and
//!   nothing is kept between commands, so that a `fork()` at any moment harms nobody.
//! - **Readers never wait.** Contents are replaced by renaming ([`staged`]); who has the old file
//!   open reads the old content to its end.
//! - **No litter.** What a killed process leaves has a name that no listing shows and no command
//!   can reach; the next writer or the next open removes it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, OFlags, Stat, fstat, statat, unlinkat};
use rustix::io::Errno;

use super::access::{if_a_file, is_unused};
use super::{Edit, Entry, Node, Problem, Scope, Store, StoreError};
use crate::options::{Durability, OnExisting};
use crate::path::MemoryPath;

mod beneath;
mod directory;
mod inspect;
mod listing;
mod moving;
mod open;
mod remove;
mod staged;
mod times;

use beneath::{Found, PASSAGE, condition, kind, look};
use directory::{Parent, flush, open_root};
use listing::collect;
use staged::Target;

/// A directory on a file system of this machine.
///
/// By [`open`](LocalDirectory::open) the files are in its `memories` directory, as the SDKs' own
/// tools keep them; by [`open_bare`](LocalDirectory::open_bare) in that directory itself.
///
/// Links and special files that somebody else put there are never followed or opened. Names that
/// no [`MemoryPath`] can hold are left alone and left out. An edit keeps a file's mode and owner
/// but, as it replaces the file, not its hard links.
#[derive(Debug)]
pub struct LocalDirectory {
    /// The tree's root, absolute, its links resolved when it was opened.
    root: PathBuf,
    durability: Durability,
    /// Nothing is ever changed, nor the root made where it is missing.
    read_only: bool,
}

/// The root, while this command is its only writer.
struct Locked {
    root: File,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Not left to the closing of the handle, which a fork in another thread may have copied.
        let _ = self.root.unlock();
    }
}

impl LocalDirectory {
    /// The root, for a command that only reads.
    fn enter(&self) -> Result<OwnedFd, StoreError> {
        open_root(&self.root, PASSAGE, !self.read_only)
    }

    /// Waits until no other writer is in the tree. Whatever changes the tree comes by here.
    fn lock(&self) -> Result<Locked, StoreError> {
        if self.read_only {
            return Err(StoreError::ReadOnly);
        }
        let failed = |error| StoreError::failed("locking the memory directory", error);
        loop {
            let root = File::from(open_root(&self.root, OFlags::RDONLY, true)?);
            match root.lock() {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                result => result.map_err(failed)?,
            }
            let locked = Locked { root };
            // While we waited, the root may have been removed and made anew.
            if fstat(&locked.root).map_err(|errno| failed(errno.into()))?.st_nlink > 0 {
                return Ok(locked);
            }
        }
    }
}

/// Where a parent is a file, nothing can be below it.
fn absent(error: StoreError) -> StoreError {
    match error {
        StoreError::NotADirectory => StoreError::NotFound,
        other => other,
    }
}

/// The directory above an existing entry, and the entry's name in it.
fn parent_of<'p>(
    root: BorrowedFd<'_>,
    path: &'p MemoryPath,
) -> Result<(File, &'p str), StoreError> {
    let (Some(above), Some(name)) = (path.parent(), path.name()) else {
        return Err(StoreError::IsADirectory);
    };
    let opened = beneath::open(root, above.relative(), OFlags::RDONLY | OFlags::DIRECTORY);
    let opened = opened.map_err(|errno| condition("opening a directory", errno))?;
    Ok((opened.into(), name))
}

/// What is under `name`, if anything is; a link is not followed.
fn peek(parent: &File, name: &str) -> Result<Option<Stat>, StoreError> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(condition("looking at a file", errno)),
    }
}

fn read_whole(file: OwnedFd, stat: &Stat) -> Result<Vec<u8>, StoreError> {
    let size = usize::try_from(stat.st_size).unwrap_or(0);
    let mut content = Vec::with_capacity(size.saturating_add(1));
    match File::from(file).read_to_end(&mut content) {
        Ok(_) => Ok(content),
        Err(error) => Err(StoreError::failed("reading a file", error)),
    }
}

impl Store for LocalDirectory {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        let root = self.enter()?;
        match look(root.as_fd(), path.relative()).map_err(absent)? {
            Found::File(file, stat) => read_whole(file, &stat),
            Found::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let root = self.enter()?;
        match look(root.as_fd(), path.relative()).map_err(absent)? {
            Found::File(..) => Err(StoreError::NotADirectory),
            Found::Directory(directory) => {
                let mut entries = Vec::new();
                collect(&directory, path, Scope { hidden: true, depth: 1 }, &mut entries)?;
                for entry in entries.iter_mut().filter(|entry| entry.is_file()) {
                    entry.accessed = times::accessed_in(&directory, entry.path.name());
                }
                Ok(entries)
            }
        }
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        let root = self.enter()?;
        match look(root.as_fd(), path.relative()).map_err(absent)? {
            Found::File(file, stat) => {
                let size = u64::try_from(stat.st_size).unwrap_or(0);
                // The size is known, so that nobody has to ask for more to learn that there is none.
                Ok(Node::File(size, Box::new(File::from(file).take(size))))
            }
            Found::Directory(directory) => {
                let mut entries = Vec::new();
                if depth > 0 {
                    collect(&directory, path, Scope { hidden: false, depth }, &mut entries)?;
                }
                Ok(Node::Directory(entries))
            }
        }
    }

    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let root = self.enter()?;
        if let Found::Directory(directory) = look(root.as_fd(), "").map_err(absent)? {
            let mut entries = Vec::new();
            collect(&directory, &MemoryPath::root(), Scope::EVERYTHING, &mut entries)?;
            entries.into_iter().filter(Entry::is_file).for_each(visit);
        }
        Ok(())
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let Some(name) = path.name() else { return Err(StoreError::AlreadyExists) };
        let locked = self.lock()?;
        let parent = Parent::make(locked.root.as_fd(), path, self.durability)?;
        let there = peek(&parent.directory, name)?;
        match (there.as_ref().map(kind), existing) {
            (None, _) | (Some(FileType::RegularFile), OnExisting::Overwrite) => {}
            (Some(FileType::Symlink), _) => return Err(StoreError::Symlink),
            (Some(FileType::RegularFile | FileType::Directory), _) | (_, OnExisting::Error) => {
                return Err(StoreError::AlreadyExists);
            }
            (Some(_), OnExisting::Overwrite) => return Err(StoreError::SpecialFile),
        }
        let target = Target {
            root: locked.root.as_fd(),
            parent: parent.directory.as_fd(),
            name,
            replaces: there.as_ref(),
            durability: self.durability,
        };
        target.write(&[content])?;
        flush(&parent.directory, self.durability)?;
        parent.keep();
        Ok(())
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        let locked = self.lock()?;
        let (parent, name) = parent_of(locked.root.as_fd(), path).map_err(absent)?;
        let (file, stat) = match look(parent.as_fd(), name)? {
            Found::File(file, stat) => (file, stat),
            Found::Directory(_) => return Err(StoreError::IsADirectory),
        };
        let content = read_whole(file, &stat)?;
        let Some(splice) = edit(&content) else { return Ok(()) };
        let target = Target {
            root: locked.root.as_fd(),
            parent: parent.as_fd(),
            name,
            replaces: Some(&stat),
            durability: self.durability,
        };
        target.write(&splice.pieces(&content))?;
        flush(&parent, self.durability)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let locked = self.lock()?;
        let (parent, name) = parent_of(locked.root.as_fd(), path).map_err(absent)?;
        match peek(&parent, name)?.as_ref().map(kind) {
            None => return Err(StoreError::NotFound),
            Some(FileType::Directory) => {
                remove::directory(locked.root.as_fd(), &parent, name, self.durability)?;
            }
            // A file, or what somebody else put there: a link is removed and not followed.
            Some(_) => unlinkat(&parent, name, AtFlags::empty())
                .map_err(|errno| condition("deleting a file", errno))?,
        }
        flush(&parent, self.durability)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        if self.read_only {
            return Err(StoreError::Source(Box::new(StoreError::ReadOnly)));
        }
        let locked = self.lock()?;
        let root = locked.root.as_fd();
        let of_source = |error| match error {
            StoreError::NotFound | StoreError::NotADirectory => StoreError::NotFound,
            other => StoreError::Source(Box::new(other)),
        };
        let (old_parent, old) = parent_of(root, from).map_err(of_source)?;
        let source = peek(&old_parent, old).map_err(of_source)?.ok_or(StoreError::NotFound)?;
        let Some(new) = to.name() else { return Err(StoreError::AlreadyExists) };
        let destination = parent_of(root, to);
        if let Ok((parent, name)) = &destination
            && peek(parent, name)?.is_some()
        {
            return Err(StoreError::AlreadyExists);
        }
        let is_directory = kind(&source) == FileType::Directory;
        if is_directory && from.is_above(to) {
            return Err(StoreError::IntoItself);
        }
        match destination {
            Ok(_) | Err(StoreError::NotFound) => {}
            Err(error) => return Err(error),
        }
        if is_directory {
            moving::check_paths_below(old_parent.as_fd(), old, to)
                .map_err(|_| StoreError::NameTooLong)?;
        }
        let parent = Parent::make(root, to, self.durability)?;
        moving::rename_new(old_parent.as_fd(), old, parent.directory.as_fd(), new)
            .map_err(|errno| condition("moving a file", errno))?;
        flush(&parent.directory, self.durability)?;
        parent.keep();
        flush(&old_parent, self.durability)
    }

    fn make_directory(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let Some(name) = path.name() else { return Ok(()) };
        let locked = self.lock()?;
        let parent = Parent::make(locked.root.as_fd(), path, self.durability)?;
        match peek(&parent.directory, name)?.as_ref().map(kind) {
            None => {}
            Some(FileType::Directory) => return Ok(()),
            Some(FileType::Symlink) => return Err(StoreError::Symlink),
            Some(_) => return Err(StoreError::AlreadyExists),
        }
        directory::make(&parent.directory, name, self.durability)?;
        parent.keep();
        Ok(())
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        let mut left = Vec::new();
        inspect::inspect(self.enter()?.as_fd(), &MemoryPath::root(), report, &mut left)?;
        // Who may not lock cannot tell what was left from what somebody is just at.
        if left.is_empty() || self.read_only {
            return Ok(());
        }
        // What is there while nobody else writes belongs to nobody.
        let locked = self.lock()?;
        for file in &left {
            if file.is_there(locked.root.as_fd()) {
                report(file.problem());
            }
        }
        Ok(())
    }

    fn clear(&self) -> Result<(), StoreError> {
        let locked = self.lock()?;
        let failed = |errno| condition("clearing the memory directory", errno);
        // Also what no path can name: links, special files, names that are not text.
        for (name, _) in listing::entries(locked.root.as_fd()).map_err(failed)? {
            remove::entry(locked.root.as_fd(), name.as_c_str()).map_err(failed)?;
        }
        flush(&locked.root, self.durability)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let root = self.enter()?;
        match look(root.as_fd(), path.relative()).map_err(absent)? {
            Found::File(_, stat) => Ok(times::modified(&stat)),
            Found::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let locked = self.lock()?;
        let file = match look(locked.root.as_fd(), path.relative()).map_err(absent)? {
            Found::File(file, _) => File::from(file),
            Found::Directory(_) => return Err(StoreError::IsADirectory),
        };
        let failed = |error| StoreError::failed("setting a file's time", error);
        times::set_modified(&file, time).map_err(failed)?;
        if self.durability == Durability::Full {
            file.sync_all().map_err(failed)?;
        }
        Ok(())
    }

    fn keeps_access(&self) -> bool {
        open_root(&self.root, OFlags::RDONLY, false).is_ok_and(times::keeps_access)
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let root = self.enter()?;
        match look(root.as_fd(), path.relative()).map_err(absent)? {
            Found::File(file, _) => Ok(times::accessed(file)),
            Found::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    /// Without the lock, as no content is touched: what is accessed while it is replaced is newer
    /// by the replacing.
    fn set_accessed(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        if self.read_only {
            return Ok(());
        }
        let root = self.enter()?;
        match look(root.as_fd(), path.relative()).map_err(absent)? {
            Found::File(file, _) => times::set_accessed(file, time)
                .map_err(|errno| condition("noting that a file was accessed", errno)),
            Found::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    /// Asks only for the accesses of files that were not written since then.
    fn unused(&self, mut files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        files.retain(|file| is_unused(file.modified, None, since));
        let mut unused = Vec::new();
        for file in files {
            match self.accessed(&file.path) {
                Ok(accessed) if !is_unused(file.modified, accessed, since) => {}
                Ok(accessed) => unused.push(file.accessed_at(accessed)),
                Err(broken @ StoreError::Failed { .. }) => return Err(broken),
                // Gone meanwhile, or closed to us.
                Err(_) => {}
            }
        }
        Ok(unused)
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        if_a_file(remove::unused(&self.lock()?.root, path, since))
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// What file systems of Apple's systems do unless they are told otherwise, which is not asked: to take
    /// two names for one only makes patterns fit more.
    fn folds_case(&self) -> bool {
        cfg!(target_vendor = "apple")
    }

    fn directory(&self) -> Option<&Path> {
        Some(&self.root)
    }
}
