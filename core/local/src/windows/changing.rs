//! Moves, deletes and creates directories and files: each operation under the lock, each all or nothing.

use std::fs::File;
use std::io::ErrorKind;

use memdir_store::access::is_unused;
use memdir_store::backoff::Backoff;
use memdir_store::path::{Folding, MemoryPath};
use memdir_store::settings::Durability;
use memdir_store::{Context, StoreError};

use super::error::condition;
use super::handle::{self, Existing, Purpose, Status};
use super::lock::finish_clearing;
use super::names::encoded;
use super::parent::{Parent, on_disk, parent_of};
use super::temporary::{self, CLEARING, utf16};
use super::times::Accesses;
use super::tree::{self, EntryAt, look, open_directory, relative};
use super::{LocalDirectory, broken, retried};
use crate::read::absent;

/// Windows compares names without case.
const FOLDING: Folding = Folding::new(true);

impl LocalDirectory {
    pub(super) fn make_empty(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<(), StoreError> {
        let Some(name) = path.name() else { return Ok(()) };
        self.locked(context, |root, _| {
            match look(root, path, Purpose::Read) {
                Ok(EntryAt::Directory(_)) => return Ok(()),
                Ok(EntryAt::File(..)) => return Err(StoreError::AlreadyExists),
                Err(StoreError::NotFound | StoreError::NotADirectory) => {}
                Err(error) => return Err(error),
            }
            let mut parent = Parent::make(root, path)?;
            parent.descend(name)?;
            parent.keep();
            Ok(())
        })?;
        self.flush_parent(path)
    }

    /// The lock keeps writers from looking up the directory, and the system refuses to remove a directory with an entry.
    pub(super) fn remove_empty(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<bool, StoreError> {
        let removed = self.locked(context, |root, backoff| {
            let failed = |status| condition("removing a directory", status);
            let (parent, name) =
                parent_of(root, path).map_err(|error| absent(error).unchanged())?;
            let name = encoded(name);
            let opened = handle::open(&parent, &name, Purpose::Move, Existing::Open);
            let directory = match tree::kind(opened.map_err(|status| failed(status).unchanged())?) {
                Ok(EntryAt::Directory(directory)) => directory,
                Ok(EntryAt::File(..)) => return Err(StoreError::NotADirectory),
                Err(error) => return Err(error.unchanged()),
            };
            match retried(backoff, || handle::delete(&directory), failed) {
                Ok(()) => Ok(true),
                // It has an entry.
                Err(StoreError::AlreadyExists) => Ok(false),
                Err(error) => Err(error),
            }
        })?;
        if removed {
            self.flush_parent(path)?;
        }
        Ok(removed)
    }

    pub(super) fn delete_entry(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<(), StoreError> {
        self.locked(context, |root, backoff| delete(root, path, backoff))?;
        self.flush_parent(path)
    }

    /// Flushes the directory above a path, so a new or removed name survives a loss of power.
    pub(super) fn flush_parent(&self, path: &MemoryPath) -> Result<(), StoreError> {
        if self.durability == Durability::Relaxed {
            return Ok(());
        }
        let above = path.parent().unwrap_or_else(MemoryPath::root);
        let root = self.enter()?;
        // The directory may have been deleted or made inaccessible since the change.
        let opened = handle::open(&root, &relative(&above), Purpose::Flush, Existing::Open);
        match opened.map(|directory| directory.sync_all()) {
            Ok(Err(error)) if !cannot_be_flushed(&error) => {
                Err(StoreError::failed("flushing a directory", error))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn delete_file_unused(
        &self,
        context: &Context,
        path: &MemoryPath,
        since: std::time::SystemTime,
    ) -> Result<bool, StoreError> {
        self.locked(context, |root, backoff| {
            let EntryAt::File(file, _) = look(root, path, Purpose::Read)? else { return Ok(false) };
            let (modified, accessed) = tree::times(root, &file)?;
            drop(file);
            if !is_unused(modified, accessed, since) {
                return Ok(false);
            }
            delete(root, path, backoff).map(|()| true)
        })
    }

    pub(super) fn delete_all(&self, context: &Context) -> Result<(), StoreError> {
        let failed = |status| condition("clearing the memory directory", status);
        self.locked(context, |root, backoff| {
            // Leftovers of a killed process.
            finish_clearing(root);
            temporary::sweep(root);
            let name = utf16(CLEARING);
            let made = handle::open(root, &name, Purpose::Directory, Existing::Create);
            let aside = made.map_err(|status| failed(status).unchanged())?;
            let mut moved: Vec<Vec<u16>> = Vec::new();
            let entries = handle::entries(root).map_err(|status| failed(status).unchanged())?;
            for entry in entries {
                if temporary::kind(&entry.name).is_some() {
                    continue;
                }
                let opened = handle::open(root, &entry.name, Purpose::Move, Existing::Open);
                let done = opened.map_err(failed).and_then(|opened| {
                    let rename = || handle::rename(&opened, &aside, &entry.name, false);
                    retried(backoff, rename, failed)
                });
                let Err(error) = done else {
                    moved.push(entry.name);
                    continue;
                };
                // Try to put each entry back, even if another one fails.
                let back = |name: &Vec<u16>| {
                    let file = handle::open(&aside, name, Purpose::Move, Existing::Open)?;
                    handle::rename(&file, root, name, false)
                };
                moved.retain(|name| back(name).is_err());
                if moved.is_empty() {
                    drop(aside);
                    let _ = temporary::remove(root, &name, true);
                    return Err(error.unchanged());
                }
                return Err(StoreError::failed("clearing the memory directory", error));
            }
            drop(aside);
            finish_clearing(root);
            let _ = temporary::remove(root, &utf16(temporary::ACCESSED), true);
            Ok(())
        })
    }

    pub(super) fn move_entry(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<(), StoreError> {
        if self.read_only {
            return Err(of_source(StoreError::ReadOnly));
        }
        self.locked(context, |root, backoff| rename(root, from, to, backoff))?;
        self.flush_moved(from, to)
    }

    pub(super) fn flush_moved(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.flush_parent(to)?;
        if from.parent() == to.parent() { Ok(()) } else { self.flush_parent(from) }
    }
}

/// Some file systems cannot flush a directory, and need not.
fn cannot_be_flushed(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidInput | ErrorKind::PermissionDenied | ErrorKind::Unsupported
    )
}

/// Deletes a file, or a directory with everything in it. The caller has the lock.
pub(super) fn delete(
    root: &File,
    path: &MemoryPath,
    backoff: &mut Backoff,
) -> Result<(), StoreError> {
    let failed = |status| condition("deleting", status);
    let (parent, name) = parent_of(root, path).map_err(|error| absent(error).unchanged())?;
    let name = encoded(name);
    let open = || handle::open(&parent, &name, Purpose::Move, Existing::Open);
    match tree::kind(open().map_err(|status| failed(status).unchanged())?) {
        // A file, or an entry that another program created: a link is removed and not followed.
        Ok(EntryAt::File(file, _)) => {
            let id = handle::id(&file);
            retried(backoff, || handle::delete(&file), failed)?;
            if let Ok((_, id)) = id {
                Accesses::open(root).forget(id);
            }
            Ok(())
        }
        Err(StoreError::Symlink) => open().and_then(|link| handle::delete(&link)).map_err(failed),
        Ok(EntryAt::Directory(directory)) => {
            let below = check_removable(root, path)?;
            set_aside(root, &directory, backoff)?;
            let accesses = Accesses::open(root);
            below.into_iter().for_each(|id| accesses.forget(id));
            Ok(())
        }
        Err(error) => Err(error.unchanged()),
    }
}

/// Moves a file or directory. The caller has the lock.
pub(super) fn rename(
    root: &File,
    from: &MemoryPath,
    to: &MemoryPath,
    backoff: &mut Backoff,
) -> Result<(), StoreError> {
    let (old_parent, old) = parent_of(root, from).map_err(of_source)?;
    let failed = |status| condition("moving a file", status);
    let opened = handle::open(&old_parent, &encoded(old), Purpose::Move, Existing::Open);
    let source = opened.map_err(|status| of_source(failed(status)))?;
    let source_id = id(&source)?;
    let is_directory =
        matches!(tree::kind(source.try_clone().map_err(broken)?), Ok(EntryAt::Directory(_)));
    let Some(new) = to.name() else { return Err(StoreError::AlreadyExists) };
    let only_case = from != to && FOLDING.are_same(from, to);
    match look(root, to, Purpose::Read) {
        // The destination is the source itself: only the case of the name changes.
        Ok(EntryAt::File(there, _) | EntryAt::Directory(there))
            if only_case && id(&there)? == source_id => {}
        Ok(_) | Err(StoreError::Symlink) => return Err(StoreError::AlreadyExists),
        Err(StoreError::NotFound | StoreError::NotADirectory) => {}
        Err(error) => return Err(error),
    }
    if is_directory && FOLDING.key(from).is_above(&FOLDING.key(to)) {
        return Err(StoreError::IntoItself);
    }
    if is_directory {
        check_paths_below(root, from, to)?;
    }
    let parent = Parent::make(root, to)?;
    backoff.check()?;
    let name = encoded(new);
    let rename = || handle::rename(&source, &parent.directory, &name, false);
    retried(backoff, rename, failed).map_err(StoreError::unchanged)?;
    // Not every system changes the case of a name, even if it reports success.
    if only_case && on_disk(&parent.directory, new)? != name {
        return Err(StoreError::AlreadyExists);
    }
    parent.keep();
    Ok(())
}

/// Moves an open directory to a hidden name, where it is removed.
fn set_aside(root: &File, directory: &File, backoff: &mut Backoff) -> Result<(), StoreError> {
    let failed = |status| condition("deleting a directory", status);
    for swept in [false, true] {
        for name in temporary::deleted() {
            let rename = || handle::rename(directory, root, &name, false);
            match retried(backoff, rename, failed) {
                // The name belongs to another directory that is being removed, or cannot be removed.
                Err(StoreError::AlreadyExists) => {}
                result => return result.map_err(StoreError::unchanged),
            }
        }
        if !swept {
            temporary::sweep(root);
        }
    }
    let problem = "too many that cannot be removed are left";
    Err(StoreError::failed("deleting a directory", problem).unchanged())
}

/// Checks that everything below a directory can be removed, as far as that can be predicted. Returns the file numbers
/// of its files.
fn check_removable(root: &File, path: &MemoryPath) -> Result<Vec<u64>, StoreError> {
    let failed = |status| condition("deleting a directory", status).unchanged();
    let directory = open_directory(root, path).map_err(failed)?;
    let mut files = Vec::new();
    check_below(&directory, &mut files).map_err(failed)?;
    Ok(files)
}

fn check_below(directory: &File, files: &mut Vec<u64>) -> Result<(), Status> {
    for entry in handle::entries(directory)? {
        let opened = handle::open(directory, &entry.name, Purpose::Move, Existing::Open)?;
        drop(opened);
        if entry.is_link() {
            continue;
        }
        if entry.is_directory() {
            let below = handle::open(directory, &entry.name, Purpose::Directory, Existing::Open)?;
            check_below(&below, files)?;
        } else {
            files.push(entry.id);
        }
    }
    Ok(())
}

/// Checks that everything below a directory still has a valid path after a move.
fn check_paths_below(root: &File, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
    let mut entries = Vec::new();
    let directory =
        open_directory(root, from).map_err(|status| condition("moving a directory", status))?;
    tree::collect(&directory, from, memdir_store::Scope::EVERYTHING, &mut entries)?;
    for entry in entries {
        let below = entry.path.as_str().strip_prefix(from.as_str()).unwrap_or_default();
        MemoryPath::parse(&format!("{to}{below}")).map_err(|_| StoreError::NameTooLong)?;
    }
    Ok(())
}

fn id(file: &File) -> Result<(u32, u64), StoreError> {
    handle::id(file).map_err(broken)
}

fn of_source(error: StoreError) -> StoreError {
    match error {
        StoreError::NotFound | StoreError::NotADirectory => StoreError::NotFound,
        other => StoreError::Source(Box::new(other)),
    }
}
