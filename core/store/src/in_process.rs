//! [`InProcess`]: a store in memory, implemented as a map under a lock.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{
    Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use std::time::SystemTime;

use super::access::is_unused;
use super::{
    Condition, Edit, Entry, Fingerprint, Fingerprints, Location, NOWAIT_BYTES, NOWAIT_ENTRIES,
    Node, Store, StoreError, StoreInfo,
};
use crate::path::{MemoryPath, PathError, is_hidden};
use crate::process;
use crate::settings::OnExisting;

/// Keeps everything in memory until it is dropped. For tests, and for agents whose memory ends with their
/// process.
#[derive(Debug)]
pub struct InProcess {
    /// Its number in this process.
    number: u64,
    nodes: RwLock<BTreeMap<MemoryPath, Kept>>,
    /// The number of times that a writer has had the lock.
    writes: AtomicU64,
}

/// Contents are shared, so a reader holds the lock only for the lookup.
#[derive(Debug, Clone)]
enum Kept {
    /// The content, the time of the last write, and the time of the last access.
    File(Arc<Content>, SystemTime, Option<SystemTime>),
    Directory,
}

#[derive(Debug)]
struct Content {
    bytes: Vec<u8>,
    /// Unique among the contents of this process.
    number: u64,
}

impl Content {
    fn new(bytes: Vec<u8>) -> Arc<Self> {
        static CONTENTS: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self { bytes, number: CONTENTS.fetch_add(1, Ordering::Relaxed) })
    }

    fn fingerprint(&self) -> Fingerprint {
        /// Random per process, so fingerprints of different processes differ.
        static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));
        Fingerprint::of_numbers(&[*PROCESS, self.number])
    }
}

type Tree = BTreeMap<MemoryPath, Kept>;

impl Default for InProcess {
    fn default() -> Self {
        Self::new()
    }
}

impl InProcess {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        let nodes = RwLock::new(BTreeMap::from([(MemoryPath::root(), Kept::Directory)]));
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { number, nodes, writes: AtomicU64::new(0) }
    }

    // A panic under the lock (in an edit) leaves the tree intact, because each change is applied in one last
    // step.

    fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.nodes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree> {
        let tree = self.nodes.write().unwrap_or_else(PoisonError::into_inner);
        // Counted before the change, so a reader that finds the change also finds the new number.
        self.writes.fetch_add(1, Ordering::SeqCst);
        tree
    }
}

impl Store for InProcess {
    /// The location is unique to this store. An address in memory would not be: a later store may get it again.
    fn info(&self) -> StoreInfo {
        let place = format!("memory:{}-{}", process::id(), self.number);
        StoreInfo {
            locations: vec![Location::in_service(place, "")],
            tracks_access: true,
            fingerprints: Fingerprints::Exact,
            conditions_are_atomic: true,
            ..StoreInfo::default()
        }
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        // Copy after the lock is released.
        let content = Arc::clone(file(&self.tree(), path)?);
        Ok(content.bytes.clone())
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let tree = self.tree();
        match tree.get(path) {
            None => return Err(StoreError::NotFound),
            Some(Kept::File(..)) => return Err(StoreError::NotADirectory),
            Some(Kept::Directory) => {}
        }
        Ok(subtree(&tree, path)
            .filter(|(found, _)| found.parent().as_ref() == Some(path))
            .map(entry)
            .collect())
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        open(&self.tree(), path, depth)
    }

