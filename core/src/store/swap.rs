//! Edits that may outlive the update which asked for them.
//!
//! A store in another language cannot be handed the borrowed [`Edit`]: it may keep it, or call it
//! from a thread of its own. [`update_by_swap`] makes the edit beforehand, on what a read shows,
//! and gives the store an owned [`Swap`] that only puts it in place if the content is still the
//! same. If it is not, another writer was faster, and the edit is made anew on what there was.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Edit, Store, StoreError};
use crate::cancel::{self, Cancellation};
use crate::path::MemoryPath;

/// How often an edit is made anew because another writer was faster. Nobody is that unlucky: a
/// store that gets here shows contents that it does not hold, and would do so for ever.
const MAX_ATTEMPTS: usize = 1_000;

/// Puts one content in the place of another, and of nothing else.
#[derive(Debug)]
pub struct Swap {
    old: Vec<u8>,
    new: Vec<u8>,
    cancellation: Option<Cancellation>,
    last_call: Mutex<Option<Outcome>>,
}

#[derive(Debug)]
enum Outcome {
    /// The content was the expected one: the store has the new one to write.
    Swapped,
    /// The content was this one.
    Conflict(Vec<u8>),
    /// Whoever wanted it went away while the store waited for its turn.
    Cancelled,
}

impl Swap {
    /// The content to write instead of `content`; `None` if nothing is to be written.
    pub fn apply(&self, content: &[u8]) -> Option<Vec<u8>> {
        let cancelled = self.cancellation.as_ref().is_some_and(Cancellation::is_cancelled);
        let (outcome, new) = if cancelled {
            (Outcome::Cancelled, None)
        } else if content == self.old {
            (Outcome::Swapped, Some(self.new.clone()))
        } else {
            (Outcome::Conflict(content.to_vec()), None)
        };
        *self.last_call.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        new
    }
}

/// [`Store::update`] by way of `update`, which hands the store a [`Swap`] and returns when the
/// store is done with it.
///
/// # Errors
/// As [`Store::update`]; [`StoreError::Failed`] if the store does not call the swap, or never with
/// what it showed before.
pub fn update_by_swap<S: Store + ?Sized>(
    store: &S,
    path: &MemoryPath,
    edit: &mut Edit<'_>,
    mut update: impl FnMut(Arc<Swap>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let failed = |problem: &str| Err(StoreError::failed(format!("updating {path}"), problem));
    let mut old = store.read(path).map_err(StoreError::unchanged)?;
    for _ in 0..MAX_ATTEMPTS {
        let Some(splice) = edit(&old) else { return Ok(()) };
        let new = splice.apply(&old);
        let cancellation = cancel::current();
        let swap = Arc::new(Swap { old, new, cancellation, last_call: Mutex::new(None) });
        update(Arc::clone(&swap))?;
        match swap.last_call.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Outcome::Swapped) => return Ok(()),
            Some(Outcome::Conflict(now)) => old = now,
            Some(Outcome::Cancelled) => return Err(StoreError::Cancelled),
            None => return failed("the store's update did not apply the edit"),
        }
    }
    failed("the store's update had another content each time it was called")
        .map_err(StoreError::unchanged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::settings::OnExisting;
    use crate::store::{InProcess, Splice};

    fn append(old: &[u8]) -> Option<Splice> {
        Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() })
    }

    #[test]
    fn a_faster_writer_is_not_overwritten() {
        let store = InProcess::new();
        let path = MemoryPath::parse("/memories/a").unwrap();
        store.write(&path, b"old", OnExisting::Error).unwrap();
        let mut calls = 0;
        update_by_swap(&store, &path, &mut append, |swap| {
            calls += 1;
            if calls == 1 {
                store.write(&path, b"newer", OnExisting::Overwrite)?;
            }
            store.update(&path, &mut |old| {
                let text = swap.apply(old)?;
                Some(Splice { range: 0..old.len(), text })
            })
        })
        .unwrap();
        assert_eq!(calls, 2);
        assert_eq!(store.read(&path).unwrap(), b"newer+");
    }

    #[test]
    fn an_edit_whose_caller_has_gone_while_the_store_waited_is_not_made() {
        let store = InProcess::new();
        let path = MemoryPath::parse("/memories/a").unwrap();
        store.write(&path, b"old", OnExisting::Error).unwrap();
        let cancellation = Cancellation::new();
        let result = cancellation.within(|| {
            update_by_swap(&store, &path, &mut append, |swap| {
                cancellation.cancel();
                store.update(&path, &mut |old| {
                    let text = swap.apply(old)?;
                    Some(Splice { range: 0..old.len(), text })
                })
            })
        });
        assert!(matches!(result, Err(StoreError::Cancelled)), "{result:?}");
        assert_eq!(store.read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_store_that_does_not_apply_the_edit_is_broken() {
        let store = InProcess::new();
        let path = MemoryPath::parse("/memories/a").unwrap();
        store.write(&path, b"old", OnExisting::Error).unwrap();
        let result = update_by_swap(&store, &path, &mut append, |_| Ok(()));
        assert!(matches!(result, Err(StoreError::Failed { .. })), "{result:?}");
    }

    #[test]
    fn a_store_that_never_holds_what_it_shows_is_broken() {
        let store = InProcess::new();
        let path = MemoryPath::parse("/memories/a").unwrap();
        store.write(&path, b"old", OnExisting::Error).unwrap();
        let mut call = 0_u32;
        let result = update_by_swap(&store, &path, &mut append, |swap| {
            call += 1;
            swap.apply(&call.to_le_bytes());
            Ok(())
        });
        assert!(matches!(result, Err(StoreError::Failed { .. })), "{result:?}");
    }
}
