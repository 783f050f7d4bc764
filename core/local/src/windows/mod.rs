//! [`LocalDirectory`] on Windows, with the same guarantees as on Unix.
//!
//! - **Confined.** Each command opens the tree's root once and works beneath that handle ([`handle`]); no reparse point below it
//!   is ever followed.
//! - **One change at a time, for microseconds.** Content is first written to a temporary file and flushed ([`staged`]). Then the
//!   lock is taken ([`lock`]), the file is compared with the content that was read, and the new content is renamed into place
//!   ([`writing`]). It is flushed again after the lock is released. An edit that lost a race is computed again. After a few
//!   attempts this is done under the lock, so no writer starves.
//! - **All or nothing.** Content is renamed over the old content with POSIX semantics if the system supports them. A process
//!   that has the old file open reads it to its end.
//! - **No litter.** The leftovers of a killed process have names that no path can contain ([`temporary`]), and the next process
//!   that finds them removes them.
//! - **Every name.** Names that Windows forbids are encoded on disk ([`names`]).
//! - **Access times** are kept in files that are not part of the memory ([`times`]).

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, Read};
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::SystemTime;

use memdir_store::access::{if_a_file, is_unused};
use memdir_store::backoff::Backoff;
use memdir_store::path::MemoryPath;
use memdir_store::settings::OnExisting;
use memdir_store::{
    Context, Entry, Fingerprints, Mutation, Node, Problem, Scope, Store, StoreError, StoreInfo,
    methods_by_mutate,
};
use windows_sys::Win32::Foundation::{STATUS_ACCESS_DENIED, STATUS_SHARING_VIOLATION};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE,
};

use crate::directory::LocalDirectory;
use crate::read::{absent, read_whole};

mod changing;
mod conditional;
mod error;
mod handle;
mod lock;
mod names;
mod parent;
mod staged;
mod temporary;
mod times;
mod tree;
mod writing;

use handle::{Purpose, Status};
use tree::{EntryAt, collect, look};

impl LocalDirectory {
    /// Creates a directory and its missing parents.
    pub(crate) fn make_root(directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)
    }

    /// Checks that the root can be opened.
    pub(crate) fn check_root(&self) -> Result<(), StoreError> {
        self.enter().map(drop)
    }

    /// Opens the root. Creates it again if another process removed it.
    fn enter(&self) -> Result<File, StoreError> {
        let failed = |error| StoreError::failed("opening the memory directory", error);
        let open = || {
            OpenOptions::new()
                .read(true)
                .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
                .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
                .open(&self.root)
        };
        let root = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.read_only => {
                fs::create_dir_all(&self.root).map_err(failed)?;
                open().map_err(failed)?
            }
            root => root.map_err(failed)?,
        };
        match tree::kind(root) {
            Ok(EntryAt::Directory(root)) => Ok(root),
            _ => Err(failed(io::ErrorKind::NotADirectory.into())),
        }
    }

    fn look(&self, path: &MemoryPath, purpose: Purpose) -> Result<EntryAt, StoreError> {
        look(&self.enter()?, path, purpose).map_err(absent)
    }
}

/// Retries a call while another program has the file open: a search, a virus scanner, or a reader on a system without POSIX
/// semantics.
fn retried(
    backoff: &mut Backoff,
    mut call: impl FnMut() -> Result<(), Status>,
    failed: impl Fn(Status) -> StoreError,
) -> Result<(), StoreError> {
    /// The limit of retries after a denied access: the entry is then a directory in use, or protected. This takes two seconds
    /// with the longest pauses.
    const MOST_DENIED: usize = 400;
    let mut denied = 0;
    loop {
        match call() {
            Err(Status(STATUS_SHARING_VIOLATION)) => backoff.wait()?,
            Err(status @ Status(STATUS_ACCESS_DENIED)) if denied == MOST_DENIED => {
                return Err(failed(status));
            }
            Err(Status(STATUS_ACCESS_DENIED)) => {
                denied += 1;
                backoff.wait()?;
            }
            result => return result.map_err(failed),
        }
    }
}

