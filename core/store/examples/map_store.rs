//! A custom store with only the six required methods: a map from paths to contents.

use std::collections::BTreeMap;
use std::iter::successors;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memdir::store::{Edit, Entry, check_contract};
use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};

/// The nodes below the root by path: a file's content, or `None` for a directory.
type Tree = BTreeMap<MemoryPath, Option<Vec<u8>>>;

#[derive(Default)]
struct MapStore(Mutex<Tree>);

impl MapStore {
    /// Locks the tree. Only one thread can hold the guard, so writers exclude each other.
    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find<'t>(tree: &'t Tree, path: &MemoryPath) -> Result<Option<&'t Vec<u8>>, StoreError> {
    if path.is_root() {
        return Ok(None);
    }
    tree.get(path).map(Option::as_ref).ok_or(StoreError::NotFound)
}

fn find_file<'t>(tree: &'t Tree, path: &MemoryPath) -> Result<&'t Vec<u8>, StoreError> {
    find(tree, path)?.ok_or(StoreError::IsADirectory)
}

fn missing_parents(tree: &Tree, path: &MemoryPath) -> Result<Vec<MemoryPath>, StoreError> {
    let mut missing = Vec::new();
    for parent in successors(path.parent(), MemoryPath::parent) {
        match find(tree, &parent) {
            Ok(Some(_)) => return Err(StoreError::NotADirectory),
            Ok(None) => {}
            Err(_) => missing.push(parent),
        }
    }
    Ok(missing)
}

impl Store for MapStore {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        find_file(&self.tree(), path).cloned()
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let tree = self.tree();
        if find(&tree, path)?.is_some() {
            return Err(StoreError::NotADirectory);
        }
        let below = tree.iter().filter(|(at, _)| at.parent().as_ref() == Some(path));
        let entry = |(at, content): (&MemoryPath, &Option<Vec<u8>>)| match content {
            Some(content) => Entry::file(at.clone(), content.len() as u64),
            None => Entry::directory(at.clone()),
        };
        Ok(below.map(entry).collect())
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let mut tree = self.tree();
        match find(&tree, path) {
            Ok(Some(_)) if existing == OnExisting::Overwrite => {}
            Ok(_) => return Err(StoreError::AlreadyExists),
            Err(_) => {}
        }
        for parent in missing_parents(&tree, path)? {
            tree.insert(parent, None);
        }
        tree.insert(path.clone(), Some(content.to_vec()));
        Ok(())
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        let mut tree = self.tree();
        let content = find_file(&tree, path)?;
        if let Some(new) = edit(content).map(|splice| splice.apply(content)) {
            tree.insert(path.clone(), Some(new));
        }
        Ok(())
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let mut tree = self.tree();
        find(&tree, path)?;
        tree.retain(|at, _| at != path && !path.is_above(at));
        Ok(())
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        let mut tree = self.tree();
        let is_directory = find(&tree, from)?.is_none();
        if find(&tree, to).is_ok() {
            return Err(StoreError::AlreadyExists);
        }
        if is_directory && from.is_above(to) {
            return Err(StoreError::IntoItself);
        }
        // Everything that can fail comes before the first change.
        let parents = missing_parents(&tree, to)?;
        let moved = tree.keys().filter(|at| *at == from || from.is_above(at));
        let moved: Vec<_> = moved
            .map(|at| Ok((at.clone(), at.moved(from, to).map_err(|_| StoreError::NameTooLong)?)))
            .collect::<Result<_, StoreError>>()?;
        tree.extend(parents.into_iter().map(|parent| (parent, None)));
        for (old, new) in moved {
            let content = tree.remove(&old).flatten();
            tree.insert(new, content);
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Each rule is checked on a new store.
    check_contract(&|| Arc::new(MapStore::default()))?;

    let memory = Memory::with_store(Arc::new(MapStore::default()), MemoryOptions::default());
    let created = memory.create("/memories/notes.md", "- likes tea\n")?;
    assert_eq!(created, "File created successfully at: /memories/notes.md");
    Ok(())
}
