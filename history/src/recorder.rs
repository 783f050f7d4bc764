//! [`Recorder`]: a layer over any store that records every change in a [`Journal`] before it is made.
//!
//! - An edit is recorded as the bytes that it removed and the bytes that it inserted. If the journal does not know the content before
//!   the edit, because another program wrote it or because there was no history yet, that content is recorded as a whole.
//! - A new file is recorded as a whole, and so is a deleted file that the journal does not know.
//! - If the change is refused, its record is withdrawn. A record left by a crash is resolved later ([`settle`](super::settle)).
//!
//! Reads go to the underlying store. If the journal is kept in the store itself, its directory is hidden: readers do not see it, and
//! writes to it are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memdir_store::HistoryId;
use memdir_store::path::MemoryPath;
use memdir_store::{Context, ReadOnly, Store, StoreError};

use super::journal::{Appended, Journal, Pen};
use super::reader::HistoryReader;
use super::record::{ContentId, Header, Record};
use super::retention::Retention;

/// A store with a history: it records every change before it is made.
///
/// Make changes through the store from [`into_store`](Self::into_store), with a context that names their actor. Queries of the
/// history are methods of its [`reader`](Self::reader). Restoring, undoing and redacting are methods of the recorder.
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
/// let versions = recorder.reader().versions(&context, &HistoryQuery::default())?;
/// assert_eq!(versions[0].actor.as_deref(), Some("Ann"));
/// recorder.undo(&context, versions[0].change, UndoOptions::default())?;
/// assert!(store.read(&path).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder {
    pub(super) store: Arc<dyn Store>,
    pub(super) journal: Arc<dyn Journal>,
    pub(super) reader: HistoryReader,
    /// The histories that this one combines, if it is the history of a tree of mounts.
    pub(super) parts: Arc<[Part]>,
    pub(super) retention: Retention,
    /// The number of changes that this process recorded.
    changes: AtomicU64,
}

/// One store in a tree of mounts, with its history.
pub(super) struct Part {
    pub(super) at: MemoryPath,
    pub(super) recorder: Arc<Recorder>,
}

/// The parts whose store is writable, with their numbers. A store that is mounted twice appears once.
pub(super) fn writable(parts: &[Part]) -> impl Iterator<Item = (usize, &Part)> {
    parts.iter().enumerate().filter(|(number, part)| {
        let is_same = |other: &Part| Arc::ptr_eq(&other.recorder, &part.recorder);
        !part.recorder.store.info().is_read_only && !parts[..*number].iter().any(is_same)
    })
}

impl Recorder {
    /// The combined history of these parts, which `journal` reads as one. `store` records the changes of each part.
    pub(super) fn of_parts(
        store: Arc<dyn Store>,
        journal: Arc<dyn Journal>,
        parts: Arc<[Part]>,
        retention: Retention,
    ) -> Self {
        Self { parts, ..Self::with(store, journal, false, retention) }
    }

    pub(super) fn with(
        store: Arc<dyn Store>,
        journal: Arc<dyn Journal>,
        is_inside: bool,
        retention: Retention,
    ) -> Self {
        let reader = HistoryReader::new(Arc::clone(&store), Arc::clone(&journal), is_inside);
        let (parts, changes) = (Arc::default(), AtomicU64::new(0));
        Self { store, journal, reader, parts, retention, changes }
    }

    /// The reader of this history.
    #[must_use]
    pub fn reader(&self) -> &HistoryReader {
        &self.reader
    }

    /// The store with this history. A read-only store records nothing, but hides the journal.
    pub fn into_store(self: Arc<Self>) -> Arc<dyn Store> {
        if self.is_of_mounts() {
            return Arc::clone(&self.store);
        }
        let is_read_only = self.store.info().is_read_only;
        let recorder: Arc<dyn Store> = self;
        if is_read_only { Arc::new(ReadOnly::from(recorder)) } else { recorder }
    }

    /// Whether this is the history of a tree of mounts, in which each store records its own changes.
    fn is_of_mounts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The store through which changes are made, so that they are recorded.
    pub(super) fn recording(&self) -> &dyn Store {
        if self.is_of_mounts() { &*self.store } else { self }
    }

    pub(super) fn refuse_hidden(&self, path: &MemoryPath) -> Result<(), StoreError> {
        if self.reader.is_hidden(path) { Err(StoreError::PermissionDenied) } else { Ok(()) }
    }