    /// Answers if no writer has the lock.
    fn open_nowait(&self, path: &MemoryPath, depth: usize) -> Option<Result<Node<'_>, StoreError>> {
        let tree = match self.nodes.try_read() {
            Ok(tree) => tree,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let is_small = match tree.get(path) {
            None => true,
            Some(Kept::File(content, ..)) => content.bytes.len() as u64 <= NOWAIT_BYTES,
            Some(Kept::Directory) => subtree(&tree, path).nth(NOWAIT_ENTRIES).is_none(),
        };
        is_small.then(|| open(&tree, path, depth))
    }

    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let all: Vec<Entry> = self.tree().iter().map(entry).collect();
        all.into_iter().filter(Entry::is_file).for_each(visit);
        Ok(())
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let mut tree = self.tree_mut();
        match (tree.get(path), existing) {
            (None, _) | (Some(Kept::File(..)), OnExisting::Overwrite) => {}
            (Some(_), _) => return Err(StoreError::AlreadyExists),
        }
        make_parents(&mut tree, path)?;
        tree.insert(
            path.clone(),
            Kept::File(Content::new(content.to_vec()), SystemTime::now(), None),
        );
        Ok(())
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        let mut tree = self.tree_mut();
        match tree.get_mut(path) {
            None => Err(StoreError::NotFound),
            Some(Kept::Directory) => Err(StoreError::IsADirectory),
            Some(Kept::File(content, modified, _)) => {
                if let Some(splice) = edit(&content.bytes) {
                    *content = Content::new(splice.apply(&content.bytes));
                    *modified = SystemTime::now();
                }
                Ok(())
            }
        }
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let mut tree = self.tree_mut();
        if !tree.contains_key(path) {
            return Err(StoreError::NotFound);
        }
        let gone: Vec<MemoryPath> = subtree(&tree, path).map(|(path, _)| path.clone()).collect();
        for path in gone {
            tree.remove(&path);
        }
        Ok(())
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        rename(&mut self.tree_mut(), from, to)
    }

    fn delete_if(
        &self,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        let mut tree = self.tree_mut();
        let is_met = condition(&file(&tree, path)?.bytes);
        if is_met {
            tree.remove(path);
        }
        Ok(is_met)
    }

    fn rename_if(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        let mut tree = self.tree_mut();
        let is_met = condition(&file(&tree, from).map_err(StoreError::about_source)?.bytes);
        if is_met {
            rename(&mut tree, from, to)?;
        }
        Ok(is_met)
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        match self.tree_mut().get_mut(path) {
            None => Err(StoreError::NotFound),
            Some(Kept::Directory) => Err(StoreError::IsADirectory),
            Some(Kept::File(_, modified, _)) => {
                *modified = time;
                Ok(())
            }
        }
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        match self.tree_mut().get_mut(path) {
            None => Err(StoreError::NotFound),
            Some(Kept::Directory) => Err(StoreError::IsADirectory),
            Some(Kept::File(_, _, accessed)) => {
                *accessed = Some(time);
                Ok(())
            }
        }
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        let mut tree = self.tree_mut();
        let unused = match tree.get(path) {
            Some(&Kept::File(_, modified, accessed)) => is_unused(Some(modified), accessed, since),
            _ => false,
        };
        if unused {
            tree.remove(path);
        }
        Ok(unused)
    }

    fn make_directory(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let mut tree = self.tree_mut();
        match tree.get(path) {
            Some(Kept::Directory) => Ok(()),
            Some(Kept::File(..)) => Err(StoreError::AlreadyExists),
            None => {
                make_parents(&mut tree, path)?;
                tree.insert(path.clone(), Kept::Directory);
                Ok(())
            }
        }
    }

    fn remove_directory(&self, path: &MemoryPath) -> Result<bool, StoreError> {
        let mut tree = self.tree_mut();
        match tree.get(path) {
            None => return Err(StoreError::NotFound),
            Some(Kept::File(..)) => return Err(StoreError::NotADirectory),
            Some(Kept::Directory) => {}
        }
        let is_empty = subtree(&tree, path).nth(1).is_none();
        if is_empty {
            tree.remove(path);
        }
        Ok(is_empty)
    }

    /// The number of changes, and of attempts to change something.
    fn revision(&self) -> Result<Option<String>, StoreError> {
        Ok(Some(self.writes.load(Ordering::SeqCst).to_string()))
    }

    fn clear(&self) -> Result<(), StoreError> {
        self.tree_mut().retain(|path, _| path.is_root());
        Ok(())
    }
}

