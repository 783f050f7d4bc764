//! Creates, edits, moves and deletes: each under the lock, each all or nothing.

use std::fs::File;
use std::io::Write;

use windows_sys::Win32::Foundation::{STATUS_ACCESS_DENIED, STATUS_SHARING_VIOLATION};

use super::LocalDirectory;
use super::error::{as_io, condition};
use super::handle::{self, Existing, Purpose, Status};
use super::lock::{Backoff, Locked};
use super::names::encoded;
use super::temporary::{self, STAGED, utf16};
use super::tree::{self, Found, look, open_directory};
use crate::cancel;
use crate::path::MemoryPath;
use crate::store::local_read::{absent, read_whole};
use crate::store::settings::{Durability, OnExisting};
use crate::store::{Edit, StoreError};

/// How many deleted directories can be left over that cannot be removed.
const MOST_LEFT: u32 = 64;

impl LocalDirectory {
    pub(super) fn write_file(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let Some(name) = path.name() else { return Err(StoreError::AlreadyExists) };
        let mut locked = self.lock()?;
        let there = match look(&locked.root, path, Purpose::Read) {
            Ok(Found::File(..)) if existing == OnExisting::Overwrite => true,
            Ok(_) => return Err(StoreError::AlreadyExists),
            // Also below a file, which the walk to the parent says.
            Err(StoreError::NotFound | StoreError::NotADirectory) => false,
            Err(error) => return Err(error.unchanged()),
        };
        let parent = Parent::make(&locked.root, path)?;
        self.put(&mut locked, &parent.directory, name, &[content], there)?;
        parent.keep();
        Ok(())
    }

    pub(super) fn edit_file(
        &self,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        let mut locked = self.lock()?;
        let found = look(&locked.root, path, Purpose::Read);
        let content = match found.map_err(|error| absent(error).unchanged())? {
            Found::File(file, size) => read_whole(&file, size, self.max_file_bytes)?,
            Found::Directory(_) => return Err(StoreError::IsADirectory),
        };
        let Some(splice) = edit(&content) else { return Ok(()) };
        let (parent, name) = parent_of(&locked.root, path)?;
        self.put(&mut locked, &parent, name, &splice.pieces(&content), true)
    }

    pub(super) fn make_empty(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let locked = self.lock()?;
        let Some(name) = path.name() else { return Ok(()) };
        match look(&locked.root, path, Purpose::Read) {
            Ok(Found::Directory(_)) => return Ok(()),
            Ok(Found::File(..)) => return Err(StoreError::AlreadyExists),
            Err(StoreError::NotFound | StoreError::NotADirectory) => {}
            Err(error) => return Err(error),
        }
        let mut parent = Parent::make(&locked.root, path)?;
        parent.descend(name)?;
        parent.keep();
        Ok(())
    }

    pub(super) fn delete_entry(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let mut locked = self.lock()?;
        let (parent, name) =
            parent_of(&locked.root, path).map_err(|error| absent(error).unchanged())?;
        let name = encoded(name);
        let failed = |status| condition("deleting", status);
        let opened = handle::open(&parent, &name, Purpose::Move, Existing::Open);
        let opened = opened.map_err(|status| failed(status).unchanged())?;
        match tree::kind(opened) {
            // A file, or what somebody else put there: a link is removed and not followed.
            Ok(Found::File(file, _)) => {
                retried(&mut locked.backoff, || handle::delete(&file), failed)
            }
            Err(StoreError::Symlink) => {
                let link = handle::open(&parent, &name, Purpose::Move, Existing::Open);
                link.and_then(|link| handle::delete(&link)).map_err(failed)
            }
            Ok(Found::Directory(directory)) => {
                check_removable(&locked.root, path)?;
                set_aside(&mut locked, &directory)?;
                drop(directory);
                temporary::sweep(&locked.root);
                Ok(())
            }
            Err(error) => Err(error.unchanged()),
        }
    }