    /// Starts a record of a change. The loaded records stay valid until the change is made.
    pub(super) fn draft(&self, context: &Context) -> Result<Draft, StoreError> {
        let pen = self.journal.open().map_err(StoreError::unchanged)?;
        self.draft_with(context, pen)
    }

    pub(super) fn draft_with(&self, context: &Context, pen: Pen) -> Result<Draft, StoreError> {
        self.reader.index_in(context)?.follow_rewrites(context, &*self.journal, &pen)?;
        let id = HistoryId::new()?;
        let record = Record::by(context, id, context.change().unwrap_or(id));
        Ok(Draft { record, pen })
    }

    pub(super) fn append(
        &self,
        context: &Context,
        Draft { mut record, pen }: Draft,
    ) -> Result<Recorded, StoreError> {
        if let Some(row) = record.header.rows.first() {
            record.header.partner = context.partner_of(&row.path);
        }
        record.header.confirms = self.reader.index_in(context)?.take_unconfirmed();
        let Header { id, change, .. } = record.header;
        let said = record.header.confirms.clone();
        let appended = match self.journal.append(context, pen, &record) {
            Ok(appended) => appended,
            Err(error) => {
                match error.may_have_changed() {
                    true => self.reader.note(|index| index.maybe_appended(said)),
                    false => self.reader.note(move |index| index.withdrawn(id, said)),
                }
                // No file is changed without a record, no matter what became of the record.
                context.check()?;
                return Err(error.unchanged());
            }
        };
        let next = appended.is_next.then_some((appended.place, appended.len));
        self.reader.note(move |index| index.appended(record.header, next));
        Ok(Recorded { id, change, said, appended })
    }

    /// Ends a change with the result of the store.
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
                self.reader.note(move |index| index.confirmed(id, is_noted));
                self.trim_sometimes(context, 1);
            }
            // The file shows whether the change was made. If the record is in the same transaction, the record shows it.
            Err(error) if error.may_have_changed() => {
                // Further changes of the same command belong to this change.
                context.begin(recorded.change);
                self.journal.give_up(context);
            }
            Err(_) => self.withdraw(context, recorded),
        }
        result
    }

    /// Withdraws the record of a change that was not made and for which nothing else is recorded.
    pub(super) fn withdraw(&self, context: &Context, recorded: Recorded) {
        let Recorded { id, said, appended, .. } = recorded;
        self.reader.note(move |index| index.withdrawn(id, said));
        if self.journal.withdraw_last(context, id, appended).is_err() {
            // The file will show that the change was not made.
            self.reader.note(move |index| index.was_left(id));
        }
    }

    /// Removes versions beyond the limits once in a while, unless the call is cancelled.
    pub(super) fn trim_sometimes(&self, context: &Context, changes: usize) {
        const EVERY: u64 = 256;
        let changes = changes as u64;
        let before = self.changes.fetch_add(changes, Ordering::Relaxed);
        if before.next_multiple_of(EVERY) >= before + changes {
            return;
        }
        let index = self.reader.index_in(context);
        let is_due = index.is_ok_and(|index| index.may_be_trimmed(self.retention));
        if is_due {
            // The change itself was made. If this trim fails, a later one removes the versions.
            let _ = self.trim(&context.separate());
        }
    }

    /// Adds `bytes` to the record, unless the journal already has this content.
    pub(super) fn keep_unknown(
        &self,
        context: &Context,
        record: &mut Record,
        content: ContentId,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let knows = || Ok::<_, StoreError>(self.reader.index_in(context)?.knows(content.sha256));
        // Another process may have recorded the content.
        let is_known = knows()? || self.follow(context)? && knows()?;
        if !is_known {
            record.keep(content, bytes);
        }
        Ok(())
    }

    /// Loads the records that other processes appended, if that is cheap, as with a log and unlike a listing of a remote store. If they
    /// cannot be read, contents are recorded as a whole.
    fn follow(&self, context: &Context) -> Result<bool, StoreError> {
        let is_cheap = self.journal.is_cheap_to_follow();
        Ok(is_cheap && self.reader.index_in(context)?.refresh(context, &*self.journal).is_ok())
    }
}

/// A record that was appended.
pub(super) struct Recorded {
    pub(super) id: HistoryId,
    change: HistoryId,
    /// The earlier records whose changes this record confirms.
    pub(super) said: Vec<HistoryId>,
    pub(super) appended: Appended,
}

/// A record that is being made.
pub(super) struct Draft {
    pub(super) record: Record,
    pub(super) pen: Pen,
}
