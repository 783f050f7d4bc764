//! [`Batch`]: files that a copy has read and writes together, so they need one transaction or flush.

use memdir_store::path::MemoryPath;

use super::error::refuse;
use super::{Copied, CopyError, There};
use crate::store::access::Times;
use crate::store::batch::{MAX_BATCH_BYTES, MAX_BATCH_FILES};
use crate::store::transfer::holds;
use crate::store::{Context, FileToWrite, OnExisting, Store, StoreError};

/// A file that was read from the source.
pub(super) struct FileOfBatch<'p> {
    pub(super) path: &'p MemoryPath,
    pub(super) content: Vec<u8>,
    pub(super) times: Times,
    pub(super) existing: OnExisting,
}

/// The files that are written next.
pub(super) struct Batch<'c> {
    to: &'c dyn Store,
    files: Vec<FileOfBatch<'c>>,
    bytes: u64,
}

impl<'c> Batch<'c> {
    pub(super) fn new(to: &'c dyn Store) -> Self {
        Self { to, files: Vec::new(), bytes: 0 }
    }

    pub(super) fn files(&self) -> u64 {
        self.files.len() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a file of this size can be added. An empty batch has room for any file.
    pub(super) fn has_room(&self, size: u64) -> bool {
        self.files.is_empty()
            || self.files.len() < MAX_BATCH_FILES
                && self.bytes.saturating_add(size) <= MAX_BATCH_BYTES
    }

    pub(super) fn add(&mut self, file: FileOfBatch<'c>) {
        self.bytes += file.content.len() as u64;
        self.files.push(file);
    }

    /// Writes the files, reads each one back, and counts them.
    ///
    /// # Errors
    /// [`CopyError::Refused`] if another process has created one of the files with other content meanwhile. The files before it
    /// are copied.
    pub(super) fn write(&mut self, copied: &mut Copied) -> Result<(), CopyError> {
        let files = std::mem::take(&mut self.files);
        self.bytes = 0;
        let to_write: Vec<_> = files
            .iter()
            .map(|&FileOfBatch { path, ref content, times, existing }| FileToWrite {
                path,
                content,
                times,
                existing,
                note: None,
            })
            .collect();
        let mut rest = &to_write[..];
        while !rest.is_empty() {
            let result = self.to.write_batch(&Context::new(), rest);
            let written = result.as_ref().map_or_else(|failed| failed.written, |()| rest.len());
            let (done, left) = rest.split_at(written.min(rest.len()));
            self.compare(done, copied)?;
            rest = left;
            let Err(failed) = result else { break };
            // An error after the last file is one of the whole batch.
            let Some((file, left)) = rest.split_first() else {
                let file = to_write.last().map_or_else(MemoryPath::root, |file| file.path.clone());
                return Err(CopyError::Destination { path: file, error: failed.error });
            };
            match failed.error {
                StoreError::AlreadyExists if self.has_equal(file)? => copied.equal += 1,
                StoreError::AlreadyExists => return Err(refuse(file.path, There::AnotherContent)),
                error => return Err(of_destination(file, error)),
            }
            rest = left;
        }
        Ok(())
    }

    /// Reads the written files back, and counts them.
    fn compare(&self, files: &[FileToWrite<'_>], copied: &mut Copied) -> Result<(), CopyError> {
        let mut next = files.iter();
        let (mut differs, paths) = (None, files.iter().map(|file| file.path).collect::<Vec<_>>());
        let mut check = |file: &FileToWrite<'_>, is_equal: bool| {
            if is_equal && differs.is_none() {
                copied.files += 1;
                copied.bytes += file.content.len() as u64;
            } else if differs.is_none() {
                let operation = format!("copying to {}", file.path);
                let error = StoreError::failed(operation, "the copy differs");
                differs = Some(of_destination(file, error));
            }
        };
        let read = match files {
            // A large file is alone. If the store streams, no second copy of it is held in memory.
            [file] => holds(self.to, file.path, file.content).map(|holds| check(file, holds)),
            _ => self.to.read_batch(&Context::new(), &paths, &mut |content| {
                if let Some(file) = next.next() {
                    check(file, content == file.content);
                }
            }),
        };
        match (differs, read) {
            (Some(differs), _) => Err(differs),
            (None, Ok(())) => Ok(()),
            (None, Err(error)) => {
                let file = next.next().or(files.first());
                let path = file.map_or_else(MemoryPath::root, |file| file.path.clone());
                Err(CopyError::Destination { path, error })
            }
        }
    }

    /// Whether another process has written the same content meanwhile.
    fn has_equal(&self, file: &FileToWrite<'_>) -> Result<bool, CopyError> {
        match holds(self.to, file.path, file.content) {
            Err(StoreError::IsADirectory) => Err(refuse(file.path, There::ADirectory)),
            held => held.map_err(|error| of_destination(file, error)),
        }
    }
}

fn of_destination(file: &FileToWrite<'_>, error: StoreError) -> CopyError {
    CopyError::Destination { path: file.path.clone(), error }
}
