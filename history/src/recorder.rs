//! [`Recorder`]: a layer over any store that records every change in a [`Journal`] before it is made.
//!
//! - An edit is recorded as what it removed and what it inserted. If the journal does not know the content before, because
//!   another program wrote it or no history was kept yet, that is kept as a whole.
//! - A new file is kept as a whole, and so is a deleted one that the journal does not know.
//! - If the change is refused, its record is withdrawn. What a kill leaves is recognized later ([`settle`](super::settle)).
//!
//! Reads go to the store beneath. If the journal is kept in the store itself, its directory is hidden: for readers it is
//! not there, and writers are refused.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use memdir_store::HistoryId;
use memdir_store::Operation;
use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{
    Context, Durability, Entry, Mutation, Node, OnExisting, ReadOnly, Splice, Store, StoreError,
};

use super::index::Index;
use super::journal::{Appended, Journal, Pen};
use super::kept_files::{self, KeptFiles};
use super::log_file::LogFile;
use super::moved_journal::MovedJournal;
use super::noted::Noted;
use super::record::{ContentId, Header, Record, Row};
use super::record_form::RecordForm;
use super::retention::Retention;
use super::snapshot::{Extent, Snapshot};

/// A store with a history: it records every change before it is made.
///
/// Make changes through the store of [`into_store`](Self::into_store), with a context that says who makes them. What is asked of
/// the history, and what brings a state back, are methods of the recorder.
///
/// ```
/// use std::sync::Arc;
/// use memdir_history::{HistoryQuery, Recorder, Retention, UndoOptions};
/// use memdir_store::{Context, Durability, InProcess, MemoryPath, Mutation, OnExisting};
///
/// let recorder = Arc::new(Recorder::new(Arc::new(InProcess::new()), Durability::Full, Retention::default()));
/// let store = Arc::clone(&recorder).into_store();
/// let path = MemoryPath::parse("/memories/tea.md")?;
/// let (content, existing) = (&b"green\n"[..], OnExisting::Error);
/// store.mutate(&Context::of(Some("Ann".into())), Mutation::Write { path: &path, content, existing })?;
///
/// let context = Context::new();
/// let versions = recorder.versions(&context, &HistoryQuery::default())?;
/// assert_eq!(versions[0].actor.as_deref(), Some("Ann"));
/// recorder.undo(&context, versions[0].change, UndoOptions::default())?;
/// assert!(store.read(&path).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder {
    pub(super) store: Arc<dyn Store>,
    pub(super) journal: Box<dyn Journal>,
    /// The histories that this one is made of, if it is that of a tree of mounts.
    pub(super) parts: Arc<[Part]>,
    /// Whether the journal is kept in the store itself.
    is_inside: bool,
    /// What is known of the journal.
    index: Mutex<Index>,
    /// What was last computed of all this, and how far the journal was loaded then.
    snapshot: Mutex<Option<(Extent, Arc<Snapshot>)>>,
    pub(super) retention: Retention,
    /// How many changes this process recorded.
    changes: AtomicU64,
}

/// A store of a tree of mounts, with its history.
pub(super) struct Part {
    pub(super) at: MemoryPath,
    pub(super) recorder: Arc<Recorder>,
}

/// The parts whose store may be changed, with their numbers; one that is mounted twice only once.
pub(super) fn writable(parts: &[Part]) -> impl Iterator<Item = (usize, &Part)> {
    parts.iter().enumerate().filter(|(number, part)| {
        let is_same = |other: &Part| Arc::ptr_eq(&other.recorder, &part.recorder);
        !part.recorder.store.info().is_read_only && !parts[..*number].iter().any(is_same)
    })
}

