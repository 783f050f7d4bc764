//! Walks through the tree below a directory, one listing at a time. For stores that have no faster way.

use super::{Entry, Store, StoreError};
use crate::path::{MemoryPath, is_hidden};

/// The default of [`Store::files`]: walks through the listings.
///
/// For a store that only sometimes has a better way, as
/// [`open_whole`](super::open_whole).
///
/// # Errors
/// As [`Store::files`].
pub fn walk_files<S: Store + ?Sized>(
    store: &S,
    visit: &mut dyn FnMut(Entry),
) -> Result<(), StoreError> {
    walk(store, &MemoryPath::root(), Scope::EVERYTHING, &mut |entry| {
        if entry.is_file() {
            visit(entry);
        }
    })
}

/// Which entries below a directory are wanted.
#[derive(Clone, Copy)]
pub struct Scope {
    /// Whether hidden entries are wanted, too.
    pub hidden: bool,
    /// How many levels deep.
    pub depth: usize,
}

impl Scope {
    /// Everything below.
    pub const EVERYTHING: Self = Self { hidden: true, depth: usize::MAX };

    /// Whether an entry of this name is wanted.
    pub fn shows(self, name: &str) -> bool {
        self.hidden || !is_hidden(name)
    }

    /// The scope below a directory among the entries; `None` for nothing.
    pub fn below(self) -> Option<Self> {
        (self.depth > 1).then(|| Self { depth: self.depth - 1, ..self })
    }
}

/// Visits the wanted entries below `path`, each directory before its own.
pub fn walk<S: Store + ?Sized>(
    store: &S,
    path: &MemoryPath,
    scope: Scope,
    visit: &mut dyn FnMut(Entry),
) -> Result<(), StoreError> {
    for entry in store.list(path)? {
        if !entry.path.name().is_some_and(|name| scope.shows(name)) {
            continue;
        }
        let directory = (!entry.is_file()).then(|| entry.path.clone());
        visit(entry);
        let (Some(directory), Some(below)) = (directory, scope.below()) else { continue };
        match walk(store, &directory, below, visit) {
            // Gone or changed since its parent was listed, or not readable.
            Ok(())
            | Err(
                StoreError::NotFound
                | StoreError::NotADirectory
                | StoreError::PermissionDenied
                | StoreError::Symlink,
            ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
