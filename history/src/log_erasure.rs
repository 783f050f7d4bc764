//! Erases a log, even if there is something else at the paths of its files.
//!
//! The directory of the log belongs to memdir. Everything with one of its names is removed: a link (not its target), a
//! pipe, an empty directory. Only a directory that is not empty is kept, because its contents are not from memdir. In that case
//! everything else is removed, and the error names the directory.

use std::io::Error;

use memdir_store::StoreError;

use super::journal::Journal;
use super::log_directory::{
    ACTIVE, BEGINNING, CONVERTED, DAMAGED, Kind, LOCK, LogDirectory, NEXT, OLD, SEGMENTS, TURN,
};
use super::log_file::LogFile;
use super::log_writer::Alone;
use super::new_segments::NewSegments;

impl LogFile {
    /// Removes the files with `remove_files`, and then the log.
    pub(super) fn erase_log(
        &self,
        remove_files: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let failed = Self::failed("erasing the history");
        let open = || LogDirectory::open(&self.directory).map_err(&failed);
        // Do not create a log only to lock it. If another process started one meanwhile, its records are of files that are gone now.
        let mut history = open()?;
        if history.is_none() {
            remove_files()?;
            history = open()?;
        }
        let Some(history) = history else { return Ok(()) };
        let is_obstructed = !remove_foreign(&history).map_err(&failed)?.is_empty();
        let locked = match self.lock() {
            Err(error) if !is_obstructed => return Err(error),
            // Writers cannot use it either.
            Err(_) => None,
            Ok(locked) => locked.log,
        };
        remove_files()?;
        let history = locked.as_ref().map_or(&history, |alone| &alone.directory);
        let erased = self.erase_files(history, locked.as_ref(), is_obstructed);
        let left = erased.map_err(|error| failed(error).after_changes())?;
        if left.is_empty() {
            return Ok(());
        }
        let problem = format!(
            "these directories are not memdir's and not empty, so they stay: {}; remove them and erase again",
            left.join(", ")
        );
        Err(StoreError::failed("erasing the history", problem).after_changes())
    }

    /// Returns the names of entries that cannot be removed.
    fn erase_files(
        &self,
        history: &LogDirectory,
        alone: Option<&Alone>,
        is_obstructed: bool,
    ) -> Result<Vec<String>, Error> {
        // If the log is inside the directory of the files, it was removed with the files.
        if !history.is_there()? {
            return Ok(Vec::new());
        }
        let begun = alone.map(|alone| self.begin_empty(alone));
        let has_begun = match begun {
            Some(Err(error)) if !is_obstructed => return Err(error),
            begun => begun.is_some_and(|begun| begun.is_ok()),
        };
        let mut left = Vec::new();
        for name in [SEGMENTS, CONVERTED] {
            if history.kind(name)? == Kind::Directory {
                left.extend(remove_in(history, name, &|_| true)?);
            }
        }
        let mut rest = vec![CONVERTED, NEXT, OLD, DAMAGED, BEGINNING];
        if !cfg!(windows) {
            rest.push(LOCK);
        }
        if !has_begun {
            // Remove the active segment last: a writer that finds none starts a new log with the full segments that are left.
            rest.extend([SEGMENTS, TURN, ACTIVE]);
        }
        for name in rest {
            let is_told =
                || left.iter().any(|inner: &String| inner.starts_with(&format!("{name}/")));
            if !history.remove_any(name)? && !is_told() {
                left.push(name.to_owned());
            }
        }
        Ok(left)
    }

    /// Replaces the log by an empty one. It remains, because a writer that is opening the log must find it or its successor.
    fn begin_empty(&self, alone: &Alone) -> Result<(), Error> {
        let mut empty = NewSegments::new(&alone.directory, SEGMENTS, self.durability)?;
        empty.prepare(&[])?;
        empty.switch()
    }
}

/// Removes entries that have a name of the log but not the right kind. Returns the names of entries that cannot be removed.
fn remove_foreign(history: &LogDirectory) -> Result<Vec<String>, Error> {
    // One process at a time: if another process removed an entry, there may be a log by now.
    let _alone = history.locked();
    let mut left = Vec::new();
    for name in [ACTIVE, NEXT, DAMAGED, OLD, BEGINNING, TURN, LOCK] {
        let is_foreign = matches!(history.kind(name)?, Kind::Directory | Kind::Other);
        if is_foreign && !history.remove_any(name)? {
            left.push(name.to_owned());
        }
    }
    let has_active = history.kind(ACTIVE)? == Kind::File;
    for name in [SEGMENTS, CONVERTED] {
        match history.kind(name)? {
            Kind::Nothing => {}
            Kind::Directory => {
                left.extend(remove_in(history, name, &|kind| kind != Kind::File)?);
            }
            // The log of the older form.
            Kind::File if name == SEGMENTS && !has_active => {}
            Kind::File | Kind::Other => drop(history.remove_any(name)?),
        }
    }
    Ok(left)
}

/// Removes the entries of a directory that are of such a kind. Returns the names of entries that cannot be removed.
fn remove_in(
    history: &LogDirectory,
    name: &str,
    goes: &dyn Fn(Kind) -> bool,
) -> Result<Vec<String>, Error> {
    let mut left = Vec::new();
    let Some(directory) = history.directory(name)? else { return Ok(left) };
    for inner in directory.names()? {
        if goes(directory.kind(&inner)?) && !directory.remove_any(&inner)? {
            left.push(format!("{name}/{inner}"));
        }
    }
    Ok(left)
}
