//! [`Context`]: what a call carries on its way to the store, beside what is read or changed.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::StoreError;
use super::note::Note;
use crate::cancel::Cancellation;
use crate::history_id::HistoryId;
use crate::operation::Operation;

/// Whether the call is cancelled, who makes a change and what for, and what has to be kept together with it.
///
/// A `Memory` makes one for each operation, which may make several changes. It goes with each of them down
/// to the store ([`Store::mutate`](crate::Store::mutate)), and with what is read and may wait
/// ([`Store::read_in`](crate::Store::read_in)). A layer passes it on, unless it changes another store meanwhile: that change
/// has a context of its own, with the same cancellation ([`separate`](Context::separate)).
pub struct Context {
    cancellation: Cancellation,
    actor: Option<Arc<str>>,
    operation: Option<Operation>,
    /// One for all contexts of an operation.
    change: Rc<ChangeState>,
}

#[derive(Default)]
struct ChangeState {
    id: Cell<Option<HistoryId>>,
    note: RefCell<Option<Note>>,
    /// Whether the notes go with the files.
    removes_notes: Cell<bool>,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            cancellation: Cancellation::never(),
            actor: None,
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

    /// The context of what this actor does.
    pub fn of(actor: Option<Arc<str>>) -> Self {
        Self { actor, ..Self::default() }
    }

    /// The same context of an operation that has a name of its own.
    pub fn doing(self, operation: Operation) -> Self {
        Self { operation: Some(operation), ..self }
    }

    /// The same context of a call that `cancellation` cancels.
    #[must_use]
    pub fn cancelled_by(self, cancellation: &Cancellation) -> Self {
        Self { cancellation: cancellation.clone(), ..self }
    }

    /// The same context for steps that must be done as a whole, also if the call is cancelled meanwhile.
    #[must_use]
    pub fn to_the_end(&self) -> Self {
        Self {
            cancellation: Cancellation::never(),
            actor: self.actor.clone(),
            operation: self.operation,
            change: Rc::clone(&self.change),
        }
    }

    /// The same context, in which the history says this operation, unless it has a name of its own already.
    #[must_use]
    pub fn named(&self, operation: Operation) -> Self {
        Self {
            cancellation: self.cancellation.clone(),
            actor: self.actor.clone(),
            operation: Some(self.operation(operation)),
            change: Rc::clone(&self.change),
        }
    }

    /// A context for what is done beside the change, such as in another store, in a transaction of its own. It is cancelled
    /// with this one.
    #[must_use]
    pub fn separate(&self) -> Self {
        Self::new().cancelled_by(&self.cancellation)
    }

    /// What cancels the call.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// For a store that waits: call it after each wait, before anything is changed.
    ///
    /// # Errors
    /// [`StoreError::Cancelled`] if the call is cancelled.
    pub fn check(&self) -> Result<(), StoreError> {
        self.cancellation.check()
    }

    /// Who makes the change, as the host program says.
    pub fn actor(&self) -> Option<&str> {
        self.actor.as_deref()
    }

    /// What is done, which is `usual` unless the operation has a name of its own.
    pub fn operation(&self, usual: Operation) -> Operation {
        self.operation.unwrap_or(usual)
    }

    /// The change that has begun, which further records belong to. `None` while nothing was recorded.
    pub fn change(&self) -> Option<HistoryId> {
        self.change.id.get()
    }

    /// Further records belong to this change, unless one has begun already.
    pub fn begin(&self, change: HistoryId) {
        self.change.id.set(self.change.id.get().or(Some(change)));
    }

    /// The store keeps this note in the transaction of the next change.
    pub fn put_note(&self, note: Note) {
        *self.change.note.borrow_mut() = Some(note);
    }

    /// Takes the note for a transaction that begins, or that will never be.
    pub fn take_note(&self) -> Option<Note> {
        self.change.note.borrow_mut().take()
    }

    /// The store removes all notes in the transaction of the next [`Mutation::Clear`](crate::Mutation::Clear), and leaves
    /// nothing of what it removes.
    pub fn remove_notes(&self) {
        self.change.removes_notes.set(true);
    }

    /// Whether all notes are to be removed, for a transaction that begins.
    pub fn take_removal_of_notes(&self) -> bool {
        self.change.removes_notes.take()
    }
}
