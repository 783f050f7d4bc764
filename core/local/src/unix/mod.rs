//! [`LocalDirectory`] on Unix: plain files in a directory, in the layout of the SDKs' own tools.
//!
//! - **Confined.** Each change opens the tree's root once and works beneath that handle. A read opens its file in
//!   one step, without the root where the system can do that ([`beneath`]). No link below the root is ever followed.
//! - **One change at a time, for microseconds.** Content is first written to a temporary file and flushed
//!   ([`staged`]). Then the lock is taken ([`lock`]), the file is compared with the content that was read,
//!   and the new content is renamed into place. Directories are flushed after the lock is released, so the
//!   flushes of several writers coincide. An edit that lost a race is computed again. After a few attempts
//!   this is done under the lock, so no writer starves.
//! - **No state between commands.** Each command finds the root again, so it notices if the root was
//!   replaced. Locks end with their owner, even if a forked child inherited the descriptor ([`lockable`]).
//! - **Many files** are written with a few flushes ([`batch`]).
//! - **Readers never wait**, and opening a store never waits. A reader that has the old file open reads the
//!   old content to its end.
//! - **Without waiting** a small file can be read, if it is in the system's cache ([`nowait`]).
//! - **No litter.** Temporary files have names that no listing shows and no command can reach
//!   ([`temporary`]). Their owner locks them while it uses them. The next process that finds an unlocked one
//!   removes it.

use std::fs::File;
use std::io::Read;
use std::time::SystemTime;

use memdir_store::access::{if_a_file, is_unused};
use memdir_store::path::MemoryPath;
use memdir_store::settings::{Durability, OnExisting};
use memdir_store::{
    BatchError, Context, Entry, FileToWrite, Fingerprints, Mutation, Node, Problem, Scope, Store,
    StoreError, StoreInfo, methods_by_mutate,
};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, OFlags, Stat, statat, unlinkat};
use rustix::io::Errno;

use crate::directory::LocalDirectory;
use crate::read::{absent, read_whole};

mod batch;
mod beneath;
mod conditional;
mod deleting;
mod descend;
mod directory;
mod flushes;
mod inspect;
mod listing;
mod lock;
mod lockable;
mod moving;
#[cfg(target_os = "linux")]
mod nowait;
mod open;
mod remove;
mod staged;
mod temporary;
mod times;
mod writing;

use beneath::{EntryAt, PASSAGE, condition, kind, look};
use directory::{Directory, Parent, open_root};
use listing::collect;

impl LocalDirectory {
    /// Opens the root for a command that only reads.
    fn enter(&self) -> Result<OwnedFd, StoreError> {
        open_root(&self.root, PASSAGE, !self.read_only)
    }

    /// Opens the entry at `path` for a command that only reads.
    fn look(&self, path: &MemoryPath) -> Result<EntryAt, StoreError> {
        #[cfg(target_os = "linux")]
        if let Some(entry) = beneath::look_from(&self.root, path.relative()) {
            return Ok(entry);
        }
        look(self.enter()?.as_fd(), path.relative()).map_err(absent)
    }
}

/// The directory that contains an existing entry, and the entry's name in it.
fn parent_of<'r, 'p>(
    root: BorrowedFd<'r>,
    path: &'p MemoryPath,
) -> Result<(Directory<'r>, &'p str), StoreError> {
    let (Some(above), Some(name)) = (path.parent(), path.name()) else {
        return Err(StoreError::IsADirectory);
    };
    let parent = Directory::open(root, &above);
    Ok((parent.map_err(|errno| condition("opening a directory", errno))?, name))
}

/// The status of the entry `name`, if it exists; a link is not followed.
fn peek(parent: impl AsFd, name: &str) -> Result<Option<Stat>, StoreError> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(condition("looking at a file", errno)),
    }
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