    pub(super) fn delete_all(&self) -> Result<(), StoreError> {
        let mut locked = self.lock()?;
        let failed = |status| condition("clearing the memory directory", status);
        temporary::sweep(&locked.root);
        let (whole, aside) = empty_aside(&locked.root)?;
        let mut moved: Vec<Vec<u16>> = Vec::new();
        for entry in handle::entries(&locked.root).map_err(|status| failed(status).unchanged())? {
            if temporary::is_temporary(&entry.name) {
                continue;
            }
            let opened = handle::open(&locked.root, &entry.name, Purpose::Move, Existing::Open);
            let done = opened.map_err(failed).and_then(|opened| {
                let rename = || handle::rename(&opened, &aside, &entry.name, false);
                retried(&mut locked.backoff, rename, failed)
            });
            let Err(error) = done else {
                moved.push(entry.name);
                continue;
            };
            // All of it comes back, even if another one fails.
            let back = |name: &Vec<u16>| {
                let file = handle::open(&aside, name, Purpose::Move, Existing::Open)?;
                handle::rename(&file, &locked.root, name, false)
            };
            moved.retain(|name| back(name).is_err());
            if moved.is_empty() {
                drop(aside);
                let _ = temporary::remove(&locked.root, &whole, true);
                return Err(error.unchanged());
            }
            return Err(StoreError::failed("clearing the memory directory", error));
        }
        drop(aside);
        let _ = temporary::remove(&locked.root, &whole, true);
        Ok(())
    }

    pub(super) fn move_entry(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        if self.read_only {
            return Err(of_source(StoreError::ReadOnly));
        }
        let mut locked = self.lock()?;
        let root = &locked.root;
        let (old_parent, old) = parent_of(root, from).map_err(of_source)?;
        let failed = |status| condition("moving a file", status);
        let opened = handle::open(&old_parent, &encoded(old), Purpose::Move, Existing::Open);
        let source = opened.map_err(|status| of_source(failed(status)))?;
        let source_id = id(&source)?;
        let is_directory =
            matches!(tree::kind(source.try_clone().map_err(broken)?), Ok(Found::Directory(_)));
        let Some(new) = to.name() else { return Err(StoreError::AlreadyExists) };
        match look(root, to, Purpose::Read) {
            // Only the case of its name changes, which is a change of its own.
            Ok(Found::File(there, _) | Found::Directory(there))
                if from != to && id(&there)? == source_id && folds_to(from, to) => {}
            Ok(_) | Err(StoreError::Symlink) => return Err(StoreError::AlreadyExists),
            Err(StoreError::NotFound | StoreError::NotADirectory) => {}
            Err(error) => return Err(error),
        }
        if is_directory && from.is_above(to) {
            return Err(StoreError::IntoItself);
        }
        if is_directory {
            check_paths_below(root, from, to)?;
        }
        let parent = Parent::make(root, to)?;
        cancel::check()?;
        let name = encoded(new);
        let rename = || handle::rename(&source, &parent.directory, &name, false);
        let moved = retried(&mut locked.backoff, rename, failed);
        moved.map_err(StoreError::unchanged)?;
        // Not every system changes only the case of a name, although it says so.
        if folds_to(from, to) && on_disk(&parent.directory, new)? != name {
            return Err(StoreError::AlreadyExists);
        }
        parent.keep();
        Ok(())
    }

    /// Puts a content in place: written in the root, flushed, and renamed to its place in one step. A file that
    /// is replaced keeps the case of its name.
    fn put(
        &self,
        locked: &mut Locked,
        parent: &File,
        name: &str,
        pieces: &[&[u8]],
        replace: bool,
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "writing a file";
        let failed = |status| condition(OPERATION, status);
        let name = if replace { on_disk(parent, name)? } else { encoded(name) };
        let (root, backoff) = (&locked.root, &mut locked.backoff);
        let staged = utf16(STAGED);
        let create = || handle::open(root, &staged, Purpose::Stage, Existing::Create);
        let mut file = match create().map_err(failed) {
            // A writer was killed here.
            Err(StoreError::AlreadyExists) => {
                let _ = temporary::remove(root, &staged, false);
                create().map_err(failed)
            }
            created => created,
        }
        .map_err(StoreError::unchanged)?;
        let written = pieces
            .iter()
            .try_for_each(|piece| file.write_all(piece))
            .and_then(|()| self.flush(&file));
        let placed = written.map_err(|error| StoreError::failed(OPERATION, error)).and_then(|()| {
            cancel::check()?;
            retried(backoff, || handle::rename(&file, parent, &name, replace), failed)
        });
        if let Err(error) = placed {
            let _ = handle::delete(&file);
            return Err(match error {
                StoreError::Failed { .. } if is_full(&error) => StoreError::Full,
                error => error.unchanged(),
            });
        }
        // The new name as well.
        self.flush(&file).map_err(|error| StoreError::failed(OPERATION, error))
    }

