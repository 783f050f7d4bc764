//! Expiry: files that nobody used for a while go.
//!
//! Used is what was changed, or shown by a view of that very file, through a memory that records it:
//! the store notes the time, and not the file system, whose own time of access is set by searches and
//! backups, too. A file of which the store knows no time stays. So do directories, also those that
//! become empty: somebody may just be about to write into them.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;
use crate::policy::{Policies, limits, write_patterns};
use crate::store::{Entry, EntryKind, Store, StoreError};
use crate::trace;

mod first;

pub(crate) use first::First;

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

/// Whether what the options say about expiry can be done on the store.
///
/// # Errors
/// [`Error::Config`].
pub(crate) fn judge(store: &dyn Store, options: &Options) -> Result<(), Error> {
    let wrong = |sentence: &str| Err(Error::Config(sentence.to_owned()));
    let name = match (options.expire_after, options.record_access) {
        (Some(Duration::ZERO), _) => {
            return wrong("expire_after must be more than 0, or nothing would outlive the opening");
        }
        (Some(_), _) => "expire_after",
        (None, true) => "record_access",
        (None, false) => return Ok(()),
    };
    if options.read_only {
        return Err(Error::Config(format!(
            "{name} cannot be set together with read_only, as nothing is changed then, and not even \
             an access recorded"
        )));
    }
    keeping(store, name)
}

/// That the store keeps times of access.
fn keeping(store: &dyn Store, name: &str) -> Result<(), Error> {
    if store.keeps_access() {
        return Ok(());
    }
    Err(Error::Config(format!(
        "{name} needs a store that keeps when files were last accessed: a directory on a file system \
         with extended attributes, a database, object storage, or a store of your own that implements \
         keeps_access, set_accessed and delete_unused"
    )))
}

/// Removes what was not used for so long.
pub(crate) fn expire(
    store: &dyn Store,
    policies: &Policies,
    older_than: Duration,
    dry_run: bool,
    progress: &mut Watch<'_>,
) -> Result<Vec<Expired>, Error> {
    let options = &policies.options;
    if options.read_only || store.is_read_only() {
        return Err(Error::Config(
            "expire removes files, and this memory is read-only: open it without read_only"
                .to_owned(),
        ));
    }
    if !options.records_access() {
        return Err(Error::Config(
            "expire has to know which files were viewed, and this memory does not record that: open \
             it with record_access or expire_after"
                .to_owned(),
        ));
    }
    keeping(store, "expire")?;
    // Longer than any clock can tell no file was unused.
    let Some(since) = SystemTime::now().checked_sub(older_than) else { return Ok(Vec::new()) };
    let expired = remove(store, policies, since, dry_run, progress).map_err(Error::Store);
    if !dry_run {
        trace::expiry(options, &expired);
    }
    expired
}

fn remove(
    store: &dyn Store,
    policies: &Policies,
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
        some.retain(|file| may_go(&policies.options, &file.path));
        for file in store.unused(some, since)? {
            if dry_run || delete(store, policies, &file.path, since)? {
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
fn may_go(options: &Options, path: &MemoryPath) -> bool {
    !options.pins.iter().any(|pin| pin.fits(path)) && write_patterns::allows(options, path)
}

/// Whether the file was deleted. What the store does not allow to be deleted stays.
fn delete(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    since: SystemTime,
) -> Result<bool, StoreError> {
    let moving = limits::moving(policies);
    let done = store.delete_unused(path, since);
    limits::shrunk(policies);
    drop(moving);
    match done {
        Ok(true) => {
            policies.seen.forget(path);
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

/// Notes that a file was shown or moved, if the options ask for it.
///
/// # Errors
/// Only what broke: a store that is full or does not allow it can still be viewed.
pub(crate) fn record(store: &dyn Store, options: &Options, path: &MemoryPath) -> Result<(), Error> {
    if !options.records_access() {
        return Ok(());
    }
    match store.set_accessed(path, SystemTime::now()) {
        Err(broken) if broken.is_failure() => Err(Error::Store(broken)),
        _ => Ok(()),
    }
}
