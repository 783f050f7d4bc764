//! [`Room`]: removes empty directories that are in the way of a file.

use memdir_store::path::MemoryPath;

use super::error::SyncError;
use super::side::Side;
use crate::store::{Entry, StoreError};

/// The state of a path that is needed for a file, after the attempt to remove an empty directory.
pub(super) enum Room {
    /// The path is free.
    Made,
    File,
    /// A directory that could not be removed, and the files below it.
    Directory(Vec<MemoryPath>),
}

impl Side<'_> {
    /// Removes the directory at `path` with the directories below it, if there are no files.
    pub(super) fn make_room(&self, path: &MemoryPath) -> Result<Room, SyncError> {
        let (mut directories, mut files) = (vec![path.clone()], Vec::new());
        let mut number = 0;
        while let Some(directory) = directories.get(number) {
            match self.memory.store().list_in(&self.context(), directory) {
                Ok(entries) => {
                    let (below, found): (Vec<Entry>, Vec<Entry>) =
                        entries.into_iter().partition(|entry| !entry.is_file());
                    directories.extend(below.into_iter().map(|entry| entry.path));
                    files.extend(found.into_iter().map(|entry| entry.path));
                }
                Err(error) if error.is_failure() => return Err(self.failed(path, error)),
                Err(StoreError::NotADirectory) if number == 0 => return Ok(Room::File),
                // It is gone, or cannot be read. Then it cannot be removed either.
                Err(_) => {}
            }
            number += 1;
        }
        if files.is_empty() {
            // Each directory comes before those below it.
            for directory in directories.iter().rev() {
                if !self.writer.remove_directory(directory)? {
                    return Ok(Room::Directory(files));
                }
            }
            return Ok(Room::Made);
        }
        Ok(Room::Directory(files))
    }
}
