//! What a store of [memdir](https://docs.rs/memdir) is: [`Store`], the trait of everything that can keep a memory, with
//! the values that it takes and gives, and what stores and layers are built with.
//!
//! A store keeps bytes under a [`MemoryPath`]. It needs to know nothing about commands and replies.
//! [`Store`] and its methods document the guarantees of every store; `contract` (feature `testing`) checks them.
//!
//! Users of memdir have all of this as `memdir::store`, and depend on this crate only to publish a store by itself. Examples
//! use memdir's names: `memdir::store::Entry` and `memdir::MemoryPath` are `memdir_store::Entry` and `memdir_store::MemoryPath`.
//! The types at the root of this crate are as stable as memdir's own API. The modules are tools for memdir's own stores: they
//! may change with every minor version.
#![deny(unsafe_code)]

use std::time::SystemTime;

pub mod access;
pub mod backoff;
pub mod cancel;
pub mod clock;
mod condition;
pub mod context;
#[cfg(feature = "testing")]
pub mod contract;
pub mod defaults;
pub mod edit;
pub mod encryption_record;
pub mod error;
mod error_kind;
mod fingerprint;
pub mod history_id;
mod in_context;
mod in_process;
mod info;
mod layer;
pub mod local_path;
mod location;
pub mod micros;
mod mount_table;
mod mounts;
mod mutation;
mod namespace;
pub mod node;
mod note;
pub mod notes;
mod operation;
#[cfg(feature = "schema")]
mod own_schemas;
pub mod path;
pub mod per_process;
mod problem;
pub mod process;
mod read_only;
#[cfg(feature = "runtime")]
pub mod runtime;
#[cfg(feature = "schema")]
pub mod schema;
mod sealing;
pub mod settings;
pub mod similar;
mod splice;
mod store_error;
pub mod swap;
pub mod time;
pub mod total;
pub mod transfer;
pub mod turns;
pub mod walk;

pub use cancel::Cancellation;
pub use condition::Condition;
pub use context::Context;
#[cfg(feature = "testing")]
pub use contract::check_contract;
pub use defaults::{
    HISTORY, MOVING, NEW_DIRECTORY, as_listed, clear_each, listed_file, listed_time, open_whole,
};
use defaults::{delete_by_reading, make_by_writing, rename_by_reading};
pub use edit::Edit;
pub use error::{ConfigError, Error, HookError, NameCase};
pub use error_kind::{ErrorKind, Refused};
pub use fingerprint::{Fingerprint, Fingerprints};
pub use history_id::{HistoryId, NoHistoryId};
pub use in_context::InContext;
pub use in_process::InProcess;
pub use info::StoreInfo;
pub use layer::Layer;
pub use location::{Location, overlap};
pub use mount_table::MountTable;
pub use mounts::Mounts;
pub use mutation::Mutation;
pub use namespace::Namespace;
pub use node::{Entry, EntryKind, Node, sort_by_path};
pub use operation::Operation;
pub use path::MemoryPath;
pub use problem::{Problem, ProblemKind, display_name};
pub use read_only::ReadOnly;
pub use sealing::Sealing;
pub use settings::{Durability, OnExisting};
pub use splice::Splice;
pub use store_error::{Effect, StoreError};
pub use swap::{Swap, update_by_swap};
pub use total::TotalLimits;
pub use walk::{Scope, walk_files};

/// A place that keeps files and directories under `/memories`.
///
/// # Contract
/// - **One tree.** Directories exist by themselves, also when empty; the root always exists. A
///   file's parents are directories.
/// - **All or nothing.** Each method either succeeds completely and returns `Ok`, or leaves the
///   store as it was and returns `Err`: no new parents, no empty file, no half-written content. If
///   an engine cannot delete or move a directory in one step, the store's documentation says what a
///   crash in the middle leaves.
/// - **Nothing acknowledged is lost.** When a writing method has returned `Ok`, every later read by
///   anybody sees its effect, and no concurrent writer can undo it unknowingly. The store keeps
///   writers apart by its own means, across threads and processes.
/// - **Readers see whole contents**: the state before or after a concurrent write, never a mix.
/// - **Each condition has its error.** If the state of the tree forbids an operation, the error is
///   the matching case of [`StoreError`]. [`StoreError::Failed`] is for a broken store only.
///
/// Methods may be called from many threads at once. Callbacks do not call back into the store.
///
/// # Example
/// A store with the six required methods. [`check_contract`] (feature `testing`) checks that a
/// store keeps the contract. To wrap another store, implement [`Layer`].
///
/// ```
#[doc = include_str!("../examples/map_store.rs")]
/// ```
pub trait Store: Send + Sync {
    /// What the store says about itself. The answer stays the same while the store is open: it is asked when a memory is
    /// opened, and rarely afterwards.
    ///
    /// By default it is [`StoreInfo::default`]. A store that wraps another one derives its answer from that store's:
    /// `StoreInfo { is_read_only: true, ..inner.info() }`.
    fn info(&self) -> StoreInfo {
        StoreInfo::default()
    }

