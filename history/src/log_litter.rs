//! Finds and removes litter in the files of a log: incomplete frames left by a crash, damage, records of changes that were not made,
//! and files of rewrites that did not complete.
//!
//! Readers never see litter, so no redaction finds a text in it. Therefore a redaction removes all litter at its end.

use std::collections::HashSet;
use std::io::Error;

use memdir_store::{Context, HistoryId, StoreError};

use super::journal::{Journal, Loaded, Rewrite};
use super::log_directory::LogDirectory;
use super::log_file::LogFile;
use super::new_segments::{remove_damaged, remove_leftovers};

/// The litter in the segments, which a rewrite removes.
struct Litter {
    is_there: bool,
    /// The records whose header can be read, but not the rest.
    unreadable: HashSet<HistoryId>,
}

impl LogFile {
    /// Removes the files that are not part of the log, and rewrites the log if its segments have litter, while no change is
    /// in flight.
    pub(super) fn remove_litter(&self) -> Result<(), StoreError> {
        let failed = Self::failed("rewriting the history");
        // Do not create a log only to inspect it.
        if LogDirectory::open(&self.directory).map_err(&failed)?.is_none() {
            return Ok(());
        }
        let locked = self.lock()?;
        let Some(alone) = &locked.log else { return Ok(()) };
        let history = &alone.directory;
        remove_leftovers(history).and_then(|()| remove_damaged(history)).map_err(&failed)?;
        let mut loaded = Loaded::default();
        self.load(&Context::new(), &mut loaded)?;
        let litter = self.litter(&loaded).map_err(&failed)?;
        if !litter.is_there {
            return Ok(());
        }
        let mut rewrite = Rewrite {
            concerns: &|header| litter.unreadable.contains(&header.id),
            is_forced: false,
            loaded_end: None,
            change: &mut |record| Ok(Some(record)),
        };
        self.rewrite_segments(alone, &loaded, &mut rewrite, None)
    }

    fn litter(&self, loaded: &Loaded) -> Result<Litter, Error> {
        let mut litter = Litter { is_there: false, unreadable: HashSet::new() };
        for id in &loaded.log.segments {
            let Some(mut old) = self.old_segment(*id, loaded)? else {
                // A rewrite also removes its file.
                litter.is_there = true;
                continue;
            };
            for stored in &old.records {
                if old.segment.read(stored.place.at, stored.len)?.is_err() {
                    litter.unreadable.insert(stored.header.id);
                }
            }
            litter.is_there |= old.has_litter;
        }
        litter.is_there |= !litter.unreadable.is_empty();
        Ok(litter)
    }
}
