//! Binds an approval to the state that was shown. [`Pin`] is that state, and [`Pinned`] is a layer that makes
//! the change only if the store is still in it.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};

use memdir_store::path::MemoryPath;
use memdir_store::walk::{Scope, walk};
use memdir_store::{Operation, listed_file};

use crate::store::{
    Context, Edit, Entry, InContext, Layer, Mutation, OnExisting, Splice, Store, StoreError,
    sort_by_path,
};

/// The state in which a command may change a path.
#[derive(Debug, Clone)]
pub(crate) enum Pin {
    /// Nothing may be changed.
    Nothing,
    /// There is no entry at the path.
    Absent,
    /// A file with this content.
    Content(ContentPin),
    /// A directory, or a file that is too large to be shown.
    Entries(EntriesPin),
}

/// A fingerprint of a content. Its keys are random and secret, so a second content with the same fingerprint
/// cannot be constructed.
#[derive(Debug, Clone)]
pub(crate) struct ContentPin {
    keys: RandomState,
    len: usize,
    hash: u64,
}

impl ContentPin {
    pub(crate) fn of(content: &[u8]) -> Self {
        let keys = RandomState::new();
        let hash = keys.hash_one(content);
        Self { keys, len: content.len(), hash }
    }

    fn holds(&self, content: &[u8]) -> bool {
        content.len() == self.len && self.keys.hash_one(content) == self.hash
    }
}

/// Everything at and below a path, as its store lists it.
#[derive(Debug, Clone)]
pub(crate) struct EntriesPin {
    entries: Vec<PinnedEntry>,
    /// True if views are recorded. In some stores, a recorded view changes a file's fingerprint.
    records_access: bool,
}

#[derive(Debug, Clone)]
struct PinnedEntry {
    entry: Entry,
    /// For a file for which the store lists only the size.
    content: Option<ContentPin>,
}

impl EntriesPin {
    pub(crate) fn of(
        store: &dyn Store,
        path: &MemoryPath,
        records_access: bool,
    ) -> Result<Self, StoreError> {
        let pinned = |entry: Entry| {
            let is_known = entry.fingerprint.is_some() || entry.modified.is_some();
            let content = if entry.is_file() && !is_known {
                Some(ContentPin::of(&store.read(&entry.path)?))
            } else {
                None
            };
            Ok(PinnedEntry { entry, content })
        };
        let entries = entries(store, path)?.into_iter().map(pinned).collect::<Result<_, _>>()?;
        Ok(Self { entries, records_access })
    }

    /// Returns the listed entries: for a file the file itself, for a directory everything below it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().map(|pinned| &pinned.entry)
    }

    fn holds(&self, store: &dyn Store, path: &MemoryPath) -> Result<bool, StoreError> {
        let now = match entries(store, path) {
            Err(StoreError::NotFound) => return Ok(false),
            now => now?,
        };
        if now.len() != self.entries.len() {
            return Ok(false);
        }
        for (was, is) in self.entries.iter().zip(&now) {
            if !self.is_same(was, is) {
                return Ok(false);
            }
            if let Some(content) = &was.content
                && !content.holds(&store.read(&is.path)?)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_same(&self, was: &PinnedEntry, is: &Entry) -> bool {
        let PinnedEntry { entry: was, content } = was;
        if was.path != is.path || was.kind != is.kind {
            return false;
        }
        if !is.is_file() || content.is_some() {
            return true;
        }
        match (&was.fingerprint, &is.fingerprint) {
            (Some(was), Some(is)) if was == is => true,
            (Some(_), Some(_)) if !self.records_access => false,
            _ => was.modified.is_some() && was.modified == is.modified,
        }
    }
}

/// Returns the file at `path`, or everything below the directory, in order.
fn entries(store: &dyn Store, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
    let mut found = Vec::new();
    match walk(store, path, Scope::EVERYTHING, &mut |entry| found.push(entry)) {
        Err(StoreError::NotADirectory) => return Ok(vec![listed_file(store, path)?]),
        walked => walked?,
    }
    sort_by_path(&mut found);
    Ok(found)
}

/// A store in which a command can only change the state that was approved.
///
/// A file is compared within the store's own change, so no other writer can interfere. A directory, or a file
/// that is too large to be shown, is compared just before. If the state differs, nothing is changed, and the
/// command gets [`StoreError::Cancelled`], which leaves no traces in the policies.
pub(crate) struct Pinned<'s> {
    store: &'s dyn Store,
    pin: &'s Pin,
    is_broken: AtomicBool,
}

