//! Reading files of a local directory, on every system.

use std::fs::File;
use std::io::Read;

use memdir_store::StoreError;

/// What is known about the file system of a tree, for reading without waiting.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy)]
pub(super) enum FileSystem {
    /// Whose files can be read without waiting, if they are cached.
    OnDisk(u64),
    /// Whose files are always in memory.
    InMemory(u64),
    /// Any other.
    Other,
}

/// The whole content of a file of `size` bytes, if that is not more than `limit`.
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
    // A sparse file can be larger than any memory, and must not end the process.
    content.try_reserve_exact(room).map_err(|_| StoreError::TooLarge { size })?;
    // No more than the size that was checked, even if somebody makes the file grow meanwhile.
    match file.take(size).read_to_end(&mut content) {
        Ok(_) => Ok(content),
        Err(error) => Err(StoreError::failed("reading a file", error).unchanged()),
    }
}

/// The error of a read: if a parent is a file, nothing can be below it.
pub(super) fn absent(error: StoreError) -> StoreError {
    match error {
        StoreError::NotADirectory => StoreError::NotFound,
        other => other,
    }
}
