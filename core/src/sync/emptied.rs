//! Removes directories that have become empty: those that the changes of a sync leave behind, and those that are in the way of a new file.
//!
//! A directory is removed only by [`Store::remove_directory`](crate::Store::remove_directory), so a file that an agent creates in it at the
//! same moment stays, and keeps its directory.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};

use memdir_store::path::MemoryPath;

use super::both::{Both, SyncSide};
use super::carry_out::Carrying;
use super::change::{NewFile, Outcome};
use super::effects::Effects;
use super::error::SyncError;
use super::parallel::for_each;
use super::report::SyncAction;
use super::room::Room;
use super::side::Side;
use super::survey::{Survey, travels};

impl Carrying<'_, '_> {
    /// Removes the directories that the deletions and renames so far have emptied, if they hold no file in the other memory either.
    ///
    /// # Errors
    /// Only failures of a store.
    pub(super) fn remove_emptied(&self, effects: &Effects) -> Result<(), SyncError> {
        let is_candidate = |side| effects.changes.iter().any(|change| is_left(change, side));
        if !SyncSide::ALL.into_iter().any(is_candidate) {
            return Ok(());
        }
        let holding = Both::new(|side| holding(self.survey, effects, side));
        for side in SyncSide::ALL {
            let left = effects.changes.iter().filter(|change| is_left(change, side));
            let left = left.map(|change| change.old_path.as_ref().unwrap_or(&change.path));
            let mut directories: HashSet<MemoryPath> = left.flat_map(above).collect();
            directories.retain(|path| !holding.a.contains(path) && !holding.b.contains(path));
            remove_deepest_first(&self.sides[side], directories)?;
        }
        Ok(())
    }

    /// Creates files. If an empty directory is in the way of one, removes it and tries again.
    pub(super) fn create_in_room(
        &self,
        side: SyncSide,
        files: &[NewFile<'_>],
    ) -> Result<Vec<Outcome>, SyncError> {
        let mut outcomes = self.sides[side].create(files)?;
        let mut again = Vec::new();
        for (number, outcome) in outcomes.iter_mut().enumerate() {
            if !matches!(outcome, Outcome::Exists) {
                continue;
            }
            match self.make_room(side, files[number].path)? {
                None => again.push(number),
                Some(obstacle) => *outcome = obstacle,
            }
        }
        let retried: Vec<NewFile<'_>> = again.iter().map(|number| files[*number]).collect();
        if !retried.is_empty() {
            for (number, outcome) in again.into_iter().zip(self.sides[side].create(&retried)?) {
                outcomes[number] = outcome;
            }
        }
        Ok(outcomes)
    }

    /// Removes an empty directory that is in the way of a file. Returns the outcome if the path is still taken.
    pub(super) fn make_room(
        &self,
        side: SyncSide,
        path: &MemoryPath,
    ) -> Result<Option<Outcome>, SyncError> {
        Ok(match self.sides[side].make_room(path)? {
            Room::Made => None,
            Room::File => Some(Outcome::Changed),
            // A file that another round will see.
            Room::Directory(files) if files.iter().any(|f| travels(f, &self.options.exclude)) => {
                Some(Outcome::Changed)
            }
            Room::Directory(files) => Some(Outcome::Directory { is_empty: files.is_empty() }),
        })
    }
}

/// Whether the change took a file away from its directory.
fn is_left(change: &super::SyncChange, side: SyncSide) -> bool {
    let is_gone = change.action == SyncAction::Deleted || change.old_path.is_some();
    is_gone && change.side == side
}

/// The directories above a path, without the root.
fn above(path: &MemoryPath) -> impl Iterator<Item = MemoryPath> + use<> {
    std::iter::successors(path.parent(), MemoryPath::parent).filter(|path| !path.is_root())
}

/// The directories that hold a file, after these effects.
fn holding(survey: &Survey, effects: &Effects, side: SyncSide) -> HashSet<MemoryPath> {
    let mut files: HashSet<&MemoryPath> = survey.files[side].keys().collect();
    files.extend(&survey.unknown[side]);
    for change in effects.changes.iter().filter(|change| change.side == side) {
        if let Some(old_path) = &change.old_path {
            files.remove(old_path);
        }
        match change.action {
            SyncAction::Deleted => files.remove(&change.path),
            _ => files.insert(&change.path),
        };
    }
    let mut holding = HashSet::new();
    for file in files {
        // Those above a directory that is there already are there, too.
        let _ = above(file).take_while(|directory| holding.insert(directory.clone())).count();
    }
    holding
}

fn remove_deepest_first(
    side: &Side<'_>,
    directories: HashSet<MemoryPath>,
) -> Result<(), SyncError> {
    let mut by_level: BTreeMap<usize, Vec<MemoryPath>> = BTreeMap::new();
    for directory in directories {
        by_level.entry(directory.names().count()).or_default().push(directory);
    }
    // Directories with an entry that stays.
    let full = Mutex::new(HashSet::new());
    for level in by_level.into_values().rev() {
        for_each(side.at_once, level, |directory| {
            let has_entry =
                full.lock().unwrap_or_else(PoisonError::into_inner).contains(&directory);
            if has_entry || !side.writer.remove_directory(&directory)? {
                full.lock().unwrap_or_else(PoisonError::into_inner).extend(directory.parent());
            }
            Ok(())
        })?;
    }
    Ok(())
}