fn file<'t>(tree: &'t Tree, path: &MemoryPath) -> Result<&'t Arc<Content>, StoreError> {
    match tree.get(path) {
        None => Err(StoreError::NotFound),
        Some(Kept::Directory) => Err(StoreError::IsADirectory),
        Some(Kept::File(content, ..)) => Ok(content),
    }
}

fn rename(tree: &mut Tree, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
    match tree.get(from) {
        None => return Err(StoreError::NotFound),
        _ if tree.contains_key(to) => return Err(StoreError::AlreadyExists),
        Some(Kept::Directory) if from.is_above(to) => return Err(StoreError::IntoItself),
        Some(_) => {}
    }
    // Compute all new paths before anything moves, because one may be too long.
    let moves: Vec<(MemoryPath, MemoryPath)> = subtree(tree, from)
        .map(|(path, _)| Ok((path.clone(), path.moved(from, to)?)))
        .collect::<Result<_, PathError>>()
        .map_err(|_| StoreError::NameTooLong)?;
    make_parents(tree, to)?;
    for (old, new) in moves {
        if let Some(kept) = tree.remove(&old) {
            tree.insert(new, kept);
        }
    }
    Ok(())
}

fn open(tree: &Tree, path: &MemoryPath, depth: usize) -> Result<Node<'static>, StoreError> {
    match tree.get(path) {
        None => Err(StoreError::NotFound),
        Some(Kept::File(content, ..)) => {
            let content = Arc::clone(content);
            Ok(Node::File(content.bytes.len() as u64, Box::new(Whole { content, at: 0 })))
        }
        Some(Kept::Directory) => {
            let levels = path.names().count();
            let visible = |found: &MemoryPath| {
                found.names().count() <= levels.saturating_add(depth)
                    && !found.names().skip(levels).any(is_hidden)
            };
            let below = subtree(tree, path).skip(1).filter(|(found, _)| visible(found));
            Ok(Node::Directory(below.map(entry).collect()))
        }
    }
}

/// `path` and everything below it, in listing order. They are consecutive in the map.
fn subtree<'t>(
    tree: &'t Tree,
    path: &'t MemoryPath,
) -> impl Iterator<Item = (&'t MemoryPath, &'t Kept)> {
    tree.range(path..).take_while(move |(found, _)| *found == path || path.is_above(found))
}

fn entry((path, kept): (&MemoryPath, &Kept)) -> Entry {
    match kept {
        Kept::File(content, modified, accessed) => {
            let file = Entry::file(path.clone(), content.bytes.len() as u64)
                .with_fingerprint(Some(content.fingerprint()));
            file.modified_at(Some(*modified)).accessed_at(*accessed)
        }
        Kept::Directory => Entry::directory(path.clone()),
    }
}

/// Creates the directories above `path`. Fails if one of them is a file.
fn make_parents(tree: &mut Tree, path: &MemoryPath) -> Result<(), StoreError> {
    let mut missing = Vec::new();
    let mut above = path.parent();
    while let Some(directory) = above {
        match tree.get(&directory) {
            Some(Kept::Directory) => break,
            Some(Kept::File(..)) => return Err(StoreError::NotADirectory),
            None => {}
        }
        above = directory.parent();
        missing.push(directory);
    }
    tree.extend(missing.into_iter().map(|directory| (directory, Kept::Directory)));
    Ok(())
}

/// Reads a shared content.
struct Whole {
    content: Arc<Content>,
    at: usize,
}

impl Read for Whole {
    fn read(&mut self, window: &mut [u8]) -> io::Result<usize> {
        let read = self.content.bytes.get(self.at..).unwrap_or_default().read(window)?;
        self.at += read;
        Ok(read)
    }
}
