//! The store interface of [memdir](https://docs.rs/memdir): [`Store`], the trait of everything that can keep a memory, its
//! argument and result types, and the building blocks of stores and layers.
//!
//! A store keeps bytes under a [`MemoryPath`]. It knows nothing about commands and replies.
//! [`Store`] and its methods document the guarantees of every store; `contract` (feature `testing`) checks them.
//!
//! Users of memdir find all of this as `memdir::store`. Depend on this crate only to publish a store of your own. The examples
//! use memdir's names: `memdir::store::Entry` and `memdir::MemoryPath` are `memdir_store::Entry` and `memdir_store::MemoryPath`.
//!
//! The types at the root of this crate are as stable as memdir's own API. The modules are tools for memdir's own stores and may
//! change with every minor version.
#![deny(unsafe_code)]

use std::time::SystemTime;

pub mod access;
pub mod backoff;
pub mod batch;
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
pub mod group_commit;
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

pub use access::Times;
pub use batch::{BatchError, FileToDelete, FileToWrite};
pub use cancel::Cancellation;
pub use condition::Condition;
pub use context::{Context, Partner, SyncSource};
#[cfg(feature = "testing")]
pub use contract::check_contract;
pub use defaults::{
    HISTORY, MOVING, NEW_DIRECTORY, OWN_DIRECTORIES, SEARCH, SYNC, as_listed, clear_each,
    is_own_file, listed_file, listed_time, open_whole,
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

/// A store of files and directories under `/memories`.
///
/// # Contract
/// - **One tree.** Directories exist independently of their files, even when empty; the root always exists. A file's parents are
///   directories.
/// - **All or nothing.** Each method either succeeds completely and returns `Ok`, or leaves the
///   store as it was and returns `Err`: no new parents, no empty file, no half-written content. If an engine cannot delete or
///   move a directory in one step, the store's documentation describes the state after a crash in the middle.
/// - **Nothing acknowledged is lost.** When a writing method has returned `Ok`, every later read sees its effect, and no
///   concurrent update loses it. The store excludes concurrent writers itself, across threads and processes.
/// - **Readers see whole contents**: the state before or after a concurrent write, never a mix.
/// - **Each condition has its error.** If the state of the tree forbids an operation, the error is the matching case of
///   [`StoreError`]. [`StoreError::Failed`] means that the store itself is broken.
///
/// Methods may be called from many threads at once. A callback passed to a method must not call the store, unless
/// [`edits_apart`](StoreInfo::edits_apart) allows it.
///
/// # Example
/// A store with the six required methods. [`check_contract`] (feature `testing`) checks that a
/// store keeps the contract. To wrap another store, implement [`Layer`].
///
/// ```
#[doc = include_str!("../examples/map_store.rs")]
/// ```
pub trait Store: Send + Sync {
    /// Describes the store. The answer stays the same while the store is open. It is requested when a memory is
    /// opened, and rarely afterwards.
    ///
    /// By default it is [`StoreInfo::default`]. A store that wraps another one derives its answer from the wrapped store's:
    /// `StoreInfo { is_read_only: true, ..inner.info() }`.
    fn info(&self) -> StoreInfo {
        StoreInfo::default()
    }

    /// The whole content of a file.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound) if the file does not exist (also if a parent is a file),
    /// [`IsADirectory`](StoreError::IsADirectory).
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError>;

    /// The entries of a directory, one level deep, in any order, hidden ones included. Links,
    /// special files, and names that no [`MemoryPath`] can contain are left out.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`NotADirectory`](StoreError::NotADirectory) if it is a
    /// file.
    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError>;

    /// Opens `path`. For a file, returns a reader. For a directory, returns its entries `depth` levels deep, in any order,
    /// without hidden entries and everything below them.
    ///
    /// This is one method, so a remote store can answer it in one round trip, and a local store can
    /// stream. By default it calls [`read`](Store::read) and [`list`](Store::list).
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound).
    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        open_whole(self, path, depth)
    }

    /// As [`open`](Store::open), if the answer is available immediately: without waiting for a disk, a network, a lock or
    /// another thread, and with little work. Returns `None` if it is not, or if the store cannot tell. In that case call
    /// [`open`](Store::open).
    ///
    /// An event loop calls this on its own thread. So the store answers only for a file of at most [`NOWAIT_BYTES`] or a
    /// directory of at most [`NOWAIT_ENTRIES`], and returns an error only if it is certain.
    ///
    /// By default it is `None`. A store that wraps another one forwards the call if it adds no waiting of its own.
    fn open_nowait(&self, path: &MemoryPath, depth: usize) -> Option<Result<Node<'_>, StoreError>> {
        let _ = (path, depth);
        None
    }

    /// Calls `visit` with every file of the tree, hidden ones included, in any order, without
    /// reading contents.
    ///
    /// This is one method, so a store that knows all of its files can answer it in one round trip. By default it walks through
    /// the listings. A concurrent change may or may not be seen. Files below a directory that cannot be read are left out.
    ///
    /// # Errors
    /// Only failures of the store; `visit` may already have been called.
    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        walk_files(self, visit)
    }

    /// As [`read`](Store::read), for a call that can be cancelled while the store waits for a lock or a network. The next three
    /// methods do the same for the other reads. By default the context is ignored. A store that waits implements these methods,
    /// and its methods without a context call them with an empty one.
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

    /// As [`open`](Store::open), for a call that can be [cancelled](Store::read_in), also while the file is being read.
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

    /// Writes a whole file and creates missing parents.
    ///
    /// With [`OnExisting::Error`] creation is exclusive: if two calls create the same path at once,
    /// exactly one succeeds. With [`OnExisting::Overwrite`] an existing file is replaced
    /// atomically.
    ///
    /// # Errors
    /// [`AlreadyExists`](StoreError::AlreadyExists) if the path is a file (unless overwriting) or a directory (always),
    /// [`NotADirectory`](StoreError::NotADirectory) if a parent is a file.
    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError>;

    /// Writes a new file with a unique name, such as one with a random number, into a directory that holds only such files and
    /// is never deleted. No other writer uses that name, so a store may skip its locking of the path.
    ///
    /// By default it calls [`write`](Store::write).
    ///
    /// # Errors
    /// As [`write`](Store::write).
    fn write_unique(&self, path: &MemoryPath, content: &[u8]) -> Result<(), StoreError> {
        self.write(path, content, OnExisting::Error)
    }

    /// Changes a file: reads it, passes the content to `edit`, and writes the result. No other writer can change the file
    /// between the read and the write.
    ///
    /// A store that retries on a conflict calls `edit` again with the newer content; the last call counts. If `edit` returns
    /// `None`, nothing is written. A store may write several concurrent edits of a file together: the content then contains the
    /// edits before this one, and an error is the error of all.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`IsADirectory`](StoreError::IsADirectory).
    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError>;

    /// Deletes a file, or a directory with everything in it. Never called for the root.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound).
    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError>;

    /// Moves a file or directory and creates the destination's missing parents. It never overwrites. Never called for the root
    /// as `from`.
    ///
    /// # Errors
    /// In this order:
    ///
    /// - [`NotFound`](StoreError::NotFound) if `from` does not exist. Any other condition of `from` is wrapped in
    ///   [`Source`](StoreError::Source).
    /// - [`AlreadyExists`](StoreError::AlreadyExists) if `to` exists, including if both paths are equal.
    /// - [`IntoItself`](StoreError::IntoItself) if `to` is below the directory `from`.
    /// - [`NotADirectory`](StoreError::NotADirectory) if a parent of `to` is a file.
    /// - [`NameTooLong`](StoreError::NameTooLong) if a path below `from` would become too long or too deep for a [`MemoryPath`].
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

    /// The last recorded access of the file; `None` if no access was recorded.
    ///
    /// By default it lists the file's directory.
    ///
    /// # Errors
    /// As [`modified`](Store::modified).
    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        access::listed(self, path)
    }

    /// Records that the file was accessed at `time`, to the microsecond. This does not count as a change of the file: it delays
    /// no writer, and [`modified`](Store::modified) stays the same. The time moves with the file. An edit may keep or drop it,
    /// because the edit is newer.
    ///
    /// A store that does not [track](StoreInfo::tracks_access) access times does nothing. This is the default.
    ///
    /// # Errors
    /// As [`modified`](Store::modified).
    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let _ = time;
        self.modified(path).map(drop)
    }

    /// Returns the entries of `files` that were neither written nor accessed at `since` or later. `files` come from a listing of
    /// this store. A file with neither time known is not returned.
    ///
    /// By default it compares the times of the listing. Override it if the store has more exact times than its listings, or if a
    /// part of the store is read-only.
    ///
    /// # Errors
    /// Only failures of the store.
    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        Ok(access::unused(files, since))
    }

    /// Deletes the file if it was neither written nor accessed at `since` or later, and returns whether it did. The store checks
    /// the current times, not those of an earlier listing. No writer can change the file between the check and the deletion, so
    /// an acknowledged edit is never lost. Returns `false` also if the file no longer exists or is a directory.
    ///
    /// By default nothing is ever deleted.
    ///
    /// # Errors
    /// Conditions that forbid deleting the file, and failures of the store.
    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        let _ = (path, since);
        Ok(false)
    }

    /// Deletes a file if its content meets `condition`, and returns whether it did. Otherwise nothing changes.
    ///
    /// A store that retries on a conflict calls `condition` again with the newer content; the last call counts. If the store's
    /// conditions are [atomic](StoreInfo::conditions_are_atomic), no writer can change the file between that call and the
    /// deletion, so an acknowledged edit is never lost.
    ///
    /// By default it [reads](Store::read) the file and then [deletes](Store::delete) it, which is not atomic.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`IsADirectory`](StoreError::IsADirectory),
    /// [`TooLarge`](StoreError::TooLarge) if the store cannot edit files of this size.
    fn delete_if(
        &self,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        delete_by_reading(self, path, condition)
    }

    /// Moves a file as [`rename`](Store::rename) does if its content meets `condition`, and returns whether it did. Otherwise
    /// nothing changes, and no error about `to` is reported. The rest is as in [`delete_if`](Store::delete_if).
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

    /// Creates a directory and its missing parents. Does nothing if the directory exists.
    ///
    /// By default it writes a file into the directory and deletes it again. A process that is killed in between leaves that
    /// empty, hidden file. The next call for the same directory removes it.
    ///
    /// # Errors
    /// [`AlreadyExists`](StoreError::AlreadyExists) if the path is a file,
    /// [`NotADirectory`](StoreError::NotADirectory) if a parent is a file.
    fn make_directory(&self, path: &MemoryPath) -> Result<(), StoreError> {
        make_by_writing(self, path)
    }

    /// Deletes a directory if it has no entries (hidden ones count), and returns whether it did. No file that another writer
    /// creates at the same time is lost. Never called for the root.
    ///
    /// By default no directory is ever deleted, because the default cannot exclude other writers.
    ///
    /// # Errors
    /// [`NotFound`](StoreError::NotFound), [`NotADirectory`](StoreError::NotADirectory) if the path is a file.
    fn remove_directory(&self, path: &MemoryPath) -> Result<bool, StoreError> {
        let _ = path;
        Ok(false)
    }

    /// Makes a change. Every change of a `Memory` goes through this method, with its context.
    ///
    /// By default it calls the method that the change is named after and drops the context. A [`Layer`] overrides this one
    /// method to forbid or translate changes. A store that uses the context makes all of its changes here.
    ///
    /// Returns whether something changed. It is `false` only if [`delete_unused`](Store::delete_unused) finds that the file was
    /// used, if the content does not meet the condition of [`delete_if`](Store::delete_if) or [`rename_if`](Store::rename_if),
    /// if [`remove_directory`](Store::remove_directory) finds an entry, or if a layer ignores the change.
    ///
    /// # Errors
    /// As the method that the change is named after.
    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let _ = context;
        mutation.apply_to(self)
    }

    /// Writes whole files with their times, and creates missing parents. It is for a copy of many small files, for which a
    /// transaction or a flush for each file takes most of the time. The caller limits the bytes of one batch.
    ///
    /// A store may make the files visible in any order, and may flush them together. When the method returns `Ok`, all of them
    /// are as durable as after [`write`](Store::write). It ends at the first file that cannot be written.
    ///
    /// Without files it changes no file. A store may then remove what a killed process has left.
    ///
    /// By default it writes the files one after another with [`mutate`](Store::mutate). A store with [`notes`](Store::notes) keeps the
    /// [note](FileToWrite::note) of each file that it writes.
    ///
    /// # Errors
    /// [`BatchError`], with the error of the file as in [`write`](Store::write) and
    /// [`set_modified`](Store::set_modified). The files before it stay. After a failure of the store, or a crash, any of the files
    /// may be written, each of them whole.
    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        let tracks_access = || self.info().tracks_access;
        batch::write_each(context, files, tracks_access, &mut |change| self.mutate(context, change))
    }

    /// Deletes each of the files that was neither written nor accessed at `since` or later, as [`delete_unused`](Store::delete_unused)
    /// does. Calls `visit` with whether the file was deleted, in the order of the files. A file that cannot be deleted, for example in a part
    /// that is read-only, is not deleted. The caller limits the number of the files and their sizes, because a layer may read them.
    ///
    /// By default it deletes one after another with [`mutate`](Store::mutate). A store with [`notes`](Store::notes) keeps the
    /// [note](FileToDelete::note) of each file that it deletes.
    ///
    /// # Errors
    /// A condition that forbids deleting one of the files that were not visited, and failures of the store. If the change [may have been
    /// made](StoreError::may_have_changed), any file that was not visited may be deleted. Otherwise none of them is.
    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        let mut mutate = |change: Mutation<'_>| self.mutate(context, change);
        batch::delete_each_unused(context, files, since, &mut mutate, visit)
    }

    /// Reads files, and calls `visit` with the content of each, in the order of the paths. It ends at the first file that cannot be
    /// read. A copy reads its files back with this. The caller limits the number of the files and their sizes.
    ///
    /// By default it reads one after another with [`read_in`](Store::read_in).
    ///
    /// # Errors
    /// As [`read`](Store::read), for the first file that was not visited.
    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        paths.iter().try_for_each(|path| self.read_in(context, path).map(&mut *visit))
    }

    /// Returns the times of files, in the order of the paths. A copy reads the times of many files with this. The caller limits the
    /// number of the files.
    ///
    /// By default it asks for those of one file after another.
    ///
    /// # Errors
    /// As [`modified`](Store::modified), for the first file that has an error.
    fn read_times(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        let (modified, accessed) = (|path: &_| self.modified(path), |path: &_| self.accessed(path));
        batch::times_of_each(context, paths, self.info().tracks_access, modified, accessed)
    }

    /// Reports problems that reading the files would not show: structures that contradict each other, and entries that are not
    /// part of the memory, such as links. Changes nothing. `check` calls this and then reads every file.
    ///
    /// By default it reports nothing.
    ///
    /// # Errors
    /// Only failures that prevent the inspection.
    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        let _ = report;
        Ok(())
    }

    /// A text that differs after every change of the files. A watch polls it: while it stays the same, no program has changed a
    /// file. It may differ although no file changed. `None` if the store cannot compute it for a small part of the cost of a
    /// listing.
    ///
    /// By default it is `None`.
    ///
    /// # Errors
    /// Only failures of the store.
    fn revision(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// The notes that the store keeps in the transaction of a change; `None` if it has no transactions for them. A store with
    /// notes keeps its history in them.
    ///
    /// By default it is `None`. Do not implement it in a store that wraps another one.
    fn notes(&self) -> Option<&dyn notes::Notes> {
        None
    }

    /// Access to the underlying store of one that encrypts, for the history. By default it is `None`.
    fn sealing(&self) -> Option<&dyn Sealing> {
        None
    }

    /// The table of the stores that are mounted in this one; `None` if it mounts none. Each mounted store keeps its own history.
    ///
    /// By default it is `None`. Do not implement it in a store that wraps another one.
    fn mounts(&self) -> Option<&dyn MountTable> {
        None
    }

    /// Whether the store can represent all names of this path. A copy checks this before it begins.
    ///
    /// By default it can.
    fn can_keep(&self, path: &MemoryPath) -> bool {
        let _ = path;
        true
    }
}

/// The size limit of a file for [`Store::open_nowait`], in bytes. To show a larger file takes too long for the thread of an
/// event loop.
pub const NOWAIT_BYTES: u64 = 64 * 1024;

/// The limit of entries in a directory for [`Store::open_nowait`].
pub const NOWAIT_ENTRIES: usize = 256;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