impl<'s> Pinned<'s> {
    pub(crate) fn new(store: &'s dyn Store, pin: &'s Pin) -> Self {
        Self { store, pin, is_broken: AtomicBool::new(false) }
    }

    /// Returns whether the last change was not made because the state differs.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    fn broken(&self) -> Result<bool, StoreError> {
        self.is_broken.store(true, Ordering::SeqCst);
        Err(StoreError::Cancelled)
    }

    fn update(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
        pin: &ContentPin,
    ) -> Result<bool, StoreError> {
        let mut holds = true;
        // A store that retries calls this several times. The last call counts.
        let mut guarded = |content: &[u8]| {
            holds = pin.holds(content);
            if holds { edit(content) } else { None }
        };
        let update = Mutation::Update { path, edit: &mut guarded };
        match self.store.mutate(context, update) {
            Ok(_) if !holds => self.broken(),
            Err(error) if is_of_another_state(&error) => self.broken(),
            updated => updated,
        }
    }

    /// Replaces the whole content of a file.
    fn overwrite(
        &self,
        context: &Context,
        path: &MemoryPath,
        content: &[u8],
        pin: &ContentPin,
    ) -> Result<bool, StoreError> {
        let named = context.named(Operation::Overwritten);
        let mut whole = |old: &[u8]| Some(Splice { range: 0..old.len(), text: content.to_vec() });
        match self.update(&named, path, &mut whole, pin) {
            // This store edits only smaller files, but replaces larger ones.
            Err(StoreError::TooLarge { .. }) => {
                let now = self.store.read_in(context, path).map_err(StoreError::unchanged)?;
                if !pin.holds(&now) {
                    return self.broken();
                }
                let existing = OnExisting::Overwrite;
                self.store.mutate(context, Mutation::Write { path, content, existing })
            }
            replaced => replaced,
        }
    }

    fn delete(
        &self,
        context: &Context,
        path: &MemoryPath,
        pin: &ContentPin,
    ) -> Result<bool, StoreError> {
        let mut condition = |content: &[u8]| pin.holds(content);
        let delete = Mutation::DeleteIf { path, condition: &mut condition };
        match self.store.mutate(context, delete) {
            Ok(false) => self.broken(),
            Err(error) if is_of_another_state(&error) => self.broken(),
            deleted => deleted,
        }
    }

    fn change_entries(
        &self,
        context: &Context,
        path: &MemoryPath,
        change: Mutation<'_>,
        pin: &EntriesPin,
    ) -> Result<bool, StoreError> {
        let holds = pin.holds(&InContext::new(self.store, context), path);
        if !holds.map_err(StoreError::unchanged)? {
            return self.broken();
        }
        match self.store.mutate(context, change) {
            Err(error) if is_of_another_state(&error) => self.broken(),
            changed => changed,
        }
    }
}

/// Returns whether the error means that the path has another kind of entry than the one that was shown.
fn is_of_another_state(error: &StoreError) -> bool {
    use StoreError::{AlreadyExists, IsADirectory, NotADirectory, NotFound};
    matches!(error, NotFound | AlreadyExists | IsADirectory | NotADirectory)
}

impl Layer for Pinned<'_> {
    fn inner(&self) -> &dyn Store {
        self.store
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        use OnExisting::Overwrite;
        match (self.pin, mutation) {
            (Pin::Absent, Mutation::Write { path, content, .. }) => {
                let write = Mutation::Write { path, content, existing: OnExisting::Error };
                match self.store.mutate(context, write) {
                    Err(StoreError::AlreadyExists | StoreError::IsADirectory) => self.broken(),
                    written => written,
                }
            }
            (Pin::Content(pin), Mutation::Write { path, content, existing: Overwrite }) => {
                self.overwrite(context, path, content, pin)
            }
            (Pin::Content(pin), Mutation::Update { path, edit }) => {
                self.update(context, path, edit, pin)
            }
            (Pin::Content(pin), Mutation::Delete { path }) => self.delete(context, path, pin),
            (
                Pin::Entries(pin),
                change @ (Mutation::Delete { path }
                | Mutation::Write { path, existing: Overwrite, .. }),
            ) => self.change_entries(context, path, change, pin),
            // No other change was shown.
            _ => self.broken(),
        }
    }
}
