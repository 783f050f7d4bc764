//! [`Witness`]: a store as one process sees it, which reports every real change to the [`Truth`]. In it the process can be
//! killed, the store can fail, and another process can run in between.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use memdir::store::{Context, Layer, Mutation};
use memdir::{MemoryPath, Store, StoreError};

use super::truth::{MOUNTED, Made, Truth};

/// A fault in the middle of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The process is killed before the store changes anything.
    KilledBefore,
    /// The process is killed after the store has made the change.
    KilledAfter,
    /// The store fails and has changed nothing.
    FailsBefore,
    /// The store fails, but it has made the change.
    FailsAfter,
}

/// The panic that ends a killed process: nothing of it continues, and its open files are closed.
pub(super) struct Killed;

/// The panic that ends an edit during which the store fails.
struct Fails;

/// The current action of one process.
#[derive(Default)]
pub(super) struct Doing {
    /// The command and its actor.
    pub(super) command: &'static str,
    pub(super) actor: String,
    /// The fault, and the number of the change of the store at which it happens, including changes
    /// of the history's own files.
    pub(super) fault: Option<(usize, Fault)>,
    /// The action of another process before the first change of a file.
    pub(super) interrupt: Option<Box<dyn FnOnce() + Send>>,
}

/// All stores of a tree, as one process sees them.
#[derive(Clone)]
pub(super) struct Eyes {
    pub(super) truth: Arc<Mutex<Truth>>,
    pub(super) doing: Arc<Mutex<Doing>>,
}

pub(super) struct Witness {
    inner: Arc<dyn Store>,
    /// The path of the store in the tree.
    at: String,
    eyes: Eyes,
}

impl Witness {
    pub(super) fn of(inner: Arc<dyn Store>, at: &str, eyes: &Eyes) -> Arc<dyn Store> {
        eyes.truth.lock().unwrap().has_mounts |= at == MOUNTED;
        Arc::new(Self { inner, at: at.to_owned(), eyes: eyes.clone() })
    }

    /// A path of the whole tree.
    fn path(&self, path: &MemoryPath) -> String {
        path.as_str().replacen("/memories", &self.at, 1)
    }

    /// Counts a change of the store, and returns its fault.
    fn fault(&self) -> Option<Fault> {
        let mut doing = self.eyes.doing.lock().unwrap();
        match &mut doing.fault {
            Some((0, fault)) => {
                let fault = *fault;
                doing.fault = None;
                Some(fault)
            }
            Some((number, _)) => {
                *number -= 1;
                None
            }
            None => None,
        }
    }

    fn interrupted(&self) {
        let interrupt = self.eyes.doing.lock().unwrap().interrupt.take();
        if let Some(interrupt) = interrupt {
            interrupt();
        }
    }

    /// Makes a change, or not.
    fn make(
        &self,
        change: impl FnOnce() -> Result<bool, StoreError>,
        saw: impl FnOnce(),
    ) -> Result<bool, StoreError> {
        let fault = self.fault();
        match fault {
            Some(Fault::KilledBefore) => resume_unwind(Box::new(Killed)),
            Some(Fault::FailsBefore) => return Err(failed()),
            _ => {}
        }
        let is_made = change()?;
        if is_made {
            saw();
        }
        match fault {
            Some(Fault::KilledAfter) => resume_unwind(Box::new(Killed)),
            Some(Fault::FailsAfter) => Err(failed()),
            _ => Ok(is_made),
        }
    }

    fn saw(&self, made: Made) {
        let doing = self.eyes.doing.lock().unwrap();
        let command = doing.command;
        let operation = |usual| match (command, usual) {
            ("restore", _) => "restored",
            ("expire", "deleted") => "expired",
            ("clear", "deleted") => "cleared",
            ("write", "modified") => "overwritten",
            (_, usual) => usual,
        };
        self.eyes.truth.lock().unwrap().saw(made, &doing.actor, &operation);
    }
}

fn failed() -> StoreError {
    StoreError::failed("a change", "the answer was lost")
}

/// Whether a path belongs to the history's own files.
fn is_of_history(path: &MemoryPath) -> bool {
    path.names().next() == Some(".memdir-history")
}

impl Layer for Witness {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let made = match &mutation {
            Mutation::Write { path, content, .. } if !is_of_history(path) => {
                let content = String::from_utf8(content.to_vec()).unwrap();
                Some(Made::Content(self.path(path), content))
            }
            Mutation::Delete { path }
            | Mutation::DeleteUnused { path, .. }
            | Mutation::DeleteIf { path, .. }
                if !is_of_history(path) =>
            {
                Some(Made::Gone(self.path(path)))
            }
            Mutation::Rename { from, to } | Mutation::RenameIf { from, to, .. } => {
                Some(Made::Moved(self.path(from), self.path(to)))
            }
            Mutation::Clear => Some(Made::Cleared(self.at.clone())),
            _ => None,
        };
        match (mutation, made) {
            (mutation, Some(made)) => {
                self.interrupted();
                self.make(|| self.inner.mutate(context, mutation), || self.saw(made))
            }
            (Mutation::Update { path, edit }, _) if !is_of_history(path) => {
                // Only the last call of the edit counts.
                let (mut after, mut fault) = (None, None);
                let mut watched = |old: &[u8]| {
                    let splice = edit(old);
                    after = splice.as_ref().map(|splice| splice.pieces(old).concat());
                    if after.is_some() && fault.is_none() {
                        fault = self.fault();
                        match fault {
                            Some(Fault::KilledBefore) => resume_unwind(Box::new(Killed)),
                            // A store that fails here makes no further calls, and changes nothing.
                            Some(Fault::FailsBefore) => resume_unwind(Box::new(Fails)),
                            _ => {}
                        }
                    }
                    splice
                };
                self.interrupted();
                let update = Mutation::Update { path, edit: &mut watched };
                let done = catch_unwind(AssertUnwindSafe(|| self.inner.mutate(context, update)));
                let done = match done {
                    Ok(done) => done,
                    Err(panic) if panic.is::<Fails>() => return Err(failed()),
                    Err(panic) => resume_unwind(panic),
                };
                if let (Ok(_), Some(after)) = (&done, after) {
                    let after = String::from_utf8(after).unwrap();
                    self.saw(Made::Content(self.path(path), after));
                }
                match fault {
                    Some(Fault::KilledAfter) => resume_unwind(Box::new(Killed)),
                    Some(Fault::FailsAfter) => done.and_then(|_| Err(failed())),
                    _ => done,
                }
            }
            // The history's own files, and mutations that do not change a content.
            (mutation, None) => self.make(|| self.inner.mutate(context, mutation), || {}),
        }
    }
}
