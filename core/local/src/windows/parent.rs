//! The parent directories of changed entries, and the entries' names in them.

use std::fs::File;

use memdir_store::StoreError;
use memdir_store::path::MemoryPath;

use super::broken;
use super::error::condition;
use super::handle::{self, Existing, Purpose};
use super::names::encoded;
use super::tree::{self, EntryAt, is_short_form, open_directory};

/// The name of a file as stored in the directory, which may differ in case from the given one.
pub(super) fn on_disk(parent: &File, name: &str) -> Result<Vec<u16>, StoreError> {
    let name = encoded(name);
    let found = handle::entry(parent, &name);
    let found = found.map_err(|status| condition("reading a directory", status).unchanged())?;
    Ok(found.map_or(name, |entry| entry.name))
}

/// The directory that contains an existing entry, and the entry's name in it.
pub(super) fn parent_of<'p>(
    root: &File,
    path: &'p MemoryPath,
) -> Result<(File, &'p str), StoreError> {
    let (Some(above), Some(name)) = (path.parent(), path.name()) else {
        return Err(StoreError::IsADirectory);
    };
    let opened = open_directory(root, &above);
    let parent = opened.map_err(|status| condition("opening a directory", status))?;
    if is_short_form(&parent, name) {
        return Err(StoreError::NotFound);
    }
    Ok((parent, name))
}

/// The parent directory of a path that is about to be created. The directories created for it are removed
/// again, unless it is kept.
pub(super) struct Parent {
    pub(super) directory: File,
    made: Vec<(File, Vec<u16>)>,
}

impl Parent {
    /// Opens the parent of `path`, and creates missing directories.
    pub(super) fn make(root: &File, path: &MemoryPath) -> Result<Self, StoreError> {
        let above = path.parent().unwrap_or_else(MemoryPath::root);
        let directory = root.try_clone().map_err(broken)?;
        let mut parent = Self { directory, made: Vec::new() };
        for name in above.names() {
            parent.descend(name)?;
        }
        Ok(parent)
    }

    /// Descends to the directory `name`, and creates it if it is missing.
    pub(super) fn descend(&mut self, name: &str) -> Result<(), StoreError> {
        let failed = |status| condition("making a directory", status).unchanged();
        if is_short_form(&self.directory, name) {
            return Err(StoreError::PermissionDenied);
        }
        let name = encoded(name);
        let below = match handle::open(&self.directory, &name, Purpose::Directory, Existing::Open) {
            Ok(below) => match tree::kind(below)? {
                EntryAt::Directory(below) => below,
                EntryAt::File(..) => return Err(StoreError::NotADirectory),
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

    pub(super) fn keep(mut self) {
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
