//! [`ImportPlan`]: what an import of files from outside would do, and the write of each of them.
//!
//! All files are planned before one is written, under the policies of the memory. The plan reserves the room that the files
//! need, so a limit counts for all of them together.

use std::collections::{HashMap, HashSet};

use crate::error::Error;
use crate::path::{Folding, MemoryPath};
use crate::policies::{NewFile, Policies};
use crate::policy::limits::Reservation;
use crate::reply;
use crate::store::{Node, OnExisting, Store, StoreError};

/// What becomes of a file that is imported.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is made.
    Created,
    /// It takes the place of a file with another content.
    Overwritten,
    /// The memory has it already, with the same content.
    Unchanged,
    /// Something else is in the way.
    Conflict(InTheWay),
    /// A policy or the store forbids it, for this reason.
    Refused(String),
}

/// What is in the way of a file that is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InTheWay {
    /// A file with another content.
    AnotherContent,
    /// A directory.
    Directory,
    /// A file where a directory is needed.
    File,
    /// Another file of the import, whose path the memory takes for the same.
    SameName,
}

/// The plan of an import.
pub(crate) struct ImportPlan<'m> {
    store: &'m dyn Store,
    policies: &'m Policies,
    overwrite: bool,
    folding: Folding,
    /// The paths that were planned, as the store compares them.
    taken: HashSet<MemoryPath>,
    /// Whether there is a file at a path where a directory is needed.
    parents: HashMap<MemoryPath, bool>,
    /// The room for what was planned, given back when the plan is dropped.
    reservations: Vec<Reservation<'m>>,
}

/// What is at a path.
enum ExistingEntry {
    Nothing,
    File(Vec<u8>),
    Directory,
    /// Below a file.
    BelowAFile,
}

impl<'m> ImportPlan<'m> {
    pub(crate) fn new(store: &'m dyn Store, policies: &'m Policies, overwrite: bool) -> Self {
        let (taken, parents, reservations) = (HashSet::new(), HashMap::new(), Vec::new());
        let folding = Folding::new(store.info().folds_case);
        Self { store, policies, overwrite, folding, taken, parents, reservations }
    }

    /// What becomes of this text at this path; and whether sensitive text in it is redacted.
    ///
    /// # Errors
    /// [`Error::Store`] if the store fails.
    pub(crate) fn add(&mut self, path: &MemoryPath, text: &str) -> Result<(Fate, bool), Error> {
        if !self.taken.insert(self.folding.key(path).into_owned()) {
            return Ok((Fate::Conflict(InTheWay::SameName), false));
        }
        if !self.store.can_keep(path) {
            return refused(reply::condition(path, StoreError::NameTooLong));
        }
        let found = match self.found(path) {
            Ok(found) => found,
            Err(error) => return refused(reply::condition(path, error)),
        };
        match &found {
            ExistingEntry::File(content) if content == text.as_bytes() => {
                return Ok((Fate::Unchanged, false));
            }
            ExistingEntry::Directory => return Ok((Fate::Conflict(InTheWay::Directory), false)),
            ExistingEntry::BelowAFile => return Ok((Fate::Conflict(InTheWay::File), false)),
            ExistingEntry::File(_) | ExistingEntry::Nothing => {}
        }
        let overwrite = OnExisting::Overwrite;
        let checked = self.policies.check_create(self.store, path, text, overwrite, || false);
        let NewFile { text: written, reservation, .. } = match checked {
            Ok(new) => new,
            Err(error) => return refused(error),
        };
        let is_redacted = written != text;
        match &found {
            ExistingEntry::File(content) if content == written.as_bytes() => {
                Ok((Fate::Unchanged, is_redacted))
            }
            ExistingEntry::File(_) if !self.overwrite => {
                Ok((Fate::Conflict(InTheWay::AnotherContent), false))
            }
            found => {
                let is_there = matches!(found, ExistingEntry::File(_));
                self.reservations.push(reservation);
                Ok((if is_there { Fate::Overwritten } else { Fate::Created }, is_redacted))
            }
        }
    }

    fn found(&mut self, path: &MemoryPath) -> Result<ExistingEntry, StoreError> {
        match self.store.open(path, 0) {
            Ok(Node::Directory(_)) => Ok(ExistingEntry::Directory),
            Ok(Node::File(..)) => self.store.read(path).map(ExistingEntry::File),
            Err(StoreError::NotFound | StoreError::NotADirectory) => {
                let mut above = path.parent();
                while let Some(directory) = above.filter(|above| !above.is_root()) {
                    if self.is_file(&directory)? {
                        return Ok(ExistingEntry::BelowAFile);
                    }
                    above = directory.parent();
                }
                Ok(ExistingEntry::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    fn is_file(&mut self, path: &MemoryPath) -> Result<bool, StoreError> {
        if let Some(is_file) = self.parents.get(path) {
            return Ok(*is_file);
        }
        let is_file = match self.store.open(path, 0) {
            Ok(node) => matches!(node, Node::File(..)),
            Err(StoreError::NotFound | StoreError::NotADirectory) => false,
            Err(error) => return Err(error),
        };
        self.parents.insert(path.clone(), is_file);
        Ok(is_file)
    }
}

/// A refusal is what becomes of the file; a failure ends the plan.
fn refused(error: Error) -> Result<(Fate, bool), Error> {
    match error {
        Error::Refused(sentence) => Ok((Fate::Refused(sentence), false)),
        failed => Err(failed),
    }
}