impl LocalDirectory {
    fn set_time(
        &self,
        context: &Context,
        path: &MemoryPath,
        time: SystemTime,
    ) -> Result<(), StoreError> {
        let failed = |error| StoreError::failed("setting a file's time", error);
        let root = self.enter_locked(context)?;
        let file = match look(root.as_fd(), path.relative()).map_err(absent)? {
            EntryAt::File(file, _) => File::from(file),
            EntryAt::Directory(_) => return Err(StoreError::IsADirectory),
        };
        times::set_modified(&file, time).map_err(|error| failed(error).unchanged())?;
        Self::unlock(&root);
        if self.durability == Durability::Full {
            file.sync_all().map_err(failed)?;
        }
        Ok(())
    }

    /// Without the lock, because the content does not change. If the file is replaced meanwhile, the new file
    /// is newer than the access.
    fn note_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        if self.read_only {
            return Ok(());
        }
        match self.look(path)? {
            EntryAt::File(file, _) => times::record_access(file, time)
                .map_err(|errno| condition("noting that a file was accessed", errno)),
            EntryAt::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    fn make_empty(&self, context: &Context, path: &MemoryPath) -> Result<(), StoreError> {
        let Some(name) = path.name() else { return Ok(()) };
        let root = self.enter_locked(context)?;
        let mut parent = Parent::make(root.as_fd(), path)?;
        match peek(&parent.directory, name)?.as_ref().map(kind) {
            None | Some(FileType::Directory) => {}
            Some(FileType::Symlink) => return Err(StoreError::Symlink),
            Some(_) => return Err(StoreError::AlreadyExists),
        }
        let made = parent.descend(name);
        made.map_err(|errno| condition("making a directory", errno).unchanged())?;
        let changed = parent.keep();
        Self::unlock(&root);
        changed.flush(self.durability)
    }

    /// The lock keeps writers from looking up the directory, and the system refuses to remove a directory with an entry.
    fn remove_empty(&self, context: &Context, path: &MemoryPath) -> Result<bool, StoreError> {
        let root = self.enter_locked(context)?;
        let (parent, name) =
            parent_of(root.as_fd(), path).map_err(|error| absent(error).unchanged())?;
        match peek(&parent, name).map_err(StoreError::unchanged)?.as_ref().map(kind) {
            None => return Err(StoreError::NotFound),
            Some(FileType::Directory) => {}
            Some(FileType::Symlink) => return Err(StoreError::Symlink),
            Some(_) => return Err(StoreError::NotADirectory),
        }
        match unlinkat(&parent, name, AtFlags::REMOVEDIR) {
            Ok(()) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST) => return Ok(false),
            Err(errno) => return Err(condition("removing a directory", errno)),
        }
        Self::unlock(&root);
        parent.flush(self.durability)?;
        Ok(true)
    }

    fn delete_file_unused(
        &self,
        context: &Context,
        path: &MemoryPath,
        since: SystemTime,
    ) -> Result<bool, StoreError> {
        let root = self.enter_locked(context)?;
        let removed = if_a_file(remove::unused(root.as_fd(), path, since))?;
        Self::unlock(&root);
        Ok(removed)
    }
}

