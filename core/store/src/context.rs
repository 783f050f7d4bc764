//! [`Context`]: what a change carries on its way to the store, beside what is changed.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use super::StoreError;
use super::notes::Note;
use crate::history_id::HistoryId;
use crate::operation::Operation;

/// Ends when what it stands for is on the disk.
type Wait = Box<dyn FnOnce() -> Result<(), StoreError>>;

/// Who makes a change and what for, and what has to be kept, or waited for, together with it.
///
/// A `Memory` makes one for each operation, which may make several changes. It goes with each of them down
/// to the store ([`Store::mutate`](crate::Store::mutate)). A layer passes it on, unless it changes another store meanwhile:
/// that change has a context of its own.
#[derive(Default)]
pub struct Context {
    actor: Option<Arc<str>>,
    operation: Option<Operation>,
    change: Cell<Option<HistoryId>>,
    note: RefCell<Option<Note>>,
    wait: RefCell<Option<Wait>>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("actor", &self.actor).finish_non_exhaustive()
    }
}

impl Context {
    /// The context of a change without an actor.
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
        self.change.get()
    }

    /// Further records belong to this change, unless one has begun already.
    pub fn begin(&self, change: HistoryId) {
        self.change.set(self.change.get().or(Some(change)));
    }

    /// The store keeps this note in the transaction of the next change.
    pub fn put_note(&self, note: Note) {
        *self.note.borrow_mut() = Some(note);
    }

    /// Takes the note for a transaction that begins, or that will never be.
    pub fn take_note(&self) -> Option<Note> {
        self.note.borrow_mut().take()
    }

    /// The next change takes effect when this has ended: the record of a history is being flushed meanwhile. A store that
    /// flushes the new content first waits after that, so both flushes coincide.
    pub fn put_wait(&self, wait: Wait) {
        *self.wait.borrow_mut() = Some(wait);
    }

    /// Waits for what the change has to wait for, if there is anything.
    ///
    /// # Errors
    /// Nothing was changed yet.
    pub fn wait(&self) -> Result<(), StoreError> {
        let wait = self.wait.borrow_mut().take();
        wait.map_or(Ok(()), |wait| wait().map_err(StoreError::unchanged))
    }
}
