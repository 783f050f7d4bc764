//! [`Asked`]: a change that the hooks of the memory are asked about, before it is made.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use memdir_store::{Error, ErrorKind, Refused};

use super::baseline::{Digest, digest};
use super::change::{Change, NewFile, Outcome};
use super::error::SyncError;
use super::side::Side;
use super::writer::Writer;
use crate::asked_change::AskedChange;
use crate::command::Command;
use crate::history::HistoryId;
use crate::reply;
use crate::store::StoreError;
use crate::text::count_lines;
use crate::unit_of_work::UnitOfWork;
use memdir_store::path::MemoryPath;

/// A change that the hooks of the memory are asked about.
struct Asked {
    writer: Arc<Writer>,
    change: Change<'static>,
    /// The end of the change, once it has one.
    outcome: Mutex<Option<Result<Outcome, SyncError>>>,
    /// Whether the memory was no longer as it was compared, when the diff was made.
    has_changed: AtomicBool,
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked").field("path", self.change.path()).finish_non_exhaustive()
    }
}

impl Asked {
    /// The content that is written; nothing for a deletion or a rename.
    fn content(&self) -> Option<&[u8]> {
        match &self.change {
            Change::Create { content, .. } | Change::Replace { content, .. } => Some(content),
            Change::Delete { .. } | Change::Rename { .. } => None,
        }
    }

    fn end(&self, outcome: Result<Outcome, SyncError>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }
}

impl AskedChange for Asked {
    fn command(&self) -> Command<'_> {
        let text = |path: &'_ MemoryPath| Cow::Owned(path.as_str().to_owned());
        match &self.change {
            Change::Create { path, content, .. } | Change::Replace { path, content, .. } => {
                // A command has no other way to say what is written. The diff says that it is not text.
                Command::Create { path: text(path), file_text: String::from_utf8_lossy(content) }
            }
            Change::Delete { path, .. } => Command::Delete { path: text(path) },
            Change::Rename { from, to, .. } => {
                Command::Rename { old_path: text(from), new_path: text(to) }
            }
        }
    }

    fn size(&self) -> Option<(u64, u64)> {
        let content = self.content().filter(|content| str::from_utf8(content).is_err())?;
        Some((content.len() as u64, count_lines(content)))
    }

    fn preview(&self, work: &UnitOfWork<'_>) -> Result<(), Error> {
        let outcome = self.change.make(work)?;
        if matches!(outcome, Outcome::Changed | Outcome::Exists) {
            self.has_changed.store(true, Ordering::SeqCst);
        }
        refusal(self.change.path(), &outcome)
    }

    fn make(&self, text: Option<&str>) -> (Result<(), Error>, Option<HistoryId>) {
        let mut change = self.change.clone();
        if let (Change::Create { content, .. } | Change::Replace { content, .. }, Some(text)) =
            (&mut change, text)
        {
            *content = Cow::Owned(text.as_bytes().to_vec());
        }
        let outcome = self.writer.make(&change);
        let result = match &outcome {
            Ok(outcome) => refusal(self.change.path(), outcome),
            // The sync ends with the error itself.
            Err(SyncError::Stopped) => Err(Error::Store(StoreError::Cancelled)),
            Err(error) => {
                let error = std::io::Error::other(error.to_string());
                Err(Error::Store(StoreError::failed("syncing a file", error)))
            }
        };
        let id = self.writer.change().filter(|_| result.is_ok());
        self.end(outcome);
        (result, id)
    }

    fn refused(&self, error: &Error) {
        self.end(match error {
            // The sync looks again.
            Error::Refused(refused)
                if refused.kind() == ErrorKind::Changed
                    && self.has_changed.load(Ordering::SeqCst) =>
            {
                Ok(Outcome::Changed)
            }
            Error::Refused(refused) => Ok(Outcome::Refused(Error::Refused(refused.clone()))),
            Error::Store(error) if error.is_cancelled() => Err(SyncError::Stopped),
            error => Err(SyncError::of_hook(self.change.path(), error.to_string().into())),
        });
    }
}

/// The refusal of a change that was not made.
fn refusal(path: &MemoryPath, outcome: &Outcome) -> Result<(), Error> {
    match outcome {
        Outcome::Done(..) => Ok(()),
        Outcome::Refused(Error::Refused(refused)) => Err(Error::Refused(refused.clone())),
        Outcome::Refused(error) => {
            Err(Error::Refused(Refused::new(ErrorKind::Invalid, error.to_string())))
        }
        Outcome::Changed | Outcome::Exists | Outcome::Directory { .. } => {
            Err(reply::changed_meanwhile(path))
        }
    }
}

impl Side<'_> {
    /// Creates files, and returns the outcome of each.
    pub(super) fn create(&self, files: &[NewFile<'_>]) -> Result<Vec<Outcome>, SyncError> {
        if !self.asks {
            return self.writer.create(files);
        }
        files.iter().map(|file| self.change(Change::from(*file))).collect()
    }

    /// Replaces the content of a file, if it still has the old one. `theirs` is the content of the other memory that was taken or merged.
    pub(super) fn replace(
        &self,
        path: &MemoryPath,
        old: Digest,
        content: &[u8],
        theirs: Digest,
    ) -> Result<Outcome, SyncError> {
        self.change(Change::replace(path, old, content, theirs))
    }

    /// Gives a file the content back that it had before this sync. The hooks are not asked.
    pub(super) fn restore(
        &self,
        path: &MemoryPath,
        now: Digest,
        content: &[u8],
    ) -> Result<Outcome, SyncError> {
        self.writer.make(&Change::replace(path, now, content, digest(content)))
    }

    /// Deletes a file, if it still has this content.
    pub(super) fn delete(&self, path: &MemoryPath, old: Digest) -> Result<Outcome, SyncError> {
        self.change(Change::Delete { path: Cow::Borrowed(path), old })
    }

    /// Deletes a file that this sync has created, if it still has this content. The hooks are not asked.
    pub(super) fn take_back(&self, path: &MemoryPath, old: Digest) -> Result<Outcome, SyncError> {
        self.writer.make(&Change::Delete { path: Cow::Borrowed(path), old })
    }

    /// Renames a file, if it still has this content, which has this size.
    pub(super) fn rename(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        old: Digest,
        size: u64,
    ) -> Result<Outcome, SyncError> {
        self.change(Change::Rename { from: Cow::Borrowed(from), to: Cow::Borrowed(to), old, size })
    }

    fn change(&self, change: Change<'_>) -> Result<Outcome, SyncError> {
        if !self.asks {
            return self.writer.make(&change);
        }
        let writer = Arc::clone(&self.writer);
        // Otherwise the hooks would be asked about a file that is not created.
        if let Change::Create { path, .. } = &change
            && self.memory.store().open_in(&self.context(), path, 0).is_ok()
        {
            return Ok(Outcome::Exists);
        }
        let (change, outcome) = (change.into_owned(), Mutex::default());
        let has_changed = AtomicBool::new(false);
        let asked = Arc::new(Asked { writer, change, outcome, has_changed });
        let done = self.writer.acting.ask(Arc::clone(&asked) as Arc<dyn AskedChange>);
        done.map_err(|error| SyncError::of_hook(asked.change.path(), error))?;
        let outcome = asked.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        outcome.unwrap_or_else(|| {
            Err(SyncError::of_hook(asked.change.path(), "it did not answer".into()))
        })
    }
}
