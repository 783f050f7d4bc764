//! Walks through the tree below a directory, one listing at a time. For stores without a faster way.

use super::{Entry, Store, StoreError};
use crate::path::{MemoryPath, is_hidden};

/// The default of [`Store::files`]: walks through the listings.
///
/// Public for the same reason as [`open_whole`](super::open_whole).
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

/// Selects the entries below a directory to visit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// Whether hidden entries are included.
    pub hidden: bool,
    /// The number of levels.
    pub depth: usize,
}

impl Scope {
    /// All entries, at all levels.
    pub const EVERYTHING: Self = Self { hidden: true, depth: usize::MAX };

    /// Whether an entry with this name is included.
    pub fn shows(self, name: &str) -> bool {
        self.hidden || !is_hidden(name)
    }

    /// The scope for a subdirectory; `None` if nothing below it is included.
    pub fn below(self) -> Option<Self> {
        (self.depth > 1).then(|| Self { depth: self.depth - 1, ..self })
    }
}

/// Visits the selected entries below `path`, each directory before its entries.
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
            // Deleted or changed since its parent was listed, or not readable.
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
