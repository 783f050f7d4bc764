//! Read-only paths and writable paths: which files and directories a command may change.
//!
//! A pattern that matches a directory matches all below it, so that only a read-only one can forbid something
//! within a directory that itself may be changed.

use super::pattern::PathPattern;
use crate::error::Error;
use crate::path::MemoryPath;
use crate::reply;
use crate::store::{Store, StoreError};

/// Which paths may be changed.
#[derive(Debug, Default)]
pub(crate) struct WritePatterns {
    read_only: Vec<PathPattern>,
    writable: Option<Vec<PathPattern>>,
}

impl WritePatterns {
    /// All but the `read_only` ones; with `writable` patterns, only those.
    pub(crate) fn new(read_only: Vec<PathPattern>, writable: Option<Vec<PathPattern>>) -> Self {
        Self { read_only, writable }
    }

    /// That a command may write, delete or move what is at `path` itself.
    pub(crate) fn check(&self, path: &MemoryPath) -> Result<(), Error> {
        if self.read_only.iter().any(|pattern| pattern.matches(path)) {
            return Err(reply::condition(path, StoreError::ReadOnly));
        }
        match &self.writable {
            Some(writable) if !writable.iter().any(|pattern| pattern.matches(path)) => {
                let writable: Vec<&str> = writable.iter().map(PathPattern::as_str).collect();
                Err(reply::not_writable(path, &writable))
            }
            _ => Ok(()),
        }
    }

    /// Whether a command may change what is at `path` itself.
    pub(crate) fn allow(&self, path: &MemoryPath) -> bool {
        self.check(path).is_ok()
    }

    /// That a command may delete what is at `path`, and all below it.
    pub(crate) fn check_delete(&self, store: &dyn Store, path: &MemoryPath) -> Result<(), Error> {
        self.check(path)?;
        self.below(store, path)?.iter().try_for_each(|below| self.check(below))
    }

    /// That a command may move what is at `from`, and all below it, to `to`.
    pub(crate) fn check_rename(
        &self,
        store: &dyn Store,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<(), Error> {
        self.check(from)?;
        let below = self.below(store, from)?;
        below.iter().try_for_each(|below| self.check(below))?;
        self.check(to)?;
        // What has no path there is the store's to refuse.
        let mut moved = below.iter().filter_map(|below| below.moved(from, to).ok());
        moved.try_for_each(|moved| self.check(&moved))
    }

    /// All that is below `path`, in the order of a listing, if anything below could be forbidden where
    /// `path` is not.
    fn below(&self, store: &dyn Store, path: &MemoryPath) -> Result<Vec<MemoryPath>, Error> {
        let mut found = Vec::new();
        if !self.read_only.is_empty() {
            let mut directories = vec![path.clone()];
            while let Some(directory) = directories.pop() {
                let entries = match store.list(&directory) {
                    // A file, or gone meanwhile; also where nothing is at `path`, which the store says.
                    Err(StoreError::NotFound | StoreError::NotADirectory | StoreError::Symlink) => {
                        continue;
                    }
                    // Nobody can say what is below.
                    Err(error) => return Err(reply::condition(&directory, error.unchanged())),
                    Ok(entries) => entries,
                };
                for entry in entries {
                    if !entry.is_file() {
                        directories.push(entry.path.clone());
                    }
                    found.push(entry.path);
                }
            }
            found.sort_unstable();
        }
        Ok(found)
    }
}
