//! Expiry: files that nobody used for a while go.
//!
//! Used is what was changed, or shown by a view of that very file, through a memory that records it:
//! the store notes the time, and not the file system, whose own time of access is set by searches and
//! backups, too. A file of which the store knows no time stays. So do directories, also those that
//! become empty: somebody may just be about to write into them.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use super::limits::Limits;
use super::pattern::PathPattern;
use super::stale_guard::ViewLog;
use super::write_patterns::WritePatterns;
use crate::error::{ConfigError, Error};
use crate::path::MemoryPath;
use crate::store::{Entry, EntryKind, Store, StoreError};

mod run_once;

use run_once::RunOnce;

/// How many files are looked at between two calls of the callback.
const AT_A_TIME: usize = 1_000;

/// A file that was removed because it was not used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expired {
    /// Where it was.
    pub path: MemoryPath,
    /// How many bytes it held.
    pub bytes: u64,
    /// When it was last changed or shown.
    pub last_used: SystemTime,
}

/// How far an expiry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The files that were looked at.
    pub files: u64,
    /// Those of them that were removed, or would be.
    pub removed: u64,
}

/// Is told how far an expiry is, and says whether it goes on.
pub type Watch<'w> = dyn FnMut(Progress) -> ControlFlow<()> + 'w;

/// What one memory's options say about expiry.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) expire_after: Option<Duration>,
    pub(crate) record_access: bool,
    pub(crate) read_only: bool,
    pub(crate) never_expire: Vec<PathPattern>,
}

/// What else of a memory has to do with files that go.
#[derive(Clone, Copy)]
pub(crate) struct Others<'p> {
    /// What no command may delete stays.
    pub(crate) patterns: &'p WritePatterns,
    pub(crate) limits: &'p Limits,
    pub(crate) views: &'p ViewLog,
}

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

    /// Whether uses of files are noted.
    fn records_access(&self) -> bool {
        let Settings { expire_after, record_access, read_only, .. } = self.settings;
        !read_only && (record_access || expire_after.is_some())
    }

    /// Whether what the options say about expiry can be done on the store.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub(crate) fn check(&self, store: &dyn Store) -> Result<(), Error> {
        let name = match (self.settings.expire_after, self.settings.record_access) {
            (Some(Duration::ZERO), _) => {
                return Err(ConfigError::of_option("expire_after")
                    .and(" must be more than 0, or nothing would outlive the opening")
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
                .and(", as nothing is changed then, and not even an access recorded")
                .into());
        }
        keeping(store, name)
    }

    /// Does `work` before the first command, with what `expire_after` says, if it says something.
    pub(crate) fn before_first(&self, work: impl FnOnce(Duration)) {
        if let Some(older_than) = self.settings.expire_after {
            self.first.before(|| work(older_than));
        }
    }

    /// Removes what was not used for so long.
    pub(crate) fn expire(
        &self,
        store: &dyn Store,
        others: Others<'_>,
        older_than: Duration,
        dry_run: bool,
        progress: &mut Watch<'_>,
    ) -> Result<Vec<Expired>, Error> {
        if self.settings.read_only || store.is_read_only() {
            return Err(ConfigError::from("expire removes files, and this memory is read-only: ")
                .and("open it without ")
                .and_name("read_only")
                .about("read_only")
                .into());
        }
        if !self.records_access() {
            return Err(ConfigError::from("expire has to know which files were viewed, and ")
                .and("this memory does not record that: open it with ")
                .and_name("record_access")
                .and(" or ")
                .and_name("expire_after")
                .about("record_access")
                .into());
        }
        keeping(store, "expire")?;
        // Longer than any clock can tell no file was unused.
        let Some(since) = SystemTime::now().checked_sub(older_than) else { return Ok(Vec::new()) };
        self.remove(store, others, since, dry_run, progress).map_err(Error::Store)
    }

    fn remove(
        &self,
        store: &dyn Store,
        others: Others<'_>,
        since: SystemTime,
        dry_run: bool,
        progress: &mut Watch<'_>,
    ) -> Result<Vec<Expired>, StoreError> {
        let mut files = Vec::new();
        store.files(&mut |file| files.push(file))?;
        let mut expired = Vec::new();
        let mut done = 0;
        // Once at least, so that whoever watches always hears of the end.
        loop {
            let rest = files.len().min(AT_A_TIME);
            let mut some: Vec<Entry> = files.drain(files.len() - rest..).collect();
            done += rest as u64;
            some.retain(|file| self.may_go(others, &file.path));
            for file in store.unused(some, since)? {
                if dry_run || delete(store, others, &file.path, since)? {
                    expired.extend(shown(file));
                }
            }
            let at = Progress { files: done, removed: expired.len() as u64 };
            if progress(at).is_break() || files.is_empty() {
                expired.sort_by(|a: &Expired, b| a.path.cmp(&b.path));
                return Ok(expired);
            }
        }
    }

    /// Whether a file at this path ever expires: not what is pinned, nor what no command may delete.
    fn may_go(&self, others: Others<'_>, path: &MemoryPath) -> bool {
        !self.settings.never_expire.iter().any(|pin| pin.matches(path))
            && others.patterns.allow(path)
    }

    /// Notes that a file was shown or moved, if the options ask for it.
    ///
    /// # Errors
    /// Only what broke: a store that is full or does not allow it can still be viewed.
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

/// That the store keeps times of access.
fn keeping(store: &dyn Store, name: &str) -> Result<(), Error> {
    if store.tracks_access() {
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

/// Whether the file was deleted. What the store does not allow to be deleted stays.
fn delete(
    store: &dyn Store,
    others: Others<'_>,
    path: &MemoryPath,
    since: SystemTime,
) -> Result<bool, StoreError> {
    let moving = others.limits.moving();
    let done = store.delete_unused(path, since);
    others.limits.shrunk();
    drop(moving);
    match done {
        Ok(true) => {
            others.views.forget(path);
            Ok(true)
        }
        Err(broken) if broken.is_failure() => Err(broken),
        Err(_) => Ok(false),
        done => done,
    }
}

fn shown(file: Entry) -> Option<Expired> {
    let (last_used, EntryKind::File(bytes)) = (file.last_used()?, file.kind) else { return None };
    Some(Expired { path: file.path, bytes, last_used })
}
