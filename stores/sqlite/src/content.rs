//! Reads and writes contents in chunks. A large file is read one chunk at a time. An edit writes only the
//! chunks that it changes; appending writes only the last one.

use std::io::{self, Read};
use std::time::SystemTime;

use memdir_store::edit::reserve;
use memdir_store::{StoreError, micros};

use super::connection::Lease;
use super::tree::Tree;
use super::{SqliteError, total};

/// The size of all chunks except the last, in bytes. Most files are smaller, and have one row.
pub(super) const CHUNK: usize = 64 * 1024;

/// The whole content of a file of `size` bytes.
pub(super) fn read(tree: &Tree<'_>, file: i64, size: u64) -> Result<Vec<u8>, SqliteError> {
    let mut content = Vec::new();
    // The size in a damaged database may exceed the available memory.
    reserve(&mut content, usize::try_from(size).unwrap_or(usize::MAX))?;
    let mut chunks =
        tree.prepare_cached("SELECT bytes FROM chunk WHERE file = ?1 ORDER BY number")?;
    let mut rows = chunks.query([file])?;
    while let Some(row) = rows.next()? {
        let chunk = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        if content.len() + chunk.len() > content.capacity() {
            return Err(damaged().into());
        }
        content.extend_from_slice(chunk);
    }
    if content.len() as u64 != size {
        return Err(damaged().into());
    }
    Ok(content)
}

/// Writes the chunks in which `new` differs from the current content `old`.
pub(super) fn write(tree: &Tree<'_>, file: i64, old: &[u8], new: &[u8]) -> Result<(), SqliteError> {
    let mut put =
        tree.prepare_cached("REPLACE INTO chunk (file, number, bytes) VALUES (?1, ?2, ?3)")?;
    let mut before = old.chunks(CHUNK);
    for (number, chunk) in (0_i64..).zip(new.chunks(CHUNK)) {
        if before.next() != Some(chunk) {
            put.execute((file, number, chunk))?;
        }
    }
    if new.len() < old.len() {
        let left = i64::try_from(new.len().div_ceil(CHUNK)).unwrap_or(i64::MAX);
        tree.prepare_cached("DELETE FROM chunk WHERE file = ?1 AND number >= ?2")?
            .execute((file, left))?;
    }
    let size = i64::try_from(new.len()).unwrap_or(i64::MAX);
    total::resized(tree, file, size)?;
    tree.prepare_cached(
        "UPDATE node SET size = ?2, modified = ?3, written = random() WHERE id = ?1",
    )?
    .execute((file, size, micros::of(SystemTime::now())))?;
    Ok(())
}

/// Removes all chunks of a file before its content is rewritten.
pub(super) fn remove(tree: &Tree<'_>, file: i64) -> Result<(), SqliteError> {
    tree.prepare_cached("DELETE FROM chunk WHERE file = ?1")?.execute([file])?;
    Ok(())
}

fn damaged() -> StoreError {
    StoreError::failed("reading a file", "the database is damaged: a part of the file is missing")
}

/// Reads a file one chunk at a time, in the transaction of its lease. It sees the content at the time of
/// opening, independently of concurrent writers.
pub(super) struct Stream {
    lease: Lease,
    file: i64,
    next: i64,
    chunk: Vec<u8>,
    at: usize,
    /// The number of bytes in the chunks starting with `next`.
    left: u64,
}

impl Stream {
    pub(super) fn new(lease: Lease, file: i64, size: u64) -> Self {
        Self { lease, file, next: 0, chunk: Vec::new(), at: 0, left: size }
    }

    fn advance(&mut self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if !self.lease.is_ours() {
            return Err("a file that was opened before a fork cannot be read after it".into());
        }
        let mut chunk =
            self.lease.prepare_cached("SELECT bytes FROM chunk WHERE file = ?1 AND number = ?2")?;
        let mut rows = chunk.query((self.file, self.next))?;
        let row = rows.next()?.ok_or_else(damaged)?;
        let bytes = row.get_ref(0)?.as_blob()?;
        let read = bytes.len() as u64;
        if read == 0 || read > self.left {
            return Err(damaged().into());
        }
        self.chunk.clear();
        self.chunk.extend_from_slice(bytes);
        (self.at, self.next, self.left) = (0, self.next + 1, self.left - read);
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, window: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() && self.left > 0 {
            self.advance().map_err(io::Error::other)?;
        }
        let read = self.chunk.get(self.at..).unwrap_or_default().read(window)?;
        self.at += read;
        Ok(read)
    }
}
