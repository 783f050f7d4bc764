//! Read-only paths and writable paths: the files and directories that a command may change.
//!
//! A pattern that matches a directory matches everything below it. So below a writable directory, only a
//! read-only pattern can forbid changes.

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use super::pattern::PathPattern;
use crate::reply;
use crate::store::{Store, StoreError};

/// The patterns that decide which paths may be changed.
#[derive(Debug, Default)]
pub(crate) struct WritePatterns {
    read_only: Vec<PathPattern>,
    writable: Option<Vec<PathPattern>>,
}

impl WritePatterns {
    /// Allows all paths except the `read_only` ones. With `writable` patterns, allows only those.
    pub(crate) fn new(read_only: Vec<PathPattern>, writable: Option<Vec<PathPattern>>) -> Self {
        Self { read_only, writable }
    }

    /// Checks that a command may write, delete or move `path` itself.
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

    /// Returns whether a command may change `path` itself.
    pub(crate) fn allow(&self, path: &MemoryPath) -> bool {
        self.check(path).is_ok()
    }

    /// Checks that a command may delete `path` and everything below it.
    pub(crate) fn check_delete(&self, store: &dyn Store, path: &MemoryPath) -> Result<(), Error> {
        self.check(path)?;
        self.below(store, path)?.iter().try_for_each(|below| self.check(below))
    }

    /// Checks the rules for a rename that do not depend on the entries below the moved directory.
    pub(crate) fn check_ends(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), Error> {
        self.check(from)?;
        // A refusal for an entry below `from` takes precedence over one for `to`. Only read-only patterns can
        // cause it, so without them `to` is checked here.
        if self.read_only.is_empty() { self.check(to) } else { Ok(()) }
    }

    /// Checks that a command may move `from`, and everything below it, to `to`.
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
        // If a path would be too long or too deep after the move, the store refuses the rename.
        let mut moved = below.iter().filter_map(|below| below.moved(from, to).ok());
        moved.try_for_each(|moved| self.check(&moved))
    }

    /// Returns everything below `path`, in the order of a listing, if a pattern could forbid changes there
    /// although `path` is allowed.
    fn below(&self, store: &dyn Store, path: &MemoryPath) -> Result<Vec<MemoryPath>, Error> {
        let mut found = Vec::new();
        if !self.read_only.is_empty() {
            let mut directories = vec![path.clone()];
            while let Some(directory) = directories.pop() {
                let entries = match store.list(&directory) {
                    // A file, or removed concurrently. If there is no entry at `path`, the store says so later.
                    Err(StoreError::NotFound | StoreError::NotADirectory | StoreError::Symlink) => {
                        continue;
                    }
                    // The entries below are unknown.
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