impl Recorder {
    /// A history of `store`: beside the files if it is a local directory, else in the store itself.
    pub(super) fn of_one(
        store: Arc<dyn Store>,
        durability: Durability,
        retention: Retention,
    ) -> Self {
        // An encrypted store has its records where the store beneath has its own, unless that is made of several.
        let beneath = store.sealing().map(|sealing| Arc::clone(sealing.beneath()));
        let beneath = beneath.filter(|beneath| beneath.mounts().is_none());
        let form = match &beneath {
            Some(_) => RecordForm::Sealed(Arc::clone(&store)),
            None => RecordForm::Plain,
        };
        let keeps = beneath.as_ref().unwrap_or(&store);
        let kept = || KeptFiles::new(Arc::clone(&store));
        let (journal, is_inside): (Box<dyn Journal>, _) =
            match (place_beside(&**keeps), Noted::new(keeps, form.clone())) {
                (Some(place), _) => {
                    let log = LogFile::new(place.directory, durability, form);
                    (Box::new(log), place.is_inside)
                }
                (None, Some(noted)) => (Box::new(noted), false),
                (None, None) => {
                    return Self::with(Arc::clone(&store), Box::new(kept()), true, retention);
                }
            };
        if beneath.is_none() {
            return Self::with(store, journal, is_inside, retention);
        }
        let moved = MovedJournal::new(journal, kept(), Arc::clone(&store));
        Self::with(store, Box::new(moved), true, retention)
    }

    /// The history of these parts, which `journal` reads as one. `store` records the changes of each.
    pub(super) fn of_parts(
        store: Arc<dyn Store>,
        journal: Box<dyn Journal>,
        parts: Arc<[Part]>,
        retention: Retention,
    ) -> Self {
        Self { parts, ..Self::with(store, journal, false, retention) }
    }

    fn with(
        store: Arc<dyn Store>,
        journal: Box<dyn Journal>,
        is_inside: bool,
        retention: Retention,
    ) -> Self {
        let (index, changes) = (Mutex::default(), AtomicU64::new(0));
        let (snapshot, parts) = (Mutex::default(), Arc::default());
        Self { store, journal, parts, is_inside, index, snapshot, retention, changes }
    }

    /// The store with this history. A store that may only be read records nothing, but hides the journal.
    pub fn into_store(self: Arc<Self>) -> Arc<dyn Store> {
        if self.is_of_mounts() {
            return Arc::clone(&self.store);
        }
        let is_read_only = self.store.info().is_read_only;
        let recorder: Arc<dyn Store> = self;
        if is_read_only { Arc::new(ReadOnly::from(recorder)) } else { recorder }
    }

    /// Whether it is the history of mounts, each of which records its own changes.
    fn is_of_mounts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether the journal is among the files of the store.
    pub(super) fn is_inside(&self) -> bool {
        self.is_inside
    }

    /// The store by which a change is made, so that it is recorded.
    pub(super) fn recording(&self) -> &dyn Store {
        if self.is_of_mounts() { &*self.store } else { self }
    }

