//! Where memories are kept: one trait, its contract, and its implementations.
//!
//! A store keeps bytes under a [`MemoryPath`] and knows no sentence. What every store must
//! guarantee is written on [`Store`] and its methods; [`contract`] checks it.

use std::path::Path;
use std::time::SystemTime;

use crate::path::MemoryPath;

pub(crate) mod access;
mod address;
mod address_hint;
mod edit;
#[cfg(feature = "encryption")]
mod encrypted;
mod encryption_record;
mod error;
mod fork;
mod in_process;
mod layer;
#[cfg(unix)]
mod local;
mod local_path;
mod location;
pub mod micros;
mod mounts;
mod node;
#[cfg(feature = "object-storage")]
mod objects;
mod options;
#[cfg(any(feature = "postgres", feature = "object-storage"))]
mod per_process;
#[cfg(feature = "postgres")]
mod postgres;
mod problem;
mod read_only;
#[cfg(any(feature = "postgres", feature = "object-storage"))]
mod runtime;
pub(crate) mod settings;
#[cfg(feature = "sqlite")]
mod sqlite;
mod swap;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod total;
pub(crate) mod transfer;
mod walk;

#[cfg(feature = "testing")]
pub mod contract;

pub use crate::text::Splice;
#[cfg(feature = "encryption")]
pub use address::{encrypt, encrypt_lazily};
pub use address::{
    location_of, open_bare_directory, open_directory, open_existing_store, open_raw_store,
    open_store, redact_address,
};
#[cfg(feature = "testing")]
pub use contract::check_contract;
pub use edit::Edit;
#[cfg(feature = "encryption")]
pub use encrypted::{Encrypted, EncryptionKey, rekey};
pub use error::{Effect, StoreError};
pub use fork::{after_fork_in_child, after_fork_in_parent, before_fork};
pub use in_process::InProcess;
pub use layer::Layer;
#[cfg(unix)]
pub use local::LocalDirectory;
pub use location::Location;
pub(crate) use location::overlap;
pub use mounts::{Mount, Mounts, Place, open_mounts, open_place};
pub use node::{Entry, EntryKind, Node};
#[cfg(feature = "object-storage")]
pub use objects::ObjectStorage;
pub use options::StoreOptions;
#[cfg(feature = "postgres")]
pub use postgres::PostgresDatabase;
pub use problem::{Problem, ProblemKind};
pub use read_only::ReadOnly;
pub use settings::{Durability, OnExisting};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteDatabase;
pub use swap::{Swap, update_by_swap};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use total::TotalLimits;
pub(crate) use walk::Scope;
use walk::walk;
pub use walk::walk_files;

/// A place that keeps files and directories under `/memories`.
///
/// # Contract
/// - **One tree.** Directories exist by themselves, also when empty; the root always exists. A
///   file's parents are directories.
/// - **All or nothing.** Each method either does the whole of what it says and returns `Ok`, or
///   leaves the store as it was and returns `Err`: no new parents, no empty file, no half of a
///   content. Where an engine cannot delete or move a directory in one step, the store's own page
///   says what a crash in the middle leaves.
/// - **Nothing acknowledged is lost.** When a writing method has returned `Ok`, every later read,
///   by whomever, sees its effect, and no concurrent writer can undo it unknowingly. Writers
///   exclude each other by the store's own means, across threads and processes.
/// - **Readers see whole contents**: the state before or after a concurrent write, never a mix.
/// - **Conditions have names.** A state of the tree that forbids the operation is the matching
///   [`StoreError`]; only what broke is [`StoreError::Failed`].
///
/// Methods may be called from many threads at once. Callbacks do not call back into the store.
///
/// # Example
/// A store of one's own in its six methods; [`check_contract`] (feature `testing`) says whether it keeps the contract.
/// A store over another one is a [`Layer`].
///
/// ```
#[doc = include_str!("../../examples/map_store.rs")]
/// ```
pub trait Store: Send + Sync {
    /// The whole content of a file.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound) if there is nothing (also where a parent is a file),
    /// [`IsADirectory`](StoreError::IsADirectory).
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError>;

    /// The entries of a directory, one level deep, in any order, hidden ones included. Entries
    /// whose names no [`MemoryPath`] can hold, links and special files are left out.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`NotADirectory`](StoreError::NotADirectory) if it is a
    /// file.
    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError>;