    fn flush(&self, file: &File) -> std::io::Result<()> {
        match self.durability {
            Durability::Full => file.sync_all(),
            Durability::Relaxed => Ok(()),
        }
    }
}

/// Whether the disk had no room, which std says in its own words.
fn is_full(error: &StoreError) -> bool {
    let source =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    source.is_some_and(|error| error.kind() == std::io::ErrorKind::StorageFull)
}

/// Calls again for a while where another program keeps something open: a search, a virus scanner, a reader on a
/// system without POSIX semantics.
fn retried(
    backoff: &mut Backoff,
    mut call: impl FnMut() -> Result<(), Status>,
    failed: impl Fn(Status) -> StoreError,
) -> Result<(), StoreError> {
    let mut refused = 0;
    loop {
        match call() {
            Err(Status(STATUS_SHARING_VIOLATION)) => backoff.wait()?,
            // A directory that somebody is in, or one that may not be changed.
            Err(status @ Status(STATUS_ACCESS_DENIED)) if refused == 100 => {
                return Err(failed(status));
            }
            Err(Status(STATUS_ACCESS_DENIED)) => {
                refused += 1;
                backoff.wait()?;
            }
            result => return result.map_err(failed),
        }
    }
}

/// The name of a file as the directory has it, which may differ in case from the one that leads to it.
fn on_disk(parent: &File, name: &str) -> Result<Vec<u16>, StoreError> {
    let name = encoded(name);
    let lower = |name: &[u16]| String::from_utf16_lossy(name).to_lowercase();
    let entries = handle::entries(parent);
    let entries = entries.map_err(|status| condition("reading a directory", status).unchanged())?;
    if entries.iter().any(|entry| entry.name == name) {
        return Ok(name);
    }
    let same = entries.into_iter().find(|entry| lower(&entry.name) == lower(&name));
    Ok(same.map_or(name, |entry| entry.name))
}

/// A new directory out of sight in the root, and its name.
fn empty_aside(root: &File) -> Result<(Vec<u16>, File), StoreError> {
    let failed = |status| condition("clearing the memory directory", status).unchanged();
    for number in 0..MOST_LEFT {
        let name = temporary::deleted(number);
        match handle::open(root, &name, Purpose::Directory, Existing::Create).map_err(failed) {
            // One that could not be removed.
            Err(StoreError::AlreadyExists) => {}
            made => return Ok((name, made?)),
        }
    }
    Err(too_many())
}

fn too_many() -> StoreError {
    StoreError::failed("deleting a directory", "too many that cannot be removed are left")
        .unchanged()
}

/// Moves an open directory out of sight, where it is removed.
fn set_aside(locked: &mut Locked, directory: &File) -> Result<(), StoreError> {
    let failed = |status| condition("deleting a directory", status);
    temporary::sweep(&locked.root);
    for number in 0..MOST_LEFT {
        let name = temporary::deleted(number);
        let rename = || handle::rename(directory, &locked.root, &name, false);
        match retried(&mut locked.backoff, rename, failed) {
            // One that could not be removed.
            Err(StoreError::AlreadyExists) => {}
            result => return result.map_err(StoreError::unchanged),
        }
    }
    Err(too_many())
}

/// Whether everything below a directory can be removed, as far as that can be known.
fn check_removable(root: &File, path: &MemoryPath) -> Result<(), StoreError> {
    let failed = |status| condition("deleting a directory", status).unchanged();
    let directory = open_directory(root, path).map_err(failed)?;
    check_below(&directory).map_err(failed)
}