fn broken(error: io::Error) -> StoreError {
    StoreError::failed("looking at a file", error).unchanged()
}

impl LocalDirectory {
    fn set_time(
        &self,
        context: &Context,
        path: &MemoryPath,
        time: SystemTime,
    ) -> Result<(), StoreError> {
        let failed = |error| StoreError::failed("setting a file's time", error);
        self.locked(context, |root, _| {
            match look(root, path, Purpose::SetTimes).map_err(absent)? {
                EntryAt::File(file, _) => {
                    let set = file.set_times(FileTimes::new().set_modified(time));
                    set.map_err(|error| failed(error).unchanged())
                }
                EntryAt::Directory(_) => Err(StoreError::IsADirectory),
            }
        })
    }

    /// Without the lock, because the content does not change. If the file is replaced meanwhile, the new file is newer than the
    /// access.
    fn note_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        if self.read_only {
            return Ok(());
        }
        let root = self.enter()?;
        match look(&root, path, Purpose::Read).map_err(absent)? {
            EntryAt::File(file, _) => {
                let (_, id) = handle::id(&file).map_err(broken)?;
                times::record(&root, id, time)
            }
            EntryAt::Directory(_) => Err(StoreError::IsADirectory),
        }
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
                return if_a_file(self.delete_file_unused(context, path, since));
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

    fn info(&self) -> StoreInfo {
        StoreInfo {
            directory: Some(self.root.clone()),
            locations: vec![self.location.clone()],
            is_read_only: self.read_only,
            // The default of Windows file systems. A directory can be configured differently, which is not checked. If it is
            // wrong, patterns only match more paths.
            folds_case: true,
            tracks_access: true,
            edits_apart: false,
            fingerprints: Fingerprints::Likely,
            conditions_are_atomic: true,
        }
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        match self.look(path, Purpose::Read)? {
            EntryAt::File(file, size) => read_whole(&file, size, None),
            EntryAt::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        match self.look(path, Purpose::Read)? {
            EntryAt::File(..) => Err(StoreError::NotADirectory),
            EntryAt::Directory(directory) => {
                let mut entries = Vec::new();
                collect(&directory, path, Scope { hidden: true, depth: 1 }, &mut entries)?;
                for entry in entries.iter_mut().filter(|entry| entry.is_file()) {
                    entry.accessed = self.accessed(&entry.path).unwrap_or_default();
                }
                Ok(entries)
            }
        }
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        match self.look(path, Purpose::Read)? {
            EntryAt::File(file, size) => Ok(Node::File(size, Box::new(file.take(size)))),
            EntryAt::Directory(directory) => {
                let mut entries = Vec::new();
                if depth > 0 {
                    collect(&directory, path, Scope { hidden: false, depth }, &mut entries)?;
                }
                Ok(Node::Directory(entries))
            }
        }
    }

    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let mut entries = Vec::new();
        collect(&self.enter()?, &MemoryPath::root(), Scope::EVERYTHING, &mut entries)?;
        entries.into_iter().filter(Entry::is_file).for_each(visit);
        Ok(())
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        tree::inspect(&self.enter()?, &MemoryPath::root(), report)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        match self.look(path, Purpose::Read)? {
            EntryAt::File(file, _) => {
                let metadata = file.metadata();
                let metadata =
                    metadata.map_err(|error| StoreError::failed("looking at a file", error))?;
                Ok(times::time(metadata.last_write_time()))
            }
            EntryAt::Directory(_) => Err(StoreError::IsADirectory),
        }
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let root = self.enter()?;
        match look(&root, path, Purpose::Read).map_err(absent)? {
            EntryAt::File(file, _) => Ok(tree::times(&root, &file)?.1),
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
