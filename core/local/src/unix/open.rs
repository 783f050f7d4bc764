//! Opens a tree: makes or finds it, and removes leftovers of killed processes.

use std::io;
use std::path::Path;

use rustix::fd::AsFd;

use super::directory::make_all;
use super::{LocalDirectory, remove};
use crate::store::StoreError;

impl LocalDirectory {
    /// Makes a directory and its missing parents.
    pub(in crate::store) fn make_root(directory: &Path) -> io::Result<()> {
        make_all(directory)
    }

    /// Checks that the root can be opened.
    pub(in crate::store) fn check_root(&self) -> Result<(), StoreError> {
        self.enter().map(drop)
    }

    /// Removes what killed processes left.
    pub(in crate::store) fn remove_leftovers(&self) -> Result<(), StoreError> {
        remove::sweep(self.enter()?.as_fd());
        Ok(())
    }
}