    /// What is known of the journal. Nothing is loaded here.
    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn last_snapshot(&self) -> MutexGuard<'_, Option<(Extent, Arc<Snapshot>)>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_hidden(&self, path: &MemoryPath) -> bool {
        self.is_inside && path.names().next().is_some_and(kept_files::is_reserved)
    }

    pub(super) fn refuse_hidden(&self, path: &MemoryPath) -> Result<(), StoreError> {
        if self.is_hidden(path) { Err(StoreError::PermissionDenied) } else { Ok(()) }
    }

    pub(super) fn hide_in(&self, entries: &mut Vec<Entry>) {
        if self.is_inside {
            entries.retain(|entry| !self.is_hidden(&entry.path));
        }
    }

    /// Begins a record of a change. What the journal knows stays true until the change is made.
    pub(super) fn draft(&self, context: &Context) -> Result<Draft, StoreError> {
        let pen = self.journal.open().map_err(StoreError::unchanged)?;
        self.draft_with(context, pen)
    }

    pub(super) fn draft_with(&self, context: &Context, pen: Pen) -> Result<Draft, StoreError> {
        self.index().follow_rewrites(context, &*self.journal, &pen)?;
        let id = HistoryId::new()?;
        let record = Record::new(id, context.change().unwrap_or(id), context.actor());
        Ok(Draft { record, pen })
    }

    pub(super) fn append(
        &self,
        context: &Context,
        Draft { mut record, pen }: Draft,
    ) -> Result<Recorded, StoreError> {
        record.header.confirms = self.index().take_unconfirmed();
        let Header { id, change, .. } = record.header;
        let said = record.header.confirms.clone();
        let appended = match self.journal.append(context, pen, &record) {
            Ok(appended) => appended,
            Err(error) => {
                self.index().withdrawn(id, said);
                return Err(error.unchanged());
            }
        };
        self.index().appended(record.header, &appended);
        Ok(Recorded { id, change, said, appended })
    }

    /// Ends a change with this result of the store.
    pub(super) fn finish<T>(
        &self,
        context: &Context,
        recorded: Option<Recorded>,
        result: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Some(recorded) = recorded else { return result };
        match &result {
            Ok(_) => {
                let Recorded { id, change, appended, .. } = recorded;
                context.begin(change);
                let is_noted = self.journal.confirm(id, appended);
                self.index().confirmed(id, is_noted);
                self.trim_sometimes();
            }
            // Whether it was made is seen by the file, or by the record, if that is in the transaction.
            Err(error) if error.may_have_changed() => {
                // What else the command does belongs to it.
                context.begin(recorded.change);
                self.journal.give_up(context);
            }
            Err(_) => self.withdraw(context, recorded),
        }
        result
    }

    /// The change was not made, and nothing else is recorded for it.
    pub(super) fn withdraw(&self, context: &Context, recorded: Recorded) {
        let Recorded { id, said, appended, .. } = recorded;
        self.index().withdrawn(id, said);
        // If it stays, it is seen by the file that the change was not made.
        let _ = self.journal.withdraw_last(context, id, appended);
    }

    /// Removes what is too old, now and then.
    fn trim_sometimes(&self) {
        const EVERY: u64 = 256;
        let number = self.changes.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(EVERY) && self.index().may_be_trimmed(self.retention) {
            // The change itself was made. What cannot be removed now is removed later.
            let _ = self.trim(&Context::new());
        }
    }

    /// Keeps `bytes` in the record, unless the journal can already tell this content.
    pub(super) fn keep_unknown(&self, record: &mut Record, content: ContentId, bytes: &[u8]) {
        let knows = || self.index().knows(content.sha256);
        // Others may have recorded it.
        if !knows() && (!self.follow() || !knows()) {
            record.keep(content, bytes);
        }
    }

    /// Looks at what others appended, if that costs little: a log's end, not a listing of a remote store. If it cannot
    /// be read, contents are kept as a whole.
    fn follow(&self) -> bool {
        self.journal.is_cheap_to_follow()
            && self.index().refresh(&Context::new(), &*self.journal).is_ok()
    }
}