    /// What is at `path`: a file to read from, or a directory's entries `depth` levels deep, in
    /// any order, without the hidden ones and what is below them.
    ///
    /// This is one method so that a remote store can answer it in one round trip and a local one
    /// can stream; by default it is made of [`read`](Store::read) and [`list`](Store::list).
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound).
    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        open_whole(self, path, depth)
    }

    /// Shows every file of the tree to `visit`, hidden ones included, in any order, without reading
    /// contents. `visit` keeps no entry from the others.
    ///
    /// This is one method so that a store which knows all of its files can say so in one round trip; by
    /// default it is a walk through the listings. What somebody changes meanwhile may be missed or shown
    /// as it was; what is below a directory that is closed to us is left out.
    ///
    /// # Errors
    /// Only what broke; `visit` may have been called before.
    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        walk_files(self, visit)
    }

    /// Writes a whole file, making missing parents.
    ///
    /// With [`OnExisting::Error`] creation is exclusive: of two at once exactly one succeeds. With
    /// [`OnExisting::Overwrite`] a file that is there is replaced atomically.
    ///
    /// # Errors
    /// [`AlreadyExists`](StoreError::AlreadyExists) if there is a file (unless overwriting) or a
    /// directory (always), [`NotADirectory`](StoreError::NotADirectory) if a parent is a file.
    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError>;

    /// Changes a file: reads it, asks `edit` for the change, and writes the result, while no other
    /// writer can come between.
    ///
    /// A store that retries on conflict calls `edit` again with the newer content; the last call
    /// counts. When `edit` returns `None` nothing is written.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`IsADirectory`](StoreError::IsADirectory).
    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError>;

    /// Deletes a file, or a directory and all that it holds. Never called for the root.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound).
    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError>;

    /// Moves a file or directory, making the destination's missing parents, never overwriting.
    /// Never called for the root as `from`.
    ///
    /// # Errors
    /// In this order: [`NotFound`](StoreError::NotFound) if `from` is not there (any other
    /// condition of `from` is wrapped in [`Source`](StoreError::Source)),
    /// [`AlreadyExists`](StoreError::AlreadyExists) if `to` is (also when both are the same),
    /// [`IntoItself`](StoreError::IntoItself) if `to` lies below the directory `from`,
    /// [`NotADirectory`](StoreError::NotADirectory) if a parent of `to` is a file,
    /// [`NameTooLong`](StoreError::NameTooLong) if something below `from` would come to have a path
    /// that no [`MemoryPath`] can be.
    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError>;

    /// Deletes everything below the root; the root stays.
    ///
    /// # Errors
    /// Only what broke.
    fn clear(&self) -> Result<(), StoreError> {
        clear_each(self, |_| true)
    }

    /// When the file was last written, as far as the store keeps that; to the microsecond.
    ///
    /// By default it is what the listing of its directory says.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`IsADirectory`](StoreError::IsADirectory).
    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        listed_time(self, path)
    }

    /// Says that the file was last written at `time`, for a copy that keeps its original's time.
    ///
    /// A store that keeps no times, or cannot set them, does nothing, as by default.
    ///
    /// # Errors
    /// As [`modified`](Store::modified).
    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let _ = time;
        self.modified(path).map(drop)
    }

    /// Whether it keeps when files were last accessed: [`record_access`](Store::record_access) and
    /// [`delete_unused`](Store::delete_unused) do what they say, and listings tell the times. Only then
    /// can what is not used any more be told from what is ([`Memory::expire`](crate::Memory::expire)).
    ///
    /// By default it does not.
    fn tracks_access(&self) -> bool {
        false
    }

    /// When the file was last said to be accessed; `None` if it never was.
    ///
    /// By default it is what the listing of its directory says.
    ///
    /// # Errors
    /// As [`modified`](Store::modified).
    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        access::listed(self, path)
    }

    /// Says that the file was accessed at `time`; to the microsecond. This is no change of the file: no
    /// editor is kept waiting by it, its [`modified`](Store::modified) stays, and it goes along when the
    /// file is moved. Whether an edit keeps or drops it is the store's own, as the edit is newer.
    ///
    /// A store that does not [keep](Store::tracks_access) it does nothing, as by default.
    ///
    /// # Errors
    /// As [`modified`](Store::modified).
    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let _ = time;
        self.modified(path).map(drop)
    }

    /// Those of `files`, which a listing of this store told of, that were neither written nor
    /// accessed since then, and of which at least one of both times is known.
    ///
    /// By default it is as the listing said. For a store that knows better than its listings, or of
    /// which a part is closed to changes.
    ///
    /// # Errors
    /// Only what broke.
    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        Ok(access::unused(files, since))
    }

    /// Deletes the file if it was neither written nor accessed since then, by a look that is newer than
    /// any listing, and while no writer can come between: an edit that was acknowledged is never lost.
    /// Whether it did; `false` also if there is no such file any more, or a directory.
    ///
    /// By default nothing is ever deleted.
    ///
    /// # Errors
    /// Conditions that forbid deleting it, and what broke.
    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        let _ = (path, since);
        Ok(false)
    }

    /// Makes a directory, with its missing parents; where it is already, nothing is to be done.
    ///
    /// By default a file is written into it and deleted again. A process that is killed in between
    /// leaves that file, which is empty and hidden, until the directory is made again.
    ///
    /// # Errors
    /// [`AlreadyExists`](StoreError::AlreadyExists) if there is a file,
    /// [`NotADirectory`](StoreError::NotADirectory) if a parent is a file.
    fn make_directory(&self, path: &MemoryPath) -> Result<(), StoreError> {
        make_by_writing(self, path)
    }

    /// Looks for what is wrong with the store and would not show in reading its files, such as
    /// structures that contradict each other, and for what is beside the memory in the place where
    /// it is kept, such as links. Changes nothing. [`check`](crate::check()) asks for this and then
    /// reads every file.
    ///
    /// By default there is nothing to look for.
    ///
    /// # Errors
    /// Only what kept it from looking.
    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        let _ = report;
        Ok(())
    }

    /// Whether every change is refused with [`StoreError::ReadOnly`], whatever it is.
    ///
    /// A store that wraps another one hands the question on.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Whether names that differ only in upper and lower case are one name, as in file systems of macOS and
    /// Windows. Patterns of paths then [hold in any case](crate::policy::PathPattern::folding_case).
    ///
    /// By default they are different. A store that wraps another one hands the question on.
    fn folds_case(&self) -> bool {
        false
    }

    /// The directory of this machine that the files are in, if that is where they are.
    fn directory(&self) -> Option<&Path> {
        None
    }

    /// Where it keeps what it holds, as far as that can be compared with where another store does: so that nothing
    /// is copied, or moved, into itself. A store that wraps others hands the question on.
    ///
    /// By default it is the [`directory`](Store::directory).
    fn locations(&self) -> Vec<Location> {
        self.directory().map(Location::file).into_iter().collect()
    }

    /// Whether it could keep something at `path`, as far as its name is concerned. A copy asks for this before it
    /// begins.
    ///
    /// By default it could.
    fn can_keep(&self, path: &MemoryPath) -> bool {
        let _ = path;
        true
    }
}

