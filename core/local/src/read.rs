//! Reads files of a local directory, on every system.

use std::fs::File;
use std::io::Read;

use memdir_store::StoreError;

/// The type of a tree's file system, for reading without waiting.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy)]
pub(super) enum FileSystem {
    /// Cached files can be read without waiting.
    OnDisk(u64),
    /// All files are in memory.
    InMemory(u64),
    /// Any other file system.
    Other,
}

/// The whole content of a file of `size` bytes, if `size` does not exceed `limit`.
pub(super) fn read_whole(
    file: &File,
    size: u64,
    limit: Option<u64>,
) -> Result<Vec<u8>, StoreError> {
    if limit.is_some_and(|limit| size > limit) {
        return Err(StoreError::TooLarge { size });
    }
    let mut content = Vec::new();
    let room = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1);
    // A sparse file can be larger than the available memory. Allocating for it must not abort the process.
    content.try_reserve_exact(room).map_err(|_| StoreError::TooLarge { size })?;
    // Read at most the checked size, even if another process appends to the file meanwhile.
    match file.take(size).read_to_end(&mut content) {
        Ok(_) => Ok(content),
        Err(error) => Err(StoreError::failed("reading a file", error).unchanged()),
    }
}

/// Converts the error of a read: below a file, nothing exists.
pub(super) fn absent(error: StoreError) -> StoreError {
    match error {
        StoreError::NotADirectory => StoreError::NotFound,
        other => other,
    }
}
