//! [`Obstacles`]: what is in the way of files that are brought back.
//!
//! A file needs a place that nothing else has, below directories only. What the steps themselves move away or delete is
//! not in the way, and what they bring to another place may be.

use std::collections::{BTreeMap, BTreeSet};

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Node, StoreError};

use super::recorder::Recorder;

/// Which places are taken, by the keys of paths as the store compares them.
pub(super) struct Obstacles<'r> {
    recorder: &'r Recorder,
    folding: Folding,
    /// The files that go away.
    leaves: BTreeSet<MemoryPath>,
    /// Where files come, with the paths as they are written.
    arrives: BTreeMap<MemoryPath, MemoryPath>,
    /// What is at the paths above those places, as far as it was looked at.
    above: BTreeMap<MemoryPath, Above>,
}

/// What is where a directory is needed.
#[derive(Clone)]
enum Above {
    Directory,
    /// Nothing, or a file that goes away: directories can be made here and below.
    Free,
    Obstacle(MemoryPath),
}

/// What is at a place where a file comes.
pub(super) enum Availability {
    Free,
    /// Another file, or one that cannot be looked at.
    Taken,
    /// Something that a file cannot replace, here or where a directory above is needed.
    Obstructed(MemoryPath),
}

impl<'r> Obstacles<'r> {
    pub(super) fn new<'p>(
        recorder: &'r Recorder,
        folding: Folding,
        leaves: impl Iterator<Item = &'p MemoryPath>,
    ) -> Self {
        let leaves = leaves.map(|path| folding.key(path).into_owned()).collect();
        Self { recorder, folding, leaves, arrives: BTreeMap::new(), above: BTreeMap::new() }
    }

    /// What is at each of these places, where one file comes each.
    pub(super) fn at<'p>(
        &mut self,
        places: &'p [MemoryPath],
    ) -> Result<Vec<(&'p MemoryPath, Availability)>, StoreError> {
        let mut twice = BTreeSet::new();
        for place in places {
            let key = self.folding.key(place).into_owned();
            if self.arrives.insert(key.clone(), place.clone()).is_some() {
                twice.insert(key);
            }
        }
        let mut found = Vec::new();
        for place in places {
            let key = self.folding.key(place);
            let at = match self.obstacle_above(place)? {
                Some(obstacle) => Availability::Obstructed(obstacle),
                None if twice.contains(&*key) => Availability::Obstructed(place.clone()),
                None if self.leaves.contains(&*key) => Availability::Free,
                None => self.here(place)?,
            };
            found.push((place, at));
        }
        Ok(found)
    }

    fn here(&self, place: &MemoryPath) -> Result<Availability, StoreError> {
        match self.recorder.store.open(place, 0) {
            Ok(Node::File(..)) | Err(StoreError::PermissionDenied) => Ok(Availability::Taken),
            Ok(Node::Directory(_)) | Err(StoreError::Symlink | StoreError::SpecialFile) => {
                Ok(Availability::Obstructed(self.spelled(place)))
            }
            Err(error) if error.is_failure() => Err(error),
            Err(_) => Ok(Availability::Free),
        }
    }

    /// The highest path above `place` where no directory is or can be made.
    pub(super) fn obstacle_above(
        &mut self,
        place: &MemoryPath,
    ) -> Result<Option<MemoryPath>, StoreError> {
        let mut above: Vec<MemoryPath> =
            std::iter::successors(place.parent(), MemoryPath::parent).collect();
        // The root is always a directory.
        above.pop();
        let mut is_free = false;
        for path in above.into_iter().rev() {
            let key = self.folding.key(&path).into_owned();
            if let Some(file) = self.arrives.get(&key) {
                return Ok(Some(file.clone()));
            }
            if is_free {
                continue;
            }
            let at = match self.above.get(&key) {
                Some(at) => at.clone(),
                None => self.look_above(&path, &key)?,
            };
            is_free = matches!(at, Above::Free);
            self.above.insert(key, at.clone());
            if let Above::Obstacle(obstacle) = at {
                return Ok(Some(obstacle));
            }
        }
        Ok(None)
    }

    fn look_above(&self, path: &MemoryPath, key: &MemoryPath) -> Result<Above, StoreError> {
        if self.leaves.contains(key) {
            return Ok(Above::Free);
        }
        match self.recorder.store.open(path, 0) {
            // A directory that cannot be listed may take files.
            Ok(Node::Directory(_)) | Err(StoreError::PermissionDenied) => Ok(Above::Directory),
            Err(StoreError::NotFound) => Ok(Above::Free),
            Err(error) if error.is_failure() => Err(error),
            Ok(Node::File(..)) | Err(_) => Ok(Above::Obstacle(self.spelled(path))),
        }
    }

    /// The path as the store spells its last name, so a person finds it.
    fn spelled(&self, path: &MemoryPath) -> MemoryPath {
        let store = &*self.recorder.store;
        let listed = path.parent().filter(|_| store.info().folds_case);
        let listed = listed.and_then(|parent| store.list(&parent).ok()).unwrap_or_default();
        let mut paths = listed.into_iter().map(|entry| entry.path);
        let is_it = |other: &MemoryPath| self.folding.are_same(path, other);
        paths.find(is_it).unwrap_or_else(|| path.clone())
    }
}
