//! Opens a tree: creates or finds it, and removes leftovers of killed processes.

use std::io;
use std::path::Path;

use memdir_store::StoreError;
use rustix::fd::AsFd;

use super::directory::make_all;
use super::{LocalDirectory, remove};

impl LocalDirectory {
    /// Creates a directory and its missing parents.
    pub(crate) fn make_root(directory: &Path) -> io::Result<()> {
        make_all(directory)
    }

    /// Checks that the root can be opened.
    pub(crate) fn check_root(&self) -> Result<(), StoreError> {
        self.enter().map(drop)
    }

    /// Removes leftovers of killed processes.
    pub(crate) fn remove_leftovers(&self) -> Result<(), StoreError> {
        remove::sweep(self.enter()?.as_fd());
        Ok(())
    }
}
