//! The complete content of a store, for comparisons.

use std::collections::BTreeMap;

use memdir::{MemoryPath, Store};

/// Directories are `None`, files have their content.
pub(crate) type Tree = BTreeMap<MemoryPath, Option<Vec<u8>>>;

/// The content of the store, including hidden entries but not the root. Every path must be one that
/// a command could have named.
pub(crate) fn of(store: &dyn Store) -> Tree {
    let mut tree = Tree::new();
    let mut directories = vec![MemoryPath::root()];
    while let Some(directory) = directories.pop() {
        for entry in store.list(&directory).expect("a directory that was listed is there") {
            let path = entry.path.clone();
            assert_eq!(MemoryPath::parse(path.as_str()).as_ref(), Ok(&path));
            assert_eq!(path.parent().as_ref(), Some(&directory));
            let content = entry
                .is_file()
                .then(|| store.read(&path).expect("a file that was listed is there"));
            if content.is_none() {
                directories.push(path.clone());
            }
            tree.insert(path, content);
        }
    }
    tree
}
