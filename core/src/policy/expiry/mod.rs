//! Expiry: removes files that have not been used for a given time.
//!
//! A use is a change of the file, or a view or rename through a memory that records accesses. The store keeps
//! the time of access itself. The file system's own time of access is useless here, because searches and
//! backups set it, too. A file without any known time stays. Directories stay, even empty ones: a writer may be
//! about to create a file in them.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use memdir_store::batch::{in_batches, unless_refused};
use memdir_store::path::MemoryPath;
use memdir_store::{ConfigError, Error, FileToDelete, is_own_file};
use serde::Serialize;

use super::pattern::PathPattern;
use super::write_patterns::WritePatterns;
use crate::store::{Cancellation, Entry, EntryKind, Store, StoreError};

#[cfg(feature = "search")]
mod of_search;
mod run_once;

use run_once::RunOnce;

/// The number of files that are scanned between two calls of the callback.
const AT_A_TIME: usize = 1_000;

/// A file that was removed because it was not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Expired {
    /// Its path.
    pub path: MemoryPath,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its last use: the later of its last change and its last recorded access.
    #[serde(serialize_with = "memdir_store::time::serialize")]
    #[cfg_attr(feature = "schema", schemars(with = "memdir_store::schema::Time"))]
    pub last_used: SystemTime,
}

/// The progress of an expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "ExpiryProgress")]
#[non_exhaustive]
pub struct Progress {
    /// The number of files that were scanned.
    pub files: u64,
    /// The number of scanned files that were removed, or would be.
    pub removed: u64,
}

/// The callback of an expiry: gets the progress, and returns whether the expiry continues.
pub type OnProgress<'w> = dyn FnMut(Progress) -> ControlFlow<()> + 'w;

/// The options of one memory about expiry.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) expire_after: Option<Duration>,
    pub(crate) record_access: bool,
    pub(crate) read_only: bool,
    pub(crate) never_expire: Vec<PathPattern>,
}

/// Deletes the files that were not used at that time or later, as [`Store::delete_unused_batch`] does.
pub(crate) type Delete<'d> =
    dyn FnMut(&[FileToDelete<'_>], SystemTime, &mut dyn FnMut(bool)) -> Result<(), StoreError> + 'd;

/// The expiry of one memory.
#[derive(Debug, Default)]
pub(crate) struct Expiry {
    settings: Settings,
    first: RunOnce,
}

impl Expiry {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, first: RunOnce::default() }
    }

    /// Returns whether uses of files are recorded.
    pub(crate) fn records_access(&self) -> bool {
        let Settings { expire_after, record_access, read_only, .. } = self.settings;
        !read_only && (record_access || expire_after.is_some())
    }

    /// Checks that the store supports the options about expiry.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub(crate) fn check(&self, store: &dyn Store) -> Result<(), Error> {
        let name = match (self.settings.expire_after, self.settings.record_access) {
            (Some(Duration::ZERO), _) => {
                return Err(ConfigError::of_option("expire_after")
                    .and(" must be more than 0: otherwise every file would expire at once")
                    .into());
            }
            (Some(_), _) => "expire_after",
            (None, true) => "record_access",
            (None, false) => return Ok(()),
        };
        if self.settings.read_only {
            return Err(ConfigError::of_option(name)
                .and(" cannot be set together with ")
                .and_name("read_only")
                .and(", because a read-only memory does not record accesses")
                .into());
        }
        keeping(store, name)
    }

    /// Calls `work` before the first command, with the duration of `expire_after`, if it is set.
    pub(crate) fn before_first(&self, cancellation: &Cancellation, work: impl FnOnce(Duration)) {
        if let Some(older_than) = self.settings.expire_after {
            self.first.before(cancellation, || work(older_than));
        }
    }

    /// Removes the files that were not used for `older_than`, if there is a `delete`. Files that match
    /// `patterns` stay, because no command may delete them.
    pub(crate) fn expire(
        &self,
        store: &dyn Store,
        patterns: &WritePatterns,
        older_than: Duration,
        delete: Option<&mut Delete<'_>>,
        progress: &mut OnProgress<'_>,
    ) -> Result<Vec<Expired>, Error> {
        if self.settings.read_only || store.info().is_read_only {
            return Err(ConfigError::from("expire removes files, and this memory is read-only: ")
                .and("open it without ")
                .and_name("read_only")
                .about("read_only")
                .into());
        }
        if !self.records_access() {
            return Err(ConfigError::from("expire needs to know which files were viewed, and ")
                .and("this memory does not record that: open it with ")
                .and_name("record_access")
                .and(" or ")
                .and_name("expire_after")
                .about("record_access")
                .into());
        }
        keeping(store, "expire")?;
        // The duration is longer than the clock's range, so every file is newer.
        let Some(since) = SystemTime::now().checked_sub(older_than) else { return Ok(Vec::new()) };
        self.remove(store, patterns, since, delete, progress).map_err(Error::Store)
    }

    fn remove(
        &self,
        store: &dyn Store,
        patterns: &WritePatterns,
        since: SystemTime,
        mut delete: Option<&mut Delete<'_>>,
        progress: &mut OnProgress<'_>,
    ) -> Result<Vec<Expired>, StoreError> {
        let mut files = Vec::new();
        store.files(&mut |file| {
            if !is_own_file(&file.path) {
                files.push(file);
            }
        })?;
        let mut expired = Vec::new();
        let mut done = 0;
        // Run at least once, so the callback is always called at the end.
        loop {
            let rest = files.len().min(AT_A_TIME);
            let mut some: Vec<Entry> = files.drain(files.len() - rest..).collect();
            done += rest as u64;
            some.retain(|file| self.may_go(patterns, &file.path));
            let mut unused = store.unused(some, since)?;
            if let Some(delete) = &mut delete {
                unused = deleted(unused, since, *delete)?;
            }
            expired.extend(unused.into_iter().filter_map(shown));
            let at = Progress { files: done, removed: expired.len() as u64 };
            if progress(at).is_break() || files.is_empty() {
                expired.sort_by(|a, b| a.path.cmp(&b.path));
                return Ok(expired);
            }
        }
    }

    /// Returns whether a file at this path matches a pattern of `never_expire`.
    pub(crate) fn never_expires(&self, path: &MemoryPath) -> bool {
        self.settings.never_expire.iter().any(|pin| pin.matches(path))
    }

    /// Returns whether a file at this path may expire: it matches no pattern of `never_expire`, and commands
    /// may delete it.
    fn may_go(&self, patterns: &WritePatterns, path: &MemoryPath) -> bool {
        !self.never_expires(path) && patterns.allow(path)
    }

    /// Records that a file was shown or moved, if an option requires it.
    ///
    /// # Errors
    /// Only failures of the store. If the store is full or read-only, nothing is recorded.
    pub(crate) fn record(&self, store: &dyn Store, path: &MemoryPath) -> Result<(), Error> {
        if !self.records_access() {
            return Ok(());
        }
        match store.record_access(path, SystemTime::now()) {
            Err(broken) if broken.is_failure() => Err(Error::Store(broken)),
            _ => Ok(()),
        }
    }
}

