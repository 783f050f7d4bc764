//! [`Context`]: information about a call that goes to the store with each operation.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::StoreError;
use super::note::Note;
use crate::cancel::Cancellation;
use crate::history_id::HistoryId;
use crate::operation::Operation;
use crate::path::MemoryPath;

/// The other memory of a sync, from which a change is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partner {
    /// Its name, such as `laptop`.
    pub name: String,
    /// The version of the file there; `None` if its history does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<HistoryId>,
    /// Whether the sync merged the content of that version with the one here. Otherwise the file got exactly that content.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_merged: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The other memory of a sync, for the records of the files that the sync changes together.
#[derive(Debug, Clone, Default)]
pub struct SyncSource {
    /// Its name.
    pub name: String,
    /// The versions of the files there, by the paths here, and whether each is merged.
    pub versions: HashMap<MemoryPath, (HistoryId, bool)>,
}

/// The cancellation of a call, the actor and the operation of a change, and the notes to keep in the same transaction.
///
/// A `Memory` creates one context for each operation, which may make several changes. It goes to the store with each of them
/// ([`Store::mutate`](crate::Store::mutate)), and with reads that may wait ([`Store::read_in`](crate::Store::read_in)). A
/// layer passes it on. If the layer also changes another store, it uses a context with the same cancellation for that change
/// ([`separate`](Context::separate)).
pub struct Context {
    cancellation: Cancellation,
    actor: Option<Arc<str>>,
    source: Option<Arc<SyncSource>>,
    operation: Option<Operation>,
    /// Shared by all contexts of an operation.
    change: Rc<ChangeState>,
}

#[derive(Default)]
struct ChangeState {
    id: Cell<Option<HistoryId>>,
    notes: RefCell<Vec<Note>>,
    /// Whether the change contains edits of other calls.
    must_complete: Cell<bool>,
    /// Whether the change is made in one write with the change before it.
    is_joined: Cell<bool>,
    /// Whether the next clear also removes the notes.
    removes_notes: Cell<bool>,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            cancellation: Cancellation::never(),
            actor: None,
            source: None,
            operation: None,
            change: Rc::default(),
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("actor", &self.actor).finish_non_exhaustive()
    }
}

impl Context {
    /// The context of a call without an actor, which cannot be cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The context of an operation by this actor.
    pub fn of(actor: Option<Arc<str>>) -> Self {
        Self { actor, ..Self::default() }
    }

    /// The same context for changes that a sync takes from this memory.
    pub fn taken_from(self, source: Option<Arc<SyncSource>>) -> Self {
        Self { source, ..self }
    }

    /// The same context with this operation. It replaces the usual operation of each change.
    pub fn doing(self, operation: Operation) -> Self {
        Self { operation: Some(operation), ..self }
    }

    /// The same context, cancelled by `cancellation`.
    #[must_use]
    pub fn cancelled_by(self, cancellation: &Cancellation) -> Self {
        Self { cancellation: cancellation.clone(), ..self }
    }

    /// The same context without cancellation, for steps that must complete as a whole.
    #[must_use]
    pub fn to_the_end(&self) -> Self {
        Self {
            cancellation: Cancellation::never(),
            actor: self.actor.clone(),
            source: self.source.clone(),
            operation: self.operation,
            change: Rc::clone(&self.change),
        }
    }

    /// The same context with this operation, unless it already has one.
    #[must_use]
    pub fn named(&self, operation: Operation) -> Self {
        Self {
            cancellation: self.cancellation.clone(),
            actor: self.actor.clone(),
            source: self.source.clone(),
            operation: Some(self.operation(operation)),
            change: Rc::clone(&self.change),
        }
    }

    /// A context for a change made in addition, such as in another store, in its own transaction. It has the same
    /// cancellation.
    #[must_use]
    pub fn separate(&self) -> Self {
        Self::new().cancelled_by(&self.cancellation)
    }

    /// The cancellation of the call. It is never cancelled while the change contains edits of other calls.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        static NEVER: Cancellation = Cancellation::never();
        if self.change.must_complete.get() { &NEVER } else { &self.cancellation }
    }

    /// A store that waits calls this after each wait, before it changes anything.
    ///
    /// # Errors
    /// [`StoreError::Cancelled`] if the call is cancelled.
    pub fn check(&self) -> Result<(), StoreError> {
        self.cancellation().check()
    }

    /// The actor of the change, as set by the host program.
    pub fn actor(&self) -> Option<&str> {
        self.actor.as_deref()
    }

    /// The memory from which a sync takes the change of this file.
    pub fn partner_of(&self, path: &MemoryPath) -> Option<Partner> {
        let SyncSource { name, versions } = self.source.as_deref()?;
        let (version, is_merged) = versions.get(path).copied().unzip();
        let is_merged = is_merged.unwrap_or_default();
        Some(Partner { name: name.clone(), version, is_merged })
    }

    /// The operation of the change: `usual`, unless the context has another one.
    pub fn operation(&self, usual: Operation) -> Operation {
        self.operation.unwrap_or(usual)
    }

    /// The id of the change that has begun; further records belong to it. `None` until something is recorded.
    pub fn change(&self) -> Option<HistoryId> {
        self.change.id.get()
    }

    /// Sets the id of the change that further records belong to, unless it is already set.
    pub fn begin(&self, change: HistoryId) {
        self.change.id.set(self.change.id.get().or(Some(change)));
    }

    /// Sets the note that the store keeps in the transaction of the next change.
    pub fn put_note(&self, note: Note) {
        *self.change.notes.borrow_mut() = vec![note];
    }

    /// Adds notes of a change that consists of several: of the files of a batch, or of edits of other calls.
    pub fn add_notes(&self, notes: Vec<Note>) {
        self.change.notes.borrow_mut().extend(notes);
    }

    /// Takes the notes out of the context, in a transaction, or to discard them.
    pub fn take_notes(&self) -> Vec<Note> {
        self.change.notes.take()
    }

    /// Sets whether the change contains edits of other calls, so that the cancellation of this call does not stop it.
    pub(crate) fn complete(&self, must_complete: bool) {
        self.change.must_complete.set(must_complete);
    }

    /// Sets whether the change is joined to the change before it.
    pub(crate) fn join(&self, is_joined: bool) {
        self.change.is_joined.set(is_joined);
    }

    /// Whether the change is made in one write with the change before it: no reader ever finds the state between them.
    pub fn is_joined(&self) -> bool {
        self.change.is_joined.get()
    }

    /// Makes the store remove all notes in the transaction of the next [`Mutation::Clear`](crate::Mutation::Clear), and
    /// scrub what it removes.
    pub fn remove_notes(&self) {
        self.change.removes_notes.set(true);
    }

    /// Whether all notes are to be removed. Resets the flag; call it at the start of a transaction.
    pub fn take_removal_of_notes(&self) -> bool {
        self.change.removes_notes.take()
    }
}