/// How each change is recorded and made.
impl Recorder {
    pub(super) fn write_recorded(
        &self,
        context: &Context,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.refuse_hidden(path)?;
        // Such as what is on its way from another mount.
        if path.is_reserved() {
            let write = Mutation::Write { path, content, existing };
            return self.store.mutate(context, write).map(drop);
        }
        const MAX_ATTEMPTS: usize = 1_000;
        for _ in 0..MAX_ATTEMPTS {
            if existing == OnExisting::Overwrite {
                let mut whole =
                    |old: &[u8]| Some(Splice { range: 0..old.len(), text: content.to_vec() });
                let replaced = self.update_as(context, path, &mut whole, Operation::Overwritten);
                match replaced {
                    Err(StoreError::NotFound) => {}
                    Err(StoreError::IsADirectory) => return Err(StoreError::AlreadyExists),
                    // It cannot be read to be kept, but it can be replaced.
                    Err(StoreError::TooLarge { .. }) => {}
                    replaced => return replaced,
                }
            } else {
                // Nothing is recorded that is refused anyway.
                match self.store.open_in(context, path, 0) {
                    Ok(_) => return Err(StoreError::AlreadyExists),
                    Err(error) if error.is_failure() => return Err(error.unchanged()),
                    Err(_) => {}
                }
            }
            let whole = ContentId::of(content);
            let mut draft = self.draft(context)?;
            draft.record.keep(whole, content);
            draft.record.header.rows.push(Row {
                operation: context.operation(Operation::Created),
                path: path.clone(),
                old_path: None,
                before: None,
                after: Some(whole),
                splice: None,
                is_trimmed: false,
            });
            let recorded = self.append(context, draft)?;
            let too_large = existing == OnExisting::Overwrite
                && matches!(self.store.open_in(context, path, 0), Ok(Node::File(..)));
            let how = if too_large { OnExisting::Overwrite } else { OnExisting::Error };
            let write = Mutation::Write { path, content, existing: how };
            let written = self.store.mutate(context, write).map(drop);
            match self.finish(context, Some(recorded), written) {
                // Another writer made it meanwhile.
                Err(StoreError::AlreadyExists) if existing == OnExisting::Overwrite => {}
                written => return written,
            }
        }
        Err(StoreError::failed(format!("writing {path}"), "it comes and goes").unchanged())
    }