/// Checks that the store keeps times of access.
fn keeping(store: &dyn Store, name: &str) -> Result<(), Error> {
    if store.info().tracks_access {
        return Ok(());
    }
    Err(ConfigError::of_option(name)
        .and(" needs a store that keeps when files were last accessed: a directory on a file system ")
        .and("with extended attributes, a database, object storage, or a store of your own that ")
        .and("implements ")
        .and_name("tracks_access")
        .and(", ")
        .and_name("record_access")
        .and(" and ")
        .and_name("delete_unused")
        .into())
}

/// Deletes unused files, and returns those that were deleted. A file that the store refuses to delete stays.
fn deleted(
    unused: Vec<Entry>,
    since: SystemTime,
    delete: &mut Delete<'_>,
) -> Result<Vec<Entry>, StoreError> {
    let mut deleted = Vec::with_capacity(unused.len());
    for some in in_batches(&unused, size) {
        let files: Vec<_> =
            some.iter().map(|file| FileToDelete { path: &file.path, note: None }).collect();
        let before = deleted.len();
        let refused = match delete(&files, since, &mut |is_deleted| deleted.push(is_deleted)) {
            Ok(()) => continue,
            Err(error) if error.is_failure() => return Err(error),
            Err(_) => files.get(deleted.len() - before..).unwrap_or_default(),
        };
        // One of these cannot be deleted, so each is tried alone.
        for file in refused {
            let mut gone = false;
            let alone = std::slice::from_ref(file);
            let done = delete(alone, since, &mut |is_deleted| gone = is_deleted).map(|()| gone);
            deleted.push(unless_refused(done)?);
        }
    }
    Ok(unused.into_iter().zip(deleted).filter_map(|(file, gone)| gone.then_some(file)).collect())
}

fn size(file: &Entry) -> u64 {
    match file.kind {
        EntryKind::File(bytes) => bytes,
        EntryKind::Directory => 0,
    }
}

fn shown(file: Entry) -> Option<Expired> {
    let (last_used, EntryKind::File(bytes)) = (file.last_used()?, file.kind) else { return None };
    Some(Expired { path: file.path, bytes, last_used })
}