fn check_below(directory: &File) -> Result<(), Status> {
    for entry in handle::entries(directory)? {
        let opened = handle::open(directory, &entry.name, Purpose::Move, Existing::Open)?;
        drop(opened);
        if entry.is_directory() && !entry.is_link() {
            check_below(&handle::open(
                directory,
                &entry.name,
                Purpose::Directory,
                Existing::Open,
            )?)?;
        }
    }
    Ok(())
}

/// Whether everything below a directory still has a path when it is moved.
fn check_paths_below(root: &File, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
    let mut entries = Vec::new();
    let directory =
        open_directory(root, from).map_err(|status| condition("moving a directory", status))?;
    tree::collect(&directory, from, crate::store::Scope::EVERYTHING, &mut entries)?;
    for entry in entries {
        let below = entry.path.as_str().strip_prefix(from.as_str()).unwrap_or_default();
        MemoryPath::parse(&format!("{to}{below}")).map_err(|_| StoreError::NameTooLong)?;
    }
    Ok(())
}

/// The directory above an existing entry, and the entry's name in it.
fn parent_of<'p>(root: &File, path: &'p MemoryPath) -> Result<(File, &'p str), StoreError> {
    let (Some(above), Some(name)) = (path.parent(), path.name()) else {
        return Err(StoreError::IsADirectory);
    };
    let opened = open_directory(root, &above);
    Ok((opened.map_err(|status| condition("opening a directory", status))?, name))
}

/// Whether both paths are one to a file system that folds case.
fn folds_to(from: &MemoryPath, to: &MemoryPath) -> bool {
    from.parent() == to.parent() && from.as_str().to_lowercase() == to.as_str().to_lowercase()
}

fn id(file: &File) -> Result<(u32, u64), StoreError> {
    handle::id(file).map_err(broken)
}

fn broken(error: std::io::Error) -> StoreError {
    StoreError::failed("looking at a file", error).unchanged()
}

fn of_source(error: StoreError) -> StoreError {
    match error {
        StoreError::NotFound | StoreError::NotADirectory => StoreError::NotFound,
        other => StoreError::Source(Box::new(other)),
    }
}

/// The parent of a path that is about to exist. What was made for it is removed again, unless it is kept.
struct Parent {
    directory: File,
    made: Vec<(File, Vec<u16>)>,
}

impl Parent {
    /// Opens the parent of `path`, and makes what is missing of it.
    fn make(root: &File, path: &MemoryPath) -> Result<Self, StoreError> {
        let above = path.parent().unwrap_or_else(MemoryPath::root);
        let directory = root.try_clone().map_err(broken)?;
        let mut parent = Self { directory, made: Vec::new() };
        for name in above.names() {
            parent.descend(name)?;
        }
        Ok(parent)
    }

    /// Goes on to the directory `name`, which is made if it is not there.
    fn descend(&mut self, name: &str) -> Result<(), StoreError> {
        let failed = |status| condition("making a directory", status).unchanged();
        let name = encoded(name);
        let below = match handle::open(&self.directory, &name, Purpose::Directory, Existing::Open) {
            Ok(below) => match tree::kind(below)? {
                Found::Directory(below) => below,
                Found::File(..) => return Err(StoreError::NotADirectory),
            },
            Err(status) => match failed(status) {
                StoreError::NotFound => {
                    let made =
                        handle::open(&self.directory, &name, Purpose::Directory, Existing::Create);
                    let made = made.map_err(failed)?;
                    self.made.push((self.directory.try_clone().map_err(broken)?, name));
                    made
                }
                error => return Err(error),
            },
        };
        self.directory = below;
        Ok(())
    }

    fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        for (above, name) in self.made.drain(..).rev() {
            let removed = handle::open(&above, &name, Purpose::Move, Existing::Open);
            let _ = removed.and_then(|directory| handle::delete(&directory));
        }
    }
}

/// So that a code of the kernel can be the cause of a failure.
impl From<Status> for std::io::Error {
    fn from(status: Status) -> Self {
        as_io(status)
    }
}
