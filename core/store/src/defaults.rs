//! The default implementations of the trait's methods, for stores without a better one.

use std::time::SystemTime;

use super::walk::walk;
use super::{
    Condition, Context, Entry, EntryKind, Mutation, Node, OnExisting, Scope, Store, StoreError,
};
use crate::path::{Folding, MemoryPath};

/// The default of [`Store::open`]: reads the whole content, or walks through the listings.
///
/// Public for a store that only sometimes has a better implementation, such as one in another language.
///
/// # Errors
/// As [`Store::open`].
pub fn open_whole<S: Store + ?Sized>(
    store: &S,
    path: &MemoryPath,
    depth: usize,
) -> Result<Node<'static>, StoreError> {
    match store.read(path) {
        Ok(content) => Ok(Node::file(content)),
        Err(StoreError::IsADirectory) => {
            let mut entries = Vec::new();
            walk(store, path, Scope { hidden: false, depth }, &mut |entry| entries.push(entry))?;
            Ok(Node::Directory(entries))
        }
        Err(error) => Err(error),
    }
}

/// The default of [`Store::clear`]: deletes the entries of the root for which `may_go` returns true.
pub fn clear_each<S: Store + ?Sized>(
    store: &S,
    context: &Context,
    may_go: impl Fn(&MemoryPath) -> bool,
) -> Result<(), StoreError> {
    let entries = store.list_in(context, &MemoryPath::root()).map_err(StoreError::unchanged)?;
    let mut changed = false;
    for entry in entries.iter().filter(|entry| may_go(&entry.path)) {
        match store.mutate(context, Mutation::Delete { path: &entry.path }) {
            Ok(_) => changed = true,
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(if changed { error.after_changes() } else { error }),
        }
    }
    Ok(())
}

/// The default of [`Store::delete_if`]: reads the file, then deletes it. Another writer may change it in
/// between.
///
/// Public for the same reason as [`open_whole`].
///
/// # Errors
/// As [`Store::delete_if`].
pub fn delete_by_reading<S: Store + ?Sized>(
    store: &S,
    path: &MemoryPath,
    condition: &mut Condition<'_>,
) -> Result<bool, StoreError> {
    let content = store.read(path).map_err(StoreError::unchanged)?;
    if !condition(&content) {
        return Ok(false);
    }
    store.delete(path).map(|()| true)
}

/// The default of [`Store::rename_if`], like [`delete_by_reading`].
///
/// # Errors
/// As [`Store::rename_if`].
pub fn rename_by_reading<S: Store + ?Sized>(
    store: &S,
    from: &MemoryPath,
    to: &MemoryPath,
    condition: &mut Condition<'_>,
) -> Result<bool, StoreError> {
    let content = store.read(from).map_err(|error| error.about_source().unchanged())?;
    if !condition(&content) {
        return Ok(false);
    }
    store.rename(from, to).map(|()| true)
}

/// The default of [`Store::modified`]: lists the file's directory.
///
/// Public for the same reason as [`open_whole`].
///
/// # Errors
/// As [`Store::modified`].
pub fn listed_time<S: Store + ?Sized>(
    store: &S,
    path: &MemoryPath,
) -> Result<Option<SystemTime>, StoreError> {
    Ok(listed_file(store, path)?.modified)
}

/// The entry of the file at `path` in the listing of its directory.
pub fn listed_file<S: Store + ?Sized>(store: &S, path: &MemoryPath) -> Result<Entry, StoreError> {
    let above = path.parent().ok_or(StoreError::IsADirectory)?;
    let listed = match store.list(&above) {
        Err(StoreError::NotADirectory) => return Err(StoreError::NotFound),
        listed => listed?,
    };
    let folding = Folding::new(store.info().folds_case);
    match listed.into_iter().find(|entry| folding.are_same(&entry.path, path)) {
        None => Err(StoreError::NotFound),
        Some(Entry { kind: EntryKind::Directory, .. }) => Err(StoreError::IsADirectory),
        Some(file) => Ok(file),
    }
}

/// The path as a store that ignores case lists it. Names that do not exist stay as given.
pub fn as_listed(store: &dyn Store, path: &MemoryPath) -> Result<MemoryPath, StoreError> {
    let folding = Folding::new(true);
    let mut listed = MemoryPath::root();
    let mut there = true;
    for name in path.names() {
        let asked = listed.join(name).map_err(|_| StoreError::NameTooLong)?;
        let entries = match there.then(|| store.list(&listed)) {
            Some(Err(error)) if error.is_failure() => return Err(error),
            Some(Ok(entries)) => entries,
            _ => Vec::new(),
        };
        let same = |entry: &&Entry| folding.are_same(&entry.path, &asked);
        let exact = entries.iter().find(|entry| entry.path == asked);
        let found = exact.or_else(|| entries.iter().find(same));
        there = found.is_some();
        listed = found.map_or(asked, |entry| entry.path.clone());
    }
    Ok(listed)
}

/// The temporary file that creates a directory in a store without a method of its own.
pub const NEW_DIRECTORY: &str = ".memdir-new-directory";

/// The directory of a history that is stored in the store itself.
pub const HISTORY: &str = ".memdir-history";

/// The directory in which a search keeps its index.
pub const SEARCH: &str = ".memdir-search";

/// The hidden directory for what syncs keep: the identity of a memory, and its baselines.
pub const SYNC: &str = ".memdir-sync";

/// The directories that memdir keeps for itself among the files of a memory, beside the history. They count for no limit, are not recorded,
/// and do not expire.
pub const OWN_DIRECTORIES: [&str; 2] = [SEARCH, SYNC];

/// Whether a path is one of the [`OWN_DIRECTORIES`] of this store or a mounted one, or below it. Case and invisible characters are ignored,
/// because some file systems ignore them.
#[must_use]
pub fn is_own_file(path: &MemoryPath) -> bool {
    let is_own = |name: &str| {
        let ascii = || name.chars().filter(char::is_ascii).map(|c| c.to_ascii_lowercase());
        OWN_DIRECTORIES.iter().any(|own| name.len() >= own.len() && ascii().eq(own.chars()))
    };
    path.names().any(is_own)
}

/// The prefix of the hidden names that a rename between mounted stores uses; a number follows.
pub const MOVING: &str = ".memdir-moving-";

/// The default of [`Store::make_directory`].
pub fn make_by_writing<S: Store + ?Sized>(store: &S, path: &MemoryPath) -> Result<(), StoreError> {
    let file = path.join(NEW_DIRECTORY).map_err(|_| StoreError::NameTooLong)?;
    match store.list(path) {
        Ok(entries) if !entries.iter().any(|entry| entry.path == file) => return Ok(()),
        Ok(_) => {}
        Err(StoreError::NotADirectory) => return Err(StoreError::AlreadyExists),
        Err(StoreError::NotFound) => match store.write(&file, b"", OnExisting::Error) {
            // Another writer is creating the directory.
            Ok(()) | Err(StoreError::AlreadyExists) => {}
            Err(error) => return Err(error),
        },
        Err(error) => return Err(error),
    }
    match store.delete(&file) {
        Err(StoreError::NotFound) => Ok(()),
        deleted => deleted.map_err(StoreError::after_changes),
    }
}
