//! [`LogWriter`]: the log of a local directory, open for appending.
//!
//! ```text
//! history/active   the segment that records are appended to
//! history/log/     the segments before it, each named by its id; the active one lists them in order
//! history/turn     exists while a process rewrites the log, or waits to do so
//! ```
//! A writer holds a shared lock of the active segment from before it loads the journal until its change is made, so
//! several can write at the same time. A rewrite holds an exclusive lock. On Windows no process can read a locked file, so
//! the lock is on a separate file.

use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use memdir_store::Durability;

use super::log_beginning;
use super::log_directory::{ACTIVE, DAMAGED, LOCK, LogDirectory, Opening, TURN};
use super::log_frame::to_frame;
use super::log_segment::{Segment, SegmentId};
use super::packed::Packed;
use super::place::Place;

/// The active segment, open and locked.
#[derive(Debug)]
pub(super) struct LogWriter {
    active: File,
    pub(super) id: SegmentId,
    /// The locked file on Windows.
    lock: Option<File>,
    durability: Durability,
    /// Whether a rewrite was killed, and may have left files.
    pub(super) has_leftovers: bool,
}

/// How a process holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holding {
    Shared,
    Alone,
    /// Alone, if the lock is free now.
    AloneIfFree,
}

impl LogWriter {
    /// Opens the log in `directory` with a shared lock. Creates a missing log.
    pub(super) fn shared(directory: &Path, durability: Durability) -> Result<Self, Error> {
        let locked = Self::locked(directory, durability, Holding::Shared)?;
        locked.map(|(_, writer)| writer).ok_or_else(no_log)
    }

    /// As [`shared`](Self::shared), with an exclusive lock. Later writers wait, so this does not wait forever.
    pub(super) fn alone(directory: &Path, durability: Durability) -> Result<Alone, Error> {
        let place = LogDirectory::open_or_make(directory, durability)?;
        let turn = place.file_there(TURN, Opening::AppendOrMake)?;
        turn.lock()?;
        let locked = Self::locked(directory, durability, Holding::Alone)?;
        let (directory, writer) = locked.ok_or_else(no_log)?;
        Ok(Alone { directory, writer, turn: Some(turn) })
    }

    /// As [`alone`](Self::alone); `None` if others hold the lock now.
    pub(super) fn alone_if_free(
        directory: &Path,
        durability: Durability,
    ) -> Result<Option<Alone>, Error> {
        let locked = Self::locked(directory, durability, Holding::AloneIfFree)?;
        Ok(locked.map(|(directory, writer)| Alone { directory, writer, turn: None }))
    }

    fn locked(
        path: &Path,
        durability: Durability,
        holding: Holding,
    ) -> Result<Option<(LogDirectory, Self)>, Error> {
        loop {
            let directory = LogDirectory::open_or_make(path, durability)?;
            let mut has_leftovers = false;
            if holding == Holding::Shared
                && let Some(turn) = directory.file(TURN, Opening::Read)?
            {
                has_leftovers = wait_for(&turn)?;
            }
            let Some(active) = directory.file(ACTIVE, Opening::Append)? else {
                match log_beginning::begin(&directory, durability) {
                    Err(error)
                        if error.kind() == ErrorKind::NotFound && !directory.is_there()? => {}
                    begun => begun?,
                }
                continue;
            };
            let lock = if cfg!(windows) {
                Some(directory.file_there(LOCK, Opening::AppendOrMake)?)
            } else {
                None
            };
            let locked = lock.as_ref().unwrap_or(&active);
            match holding {
                Holding::Shared => locked.lock_shared()?,
                Holding::Alone => locked.lock()?,
                Holding::AloneIfFree => match locked.try_lock() {
                    Err(TryLockError::WouldBlock) => return Ok(None),
                    tried => tried?,
                },
            }
            // A rewrite may have replaced the file meanwhile, and an erasure removes the directory.
            if !directory.is_at(&active, ACTIVE)? || !directory.is_there()? {
                continue;
            }
            let Some((id, _)) = Segment::open(active.try_clone()?)? else {
                // The segment cannot be read. Set it aside, so commands keep working.
                locked.lock()?;
                if directory.is_at(&active, ACTIVE)? {
                    directory.rename(ACTIVE, DAMAGED)?;
                }
                continue;
            };
            let writer = Self { active, id, lock, durability, has_leftovers };
            return Ok(Some((directory, writer)));
        }
    }

    /// Appends a record, whole or not at all. Returns its place and its length.
    pub(super) fn append(&self, record: &Packed<'_>) -> Result<(Place, u64), Error> {
        self.append_frames(&self.frame(record))
    }

    /// A record in the form in which it is appended.
    pub(super) fn frame(&self, record: &Packed<'_>) -> Vec<u8> {
        to_frame(self.id.to_string().as_bytes(), record)
    }

    /// Appends the frames of one or more records: all or none.
    pub(super) fn append_frames(&self, bytes: &[u8]) -> Result<(Place, u64), Error> {
        let mut active = &self.active;
        // One write call, so the records are not interleaved with those of another process. A partial write is not continued, because
        // another process may already have appended behind it.
        let written = active.write(bytes);
        match written {
            Ok(written) if written == bytes.len() => {
                let len = bytes.len() as u64;
                let at = active.stream_position()?.saturating_sub(len);
                Ok((Place { segment: Some(self.id), at }, len))
            }
            Ok(written) => {
                let end = active.stream_position()?;
                self.remove_end(end.saturating_sub(written as u64), end);
                Err(ErrorKind::StorageFull.into())
            }
            Err(error) => Err(error),
        }
    }

    /// Removes what was appended at a place. Returns whether it is gone. It stays if others hold the lock or have appended since.
    pub(super) fn retract(&self, place: Place, len: u64) -> bool {
        self.remove_end(place.at, place.at + len)
    }

    /// Removes the last bytes, if the file still ends there and no other writer holds the lock.
    fn remove_end(&self, at: u64, end: u64) -> bool {
        let locked = self.lock.as_ref().unwrap_or(&self.active);
        // Another writer may take the lock in between. If nothing follows the record, its bytes are still this writer's.
        let is_alone = locked.try_lock().is_ok();
        let is_last = || self.active.metadata().is_ok_and(|now| now.len() == end);
        let is_gone = is_alone && is_last() && self.active.set_len(at).is_ok();
        is_gone && locked.lock_shared().is_ok()
    }

    pub(super) fn flush(&self) -> Result<(), Error> {
        if self.durability == Durability::Full { self.active.sync_data() } else { Ok(()) }
    }

    /// The size of the segment in bytes.
    pub(super) fn size(&self) -> Result<u64, Error> {
        Ok(self.active.metadata()?.len())
    }
}

/// Lets a process that waits to rewrite the log go first, but not forever: it may wait for a writer that needs a lock of the
/// store, which this process holds. Returns whether the rewrite has ended or was killed.
fn wait_for(turn: &File) -> Result<bool, Error> {
    const MOST: Duration = Duration::from_millis(500);
    let begun = Instant::now();
    loop {
        match turn.try_lock_shared() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < MOST => {
                thread::sleep(Duration::from_millis(1));
            }
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn no_log() -> Error {
    Error::other("it is in use")
}

/// The log, locked exclusively.
#[derive(Debug)]
pub(super) struct Alone {
    pub(super) directory: LogDirectory,
    pub(super) writer: LogWriter,
    /// Keeps later writers waiting.
    turn: Option<File>,
}

impl Drop for Alone {
    fn drop(&mut self) {
        if self.turn.take().is_some() {
            // If this fails, the next writer removes it.
            let _ = self.directory.remove(TURN);
        }
    }
}
