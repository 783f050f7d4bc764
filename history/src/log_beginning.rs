//! Starts a log: an empty one, or one converted from the older form without segments.
//!
//! The older form is one file `history/log`, which earlier versions of memdir appended to. Now a directory has that
//! name, so such a version fails to append and reports an error. The file is converted while its lock is held exclusively,
//! and is kept as `log.old` until the new log is complete. A crash in between leaves the file, or everything that the next
//! process needs to continue.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Error, ErrorKind, Write};

use memdir_store::{Durability, HistoryId};

use super::log_directory::{
    ACTIVE, BEGINNING, CONVERTED, LOCK, LogDirectory, NEXT, OLD, Opening, SEGMENTS,
};
use super::log_segment::{FrameAt, Segment, SegmentId, head};
use super::new_segments::NewSegments;
use super::record_form::RecordForm;

/// Creates the active segment if there is none.
pub(super) fn begin(history: &LogDirectory, durability: Durability) -> Result<(), Error> {
    // One process at a time.
    let alone = history.file_there(BEGINNING, Opening::AppendOrMake)?;
    alone.lock()?;
    if history.file(ACTIVE, Opening::Read)?.is_none() {
        begin_alone(history, durability)?;
    }
    history.remove(BEGINNING)
}

fn begin_alone(history: &LogDirectory, durability: Durability) -> Result<(), Error> {
    let old_log = lock_old(history)?;
    let kept = history.file(OLD, Opening::Read)?;
    if old_log.is_none() {
        let (has_segments, is_converted) =
            (history.directory(SEGMENTS)?.is_some(), history.directory(CONVERTED)?.is_some());
        let has_next = history.file(NEXT, Opening::Read)?.is_some();
        if kept.is_some() && has_next && (has_segments || is_converted) {
            // A process was killed after everything was converted.
            if !has_segments {
                history.rename(CONVERTED, SEGMENTS)?;
            }
            return place_converted(history, durability);
        }
        if kept.is_none() || has_segments {
            return begin_anew(history, durability);
        }
    }
    // Remove this first, because its presence means that everything was converted.
    history.remove(NEXT)?;
    if let Some(left) = history.directory(CONVERTED)? {
        for name in left.names()? {
            left.remove(&name)?;
        }
    }
    let mut new = NewSegments::new(history, CONVERTED, durability)?;
    for file in kept.iter().chain(&old_log) {
        convert(file, &mut new)?;
    }
    new.prepare(&[])?;
    // If a process of an older version started a second log after a crash, the new log contains both. The first one is kept until
    // the new log is complete.
    match kept {
        Some(_) => history.remove(SEGMENTS)?,
        None => history.rename(SEGMENTS, OLD)?,
    }
    history.rename(CONVERTED, SEGMENTS)?;
    history.flush(durability)?;
    place_converted(history, durability)
}

/// Locks the log in the older form, if there is one. While it is locked, no writer of an older version makes a change.
fn lock_old(history: &LogDirectory) -> Result<Option<File>, Error> {
    loop {
        let file = match history.file(SEGMENTS, Opening::Append) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            // Probably the directory. If not, return that error.
            Err(_) => return history.directory(SEGMENTS).map(|_| None),
        };
        // On Windows those writers lock another file.
        let lock = cfg!(windows).then(|| history.file_there(LOCK, Opening::AppendOrMake));
        lock.transpose()?.as_ref().unwrap_or(&file).lock()?;
        if history.is_at(&file, SEGMENTS)? {
            return Ok(Some(file));
        }
    }
}

/// The last step of a conversion.
fn place_converted(history: &LogDirectory, durability: Durability) -> Result<(), Error> {
    history.rename(NEXT, ACTIVE)?;
    history.flush(durability)?;
    history.remove(OLD)
}

/// Adds the records of a log in the older form, except withdrawn ones, each with its confirmation.
fn convert(file: &File, new: &mut NewSegments<'_>) -> Result<(), Error> {
    let plain = RecordForm::Plain;
    let mut segment = Segment::plain(file.try_clone()?)?;
    let (mut records, mut at) = (Vec::new(), 0);
    let (mut withdrawn, mut confirmed) = (HashSet::<HistoryId>::new(), HashSet::<HistoryId>::new());
    loop {
        match segment.frame_at(at, &plain)? {
            FrameAt::Record { header, len } => {
                withdrawn.extend(&header.withdraws);
                confirmed.extend(&header.confirms);
                if header.is_kept() {
                    records.push((header.id, at, len));
                }
                at += len;
            }
            FrameAt::Part(next) | FrameAt::Damage(next) => at = next,
            FrameAt::End => break,
        }
    }
    for (id, at, len) in records {
        if !withdrawn.contains(&id)
            && let Ok(packed) = segment.read(at, len)?
            && let Ok(mut record) = plain.record(packed)
        {
            record.header.withdraws.clear();
            record.header.confirms = Vec::from_iter(confirmed.contains(&id).then_some(id));
            new.add(&plain.pack(&record).map_err(Error::other)?)?;
        }
    }
    Ok(())
}

/// Starts a log without records. If there are full segments whose active segment is lost, they become part of it.
fn begin_anew(history: &LogDirectory, durability: Durability) -> Result<(), Error> {
    let segments = history.directory_or_make(SEGMENTS, durability)?;
    let mut longest: Vec<SegmentId> = Vec::new();
    for name in segments.names()? {
        let file = name.parse::<SegmentId>().is_ok().then(|| segments.file(&name, Opening::Read));
        let Some(file) = file.transpose()?.flatten() else { continue };
        if let Some((id, segment)) = Segment::open(file)?
            && segment.earlier.len() >= longest.len()
        {
            longest = segment.earlier;
            longest.push(id);
        }
    }
    history.remove(NEXT)?;
    let mut active = history.file_there(NEXT, Opening::New)?;
    let id = HistoryId::new().map_err(Error::other)?;
    active.write_all(&head(id, &longest))?;
    if durability == Durability::Full {
        active.sync_all()?;
    }
    match history.file(ACTIVE, Opening::Read)? {
        Some(_) => Err(ErrorKind::AlreadyExists.into()),
        None => history.rename(NEXT, ACTIVE),
    }?;
    history.flush(durability)
}
