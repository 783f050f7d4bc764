//! [`Obstacles`]: finds what is in the way of files that are to be restored.
//!
//! A file needs a free path with only directories above it. Files that the restoring steps themselves move away or delete are
//! not in the way, but files that they place elsewhere may be.

use std::collections::{BTreeMap, BTreeSet};

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Location, Node, StoreError};

use super::recorder::Recorder;

/// The paths that are taken, by their keys as the store compares them.
pub(super) struct Obstacles<'r> {
    recorder: &'r Recorder,
    folding: Folding,
    /// The files that will be removed from their paths.
    leaves: BTreeSet<MemoryPath>,
    /// The paths of arriving files by their keys.
    arrives: BTreeMap<MemoryPath, MemoryPath>,
    /// The state of the paths above those, as far as they were inspected.
    above: BTreeMap<MemoryPath, Above>,
    /// The entries of directories at which many files arrive, by their keys; true for a file.
    listed: BTreeMap<MemoryPath, BTreeMap<MemoryPath, bool>>,
}

/// If as many files arrive in a directory on a server, the directory is listed once, instead of a request for each.
const MANY: usize = 32;

/// The state of a path where a directory is needed.
#[derive(Clone)]
enum Above {
    Directory,
    /// Nothing, or a file that will be removed: directories can be created here and below.
    Free,
    Obstacle(MemoryPath),
}

/// The state of a path where a file arrives.
pub(super) enum Availability {
    Free,
    /// Another file, or one that cannot be inspected.
    Taken,
    /// Something that a file cannot replace, at this path or at a directory above it.
    Obstructed(MemoryPath),
}

impl<'r> Obstacles<'r> {
    pub(super) fn new<'p>(
        recorder: &'r Recorder,
        folding: Folding,
        leaves: impl Iterator<Item = &'p MemoryPath>,
    ) -> Self {
        let leaves = leaves.map(|path| folding.key(path).into_owned()).collect();
        Self {
            recorder,
            folding,
            leaves,
            arrives: BTreeMap::new(),
            above: BTreeMap::new(),
            listed: BTreeMap::new(),
        }
    }

    /// The state of each of these paths. One file arrives at each of them.
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
        self.list_where_many_arrive(places)?;
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

    /// Lists the directories at which many files arrive.
    fn list_where_many_arrive(&mut self, places: &[MemoryPath]) -> Result<(), StoreError> {
        let store = &*self.recorder.store;
        // On this machine a look is cheap, and it also finds links and special files.
        if store.info().locations.iter().all(Location::is_local) {
            return Ok(());
        }
        let mut arriving: BTreeMap<MemoryPath, usize> = BTreeMap::new();
        for directory in places.iter().filter_map(MemoryPath::parent) {
            *arriving.entry(directory).or_default() += 1;
        }
        for (directory, _) in arriving.into_iter().filter(|(_, number)| *number >= MANY) {
            let entries = match store.list(&directory) {
                Ok(entries) => entries,
                Err(error) if error.is_failure() => return Err(error),
                // The directories above are inspected elsewhere.
                Err(_) => Vec::new(),
            };
            let keyed = entries
                .iter()
                .map(|entry| (self.folding.key(&entry.path).into_owned(), entry.is_file()));
            self.listed.insert(self.folding.key(&directory).into_owned(), keyed.collect());
        }
        Ok(())
    }

    fn here(&self, place: &MemoryPath) -> Result<Availability, StoreError> {
        let directory = place.parent().unwrap_or_else(MemoryPath::root);
        if let Some(entries) = self.listed.get(&*self.folding.key(&directory)) {
            return Ok(match entries.get(&*self.folding.key(place)) {
                Some(true) => Availability::Taken,
                Some(false) => Availability::Obstructed(self.spelled(place)),
                None => Availability::Free,
            });
        }
        match self.recorder.store.open(place, 0) {
            Ok(Node::File(..)) | Err(StoreError::PermissionDenied) => Ok(Availability::Taken),
            Ok(Node::Directory(_)) | Err(StoreError::Symlink | StoreError::SpecialFile) => {
                Ok(Availability::Obstructed(self.spelled(place)))
            }
            Err(error) if error.is_failure() => Err(error),
            Err(_) => Ok(Availability::Free),
        }
    }

    /// The highest path above `place` that neither is a directory nor can become one.
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
            // It may be possible to create files in a directory that cannot be listed.
            Ok(Node::Directory(_)) | Err(StoreError::PermissionDenied) => Ok(Above::Directory),
            Err(StoreError::NotFound) => Ok(Above::Free),
            Err(error) if error.is_failure() => Err(error),
            Ok(Node::File(..)) | Err(_) => Ok(Above::Obstacle(self.spelled(path))),
        }
    }

    /// The path with its last name as the store spells it, so a person can find it.
    fn spelled(&self, path: &MemoryPath) -> MemoryPath {
        let store = &*self.recorder.store;
        let listed = path.parent().filter(|_| store.info().folds_case);
        let listed = listed.and_then(|parent| store.list(&parent).ok()).unwrap_or_default();
        let mut paths = listed.into_iter().map(|entry| entry.path);
        let is_it = |other: &MemoryPath| self.folding.are_same(path, other);
        paths.find(is_it).unwrap_or_else(|| path.clone())
    }
}