    /// The whole content of a file.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound) if nothing is there (also if a parent is a file),
    /// [`IsADirectory`](StoreError::IsADirectory).
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError>;

    /// The entries of a directory, one level deep, in any order, hidden ones included. Links,
    /// special files, and names that no [`MemoryPath`] can contain are left out.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`NotADirectory`](StoreError::NotADirectory) if it is a
    /// file.
    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError>;

    /// Opens `path`: a file to read from, or a directory's entries `depth` levels deep, in any
    /// order, without hidden entries and everything below them.
    ///
    /// This is one method, so a remote store can answer it in one round trip, and a local store can
    /// stream. By default it calls [`read`](Store::read) and [`list`](Store::list).
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound).
    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        open_whole(self, path, depth)
    }

    /// As [`open`](Store::open), if the answer is at hand: without waiting for a disk, a network, a lock or another
    /// thread, and with little work. `None` if not, or if the store cannot tell; then call [`open`](Store::open).
    ///
    /// An event loop calls this on its own thread, so a store answers only with a file of at most
    /// [`NOWAIT_BYTES`] or a directory of at most [`NOWAIT_ENTRIES`], and with an error only if it is certain.
    ///
    /// By default it is `None`. A store that wraps another one passes it on if it adds no waiting of its own.
    fn open_nowait(&self, path: &MemoryPath, depth: usize) -> Option<Result<Node<'_>, StoreError>> {
        let _ = (path, depth);
        None
    }

    /// Calls `visit` with every file of the tree, hidden ones included, in any order, without
    /// reading contents.
    ///
    /// This is one method, so a store that knows all of its files can answer it in one round trip.
    /// By default it walks through the listings. A change that is made meanwhile may or may
    /// not be seen. Files below a directory that cannot be read are left out.
    ///
    /// # Errors
    /// Only failures of the store; `visit` may already have been called.
    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        walk_files(self, visit)
    }

    /// As [`read`](Store::read), for a call that can be cancelled while the store waits: for a lock, for a network. So are
    /// the next three methods. By default the store does not look at the context. A store that waits reads here, and its
    /// methods without a context call these with an empty one.
    ///
    /// # Errors
    /// As [`read`](Store::read), and [`Cancelled`](StoreError::Cancelled).
    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        let _ = context;
        self.read(path)
    }

    /// As [`list`](Store::list), for a call that can be [cancelled](Store::read_in).
    ///
    /// # Errors
    /// As [`list`](Store::list), and [`Cancelled`](StoreError::Cancelled).
    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let _ = context;
        self.list(path)
    }

    /// As [`open`](Store::open), for a call that can be [cancelled](Store::read_in), also while the opened file is read.
    ///
    /// # Errors
    /// As [`open`](Store::open), and [`Cancelled`](StoreError::Cancelled).
    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        let _ = context;
        self.open(path, depth)
    }

    /// As [`files`](Store::files), for a call that can be [cancelled](Store::read_in).
    ///
    /// # Errors
    /// As [`files`](Store::files), and [`Cancelled`](StoreError::Cancelled).
    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let _ = context;
        self.files(visit)
    }

    /// Writes a whole file, making missing parents.
    ///
    /// With [`OnExisting::Error`] creation is exclusive: if two calls create the same path at once,
    /// exactly one succeeds. With [`OnExisting::Overwrite`] an existing file is replaced
    /// atomically.
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

    /// Writes a new file whose name nobody else uses, such as one with a random number, into a directory that holds
    /// nothing but such files and is never deleted. A store may leave out what keeps writers of one path apart.
    ///
    /// By default it [writes](Store::write) a file.
    ///
    /// # Errors
    /// As [`write`](Store::write).
    fn write_unique(&self, path: &MemoryPath, content: &[u8]) -> Result<(), StoreError> {
        self.write(path, content, OnExisting::Error)
    }

    /// Changes a file: reads it, passes the content to `edit`, and writes the result, while no
    /// other writer can come between.
    ///
    /// A store that retries on a conflict calls `edit` again with the newer content; the last call
    /// counts. If `edit` returns `None`, nothing is written.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`IsADirectory`](StoreError::IsADirectory).
    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError>;

    /// Deletes a file, or a directory with everything in it. Never called for the root.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound).
    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError>;

    /// Moves a file or directory, and makes the destination's missing parents. It never overwrites.
    /// Never called for the root as `from`.
    ///
    /// # Errors
    /// In this order: [`NotFound`](StoreError::NotFound) if `from` does not exist (any other
    /// condition of `from` is wrapped in [`Source`](StoreError::Source)),
    /// [`AlreadyExists`](StoreError::AlreadyExists) if `to` exists (also if both are the same),
    /// [`IntoItself`](StoreError::IntoItself) if `to` is below the directory `from`,
    /// [`NotADirectory`](StoreError::NotADirectory) if a parent of `to` is a file,
    /// [`NameTooLong`](StoreError::NameTooLong) if a path below `from` would become too long or too
    /// deep for a [`MemoryPath`].
    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError>;

    /// Deletes everything below the root; the root stays.
    ///
    /// # Errors
    /// Only failures of the store.
    fn clear(&self) -> Result<(), StoreError> {
        clear_each(self, &Context::new(), |_| true)
    }

    /// When the file was last written, to the microsecond; `None` if the store keeps no times.
    ///
    /// By default it lists the file's directory.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`IsADirectory`](StoreError::IsADirectory).
    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        listed_time(self, path)
    }

    /// Sets when the file was last written, for a copy that keeps its original's time.
    ///
    /// A store that keeps no times, or cannot set them, does nothing. This is the default.
    ///
    /// # Errors
    /// As [`modified`](Store::modified).
    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let _ = time;
        self.modified(path).map(drop)
    }

    /// The last recorded access of the file; `None` if there is none.
    ///
    /// By default it lists the file's directory.
    ///
    /// # Errors
    /// As [`modified`](Store::modified).
    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        access::listed(self, path)
    }

    /// Records that the file was accessed at `time`, to the microsecond. This is not a change of
    /// the file: no writer waits for it, and [`modified`](Store::modified) stays. The time moves
    /// with the file. An edit may keep or drop it, because the edit is newer.
    ///
    /// A store that does not [keep](StoreInfo::tracks_access) times of access does nothing. This is the
    /// default.
    ///
    /// # Errors
    /// As [`modified`](Store::modified).
    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let _ = time;
        self.modified(path).map(drop)
    }

    /// Those of `files` that were neither written nor accessed at `since` or later. `files` come from a
    /// listing of this store. A file of which neither time is known is not among the result.
    ///
    /// By default it compares the times of the listing. Override it if the store knows more exact
    /// times than its listings, or if a part of the store may not be changed.
    ///
    /// # Errors
    /// Only failures of the store.
    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        Ok(access::unused(files, since))
    }

    /// Deletes the file if it was neither written nor accessed at `since` or later, and returns whether
    /// it did. The store checks the times itself, not by an earlier listing, and no writer can come
    /// between the check and the deletion: an acknowledged edit is never lost. Returns `false` also
    /// if the file is gone, or is a directory.
    ///
    /// By default nothing is ever deleted.
    ///
    /// # Errors
    /// Conditions that forbid deleting the file, and failures of the store.
    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        let _ = (path, since);
        Ok(false)
    }

    /// Deletes a file if its content meets `condition`, and returns whether it did. If not, nothing is changed.
    ///
    /// A store that retries on a conflict asks the condition again about the newer content; the last call counts.
    /// If the store's conditions are [atomic](StoreInfo::conditions_are_atomic), no writer can come between that call and the
    /// deletion: an acknowledged edit is never lost.
    ///
    /// By default it [reads](Store::read) the file and then [deletes](Store::delete) it, which is not atomic.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`IsADirectory`](StoreError::IsADirectory),
    /// [`TooLarge`](StoreError::TooLarge) if the store edits no file of this size.
    fn delete_if(
        &self,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        delete_by_reading(self, path, condition)
    }

    /// Moves a file as [`rename`](Store::rename) if its content meets `condition`, and returns whether it did. If not, nothing
    /// is changed, and nothing is said about `to`. The rest is as in [`delete_if`](Store::delete_if).
    ///
    /// By default it [reads](Store::read) the file and then [renames](Store::rename) it, which is not atomic.
    ///
    /// # Errors
    /// As [`rename`](Store::rename), in the same order, and [`Source`](StoreError::Source) with
    /// [`IsADirectory`](StoreError::IsADirectory) if `from` is a directory.
    fn rename_if(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        rename_by_reading(self, from, to, condition)
    }

    /// Makes a directory and its missing parents. If the directory exists, nothing is done.
    ///
    /// By default it writes a file into the directory and deletes it again. A process that is
    /// killed in between leaves that empty, hidden file until the directory is made again.
    ///
    /// # Errors
    /// [`AlreadyExists`](StoreError::AlreadyExists) if there is a file,
    /// [`NotADirectory`](StoreError::NotADirectory) if a parent is a file.
    fn make_directory(&self, path: &MemoryPath) -> Result<(), StoreError> {
        make_by_writing(self, path)
    }

    /// Makes a change. Every change of a `Memory` comes by this method, with its context.
    ///
    /// By default it calls the method that the change is named after, and the context ends here. A [`Layer`] overrides
    /// this one method to forbid or translate changes; a store with a better use for the context makes all of its changes
    /// here.
    ///
    /// Returns whether something was changed: `false` only if [`delete_unused`](Store::delete_unused) finds the file used,
    /// if the content does not meet the condition of [`delete_if`](Store::delete_if) or [`rename_if`](Store::rename_if), or if a
    /// layer ignores the change.
    ///
    /// # Errors
    /// As the method that the change is named after.
    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let _ = context;
        mutation.apply_to(self)
    }

    /// Reports problems that reading the files would not show, such as structures that contradict
    /// each other, and entries that are not part of the memory, such as links. Changes nothing.
    /// `check` calls this and then reads every file.
    ///
    /// By default it reports nothing.
    ///
    /// # Errors
    /// Only failures that prevent the inspection.
    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        let _ = report;
        Ok(())
    }

    /// A text that is another one after every change of the files, for a watch that looks often: while it stays the same,
    /// nothing was changed by any program. It may change although no file was. `None` if the store cannot tell at a
    /// small part of the cost of listing itself.
    ///
    /// By default it is `None`.
    ///
    /// # Errors
    /// Only failures of the store.
    fn revision(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// The notes that the store keeps in the transaction of a change, if it can. A history is kept so where it is.
    ///
    /// By default there are none. Not for a store that wraps another one.
    fn notes(&self) -> Option<&dyn notes::Notes> {
        None
    }

    /// How a store that encrypts has a history beneath it. By default it is `None`.
    fn sealing(&self) -> Option<&dyn Sealing> {
        None
    }

    /// The stores that this one mounts into one tree, if it does. A history is then kept of each of them, where it is.
    ///
    /// By default it mounts none. Not for a store that wraps another one.
    fn mounts(&self) -> Option<&dyn MountTable> {
        None
    }

    /// Whether the store can keep something under this path's names. A copy checks this before it
    /// begins.
    ///
    /// By default it can.
    fn can_keep(&self, path: &MemoryPath) -> bool {
        let _ = path;
        true
    }
}

/// The most bytes of a file that [`Store::open_nowait`] answers with. To show more takes too long for the thread of an
/// event loop.
pub const NOWAIT_BYTES: u64 = 64 * 1024;

/// The most entries of a directory that [`Store::open_nowait`] answers with.
pub const NOWAIT_ENTRIES: usize = 256;

/// The example of the README, which runs with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
