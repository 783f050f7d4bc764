//! [`Batch`]: files that a copy has read and writes together, so they need one transaction or flush.

use memdir_store::path::MemoryPath;

use super::comparison::ToWrite;
use super::error::refuse;
use super::{Copied, CopyError, There};
use crate::store::access::Times;
use crate::store::transfer::holds;
use crate::store::{Context, FileToWrite, OnExisting, Store, StoreError};

/// A file that was read from the source.
struct FileOfBatch<'p> {
    path: &'p MemoryPath,
    content: Vec<u8>,
    times: Times,
    existing: OnExisting,
}

/// The files that are written next.
pub(super) struct Batch<'c> {
    from: &'c dyn Store,
    to: &'c dyn Store,
    files: Vec<FileOfBatch<'c>>,
}

impl<'c> Batch<'c> {
    pub(super) fn new(from: &'c dyn Store, to: &'c dyn Store) -> Self {
        Self { from, to, files: Vec::new() }
    }

    /// Reads files of the source, with their times. After an error it has the files before that one.
    pub(super) fn read(&mut self, files: &'c [ToWrite]) -> Result<(), CopyError> {
        let paths: Vec<&MemoryPath> = files.iter().map(|file| &file.path).collect();
        // The times are asked for first: an edit in between has a later time.
        let times = self.from.read_times(&Context::new(), &paths);
        let known = times.as_ref().map_or(0, Vec::len);
        let mut contents = Vec::new();
        if known == files.len() {
            let mut push = |content| contents.push(content);
            // The file of an error is read again below.
            let _ = self.from.read_batch(&Context::new(), &paths, &mut push);
        }
        let read = files.iter().zip(times.unwrap_or_default()).zip(contents);
        self.files.extend(read.map(|((file, times), content)| {
            let (path, existing) = (&file.path, file.existing);
            FileOfBatch { path, content, times, existing }
        }));
        for file in &files[self.files.len()..] {
            let (path, existing) = (&file.path, file.existing);
            let read = || {
                let times = Times::of(self.from, path)?;
                Ok(FileOfBatch { path, content: self.from.read(path)?, times, existing })
            };
            let read = read().map_err(|error| CopyError::Source { path: path.clone(), error })?;
            self.files.push(read);
        }
        Ok(())
    }

    /// Writes the files, reads each one back, and counts them.
    ///
    /// # Errors
    /// [`CopyError::Refused`] if another process has created one of the files with other content meanwhile. The files before it
    /// are copied.
    pub(super) fn write(&mut self, copied: &mut Copied) -> Result<(), CopyError> {
        let files = std::mem::take(&mut self.files);
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