/// What [`Store::open`] does by default: the whole content, or a walk through the listings.
///
/// For a store that only sometimes has a better way, such as one that hands on to another language.
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

/// What [`Store::clear`] does by default: deletes the entries of the root, as far as they `may_go`.
pub(crate) fn clear_each<S: Store + ?Sized>(
    store: &S,
    may_go: impl Fn(&MemoryPath) -> bool,
) -> Result<(), StoreError> {
    let entries = store.list(&MemoryPath::root()).map_err(StoreError::unchanged)?;
    let mut changed = false;
    for entry in entries.iter().filter(|entry| may_go(&entry.path)) {
        match store.delete(&entry.path) {
            Ok(()) => changed = true,
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(if changed { error.after_changes() } else { error }),
        }
    }
    Ok(())
}

/// What [`Store::modified`] does by default: asks the listing of the file's directory.
///
/// For a store that only sometimes has a better way, as [`open_whole`].
///
/// # Errors
/// As [`Store::modified`].
pub fn listed_time<S: Store + ?Sized>(
    store: &S,
    path: &MemoryPath,
) -> Result<Option<SystemTime>, StoreError> {
    Ok(listed_file(store, path)?.modified)
}

/// The file at `path`, as the listing of its directory tells of it.
fn listed_file<S: Store + ?Sized>(store: &S, path: &MemoryPath) -> Result<Entry, StoreError> {
    let above = path.parent().ok_or(StoreError::IsADirectory)?;
    let listed = match store.list(&above) {
        Err(StoreError::NotADirectory) => return Err(StoreError::NotFound),
        listed => listed?,
    };
    match listed.into_iter().find(|entry| entry.path == *path) {
        None => Err(StoreError::NotFound),
        Some(Entry { kind: EntryKind::Directory, .. }) => Err(StoreError::IsADirectory),
        Some(file) => Ok(file),
    }
}

/// The file that makes a directory where a store has no other way.
pub(crate) const NEW_DIRECTORY: &str = ".memdir-new-directory";

/// The beginning of the names of what is on its way from one mounted store into another; a number follows.
pub(crate) const MOVING: &str = ".memdir-moving-";

/// What [`Store::make_directory`] does by default.
fn make_by_writing<S: Store + ?Sized>(store: &S, path: &MemoryPath) -> Result<(), StoreError> {
    let file = path.join(NEW_DIRECTORY).map_err(|_| StoreError::NameTooLong)?;
    match store.list(path) {
        Ok(entries) if !entries.iter().any(|entry| entry.path == file) => return Ok(()),
        Ok(_) => {}
        Err(StoreError::NotADirectory) => return Err(StoreError::AlreadyExists),
        Err(StoreError::NotFound) => match store.write(&file, b"", OnExisting::Error) {
            // Somebody else is making it.
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