impl Store for LocalDirectory {
    methods_by_mutate!();

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let done = match mutation {
            Mutation::Write { path, content, existing } => {
                self.write_file(context, path, content, existing)
            }
            Mutation::WriteUnique { path, content } => {
                self.write_file(context, path, content, OnExisting::Error)
            }
            Mutation::Update { path, edit } => self.edit_with_others(context, path, edit),
            Mutation::Delete { path } => self.delete_entry(context, path),
            Mutation::DeleteUnused { path, since } => {
                return self.delete_file_unused(context, path, since);
            }
            Mutation::DeleteIf { path, condition } => {
                return self.delete_file_if(context, path, condition);
            }
            Mutation::RenameIf { from, to, condition } => {
                return self.move_file_if(context, from, to, condition);
            }
            Mutation::Rename { from, to } => self.move_entry(context, from, to),
            Mutation::Clear => self.delete_all(context),
            Mutation::MakeDirectory { path } => self.make_empty(context, path),
            Mutation::RemoveDirectory { path } => return self.remove_empty(context, path),
            Mutation::SetModified { path, time } => self.set_time(context, path, time),
            Mutation::RecordAccess { path, time } => self.note_access(path, time),
        };
        done.map(|()| true)
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        self.write_together(context, files)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo {
            directory: Some(self.root.clone()),
            locations: vec![self.location.clone()],
            is_read_only: self.read_only,
            // The default of Apple's file systems. If it is wrong, patterns only match more paths.
            folds_case: cfg!(target_vendor = "apple"),
            tracks_access: open_root(&self.root, OFlags::RDONLY, false)
                .is_ok_and(times::tracks_access),
            edits_apart: false,
            fingerprints: Fingerprints::Likely,
            conditions_are_atomic: true,
        }
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        match self.look(path)? {
            EntryAt::File(file, stat) => read_whole(&File::from(file), size(&stat), None),
            EntryAt::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        match self.look(path)? {
            EntryAt::File(..) => Err(StoreError::NotADirectory),
            EntryAt::Directory(directory) => {
                let mut entries = Vec::new();
                let scope = Scope { hidden: true, depth: 1 };
                let directory = collect(directory, path, scope, &mut entries)?;
                let directory =
                    directory.fd().map_err(|errno| condition("reading a directory", errno))?;
                for entry in entries.iter_mut().filter(|entry| entry.is_file()) {
                    entry.accessed = times::accessed_in(directory, entry.path.name());
                }
                Ok(entries)
            }
        }
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        #[cfg(target_os = "linux")]
        if self.nowait.get().is_none() {
            let _ = self.nowait.set(nowait::file_system(&self.enter()?));
        }
        match self.look(path)? {
            EntryAt::File(file, stat) => {
                let size = size(&stat);
                // The size is known, so no further read is needed to detect the end.
                Ok(Node::File(size, Box::new(File::from(file).take(size))))
            }
            EntryAt::Directory(directory) => {
                let mut entries = Vec::new();
                if depth > 0 {
                    collect(directory, path, Scope { hidden: false, depth }, &mut entries)?;
                }
                Ok(Node::Directory(entries))
            }
        }
    }

    /// Answers for a small file in the system's cache.
    #[cfg(target_os = "linux")]
    fn open_nowait(&self, path: &MemoryPath, _: usize) -> Option<Result<Node<'_>, StoreError>> {
        let content = nowait::read(&self.root, path, self.nowait.get()?)?;
        Some(Ok(Node::file(content)))
    }

    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        if let EntryAt::Directory(directory) = self.look(&MemoryPath::root())? {
            let mut entries = Vec::new();
            collect(directory, &MemoryPath::root(), Scope::EVERYTHING, &mut entries)?;
            entries.into_iter().filter(Entry::is_file).for_each(visit);
        }
        Ok(())
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        let mut left = Vec::new();
        let root = self.enter()?;
        inspect::inspect(root.as_fd(), &MemoryPath::root(), report, &mut left)?;
        // A read-only store takes no locks, so it cannot distinguish leftovers from files in use.
        if !self.read_only {
            for left in inspect::abandoned(left, root.as_fd()) {
                report(left.problem());
            }
        }
        Ok(())
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        match self.look(path)? {
            EntryAt::File(_, stat) => Ok(times::modified(&stat)),
            EntryAt::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        match self.look(path)? {
            EntryAt::File(file, _) => Ok(times::accessed(file)),
            EntryAt::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    /// Reads the access times only of files that were not written since then.
    fn unused(&self, mut files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        files.retain(|file| is_unused(file.modified, None, since));
        let mut unused = Vec::new();
        for file in files {
            match self.accessed(&file.path) {
                Ok(accessed) if !is_unused(file.modified, accessed, since) => {}
                Ok(accessed) => unused.push(file.accessed_at(accessed)),
                Err(broken) if broken.is_failure() => return Err(broken),
                // Deleted meanwhile, or not accessible.
                Err(_) => {}
            }
        }
        Ok(unused)
    }
}
