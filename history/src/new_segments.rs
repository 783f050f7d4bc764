//! [`NewSegments`]: replaces the segments of a log in one step.

use std::fs::File;
use std::io::{Error, Write};

use memdir_store::{Durability, HistoryId};

use super::log_directory::{
    ACTIVE, CONVERTED, DAMAGED, LogDirectory, NEXT, OLD, Opening, SEGMENTS,
};
use super::log_frame::to_frame;
use super::log_segment::{Segment, SegmentId, head};
use super::packed::Packed;

/// Segments that replace the existing ones. They become the log when all of them are written.
pub(super) struct NewSegments<'d> {
    history: &'d LogDirectory,
    segments: LogDirectory,
    durability: Durability,
    /// The segments of the new log, in order.
    ids: Vec<SegmentId>,
    /// The segment that is being written.
    open: Option<(File, SegmentId, u64)>,
}

/// The size in bytes from which on a new segment begins.
pub(super) const SEGMENT_BYTES: u64 = 4 << 20;

impl<'d> NewSegments<'d> {
    /// Writes into the directory `segments` in `history`.
    pub(super) fn new(
        history: &'d LogDirectory,
        segments: &str,
        durability: Durability,
    ) -> Result<Self, Error> {
        let segments = history.directory_or_make(segments, durability)?;
        Ok(Self { history, segments, durability, ids: Vec::new(), open: None })
    }

    /// Keeps the segment with this id unchanged.
    pub(super) fn keep(&mut self, id: SegmentId) -> Result<(), Error> {
        self.end_segment()?;
        self.ids.push(id);
        Ok(())
    }

    /// Keeps the active segment unchanged, and gives it a name among the full ones.
    pub(super) fn keep_active(&mut self, id: SegmentId) -> Result<(), Error> {
        self.keep(id)?;
        let name = id.to_string();
        // A crash may have left a partial copy. It is not part of the log, because the active segment is.
        self.segments.remove(&name)?;
        if self.history.link(ACTIVE, &self.segments, &name).is_ok() {
            return Ok(());
        }
        // Some file systems have no links.
        let mut active = self.history.file_there(ACTIVE, Opening::Read)?;
        let mut copy = self.segments.file_there(&name, Opening::New)?;
        std::io::copy(&mut active, &mut copy)?;
        copy.sync_all()
    }

    /// Adds a record to the segment that is being written.
    pub(super) fn add(&mut self, record: &Packed<'_>) -> Result<(), Error> {
        let (file, id, size) = match &mut self.open {
            Some(open) => open,
            None => {
                let id = new_id()?;
                let mut file = self.segments.file_there(&id.to_string(), Opening::New)?;
                let head = head(id, &self.ids);
                file.write_all(&head)?;
                self.open.insert((file, id, head.len() as u64))
            }
        };
        let frame = to_frame(id.to_string().as_bytes(), record);
        file.write_all(&frame)?;
        *size += frame.len() as u64;
        if *size >= SEGMENT_BYTES { self.end_segment() } else { Ok(()) }
    }

    /// Ends the segment that is being written.
    pub(super) fn end_segment(&mut self) -> Result<(), Error> {
        if let Some((file, id, _)) = self.open.take() {
            file.sync_all()?;
            self.ids.push(id);
        }
        Ok(())
    }

    /// Whether the segment that is being written has room for this number of bytes.
    pub(super) fn has_room_for(&self, bytes: u64) -> bool {
        self.open.as_ref().is_some_and(|(_, _, size)| size + bytes <= SEGMENT_BYTES)
    }

    /// Writes the active segment that will follow these segments and contain these records, under its temporary name.
    pub(super) fn prepare(&mut self, records: &[Packed<'_>]) -> Result<(), Error> {
        self.end_segment()?;
        self.segments.flush(self.durability)?;
        self.history.remove(NEXT)?;
        let id = new_id()?;
        let mut next = self.history.file_there(NEXT, Opening::New)?;
        let mut bytes = head(id, &self.ids);
        for record in records {
            bytes.extend_from_slice(&to_frame(id.to_string().as_bytes(), record));
        }
        next.write_all(&bytes)?;
        next.sync_all()
    }

    /// Makes these segments the log in one step. Segments that are no longer in it are removed.
    pub(super) fn place(self) -> Result<(), Error> {
        self.switch()?;
        // Remove leftovers of crashes.
        self.history.remove(OLD)?;
        remove_others(&self.segments, &self.ids)
    }

    /// Makes these segments the log in one step, and removes nothing.
    pub(super) fn switch(&self) -> Result<(), Error> {
        self.history.rename(NEXT, ACTIVE)?;
        self.history.flush(self.durability)
    }
}

impl Drop for NewSegments<'_> {
    /// Removes the unfinished segment. After [`place`](Self::place) there is none.
    fn drop(&mut self) {
        if let Some((_, id, _)) = self.open.take() {
            let _ = self.segments.remove(&id.to_string());
        }
    }
}

/// Removes the segments that are not among these.
pub(super) fn remove_others(segments: &LogDirectory, ids: &[SegmentId]) -> Result<(), Error> {
    let mut failed = None;
    for name in segments.names()? {
        if !name.parse().is_ok_and(|id: SegmentId| ids.contains(&id)) {
            // Remove the other segments even if one cannot be removed.
            failed = segments.remove(&name).err().or(failed);
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Removes files that are not part of the log: leftovers of a killed rewrite or conversion. The caller must have locked the log.
pub(super) fn remove_leftovers(history: &LogDirectory) -> Result<(), Error> {
    let active = history.file_there(ACTIVE, Opening::Read)?;
    if let Some((_, active)) = Segment::open(active)?
        && let Some(full) = history.directory(SEGMENTS)?
    {
        remove_others(&full, &active.earlier)?;
    }
    if let Some(converted) = history.directory(CONVERTED)? {
        remove_others(&converted, &[])?;
        history.remove_directory(CONVERTED)?;
    }
    history.remove(NEXT)?;
    history.remove(OLD)
}

/// Removes a segment that was set aside. Like everything damaged, it may contain data that must be removed.
pub(super) fn remove_damaged(history: &LogDirectory) -> Result<(), Error> {
    history.remove(DAMAGED)
}

fn new_id() -> Result<SegmentId, Error> {
    HistoryId::new().map_err(Error::other)
}