    pub(super) fn delete_recorded(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<(), StoreError> {
        self.refuse_hidden(path)?;
        if path.is_reserved() {
            return self.store.mutate(context, Mutation::Delete { path }).map(drop);
        }
        self.delete_as(context, path, Operation::Deleted)
    }

    pub(super) fn delete_as(
        &self,
        context: &Context,
        path: &MemoryPath,
        operation: Operation,
    ) -> Result<(), StoreError> {
        let files = self.files_in_tree(context, path).map_err(StoreError::unchanged)?;
        if files.first() == Some(path) {
            // Another process may edit it meanwhile: exactly what is recorded is deleted.
            match self.delete_if_as(context, path, operation, &mut |_| true) {
                // It has become a directory since.
                Err(StoreError::IsADirectory) => {
                    return self.delete_as(context, path, operation);
                }
                deleted => return deleted.map(drop),
            }
        }
        let recorded = self.record_deletion(context, &files, operation)?;
        let deleted = self.store.mutate(context, Mutation::Delete { path }).map(drop);
        self.finish(context, recorded, deleted)
    }

    pub(super) fn delete_unused_recorded(
        &self,
        context: &Context,
        path: &MemoryPath,
        since: SystemTime,
    ) -> Result<bool, StoreError> {
        if self.is_hidden(path) {
            return Ok(false);
        }
        let recorded =
            self.record_deletion(context, std::slice::from_ref(path), Operation::Expired)?;
        let deleted = self.store.mutate(context, Mutation::DeleteUnused { path, since });
        self.finish_if_changed(context, recorded, deleted)
    }

    pub(super) fn rename_recorded(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<(), StoreError> {
        if self.is_hidden(from) {
            return Err(StoreError::NotFound);
        }
        self.refuse_hidden(to)?;
        let of_source = |error: StoreError| StoreError::Source(Box::new(error.unchanged()));
        let files = self.files_in_tree(context, from).map_err(of_source)?;
        // What has a reserved name is on its way into another mount, or from there: for this store it goes or comes.
        if from.is_reserved() || to.is_reserved() {
            let recorded = match (from.is_reserved(), to.is_reserved()) {
                (true, true) => None,
                (true, false) => {
                    self.record_arrival(context, &files, from, to).map_err(of_source)?
                }
                (false, _) => {
                    self.record_deletion(context, &files, Operation::Deleted).map_err(of_source)?
                }
            };
            let renamed = self.store.mutate(context, Mutation::Rename { from, to }).map(drop);
            return self.finish(context, recorded, renamed);
        }
        let folding = Folding::new(self.store.info().folds_case);
        let is_file = files.first() == Some(from);
        // Nothing is recorded that is refused anyway.
        if !files.is_empty() {
            let is_other = from == to || !folding.are_same(from, to);
            if is_other && self.store.open_in(context, to, 0).is_ok() {
                return Err(StoreError::AlreadyExists);
            }
            if folding.key(from).is_above(&folding.key(to)) {
                return Err(if is_file {
                    StoreError::NotADirectory
                } else {
                    StoreError::IntoItself
                });
            }
        }
        if is_file {
            // Another process may edit it meanwhile: exactly what is recorded is moved.
            return self.rename_if_recorded(context, from, to, &mut |_| true).map(drop);
        }
        let mut draft = self.draft(context)?;
        let in_doubt = if is_file { HashSet::new() } else { self.in_doubt(context)? };
        for old_path in files {
            let Ok(path) = old_path.moved(from, to) else {
                // The store refuses it, and says why.
                continue;
            };
            let mut content = None;
            // A single file is read, so its version says which content it has. A whole directory is not, but for files whose
            // last change is unconfirmed: after the move, its content at the old path can no longer be checked.
            if is_file || in_doubt.contains(&*folding.key(&old_path)) {
                let bytes = self
                    .store
                    .read_in(context, &old_path)
                    .map_err(|error| StoreError::Source(Box::new(error.unchanged())))?;
                let found = ContentId::of(&bytes);
                self.keep_unknown(&mut draft.record, found, &bytes);
                content = Some(found);
            }
            let operation = context.operation(Operation::Renamed);
            draft.record.header.rows.push(Row::renamed(operation, old_path, path, content));
        }
        let recorded = if draft.record.header.rows.is_empty() {
            None
        } else {
            Some(self.append(context, draft)?)
        };
        let renamed = self.store.mutate(context, Mutation::Rename { from, to }).map(drop);
        self.finish(context, recorded, renamed)
    }

    /// The paths of changes of which is not known whether they were made.
    fn in_doubt(&self, context: &Context) -> Result<HashSet<MemoryPath>, StoreError> {
        let mut index = self.index();
        index.refresh(context, &*self.journal).map_err(StoreError::unchanged)?;
        Ok(index.in_doubt(Folding::new(self.store.info().folds_case)))
    }

    pub(super) fn clear_recorded(&self, context: &Context) -> Result<(), StoreError> {
        // The journal stays.
        if self.is_inside {
            return self.empty(context, &MemoryPath::root(), &mut false);
        }
        let files =
            self.files_in_tree(context, &MemoryPath::root()).map_err(StoreError::unchanged)?;
        let recorded = self.record_deletion(context, &files, Operation::Cleared)?;
        let cleared = self.store.mutate(context, Mutation::Clear).map(drop);
        self.finish(context, recorded, cleared)
    }
}

/// A record that was appended.
pub(super) struct Recorded {
    pub(super) id: HistoryId,
    change: HistoryId,
    /// The earlier records of which it says that their changes were made.
    pub(super) said: Vec<HistoryId>,
    pub(super) appended: Appended,
}

/// A record that is being made.
pub(super) struct Draft {
    pub(super) record: Record,
    pub(super) pen: Pen,
}

/// Where a local directory's journal is.
struct Beside {
    directory: std::path::PathBuf,
    /// Whether that is below the files' own directory.
    is_inside: bool,
}

fn place_beside(store: &dyn Store) -> Option<Beside> {
    let files = store.info().directory?;
    // The layout of the SDKs' tools has a directory around the files, which is ours.
    if files.file_name().is_some_and(|name| name == "memories") {
        let directory = files.parent()?.join("history");
        return Some(Beside { directory, is_inside: false });
    }
    Some(Beside { directory: files.join(kept_files::NAME), is_inside: true })
}
